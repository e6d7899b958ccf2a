/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/sort_key.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/field_names.h"
#include "session/filter/pins.h"

/* ---- names ---- */

struct ranked {
    const char *name;
    uint32_t id;
};

static int compare_ranked(const void *left, const void *right)
{
    return strcmp(((const struct ranked *)left)->name, ((const struct ranked *)right)->name);
}

/* Ranks the name ids. Equal names have the same rank, null comes last. */
static bool rank_names(const struct field_names *names, uint64_t *rank)
{
    struct ranked *sorted = malloc(((size_t)names->name_count + 1) * sizeof(*sorted));
    if (!sorted)
        return false;
    size_t count = 0;
    for (uint32_t id = 0; id < names->name_count; id++) {
        rank[id] = SORT_KEY_NULL;
        if (names->name[id])
            sorted[count++] = (struct ranked){names->name[id], id};
    }
    qsort(sorted, count, sizeof(*sorted), compare_ranked);
    for (size_t i = 0; i < count; i++) {
        bool same = i > 0 && strcmp(sorted[i].name, sorted[i - 1].name) == 0;
        rank[sorted[i].id] = same ? rank[sorted[i - 1].id] : i;
    }
    free(sorted);
    return true;
}

static bool key_of_names(struct session *session, struct sort_key *key, uint32_t frame,
                         struct session_error *error)
{
    struct field_names names;
    if (!field_names_open(session, key->field, frame, &names, error))
        return false;
    uint64_t *by_name = calloc((size_t)names.name_count + 1, sizeof(*by_name));
    key->rank = malloc(((size_t)names.count + 1) * sizeof(*key->rank));
    bool good = by_name && key->rank && rank_names(&names, by_name);
    key->column = names.column;
    key->ranks = names.name_count;
    for (uint32_t value = 0; good && value < names.count; value++)
        key->rank[value] = by_name[field_names_id(&names, value)];
    free(by_name);
    field_names_close(&names);
    return good || session_fail_memory(error, "the sort order");
}

static bool key_of_line(const struct session *session, struct sort_key *key,
                        struct session_error *error)
{
    key->column = COLUMN_STACK;
    key->ranks = UINT32_MAX;
    key->rank = malloc(((size_t)session->stacks.count + 1) * sizeof(*key->rank));
    if (!key->rank)
        return session_fail_memory(error, "the sort order");
    for (uint32_t stack = 0; stack < session->stacks.count; stack++) {
        uint32_t line = stacks_call_site(&session->stacks, stack)->line;
        key->rank[stack] = line == 0 ? SORT_KEY_NULL : line;
    }
    return true;
}

static bool key_of_collected(const struct session *session, struct sort_key *key,
                             struct session_error *error)
{
    key->column = COLUMN_FREE_STACK;
    key->ranks = 2;
    key->rank = malloc(((size_t)session->stacks.count + 1) * sizeof(*key->rank));
    if (!key->rank)
        return session_fail_memory(error, "the sort order");
    for (uint32_t stack = 0; stack < session->stacks.count; stack++)
        key->rank[stack] = stacks_by_collector(&session->stacks, stack);
    return true;
}

bool sort_key_open(struct session *session, const struct row_set *set,
                   const struct filter_colors *colors, struct sort_key *key,
                   struct session_error *error)
{
    *key = (struct sort_key){.field = set->sorted ? (enum filter_field)set->sort_field : FIELD_ID,
                             .column = COLUMN_ADDRESS,
                             .end_ns = session->duration_ns,
                             .descending = set->sorted && set->descending};
    switch (key->field) {
    case FIELD_ADDRESS:
    case FIELD_ID:
        return true;
    case FIELD_SIZE:
        key->column = COLUMN_SIZE;
        return true;
    case FIELD_COUNT:
        key->column = COLUMN_COUNT_OF_OBJECTS;
        return true;
    case FIELD_STACK:
        key->column = COLUMN_STACK;
        return true;
    case FIELD_FREE_STACK:
        key->column = COLUMN_FREE_STACK;
        return true;
    case FIELD_ALLOC_TIME:
        key->column = COLUMN_ALLOC_NS;
        return true;
    case FIELD_FREE_TIME:
    case FIELD_LIFETIME:
    case FIELD_FREED:
        key->column = COLUMN_LIFE_NS;
        return true;
    case FIELD_CROSSED:
        key->column = COLUMN_FREE_THREAD;
        return true;
    case FIELD_COLOR:
        key->column = COLUMN_SIZE;
        key->by_color[0] = SORT_KEY_NULL;
        for (size_t step = 1; step <= colors->count; step++)
            key->by_color[step] = (uint64_t)colors->step[step].number;
        return true;
    case FIELD_COLLECTED:
        return key_of_collected(session, key, error);
    case FIELD_LINE:
        return key_of_line(session, key, error);
    case FIELD_PINS: {
        const struct filter_live live = {.time = {.ns = set->sort_ns}, .end = set->sort_at_end};
        key->pins = pins_find(session, &live, error);
        return key->pins != NULL;
    }
    default:
        return key_of_names(session, key, set->sort_frame, error);
    }
}

void sort_key_close(struct sort_key *key)
{
    free(key->rank);
    pins_free(key->pins);
}

/* ---- bounds ---- */

