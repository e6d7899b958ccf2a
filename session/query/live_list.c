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
#include "session/scan/scan.h"

enum { PREFETCH = 16 };

/* The change from the list before to the next one. The threads of a pass share it: each chunk has
 * its own part of the bitmap and of `came`. */
struct change {
    struct session *session;
    const struct live_list *before;
    struct live_list *after;
    struct live_block *came; /* in the order of ids, then by address through `order` */
    struct sort_entry *order;
    size_t *first; /* by chunk: its first place in `came`; before that the number of its blocks */
    size_t count, stayed;
};

/* Finds the blocks of a chunk that are live, and counts those that came. */
static bool find_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                       struct session_error *error)
{
    const struct change *change = context;
    const struct filter_program live = {
        .kind = PREDICATE_TEST, .leaf = LEAF_LIVE_AT, .low = change->after->ns};
    uint64_t *now = change->after->words + (size_t)chunk * ROW_SET_WORDS;
    const uint64_t *then = change->before->words + (size_t)chunk * ROW_SET_WORDS;
    struct column_reader *reader = scan_reader(worker, error);
    if (!reader || !filter_program_run(change->session, reader, &live, chunk, NULL, now, error))
        return false;
    processes_mask(change->session, chunk, now);
    size_t count = 0;
    for (size_t i = 0; i < ROW_SET_WORDS; i++)
        count += (size_t)__builtin_popcountll(now[i] & ~then[i]);
    change->first[chunk] = count;
    return true;
}

/* Reads the blocks of a chunk that came. */
static bool gather_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                         struct session_error *error)
{
    const struct change *change = context;
    const uint64_t *now = change->after->words + (size_t)chunk * ROW_SET_WORDS;
    const uint64_t *then = change->before->words + (size_t)chunk * ROW_SET_WORDS;
    const uint64_t first_id = (uint64_t)chunk * COLUMN_CHUNK_ROWS + 1;
    struct column_view address, size;
    uint64_t came[ROW_SET_WORDS];
    if (change->first[chunk] == change->first[chunk + 1])
        return true;
    if (!scan_column(worker, chunk, COLUMN_ADDRESS, &address, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &size, error))
        return false;
    for (size_t i = 0; i < ROW_SET_WORDS; i++)
        came[i] = now[i] & ~then[i];
    struct live_block *block = change->came + change->first[chunk];
    ROW_SET_EACH(came, row)
    {
        block->start = column_view_at(&address, row);
        block->size = column_view_at(&size, row);
        uint64_t held = block->size > 0 ? block->size : 1;
        block->end = held > UINT64_MAX - block->start ? UINT64_MAX : block->start + held;
        block->id = first_id + row;
        block++;
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
    if (!change->first)
        return session_fail_memory(error, "what is live");
    if (!scan_chunks(change->session, chunks, find_chunk, contexts, SCAN_THREADS_MAX, error))
        return false;
    for (uint32_t chunk = 0; chunk <= chunks; chunk++) {
        const size_t here = change->first[chunk];
        change->first[chunk] = change->count;
        change->count += here;
    }
    for (size_t i = 0; i < (size_t)chunks * ROW_SET_WORDS; i++)
        change->stayed +=
            (size_t)__builtin_popcountll(change->after->words[i] & change->before->words[i]);
    change->came = malloc((change->count + 1) * sizeof(*change->came));
    if (!change->came)
        return session_fail_memory(error, "what is live");
    return scan_chunks(change->session, chunks, gather_chunk, contexts, SCAN_THREADS_MAX, error);
}

static bool sort_came(struct change *change, struct session_error *error)
{
    change->order = malloc((change->count + 1) * sizeof(*change->order));
    if (!change->order)
        return session_fail_memory(error, "what is live");
    for (size_t i = 0; i < change->count; i++)
        change->order[i] = (struct sort_entry){change->came[i].start, i};
    return sort_entries_of(change->session, change->order, change->count, error);
}

static bool is_in(const uint64_t *words, uint64_t id)
{
    return (words[(id - 1) / 64] >> ((id - 1) % 64) & 1) != 0;
}

static bool merge(struct change *change)
{
    struct live_list *after = change->after;
    const struct live_list *before = change->before;
    after->blocks = malloc((change->stayed + change->count + 1) * sizeof(*after->blocks));
    if (!after->blocks)
        return false;
    size_t next = 0;
    uint64_t reach = 0;
    for (size_t i = 0; i < before->count || next < change->count;) {
        const struct live_block *block;
        if (i < before->count && !is_in(after->words, before->blocks[i].id)) {
            i++;
            continue;
        }
        if (next == change->count ||
            (i < before->count && before->blocks[i].start <= change->order[next].key)) {
            block = &before->blocks[i++];
        } else {
            /* The blocks that came lie in the order of ids, far apart: prefetch them. */
            if (next + PREFETCH < change->count)
                __builtin_prefetch(&change->came[change->order[next + PREFETCH].row]);
            block = &change->came[change->order[next++].row];
        }
        reach = block->end > reach ? block->end : reach;
        after->blocks[after->count] = *block;
        after->blocks[after->count++].reach = reach;
    }
    return true;
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
    if (!*kept)
        *kept = live_list_new(session, UINT64_MAX);
    struct live_list *after = live_list_new(session, ns);
    if (!*kept || !after) {
        live_list_free(after);
        session_fail_memory(error, "what is live");
        return NULL;
    }
    struct change change = {.session = session, .before = *kept, .after = after};
    bool good = gather(&change, error) && sort_came(&change, error);
    if (good && !merge(&change))
        good = session_fail_memory(error, "what is live");
    free(change.first);
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
