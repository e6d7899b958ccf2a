/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the peaks of few groups without sorting all events. Time is cut into equal parts. One pass
 * sums the bytes that each group allocates and frees in each part. This gives its live bytes at
 * every boundary and an upper bound for each part. Only parts whose bound is above the largest
 * value at a boundary can hold more: another pass collects their events, which are sorted and
 * swept.
 */
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/sort_order.h"
#include "session/group/peak_search.h"

/* Cells, of 16 bytes, that each thread has. More parts than MOST are of no use, with fewer than
 * LEAST nearly all events would be collected. */
enum { CELLS_MAX = 1 << 21, PARTS_MOST = 1 << 18, PARTS_LEAST = 1 << 9 };

/* The sums of one place in one part. */
struct cell {
    uint64_t allocated;
    uint64_t freed; /* after the first pass: the live bytes at the start */
};

struct bound_event {
    uint64_t key; /* ns times 2, plus 1 for an allocation */
    uint64_t bytes;
    uint32_t place;
};

/* One thread's state. The first one has the sums of all after each pass. */
struct bounding {
    struct search *search;
    size_t parts;
    unsigned shift;                /* a part is 2^shift ns long */
    struct cell *cells;            /* part * places + place */
    const uint64_t *chosen;        /* bit for each cell: its events are to be collected */
    const uint32_t *chosen_before; /* by part: parts with chosen cells before it; parts + 1 */
    struct bound_event *events;
    size_t count, capacity;
    size_t limit;                    /* of events */
    bool full;                       /* there are more */
    struct estimate_rows *estimated; /* NULL: the session is not sampled */
};

/* The rows of a batch. */
struct bound_values {
    uint32_t places[KERNEL_ROWS];
    uint64_t bytes[KERNEL_ROWS], began[KERNEL_ROWS], life[KERNEL_ROWS], thread[KERNEL_ROWS];
};

struct bound_views {
    struct group_key_views keys;
    struct column_view size, bytes, counts, began, life, thread;
};

#define PLACE_NONE UINT32_MAX

static size_t part_of(const struct bounding *bounding, uint64_t ns)
{
    const uint64_t part = ns >> bounding->shift;
    return part < bounding->parts ? (size_t)part : bounding->parts - 1;
}

/* ---- rows ---- */

static bool read_views(struct bounding *bounding, struct scan_worker *worker, uint32_t chunk,
                       struct bound_views *views, struct session_error *error)
{
    const struct search *search = bounding->search;
    const struct session_group_set *set = search->set;
    if (!group_keys_views(&set->keys, &set->rows, worker, chunk, &views->keys, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &views->size, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &views->began, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &views->life, error) ||
        (search->machines > 1 && !scan_column(worker, chunk, COLUMN_THREAD, &views->thread, error)))
        return false;
    group_keys_reread(&set->keys, &views->keys, COLUMN_SIZE, &views->size);
    group_keys_reread(&set->keys, &views->keys, COLUMN_LIFE_NS, &views->life);
    if (search->machines > 1)
        group_keys_reread(&set->keys, &views->keys, COLUMN_THREAD, &views->thread);
    estimate_chunk(set->session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS, &views->size,
                   bounding->estimated, &views->bytes, &views->counts);
    return true;
}

/* Stores the values of a batch's rows. The place of a row whose group is not wanted is PLACE_NONE.
 */
static void take_values(const struct bounding *bounding, const struct bound_views *views,
                        const struct kernel_rows *rows, struct bound_values *values)
{
    const struct search *search = bounding->search;
    group_of_batch(search->set, &views->keys, rows, values->places);
    kernel_take(&views->bytes, rows, values->bytes);
    kernel_take(&views->began, rows, values->began);
    kernel_take(&views->life, rows, values->life);
    if (search->machines > 1)
        kernel_take(&views->thread, rows, values->thread);
    for (size_t i = 0; i < rows->count; i++) {
        if (search->wanted && !search->wanted[values->places[i]])
            values->places[i] = PLACE_NONE;
        else if (search->machines > 1)
            values->places[i] = peak_place(search, values->places[i], values->thread[i]);
    }
}

static void note_free(struct freed *freed, uint64_t ended)
{
    freed->first = ended < freed->first ? ended : freed->first;
    freed->last = ended > freed->last ? ended : freed->last;
}

static bool sum_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct bounding *bounding = context;
    const struct search *search = bounding->search;
    struct freed *freed = &search->free[chunk];
    struct bound_views views;
    struct bound_values values;
    struct kernel_rows rows;
    *freed = (struct freed){UINT64_MAX, 0};
    if (row_set_chunk_empty(&search->set->rows, chunk))
        return true;
    if (!read_views(bounding, worker, chunk, &views, error))
        return false;
    KERNEL_EACH_BATCH(row_set_chunk(&search->set->rows, chunk), &rows)
    {
        take_values(bounding, &views, &rows, &values);
        for (size_t i = 0; i < rows.count; i++) {
            if (values.places[i] == PLACE_NONE)
                continue;
            const size_t part = part_of(bounding, values.began[i]);
            bounding->cells[part * search->places + values.places[i]].allocated += values.bytes[i];
            if (values.life[i] == 0)
                continue;
            const uint64_t ended = values.began[i] + values.life[i] - 1;
            note_free(freed, ended);
            bounding->cells[part_of(bounding, ended) * search->places + values.places[i]].freed +=
                values.bytes[i];
        }
    }
    return true;
}

