/* SPDX-License-Identifier: BSD-2-Clause */
/* The timelines and births of selections. */
#include "schemas/array.h"
#include "session/time.h"

#include <stdlib.h>
#include <string.h>

#include "session/store/error.h"
#include "session/store/kernels.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/table/peaks.h"
#include "session/table/selection_state.h"
#include "session/table/stack_sums.h"
#include "session/time/summed_timeline.h"

/* ---- slots ---- */

/* Every slot is divided into so many parts, to find its largest value. */
enum { SLOT_PARTS = SELECTION_SLOT_PARTS };

/* The live bytes before the span, and then their changes. */
struct slot_sums {
    uint64_t live_bytes, live_count, live_colors[SESSION_COLORS];
    uint64_t (*colors)[SESSION_COLORS]; /* change of live bytes by slot, modulo 2^64 */
    struct peak_sum *parts;
};

/* Adds the events of a slot's parts. */
static void fill_slot(const struct peak_sum *parts, struct slot_sums *sums,
                      struct session_slot *slot)
{
    struct peak_sum all = {.allocated = 0};
    *slot = (struct session_slot){.peak_bytes = sums->live_bytes};
    for (size_t i = 0; i < SLOT_PARTS; i++) {
        peak_sums_merge(&all, &parts[i], 1);
        sums->live_bytes += parts[i].allocated - parts[i].freed;
        slot->peak_bytes =
            sums->live_bytes > slot->peak_bytes ? sums->live_bytes : slot->peak_bytes;
    }
    sums->live_count += all.allocations - all.frees;
    slot->allocated_bytes = all.allocated;
    slot->allocated_count = all.allocations;
    slot->freed_bytes = all.freed;
    slot->freed_count = all.frees;
    slot->live_bytes = sums->live_bytes;
    slot->live_count = sums->live_count;
}

/* Fills the slots of the parts. `sums` has afterwards what is live after the span. */
static void fill_slots(const struct time_parts *parts, struct slot_sums *sums,
                       const struct selection *selection, struct session_slot *slots)
{
    for (size_t i = 0; i < parts->count / SLOT_PARTS; i++) {
        fill_slot(&sums->parts[i * SLOT_PARTS], sums, &slots[i]);
        for (size_t color = 0; color < SESSION_COLORS; color++) {
            sums->live_colors[color] += sums->colors[i][color];
            slots[i].color_bytes[color] = sums->live_colors[color];
        }
    }
    if (selection->peak_ns < parts->from || selection->peak_ns >= parts->to)
        return;
    const size_t part = time_parts_part(parts, selection->peak_ns);
    struct session_slot *slot = &slots[part / SLOT_PARTS];
    if (selection->peak_bytes > slot->peak_bytes)
        slot->peak_bytes = selection->peak_bytes;
}

/* ---- the rows of a span ---- */

/* One pass adds each selected allocation to the slots of its beginning and of its end. Then one
 * pass over the slots sums up the live bytes. For births it adds the blocks that began. */

/* The part of a pass that all threads read. */
struct span {
    const struct color_map *map;
    struct time_parts parts;
    struct timeline_start start; /* at or before the span */
    bool births;                 /* only counts of blocks by colour */
};

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
            sums->parts[part].allocated += taken->bytes[i];
            sums->parts[part].allocations += taken->counts[i];
            sums->colors[part / SLOT_PARTS][color[i]] +=
                span->births ? taken->counts[i] : taken->bytes[i];
        } else if (began >= span->start.ns) {
            sums->live_bytes += taken->bytes[i];
            sums->live_count += taken->counts[i];
            sums->live_colors[color[i]] += taken->bytes[i];
        }
    }
}

