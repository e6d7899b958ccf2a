/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scan finds the blocks live at a time and puts them into a bitmap. A comparison with the bitmap
 * of the last list tells the blocks that went and those that came. Those that came are sorted and
 * merged with those that stayed.
 */
#include "session/query/live_list.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/program.h"
#include "session/filter/sort_order.h"
#include "session/scan/kernels.h"
#include "session/scan/large_memory.h"
#include "session/scan/scan.h"

enum { PREFETCH = 32 };

/* A block that came. */
struct came {
    uint64_t size, id;
};

/* The change from the list before to the next one. The threads of a pass share it: each chunk has
 * its own part of the bitmap, of `came` and of `order`. */
struct change {
    struct session *session;
    const struct live_list *before; /* NULL: nothing was live */
    struct live_list *after;
    struct came *came;        /* in the order of ids */
    struct sort_entry *order; /* their addresses and places in `came`, then by address */
    size_t *first;  /* by chunk: its first place in `came`; before that the number of its blocks */
    size_t *stayed; /* by chunk */
    size_t count;
};

/* Stores the blocks of a chunk that came, one bit for each. */
static void find_came(const struct change *change, uint32_t chunk, uint64_t *came)
{
    const uint64_t *now = change->after->words + (size_t)chunk * ROW_SET_WORDS;
    const uint64_t *then =
        change->before ? change->before->words + (size_t)chunk * ROW_SET_WORDS : NULL;
    for (size_t i = 0; i < ROW_SET_WORDS; i++)
        came[i] = now[i] & ~(then ? then[i] : 0);
}

/* Finds the blocks of a chunk that are live, and counts those that came. */
static bool find_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                       struct session_error *error)
{
    const struct change *change = context;
    const struct filter_program live = {
        .kind = PREDICATE_TEST, .leaf = LEAF_LIVE_AT, .low = change->after->ns};
    uint64_t *now = change->after->words + (size_t)chunk * ROW_SET_WORDS;
    uint64_t came[ROW_SET_WORDS];
    struct column_reader *reader = scan_reader(worker, error);
    if (!reader || !filter_program_run(change->session, reader, &live, chunk, NULL, now, error))
        return false;
    processes_mask(change->session, chunk, now);
    find_came(change, chunk, came);
    change->first[chunk] = kernel_count(came, ROW_SET_WORDS);
    change->stayed[chunk] = kernel_count(now, ROW_SET_WORDS) - change->first[chunk];
    return true;
}

/* Reads the blocks of a chunk that came. */
static bool gather_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                         struct session_error *error)
{
    const struct change *change = context;
    const uint64_t first_id = (uint64_t)chunk * COLUMN_CHUNK_ROWS + 1;
    struct column_view address, size;
    struct kernel_rows rows;
    uint64_t came[ROW_SET_WORDS], starts[KERNEL_ROWS], sizes[KERNEL_ROWS];
    size_t place = change->first[chunk];
    if (place == change->first[chunk + 1])
        return true;
    if (!scan_column(worker, chunk, COLUMN_ADDRESS, &address, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &size, error))
        return false;
    find_came(change, chunk, came);
    KERNEL_EACH_BLOCK(came, &rows)
    {
        kernel_take(&address, &rows, starts);
        kernel_take(&size, &rows, sizes);
        for (size_t i = 0; i < rows.count; i++, place++) {
            change->order[place] = (struct sort_entry){starts[i], place};
            change->came[place] = (struct came){sizes[i], first_id + rows.first + rows.row[i]};
        }
    }
    return true;
}

