/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions on split stacks. */
#ifndef MPROF_TESTS_SPLIT_H
#define MPROF_TESTS_SPLIT_H

/* Calls itself `depth` times, then split_leaf(). The linker sees that this one is an ordinary
 * function, which needs a segment that is large enough. */
int split_descend(unsigned depth);
void split_leaf(void);

#endif
