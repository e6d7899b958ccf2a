/* SPDX-License-Identifier: BSD-2-Clause */
/* The types of a selection: their sums, from what ingest has summed up or by a pass over the rows,
 * their courses, and the types that would fit blocks of unknown type. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/groups.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/table.h"
#include "session/table/group_set.h"
#include "session/table/selection_state.h"
#include "session/table/sums.h"
#include "session/types.h"
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

struct adding {
    const struct session *session;
    struct session_type_sums *rows;
};

static struct session_type_sums *row_of(const struct adding *adding, uint64_t type)
{
    struct session_type_sums *row = &adding->rows[adding->session->names.type_first[type]];
    row->type = adding->session->names.type_first[type];
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
    if (id >= adding->session->names.type.count)
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

static bool sum_rows(struct selection *selection, struct adding *adding,
                     struct session_error *error)
{
    const struct sums_query query = {.parts = SUMS_BIT(SUMS_TOTAL) | SUMS_BIT(SUMS_LIVE) |
                                              SUMS_BIT(SUMS_AT_PEAK),
                                     .cells = adding->session->names.type.count,
                                     .columns = COLUMN_BIT(COLUMN_TYPE)};
    struct sums sums;
    if (!sums_find(selection->session, &selection->set, &query, &sums, error))
        return false;
    for (size_t type = 0; type < sums.count; type++) {
        const uint64_t *total = sums_of(&sums, type, SUMS_TOTAL);
        const uint64_t *live = sums_of(&sums, type, SUMS_LIVE);
        const uint64_t *at_peak = sums_of(&sums, type, SUMS_AT_PEAK);
        if (total[0] == 0)
            continue;
        struct session_type_sums *row = row_of(adding, type);
        row->allocations += total[0];
        row->bytes += total[1];
        row->live_count += live[0];
        row->live_bytes += live[1];
        row->at_peak_count += at_peak[0];
        row->at_peak_bytes += at_peak[1];
        row->peak_bytes = SESSION_PEAK_UNKNOWN;
        add_exact(adding, type, total[1]);
    }
    sums_free(&sums);
    return true;
}

ARRAY_ORDER(compare_sums, struct session_type_sums,
            ORDER(b->bytes, a->bytes) ?: ORDER(a->type, b->type))

bool selection_types(struct selection *selection, struct session_type_sums **rows, size_t *count,
                     struct session_error *error)
{
    struct session *session = selection->session;
    const uint32_t types = session->names.type.count;
    struct adding adding = {session, calloc((size_t)types + 1, sizeof(*adding.rows))};
    const bool good =
        !adding.rows ? session_fail_memory(error, "the types")
        : selection->everything && summary_answers(session)
            ? database_each(adding.session->database, type_rows_sql, read_total, &adding, error)
            : sum_rows(selection, &adding, error);
    size_t used = 0;
    for (uint32_t id = 0; good && id < types; id++)
        if (adding.rows[id].allocations > 0)
            adding.rows[used++] = adding.rows[id];
    if (!good) {
        free(adding.rows);
        return false;
    }
    qsort(adding.rows, used, sizeof(*adding.rows), compare_sums);
    *rows = adding.rows;
    *count = used;
    return true;
}

/* The moments: the points, and both ends of the range. */
enum { MOMENT_FROM = SESSION_TYPE_POINTS, MOMENT_TO, MOMENTS };

static void find_moments(const struct session *session, uint64_t from_ns, uint64_t to_ns,
                         uint64_t moments[MOMENTS])
{
    const uint64_t start = session_start_ns(session), end = session_duration_ns(session);
    const uint64_t length = end > start ? end - start : 0;
    for (uint64_t i = 0; i < SESSION_TYPE_POINTS; i++) {
        const uint64_t odd = 2 * i + 1, parts = UINT64_C(2) * SESSION_TYPE_POINTS;
        moments[i] = start + (uint64_t)((unsigned __int128)length * odd / parts);
    }
    moments[MOMENT_FROM] = from_ns;
    moments[MOMENT_TO] = to_ns;
}

static bool find_peaks(struct selection *selection, struct session_type_course *courses,
                       struct session_error *error)
{
    const struct selection_table_query query = {
        .keys = "type", .measures = 1u << MEASURE_PEAK_BYTES, .by_keys = true};
    struct selection_table *table = selection_table(selection, &query, error);
    for (size_t i = 0; table && i < table->count; i++) {
        /* The id of a text is the first one that has it. */
        const uint64_t type = table->key[i].is_null ? 0 : table->key[i].id;
        courses[type].peak_bytes = selection_table_values(table, i)[0];
    }
    selection_table_free(table);
    return table != NULL;
}