/* Finds the blocks that came and those that stayed. */
static bool gather(struct change *change, struct session_error *error)
{
    const uint32_t chunks = column_store_chunks(change->session->columns);
    void *contexts[SCAN_THREADS_MAX];
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = change;
    change->first = calloc((size_t)chunks + 1, sizeof(*change->first));
    change->stayed = calloc((size_t)chunks + 1, sizeof(*change->stayed));
    if (!change->first || !change->stayed)
        return session_fail_memory(error, "what is live");
    if (!scan_chunks(change->session, chunks, find_chunk, contexts, SCAN_THREADS_MAX, error))
        return false;
    size_t stayed = 0;
    for (uint32_t chunk = 0; chunk <= chunks; chunk++) {
        const size_t here = change->first[chunk];
        change->first[chunk] = change->count;
        change->count += here;
        stayed += change->stayed[chunk];
    }
    change->came = large_memory((change->count + 1) * sizeof(*change->came));
    change->order = large_memory((change->count + 1) * sizeof(*change->order));
    change->after->blocks =
        large_memory((stayed + change->count + 1) * sizeof(*change->after->blocks));
    if (!change->came || !change->order || !change->after->blocks)
        return session_fail_memory(error, "what is live");
    return scan_chunks(change->session, chunks, gather_chunk, contexts, SCAN_THREADS_MAX, error) &&
           sort_entries_of(change->session, change->order, change->count, error);
}

static bool is_in(const uint64_t *words, uint64_t id)
{
    return (words[(id - 1) / 64] >> ((id - 1) % 64) & 1) != 0;
}

static struct live_block block_of(const struct change *change, size_t i)
{
    const struct came *came = &change->came[change->order[i].row];
    const uint64_t start = change->order[i].key, held = came->size > 0 ? came->size : 1;
    return (struct live_block){.start = start,
                               .end = held > UINT64_MAX - start ? UINT64_MAX : start + held,
                               .size = came->size,
                               .id = came->id};
}

/* Lists those that stayed and those that came, by address. */
static void merge(const struct change *change)
{
    struct live_list *after = change->after;
    const struct live_list *before = change->before;
    const size_t count = before ? before->count : 0;
    size_t next = 0;
    uint64_t reach = 0;
    for (size_t i = 0; i < count || next < change->count;) {
        struct live_block *block = &after->blocks[after->count];
        if (i < count && !is_in(after->words, before->blocks[i].id)) {
            i++;
            continue;
        }
        if (next == change->count ||
            (i < count && before->blocks[i].start <= change->order[next].key)) {
            *block = before->blocks[i++];
        } else {
            /* The blocks that came lie in the order of ids, far apart: prefetch them. */
            if (next + PREFETCH < change->count)
                __builtin_prefetch(&change->came[change->order[next + PREFETCH].row]);
            *block = block_of(change, next++);
        }
        reach = block->end > reach ? block->end : reach;
        block->reach = reach;
        after->count++;
    }
}

static struct live_list *live_list_new(const struct session *session, uint64_t ns)
{
    struct live_list *list = calloc(1, sizeof(*list));
    if (!list)
        return NULL;
    list->ns = ns;
    size_t words = (size_t)column_store_chunks(session->columns) * ROW_SET_WORDS;
    list->words = calloc(words + 1, sizeof(*list->words));
    if (!list->words) {
        free(list);
        return NULL;
    }
    return list;
}

/* Makes the list at `ns` from the one that is kept, and keeps it instead. */
static const struct live_list *step(struct session *session, struct live_list **kept, uint64_t ns,
                                    struct session_error *error)
{
    if (*kept && (*kept)->ns == ns)
        return *kept;
    struct live_list *after = live_list_new(session, ns);
    if (!after) {
        session_fail_memory(error, "what is live");
        return NULL;
    }
    struct change change = {.session = session, .before = *kept, .after = after};
    const bool good = gather(&change, error);
    if (good)
        merge(&change);
    free(change.first);
    free(change.stayed);
    free(change.came);
    free(change.order);
    if (!good) {
        live_list_free(after);
        return NULL;
    }
    live_list_free(*kept);
    *kept = after;
    return after;
}

const struct live_list *live_list_at(struct session *session, uint64_t ns,
                                     struct session_error *error)
{
    return step(session, &session->live, ns, error);
}

const struct live_list *live_list_passing(struct session *session, uint64_t ns,
                                          struct session_error *error)
{
    return step(session, &session->passing, ns, error);
}

void live_list_free(struct live_list *list)
{
    if (list) {
        free(list->blocks);
        free(list->words);
    }
    free(list);
}

size_t live_list_find(const struct live_list *list, uint64_t address)
{
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->blocks[middle].reach > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
