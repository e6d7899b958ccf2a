/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls the function of alloc_type.s. The compiler states there what one of its calls makes. */
#include "tests/programs/types/truth.h"

void *make(int which);

int main(void)
{
    TRUTH("box", 3);
    make(0);
    TRUTH("?", 1);
    make(1);
    return 0;
}