/* Returns true if the values of the key's column are the keys. */
static bool is_direct(const struct sort_key *key)
{
    return !key->rank && (key->field == FIELD_ADDRESS || key->field == FIELD_SIZE ||
                          key->field == FIELD_COUNT || key->field == FIELD_ALLOC_TIME);
}

/* Turns bounds around for a descending order. */
static void order_bounds(const struct sort_key *key, uint64_t *low, uint64_t *high)
{
    const uint64_t first = *low;
    if (!key->descending)
        return;
    *low = SORT_KEY_NULL - 1 - *high;
    *high = SORT_KEY_NULL - 1 - first;
}

bool sort_key_chunk_bounds(const struct sort_key *key, const struct column_store *store,
                           uint32_t chunk, uint64_t *low, uint64_t *high)
{
    if (!is_direct(key))
        return false;
    *low = column_store_min(store, chunk, key->column);
    *high = column_store_max(store, chunk, key->column);
    if (*high == SORT_KEY_NULL)
        return false;
    order_bounds(key, low, high);
    return true;
}

void sort_key_bounds(const struct sort_key *key, const struct column_store *store, uint64_t *low,
                     uint64_t *high)
{
    const uint32_t chunks = column_store_chunks(store);
    uint64_t chunk_low, chunk_high;
    *low = SORT_KEY_NULL;
    *high = 0;
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        if (!sort_key_chunk_bounds(key, store, chunk, &chunk_low, &chunk_high))
            break;
        *low = chunk_low < *low ? chunk_low : *low;
        *high = chunk_high > *high ? chunk_high : *high;
        if (chunk + 1 == chunks)
            return;
    }
    uint64_t value = 0, begin = 0;
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        const uint64_t here = column_store_max(store, chunk, key->column);
        const uint64_t began = column_store_max(store, chunk, COLUMN_ALLOC_NS);
        value = here > value ? here : value;
        begin = began > begin ? began : begin;
    }
    *low = 0;
    *high = SORT_KEY_NULL - 1;
    if (key->rank)
        *high = key->ranks;
    else if (key->field == FIELD_ID)
        *high = column_store_rows(store);
    else if (key->field == FIELD_LIFETIME)
        *high = value > key->end_ns ? value : key->end_ns;
    else if (key->field == FIELD_FREE_TIME && value < SORT_KEY_NULL / 2 &&
             begin < SORT_KEY_NULL / 2)
        *high = begin + value;
    order_bounds(key, low, high);
}

/* ---- keys ---- */

bool sort_key_chunk(const struct sort_key *key, const struct row_set *set,
                    struct scan_worker *worker, uint32_t chunk, struct sort_key_chunk *columns,
                    struct session_error *error)
{
    *columns = (struct sort_key_chunk){.first_row = (uint64_t)chunk * COLUMN_CHUNK_ROWS};
    if (set->colors)
        columns->colors = set->colors + columns->first_row;
    if (key->field == FIELD_ID || key->field == FIELD_PINS || key->field == FIELD_COLOR)
        return true;
    if (!scan_column(worker, chunk, key->column, &columns->value, error))
        return false;
    if (key->field == FIELD_CROSSED)
        return scan_column(worker, chunk, COLUMN_THREAD, &columns->begin, error);
    return (key->field != FIELD_FREE_TIME && key->field != FIELD_LIFETIME) ||
           scan_column(worker, chunk, COLUMN_ALLOC_NS, &columns->begin, error);
}

/* Computes the key of one row from its values. */
static uint64_t computed_key(const struct sort_key *key, const struct sort_key_chunk *columns,
                             size_t row, uint64_t value, uint64_t began)
{
    switch (key->field) {
    case FIELD_ID:
        return columns->first_row + row;
    case FIELD_FREE_TIME:
        return value == 0 ? SORT_KEY_NULL : began + value - 1;
    case FIELD_LIFETIME:
        return value != 0 ? value - 1 : key->end_ns > began ? key->end_ns - began : 0;
    case FIELD_FREED:
        return value != 0;
    case FIELD_PINS:
        return pins_of(key->pins, columns->first_row + row);
    case FIELD_CROSSED:
        return value != 0 && value != began;
    case FIELD_STACK:
    case FIELD_FREE_STACK:
        return value == 0 ? SORT_KEY_NULL : value;
    case FIELD_COLOR:
        return key->by_color[columns->colors ? columns->colors[row] : 0];
    default:
        return value;
    }
}

void sort_key_take(const struct sort_key *key, const struct sort_key_chunk *columns,
                   const struct kernel_rows *rows, uint64_t *keys)
{
    uint64_t began[KERNEL_ROWS];
    const bool has_value = columns->value.rows > 0, has_begin = columns->begin.rows > 0;
    if (has_value)
        kernel_take(&columns->value, rows, keys);
    if (has_begin)
        kernel_take(&columns->begin, rows, began);
    if (key->rank) {
        for (size_t i = 0; i < rows->count; i++)
            keys[i] = key->rank[keys[i]];
    } else if (!is_direct(key)) {
        for (size_t i = 0; i < rows->count; i++)
            keys[i] = computed_key(key, columns, rows->first + rows->row[i],
                                   has_value ? keys[i] : 0, has_begin ? began[i] : 0);
    }
    for (size_t i = 0; key->descending && i < rows->count; i++)
        keys[i] = keys[i] == SORT_KEY_NULL ? SORT_KEY_NULL : SORT_KEY_NULL - 1 - keys[i];
}
