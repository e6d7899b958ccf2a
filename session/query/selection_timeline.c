/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes timelines. One pass adds each selected allocation to the slots of its beginning and of its
 * end. Then one pass over the slots sums up the live bytes. Every slot is divided into parts, to
 * find its largest value. The timeline of the whole session often comes from the pass that finds
 * all that a screen shows (screen_pass.h).
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/screen_pass.h"
#include "session/query/summed_timeline.h"
#include "session/query/time_parts.h"
#include "session/scan/kernels.h"

/* The part of a pass that all threads read. */
struct span {
    const struct color_map *map;
    struct time_parts parts;
    struct timeline_start start; /* at or before the span */
};

/* The sums of one thread. */
struct timeline {
    const struct span *span;
    struct slot_sums sums;
};

/* The values of some rows. */
struct taken {
    struct kernel_rows rows;
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS], bytes[KERNEL_ROWS], counts[KERNEL_ROWS];
};

/* Adds the allocations to their parts, and what began before the span to its beginning. */
static void add_begins(struct timeline *timeline, const struct taken *taken, const uint8_t *color)
{
    const struct span *span = timeline->span;
    struct slot_sums *sums = &timeline->sums;
    for (size_t i = 0; i < taken->rows.count; i++) {
        const uint64_t began = taken->began[i];
        if (began >= span->parts.to)
            continue;
        if (began >= span->parts.from) {
            const size_t part = time_parts_part(&span->parts, began);
            sums->parts[part].allocated_bytes += taken->bytes[i];
            sums->parts[part].allocated_count += taken->counts[i];
            sums->colors[part / TIME_PARTS][color[i]] += taken->bytes[i];
        } else if (began >= span->start.ns) {
            sums->live_bytes += taken->bytes[i];
            sums->live_count += taken->counts[i];
            sums->live_colors[color[i]] += taken->bytes[i];
        }
    }
}

static void add_freed(struct slot_sums *sums, size_t part, uint64_t bytes, uint64_t count)
{
    sums->parts[part].freed_bytes += bytes;
    sums->parts[part].freed_count += count;
}

/* Subtracts what was freed between the start and the span. */
static void add_free_before(struct slot_sums *sums, const struct taken *taken, size_t i,
                            uint8_t color)
{
    sums->live_bytes -= taken->bytes[i];
    sums->live_count -= taken->counts[i];
    sums->live_colors[color] -= taken->bytes[i];
}

/* Subtracts the frees. Rows lie in the order of their frees: many in turn belong to one part. */
static void add_frees(struct timeline *timeline, const struct taken *taken, const uint8_t *color)
{
    const struct span *span = timeline->span;
    const struct time_parts *parts = &span->parts;
    struct slot_sums *sums = &timeline->sums;
    uint64_t bytes = 0, count = 0;
    uint64_t low = 1, high = 0; /* times of the part: none yet */
    size_t part = 0;
    for (size_t i = 0; i < taken->rows.count; i++) {
        const uint64_t freed = taken->began[i] + taken->life[i] - 1;
        if (taken->life[i] == 0 || freed < span->start.ns || freed >= parts->to)
            continue;
        if (freed < parts->from) {
            add_free_before(sums, taken, i, color[i]);
            continue;
        }
        if (freed < low || freed >= high) {
            add_freed(sums, part, bytes, count);
            bytes = count = 0;
            part = time_parts_part(parts, freed);
            low = parts->from + parts->bounds[part];
            high = parts->from + parts->bounds[part + 1];
        }
        bytes += taken->bytes[i];
        count += taken->counts[i];
        sums->colors[part / TIME_PARTS][color[i]] -= taken->bytes[i];
    }
    add_freed(sums, part, bytes, count);
}

static void add_rows(void *context, const struct chunk_rows *rows)
{
    struct timeline *timeline = context;
    const struct color_map *map = timeline->span->map;
    struct taken taken;
    uint64_t code[KERNEL_ROWS];
    uint8_t color[KERNEL_ROWS];
    KERNEL_EACH_BATCH(rows->words, &taken.rows)
    {
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &taken.rows, taken.began);
        kernel_take(&rows->views[COLUMN_LIFE_NS], &taken.rows, taken.life);
        kernel_take(&rows->bytes, &taken.rows, taken.bytes);
        kernel_take(&rows->counts, &taken.rows, taken.counts);
        kernel_take(&rows->views[map->column], &taken.rows, code);
        for (size_t i = 0; i < taken.rows.count; i++)
            color[i] = (uint8_t)color_map_of(
                map, code[i],
                !rows->colors ? 0 : rows->colors[taken.rows.first + taken.rows.row[i]]);
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
    const uint64_t start = span->start.ns;
    if (column_store_min(store, chunk, COLUMN_ALLOC_NS) >= span->parts.to ||
        column_store_last_free(store, chunk) < (start != 0 ? start : span->parts.from))
        return false;
    return start == 0 || column_store_max(store, chunk, COLUMN_ALLOC_NS) >= start ||
           column_store_first_free(store, chunk) < span->parts.to;
}

