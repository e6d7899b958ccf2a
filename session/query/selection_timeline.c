/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes timelines. One pass adds each selected allocation to the slots of its beginning and of its
 * end. Then one pass over the slots sums up the live bytes. Every slot is divided into parts, to
 * find its largest value. A pass over the whole session also makes the first pass of the peak.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/peak_search.h"
#include "session/query/summed_timeline.h"
#include "session/scan/kernels.h"

enum { PARTS = 16 };

struct part {
    uint64_t allocated_bytes, allocated_count, freed_bytes, freed_count;
};

/* What all threads read. */
struct span {
    const struct color_map *map;
    uint64_t from, to;
    struct timeline_start start; /* at or before `from` */
    size_t count;                /* slots */
    uint64_t *bounds;            /* of parts, relative to `from`; count * PARTS + 1 */
    uint64_t scale;              /* parts per nanosecond, times 2^64 */
    struct peak_search *peak;    /* NULL: the peak is known, or not searched by this pass */
};

/* The sums of one thread. */
struct timeline {
    const struct span *span;
    uint64_t live_bytes, live_count; /* just before `from` */
    uint64_t live_colors[SESSION_COLORS];
    uint64_t (*colors)[SESSION_COLORS]; /* change of live bytes by slot, modulo 2^64 */
    struct part *parts;
    struct peak_sum *peak; /* with span->peak */
};

/* The values of some rows. */
struct taken {
    struct peak_rows of;
    uint64_t counts[KERNEL_ROWS];
};

/*
 * Returns the part that holds `ns`, which lies within [from, to). offset * scale / 2^64 is the
 * part's number or, because `scale` is rounded down, one less near a bound. A span with more parts
 * than nanoseconds has empty parts: the result is then the last part that begins at the offset.
 */
static inline size_t part_of(const struct span *span, uint64_t ns)
{
    uint64_t offset = ns - span->from;
    size_t part = (size_t)((unsigned __int128)offset * span->scale >> 64);
    while (offset >= span->bounds[part + 1])
        part++;
    return part;
}

/* Adds the allocations to their parts, and what began before the span to its beginning. */
static void add_begins(struct timeline *timeline, const struct taken *taken, const uint8_t *color)
{
    const struct span *span = timeline->span;
    for (size_t i = 0; i < taken->of.rows.count; i++) {
        const uint64_t began = taken->of.began[i];
        if (began >= span->to)
            continue;
        if (began >= span->from) {
            const size_t part = part_of(span, began);
            timeline->parts[part].allocated_bytes += taken->of.bytes[i];
            timeline->parts[part].allocated_count += taken->counts[i];
            timeline->colors[part / PARTS][color[i]] += taken->of.bytes[i];
        } else if (began >= span->start.ns) {
            timeline->live_bytes += taken->of.bytes[i];
            timeline->live_count += taken->counts[i];
            timeline->live_colors[color[i]] += taken->of.bytes[i];
        }
    }
}

static void add_freed(struct timeline *timeline, size_t part, uint64_t bytes, uint64_t count)
{
    timeline->parts[part].freed_bytes += bytes;
    timeline->parts[part].freed_count += count;
}

/* Subtracts what was freed between the start and the span. */
static void add_free_before(struct timeline *timeline, const struct taken *taken, size_t i,
                            uint8_t color)
{
    timeline->live_bytes -= taken->of.bytes[i];
    timeline->live_count -= taken->counts[i];
    timeline->live_colors[color] -= taken->of.bytes[i];
}

