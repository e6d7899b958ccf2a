/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The facts read about the last few functions, for all calls in each: the places of its variables,
 * and the values that the code before a call leaves in registers. Most calls are asked for in the
 * order of their addresses, and each continues from the one before.
 */
#ifndef MPROF_INGEST_TYPES_FLOW_FUNCTION_H
#define MPROF_INGEST_TYPES_FLOW_FUNCTION_H

#include "ingest/types/dwarf/locals.h"
#include "ingest/types/flow/flow_state.h"

struct types_function {
    struct types_locals locals;
    uint64_t start;    /* of its code */
    uint64_t scanned;  /* jumps before this address are among the targets */
    uint64_t *targets; /* addresses that jumps lead to, sorted */
    size_t target_count, target_capacity;
    uint64_t reached; /* `state` holds just before this instruction; 0: nothing was run */
    struct types_flow_state state;
};

struct types_functions;

/* Returns NULL if memory is exhausted. */
struct types_functions *types_functions_new(void);
void types_functions_free(struct types_functions *functions);

/*
 * Returns the site's function, whose code begins at `start`, with its variables. NULL if memory is
 * exhausted. Valid until the next call.
 */
struct types_function *types_functions_find(struct types_functions *functions,
                                            const struct types_site *site, uint64_t start);

/* Returns how often a function was read. */
uint64_t types_functions_read(const struct types_functions *functions);

/*
 * Notes the targets of jumps in the code from the start of the function, where `code` points, to
 * `end`. If a target lies in code that was already run, `reached` becomes 0. Returns false if the
 * code cannot be read or jumps too often.
 */
bool types_function_scan(struct types_function *function, const uint8_t *code, uint64_t end);

/* Returns true if a jump before the end of the scan leads to `address`. */
bool types_function_is_target(const struct types_function *function, uint64_t address);

#endif
