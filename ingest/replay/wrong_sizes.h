/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks that an operator delete freed with a wrong size (mprof-run --sized-delete). */
#ifndef MPROF_INGEST_REPLAY_WRONG_SIZES_H
#define MPROF_INGEST_REPLAY_WRONG_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/array.h"

struct wrong_size_row {
    uint32_t stack, free_stack;
    uint64_t size, stated_size;
    uint64_t allocations;
};

/* The list of these blocks. Zero-initialized: none. */
struct wrong_sizes {
    struct wrong_size_row *rows; /* each combination once */
    size_t count, capacity;
    struct index_map by_row;
};

/*
 * Returns true if a block of `size` bytes may be deleted with `stated_size`, 0 if none was stated.
 * `alignment` is 0 if none was stated. An operator new that takes one may round the size up to it.
 */
bool wrong_sizes_fit(uint64_t size, uint64_t stated_size, uint64_t alignment);

/* Adds one block. False if memory is exhausted. */
bool wrong_sizes_add(struct wrong_sizes *sizes, const struct wrong_size_row *block);
void wrong_sizes_free(struct wrong_sizes *sizes);

#endif
