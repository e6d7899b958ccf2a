/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/pins.h"

#include <stdlib.h>

#include "schemas/array.h"
#include "session/filter/references.h"
#include "session/residency.h"
#include "session/store/error.h"
#include "session/store/kernels.h"
#include "session/store/mapped.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"

/* A live block. Blocks of one space are neighbours: of one process and one arena of it. */
struct block {
    uint64_t space, start, end, row;
};

/* Results of one thread. */
struct finding {
    const struct session *session;
    struct block *blocks;
    size_t count, capacity;
    bool failed;
};

static bool add_block(struct finding *finding, struct block block)
{
    if (!ARRAY_GROW(finding->blocks, finding->count, finding->capacity))
        return false;
    finding->blocks[finding->count++] = block;
    return true;
}

static void find_blocks(void *context, const struct chunk_rows *rows)
{
    struct finding *finding = context;
    const struct names *names = &finding->session->names;
    ROW_SET_EACH(rows->words, row)
    {
        const uint64_t thread = column_view_at(&rows->views[COLUMN_THREAD], row);
        const uint64_t arena = column_view_at(&rows->views[COLUMN_ARENA], row);
        const uint64_t start = column_view_at(&rows->views[COLUMN_ADDRESS], row);
        const uint64_t size = column_view_at(&rows->views[COLUMN_SIZE], row);
        const uint64_t length = size == 0 ? 1 : size;
        const struct block block = {
            .space = (uint64_t)names->thread_process[thread] << 32 | arena,
            .start = start,
            .end = start + length < start ? UINT64_MAX : start + length,
            .row = rows->first_row + row,
        };
        if (!finding->failed && !add_block(finding, block))
            finding->failed = true;
    }
}

/* The input of the first pass's threads. */
struct live_pass {
    struct row_set *set;
    const struct filter_program *program;
};

static bool find_live(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    const struct live_pass *pass = context;
    struct column_reader *reader = scan_reader(worker, error);
    return reader && filter_program_run(scan_session(worker), reader, pass->program, chunk, NULL,
                                        row_set_chunk(pass->set, chunk), error);
}

static bool live_set(struct session *session, const struct filter_live *live, struct row_set *set,
                     struct session_error *error)
{
    const struct filter_program program = filter_live_program(live);
    struct live_pass pass = {.set = set, .program = &program};
    return row_set_start(set, session->columns, false, error) &&
           scan_chunks_shared(session, set->chunks, find_live, &pass, error);
}

/* Stores all live blocks in an array that the caller frees. */
static bool live_blocks(struct session *session, const struct row_set *set, struct block **blocks,
                        size_t *count, struct session_error *error)
{
    struct scan_contexts contexts;
    if (!scan_contexts_open(session, &contexts, sizeof(struct finding), SIZE_MAX, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct finding *)contexts.each[i])->session = session;
    bool good = scan_each_chunk(session, set,
                                COLUMN_BIT(COLUMN_ADDRESS) | COLUMN_BIT(COLUMN_SIZE) |
                                    COLUMN_BIT(COLUMN_THREAD) | COLUMN_BIT(COLUMN_ARENA),
                                find_blocks, contexts.each, contexts.threads, error);
    struct finding all = {.count = 0};
    for (size_t i = 0; i < contexts.threads; i++) {
        struct finding *each = contexts.each[i];
        bool kept = !each->failed;
        for (size_t k = 0; good && kept && k < each->count; k++)
            kept = add_block(&all, each->blocks[k]);
        if (good && !kept)
            good = session_fail_memory(error, "the live blocks");
        free(each->blocks);
    }
    scan_contexts_close(&contexts);
    *blocks = all.blocks;
    *count = all.count;
    return good;
}

ARRAY_ORDER(compare_blocks, struct block,
            ORDER(a->space, b->space) ?: ORDER(a->start, b->start) ?: ORDER(a->row, b->row))

ARRAY_ORDER(compare_pins, struct pin, ORDER(a->row, b->row))

/* Returns the bytes between two neighbours. */
static uint64_t gap_between(uint64_t end, uint64_t start)
{
    return start > end && start - end < PINS_GAP_MAX ? start - end : 0;
}

/* A block that reaches farther than those before it, and how far these reach. */
struct farthest {
    size_t place;
    uint64_t below;
};

/* Blocks by place, and which of them may have a mapping of their own. */
struct blocks {
    const struct block *at;
    size_t count;
    struct mapped_limits mapped;
};

static bool may_be_alone(const struct blocks *blocks, const struct block *block, uint64_t below,
                         uint64_t above)
{
    return mapped_alone(block->start, block->end - block->start, below, above, blocks->mapped);
}