/* ---- the events of chosen cells ---- */

static bool is_chosen(const struct bounding *bounding, uint64_t ns, uint32_t place)
{
    const size_t cell = part_of(bounding, ns) * bounding->search->places + place;
    return (bounding->chosen[cell / 64] >> (cell % 64) & 1) != 0;
}

static bool any_chosen(const struct bounding *bounding, uint64_t first, uint64_t last)
{
    return first <= last && bounding->chosen_before[part_of(bounding, last) + 1] >
                                bounding->chosen_before[part_of(bounding, first)];
}

static bool add_event(struct bounding *bounding, uint64_t key, uint32_t place, uint64_t bytes,
                      struct session_error *error)
{
    if (bounding->count == bounding->limit) {
        bounding->full = true;
        return true;
    }
    if (!array_grow(&bounding->events, &bounding->capacity, bounding->count + 1,
                    sizeof(*bounding->events)))
        return session_fail_memory(error, "the peaks of groups");
    bounding->events[bounding->count++] = (struct bound_event){key, bytes, place};
    return true;
}

static bool collect_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                          struct session_error *error)
{
    struct bounding *bounding = context;
    const struct search *search = bounding->search;
    const struct column_store *columns = search->set->session->columns;
    const struct freed *freed = &search->free[chunk];
    struct bound_views views;
    struct bound_values values;
    struct kernel_rows rows;
    if (bounding->full || row_set_chunk_empty(&search->set->rows, chunk) ||
        (!any_chosen(bounding, column_store_min(columns, chunk, COLUMN_ALLOC_NS),
                     column_store_max(columns, chunk, COLUMN_ALLOC_NS)) &&
         !any_chosen(bounding, freed->first, freed->last)))
        return true;
    if (!read_views(bounding, worker, chunk, &views, error))
        return false;
    KERNEL_EACH_BATCH(row_set_chunk(&search->set->rows, chunk), &rows)
    {
        take_values(bounding, &views, &rows, &values);
        for (size_t i = 0; i < rows.count; i++) {
            const uint32_t place = values.places[i];
            const uint64_t began = values.began[i];
            const uint64_t ended = began + values.life[i] - 1;
            if (place == PLACE_NONE)
                continue;
            if (is_chosen(bounding, began, place) &&
                !add_event(bounding, began << 1 | 1, place, values.bytes[i], error))
                return false;
            if (values.life[i] != 0 && is_chosen(bounding, ended, place) &&
                !add_event(bounding, ended << 1, place, values.bytes[i], error))
                return false;
        }
    }
    return true;
}

/* Appends the events of the other threads to those of the first one. */
static bool gather(struct bounding **all, size_t threads, struct session_error *error)
{
    struct bounding *first = all[0];
    size_t count = 0;
    for (size_t i = 0; i < threads; i++)
        count += all[i]->count;
    struct bound_event *events = realloc(first->events, (count + 1) * sizeof(*events));
    if (!events)
        return session_fail_memory(error, "the peaks of groups");
    first->events = events;
    for (size_t i = 1; i < threads; i++) {
        if (all[i]->count > 0)
            memcpy(events + first->count, all[i]->events, all[i]->count * sizeof(*events));
        first->count += all[i]->count;
    }
    return true;
}

/* Sorts the events and sweeps them. */
static bool sweep(struct bounding *bounding, struct session_error *error)
{
    struct search *search = bounding->search;
    struct sort_entry *order = malloc((bounding->count + 1) * sizeof(*order));
    size_t *part =
        malloc((search->places + 1) * sizeof(*part)); /* by place: the last one, plus 1 */
    bool good = order && part;
    for (size_t i = 0; good && i < bounding->count; i++)
        order[i] = (struct sort_entry){bounding->events[i].key, i};
    for (size_t i = 0; good && i < search->places; i++)
        part[i] = 0;
    good = good && sort_entries(order, bounding->count);
    for (size_t i = 0; good && i < bounding->count; i++) {
        const struct bound_event *event = &bounding->events[order[i].row];
        const size_t here = part_of(bounding, event->key >> 1);
        int64_t *live = &search->live[event->place];
        if (part[event->place] != here + 1) {
            part[event->place] = here + 1;
            *live = (int64_t)bounding->cells[here * search->places + event->place].freed;
        }
        *live += (event->key & 1) != 0 ? (int64_t)event->bytes : -(int64_t)event->bytes;
        if ((event->key & 1) != 0 && *live > 0 && (uint64_t)*live > search->peaks[event->place])
            search->peaks[event->place] = (uint64_t)*live;
    }
    free(order);
    free(part);
    return good || session_fail_memory(error, "the peaks of groups");
}

