/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All tables of a session but `allocation` and `column_chunk`, from what replay left.
 */
#ifndef MPROF_INGEST_SESSION_TABLES_H
#define MPROF_INGEST_SESSION_TABLES_H

#include "ingest/replay.h"
#include "ingest/suppressions.h"
#include "ingest/table_sink.h"

/* How much of what only grows and never changes was put before: those rows are left out. */
struct session_known {
    size_t source_files, functions, frames, stacks, types, unknown_blocks;
};

struct session_facts {
    const struct trace_file *file;
    const struct trace_scan *scan;
    const struct replay *replay;
    const struct stacks *stacks;
    const struct totals *totals;
    struct session_known known;
    const struct suppressions *suppressions; /* NULL: none */
    bool carried_suppressions;               /* those of the program are among them, if any */
};

/* All that there is by now, as the `known` of a later call. */
struct session_known session_tables_known(const struct session_facts *facts);

/*
 * Calls `each` with the ids of every row of stack_frame, stacks ascending and then by depth. False
 * where it said so.
 */
typedef bool session_frame_function(void *context, uint64_t stack, uint64_t frame);
bool session_frames_each(const struct stacks *stacks, session_frame_function *each, void *context);

/* Puts the rows of stack_frame that are new. False with the writer's status set. */
bool session_frames_put(const struct table_sink *sink, const struct session_facts *facts);

/* Puts all other tables but `allocation` and `column_chunk`. False with the writer's status set. */
bool session_tables_put(const struct table_sink *sink, const struct session_facts *facts);

/* `type` and the tables that go with it. Called by session_tables_put(). */
bool session_types_put(const struct table_sink *sink, const struct session_facts *facts);

/* The keys of `meta`. Called by session_tables_put(). */
bool session_meta_put(const struct table_sink *sink, const struct session_facts *facts);

#endif