/* Returns the start of the next block of the space that begins at the end of block `i` or later. */
static uint64_t next_above(const struct blocks *blocks, size_t i)
{
    const struct block *block = &blocks->at[i];
    for (size_t next = i + 1; next < blocks->count && blocks->at[next].space == block->space;
         next++)
        if (blocks->at[next].start >= block->end)
            return blocks->at[next].start;
    return UINT64_MAX;
}

/* Returns true if nobody knows what lies between `last` and block `i` (session/store/mapped.h). */
static bool is_unknown(const struct blocks *blocks, const struct farthest *last, size_t i)
{
    const struct block *below = &blocks->at[last->place], *above = &blocks->at[i];
    const bool heap = (uint32_t)above->space == 0;
    return heap && (mapped_heaps_meet(below->end, above->start) ||
                    may_be_alone(blocks, below, last->below, above->start) ||
                    (mapped_address(above->start, above->end - above->start, blocks->mapped) &&
                     may_be_alone(blocks, above, below->end, next_above(blocks, i))));
}

/* Adds each gap to the blocks on both sides of it: below it the one that ends last. */
static void add_gaps(const struct block *at, size_t count, struct pin *pins)
{
    struct farthest last = {.place = 0};
    struct mapped_sizes sizes = {.blocks = {0}};
    for (size_t i = 0; i < count; i++)
        mapped_sizes_add(&sizes, at[i].start, at[i].end - at[i].start);
    const struct blocks blocks = {at, count, mapped_sizes_limits(&sizes)};
    for (size_t i = 0; i < count; i++) {
        pins[i] = (struct pin){.row = at[i].row};
        if (i == 0 || at[i].space != at[last.place].space) {
            last = (struct farthest){.place = i};
            continue;
        }
        const uint64_t end = at[last.place].end, gap = gap_between(end, at[i].start);
        if (gap > 0 && !is_unknown(&blocks, &last, i)) {
            pins[last.place].bytes += gap;
            pins[i].bytes += gap;
        }
        if (at[i].end >= end)
            last = (struct farthest){.place = i, .below = end};
    }
}

/* Makes the pins of all blocks, by row. */
static bool make_pins(struct session *session, struct block *blocks, struct pins *pins,
                      struct session_error *error)
{
    if (!(pins->pins = malloc((pins->count + 1) * sizeof(*pins->pins))))
        return session_fail_memory(error, "pins");
    if (pins->count == 0)
        return true;
    qsort(blocks, pins->count, sizeof(*blocks), compare_blocks);
    add_gaps(blocks, pins->count, pins->pins);
    if (!scan_go_on(session, error))
        return false;
    qsort(pins->pins, pins->count, sizeof(*pins->pins), compare_pins);
    return true;
}

/* ---- resident --------------------------------------------------------------------------- */

/* The reading of a process that is nearest to the time. */
struct reading {
    bool known;
    uint64_t ns;
    struct session_page_run *runs;
    size_t count;
};

struct residing {
    const struct session *session;
    const struct reading *readings; /* by process */
    struct pins pins;
    size_t capacity;
    bool failed;
};

static void find_resident(void *context, const struct chunk_rows *rows)
{
    struct residing *residing = context;
    const struct names *names = &residing->session->names;
    ROW_SET_EACH(rows->words, row)
    {
        const uint64_t thread = column_view_at(&rows->views[COLUMN_THREAD], row);
        const uint64_t start = column_view_at(&rows->views[COLUMN_ADDRESS], row);
        const uint64_t size = column_view_at(&rows->views[COLUMN_SIZE], row);
        const struct reading *reading = &residing->readings[names->thread_process[thread]];
        struct pins *pins = &residing->pins;
        if (!reading->known || residing->failed ||
            !kernel_is_live(column_view_at(&rows->views[COLUMN_ALLOC_NS], row),
                            column_view_at(&rows->views[COLUMN_LIFE_NS], row), reading->ns))
            continue;
        residing->failed = !ARRAY_GROW(pins->pins, pins->count, residing->capacity);
        if (!residing->failed)
            pins->pins[pins->count++] = (struct pin){
                rows->first_row + row,
                session_pages_resident(reading->runs, reading->count, start,
                                       start + size < start ? UINT64_MAX : start + size)};
    }
}

/* Adds the blocks that a thread has found. */
static bool add_residents(struct pins *pins, const struct residing *each)
{
    struct pin *more = realloc(pins->pins, (pins->count + each->pins.count + 1) * sizeof(*more));
    if (!more)
        return false;
    pins->pins = more;
    for (size_t i = 0; i < each->pins.count; i++)
        pins->pins[pins->count++] = each->pins.pins[i];
    return true;
}

