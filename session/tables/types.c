/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of types: from what ingest has summed up, or by a pass over the rows. */
#include "session/types.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/data/type_padding.h"
#include "session/groups.h"
#include "session/query/selection_state.h"
#include "session/summary/summary.h"
#include "session/tables/sums.h"
#include "session/tables/type_ids.h"

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
    return database_each(adding->session->database,
                         "SELECT type_id, allocations, bytes, live_count, live_bytes,"
                         " at_peak_count, at_peak_bytes, peak_bytes FROM type_total"
                         " WHERE allocations > 0",
                         read_total, adding, error);
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

/* ---- courses ---------------------------------------------------------------------------- */

/* The numbers that a pass adds up beside the sums. The first ones count from one point to the
 * next. */
enum { EXTRA_FROM = SESSION_TYPE_POINTS, EXTRA_TO, EXTRA_WASTED, EXTRAS };

struct coursing {
    uint64_t points[SESSION_TYPE_POINTS], from_ns, to_ns;
    const uint64_t *padding; /* of an object, by type */
};

/* Adds to the first point at or after `ns`; the sum up to a point is what is live there. */
static void add_from(const struct coursing *coursing, uint64_t ns, uint64_t bytes, uint64_t *extra)
{
    for (int i = 0; i < SESSION_TYPE_POINTS; i++) {
        if (coursing->points[i] >= ns) {
            extra[i] += bytes;
            return;
        }
    }
}

static void add_course(const void *context, const struct table_rows *rows, size_t row,
                       uint64_t *extra)
{
    const struct coursing *coursing = context;
    const uint64_t began = rows->value[COLUMN_ALLOC_NS][row];
    const uint64_t life = rows->value[COLUMN_LIFE_NS][row];
    const uint64_t end = life == 0 ? SESSION_LIVE : began + life - 1;
    const uint64_t bytes = rows->bytes[row];
    add_from(coursing, began, bytes, extra);
    if (life != 0)
        add_from(coursing, end, (uint64_t)0 - bytes, extra);
    if (began <= coursing->from_ns && end > coursing->from_ns)
        extra[EXTRA_FROM] += bytes;
    if (began <= coursing->to_ns && end > coursing->to_ns)
        extra[EXTRA_TO] += bytes;
    extra[EXTRA_WASTED] += coursing->padding[rows->value[COLUMN_TYPE][row]] *
                           rows->value[COLUMN_COUNT_OF_OBJECTS][row] * rows->counts[row];
}

static void take_course(const struct table_sums *sums, size_t number,
                        struct session_type_course *course)
{
    const uint64_t *extra = &sums->extra[number * EXTRAS];
    uint64_t live = 0;
    for (int i = 0; i < SESSION_TYPE_POINTS; i++) {
        live += extra[i];
        course->live[i] += live;
    }
    course->objects += sums->sums[number].objects;
    course->at_from += extra[EXTRA_FROM];
    course->at_to += extra[EXTRA_TO];
    course->wasted += extra[EXTRA_WASTED];
}

/* Finds the peaks by a join. */
static bool find_peaks(struct selection *selection, const struct type_ids *ids,
                       struct session_type_course *courses, struct session_error *error)
{
    struct graph_result *result = selection_graph(selection, "join type", error);
    struct session_group_set *groups = result ? graph_result_groups(result) : NULL;
    bool good = groups && session_groups_prepare(groups, 1u << MEASURE_PEAK_BYTES, error);
    for (size_t i = 0; good && i < session_groups_count(groups); i++) {
        const struct session_group_key key = session_group_key(groups, i, 0);
        const uint32_t type = key.is_null || !key.text ? 0 : type_ids_find(ids, key.text);
        good = session_group_value(groups, i, MEASURE_PEAK_BYTES, &courses[type].peak_bytes, error);
    }
    graph_result_free(result);
    return good;
}

static void find_points(const struct session *session, struct coursing *coursing)
{
    const uint64_t start = session_start_ns(session), end = session_duration_ns(session);
    const uint64_t length = end > start ? end - start : 0;
    for (uint64_t i = 0; i < SESSION_TYPE_POINTS; i++) {
        const uint64_t odd = 2 * i + 1, parts = UINT64_C(2) * SESSION_TYPE_POINTS;
        coursing->points[i] = start + (uint64_t)((unsigned __int128)length * odd / parts);
    }
}

bool selection_type_courses(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                            bool peaks, struct session_type_course **rows, size_t *count,
                            struct session_error *error)
{
    struct session *session = selection->session;
    struct coursing coursing = {.from_ns = from_ns, .to_ns = to_ns};
    const struct table_spec spec = {.columns = COLUMN_BIT(COLUMN_TYPE) |
                                               COLUMN_BIT(COLUMN_COUNT_OF_OBJECTS),
                                    .extras = EXTRAS,
                                    .key = by_type,
                                    .extra = add_course,
                                    .context = &coursing};
    struct table_sums sums = {.capacity = 0};
    struct type_ids ids;
    if (!type_ids_open(&ids, session, error))
        return false;
    find_points(session, &coursing);
    uint64_t *padding = type_padding_read(session, error);
    struct session_type_course *courses = calloc((size_t)ids.count + 1, sizeof(*courses));
    coursing.padding = padding;
    bool good = padding && (courses || session_fail_memory(error, "the types")) &&
                table_sums(selection, &spec, &sums, error);
    for (uint32_t id = 0; good && id < ids.count; id++)
        courses[id] = (struct session_type_course){.type = id, .peak_bytes = SESSION_PEAK_UNKNOWN};
    good = good && (!peaks || find_peaks(selection, &ids, courses, error));
    bool *used = good ? calloc((size_t)ids.count + 1, sizeof(*used)) : NULL;
    good = used || (good && session_fail_memory(error, "the types"));
    for (size_t i = 0; good && i < sums.codes.count; i++) {
        const uint32_t type = ids.same[sums.codes.codes[i].low];
        used[type] = true;
        take_course(&sums, i, &courses[type]);
    }
    *count = 0;
    for (uint32_t id = 0; good && id < ids.count; id++)
        if (used[id])
            courses[(*count)++] = courses[id];
    *rows = courses;
    if (!good)
        free(courses);
    free(used);
    free(padding);
    table_sums_free(&sums);
    type_ids_free(&ids);
    return good;
}