static void add_freed(struct slot_sums *sums, size_t part, uint64_t bytes, uint64_t count)
{
    sums->parts[part].freed += bytes;
    sums->parts[part].frees += count;
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
        sums->colors[part / SLOT_PARTS][color[i]] -= taken->bytes[i];
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
        if (!timeline->span->births)
            kernel_take(&rows->views[COLUMN_LIFE_NS], &taken.rows, taken.life);
        kernel_take(&rows->bytes, &taken.rows, taken.bytes);
        kernel_take(&rows->counts, &taken.rows, taken.counts);
        kernel_take(&rows->views[map->column], &taken.rows, code);
        for (size_t i = 0; i < taken.rows.count; i++)
            color[i] = (uint8_t)color_map_of(
                map, code[i],
                !rows->colors ? 0 : rows->colors[taken.rows.first + taken.rows.row[i]]);
        add_begins(timeline, &taken, color);
        if (!timeline->span->births)
            add_frees(timeline, &taken, color);
    }
}

/* Leaves out chunks whose blocks all died before the span or began after it. If what is live at the
 * start is known, it also leaves out those without an event from then on. */
static bool is_wanted(const void *context, const struct column_store *store, uint32_t chunk)
{
    const struct span *span = ((const struct timeline *)context)->span;
    const uint64_t start = span->start.ns;
    if (column_store_min(store, chunk, COLUMN_ALLOC_NS) >= span->parts.to)
        return false;
    if (span->births)
        return column_store_max(store, chunk, COLUMN_ALLOC_NS) >= span->parts.from;
    if (column_store_last_free(store, chunk) < (start != 0 ? start : span->parts.from))
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

static void merge(const struct time_parts *parts, struct slot_sums *sums,
                  const struct slot_sums *other)
{
    sums->live_bytes += other->live_bytes;
    sums->live_count += other->live_count;
    for (size_t color = 0; color < SESSION_COLORS; color++)
        sums->live_colors[color] += other->live_colors[color];
    peak_sums_merge(sums->parts, other->parts, parts->count);
    for (size_t i = 0; i < parts->count / SLOT_PARTS; i++)
        for (size_t color = 0; color < SESSION_COLORS; color++)
            sums->colors[i][color] += other->colors[i][color];
}

/* Fills the slots, or for births the counts by slot. */
static bool sum_span(struct selection *selection, const struct span *span,
                     struct session_slot *slots, uint64_t (*births)[SESSION_COLORS],
                     struct session_error *error)
{
    const struct scan_picking picking = {COLUMN_BIT(COLUMN_ALLOC_NS) |
                                             (span->births ? 0u : COLUMN_BIT(COLUMN_LIFE_NS)),
                                         is_wanted, pick_rows};
    struct scan_contexts contexts;
    const size_t count = span->parts.count / SLOT_PARTS;
    const size_t colors = count * sizeof(uint64_t[SESSION_COLORS]);
    const size_t size =
        sizeof(struct timeline) + colors + span->parts.count * sizeof(struct peak_sum);
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
    if (good && span->births)
        memcpy(births, sums->colors, colors);
    else if (good)
        fill_slots(&span->parts, sums, selection, slots);
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
        !time_parts_open(&span.parts, asked->from_ns, asked->to_ns, asked->count * SLOT_PARTS,
                         error))
        return false;
    const bool good = sum_span(selection, &span, slots, NULL, error);
    time_parts_close(&span.parts);
    return good;
}

/* Returns false with `error` set if there are no slots, or too many. */
static bool check_slots(uint64_t from_ns, uint64_t to_ns, size_t count, struct session_error *error)
{
    return (to_ns > from_ns && count > 0 &&
            count <= SIZE_MAX / SLOT_PARTS / sizeof(struct peak_sum) / 4) ||
           session_fail(error, 0, "a timeline needs slots and a time span");
}

bool selection_births(struct selection *selection, uint64_t from_ns, uint64_t to_ns, size_t count,
                      enum session_color_by by, uint64_t (*births)[SESSION_COLORS],
                      struct session_error *error)
{
    struct span span = {.map = selection_color_map(selection, by, error), .births = true};
    if (!span.map || !check_slots(from_ns, to_ns, count, error) ||
        !time_parts_open(&span.parts, from_ns, to_ns, count * SLOT_PARTS, error))
        return false;
    const bool good = sum_span(selection, &span, NULL, births, error);
    time_parts_close(&span.parts);
    return good;
}

/* ---- all that a screen shows ---- */

