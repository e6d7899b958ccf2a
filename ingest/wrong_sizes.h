/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks that an operator delete freed with another size than they had (mprof-run --sized-delete).
 */
#ifndef MPROF_INGEST_WRONG_SIZES_H
#define MPROF_INGEST_WRONG_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/array.h"

struct wrong_size_row {
    uint32_t stack, free_stack;
    uint64_t size, stated_size;
    uint64_t allocations;
};

/* Zero-initialised: none. */
struct wrong_sizes {
    struct wrong_size_row *rows; /* each combination once */
    size_t count, capacity;
    struct index_map by_row;
};

/*
 * Tells whether a block of `size` bytes may be deleted with this size. Size 0 states nothing.
 * Alignment 0: none was stated; the operators new that take one may round sizes up to it.
 */
bool wrong_sizes_fit(uint64_t size, uint64_t stated_size, uint64_t alignment);

/* Adds one block. False: memory is exhausted. */
bool wrong_sizes_add(struct wrong_sizes *sizes, const struct wrong_size_row *block);
void wrong_sizes_free(struct wrong_sizes *sizes);

#endif
