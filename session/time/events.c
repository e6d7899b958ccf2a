/* SPDX-License-Identifier: BSD-2-Clause */
/* Replays allocations and frees in the order of time.
 *
 * Rows lie in the order of their frees, so their allocations lie anywhere. The replay counts the
 * events by slots of time, joins slots to windows of bounded size, and for each window gathers its
 * events from the chunks whose times meet the window, sorts them and visits them. A slot with too
 * many events is split again. A single nanosecond with too many events needs no memory: its order
 * is that of the rows, in three passes. */
#include "schemas/array.h"
#include "session/time.h"

#include <stdlib.h>

#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/table/selection_state.h"

enum { SLOTS = 4096, EVENTS_OF_A_SPAN = 1 << 13 };

size_t selection_events_at_once = 1 << 19;

typedef bool event_visitor(void *context, const struct session_event *event);

/* The order in one nanosecond. */
enum phase { PHASE_OLD_FREE, PHASE_ALLOC, PHASE_YOUNG_FREE, PHASES };

struct entry {
    uint64_t ns, key; /* key: phase, then position in `allocations`, which is by id */
};

/* Times from `first` to `last`, both included. */
struct window {
    uint64_t first, last;
};

struct replay {
    struct selection *selection;
    size_t at_once, capacity; /* capacity: at least the rows of a chunk */
    struct entry *entries;
    struct session_allocation *allocations;
    size_t entry_count, allocation_count;
    event_visitor *visit;
    void *context;
    struct session_error *error;
};

struct row_times {
    uint64_t alloc_ns, free_ns;
    bool freed;
};

static struct row_times times_of(const struct column_view *alloc, const struct column_view *life,
                                 size_t row)
{
    const uint64_t alloc_ns = column_view_at(alloc, row), lived = column_view_at(life, row);
    return (struct row_times){alloc_ns, alloc_ns + lived - 1, lived != 0};
}

static bool is_inside(const struct window *window, uint64_t ns)
{
    return ns >= window->first && ns <= window->last;
}

static enum phase free_phase(const struct row_times *times)
{
    return times->free_ns == times->alloc_ns ? PHASE_YOUNG_FREE : PHASE_OLD_FREE;
}

/* Returns true if some event of the chunk may lie in the window, by the directory. */
static bool chunk_meets(const struct replay *replay, uint32_t chunk, const struct window *window)
{
    const struct column_store *store = replay->selection->session->columns;
    return !row_set_chunk_empty(&replay->selection->set, chunk) &&
           ((column_store_min(store, chunk, COLUMN_ALLOC_NS) <= window->last &&
             column_store_max(store, chunk, COLUMN_ALLOC_NS) >= window->first) ||
            (column_store_first_free(store, chunk) <= window->last &&
             column_store_last_free(store, chunk) >= window->first));
}

static bool read_times(const struct replay *replay, uint32_t chunk, struct column_view *alloc,
                       struct column_view *life)
{
    struct session *session = replay->selection->session;
    return scan_go_on(session, replay->error) &&
           column_reader_get(session->reader, chunk, COLUMN_ALLOC_NS, alloc, replay->error) &&
           column_reader_get(session->reader, chunk, COLUMN_LIFE_NS, life, replay->error);
}

static bool read_chunk(const struct replay *replay, uint32_t chunk,
                       struct column_view views[COLUMN_TOTAL])
{
    struct session *session = replay->selection->session;
    for (int column = 0; column < COLUMN_TOTAL; column++)
        if (!column_reader_get(session->reader, chunk, (enum column)column, &views[column],
                               replay->error))
            return false;
    return true;
}

/* ---- one window in memory ---- */

ARRAY_ORDER(compare_entries, struct entry, ORDER(a->ns, b->ns) ?: ORDER(a->key, b->key))

static void add_entry(struct replay *replay, uint64_t ns, enum phase phase, size_t position)
{
    replay->entries[replay->entry_count++] =
        (struct entry){ns, (uint64_t)phase << 32 | (uint64_t)position};
}

