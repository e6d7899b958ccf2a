/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/query/summed_timeline.h"

#include "session/data/session_state.h"
#include "session/summary/slots.h"
#include "session/summary/summary.h"

/* With fewer of ingest's slots in each one, the rows are read: the borders would be too coarse. */
enum { SLOTS_LEAST = 8 };

/* The two readers of a timeline. */
struct sources {
    struct slots *all, *colored;
    uint64_t length_ns; /* of a slot of the finest level */
    uint64_t width;     /* such slots in the shortest that both have; 0: they cannot answer */
};

/* Finds the kind of key of a colouring. False if ingest does not sum it up. */
static bool key_of(enum session_color_by by, enum slot_key *key)
{
    switch (by) {
    case SESSION_COLOR_NONE:
        *key = SLOT_KEY_ALL;
        return true;
    case SESSION_COLOR_FUNCTION:
        *key = SLOT_KEY_FUNCTION;
        return true;
    case SESSION_COLOR_TYPE:
        *key = SLOT_KEY_TYPE;
        return true;
    case SESSION_COLOR_SIZE:
        *key = SLOT_KEY_SIZE;
        return true;
    default:
        return false;
    }
}

static void sources_close(struct sources *sources)
{
    slots_close(sources->all);
    slots_close(sources->colored);
}

static bool sources_open(struct sources *sources, struct selection *selection,
                         const struct color_map *map, uint64_t from_ns, uint64_t to_ns,
                         struct session_error *error)
{
    struct session *session = selection->session;
    enum slot_key key;
    *sources = (struct sources){.length_ns = slots_length_ns(session)};
    if (!selection->everything || sources->length_ns == 0 || !summary_answers(session) ||
        !key_of(map->by, &key))
        return true;
    const uint64_t from = from_ns / sources->length_ns, to = to_ns / sources->length_ns + 1;
    sources->all = slots_open(session, SLOT_KEY_ALL, 1, from, to, error);
    sources->colored =
        sources->all ? slots_open(session, key, map->categories, from, to, error) : NULL;
    if (!sources->colored) {
        sources_close(sources);
        return false;
    }
    const uint64_t all = slots_width(sources->all), colored = slots_width(sources->colored);
    if (all != 0 && colored != 0)
        sources->width = all > colored ? all : colored;
    return true;
}

/* Sums of the slots so far. */
struct sums {
    const struct color_map *map;
    struct session_slot *slot; /* NULL: only what is live */
    uint64_t live_bytes, live_count, live_colors[SESSION_COLORS];
};

static void add_all(void *context, const struct slot_cell *cell)
{
    struct sums *sums = context;
    struct session_slot *slot = sums->slot;
    const uint64_t peak = sums->live_bytes + cell->rise;
    sums->live_bytes += cell->allocated_bytes - cell->freed_bytes;
    sums->live_count += cell->allocated_count - cell->freed_count;
    if (!slot)
        return;
    slot->peak_bytes = peak > slot->peak_bytes ? peak : slot->peak_bytes;
    slot->allocated_bytes += cell->allocated_bytes;
    slot->allocated_count += cell->allocated_count;
    slot->freed_bytes += cell->freed_bytes;
    slot->freed_count += cell->freed_count;
}

static void add_colored(void *context, const struct slot_cell *cell)
{
    struct sums *sums = context;
    sums->live_colors[sums->map->of_category[cell->key]] +=
        cell->allocated_bytes - cell->freed_bytes;
}

static bool add(struct sources *sources, uint64_t from, uint64_t to, struct sums *sums,
                struct session_error *error)
{
    return slots_each(sources->all, from, to, add_all, sums, error) &&
           slots_each(sources->colored, from, to, add_colored, sums, error);
}

/* Returns the border nearest to a time. */
static uint64_t border(const struct sources *sources, uint64_t ns)
{
    const uint64_t width_ns = sources->length_ns * sources->width;
    return (ns / width_ns + (ns % width_ns >= width_ns / 2 + width_ns % 2)) * sources->width;
}

static bool fill(struct sources *sources, const struct color_map *map, uint64_t from_ns,
                 uint64_t to_ns, size_t count, struct session_slot *slots,
                 struct session_error *error)
{
    struct sums sums = {.map = map};
    uint64_t at = border(sources, from_ns);
    bool good = add(sources, 0, at, &sums, error);
    for (size_t i = 0; good && i < count; i++) {
        const uint64_t end_ns =
            from_ns + (uint64_t)((unsigned __int128)(to_ns - from_ns) * (i + 1) / count);
        const uint64_t end = border(sources, end_ns);
        struct session_slot *slot = &slots[i];
        *slot = (struct session_slot){.peak_bytes = sums.live_bytes};
        sums.slot = slot;
        good = add(sources, at, end, &sums, error);
        slot->live_bytes = sums.live_bytes;
        slot->live_count = sums.live_count;
        for (size_t color = 0; color < SESSION_COLORS; color++)
            slot->color_bytes[color] = sums.live_colors[color];
        at = end;
    }
    return good;
}

bool summed_timeline(struct selection *selection, const struct color_map *map, uint64_t from_ns,
                     uint64_t to_ns, size_t count, struct session_slot *slots, bool *done,
                     struct session_error *error)
{
    struct sources sources;
    *done = false;
    if (!sources_open(&sources, selection, map, from_ns, to_ns, error))
        return false;
    *done = sources.width != 0 &&
            (to_ns - from_ns) / count / SLOTS_LEAST >= sources.length_ns * sources.width;
    const bool good = !*done || fill(&sources, map, from_ns, to_ns, count, slots, error);
    sources_close(&sources);
    return good;
}

bool summed_start(struct selection *selection, const struct color_map *map, uint64_t from_ns,
                  struct timeline_start *start, struct session_error *error)
{
    struct sources sources;
    struct sums sums = {.map = map};
    *start = (struct timeline_start){.ns = 0};
    if (!sources_open(&sources, selection, map, from_ns, from_ns, error))
        return false;
    bool good = true;
    if (sources.width != 0) {
        const uint64_t at = from_ns / (sources.length_ns * sources.width) * sources.width;
        good = add(&sources, 0, at, &sums, error);
        start->ns = at * sources.length_ns;
        start->live_bytes = sums.live_bytes;
        start->live_count = sums.live_count;
        for (size_t color = 0; color < SESSION_COLORS; color++)
            start->live_colors[color] = sums.live_colors[color];
    }
    sources_close(&sources);
    return good;
}

static void add_share(void *context, const struct slot_cell *cell)
{
    struct session_share *shares = context;
    shares[cell->key].bytes += cell->allocated_bytes;
    shares[cell->key].count += cell->allocated_count;
}

bool summed_functions(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                      struct session_share *shares, bool *done, struct session_error *error)
{
    struct session *session = selection->session;
    struct sources sources = {.length_ns = slots_length_ns(session)};
    *done = false;
    if (!selection->everything || sources.length_ns == 0 || !summary_answers(session) ||
        to_ns <= from_ns)
        return true;
    sources.all = slots_open(session, SLOT_KEY_FUNCTION, session->names.function_count,
                             from_ns / sources.length_ns, to_ns / sources.length_ns + 1, error);
    if (!sources.all)
        return false;
    sources.width = slots_width(sources.all);
    *done =
        sources.width != 0 && (to_ns - from_ns) / SLOTS_LEAST >= sources.length_ns * sources.width;
    const bool good = !*done || slots_each(sources.all, border(&sources, from_ns),
                                           border(&sources, to_ns), add_share, shares, error);
    slots_close(sources.all);
    return good;
}