/* One pass over the rows of a selection finds all that a screen shows of it: the sums by stack, the
 * legend, the timeline of the whole session, and the first pass of the peak. Each chunk is read
 * once.
 *
 * A screen asks for these one after another. The first question makes the pass, for the timeline
 * that was asked for last: a new selection is shown by the same screen.
 *
 * The colours of a timeline follow from the legend, and that from sums of all rows. So the pass
 * sums up live bytes by slot and category, and the legend gathers the categories afterwards. */

/* The most bytes by slot and category, of one thread; the most of all threads. */
#define CELLS_MOST ((size_t)8 << 20)
#define SCREEN_MOST ((size_t)192 << 20)
/* The most buckets of a timeline. */
#define BUCKETS_MOST ((size_t)1 << 20)

/* The part of a pass that all threads read. */
struct screen {
    const struct selection *selection;
    const struct session_timeline *timeline;
    struct time_buckets buckets; /* of the parts of its slots */
    bool stacks;                 /* sums by stack are wanted */
    struct stack_summing summing;
    /* The categories of the timeline: positions in the legend if that is known, otherwise those
     * that occur in the session. */
    const struct color_map *map; /* NULL: not known yet; the codes are stacks */
    enum column column;          /* gives the codes */
    uint16_t *category;          /* by code; NULL: the map gives it */
    uint32_t *code_of;           /* by category: one of its codes */
    size_t categories;
};

/* The values of the rows of a batch. */
struct screen_rows {
    struct stack_rows of;
    uint64_t code[KERNEL_ROWS];
    uint16_t category[KERNEL_ROWS];
};

struct screen_sums {
    const struct screen *screen;
    struct screen_rows rows; /* too many for the stack */
    struct stack_tables tables;
    uint64_t *live;           /* change by slot and category, modulo 2^64; one slot more */
    struct peak_sum *buckets; /* one more than the parts have */
};

/* ---- the pass ---- */

/* Sums that lie anywhere are fetched so many rows ahead of their turn. */
enum { AHEAD = 64 };

static void find_categories(const struct screen *screen, struct screen_rows *rows,
                            const uint64_t *codes, const uint8_t *colors)
{
    const size_t count = rows->of.rows.count;
    const uint16_t *const category = screen->category;
    for (size_t i = 0; category && i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(&category[codes[i + AHEAD]]);
        rows->category[i] = category[codes[i]];
    }
    for (size_t i = 0; !category && i < count; i++)
        rows->category[i] = (uint16_t)color_map_of(screen->map, codes[i],
                                                   !colors ? 0 : colors[rows->of.rows.row[i]]);
}

/* Returns the sums of a place's slot, by category. */
static inline uint64_t *live_in(const struct screen_sums *sums, struct time_bucket place)
{
    const struct screen *screen = sums->screen;
    return sums->live + place.part / SLOT_PARTS * screen->categories;
}

static void add_screen_begins(const struct screen_sums *sums, const struct screen_rows *rows)
{
    const struct time_buckets buckets = sums->screen->buckets;
    const size_t count = rows->of.rows.count;
    struct time_bucket place[KERNEL_ROWS];
    for (size_t i = 0; i < count; i++) {
        place[i] = time_buckets_find(&buckets, rows->of.began[i]);
        __builtin_prefetch(&sums->buckets[place[i].bucket], 1);
    }
    for (size_t i = 0; i < count; i++) {
        struct peak_sum *sum = &sums->buckets[place[i].bucket];
        sum->allocated += rows->of.bytes[i];
        sum->allocations++;
        live_in(sums, place[i])[rows->category[i]] += rows->of.bytes[i];
    }
}

/* Rows lie in the order of their frees: many in turn belong to one bucket. */
static void add_screen_frees(const struct screen_sums *sums, const struct screen_rows *rows)
{
    const struct time_buckets buckets = sums->screen->buckets;
    uint64_t bytes = 0, frees = 0, *live = sums->live;
    size_t last = 0;
    for (size_t i = 0; i < rows->of.rows.count; i++) {
        if (rows->of.life_ns[i] == 0)
            continue;
        const struct time_bucket place =
            time_buckets_find(&buckets, rows->of.began[i] + rows->of.life_ns[i] - 1);
        if (place.bucket != last) {
            sums->buckets[last].freed += bytes;
            sums->buckets[last].frees += frees;
            bytes = frees = 0;
            last = place.bucket;
            live = live_in(sums, place);
        }
        bytes += rows->of.bytes[i];
        frees++;
        live[rows->category[i]] -= rows->of.bytes[i];
    }
    sums->buckets[last].freed += bytes;
    sums->buckets[last].frees += frees;
}

