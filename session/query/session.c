/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens and closes sessions. */
#include "session/session.h"

#include <stdlib.h>

#include "session/data/code_facts.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/graphs.h"
#include "session/graphs/names.h"
#include "session/query/kept_selections.h"
#include "session/query/live_list.h"
#include "session/query/other_sessions.h"
#include "session/query/sample_estimate.h"
#include "session/query/selection_state.h"
#include "session/run/recall.h"
#include "session/scan/estimate.h"
#include "session/scan/scan.h"
#include "session/user/user.h"

/* Checks a column of ids: the largest must be below `bound`, the size of its table. */
static bool check_id_column(const struct session *session, enum column column, uint64_t bound,
                            const char *table, struct session_error *error)
{
    for (uint32_t chunk = 0; chunk < column_store_chunks(session->columns); chunk++) {
        if (column_store_max(session->columns, chunk, column) >= bound)
            return session_fail(error, 0,
                                "%s: column chunk %lld is damaged: an id is not in table %s; "
                                "ingest the trace again",
                                database_path(session->database),
                                (long long)chunk * COLUMN_ID_STRIDE + (long long)column, table);
    }
    return true;
}

/* Stores a number of `meta`, 0 if it is missing. */
static bool read_fact(const struct session *session, const char *key, uint64_t *number,
                      struct session_error *error)
{
    const char *value = session_meta(session, key);
    char *end = NULL;
    const long long read = value ? strtoll(value, &end, 10) : 0;
    *number = (uint64_t)read;
    return !value || (read >= 0 && end != value && *end == '\0') ||
           session_fail(error, 0, "%s: table meta is damaged: %s is %.40s; ingest the trace again",
                        database_path(session->database), key, value);
}

static bool load(struct session *session, struct session_error *error)
{
    if (!names_load(&session->names, session->database, error) ||
        !stacks_open(&session->stacks, session->database, &session->names, error))
        return false;
    session->columns = column_store_open(session->database, error);
    session->reader = session->columns ? column_reader_new(session->columns, error) : NULL;
    if (!session->reader)
        return false;
    if (!read_fact(session, "duration_ns", &session->duration_ns, error) ||
        !read_fact(session, "peak_ns", &session->peak_ns, error) ||
        !read_fact(session, "peak_bytes", &session->peak_bytes, error))
        return false;
    return check_id_column(session, COLUMN_STACK, session->stacks.count, "stack", error) &&
           check_id_column(session, COLUMN_FREE_STACK, session->stacks.count, "stack", error) &&
           check_id_column(session, COLUMN_THREAD, session->names.thread.count, "thread", error) &&
           check_id_column(session, COLUMN_FREE_THREAD, session->names.thread.count, "thread",
                           error) &&
           check_id_column(session, COLUMN_KIND, session->names.kind.count, "kind", error) &&
           check_id_column(session, COLUMN_TYPE, session->names.type.count, "type", error) &&
           check_id_column(session, COLUMN_ARENA, session->names.arena.count, "arena", error);
}

/* The largest estimate may be at another moment than the largest sum of recorded blocks. */
bool session_estimate_peak(struct session *session, struct session_error *error)
{
    const int64_t mean = session_meta_number(session, "sample_interval");
    if (mean <= 0)
        return true;
    if (!session->estimate)
        session->estimate = estimate_new((uint64_t)mean);
    if (!session->estimate)
        return session_fail_memory(error, "the estimates");
    struct selection *all = selection_new(session, NULL, error);
    bool good = all && selection_find_peak(all, error);
    if (good) {
        session->peak_ns = all->peak_ns;
        session->peak_bytes = all->peak_bytes;
    }
    selection_free(all);
    return good;
}

/* Selects the process that ingest selected. */
static bool select_process(struct session *session, struct session_error *error)
{
    const int64_t selected = session_meta_number(session, "selected_process");
    return selected <= 0 || (uint64_t)selected > session->processes.count ||
           session_select_process(session, (uint32_t)selected, error);
}

static bool is_cancelled(const void *context)
{
    const struct session *session = context;
    return session->scan && scan_cancelled(session);
}

void session_obey(struct session *session, const struct session *other)
{
    scan_obey(session, other);
}

struct session *session_open(const char *path, struct session_error *error)
{
    struct session *session = calloc(1, sizeof(*session));
    if (!session) {
        session_fail_memory(error, "the session");
        return NULL;
    }
    session->graph_names = graph_names_new(session);
    if (!session->graph_names)
        session_fail_memory(error, "the session");
    else
        session->database = database_open(path, error);
    if (session->database)
        database_stop_when(session->database, is_cancelled, session);
    if (!session->database || !scan_open(session, error) || !load(session, error) ||
        !session_estimate_peak(session, error) || !processes_read(session, error) ||
        !select_process(session, error)) {
        session_close(session);
        return NULL;
    }
    session_settings_apply(session, NULL); /* without them the session is as it was recorded */
    return session;
}

void session_close(struct session *session)
{
    if (!session)
        return;
    kept_selections_free(session);
    recall_free(session);
    sample_estimate_close(session);
    other_sessions_close(session);
    scan_close(session);
    live_list_free(session->live);
    live_list_free(session->passing);
    estimate_free(session->estimate);
    column_reader_free(session->reader);
    column_store_close(session->columns);
    code_facts_free(session->facts);
    user_free(session->user);
    stacks_close(&session->stacks);
    processes_free(&session->processes);
    names_free(&session->names);
    graph_names_free(session->graph_names);
    database_close(session->database);
    free(session);
}