static void take_sums(const struct sums *sums, uint32_t type, uint64_t padding,
                      struct session_type_course *course)
{
    const uint64_t *live = sums_of(sums, type, SUMS_MOMENTS);
    course->objects += sums_of(sums, type, SUMS_OBJECTS)[0];
    course->wasted += sums_of(sums, type, SUMS_OBJECTS)[0] * padding;
    for (int i = 0; i < SESSION_TYPE_POINTS; i++)
        course->live[i] += live[i];
    course->resident += sums_of(sums, type, SUMS_RESIDENT)[0];
    course->at_from += live[MOMENT_FROM];
    course->at_to += live[MOMENT_TO];
}

bool selection_type_courses(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                            uint64_t resident_ns, bool peaks, struct session_type_course **rows,
                            size_t *count, struct session_error *error)
{
    struct session *session = selection->session;
    uint64_t moments[MOMENTS];
    const uint32_t *first = session->names.type_first, types = session->names.type.count;
    struct sums sums = {.count = 0};
    find_moments(session, from_ns, to_ns, moments);
    const struct sums_query query = {.parts = SUMS_BIT(SUMS_TOTAL) | SUMS_BIT(SUMS_OBJECTS) |
                                              SUMS_BIT(SUMS_RESIDENT) | SUMS_BIT(SUMS_MOMENTS),
                                     .cells = types,
                                     .columns = COLUMN_BIT(COLUMN_TYPE),
                                     .moments = moments,
                                     .moment_count = MOMENTS,
                                     .resident_ns = &resident_ns};
    struct session_type_course *courses = calloc((size_t)types + 1, sizeof(*courses));
    bool *used = calloc((size_t)types + 1, sizeof(*used));
    uint64_t *padding = type_padding_read(session, error);
    bool good = padding && ((courses && used) || session_fail_memory(error, "the types")) &&
                sums_find(session, &selection->set, &query, &sums, error);
    for (uint32_t id = 0; good && id < types; id++)
        courses[id] = (struct session_type_course){.type = id, .peak_bytes = SESSION_PEAK_UNKNOWN};
    good = good && (!peaks || find_peaks(selection, courses, error));
    for (uint32_t id = 0; good && id < types; id++) {
        take_sums(&sums, id, padding[id], &courses[first[id]]);
        used[first[id]] |= sums_of(&sums, id, SUMS_TOTAL)[0] > 0;
    }
    *count = 0;
    for (uint32_t id = 0; good && id < types; id++)
        if (used[id])
            courses[(*count)++] = courses[id];
    *rows = courses;
    if (!good)
        free(courses);
    FREE_ALL(used, padding);
    sums_free(&sums);
    return good;
}

/* A stack and a size that have candidates. */
struct place {
    uint32_t stack;
    struct session_type_candidates row; /* its own sums, without a test */
};

struct places {
    struct code_map codes;
    struct place *rows; /* by number of code */
    size_t capacity;
};

static void add_name(struct session_type_candidates *row, const char *name)
{
    const size_t length = strlen(row->names);
    const size_t room = sizeof(row->names) - length;
    if (row->name_count++ > 0 && strcmp(row->names + (length < 3 ? 0 : length - 3), "…") == 0)
        return;
    if (strlen(name) + 2 + sizeof("…") < room)
        snprintf(row->names + length, room, "%s%s", length > 0 ? ", " : "", name);
    else
        snprintf(row->names + length, room, "…");
}

static bool read_candidate(void *context, const struct database_row *row,
                           struct session_error *error)
{
    struct places *places = context;
    const struct code code = {(uint64_t)database_number(row, 0), (uint64_t)database_number(row, 1)};
    const char *name = database_text(row, 2);
    uint32_t number;
    if (!code_map_add(&places->codes, code, GROUPS_MAX, &number))
        return session_fail_memory(error, "the candidates of types");
    if (places->codes.capacity > places->capacity) {
        const size_t capacity = places->codes.capacity;
        struct place *rows = realloc(places->rows, capacity * sizeof(*rows));
        if (!rows)
            return session_fail_memory(error, "the candidates of types");
        memset(rows + places->capacity, 0, (capacity - places->capacity) * sizeof(*rows));
        places->rows = rows;
        places->capacity = capacity;
    }
    places->rows[number].stack = (uint32_t)code.low;
    places->rows[number].row.size = code.high;
    add_name(&places->rows[number].row, name ? name : "?");
    return true;
}

static void by_place(const void *context, const struct sums_rows *rows, struct code *codes)
{
    const struct places *places = context;
    for (size_t i = 0; i < rows->count; i++) {
        const struct code place = {rows->value[COLUMN_STACK][i], rows->value[COLUMN_SIZE][i]};
        const uint32_t number = rows->value[COLUMN_TYPE][i] == SESSION_TYPE_UNKNOWN
                                    ? code_map_find(&places->codes, place)
                                    : CODE_NONE;
        codes[i] = number == CODE_NONE ? SUMS_NO_CODE : (struct code){number, 0};
    }
}