static bool add_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct screen_sums *sums = context;
    const struct screen *screen = sums->screen;
    const struct row_set *set = &screen->selection->set;
    const uint64_t *words = row_set_chunk(set, chunk);
    struct column_view code, stack, size, begin, life;
    struct screen_rows *const rows = &sums->rows;
    if (row_set_chunk_empty(set, chunk))
        return true;
    const bool codes = !screen->stacks || screen->column != COLUMN_STACK;
    if (!scan_column(worker, chunk, COLUMN_SIZE, &size, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &begin, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error) ||
        (screen->stacks && !scan_column(worker, chunk, COLUMN_STACK, &stack, error)) ||
        (codes && !scan_column(worker, chunk, screen->column, &code, error)))
        return false;
    stack_rows_look(&screen->summing, scan_session(worker)->columns, chunk, &rows->of);
    const uint8_t *colors = set->colors ? set->colors + (size_t)chunk * COLUMN_CHUNK_ROWS : NULL;
    KERNEL_EACH_BATCH(words, &rows->of.rows)
    {
        kernel_take(&size, &rows->of.rows, rows->of.bytes);
        kernel_take(&begin, &rows->of.rows, rows->of.began);
        kernel_take(&life, &rows->of.rows, rows->of.life_ns);
        if (screen->stacks) {
            kernel_take(&stack, &rows->of.rows, rows->of.stack);
            stack_tables_add(&sums->tables, &rows->of);
        }
        if (codes)
            kernel_take(&code, &rows->of.rows, rows->code);
        find_categories(screen, rows, codes ? rows->code : rows->of.stack,
                        colors ? colors + rows->of.rows.first : NULL);
        add_screen_begins(sums, rows);
        add_screen_frees(sums, rows);
    }
    return true;
}

/* ---- its results ---- */

static void merge_screen(struct screen_sums *sums, const struct screen_sums *other)
{
    const struct screen *screen = sums->screen;
    for (size_t i = 0; i < screen->timeline->count * screen->categories; i++)
        sums->live[i] += other->live[i];
    peak_sums_merge(sums->buckets, other->buckets, screen->buckets.count);
}

static void gather_parts(const struct time_buckets *time, const struct peak_sum *buckets,
                         struct peak_sum *sums)
{
    for (size_t i = 0; i < time->parts.count; i++) {
        const size_t end = time_buckets_first(time, i + 1);
        for (size_t k = time_buckets_first(time, i); k < end; k++)
            peak_sums_merge(&sums[i], &buckets[k], 1);
    }
}

static bool keep_slots(const struct screen *screen, const struct color_map *map,
                       struct selection *selection, const struct screen_sums *all,
                       struct session_error *error)
{
    const size_t count = screen->timeline->count;
    struct slot_sums sums = {.live_bytes = 0};
    sums.colors = calloc(count, sizeof(*sums.colors));
    sums.parts = calloc(screen->buckets.parts.count, sizeof(*sums.parts));
    free(selection->slots);
    selection->slots = calloc(count, sizeof(*selection->slots));
    const bool good = sums.colors && sums.parts && selection->slots;
    if (good) {
        gather_parts(&screen->buckets, all->buckets, sums.parts);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < screen->categories; k++)
                sums.colors[i][screen->category ? map->position[screen->code_of[k]] : k] +=
                    all->live[i * screen->categories + k];
        fill_slots(&screen->buckets.parts, &sums, selection, selection->slots);
        selection->timeline = *screen->timeline;
    }
    FREE_ALL(sums.colors, sums.parts);
    return good || session_fail_memory(error, "the timeline");
}

