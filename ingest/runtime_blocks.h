/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks that the language's runtime takes once and keeps until the program ends, by the stacks
 * that ask for them: no leaks of the program.
 *
 *  - "C++ exceptions": libstdc++'s emergency pool, from which an exception is made when memory is
 *    exhausted. Its size differs between releases (72,704 bytes in most).
 *  - "stdio": the buffers of streams.
 *  - "loader": what the dynamic linker keeps about modules and threads.
 *  - "locale": what setlocale() and the tables of messages keep.
 *
 * Decided by the names of functions and modules, in this file's table alone. What the names do not
 * say, as in a program that has libstdc++ in itself and no symbols, is not taken for one.
 */
#ifndef MPROF_INGEST_RUNTIME_BLOCKS_H
#define MPROF_INGEST_RUNTIME_BLOCKS_H

#include "ingest/stacks.h"

struct runtime_blocks;

/* Looks at the functions of the stacks once. NULL where memory is exhausted. */
struct runtime_blocks *runtime_blocks_new(const struct stacks *stacks);
void runtime_blocks_free(struct runtime_blocks *blocks);

/* In schema words; NULL: the blocks of this stack are the program's own. */
const char *runtime_blocks_of(const struct runtime_blocks *blocks, size_t stack);

#endif
