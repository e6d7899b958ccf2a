/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of a selection by stack, which calling context trees, reports and exports begin with.
 *
 * The rules of session.h hold: it blocks (jobs.h asks without waiting), bytes and nanoseconds since
 * the trace began, sums are estimates if the session is sampled. All cores take part, and memory is
 * bounded by the number of rows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/* The fields that part the blocks of a stack into several rows. */
enum session_stack_split {
    STACKS_BY_TYPE = 1, /* types of one name share a row */
    STACKS_BY_THREAD = 2,
    STACKS_BY_ARENA = 4,
    STACKS_BY_SIZE = 8, /* as recorded */
    STACKS_BY_PROCESS = 16,
};

/* A block that lived less is short-lived. */
#define SESSION_SHORT_LIVED_NS 1000000

struct session_stack_sums {
    uint32_t stack, type, thread, arena, process; /* ids; 0 where not split */
    uint64_t size;                                /* 0 where not split */
    uint64_t allocations, bytes;
    uint64_t live_count, live_bytes;         /* never freed */
    uint64_t at_peak_count, at_peak_bytes;   /* live at the program's peak */
    uint64_t short_count;                    /* short-lived */
    uint64_t at_count, at_bytes;             /* live at the asked time: alloc <= at_ns < free */
    uint64_t own_peak_bytes, own_peak_count; /* the row's own largest bytes, and its blocks at the
                                                first moment that had them */
    uint64_t lifetime_ns; /* sum, of live blocks to the end of the session; UINT64_MAX: so much or
                             more */
};

/* The question. Values that are not are 0. */
struct session_stacks_options {
    unsigned split; /* bits of enum session_stack_split */
    bool at;        /* at_count and at_bytes */
    uint64_t at_ns;
    bool own_peaks; /* takes some passes over the allocations */
    bool at_peak, lifetimes;
    /* short_count is not needed. For all allocations without a split the rest may then come from
     * the sums that ingest stored, without a pass. */
    bool without_short;
};

/* Stores a row for each stack (and part of it) that has selected allocations: the caller free()s
 * them. They are sorted by stack, then by type, thread, arena, process and size. Returns false with
 * `error` set: a damaged chunk, no memory, cancelled, or too many rows (4 Mi). */
bool selection_stacks(struct selection *selection, const struct session_stacks_options *options,
                      struct session_stack_sums **rows, size_t *count, struct session_error *error);

/* Stores by function id what selection_functions() calls self, for the innermost functions of the
 * user's own code in place of call sites; id 0 has what is below none. The other fields are 0. The
 * caller free()s the rows. Returns false with `error` set. */
bool selection_user_functions(struct selection *selection, struct session_function_row **rows,
                              struct session_error *error);

/* Stores, by function id from 0 to *count - 1, the bytes that were live at the program's peak and
 * have the function anywhere on their stacks, recursion once. The caller free()s them. For all
 * allocations it needs no pass over them. Returns false with `error` set. */
bool selection_functions_at_peak(struct selection *selection, uint64_t **bytes, size_t *count,
                                 struct session_error *error);

/* Stores by stack how many of the selected allocations lived under 1 ms: the caller frees them.
 * They are estimates if the session is sampled. Returns false with `error` set. */
bool selection_short_lived(struct selection *selection, uint64_t **by_stack,
                           struct session_error *error);

/* Store by stack, and by function of the call site or of the user up to *count - 1, the bytes in
 * memory of the selected blocks that were live at a time: `live at TIME | sum resident`. The caller
 * frees them; NULL: no pages were read. Return false with `error` set. */
bool selection_stacks_resident(struct selection *selection, uint64_t ns, uint64_t **bytes,
                               struct session_error *error);
bool selection_functions_resident(struct selection *selection, uint64_t ns, bool by_user,
                                  uint64_t **bytes, size_t *count, struct session_error *error);

/* Returns true if no other function has the name of this one, so that a filter can name it. */
bool session_function_is_alone(const struct session *session, uint32_t function);
/* The frames of a stack that can be a function's. */
enum session_function_part {
    SESSION_ANYWHERE,     /* any frame */
    SESSION_AT_CALL_SITE, /* that of the call site */
    SESSION_AT_USER       /* the innermost one of the user's own code */
};
/* Stores a test of the filter language for the stacks that have this function in this part, and no
 * other one of its name: "stack in (2..4, 7)". The caller free()s the test; it is NULL if there is
 * no such stack, or more than 100,000 pieces. Returns false with `error` set. */
bool session_function_stacks(struct session *session, uint32_t function,
                             enum session_function_part part, char **test,
                             struct session_error *error);
/* Stores such a test for the stacks that pass through a line of a file, as the session names it, or
 * with line 0 through the file. */
bool session_source_stacks(struct session *session, const char *path, uint32_t line, char **test,
                           struct session_error *error);
