/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was read about the functions looked at last, for all calls in each: where its variables are,
 * and what the code up to a call leaves in registers. Calls are mostly asked for in the order in
 * which they stand, and each goes on from the one before.
 */
#ifndef MPROF_INGEST_TYPES_FUNCTION_H
#define MPROF_INGEST_TYPES_FUNCTION_H

#include "ingest/types_locals.h"
#include "ingest/types_state.h"

struct types_function {
    struct types_locals locals;
    uint64_t start;    /* of its code */
    uint64_t scanned;  /* jumps before this address are among the targets */
    uint64_t *targets; /* addresses that are jumped to, sorted */
    size_t target_count, target_capacity;
    uint64_t reached; /* `state` is that before the instruction here; 0: before none */
    struct types_state state;
};

struct types_functions;

/* NULL where memory is exhausted. */
struct types_functions *types_functions_new(void);
void types_functions_free(struct types_functions *functions);

/*
 * The site's function, whose code begins at `start`, with its variables. NULL where memory is
 * exhausted. It holds until the next call.
 */
struct types_function *types_functions_find(struct types_functions *functions,
                                            const struct types_site *site, uint64_t start);

/* How often a function was read. */
uint64_t types_functions_read(const struct types_functions *functions);

/*
 * Notes what is jumped to by the code from the function's beginning, where `code` stands, up to
 * `end`. Where that takes back what was run already, `reached` becomes 0. False where the code
 * cannot be read, or jumps too often.
 */
bool types_function_scan(struct types_function *function, const uint8_t *code, uint64_t end);

/* True where something before the scan's end jumps to `address`. */
bool types_function_is_target(const struct types_function *function, uint64_t address);

#endif
