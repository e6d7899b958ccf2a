/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/pins.h"

#include <stdlib.h>

#include "schemas/array.h"
#include "session/data/error.h"
#include "session/data/mapped.h"
#include "session/data/session_state.h"
#include "session/scan/scan.h"

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
    if (!array_grow(&finding->blocks, &finding->capacity, finding->count + 1,
                    sizeof(*finding->blocks)))
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
    void *contexts[SCAN_THREADS_MAX];
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = &pass;
    return row_set_start(set, session->columns, false, error) &&
           scan_chunks(session, set->chunks, find_live, contexts, SCAN_THREADS_MAX, error);
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

static int compare_blocks(const void *left, const void *right)
{
    const struct block *a = left;
    const struct block *b = right;
    if (a->space != b->space)
        return a->space < b->space ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static int compare_pins(const void *left, const void *right)
{
    const struct pin *a = left;
    const struct pin *b = right;
    return a->row < b->row ? -1 : a->row > b->row;
}

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

/* Returns true if nobody knows what lies between `last` and block `i` (session/data/mapped.h). */
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
    pins->pins = malloc((pins->count + 1) * sizeof(*pins->pins));
    if (!pins->pins)
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

struct pins *pins_find(struct session *session, const struct filter_live *live,
                       struct session_error *error)
{
    struct pins *pins = calloc(1, sizeof(*pins));
    struct row_set set = {.words = NULL};
    struct block *blocks = NULL;
    if (!pins) {
        session_fail_memory(error, "pins");
        return NULL;
    }
    bool good = live_set(session, live, &set, error) &&
                live_blocks(session, &set, &blocks, &pins->count, error) &&
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
    free(pins->pins);
    free(pins);
}

size_t pins_from(const struct pins *pins, uint64_t row)
{
    size_t low = 0;
    size_t high = pins->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (pins->pins[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t pins_of(const struct pins *pins, uint64_t row)
{
    const size_t i = pins_from(pins, row);
    return i < pins->count && pins->pins[i].row == row ? pins->pins[i].bytes : 0;
}