/* Subtracts the frees. Rows lie in the order of their frees: many in turn belong to one part. */
static void add_frees(struct timeline *timeline, const struct taken *taken, const uint8_t *color)
{
    const struct span *span = timeline->span;
    uint64_t bytes = 0, count = 0;
    uint64_t low = 1, high = 0; /* times of the part: none yet */
    size_t part = 0;
    for (size_t i = 0; i < taken->of.rows.count; i++) {
        const uint64_t freed = taken->of.began[i] + taken->of.life[i] - 1;
        if (taken->of.life[i] == 0 || freed < span->start.ns || freed >= span->to)
            continue;
        if (freed < span->from) {
            add_free_before(timeline, taken, i, color[i]);
            continue;
        }
        if (freed < low || freed >= high) {
            add_freed(timeline, part, bytes, count);
            bytes = count = 0;
            part = part_of(span, freed);
            low = span->from + span->bounds[part];
            high = span->from + span->bounds[part + 1];
        }
        bytes += taken->of.bytes[i];
        count += taken->counts[i];
        timeline->colors[part / PARTS][color[i]] -= taken->of.bytes[i];
    }
    add_freed(timeline, part, bytes, count);
}

static void add_rows(void *context, const struct chunk_rows *rows)
{
    struct timeline *timeline = context;
    const struct color_map *map = timeline->span->map;
    struct taken taken;
    uint64_t code[KERNEL_ROWS];
    uint8_t color[KERNEL_ROWS];
    KERNEL_EACH_BLOCK(rows->words, &taken.of.rows)
    {
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &taken.of.rows, taken.of.began);
        kernel_take(&rows->views[COLUMN_LIFE_NS], &taken.of.rows, taken.of.life);
        kernel_take(&rows->bytes, &taken.of.rows, taken.of.bytes);
        kernel_take(&rows->counts, &taken.of.rows, taken.counts);
        kernel_take(&rows->views[map->column], &taken.of.rows, code);
        for (size_t i = 0; i < taken.of.rows.count; i++)
            color[i] = (uint8_t)color_map_of(
                map, code[i],
                !rows->colors ? 0 : rows->colors[taken.of.rows.first + taken.of.rows.row[i]]);
        if (timeline->span->peak)
            peak_search_add(timeline->span->peak, timeline->peak, &taken.of);
        add_begins(timeline, &taken, color);
        add_frees(timeline, &taken, color);
    }
}

/*
 * Leaves out chunks whose blocks all died before the span or began after it. If what is live at the
 * start is known, it also leaves out those without an event from then on.
 */
static bool is_wanted(const void *context, const struct column_store *store, uint32_t chunk)
{
    const struct span *span = ((const struct timeline *)context)->span;
    if (span->peak)
        return true;
    if (column_store_min(store, chunk, COLUMN_ALLOC_NS) >= span->to ||
        column_store_last_free(store, chunk) < (span->start.ns != 0 ? span->start.ns : span->from))
        return false;
    return span->start.ns == 0 ||
           column_store_max(store, chunk, COLUMN_ALLOC_NS) >= span->start.ns ||
           column_store_first_free(store, chunk) < span->to;
}

/* Adds the sums of the thread `other` to those of `timeline`. */
static void merge(struct timeline *timeline, const struct timeline *other)
{
    const size_t count = timeline->span->count;
    timeline->live_bytes += other->live_bytes;
    timeline->live_count += other->live_count;
    for (size_t color = 0; color < SESSION_COLORS; color++)
        timeline->live_colors[color] += other->live_colors[color];
    for (size_t i = 0; i < count * PARTS; i++) {
        timeline->parts[i].allocated_bytes += other->parts[i].allocated_bytes;
        timeline->parts[i].allocated_count += other->parts[i].allocated_count;
        timeline->parts[i].freed_bytes += other->parts[i].freed_bytes;
        timeline->parts[i].freed_count += other->parts[i].freed_count;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t color = 0; color < SESSION_COLORS; color++)
            timeline->colors[i][color] += other->colors[i][color];
}

