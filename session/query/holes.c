/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the gaps between live blocks from the list of live blocks at a time: one walk by address,
 * which remembers how far the blocks before it reach. A pass over all allocations then finds for
 * each hole the last block that was freed in it.
 */
#include "session/holes.h"

#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/mapped.h"
#include "session/data/processes.h"
#include "session/data/session_state.h"
#include "session/query/live_list.h"
#include "session/query/selection_state.h"
#include "session/scan/kernels.h"
#include "session/scan/scan.h"

#define REGION_GAP (UINT64_C(16) << 20)
#define CONTEXTS_MOST ((size_t)256 << 20)

/* ---- use -------------------------------------------------------------------------------- */

static void add_gap(struct session_use *use, uint64_t start, uint64_t bytes, uint64_t least)
{
    if (bytes >= least) {
        use->hole_bytes += bytes;
        use->hole_count++;
        if (bytes > use->largest) {
            use->largest = bytes;
            use->largest_at = start;
        }
    } else if (bytes <= SESSION_OVERHEAD_MOST) {
        use->overhead_bytes += bytes;
        use->overhead_count++;
    } else {
        use->small_bytes += bytes;
        use->small_count++;
    }
}

/* Returns the place of the block that reaches to the gap before block `i`. */
static size_t place_below(const struct live_list *list, size_t i)
{
    const uint64_t reach = live_list_reach(list, i - 1);
    size_t at = i - 1;
    while (at > 0 && live_list_block(list, at).end != reach)
        at--;
    return at;
}

static bool may_be_alone(const struct live_list *list, size_t i)
{
    const struct live_block block = live_list_block(list, i);
    uint64_t above = UINT64_MAX;
    if (!mapped_address(block.start, block.end - block.start, list->mapped))
        return false;
    for (size_t next = i + 1; next < list->count && above == UINT64_MAX; next++)
        if (list->entries[next].key >= block.end)
            above = list->entries[next].key;
    return mapped_alone(block.start, block.end - block.start,
                        i > 0 ? live_list_reach(list, i - 1) : 0, above, list->mapped);
}

/* Returns true if nobody knows what lies in the gap before block `i`. */
static bool is_unknown(const struct live_list *list, size_t i)
{
    return may_be_alone(list, i) || may_be_alone(list, place_below(list, i)) ||
           mapped_heaps_meet(live_list_reach(list, i - 1), list->entries[i].key);
}

/* Returns the bytes of the gap before block `i`, 0 if there is none. */
static uint64_t gap_before(const struct live_list *list, size_t i)
{
    const uint64_t reach = i == 0 ? 0 : live_list_reach(list, i - 1);
    const uint64_t start = list->entries[i].key;
    return i > 0 && start > reach && start - reach < REGION_GAP ? start - reach : 0;
}

static void sum_use(const struct selection *selection, const struct live_list *list, uint64_t from,
                    uint64_t to, uint64_t least, struct session_use *use)
{
    *use = (struct session_use){.selected_bytes = 0};
    for (size_t i = live_list_find(list, from); i < list->count; i++) {
        const struct live_block block = live_list_block(list, i);
        const uint64_t bytes = gap_before(list, i), start = block.start - bytes;
        if (bytes >= least && start >= from && start < to && is_unknown(list, i)) {
            use->unknown_bytes += bytes;
            use->unknown_count++;
        } else if (bytes > 0 && start >= from && start < to) {
            add_gap(use, start, bytes, least);
        }
        if (block.start >= to)
            break;
        if (block.start < from)
            continue;
        const bool selected = selection_contains(selection, block.id);
        *(selected ? &use->selected_bytes : &use->filtered_bytes) += block.size;
        *(selected ? &use->selected_count : &use->filtered_count) += 1;
    }
}

bool selection_use(struct selection *selection, uint64_t ns, uint64_t from, uint64_t to,
                   uint64_t least, struct session_use *use, struct session_error *error)
{
    const struct live_list *list = live_list_at(selection->session, ns, error);
    if (!list)
        return false;
    sum_use(selection, list, from, to, least, use);
    return true;
}

bool selection_use_over_time(struct selection *selection, uint64_t ns, uint64_t from, uint64_t to,
                             uint64_t least, struct session_use *use, struct session_error *error)
{
    const struct live_list *list = live_list_passing(selection->session, ns, error);
    if (!list)
        return false;
    sum_use(selection, list, from, to, least, use);
    return true;
}

void selection_use_over_time_end(struct selection *selection)
{
    live_list_passed(selection->session);
}

/* ---- holes ------------------------------------------------------------------------------ */

static bool gather_holes(const struct live_list *list, uint64_t from, uint64_t to, uint64_t least,
                         struct session_hole **holes, size_t *count, struct session_error *error)
{
    struct session_hole *found = NULL;
    size_t used = 0, capacity = 0;
    for (size_t i = live_list_find(list, from); i < list->count; i++) {
        const struct live_block above = live_list_block(list, i);
        const uint64_t bytes = gap_before(list, i), start = above.start - bytes;
        if (bytes < least || bytes == 0 || start < from)
            continue;
        if (start >= to)
            break;
        if (is_unknown(list, i))
            continue;
        if (used == capacity) {
            capacity = capacity * 2 + 64;
            struct session_hole *larger = realloc(found, capacity * sizeof(*found));
            if (!larger) {
                free(found);
                return session_fail_memory(error, "the holes");
            }
            found = larger;
        }
        found[used++] =
            (struct session_hole){.start = start,
                                  .end = above.start,
                                  .below = live_list_block(list, place_below(list, i)).id,
                                  .above = above.id,
                                  .since_ns = SESSION_NEVER};
    }
    *holes = found;
    *count = used;
    return true;
}

