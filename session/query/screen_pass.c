/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The colours of a timeline follow from the legend, and that from sums of all rows. So the pass
 * sums up live bytes by slot and category, and the legend gathers the categories afterwards.
 */
#include "session/query/screen_pass.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/peak_search.h"
#include "session/query/stack_sums.h"
#include "session/query/time_parts.h"
#include "session/summary/summary.h"

/* The most bytes by slot and category, of one thread; the most of all threads. */
#define CELLS_MOST ((size_t)8 << 20)
#define CONTEXTS_MOST ((size_t)192 << 20)
/* The most buckets of a timeline. */
#define BUCKETS_MOST ((size_t)1 << 20)

/* The part of a pass that all threads read. */
struct screen {
    const struct selection *selection;
    const struct session_timeline *timeline;
    struct time_parts parts;     /* of slots */
    struct time_buckets buckets; /* of these parts */
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

/* The sums of one thread. */
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
    return sums->live + place.part / TIME_PARTS * screen->categories;
}

static void add_begins(const struct screen_sums *sums, const struct screen_rows *rows)
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
static void add_frees(const struct screen_sums *sums, const struct screen_rows *rows)
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
        add_begins(sums, rows);
        add_frees(sums, rows);
    }
    return true;
}

/* ---- its results ---- */

/* Adds the sums of another thread. */
static void merge(struct screen_sums *sums, const struct screen_sums *other)
{
    const struct screen *screen = sums->screen;
    const size_t buckets = screen->buckets.count;
    for (size_t i = 0; i < screen->timeline->count * screen->categories; i++)
        sums->live[i] += other->live[i];
    for (size_t i = 0; i < buckets; i++) {
        sums->buckets[i].allocated += other->buckets[i].allocated;
        sums->buckets[i].freed += other->buckets[i].freed;
        sums->buckets[i].allocations += other->buckets[i].allocations;
        sums->buckets[i].frees += other->buckets[i].frees;
    }
}

/* Finds the peak from the buckets. */
static bool find_peak(const struct screen *screen, struct selection *selection,
                      const struct peak_sum *buckets, struct session_error *error)
{
    struct peak_search *search = peak_search_new(NULL, &screen->buckets, error);
    selection->peak_bytes = selection->peak_ns = 0;
    selection->peak_known = search && peak_search_end(search, buckets, selection, error);
    peak_search_free(search);
    return selection->peak_known;
}

/* Gathers the buckets of each part. */
static void gather_parts(const struct time_buckets *time, const struct peak_sum *buckets,
                         struct part_sum *sums)
{
    for (size_t i = 0; i < time->parts; i++) {
        const size_t end = time_buckets_first(time, i + 1);
        for (size_t k = time_buckets_first(time, i); k < end; k++) {
            const struct peak_sum *bucket = &buckets[k];
            sums[i].allocated_bytes += bucket->allocated;
            sums[i].allocated_count += bucket->allocations;
            sums[i].freed_bytes += bucket->freed;
            sums[i].freed_count += bucket->frees;
        }
    }
}

/* Fills the slots from the sums of all threads. */
static bool fill_slots(const struct screen *screen, const struct color_map *map,
                       struct selection *selection, const struct screen_sums *all,
                       struct session_error *error)
{
    const size_t count = screen->timeline->count;
    struct slot_sums sums = {.live_bytes = 0};
    sums.colors = calloc(count, sizeof(*sums.colors));
    sums.parts = calloc(screen->parts.count, sizeof(*sums.parts));
    free(selection->slots);
    selection->slots = calloc(count, sizeof(*selection->slots));
    const bool good = sums.colors && sums.parts && selection->slots;
    if (good) {
        gather_parts(&screen->buckets, all->buckets, sums.parts);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < screen->categories; k++)
                sums.colors[i][screen->category ? map->position[screen->code_of[k]] : k] +=
                    all->live[i * screen->categories + k];
        time_parts_fill(&screen->parts, &sums, selection, selection->slots);
        selection->timeline = *screen->timeline;
    }
    free(sums.colors);
    free(sums.parts);
    return good || session_fail_memory(error, "the timeline");
}

/* Makes the sums of each thread. */
static bool open_sums(struct screen *screen, struct scan_contexts *contexts,
                      struct session_error *error)
{
    const size_t buckets = screen->buckets.count * sizeof(struct peak_sum);
    const size_t live = (screen->timeline->count + 1) * screen->categories * sizeof(uint64_t);
    const size_t stacks = screen->stacks ? stack_tables_size(&screen->summing) : 0;
    if (!scan_contexts_open(screen->selection->session, contexts,
                            sizeof(struct screen_sums) + buckets + live + stacks, CONTEXTS_MOST,
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

/* Makes the pass and keeps what it finds. */
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
            merge(contexts.each[0], contexts.each[i]);
        good = scan_go_on(selection->session, error);
    }
    if (screen->stacks)
        stack_summing_close(&screen->summing, selection, good);
    const struct screen_sums *all = contexts.threads > 0 ? contexts.each[0] : NULL;
    good = good && all && find_peak(screen, selection, all->buckets, error);
    const struct color_map *map =
        !good ? NULL : selection_color_map(selection, screen->timeline->by, error);
    good = map && fill_slots(screen, map, selection, all, error);
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
    return timeline->count <= BUCKETS_MOST / TIME_PARTS / 2 &&
           (timeline->to_ns - timeline->from_ns) / TIME_BUCKETS_LEAST_NS >=
               timeline->count * TIME_PARTS;
}

/* Cuts the time of the timeline into parts, and these into buckets. */
static bool open_time(struct screen *screen, struct session_error *error)
{
    const struct session_timeline *timeline = screen->timeline;
    const size_t parts = timeline->count * TIME_PARTS;
    return time_parts_open(&screen->parts, timeline->from_ns, timeline->to_ns, timeline->count,
                           error) &&
           time_buckets_open(&screen->buckets, screen->selection, timeline->from_ns,
                             timeline->to_ns, parts, peak_search_buckets(screen->selection), error);
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
        free(screen->category);
        free(screen->code_of);
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

bool screen_pass(struct selection *selection, const struct session_timeline *timeline, bool stacks,
                 struct session_error *error)
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
    time_parts_close(&screen.parts);
    free(screen.category);
    free(screen.code_of);
    return good;
}

bool screen_pass_expected(struct selection *selection, struct session_error *error)
{
    const struct session_timeline asked = selection->session->asked;
    return asked.count == 0 || screen_pass(selection, &asked, true, error);
}