/* ---- the search ---- */

/* Finds the live bytes at each boundary and the cells that may hold more. */
static void choose(struct bounding *bounding, uint64_t *chosen, uint32_t *chosen_before)
{
    struct search *search = bounding->search;
    const size_t places = search->places;
    for (size_t place = 0; place < places; place++) {
        uint64_t live = 0;
        for (size_t part = 0; part < bounding->parts; part++) {
            struct cell *cell = &bounding->cells[part * places + place];
            const uint64_t before = live;
            live += cell->allocated - cell->freed;
            cell->freed = before;
            search->peaks[place] = live > search->peaks[place] ? live : search->peaks[place];
        }
    }
    for (size_t part = 0; part < bounding->parts; part++) {
        bool any = false;
        for (size_t place = 0; place < places; place++) {
            const size_t i = part * places + place;
            const struct cell *cell = &bounding->cells[i];
            if (cell->allocated == 0 || cell->freed + cell->allocated <= search->peaks[place])
                continue;
            chosen[i / 64] |= UINT64_C(1) << (i % 64);
            any = true;
        }
        chosen_before[part + 1] = chosen_before[part] + any;
    }
}

static void bounding_free(struct bounding *bounding)
{
    if (!bounding)
        return;
    free(bounding->cells);
    free(bounding->events);
    free(bounding->estimated);
    free(bounding);
}

static struct bounding *bounding_new(struct search *search, size_t parts, unsigned shift)
{
    const bool sampled = search->set->session->estimate != NULL;
    struct bounding *bounding = calloc(1, sizeof(*bounding));
    if (!bounding)
        return NULL;
    bounding->search = search;
    bounding->parts = parts;
    bounding->shift = shift;
    bounding->cells = calloc(parts * search->places + 1, sizeof(*bounding->cells));
    bounding->estimated = sampled ? malloc(sizeof(*bounding->estimated)) : NULL;
    if (!bounding->cells || (sampled && !bounding->estimated)) {
        bounding_free(bounding);
        return NULL;
    }
    return bounding;
}

static bool search_cells(struct bounding **all, size_t threads, uint64_t *chosen,
                         uint32_t *chosen_before, struct session_error *error)
{
    struct bounding *first = all[0];
    struct search *search = first->search;
    struct session *session = search->set->session;
    const uint32_t chunks = search->set->rows.chunks;
    if (!scan_chunks(session, chunks, sum_chunk, (void **)all, threads, error))
        return false;
    for (size_t i = 1; i < threads; i++) {
        for (size_t cell = 0; cell < first->parts * search->places; cell++) {
            first->cells[cell].allocated += all[i]->cells[cell].allocated;
            first->cells[cell].freed += all[i]->cells[cell].freed;
        }
    }
    choose(first, chosen, chosen_before);
    for (size_t i = 0; i < threads; i++) {
        all[i]->chosen = chosen;
        all[i]->chosen_before = chosen_before;
        all[i]->limit = group_window_events / threads;
    }
    return scan_chunks(session, chunks, collect_chunk, (void **)all, threads, error) &&
           gather(all, threads, error);
}

bool peak_search_bounds(struct search *search, uint64_t last, bool *found,
                        struct session_error *error)
{
    struct bounding *all[SCAN_THREADS_MAX] = {NULL};
    size_t parts = PARTS_MOST;
    unsigned shift = 0;
    *found = false;
    while (parts > 0 && parts * search->places > CELLS_MAX)
        parts /= 2;
    if (parts < PARTS_LEAST)
        return true;
    while (parts > PARTS_LEAST && parts > column_store_rows(search->set->session->columns))
        parts /= 2;
    while (last >> shift >= parts)
        shift++;
    const size_t threads = group_threads(search->set, parts * search->places * sizeof(struct cell));
    uint64_t *chosen = calloc(parts * search->places / 64 + 1, sizeof(*chosen));
    uint32_t *chosen_before = calloc(parts + 1, sizeof(*chosen_before));
    bool good = (chosen && chosen_before) || session_fail_memory(error, "the peaks of groups");
    /* There is at least one thread. */
    for (size_t i = 0; good && (i == 0 || i < threads); i++) {
        all[i] = bounding_new(search, parts, shift);
        good = all[i] || session_fail_memory(error, "the peaks of groups");
    }
    good = good && search_cells(all, threads, chosen, chosen_before, error);
    bool full = false;
    for (size_t i = 0; good && i < threads; i++)
        full = full || all[i]->full;
    if (good && !full) {
        good = sweep(all[0], error);
        *found = good;
    } else {
        memset(search->peaks, 0, search->places * sizeof(*search->peaks));
    }
    for (size_t i = 0; i < threads; i++)
        bounding_free(all[i]);
    free(chosen);
    free(chosen_before);
    return good;
}
