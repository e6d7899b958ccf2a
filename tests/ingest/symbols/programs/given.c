/* SPDX-License-Identifier: BSD-2-Clause */
/* What it allocates is what one of its functions is said to return. */
#include <stdlib.h>

void *volatile kept;

__attribute__((noinline)) void *give(void)
{
    void *block = malloc(40);
    if (block == NULL)
        abort();
    return block;
}

int main(void)
{
    kept = give();
    return 0;
}
