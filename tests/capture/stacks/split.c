/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiled with split stacks: each few frames lie on a segment of their own. */
#include "tests/capture/stacks/split.h"

__attribute__((noinline)) int split_descend(unsigned depth)
{
    volatile char space[1000];
    space[depth % sizeof(space)] = 1;
    if (depth == 0)
        split_leaf();
    else
        space[0] = (char)split_descend(depth - 1);
    return space[0] + 1;
}
