/* SPDX-License-Identifier: BSD-2-Clause */
/* A scan finds the blocks live at a time and puts them into a bitmap. A comparison with the bitmap
 * of the last list tells the blocks that went and those that came. Those that came are sorted and
 * merged, in the memory of the last list, with those that stayed. */
#include "session/time/live_list.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/filter/program.h"
#include "session/store/error.h"
#include "session/store/kernels.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"

/* An entry holds the id of its block above the size. No session has 2^40 blocks. */
enum { SIZE_BITS = 24 };
#define SIZE_LARGE (((uint64_t)1 << SIZE_BITS) - 1) /* the list of large sizes has it */

/* The change of a list to another time. The threads of a pass share it: each chunk has its own part
 * of the bitmap and of `came`. */
struct change {
    struct session *session;
    struct live_list *list; /* stays as it is until all is gathered */
    uint64_t ns;
    uint64_t *words;          /* what is live then */
    struct sort_entry *came;  /* in the order of ids, then by address */
    struct sort_entry *large; /* of these */
    _Atomic size_t large_count;
    size_t *first; /* by chunk: its first place in `came`; before that the number of its blocks */
    size_t *stays; /* by chunk */
    size_t count, stayed;
};

static uint64_t id_of(const struct sort_entry *entry)
{
    return entry->row >> SIZE_BITS;
}

/* ---- gathering: a cancel may end it ---- */

/* Stores the blocks of a chunk that came, one bit for each. */
static void find_came(const struct change *change, uint32_t chunk, uint64_t *came)
{
    const uint64_t *now = change->words + (size_t)chunk * ROW_SET_WORDS;
    const uint64_t *then = change->list->words + (size_t)chunk * ROW_SET_WORDS;
    /* The first list has no memory for its bits before someone looks at them. */
    if (change->list->count == 0) {
        memcpy(came, now, ROW_SET_WORDS * sizeof(*came));
        return;
    }
    for (size_t i = 0; i < ROW_SET_WORDS; i++)
        came[i] = now[i] & ~then[i];
}

/* Finds the blocks of a chunk that are live, and counts those that came. */
static bool find_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                       struct session_error *error)
{
    const struct change *change = context;
    const struct filter_program live = {
        .kind = PREDICATE_TEST, .leaf = LEAF_LIVE_AT, .low = change->ns};
    uint64_t now[ROW_SET_WORDS], came[ROW_SET_WORDS];
    struct column_reader *reader = scan_reader(worker, error);
    if (!reader || !filter_program_run(change->session, reader, &live, chunk, NULL, now, error))
        return false;
    processes_mask(change->session, chunk, now);
    const uint64_t count = kernel_count(now, ROW_SET_WORDS);
    /* Bits that stay 0 take no memory. */
    if (count == 0)
        return true;
    memcpy(change->words + (size_t)chunk * ROW_SET_WORDS, now, sizeof(now));
    find_came(change, chunk, came);
    change->first[chunk] = kernel_count(came, ROW_SET_WORDS);
    change->stays[chunk] = count - change->first[chunk];
    return true;
}

/* Reads the blocks of a chunk that came. */
static bool gather_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                         struct session_error *error)
{
    struct change *change = context;
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
    KERNEL_EACH_BATCH(came, &rows)
    {
        kernel_take(&address, &rows, starts);
        kernel_take(&size, &rows, sizes);
        for (size_t i = 0; i < rows.count; i++) {
            const uint64_t id = first_id + rows.first + rows.row[i];
            const uint64_t kept = sizes[i] < SIZE_LARGE ? sizes[i] : SIZE_LARGE;
            change->came[place++] = (struct sort_entry){starts[i], id << SIZE_BITS | kept};
            if (kept == SIZE_LARGE)
                change->large[change->large_count++] = (struct sort_entry){id, sizes[i]};
        }
    }
    return true;
}

