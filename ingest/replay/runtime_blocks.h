/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recognizes blocks that the language's runtime allocates once and keeps until the program ends, by
 * the stacks that allocate them. They are not leaks of the program.
 *
 *  - "C++ exceptions": libstdc++'s emergency pool, from which an exception is made when memory is
 *    exhausted. Its size differs between releases (72,704 bytes in most).
 *  - "stdio": the buffers of streams.
 *  - "loader": the dynamic linker's data on modules and threads.
 *  - "locale": the data of setlocale() and the tables of messages.
 *
 * Only the names of functions and modules decide, by the table in runtime_blocks.c. If names are
 * missing, as in a program without symbols that contains libstdc++, no block is recognized.
 */
#ifndef MPROF_INGEST_REPLAY_RUNTIME_BLOCKS_H
#define MPROF_INGEST_REPLAY_RUNTIME_BLOCKS_H

#include "ingest/replay/stacks.h"

struct runtime_blocks;

/* Looks at the functions of the stacks once. NULL if memory is exhausted. */
struct runtime_blocks *runtime_blocks_new(const struct stacks *stacks);
void runtime_blocks_free(struct runtime_blocks *blocks);

/* Returns the schema's word for the blocks of a stack that allocated so many times, or NULL if they
 * are the program's own. */
const char *runtime_blocks_of(const struct runtime_blocks *blocks, size_t stack,
                              uint64_t allocations);

#endif