bool session_gap_is_unknown(struct session *session, uint64_t ns, uint64_t address)
{
    const struct live_list *list = live_list_at(session, ns, NULL);
    const size_t i = list ? live_list_find(list, address) : 0;
    return list && i > 0 && i < list->count && list->entries[i].key > address &&
           gap_before(list, i) > 0 && is_unknown(list, i);
}

/* The frees in the holes that one thread knows. */
struct freed {
    const struct session_hole *holes; /* by address */
    size_t count;
    uint64_t ns;
    uint64_t last[]; /* by hole: the last free and 1; 0: none */
};

/* Notes the free of a block in all holes that it reached into. */
static void note(struct freed *freed, uint64_t start, uint64_t end, uint64_t free_ns)
{
    size_t low = 0, high = freed->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (freed->holes[middle].end > start)
            high = middle;
        else
            low = middle + 1;
    }
    for (; low < freed->count && freed->holes[low].start < end; low++)
        if (free_ns >= freed->last[low])
            freed->last[low] = free_ns + 1;
}

/* Tells by the directory whether blocks of a chunk may have been freed in a hole. */
static bool may_matter(const struct freed *freed, const struct column_store *store, uint32_t chunk)
{
    const uint64_t most = column_store_max(store, chunk, COLUMN_ADDRESS);
    const uint64_t size = column_store_max(store, chunk, COLUMN_SIZE);
    const uint64_t reach = size > UINT64_MAX - most - 1 ? UINT64_MAX : most + size + 1;
    return column_store_first_free(store, chunk) <= freed->ns &&
           column_store_min(store, chunk, COLUMN_ADDRESS) < freed->holes[freed->count - 1].end &&
           reach > freed->holes[0].start;
}

static bool find_freed(void *context, struct scan_worker *worker, uint32_t chunk,
                       struct session_error *error)
{
    struct freed *freed = context;
    const struct session *session = scan_session(worker);
    const struct kernel_range range = {0, freed->ns, false};
    struct column_view address, size, begin, life;
    uint64_t words[ROW_SET_WORDS];
    if (!may_matter(freed, session->columns, chunk))
        return true;
    if (!scan_column(worker, chunk, COLUMN_ADDRESS, &address, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &size, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &begin, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error))
        return false;
    kernel_freed_in_range(&begin, &life, &range, words);
    processes_mask(session, chunk, words);
    ROW_SET_EACH(words, row)
    {
        const uint64_t start = column_view_at(&address, row);
        const uint64_t bytes = column_view_at(&size, row);
        const uint64_t held = bytes > 0 ? bytes : 1;
        note(freed, start, held > UINT64_MAX - start ? UINT64_MAX : start + held,
             column_view_at(&begin, row) + column_view_at(&life, row) - 1);
    }
    return true;
}

/* Finds since when the holes, which lie by address, are unused. */
static bool find_since(struct session *session, uint64_t ns, struct session_hole *holes,
                       size_t count, struct session_error *error)
{
    struct scan_contexts contexts;
    if (count == 0)
        return true;
    if (!scan_contexts_open(session, &contexts, sizeof(struct freed) + count * sizeof(uint64_t),
                            CONTEXTS_MOST, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct freed *freed = contexts.each[i];
        freed->holes = holes;
        freed->count = count;
        freed->ns = ns;
    }
    const bool good = scan_chunks(session, column_store_chunks(session->columns), find_freed,
                                  contexts.each, contexts.threads, error);
    for (size_t hole = 0; good && hole < count; hole++) {
        uint64_t last = 0;
        for (size_t i = 0; i < contexts.threads; i++) {
            const struct freed *freed = contexts.each[i];
            last = freed->last[hole] > last ? freed->last[hole] : last;
        }
        holes[hole].since_ns = last - 1; /* 0 becomes SESSION_NEVER */
    }
    scan_contexts_close(&contexts);
    return good;
}

static int by_size(const void *left, const void *right)
{
    const struct session_hole *a = left, *b = right;
    const uint64_t bytes_a = a->end - a->start, bytes_b = b->end - b->start;
    if (bytes_a != bytes_b)
        return bytes_a > bytes_b ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

bool session_holes(struct session *session, uint64_t ns, uint64_t from, uint64_t to, uint64_t least,
                   bool since, struct session_hole **holes, size_t *count,
                   struct session_error *error)
{
    const struct live_list *list = live_list_at(session, ns, error);
    *holes = NULL;
    *count = 0;
    if (!list || !gather_holes(list, from, to, least, holes, count, error))
        return false;
    if (since && !find_since(session, ns, *holes, *count, error)) {
        free(*holes);
        *holes = NULL;
        *count = 0;
        return false;
    }
    if (*count > 0)
        qsort(*holes, *count, sizeof(**holes), by_size);
    return true;
}