/* If what is live at the start is known, only rows that began or were freed from then on matter. */
static bool pick_rows(const void *context, const struct column_store *store,
                      const struct chunk_rows *rows, uint64_t picked[ROW_SET_WORDS])
{
    const struct span *span = ((const struct timeline *)context)->span;
    const struct kernel_range range = {span->start.ns, span->parts.to - 1, false};
    uint64_t freed[ROW_SET_WORDS];
    if (span->start.ns == 0) {
        memcpy(picked, rows->words, sizeof(freed));
        return true;
    }
    kernel_in_range(&rows->views[COLUMN_ALLOC_NS], &range, picked);
    if (column_store_first_free(store, rows->chunk) < span->parts.to) {
        kernel_freed_in_range(&rows->views[COLUMN_ALLOC_NS], &rows->views[COLUMN_LIFE_NS], &range,
                              freed);
        for (size_t i = 0; i < ROW_SET_WORDS; i++)
            picked[i] |= freed[i];
    }
    return row_set_keep(picked, rows->words);
}

/* Adds the sums of another thread. */
static void merge(const struct time_parts *parts, struct slot_sums *sums,
                  const struct slot_sums *other)
{
    sums->live_bytes += other->live_bytes;
    sums->live_count += other->live_count;
    for (size_t color = 0; color < SESSION_COLORS; color++)
        sums->live_colors[color] += other->live_colors[color];
    for (size_t i = 0; i < parts->count; i++) {
        sums->parts[i].allocated_bytes += other->parts[i].allocated_bytes;
        sums->parts[i].allocated_count += other->parts[i].allocated_count;
        sums->parts[i].freed_bytes += other->parts[i].freed_bytes;
        sums->parts[i].freed_count += other->parts[i].freed_count;
    }
    for (size_t i = 0; i < parts->count / TIME_PARTS; i++)
        for (size_t color = 0; color < SESSION_COLORS; color++)
            sums->colors[i][color] += other->colors[i][color];
}

static bool sum_span(struct selection *selection, const struct span *span,
                     struct session_slot *slots, struct session_error *error)
{
    const struct scan_picking picking = {COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS),
                                         is_wanted, pick_rows};
    struct scan_contexts contexts;
    const size_t count = span->parts.count / TIME_PARTS;
    const size_t colors = count * sizeof(uint64_t[SESSION_COLORS]);
    const size_t size =
        sizeof(struct timeline) + colors + span->parts.count * sizeof(struct part_sum);
    if (!scan_contexts_open(selection->session, &contexts, size, (size_t)128 << 20, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct timeline *timeline = contexts.each[i];
        timeline->span = span;
        timeline->sums.colors = (void *)(timeline + 1);
        timeline->sums.parts = (void *)(timeline->sums.colors + count);
    }
    struct slot_sums *sums = &((struct timeline *)contexts.each[0])->sums;
    sums->live_bytes = span->start.live_bytes;
    sums->live_count = span->start.live_count;
    memcpy(sums->live_colors, span->start.live_colors, sizeof(sums->live_colors));
    const bool good =
        scan_picked_rows(selection->session, &selection->set,
                         color_map_columns(span->map) | COLUMN_BIT(COLUMN_SIZE) | picking.first,
                         &picking, add_rows, contexts.each, contexts.threads, error);
    for (size_t i = 1; good && i < contexts.threads; i++)
        merge(&span->parts, sums, &((const struct timeline *)contexts.each[i])->sums);
    if (good)
        time_parts_fill(&span->parts, sums, selection, slots);
    scan_contexts_close(&contexts);
    return good;
}

/* Reads the rows that matter for the span. */
static bool read_span(struct selection *selection, const struct session_timeline *asked,
                      const struct color_map *map, struct session_slot *slots,
                      struct session_error *error)
{
    struct span span = {.map = map};
    if (!selection_find_peak(selection, error) ||
        !summed_start(selection, map, asked->from_ns, &span.start, error) ||
        !time_parts_open(&span.parts, asked->from_ns, asked->to_ns, asked->count, error))
        return false;
    const bool good = sum_span(selection, &span, slots, error);
    time_parts_close(&span.parts);
    return good;
}

bool selection_timeline(struct selection *selection, uint64_t from_ns, uint64_t to_ns, size_t count,
                        enum session_color_by by, struct session_slot *slots,
                        struct session_error *error)
{
    const struct session_timeline asked = {from_ns, to_ns, count, by};
    if (to_ns <= from_ns || count == 0 ||
        count > SIZE_MAX / TIME_PARTS / sizeof(struct part_sum) / 4)
        return session_fail(error, 0, "a timeline needs slots and a time span");
    if (from_ns <= session_start_ns(selection->session) &&
        to_ns >= session_duration_ns(selection->session))
        selection->session->asked = asked;
    if (!screen_pass(selection, &asked, false, error))
        return false;
    if (screen_pass_knows(selection, &asked)) {
        memcpy(slots, selection->slots, count * sizeof(*slots));
        return true;
    }
    bool done;
    const struct color_map *map = selection_color_map(selection, by, error);
    return map && summed_timeline(selection, map, from_ns, to_ns, count, slots, &done, error) &&
           (done || read_span(selection, &asked, map, slots, error));
}
