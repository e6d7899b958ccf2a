/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a session's tables except `allocation` and `column_chunk`, from replay's results. */
#pragma once

#include "ingest/replay/replay.h"
#include "ingest/replay/stack_nodes.h"
#include "ingest/replay/suppressions.h"
#include "ingest/write/functions.h"
#include "ingest/write/table_sink.h"

/* The numbers of rows that were written before, of tables that only grow. These are left out. */
struct session_known {
    size_t source_files, functions, frames, stacks, types, unknown_blocks, moments;
};

struct session_facts {
    const struct trace_file *file;
    const struct trace_scan *scan;
    const struct replay *replay;
    const struct problems *problems; /* of the scan and of replay */
    const struct stacks *stacks;
    const struct stack_nodes *nodes; /* of all stacks */
    const struct totals *totals;
    struct session_known known;
    const struct suppressions *suppressions; /* or NULL */
    bool program_suppressions;               /* they include those of the program, if any */
    const char *imported;        /* the source of the events, and what it lacks; NULL: a trace */
    bool made_up_addresses;      /* the imported file has none */
    uint64_t imported_temporary; /* blocks that were freed before any other event */
    const char *const *labels;   /* KEY=TEXT, in place of those of the trace */
    size_t label_count;
    const volatile sig_atomic_t *interrupted; /* not 0: stop; may be NULL */
    bool moment_sums_put;                     /* residency_stack is written */
    bool of_run; /* the process is one of several: functions are summed up for all */
};

/* Returns the numbers of all rows so far, as the `known` of a later call. */
struct session_known session_tables_known(const struct session_facts *facts);

/* Puts the frames of the stacks that are new, whose nodes were numbered last. False with the
 * writer's status set. */
bool session_frames_put(const struct table_sink *sink, const struct session_facts *facts);

/* Puts all other tables except `allocation` and `column_chunk`. False with the writer's status
 * set, or once `interrupted` of the facts is. */
bool session_tables_put(const struct table_sink *sink, const struct session_facts *facts);

/* Puts the sums by time: slot_sum, tile and `slot_ns` of meta. Nothing if `sums` is NULL or has
 * none. False with the writer's status set. */
bool session_slots_put(const struct table_sink *sink, const struct slot_sums *sums);

/* Puts a row for each of `count` functions, by id, and one for stacks without a call site if there
 * are any, which sums[0] is. False with the writer's status set. */
bool session_functions_put(const struct table_sink *sink, const struct function_sum *sums,
                           size_t count, const struct totals *totals);

/* Put the timeline, the sizes and the sums of types, from totals that are finished. False with the
 * writer's status set. */
bool session_timeline_put(const struct table_sink *sink, const struct totals *totals,
                          uint32_t machine);
bool session_sizes_put(const struct table_sink *sink, const struct totals *totals);
bool session_type_totals_put(const struct table_sink *sink, const struct type_usages *usages);