/* Turns counts into places. Returns the most blocks that came and may be large. */
static size_t find_places(struct change *change, uint32_t chunks)
{
    size_t large = 0;
    for (uint32_t chunk = 0; chunk <= chunks; chunk++) {
        const size_t here = change->first[chunk];
        change->first[chunk] = change->count;
        change->count += here;
        change->stayed += change->stays[chunk];
        if (chunk < chunks &&
            column_store_max(change->session->columns, chunk, COLUMN_SIZE) >= SIZE_LARGE)
            large += here;
    }
    return large;
}

/* Finds the blocks that came and those that stay. */
static bool gather(struct change *change, struct session_error *error)
{
    const uint32_t chunks = column_store_chunks(change->session->columns);
    change->words = calloc((size_t)chunks * ROW_SET_WORDS + 1, sizeof(*change->words));
    change->first = calloc((size_t)chunks + 1, sizeof(*change->first));
    change->stays = calloc((size_t)chunks + 1, sizeof(*change->stays));
    if (!change->words || !change->first || !change->stays)
        return session_fail_memory(error, "what is live");
    if (!scan_chunks_shared(change->session, chunks, find_chunk, change, error))
        return false;
    const size_t large = change->list->large_count + find_places(change, chunks);
    change->came = large_memory((change->count + 1) * sizeof(*change->came));
    change->large = malloc((large + 1) * sizeof(*change->large));
    if (!change->came || !change->large)
        return session_fail_memory(error, "what is live");
    return scan_chunks_shared(change->session, chunks, gather_chunk, change, error) &&
           sort_entries_of(change->session, change->came, change->count, error);
}

/* ---- the change of the list ---- */

/* Drops the entries that went, then merges those that came, from the last one on. */
static void merge(const struct change *change)
{
    struct sort_entry *entries = change->list->entries;
    size_t stayed = 0, came = change->count;
    for (size_t i = 0; i < change->list->count; i++)
        if (row_set_has(change->words, id_of(&entries[i]) - 1))
            entries[stayed++] = entries[i];
    while (came > 0) {
        const bool last = stayed == 0 || entries[stayed - 1].key <= change->came[came - 1].key;
        entries[stayed + came - 1] = last ? change->came[came - 1] : entries[stayed - 1];
        *(last ? &came : &stayed) -= 1;
    }
}

/* Puts the large sizes of the blocks that stay to those of the blocks that came. */
static bool merge_large(struct change *change)
{
    const struct live_list *list = change->list;
    for (size_t i = 0; i < list->large_count; i++)
        if (row_set_has(change->words, list->large[i].key - 1))
            change->large[change->large_count++] = list->large[i];
    return sort_entries(change->large, change->large_count);
}

static void set_mapped(struct live_list *list)
{
    struct mapped_sizes sizes = {.blocks = {0}};
    for (size_t i = 0; i < list->count; i++) {
        const struct live_block block = live_list_block(list, i);
        mapped_sizes_add(&sizes, block.start, block.end - block.start);
    }
    list->mapped = mapped_sizes_limits(&sizes);
}

/* Notes how far the blocks up to each one reach, if one lies within another. */
static bool set_reach(struct live_list *list)
{
    uint64_t reach = 0;
    size_t i = 0;
    free(list->reach);
    list->reach = NULL;
    for (uint64_t end; i < list->count && (end = live_list_block(list, i).end) >= reach; i++)
        reach = end;
    if (i == list->count)
        return true;
    list->reach = large_memory(list->count * sizeof(*list->reach));
    if (!list->reach)
        return false;
    reach = 0;
    for (i = 0; i < list->count; i++) {
        const uint64_t end = live_list_block(list, i).end;
        reach = end > reach ? end : reach;
        list->reach[i] = reach;
    }
    return true;
}

