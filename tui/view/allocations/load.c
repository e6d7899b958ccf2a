/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the parts of the list of allocations that are on the screen. */
#include <stdlib.h>
#include <string.h>

#include "session/user_code.h"
#include "tui/view/allocations/allocations.h"

enum {
    BLOCK = 64, /* parts begin with a multiple of so many rows */
    FRAMES_MOST = 512
};

/* ---- rows ------------------------------------------------------------------------------- */

static uint32_t function_of_frame(struct session *session, uint32_t stack, size_t place)
{
    static _Thread_local struct session_frame frames[FRAMES_MOST];
    if (stack == 0 || place >= FRAMES_MOST)
        return 0;
    return session_stack(session, stack, frames, place + 1) > place ? frames[place].function : 0;
}

static int compare_places(const void *left, const void *right)
{
    const uint64_t *const *a = left, *const *b = right;
    return **a < **b ? -1 : **a > **b;
}

/* Reads the rows in the order of their ids, so that those of one chunk are read together. */
static bool read_rows(struct session *session, const uint64_t *ids, struct allocation_part *part,
                      struct session_error *error)
{
    const uint64_t **order = malloc((part->count + 1) * sizeof(*order));
    bool good = order;
    for (size_t i = 0; good && i < part->count; i++)
        order[i] = &ids[i];
    if (good)
        qsort(order, part->count, sizeof(*order), compare_places);
    for (size_t i = 0; good && i < part->count; i++) {
        struct allocation_row *row = &part->rows[order[i] - ids];
        good = session_allocation(session, *order[i], &row->block, error);
        if (!good)
            break;
        row->user = function_of_frame(session, row->block.stack,
                                      session_stack_user(session, row->block.stack));
        const uint32_t freed = row->block.free_ns != SESSION_LIVE ? row->block.free_stack : 0;
        row->freed_in = function_of_frame(session, freed, session_stack_user(session, freed));
        if (row->freed_in == 0)
            row->freed_in =
                function_of_frame(session, freed, session_stack_call_site(session, freed));
    }
    free(order);
    return good;
}

static bool run_part(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct allocation_part *part = data;
    const size_t capacity = (size_t)part->request.capacity;
    const struct session_row_order order = {(enum session_row_field)part->request.field,
                                            part->request.descending != 0};
    uint64_t *ids = calloc(capacity + 1, sizeof(*ids));
    part->rows = calloc(capacity + 1, sizeof(*part->rows));
    const bool good = ids && part->rows &&
                      selection_rows(selection, &order, part->request.first, capacity, ids,
                                     &part->count, error) &&
                      read_rows(session, ids, part, error);
    if (!good)
        part->count = 0;
    if (!ids || !part->rows)
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    free(ids);
    return good;
}

static void clear_part(void *data)
{
    free(((struct allocation_part *)data)->rows);
}

static const struct allocation_part *load_rows(struct allocations *list,
                                               struct exploration *exploration, struct load *load,
                                               uint64_t first, uint64_t capacity)
{
    static const struct load_kind kind = {sizeof(((struct allocation_part *)0)->request),
                                          sizeof(struct allocation_part), run_part, clear_part};
    const struct allocation_part wanted = {.request = {list->selections,
                                                       (uint64_t)list->order.field,
                                                       list->order.descending, first, capacity}};
    return exploration_get(exploration, load, &kind, &wanted.request);
}

void allocations_load(struct allocations *list, struct exploration *exploration, size_t rows)
{
    const size_t block = list->table.first / BLOCK;
    const uint64_t first = block > 0 ? (block - 1) * BLOCK : 0;
    const uint64_t last = ((list->table.first + rows) / BLOCK + 2) * BLOCK;
    const struct allocation_part *part =
        load_rows(list, exploration, &list->part_load, first, last - first);
    if (part)
        list->part = part;
}

const struct allocation_part *allocations_load_all(struct allocations *list,
                                                   struct exploration *exploration, size_t rows)
{
    return load_rows(list, exploration, &list->all_load, 0, rows);
}

const struct allocation_row *allocation_row_at(const struct allocations *list, size_t row)
{
    const struct allocation_part *part = list->part;
    if (!part || part->request.selections != list->selections ||
        part->request.field != (uint64_t)list->order.field ||
        (part->request.descending != 0) != list->order.descending || row < part->request.first ||
        row - part->request.first >= part->count)
        return NULL;
    return &part->rows[row - part->request.first];
}

/* ---- the place of a block --------------------------------------------------------------- */

struct place_data {
    struct {
        uint64_t selections, field, descending, id;
    } request;
    uint64_t place;
    bool found;
};

static bool run_place(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct place_data *place = data;
    const struct session_row_order order = {(enum session_row_field)place->request.field,
                                            place->request.descending != 0};
    (void)session;
    place->found = selection_place(selection, &order, place->request.id, &place->place, error);
    return place->found || error->message[0] == 0;
}

bool allocations_find_wanted(struct allocations *list, struct exploration *exploration,
                             uint64_t *place)
{
    static const struct load_kind kind = {sizeof(((struct place_data *)0)->request),
                                          sizeof(struct place_data), run_place, NULL};
    const struct place_data wanted = {.request = {list->selections, (uint64_t)list->order.field,
                                                  list->order.descending, list->wanted}};
    const struct place_data *answer =
        exploration_get(exploration, &list->place_load, &kind, &wanted.request);
    if (!answer)
        return false;
    list->wanted = 0;
    *place = answer->place;
    return answer->found;
}

/* ---- the strip below -------------------------------------------------------------------- */

static bool run_strip(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct allocation_strip *strip = data;
    const uint32_t stack = (uint32_t)strip->request.stack;
    (void)selection;
    (void)error;
    strip->count = session_stack(session, stack, strip->frames, STRIP_FRAMES);
    if (strip->count > STRIP_FRAMES)
        strip->count = STRIP_FRAMES;
    strip->call_site = session_stack_call_site(session, stack);
    return true;
}

void allocations_load_strip(struct allocations *list, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct allocation_strip *)0)->request),
                                          sizeof(struct allocation_strip), run_strip, NULL};
    const struct allocation_row *row = allocation_row_at(list, list->table.selected);
    list->strip = NULL;
    if (!row)
        return;
    const struct allocation_strip wanted = {.request = {exploration->renewals, row->block.stack}};
    list->strip = exploration_get(exploration, &list->strip_load, &kind, &wanted.request);
}