static bool open_sums(struct screen *screen, struct scan_contexts *contexts,
                      struct session_error *error)
{
    const size_t buckets = screen->buckets.count * sizeof(struct peak_sum);
    const size_t live = (screen->timeline->count + 1) * screen->categories * sizeof(uint64_t);
    const size_t stacks = screen->stacks ? stack_tables_size(&screen->summing) : 0;
    if (!scan_contexts_open(screen->selection->session, contexts,
                            sizeof(struct screen_sums) + buckets + live + stacks, SCREEN_MOST,
                            error))
        return false;
    for (size_t i = 0; i < contexts->threads; i++) {
        struct screen_sums *sums = contexts->each[i];
        sums->screen = screen;
        sums->buckets = (void *)(sums + 1);
        sums->live = (void *)((uint8_t *)sums->buckets + buckets);
        if (screen->stacks)
            stack_tables_place(&sums->tables, &screen->summing, (uint8_t *)sums->live + live);
    }
    return true;
}

static bool pass(struct screen *screen, struct selection *selection, struct session_error *error)
{
    struct scan_contexts contexts;
    if (screen->stacks && !stack_summing_open(&screen->summing, selection, error))
        return false;
    bool good = open_sums(screen, &contexts, error);
    good = good && scan_chunks(selection->session, selection->set.chunks, add_chunk, contexts.each,
                               contexts.threads, error);
    for (size_t i = 0; good && i < contexts.threads; i++) {
        if (screen->stacks)
            stack_tables_empty(&((struct screen_sums *)contexts.each[i])->tables);
        if (i > 0)
            merge_screen(contexts.each[0], contexts.each[i]);
        good = scan_go_on(selection->session, error);
    }
    if (screen->stacks)
        stack_summing_close(&screen->summing, selection, good);
    const struct screen_sums *all = contexts.threads > 0 ? contexts.each[0] : NULL;
    good = good && all && selection_search_peak(selection, &screen->buckets, all->buckets, error);
    const struct color_map *map =
        !good ? NULL : selection_color_map(selection, screen->timeline->by, error);
    good = map && keep_slots(screen, map, selection, all, error);
    scan_contexts_close(&contexts);
    return good;
}

/* ---- what the pass can do ---- */

static bool is_by_stack(enum session_color_by by)
{
    return by == SESSION_COLOR_FUNCTION || by == SESSION_COLOR_MODULE || by == SESSION_COLOR_USER ||
           by == SESSION_COLOR_OWNER;
}

/* Returns true if the parts of the timeline can have buckets: there are not too many, and the span
 * has enough nanoseconds. */
static bool has_buckets(const struct session_timeline *timeline)
{
    return timeline->count <= BUCKETS_MOST / SLOT_PARTS / 2 &&
           (timeline->to_ns - timeline->from_ns) / TIME_BUCKETS_LEAST_NS >=
               timeline->count * SLOT_PARTS;
}

/* Cuts the time of the timeline into parts, and these into buckets. */
static bool open_time(struct screen *screen, struct session_error *error)
{
    const struct session_timeline *timeline = screen->timeline;
    const size_t parts = timeline->count * SLOT_PARTS;
    return time_buckets_open(&screen->buckets, screen->selection->session, &screen->selection->set,
                             timeline->from_ns, timeline->to_ns, parts,
                             peak_buckets(screen->selection->session, &screen->selection->set),
                             error);
}

static bool is_whole(const struct session *session, const struct session_timeline *timeline)
{
    if (timeline->count == 0 || timeline->to_ns < session->duration_ns)
        return false;
    for (uint32_t chunk = 0; chunk < column_store_chunks(session->columns); chunk++)
        if (column_store_min(session->columns, chunk, COLUMN_ALLOC_NS) < timeline->from_ns)
            return false;
    return true;
}

