/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes timelines. One scan adds each selected allocation to the slots of its beginning and of its
 * end. Then one pass over the slots sums up the live bytes. Every slot is divided into parts, to
 * find its largest value.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"

enum { PARTS = 16 };

struct part {
    uint64_t allocated_bytes, allocated_count, freed_bytes, freed_count;
};

struct timeline {
    const struct color_map *map;
    uint64_t from, to;
    size_t count;     /* slots */
    uint64_t *bounds; /* of parts, relative to `from`; count * PARTS + 1 */
    uint64_t scale;   /* parts per nanosecond, times 2^64 */
    struct part *parts;
    uint64_t (*colors)[SESSION_COLORS]; /* change of live bytes by slot, modulo 2^64 */
    uint64_t live_bytes, live_count;    /* just before `from` */
    uint64_t live_colors[SESSION_COLORS];
};

/*
 * Returns the part that holds `ns`, which lies within [from, to). offset * scale / 2^64 is the
 * part's number or, because `scale` is rounded down, one less near a bound. A span with more parts
 * than nanoseconds has empty parts: the result is then the last part that begins at the offset.
 */
static inline size_t part_of(const struct timeline *timeline, uint64_t ns)
{
    uint64_t offset = ns - timeline->from;
    size_t part = (size_t)((unsigned __int128)offset * timeline->scale >> 64);
    while (offset >= timeline->bounds[part + 1])
        part++;
    return part;
}

static void add_rows(void *context, const struct chunk_rows *rows)
{
    struct timeline *timeline = context;
    const uint64_t from = timeline->from;
    const uint64_t to = timeline->to;
    ROW_SET_EACH(rows->words, row)
    {
        uint64_t began = column_view_at(&rows->views[COLUMN_ALLOC_NS], row);
        uint64_t life = column_view_at(&rows->views[COLUMN_LIFE_NS], row);
        uint64_t freed = life == 0 ? SESSION_LIVE : began + life - 1;
        if (began >= to || freed < from)
            continue;
        uint64_t size = column_view_at(&rows->bytes, row);
        uint64_t count = column_view_at(&rows->counts, row);
        size_t color = color_map_at(timeline->map, rows, row);
        if (began < from) {
            timeline->live_bytes += size;
            timeline->live_count += count;
            timeline->live_colors[color] += size;
        } else {
            size_t part = part_of(timeline, began);
            timeline->parts[part].allocated_bytes += size;
            timeline->parts[part].allocated_count += count;
            timeline->colors[part / PARTS][color] += size;
        }
        if (freed < to) {
            size_t part = part_of(timeline, freed);
            timeline->parts[part].freed_bytes += size;
            timeline->parts[part].freed_count += count;
            timeline->colors[part / PARTS][color] -= size;
        }
    }
}

static void sum_slots(struct timeline *timeline, const struct selection *selection,
                      struct session_slot *slots)
{
    uint64_t live = timeline->live_bytes;
    uint64_t count = timeline->live_count;
    for (size_t i = 0; i < timeline->count; i++) {
        struct session_slot *slot = &slots[i];
        *slot = (struct session_slot){.peak_bytes = live};
        for (size_t k = 0; k < PARTS; k++) {
            const struct part *part = &timeline->parts[i * PARTS + k];
            live += part->allocated_bytes - part->freed_bytes;
            count += part->allocated_count - part->freed_count;
            slot->allocated_bytes += part->allocated_bytes;
            slot->allocated_count += part->allocated_count;
            slot->freed_bytes += part->freed_bytes;
            slot->freed_count += part->freed_count;
            slot->peak_bytes = live > slot->peak_bytes ? live : slot->peak_bytes;
        }
        slot->live_bytes = live;
        slot->live_count = count;
        for (size_t color = 0; color < SESSION_COLORS; color++) {
            timeline->live_colors[color] += timeline->colors[i][color];
            slot->color_bytes[color] = timeline->live_colors[color];
        }
    }
    if (selection->peak_ns >= timeline->from && selection->peak_ns < timeline->to) {
        size_t slot = part_of(timeline, selection->peak_ns) / PARTS;
        if (selection->peak_bytes > slots[slot].peak_bytes)
            slots[slot].peak_bytes = selection->peak_bytes;
    }
}

