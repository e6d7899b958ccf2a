/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By which function blocks were freed, and which were freed by another than goes with how they were
 * allocated.
 *
 * A free's stack tells (mprof-run --free-stacks): by an operator delete on it, and by the function
 * that the code before its return address calls, since operators end in a jump to free and leave no
 * frame. Where neither tells (a call through a pointer, a destructor that ends in a jump), nothing
 * is said. That realloc was called is known without a stack.
 */
#ifndef MPROF_INGEST_FREE_CALLS_H
#define MPROF_INGEST_FREE_CALLS_H

#include "ingest/live_table.h"
#include "ingest/type_table.h"

/* Blocks of one stack that were freed otherwise than they were allocated, by another. */
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

/*
 * Notes that `block` is freed by a call of this stack, or (0) by realloc. *mismatch is where it was
 * added up, if it does not fit, otherwise NULL; valid until the next call. False where memory is
 * exhausted.
 */
bool free_calls_note(struct free_calls *calls, const struct live_block *block, uint32_t stack,
                     const struct mismatch_row **mismatch);

/* 'free', 'delete[]', … as in the session; NULL where it is not known. `stack` was noted before. */
const char *free_calls_name(const struct free_calls *calls, uint32_t stack);

void free_calls_free(struct free_calls *calls);

#endif