/* Gives each category of stacks that occurs a number. False if there are too many. */
static bool number_categories(struct screen *screen, const uint32_t *of_code, uint32_t count,
                              size_t most)
{
    const uint32_t codes = screen->summing.stacks;
    uint32_t *number = calloc(count, sizeof(*number)); /* plus 1 */
    screen->category = malloc(((size_t)codes + 1) * sizeof(*screen->category));
    screen->code_of = malloc((most + 1) * sizeof(*screen->code_of));
    bool good = number && screen->category && screen->code_of;
    for (uint32_t code = 0; good && code < codes; code++) {
        uint32_t *found = &number[of_code[code]];
        good = *found != 0 || screen->categories < most;
        if (!good)
            break;
        if (*found == 0) {
            screen->code_of[screen->categories++] = code;
            *found = (uint32_t)screen->categories;
        }
        screen->category[code] = (uint16_t)(*found - 1);
    }
    free(number);
    return good;
}

/* Finds the categories of the timeline: those of stacks, or with `map` the positions. */
static bool find_columns(struct screen *screen, struct selection *selection,
                         struct session_error *error)
{
    const enum session_color_by by = screen->timeline->by;
    const size_t cells = CELLS_MOST / sizeof(uint64_t) / (screen->timeline->count + 1);
    const size_t most = cells < UINT16_MAX ? cells : UINT16_MAX;
    screen->summing.stacks = selection->session->stacks.count;
    if (is_by_stack(by) && !selection->maps[by] && !selection->stack_sums) {
        uint32_t *of_code, count;
        if (!color_categories_of_stacks(selection->session, by, &of_code, &count, error))
            return false;
        const bool few = number_categories(screen, of_code, count, most);
        free(of_code);
        screen->column = COLUMN_STACK;
        screen->stacks = screen->stacks || few;
        if (few)
            return true;
        FREE_ALL(screen->category, screen->code_of);
        screen->category = NULL;
        screen->code_of = NULL;
        screen->categories = 0;
        /* The legend asks for the sums by stack, which would ask for this pass. */
        if (!selection_sum_stacks(selection, error))
            return false;
        screen->stacks = false;
    }
    screen->map = selection_color_map(selection, by, error);
    screen->categories = SESSION_COLORS;
    screen->column = screen->map ? screen->map->column : COLUMN_SIZE;
    return screen->map != NULL;
}

bool screen_pass_knows(const struct selection *selection, const struct session_timeline *timeline)
{
    return selection->slots && selection->timeline.from_ns == timeline->from_ns &&
           selection->timeline.to_ns == timeline->to_ns &&
           selection->timeline.count == timeline->count && selection->timeline.by == timeline->by;
}

/* Makes the pass if it can tell the timeline and has not been made yet: a timeline of the whole
 * session, of a whole recording on one machine, whose peak is not known. `stacks`: with the sums by
 * stack, which the legend may need anyway. Returns false with `error` set. */
static bool screen_pass(struct selection *selection, const struct session_timeline *timeline,
                        bool stacks, struct session_error *error)
{
    const struct session *session = selection->session;
    struct screen screen = {
        .selection = selection, .timeline = timeline, .stacks = stacks && !selection->stack_sums};
    if (selection->peak_known || session->estimate || session->names.machines > 1 ||
        (selection->everything && summary_answers(selection->session)) ||
        !is_whole(session, timeline) || !has_buckets(timeline))
        return true;
    bool good = find_columns(&screen, selection, error) && open_time(&screen, error) &&
                pass(&screen, selection, error);
    time_buckets_close(&screen.buckets);
    FREE_ALL(screen.category, screen.code_of);
    return good;
}

bool screen_pass_expected(struct selection *selection, struct session_error *error)
{
    const struct session_timeline asked = selection->session->asked;
    return asked.count == 0 || screen_pass(selection, &asked, true, error);
}

/* ---- timelines ---- */

bool selection_timeline(struct selection *selection, uint64_t from_ns, uint64_t to_ns, size_t count,
                        enum session_color_by by, struct session_slot *slots,
                        struct session_error *error)
{
    const struct session_timeline asked = {from_ns, to_ns, count, by};
    if (!check_slots(from_ns, to_ns, count, error))
        return false;
    if (from_ns <= session_start_ns(selection->session) &&
        to_ns >= session_duration_ns(selection->session)) {
        selection->session->asked = asked;
        selection->session->expected = screen_pass_expected;
    }
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
