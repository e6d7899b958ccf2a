/*
 * All tables of a session but `allocation` and `column_chunk`, from what replay left.
 */
#ifndef MPROF_INGEST_SESSION_TABLES_H
#define MPROF_INGEST_SESSION_TABLES_H

#include "ingest/replay.h"
#include "ingest/writer.h"

struct session_facts {
    const struct trace_file *file;
    const struct trace_scan *scan;
    const struct replay *replay;
    const struct stacks *stacks;
    const struct totals *totals;
};

/* False with the writer's status set. */
bool session_tables_put(struct writer *writer, const struct session_facts *facts);

/* `type` and the tables that go with it. Called by session_tables_put(). */
bool session_types_put(struct writer *writer, const struct session_facts *facts);

/* The keys of `meta`. Called by session_tables_put(). */
bool session_meta_put(struct writer *writer, const struct session_facts *facts);

#endif