bool selection_timeline(struct selection *selection, uint64_t from_ns, uint64_t to_ns, size_t count,
                        enum session_color_by by, struct session_slot *slots,
                        struct session_error *error)
{
    if (to_ns <= from_ns || count == 0 || count > SIZE_MAX / PARTS / sizeof(struct part) / 2)
        return session_fail(error, 0, "a timeline needs slots and a time span");
    struct timeline timeline = {.from = from_ns, .to = to_ns, .count = count};
    size_t parts = count * PARTS;
    timeline.map = selection_color_map(selection, by, error);
    if (!timeline.map || !selection_find_peak(selection, error))
        return false;
    timeline.bounds = malloc((parts + 1) * sizeof(*timeline.bounds));
    timeline.parts = calloc(parts, sizeof(*timeline.parts));
    timeline.colors = calloc(count, sizeof(*timeline.colors));
    bool good = timeline.bounds && timeline.parts && timeline.colors;
    if (good) {
        uint64_t span = to_ns - from_ns;
        for (size_t i = 0; i <= parts; i++)
            timeline.bounds[i] = (uint64_t)((unsigned __int128)span * i / parts);
        /* With more parts than nanoseconds, part_of() starts at the first part. */
        timeline.scale = parts < span ? (uint64_t)(((unsigned __int128)parts << 64) / span) : 0;
        good = scan_in_order(selection->session, &selection->set,
                             color_map_columns(timeline.map) | COLUMN_BIT(COLUMN_SIZE) |
                                 COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS),
                             add_rows, &timeline, error);
        if (good)
            sum_slots(&timeline, selection, slots);
    } else {
        session_fail_memory(error, "the timeline");
    }
    free(timeline.bounds);
    free(timeline.parts);
    free(timeline.colors);
    return good;
}

/* ---- functions that allocated in a span ---- */

struct span {
    uint64_t from, to;
    const uint32_t *function; /* by stack */
    struct session_share *shares;
};

static void add_span(void *context, const struct chunk_rows *rows)
{
    struct span *span = context;
    const struct column_view *begin = &rows->views[COLUMN_ALLOC_NS];
    if (begin->min >= span->to || begin->max < span->from)
        return;
    ROW_SET_EACH(rows->words, row)
    {
        uint64_t began = column_view_at(begin, row);
        if (began < span->from || began >= span->to)
            continue;
        uint32_t function = span->function[column_view_at(&rows->views[COLUMN_STACK], row)];
        span->shares[function].bytes += column_view_at(&rows->bytes, row);
        span->shares[function].count += column_view_at(&rows->counts, row);
    }
}

static int compare_shares(const void *left, const void *right)
{
    const struct session_share *a = left;
    const struct session_share *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->function < b->function ? -1 : a->function > b->function;
}

size_t selection_top_functions(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                               struct session_share *shares, size_t capacity)
{
    uint32_t functions = selection->session->names.function_count;
    struct span span = {from_ns, to_ns, selection->session->stacks.function,
                        calloc(functions, sizeof(*span.shares))};
    size_t count = 0;
    if (!span.shares)
        return 0;
    if (scan_in_order(selection->session, &selection->set,
                      COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) |
                          COLUMN_BIT(COLUMN_STACK),
                      add_span, &span, NULL)) {
        for (uint32_t id = 0; id < functions; id++) {
            if (span.shares[id].count == 0)
                continue;
            struct session_share share = span.shares[id];
            share.function = id;
            span.shares[count++] = share;
        }
        qsort(span.shares, count, sizeof(*span.shares), compare_shares);
        count = count < capacity ? count : capacity;
        memcpy(shares, span.shares, count * sizeof(*shares));
    }
    free(span.shares);
    return count;
}