static bool sum_places(struct selection *selection, struct places *places,
                       struct session_error *error)
{
    const struct sums_query query = {
        .parts = SUMS_BIT(SUMS_TOTAL) | SUMS_BIT(SUMS_LIVE) | SUMS_BIT(SUMS_AT_PEAK),
        .number = by_place,
        .context = places,
        .cells = places->codes.count,
        .columns = COLUMN_BIT(COLUMN_TYPE) | COLUMN_BIT(COLUMN_STACK) | COLUMN_BIT(COLUMN_SIZE)};
    struct sums sums;
    if (!sums_find(selection->session, &selection->set, &query, &sums, error))
        return false;
    for (size_t i = 0; i < sums.count; i++) {
        struct session_type_candidates *row = &places->rows[i].row;
        row->allocations = sums_of(&sums, i, SUMS_TOTAL)[0];
        row->bytes = sums_of(&sums, i, SUMS_TOTAL)[1];
        row->live_bytes = sums_of(&sums, i, SUMS_LIVE)[1];
        row->at_peak_bytes = sums_of(&sums, i, SUMS_AT_PEAK)[1];
    }
    sums_free(&sums);
    return true;
}

/* Orders by what a joined row has in common. */
static int compare_common(const struct place *a, const struct place *b)
{
    return ORDER(a->row.function, b->row.function) ?: ORDER(a->row.size, b->row.size) ?: ORDER(a->row.name_count, b->row.name_count) ?: strcmp(a->row.names, b->row.names);
}

ARRAY_ORDER(compare_places, struct place, compare_common(a, b) ?: ORDER(a->stack, b->stack))

static int compare_candidates(const void *left, const void *right)
{
    const struct session_type_candidates *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->function, b->function) ?: ORDER(a->size, b->size) ?: strcmp(a->names, b->names);
}

/* Returns a test for the stacks of these places, which are sorted. The caller frees it. */
static char *stacks_test(const struct place *places, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const size_t known = places[0].stack == 0 ? 1 : 0;
    if (known > 0)
        fprintf(out, count > 1 ? "(stack is null or " : "stack is null");
    for (size_t i = known, next; i < count; i = next) {
        for (next = i + 1; next < count && places[next].stack == places[next - 1].stack + 1;)
            next++;
        fprintf(out, "%s%" PRIu32, i == known ? "stack in (" : ", ", places[i].stack);
        if (next > i + 1)
            fprintf(out, "..%" PRIu32, places[next - 1].stack);
    }
    if (count > known)
        fprintf(out, known > 0 ? "))" : ")");
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Joins sorted places into rows. Returns false if memory is exhausted; *count rows are there. */
static bool join_places(const struct place *places, size_t place_count,
                        struct session_type_candidates *rows, size_t *count)
{
    for (size_t i = 0, next; i < place_count; i = next) {
        struct session_type_candidates *row = &rows[*count];
        *row = places[i].row;
        for (next = i + 1; next < place_count && compare_common(&places[i], &places[next]) == 0;
             next++) {
            row->allocations += places[next].row.allocations;
            row->bytes += places[next].row.bytes;
            row->live_bytes += places[next].row.live_bytes;
            row->at_peak_bytes += places[next].row.at_peak_bytes;
        }
        row->stacks = stacks_test(&places[i], next - i);
        ++*count;
        if (!row->stacks)
            return false;
    }
    return true;
}

bool selection_candidates(struct selection *selection, struct session_type_candidates **rows,
                          size_t *count, struct session_error *error)
{
    static const char sql[] =
        "SELECT stack_id, size, name FROM type_candidate ORDER BY stack_id, size, position";
    struct places places = {.capacity = 0};
    const struct stacks *stacks = &selection->session->stacks;
    *rows = NULL;
    *count = 0;
    bool good = database_each(selection->session->database, sql, read_candidate, &places, error) &&
                (places.codes.count == 0 || sum_places(selection, &places, error));
    size_t used = 0;
    for (size_t i = 0; good && i < places.codes.count; i++)
        if (places.rows[i].row.allocations > 0) {
            const uint32_t stack = places.rows[i].stack;
            places.rows[used] = places.rows[i];
            places.rows[used++].row.function = stack < stacks->count ? stacks->function[stack] : 0;
        }
    code_map_free(&places.codes);
    if (good && used > 0) {
        qsort(places.rows, used, sizeof(*places.rows), compare_places);
        *rows = calloc(used, sizeof(**rows));
        if (!*rows || !join_places(places.rows, used, *rows, count)) {
            selection_candidates_free(*rows, *count);
            good = session_fail_memory(error, "the candidates of types");
        } else {
            qsort(*rows, *count, sizeof(**rows), compare_candidates);
        }
    }
    free(places.rows);
    return good;
}

void selection_candidates_free(struct session_type_candidates *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i].stacks);
    free(rows);
}
