/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program of a fixture: its allocations, in memory. fixture.c writes them to a session. Call
 * fixture_program_make(), read the fields, then call fixture_program_free().
 */
#ifndef MPROF_TESTS_SESSION_FIXTURE_PROGRAM_H
#define MPROF_TESTS_SESSION_FIXTURE_PROGRAM_H

#include "fixture.h"

#define FIXTURE_LIVE UINT64_MAX
#define FIXTURE_LINES 4 /* frames in each function */
#define FIXTURE_DEPTH 40
#define FIXTURE_MODULES 6
#define FIXTURE_TYPES 9 /* ids 1 to 9; 0 is unknown */
#define FIXTURE_PHASES 5
#define FIXTURE_WRAPPERS 2 /* functions 1 and 2 */

struct fixture_allocation {
    uint64_t address, size, alloc_ns, free_ns;
    uint32_t stack, free_stack, count, alignment;
    uint32_t realloc_of; /* position + 1 of the one before, 0: none */
    uint32_t id;
    uint16_t thread, free_thread;
    uint8_t kind, type;
};

struct fixture_stack {
    uint32_t frames[FIXTURE_DEPTH]; /* innermost first, (function - 1) * LINES + line + 1 */
    uint32_t depth, call_site;
    uint64_t base_size; /* its most frequent size */
    uint8_t habit, type, kind;
};

struct fixture_program {
    struct fixture_options options;
    uint64_t random;
    struct fixture_allocation *allocations; /* in the order of their beginning */
    size_t count;
    uint32_t *by_id;              /* position by id - 1; ids are in the order of completion */
    struct fixture_stack *stacks; /* ids 1 to options.stacks at [0] … */
    uint64_t phase_ns[FIXTURE_PHASES];
    uint64_t duration_ns, peak_bytes, peak_ns, bytes, live_bytes, live_count, reallocs;
};

bool fixture_program_make(struct fixture_program *program, const struct fixture_options *options);
void fixture_program_free(struct fixture_program *program);

/* Returns a random number below `bound` (> 0). */
uint64_t fixture_random(struct fixture_program *program, uint64_t bound);

#endif
