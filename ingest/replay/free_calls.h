/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the function by which a block was freed, and the blocks that were freed by a function that
 * does not match their allocation.
 *
 * A free's stack (mprof-run --free-stacks) shows it in two ways: by a frame of an operator delete,
 * and by the function that the code before the return address calls, since operators end in a jump
 * to free and leave no frame. If neither shows it (a call through a pointer, a destructor that ends
 * in a jump), the function is unknown. A call of realloc is known without a stack. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/array.h"
#include "ingest/replay/live_table.h"
#include "ingest/replay/type_table.h"

/* Blocks of one stack that one other stack freed, by a function that does not match. */
struct mismatch_row {
    uint32_t stack, free_stack; /* free_stack 0: by realloc */
    uint8_t kind;
    const char *function;
    uint64_t allocations, bytes;
};

struct free_calls {
    struct type_table *types;
    uint16_t *allocated_by, *freed_by; /* by stack id: enum call_form; 0: not looked up yet */
    size_t allocated_capacity, freed_capacity;
    struct mismatch_row *rows;
    size_t count, capacity;
    struct index_map by_stacks;
};

/* Notes that `block` is freed by a call of this stack, or (0) by realloc. *mismatch is the row to
 * which the block was added if the functions do not match, otherwise NULL. It is valid until the
 * next call. False if memory is exhausted. */
bool free_calls_note(struct free_calls *calls, const struct live_block *block, uint32_t stack,
                     const struct mismatch_row **mismatch);

/* Returns 'free', 'delete[]', … as in the session, or NULL. `stack` was noted before. */
const char *free_calls_name(const struct free_calls *calls, uint32_t stack);

void free_calls_free(struct free_calls *calls);

/* The blocks that an operator delete freed with a wrong size (mprof-run --sized-delete). */

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

/* Returns true if a block of `size` bytes may be deleted with `stated_size`, 0 if none was stated.
 * `alignment` is 0 if none was stated. operator new may round the size up to it. */
bool wrong_sizes_fit(uint64_t size, uint64_t stated_size, uint64_t alignment);

/* Adds one block. False if memory is exhausted. */
bool wrong_sizes_add(struct wrong_sizes *sizes, const struct wrong_size_row *block);
void wrong_sizes_free(struct wrong_sizes *sizes);