/* Makes room for all entries. The first ones need none: they become the list. */
static bool make_room(struct change *change)
{
    struct live_list *list = change->list;
    const size_t after = change->stayed + change->count;
    if (list->count == 0) {
        free(list->entries);
        list->entries = change->came;
        change->came = NULL;
        return true;
    }
    const size_t most = after > list->count ? after : list->count;
    struct sort_entry *grown = realloc(list->entries, (most + 1) * sizeof(*grown));
    if (grown)
        list->entries = grown;
    return grown != NULL;
}

/* Changes the list. Returns false if memory is exhausted: the list is then of no use. */
static bool apply(struct change *change)
{
    struct live_list *list = change->list;
    if (!make_room(change) || !merge_large(change))
        return false;
    if (change->came)
        merge(change);
    FREE_ALL(list->words, list->large);
    list->words = change->words;
    list->large = change->large;
    change->words = NULL;
    change->large = NULL;
    list->large_count = change->large_count;
    list->count = change->stayed + change->count;
    list->ns = change->ns;
    struct sort_entry *less = realloc(list->entries, (list->count + 1) * sizeof(*less));
    list->entries = less ? less : list->entries;
    set_mapped(list);
    return set_reach(list);
}

static void live_list_free(struct live_list *list)
{
    if (list)
        FREE_ALL(list->entries, list->large, list->reach, list->words);
    free(list);
}

static void forget(struct session *session)
{
    live_list_free(session->live);
    live_list_free(session->passing);
    session->live = session->passing = NULL;
}

static struct live_list *live_list_new(const struct session *session)
{
    struct live_list *list = calloc(1, sizeof(*list));
    const size_t words = (size_t)column_store_chunks(session->columns) * ROW_SET_WORDS;
    if (list)
        list->words = calloc(words + 1, sizeof(*list->words));
    if (!list || !list->words) {
        live_list_free(list);
        return NULL;
    }
    return list;
}

/* Takes the list that is kept to `ns`. A cancel leaves it where it was. */
static const struct live_list *step(struct session *session, struct live_list **kept, uint64_t ns,
                                    struct session_error *error)
{
    if (*kept && (*kept)->ns == ns)
        return *kept;
    struct live_list *list = *kept ? *kept : live_list_new(session);
    if (!list)
        return session_fail_memory_null(error, "what is live");
    struct change change = {.session = session, .list = list, .ns = ns};
    session->forget_live = forget;
    const bool gathered = gather(&change, error), good = gathered && apply(&change);
    if (gathered && !good)
        session_fail_memory(error, "what is live");
    FREE_ALL(change.words, change.first, change.stays, change.came, change.large);
    if (good || (!gathered && *kept))
        *kept = list;
    else {
        live_list_free(list);
        *kept = NULL;
    }
    return good ? list : NULL;
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

void live_list_passed(struct session *session)
{
    live_list_free(session->passing);
    session->passing = NULL;
}

/* ---- reading ---- */

static uint64_t large_size(const struct live_list *list, uint64_t id)
{
    size_t low = 0;
    ARRAY_BISECT(low, list->large_count, list->large[middle].key < id);
    return list->large[low].row;
}

struct live_block live_list_block(const struct live_list *list, size_t i)
{
    const struct sort_entry *entry = &list->entries[i];
    const uint64_t id = id_of(entry), kept = entry->row & SIZE_LARGE;
    const uint64_t size = kept < SIZE_LARGE ? kept : large_size(list, id);
    const uint64_t held = size > 0 ? size : 1;
    return (struct live_block){.start = entry->key,
                               .end =
                                   held > UINT64_MAX - entry->key ? UINT64_MAX : entry->key + held,
                               .size = size,
                               .id = id};
}

uint64_t live_list_row(const struct live_list *list, size_t i)
{
    return id_of(&list->entries[i]) - 1;
}

uint64_t live_list_reach(const struct live_list *list, size_t i)
{
    return list->reach ? list->reach[i] : live_list_block(list, i).end;
}

size_t live_list_find(const struct live_list *list, uint64_t address)
{
    size_t low = 0;
    ARRAY_BISECT(low, list->count, live_list_reach(list, middle) <= address);
    return low;
}
