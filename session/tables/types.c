/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of types: from what ingest has summed up, or by a pass over the rows. */
#include "session/types.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/summary/summary.h"
#include "session/tables/sums.h"
#include "session/tables/type_ids.h"
#include "type_rows_sql.h"

const char *session_type_confidence(const struct session *session, uint32_t type)
{
    return type < session->names.type.count ? session->names.confidence[type] : "unknown";
}

uint64_t session_members_padding(const struct session_member *members, size_t count, uint64_t size,
                                 uint64_t *gaps)
{
    uint64_t padding = 0, last = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t end = members[i].offset + members[i].size;
        uint64_t reached = 0;
        /* Members may lie in another order than they are declared, and unions cover each other. */
        for (size_t k = 0; k < count; k++) {
            const bool before = members[k].offset < members[i].offset ||
                                (members[k].offset == members[i].offset && k < i);
            const uint64_t other = members[k].offset + members[k].size;
            if (before && other > reached)
                reached = other;
            if (before && members[k].offset == members[i].offset)
                reached = UINT64_MAX; /* that member has the gap */
        }
        const uint64_t gap = members[i].offset > reached ? members[i].offset - reached : 0;
        padding += gap;
        if (gaps)
            gaps[i] = gap;
        last = end > last ? end : last;
    }
    return count == 0 ? 0 : padding + (size > last ? size - last : 0);
}

/* ---- sums ------------------------------------------------------------------------------- */

/* The rows by type id. */
struct adding {
    const struct session *session;
    const struct type_ids *ids;
    struct session_type_sums *rows;
};

static struct session_type_sums *row_of(const struct adding *adding, uint64_t type)
{
    struct session_type_sums *row = &adding->rows[adding->ids->same[type]];
    row->type = adding->ids->same[type];
    return row;
}

static void add_exact(const struct adding *adding, uint64_t type, uint64_t bytes)
{
    if (strcmp(session_type_confidence(adding->session, (uint32_t)type), "exact") == 0)
        row_of(adding, type)->exact_bytes += bytes;
}

static bool read_total(void *context, const struct database_row *row, struct session_error *error)
{
    const struct adding *adding = context;
    uint64_t id = 0, number[6];
    if (!database_natural(adding->session->database, row, 0, "type_total", &id, error))
        return false;
    if (id >= adding->ids->count)
        return session_fail(error, 0,
                            "%s: table type_total is damaged: an id is not in the session; "
                            "run mprof-ingest --rebuild",
                            database_path(adding->session->database));
    for (int i = 0; i < 6; i++)
        if (!database_natural(adding->session->database, row, i + 1, "type_total", &number[i],
                              error))
            return false;
    struct session_type_sums *sums = row_of(adding, id);
    const bool first = sums->allocations == 0;
    const bool has_peak = !database_is_null(row, 7) && database_number(row, 7) >= 0;
    sums->allocations += number[0];
    sums->bytes += number[1];
    sums->live_count += number[2];
    sums->live_bytes += number[3];
    sums->at_peak_count += number[4];
    sums->at_peak_bytes += number[5];
    /* Two ids of one name have their peaks at different times. */
    sums->peak_bytes = first && has_peak ? (uint64_t)database_number(row, 7) : SESSION_PEAK_UNKNOWN;
    add_exact(adding, id, number[1]);
    return true;
}

static bool read_totals(struct adding *adding, struct session_error *error)
{
    return database_each(adding->session->database, type_rows_sql, read_total, adding, error);
}

static void by_type(const void *context, const struct table_rows *rows, struct code *codes)
{
    (void)context;
    for (size_t i = 0; i < rows->count; i++)
        codes[i] = (struct code){rows->value[COLUMN_TYPE][i], 0};
}

static bool sum_rows(struct selection *selection, struct adding *adding,
                     struct session_error *error)
{
    const struct table_spec spec = {.columns = COLUMN_BIT(COLUMN_TYPE), .key = by_type};
    struct table_sums sums;
    if (!table_sums(selection, &spec, &sums, error))
        return false;
    for (size_t i = 0; i < sums.codes.count; i++) {
        const uint64_t type = sums.codes.codes[i].low;
        const struct table_sum *sum = &sums.sums[i];
        struct session_type_sums *row = row_of(adding, type);
        row->allocations += sum->allocations;
        row->bytes += sum->bytes;
        row->live_count += sum->live_count;
        row->live_bytes += sum->live_bytes;
        row->at_peak_count += sum->at_peak_count;
        row->at_peak_bytes += sum->at_peak_bytes;
        row->peak_bytes = SESSION_PEAK_UNKNOWN;
        add_exact(adding, type, sum->bytes);
    }
    table_sums_free(&sums);
    return true;
}

static int compare_sums(const void *left, const void *right)
{
    const struct session_type_sums *a = left;
    const struct session_type_sums *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return a->type < b->type ? -1 : a->type > b->type;
}

bool selection_types(struct selection *selection, struct session_type_sums **rows, size_t *count,
                     struct session_error *error)
{
    struct session *session = selection->session;
    struct type_ids ids;
    if (!type_ids_open(&ids, session, error))
        return false;
    struct adding adding = {session, &ids, calloc((size_t)ids.count + 1, sizeof(*adding.rows))};
    const bool good = !adding.rows ? session_fail_memory(error, "the types")
                      : selection->everything && summary_answers(session)
                          ? read_totals(&adding, error)
                          : sum_rows(selection, &adding, error);
    size_t used = 0;
    for (uint32_t id = 0; good && id < ids.count; id++)
        if (adding.rows[id].allocations > 0)
            adding.rows[used++] = adding.rows[id];
    type_ids_free(&ids);
    if (!good) {
        free(adding.rows);
        return false;
    }
    qsort(adding.rows, used, sizeof(*adding.rows), compare_sums);
    *rows = adding.rows;
    *count = used;
    return true;
}
