/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums up the blocks of unknown type for which ingest has stored possible types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_set.h"
#include "session/query/selection_state.h"
#include "session/tables/sums.h"
#include "session/types.h"

/* The stacks and sizes that have candidates. */
struct places {
    struct code_map codes;
    struct session_type_candidates *rows; /* by number of code */
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
        struct session_type_candidates *rows = realloc(places->rows, capacity * sizeof(*rows));
        if (!rows)
            return session_fail_memory(error, "the candidates of types");
        memset(rows + places->capacity, 0, (capacity - places->capacity) * sizeof(*rows));
        places->rows = rows;
        places->capacity = capacity;
    }
    places->rows[number].stack = (uint32_t)code.low;
    places->rows[number].size = code.high;
    add_name(&places->rows[number], name ? name : "?");
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

static int compare_candidates(const void *left, const void *right)
{
    const struct session_type_candidates *a = left;
    const struct session_type_candidates *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size;
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
        struct session_type_candidates *row = &places->rows[sums.codes.codes[i].low];
        row->allocations = sums.sums[i].allocations;
        row->bytes = sums.sums[i].bytes;
        row->live_bytes = sums.sums[i].live_bytes;
        row->at_peak_bytes = sums.sums[i].at_peak_bytes;
    }
    table_sums_free(&sums);
    return true;
}

bool selection_candidates(struct selection *selection, struct session_type_candidates **rows,
                          size_t *count, struct session_error *error)
{
    static const char sql[] =
        "SELECT stack_id, size, name FROM type_candidate ORDER BY stack_id, size, position";
    struct places places = {.capacity = 0};
    const bool good =
        database_each(selection->session->database, sql, read_candidate, &places, error) &&
        (places.codes.count == 0 || sum_places(selection, &places, error));
    size_t used = 0;
    for (size_t i = 0; good && i < places.codes.count; i++)
        if (places.rows[i].allocations > 0)
            places.rows[used++] = places.rows[i];
    code_map_free(&places.codes);
    if (!good) {
        free(places.rows);
        return false;
    }
    if (used > 0)
        qsort(places.rows, used, sizeof(*places.rows), compare_candidates);
    *rows = places.rows;
    *count = used;
    return true;
}
