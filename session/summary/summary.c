/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/summary/summary.h"

#include "schemas/slot_codec.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/user_code.h"

static bool read_usable(void *context, const struct database_row *row, struct session_error *error)
{
    (void)error;
    *(bool *)context = database_number(row, 0) > 0;
    return true;
}

/* Tells whether the sums cover all allocations. A session that ingest has not made may have none.
 */
static bool are_there(struct session *session)
{
    static const char sql[] =
        "SELECT (SELECT value FROM meta WHERE key = 'allocations') ="
        " (SELECT sum(allocations) FROM type_total) AND (SELECT sum(allocations) FROM type_total) ="
        " (SELECT sum(self_count) FROM function_total)";
    bool usable = false;
    return database_each(session->database, sql, read_usable, &usable, NULL) && usable;
}

bool summary_answers(struct session *session)
{
    const struct processes *processes = &session->processes;
    if (session->estimate || session->names.machines != 1 ||
        (processes->selected != 0 && processes->count != 1) || session_call_sites_moved(session))
        return false;
    if (session->sums == SUMS_UNKNOWN)
        session->sums = are_there(session) ? SUMS_USABLE : SUMS_MISSING;
    return session->sums == SUMS_USABLE;
}

static bool fail_id(const struct session *session, const char *table, struct session_error *error)
{
    return session_fail(error, 0,
                        "%s: table %s is damaged: an id is not in the session: "
                        "run mprof-ingest --rebuild",
                        database_path(session->database), table);
}

static uint64_t number(const struct database_row *row, int column)
{
    return (uint64_t)database_number(row, column);
}

/* ---- functions -------------------------------------------------------------------------- */

struct functions {
    const struct session *session;
    struct session_function_row *rows;
    uint32_t count;
};

static bool read_function(void *context, const struct database_row *row,
                          struct session_error *error)
{
    const struct functions *functions = context;
    const uint64_t id = number(row, 0);
    if (id >= functions->count)
        return fail_id(functions->session, "function_total", error);
    struct session_function_row *function = &functions->rows[id];
    function->function = (uint32_t)id;
    function->self_bytes += number(row, 1);
    function->self_count += number(row, 2);
    function->total_bytes += number(row, 3);
    function->total_count += number(row, 4);
    function->live_bytes += number(row, 5);
    function->live_count += number(row, 6);
    function->at_peak_bytes += number(row, 7);
    function->short_lived += number(row, 8);
    return true;
}

static bool read_kept(void *context, const struct database_row *row, struct session_error *error)
{
    const struct functions *functions = context;
    const uint64_t id = number(row, 0);
    if (id >= functions->count)
        return fail_id(functions->session, "stack", error);
    functions->rows[id].kept_bytes += number(row, 1);
    functions->rows[id].kept_count += number(row, 2);
    return true;
}

bool summary_functions(struct session *session, struct session_function_row *rows,
                       uint32_t functions, struct session_error *error)
{
    struct functions all = {session, rows, functions};
    return database_each(session->database,
                         "SELECT function_id, self_bytes, self_count, total_bytes, total_count,"
                         " live_bytes, live_count, at_peak_bytes, short_lived FROM function_total"
                         " WHERE total_count > 0",
                         read_function, &all, error) &&
           database_each(session->database,
                         "SELECT ifnull(s.function_id, 0), sum(s.live_bytes), sum(s.live_count)"
                         " FROM runtime_stack r JOIN stack s ON s.id = r.stack_id GROUP BY 1",
                         read_kept, &all, error);
}

/* ---- categories ------------------------------------------------------------------------- */

struct categories {
    const struct session *session;
    struct summary_sum *sums;
    uint32_t count;
    const char *table;
    bool by_size; /* the id is a size */
};

static bool read_category(void *context, const struct database_row *row,
                          struct session_error *error)
{
    const struct categories *categories = context;
    const uint64_t id = categories->by_size ? slot_size_class(number(row, 0)) : number(row, 0);
    if (id >= categories->count)
        return fail_id(categories->session, categories->table, error);
    categories->sums[id].bytes += number(row, 1);
    categories->sums[id].allocations += number(row, 2);
    categories->sums[id].at_peak_bytes += number(row, 3);
    return true;
}

bool summary_categories(struct session *session, enum session_color_by by, struct summary_sum *sums,
                        uint32_t count, bool *known, struct session_error *error)
{
    struct categories categories = {session, sums, count, "function_total", false};
    if (by == SESSION_COLOR_NONE) { /* all have the same */
        sums[0].bytes += (uint64_t)session_meta_number(session, "bytes_allocated");
        sums[0].allocations += (uint64_t)session_meta_number(session, "allocations");
        sums[0].at_peak_bytes += session->peak_bytes;
        *known = true;
        return true;
    }
    const char *sql = "SELECT function_id, self_bytes, self_count, at_peak_bytes"
                      " FROM function_total WHERE self_count > 0";
    *known = by == SESSION_COLOR_FUNCTION || by == SESSION_COLOR_TYPE || by == SESSION_COLOR_SIZE;
    if (by == SESSION_COLOR_TYPE) {
        categories.table = "type_total";
        sql = "SELECT type_id, bytes, allocations, at_peak_bytes FROM type_total";
    } else if (by == SESSION_COLOR_SIZE) {
        categories.table = "size_bin";
        categories.by_size = true;
        sql = "SELECT size, allocations * size, allocations, at_peak_count * size FROM size_bin";
    }
    return !*known || database_each(session->database, sql, read_category, &categories, error);
}
