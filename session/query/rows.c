/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists the allocations of a selection in any order. Keeps the parts that were last asked for. */
#include "session/rows.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/sort_window.h"
#include "session/query/selection_state.h"
#include "session/scan/scan.h"

/* A part that is kept: rows at places that begin with a multiple of PART. */
enum { PART = 4096 };

struct rows_part {
    struct session_row_order order;
    uint64_t first;
    size_t count;
    uint64_t rows[PART];
};

/* Sets the order of a copy of the selection's set, which shares its rows. */
static struct row_set ordered_set(const struct selection *selection,
                                  const struct session_row_order *order)
{
    static const enum filter_field fields[ROWS_FIELDS] = {[ROWS_BY_ID] = FIELD_ID,
                                                          [ROWS_BY_ADDRESS] = FIELD_ADDRESS,
                                                          [ROWS_BY_SIZE] = FIELD_SIZE,
                                                          [ROWS_BY_COUNT] = FIELD_COUNT,
                                                          [ROWS_BY_TYPE] = FIELD_TYPE,
                                                          [ROWS_BY_FUNCTION] = FIELD_FUNCTION,
                                                          [ROWS_BY_USER] = FIELD_USER,
                                                          [ROWS_BY_THREAD] = FIELD_THREAD,
                                                          [ROWS_BY_TIME] = FIELD_ALLOC_TIME,
                                                          [ROWS_BY_LIFETIME] = FIELD_LIFETIME,
                                                          [ROWS_BY_FREE_THREAD] =
                                                              FIELD_FREE_THREAD};
    struct row_set set = selection->set;
    if (order->field == ROWS_AS_FILTERED)
        return set;
    set.sorted = true;
    set.sort_field = fields[order->field];
    set.descending = order->descending;
    return set;
}

/* Returns true if the order is that of the ids, so that places can be counted. */
static bool is_by_id(const struct row_set *set)
{
    return !set->sorted || set->sort_field == FIELD_ID;
}

/* Finds the n-th row by id, from the last one if the order is descending. */
static uint64_t nth_by_id(const struct selection *selection, const struct row_set *set, uint64_t n)
{
    const bool back = set->sorted && set->descending;
    return selection_nth_row(selection, back ? selection_count(selection) - 1 - n : n);
}

/* Returns the part with the place `first`, a multiple of PART, or NULL with `error` set. */
static const struct rows_part *find_part(struct selection *selection,
                                         const struct session_row_order *order,
                                         const struct row_set *set, uint64_t first,
                                         struct session_error *error)
{
    struct rows_part **kept = selection->parts;
    for (size_t i = 0; i < SELECTION_PARTS; i++) {
        struct rows_part *part = kept[i];
        if (!part || part->first != first || part->order.field != order->field ||
            part->order.descending != order->descending)
            continue;
        memmove(kept + 1, kept, i * sizeof(struct rows_part *));
        kept[0] = part;
        return part;
    }
    struct rows_part *part = malloc(sizeof(*part));
    if (!part) {
        session_fail_memory(error, "the list");
        return NULL;
    }
    part->order = *order;
    part->first = first;
    if (!sort_window_rows(selection->session, set, &selection->colors, first, PART, part->rows,
                          &part->count, error)) {
        free(part);
        return NULL;
    }
    free(kept[SELECTION_PARTS - 1]);
    memmove(kept + 1, kept, (SELECTION_PARTS - 1) * sizeof(struct rows_part *));
    kept[0] = part;
    return part;
}

bool selection_is_sorted(const struct selection *selection)
{
    return selection->set.sorted;
}

bool selection_rows(struct selection *selection, const struct session_row_order *order,
                    uint64_t first, size_t capacity, uint64_t *ids, size_t *count,
                    struct session_error *error)
{
    const struct row_set set = ordered_set(selection, order);
    const uint64_t total = selection_count(selection);
    *count = 0;
    if (first >= total)
        return true;
    if (total - first < capacity)
        capacity = (size_t)(total - first);
    while (*count < capacity) {
        const uint64_t place = first + *count;
        if (is_by_id(&set)) {
            ids[(*count)++] = nth_by_id(selection, &set, place) + 1;
            continue;
        }
        const struct rows_part *part =
            find_part(selection, order, &set, place / PART * PART, error);
        if (!part)
            return false;
        if (part->count <= place - part->first)
            return session_fail(error, 0, "%s: the list ends before its last row",
                                session_path(selection->session));
        ids[(*count)++] = part->rows[place - part->first] + 1;
    }
    return true;
}

bool selection_place(struct selection *selection, const struct session_row_order *order,
                     uint64_t id, uint64_t *place, struct session_error *error)
{
    const struct row_set set = ordered_set(selection, order);
    const uint64_t row = id - 1;
    error->message[0] = 0;
    if (!selection_contains(selection, id))
        return false;
    if (!is_by_id(&set))
        return sort_window_place(selection->session, &set, &selection->colors, row, place, error);
    const uint64_t before = row_set_rank(&set, selection->before, row);
    *place = set.sorted && set.descending ? selection_count(selection) - 1 - before : before;
    return true;
}