/* Gathers the events of one chunk, with PHASES of all phases. */
static bool gather_chunk(struct replay *replay, uint32_t chunk, const struct window *window,
                         enum phase phase)
{
    const struct selection *selection = replay->selection;
    const uint64_t *words = row_set_chunk(&selection->set, chunk);
    struct column_view views[COLUMN_TOTAL];
    bool all_read = false;
    if (!read_times(replay, chunk, &views[COLUMN_ALLOC_NS], &views[COLUMN_LIFE_NS]))
        return false;
    ROW_SET_EACH(words, row)
    {
        const struct row_times times =
            times_of(&views[COLUMN_ALLOC_NS], &views[COLUMN_LIFE_NS], row);
        const bool begins =
            (phase == PHASES || phase == PHASE_ALLOC) && is_inside(window, times.alloc_ns);
        const bool ends = times.freed && (phase == PHASES || phase == free_phase(&times)) &&
                          is_inside(window, times.free_ns);
        if (!begins && !ends)
            continue;
        /* They were counted before: there are more only if the file has changed. */
        if (replay->entry_count + (size_t)begins + (size_t)ends > replay->capacity)
            return session_fail(replay->error, 0, "%s changed while it was read: try again",
                                session_path(selection->session));
        if (!all_read && !read_chunk(replay, chunk, views))
            return false;
        all_read = true;
        const size_t position = replay->allocation_count++;
        replay->allocations[position] = session_allocation_of(
            selection->session, views, (uint64_t)chunk * COLUMN_CHUNK_ROWS + row + 1);
        if (begins)
            add_entry(replay, times.alloc_ns, PHASE_ALLOC, position);
        if (ends)
            add_entry(replay, times.free_ns, free_phase(&times), position);
    }
    return true;
}

/* Visits the events that have been gathered. */
static bool visit_entries(struct replay *replay)
{
    bool good = true;
    for (size_t i = 0; good && i < replay->entry_count; i++) {
        const struct entry *entry = &replay->entries[i];
        const struct session_event event = {
            .ns = entry->ns,
            .kind = entry->key >> 32 == PHASE_ALLOC ? SESSION_EVENT_ALLOC : SESSION_EVENT_FREE,
            .allocation = &replay->allocations[entry->key & UINT32_MAX]};
        good = replay->visit(replay->context, &event);
    }
    replay->entry_count = replay->allocation_count = 0;
    return good;
}

static bool visit_window(struct replay *replay, const struct window *window)
{
    for (uint32_t chunk = 0; chunk < replay->selection->set.chunks; chunk++)
        if (chunk_meets(replay, chunk, window) && !gather_chunk(replay, chunk, window, PHASES))
            return false;
    qsort(replay->entries, replay->entry_count, sizeof(*replay->entries), compare_entries);
    return visit_entries(replay);
}

/* Visits one nanosecond with more events than memory may hold, phase by phase. */
static bool visit_moment(struct replay *replay, const struct window *window)
{
    for (int phase = 0; phase < PHASES; phase++) {
        for (uint32_t chunk = 0; chunk < replay->selection->set.chunks; chunk++)
            if (chunk_meets(replay, chunk, window) &&
                (!gather_chunk(replay, chunk, window, (enum phase)phase) || !visit_entries(replay)))
                return false;
    }
    return true;
}

/* ---- windows ---- */

/* Counts the events of a window by slots of `step` ns. */
static bool count_events(const struct replay *replay, const struct window *window, uint64_t step,
                         uint64_t *counts)
{
    struct column_view alloc, life;
    for (uint32_t chunk = 0; chunk < replay->selection->set.chunks; chunk++) {
        const uint64_t *words = row_set_chunk(&replay->selection->set, chunk);
        if (!chunk_meets(replay, chunk, window))
            continue;
        if (!read_times(replay, chunk, &alloc, &life))
            return false;
        ROW_SET_EACH(words, row)
        {
            const struct row_times times = times_of(&alloc, &life, row);
            if (is_inside(window, times.alloc_ns))
                counts[(times.alloc_ns - window->first) / step]++;
            if (times.freed && is_inside(window, times.free_ns))
                counts[(times.free_ns - window->first) / step]++;
        }
    }
    return true;
}

