/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocates a block. Its type is the return type that the debug information has for give(). */
#include <stdlib.h>

void *volatile kept;

__attribute__((noinline)) void *give(void)
{
    void *block = malloc(40);
    if (!block)
        abort();
    return block;
}

int main(void)
{
    kept = give();
    return 0;
}
