/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums up the blocks of unknown type for which ingest has stored possible types. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_set.h"
#include "session/query/selection_state.h"
#include "session/tables/sums.h"
#include "session/types.h"

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

static void by_place(const void *context, const struct table_rows *rows, struct code *codes)
{
    const struct places *places = context;
    for (size_t i = 0; i < rows->count; i++) {
        const struct code place = {rows->value[COLUMN_STACK][i], rows->value[COLUMN_SIZE][i]};
        const uint32_t number = rows->value[COLUMN_TYPE][i] == SESSION_TYPE_UNKNOWN
                                    ? code_map_find(&places->codes, place)
                                    : CODE_NONE;
        codes[i] = number == CODE_NONE ? TABLE_NO_CODE : (struct code){number, 0};
    }
}

static bool sum_places(struct selection *selection, struct places *places,
                       struct session_error *error)
{
    const struct table_spec spec = {.columns = COLUMN_BIT(COLUMN_TYPE) | COLUMN_BIT(COLUMN_STACK),
                                    .key = by_place,
                                    .context = places};
    struct table_sums sums;
    if (!table_sums(selection, &spec, &sums, error))
        return false;
    for (size_t i = 0; i < sums.codes.count; i++) {
        struct session_type_candidates *row = &places->rows[sums.codes.codes[i].low].row;
        row->allocations = sums.sums[i].allocations;
        row->bytes = sums.sums[i].bytes;
        row->live_bytes = sums.sums[i].live_bytes;
        row->at_peak_bytes = sums.sums[i].at_peak_bytes;
    }
    table_sums_free(&sums);
    return true;
}

/* Orders by what a joined row has in common. */
static int compare_common(const struct place *a, const struct place *b)
{
    if (a->row.function != b->row.function)
        return a->row.function < b->row.function ? -1 : 1;
    if (a->row.size != b->row.size)
        return a->row.size < b->row.size ? -1 : 1;
    if (a->row.name_count != b->row.name_count)
        return a->row.name_count < b->row.name_count ? -1 : 1;
    return strcmp(a->row.names, b->row.names);
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    const int order = compare_common(a, b);
    return order != 0 ? order : a->stack < b->stack ? -1 : a->stack > b->stack;
}

static int compare_candidates(const void *left, const void *right)
{
    const struct session_type_candidates *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return strcmp(a->names, b->names);
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