static bool visit_span(struct replay *replay, const struct window *span);

/* Visits a window of `events` events. */
static bool visit_counted(struct replay *replay, const struct window *window,
                          uint64_t events) /* NOLINT(misc-no-recursion) */
{
    if (events == 0)
        return true;
    if (events <= replay->at_once)
        return visit_window(replay, window);
    return window->first == window->last ? visit_moment(replay, window)
                                         : visit_span(replay, window);
}

/* Visits [window->first, last] and moves the window past it. */
static bool end_window(struct replay *replay, struct window *window, uint64_t last,
                       uint64_t *events) /* NOLINT(misc-no-recursion) */
{
    window->last = last;
    const bool good = visit_counted(replay, window, *events);
    window->first = last + 1;
    *events = 0;
    return good;
}

static bool visit_span(struct replay *replay,
                       const struct window *span) /* NOLINT(misc-no-recursion) */
{
    const uint64_t length = span->last - span->first, step = length / SLOTS + 1;
    uint64_t *counts = calloc(SLOTS, sizeof(*counts));
    if (!counts)
        return session_fail_memory(replay->error, "the events in order");
    bool good = count_events(replay, span, step, counts);
    struct window window = *span;
    uint64_t events = 0;
    for (uint64_t slot = 0; good && slot <= length / step; slot++) {
        const uint64_t first = span->first + slot * step;
        if (events > 0 && events + counts[slot] > replay->at_once)
            good = end_window(replay, &window, first - 1, &events);
        events += counts[slot];
        if (!good || events <= replay->at_once)
            continue;
        /* A slot that is too large is a window of its own. */
        window.first = first;
        good = end_window(replay, &window,
                          span->last - first < step ? span->last : first + step - 1, &events);
    }
    good = good && end_window(replay, &window, span->last, &events);
    free(counts);
    return good;
}

/* Finds the times between which all events lie. */
static struct window whole_span(const struct selection *selection)
{
    const struct column_store *store = selection->session->columns;
    struct window span = {UINT64_MAX, 0};
    for (uint32_t chunk = 0; chunk < selection->set.chunks; chunk++) {
        const uint64_t first = column_store_min(store, chunk, COLUMN_ALLOC_NS);
        const uint64_t began = column_store_max(store, chunk, COLUMN_ALLOC_NS);
        const uint64_t lived = column_store_max(store, chunk, COLUMN_LIFE_NS);
        const uint64_t last = began + lived < began ? UINT64_MAX : began + lived;
        span.first = first < span.first ? first : span.first;
        span.last = last > span.last ? last : span.last;
    }
    return span;
}

/* Visits the events of a span, if it has a beginning that is not after its end. */
static bool visit_within(struct selection *selection, const struct window *span, size_t at_once,
                         event_visitor *visit, void *context, struct session_error *error)
{
    const size_t most = at_once > COLUMN_CHUNK_ROWS ? at_once : COLUMN_CHUNK_ROWS;
    struct replay replay = {.selection = selection,
                            .at_once = at_once,
                            .capacity = most,
                            .entries = malloc(most * sizeof(*replay.entries)),
                            .allocations = malloc(most * sizeof(*replay.allocations)),
                            .visit = visit,
                            .context = context,
                            .error = error};
    bool good =
        (replay.entries && replay.allocations) || session_fail_memory(error, "the events in order");
    good = good && (span->first > span->last || visit_span(&replay, span));
    FREE_ALL(replay.entries, replay.allocations);
    return good;
}

bool selection_events(struct selection *selection, event_visitor *visit, void *context,
                      struct session_error *error)
{
    const struct window span = whole_span(selection);
    return visit_within(selection, &span, selection_events_at_once, visit, context, error);
}

bool selection_events_between(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                              event_visitor *visit, void *context, struct session_error *error)
{
    if (to_ns <= from_ns)
        return true;
    const struct window span = {from_ns, to_ns - 1};
    return visit_within(selection, &span, EVENTS_OF_A_SPAN, visit, context, error);
}
