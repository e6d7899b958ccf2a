/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/summary.h"

#include <stdlib.h>

#include "schemas/slot_codec.h"
#include "session/store/error.h"
#include "session/store/kernels.h"
#include "session/store/session_state.h"
#include "session/user_code.h"
#include "function_categories_sql.h"
#include "function_kept_sql.h"
#include "function_rows_sql.h"
#include "sums_usable_sql.h"
#include "type_members_sql.h"

static bool read_usable(void *context, const struct database_row *row, struct session_error *error)
{
    *(bool *)context = database_number(row, 0) > 0;
    return true;
}

/* Returns true if the sums cover all allocations. A session that ingest has not made may have none,
 * and one of an earlier version has tables without the columns that the last condition names. */
static bool are_there(struct session *session)
{
    bool usable = false;
    return database_each(session->database, sums_usable_sql, read_usable, &usable, NULL) && usable;
}

bool summary_answers(struct session *session)
{
    const struct processes *processes = &session->processes;
    /* A live session that is behind leaves out rows, but not from its sums. */
    if (session->estimate || session->names.machines != 1 ||
        session_meta_number(session, "skipped_allocations") != 0 ||
        (processes->selected != 0 && processes->count != 1) || session_call_sites_moved(session))
        return false;
    if (session->sums == SUMS_UNKNOWN)
        session->sums = are_there(session) ? SUMS_USABLE : SUMS_MISSING;
    return session->sums == SUMS_USABLE;
}

static bool fail_id(const struct session *session, const char *table, struct session_error *error)
{
    return session_fail(error, 0,
                        "%s: table %s is damaged: an id is not in the session; "
                        "run mprof-ingest --rebuild",
                        database_path(session->database), table);
}

/* Reads an id below `count` and `numbers` sums after it. Returns false with `error` set. */
static bool read_sums(const struct session *session, const char *table,
                      const struct database_row *row, uint64_t count, uint64_t *id, uint64_t *sums,
                      int numbers, struct session_error *error)
{
    if (!database_natural(session->database, row, 0, table, id, error))
        return false;
    if (*id >= count)
        return fail_id(session, table, error);
    for (int i = 0; i < numbers; i++)
        if (!database_natural(session->database, row, i + 1, table, &sums[i], error))
            return false;
    return true;
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
    uint64_t id = 0, sums[8] = {0};
    if (!read_sums(functions->session, "function_total", row, functions->count, &id, sums, 8,
                   error))
        return false;
    struct session_function_row *function = &functions->rows[id];
    function->function = (uint32_t)id;
    function->self_bytes += sums[0];
    function->self_count += sums[1];
    function->total_bytes += sums[2];
    function->total_count += sums[3];
    function->live_bytes += sums[4];
    function->live_count += sums[5];
    function->at_peak_bytes += sums[6];
    function->short_lived += sums[7];
    return true;
}

static bool read_kept(void *context, const struct database_row *row, struct session_error *error)
{
    const struct functions *functions = context;
    uint64_t id = 0, sums[2] = {0};
    if (!read_sums(functions->session, "stack", row, functions->count, &id, sums, 2, error))
        return false;
    functions->rows[id].kept_bytes += sums[0];
    functions->rows[id].kept_count += sums[1];
    return true;
}

bool summary_functions(struct session *session, struct session_function_row *rows,
                       uint32_t functions, struct session_error *error)
{
    struct functions all = {session, rows, functions};
    return database_each(session->database, function_rows_sql, read_function, &all, error) &&
           database_each(session->database, function_kept_sql, read_kept, &all, error);
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
    uint64_t id = 0, sums[3] = {0};
    if (!read_sums(categories->session, categories->table, row,
                   categories->by_size ? UINT64_MAX : categories->count, &id, sums, 3, error))
        return false;
    if (categories->by_size)
        id = slot_size_class(id);
    categories->sums[id].bytes += sums[0];
    categories->sums[id].allocations += sums[1];
    categories->sums[id].at_peak_bytes += sums[2];
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
    const char *sql = function_categories_sql;
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

/* ---- totals ---- */

/* Reads lives only if some blocks were not freed. */
bool row_totals_add(struct row_totals *totals, struct scan_worker *worker, uint32_t chunk,
                    const uint64_t *words, struct session_error *error)
{
    const bool any_live =
        column_store_min(scan_session(worker)->columns, chunk, COLUMN_LIFE_NS) == 0;
    const uint64_t count = kernel_count(words, ROW_SET_WORDS);
    struct column_view size, life;
    struct kernel_rows batch;
    uint64_t bytes[KERNEL_ROWS], lives[KERNEL_ROWS];
    if (count == 0)
        return true;
    if (!scan_column(worker, chunk, COLUMN_SIZE, &size, error) ||
        (any_live && !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error)))
        return false;
    totals->allocations += count;
    totals->bytes += kernel_sum_selected(&size, words);
    if (!any_live)
        return true;
    KERNEL_EACH_BATCH(words, &batch)
    {
        kernel_take(&size, &batch, bytes);
        kernel_take(&life, &batch, lives);
        totals->live_bytes += kernel_sum_of_zero(bytes, lives, batch.count);
        totals->live_count += kernel_sum_of_zero(NULL, lives, batch.count);
    }
    return true;
}

void row_totals_merge(struct row_totals *all, const struct row_totals *other)
{
    all->bytes += other->bytes;
    all->allocations += other->allocations;
    all->live_bytes += other->live_bytes;
    all->live_count += other->live_count;
}

/* ---- type padding ---- */

struct reading {
    uint64_t *padding; /* by type */
    uint32_t types;
    /* The type whose members are read: its size, and how much of it is covered up to `reached`. */
    uint32_t type;
    uint64_t size, reached, covered;
};

static void finish_type(struct reading *reading)
{
    if (reading->type < reading->types && reading->covered < reading->size)
        reading->padding[reading->type] = reading->size - reading->covered;
}

/* Takes one member. They come by type and offset; some cover the same bytes (unions, bit fields).
 */
static bool take_member(void *context, const struct database_row *row, struct session_error *error)
{
    struct reading *reading = context;
    const int64_t type = database_number(row, 0), size = database_number(row, 1);
    const int64_t offset = database_number(row, 2), length = database_number(row, 3);
    if (type <= 0 || type >= reading->types || size <= 0 || offset < 0 || length <= 0 ||
        offset > size || length > size - offset)
        return true;
    if ((uint32_t)type != reading->type) {
        finish_type(reading);
        reading->type = (uint32_t)type;
        reading->size = (uint64_t)size;
        reading->reached = reading->covered = 0;
    }
    const uint64_t end = (uint64_t)(offset + length);
    const uint64_t begin =
        (uint64_t)offset > reading->reached ? (uint64_t)offset : reading->reached;
    if (end > begin) {
        reading->covered += end - begin;
        reading->reached = end;
    }
    return true;
}

uint64_t *type_padding_read(struct session *session, struct session_error *error)
{
    struct reading reading = {.types = session->names.type.count};
    if (!(reading.padding = calloc((size_t)reading.types + 1, sizeof(*reading.padding))))
        return session_fail_memory_null(error, "the padding of types");
    if (database_each(session->database, type_members_sql, take_member, &reading, error)) {
        finish_type(&reading);
        return reading.padding;
    }
    free(reading.padding);
    return NULL;
}