static void sum_slots(struct timeline *timeline, const struct selection *selection,
                      struct session_slot *slots)
{
    const struct span *span = timeline->span;
    uint64_t live = timeline->live_bytes;
    uint64_t count = timeline->live_count;
    for (size_t i = 0; i < span->count; i++) {
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
    if (selection->peak_ns >= span->from && selection->peak_ns < span->to) {
        size_t slot = part_of(span, selection->peak_ns) / PARTS;
        if (selection->peak_bytes > slots[slot].peak_bytes)
            slots[slot].peak_bytes = selection->peak_bytes;
    }
}

/* Ends the search for the peak whose first pass the timeline has made. */
static bool end_peak(struct selection *selection, const struct span *span,
                     const struct scan_contexts *contexts, struct session_error *error)
{
    struct peak_sum *sums[SCAN_THREADS_MAX];
    for (size_t i = 0; i < contexts->threads; i++)
        sums[i] = ((const struct timeline *)contexts->each[i])->peak;
    selection->peak_known = peak_search_end(span->peak, sums, contexts->threads, selection, error);
    return selection->peak_known;
}

static bool sum_span(struct selection *selection, const struct span *span,
                     struct session_slot *slots, struct session_error *error)
{
    struct scan_contexts contexts;
    const size_t colors = span->count * sizeof(uint64_t[SESSION_COLORS]);
    const size_t size =
        sizeof(struct timeline) + colors + span->count * PARTS * sizeof(struct part);
    const size_t of_peak = span->peak ? peak_search_size(span->peak) : 0;
    if (!scan_contexts_open(selection->session, &contexts, size + of_peak, (size_t)128 << 20,
                            error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct timeline *timeline = contexts.each[i];
        timeline->span = span;
        timeline->colors = (void *)(timeline + 1);
        timeline->parts = (void *)(timeline->colors + span->count);
        timeline->peak = (void *)(timeline->parts + span->count * PARTS);
    }
    struct timeline *first = contexts.each[0];
    first->live_bytes = span->start.live_bytes;
    first->live_count = span->start.live_count;
    memcpy(first->live_colors, span->start.live_colors, sizeof(first->live_colors));
    bool good = scan_wanted_chunks(selection->session, &selection->set,
                                   color_map_columns(span->map) | COLUMN_BIT(COLUMN_SIZE) |
                                       COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS),
                                   is_wanted, add_rows, contexts.each, contexts.threads, error);
    good = good && (!span->peak || end_peak(selection, span, &contexts, error));
    for (size_t i = 1; good && i < contexts.threads; i++)
        merge(contexts.each[0], contexts.each[i]);
    if (good)
        sum_slots(contexts.each[0], selection, slots);
    scan_contexts_close(&contexts);
    return good;
}

bool selection_timeline(struct selection *selection, uint64_t from_ns, uint64_t to_ns, size_t count,
                        enum session_color_by by, struct session_slot *slots,
                        struct session_error *error)
{
    if (to_ns <= from_ns || count == 0 || count > SIZE_MAX / PARTS / sizeof(struct part) / 4)
        return session_fail(error, 0, "a timeline needs slots and a time span");
    struct span span = {.from = from_ns, .to = to_ns, .count = count};
    const size_t parts = count * PARTS;
    span.map = selection_color_map(selection, by, error);
    bool done;
    if (!span.map ||
        !summed_timeline(selection, span.map, from_ns, to_ns, count, slots, &done, error))
        return false;
    if (done)
        return true;
    const bool whole = from_ns <= session_start_ns(selection->session) &&
                       to_ns >= session_duration_ns(selection->session);
    const bool shared = whole && selection_may_share_peak(selection);
    if ((!shared && !selection_find_peak(selection, error)) ||
        !summed_start(selection, span.map, from_ns, &span.start, error))
        return false;
    span.bounds = malloc((parts + 1) * sizeof(*span.bounds));
    if (!span.bounds)
        return session_fail_memory(error, "the timeline");
    if (shared && !(span.peak = selection_begin_peak(selection, error))) {
        free(span.bounds);
        return false;
    }
    const uint64_t length = to_ns - from_ns;
    for (size_t i = 0; i <= parts; i++)
        span.bounds[i] = (uint64_t)((unsigned __int128)length * i / parts);
    /* With more parts than nanoseconds, part_of() starts at the first part. */
    span.scale = parts < length ? (uint64_t)(((unsigned __int128)parts << 64) / length) : 0;
    const bool good = sum_span(selection, &span, slots, error);
    peak_search_free(span.peak);
    free(span.bounds);
    return good;
}