static bool make_residents(struct session *session, const struct row_set *set,
                           const struct reading *readings, struct pins *pins,
                           struct session_error *error)
{
    struct scan_contexts contexts;
    if (!scan_contexts_open(session, &contexts, sizeof(struct residing), SIZE_MAX, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        *(struct residing *)contexts.each[i] =
            (struct residing){.session = session, .readings = readings};
    bool good = scan_each_chunk(session, set,
                                COLUMN_BIT(COLUMN_ADDRESS) | COLUMN_BIT(COLUMN_SIZE) |
                                    COLUMN_BIT(COLUMN_THREAD) | COLUMN_BIT(COLUMN_ALLOC_NS) |
                                    COLUMN_BIT(COLUMN_LIFE_NS),
                                find_resident, contexts.each, contexts.threads, error);
    for (size_t i = 0; i < contexts.threads; i++) {
        struct residing *each = contexts.each[i];
        if (good && (each->failed || !add_residents(pins, each)))
            good = session_fail_memory(error, "the blocks in memory");
        free(each->pins.pins);
    }
    scan_contexts_close(&contexts);
    if (good && pins->count > 0)
        qsort(pins->pins, pins->count, sizeof(*pins->pins), compare_pins);
    return good;
}

/* Finds the readings by process, which the caller frees. NULL with `error` set. */
static struct reading *find_readings(struct session *session, uint64_t ns, int column,
                                     struct session_error *error)
{
    const size_t processes = session->processes.count;
    const struct session_residency *moments;
    size_t count;
    if (!session_residencies(session, &moments, &count, error))
        return NULL;
    if (count == 0)
        return session_fail_null(error, column, "resident: %s", session_residency_why(session));
    struct reading *readings = calloc(processes + 1, sizeof(*readings));
    bool good = readings || session_fail_memory(error, "the blocks in memory");
    for (uint32_t id = 1; good && id <= processes; id++) {
        struct reading *reading = &readings[id];
        good = residencies_of(session, id, &moments, &count, error);
        if (!good || count == 0)
            continue;
        const struct session_residency *moment =
            &moments[session_residency_nearest(moments, count, ns)];
        reading->known = true;
        reading->ns = moment->ns;
        good = session_residency_pages(session, moment, &reading->runs, &reading->count, error);
    }
    if (good)
        return readings;
    for (size_t id = 0; readings && id <= processes; id++)
        free(readings[id].runs);
    free(readings);
    return NULL;
}

static bool find_residents(struct session *session, uint64_t ns, int column,
                           const struct row_set *set, struct pins *pins,
                           struct session_error *error)
{
    struct reading *readings = find_readings(session, ns, column, error);
    const bool good = readings && make_residents(session, set, readings, pins, error);
    for (size_t id = 0; readings && id <= session->processes.count; id++)
        free(readings[id].runs);
    free(readings);
    return good;
}

/* ---- all --------------------------------------------------------------------------------- */

struct pins *pins_find(struct session *session, enum filter_field field, int column,
                       const struct filter_live *live, struct session_error *error)
{
    struct pins *pins = calloc(1, sizeof(*pins));
    struct row_set set = {.words = NULL};
    struct block *blocks = NULL;
    if (!pins)
        return session_fail_memory_null(error, "pins");
    bool good = filter_field_of_snapshot(field) || live_set(session, live, &set, error);
    if (good && filter_field_of_snapshot(field))
        good = references_values(session, field, column, live, pins, error);
    else if (good && field == FIELD_RESIDENT)
        good = find_residents(session, live->time.ns, column, &set, pins, error);
    else if (good)
        good = live_blocks(session, &set, &blocks, &pins->count, error) &&
               make_pins(session, blocks, pins, error);
    row_set_free(&set);
    free(blocks);
    if (!good) {
        pins_free(pins);
        return NULL;
    }
    return pins;
}

void pins_free(struct pins *pins)
{
    if (!pins)
        return;
    FREE_ALL(pins->pins, pins);
}

size_t pins_from(const struct pins *pins, uint64_t row)
{
    size_t low = 0;
    ARRAY_BISECT(low, pins->count, pins->pins[middle].row < row);
    return low;
}

bool pins_of(const struct pins *pins, uint64_t row, uint64_t *bytes)
{
    const size_t i = pins_from(pins, row);
    if (i == pins->count || pins->pins[i].row != row)
        return false;
    *bytes = pins->pins[i].bytes;
    return true;
}
