/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/sort_order.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/field_names.h"
#include "session/filter/pins.h"
#include "session/scan/scan.h"

enum { CANCEL_STEP = 1 << 17 };
#define KEY_NULL UINT64_MAX

/* The way to compute a row's key. */
struct key_source {
    enum filter_field field;
    uint32_t frame; /* of FIELD_FRAME */
    enum column column;
    uint64_t *rank;    /* by the column's value; NULL: the value itself is the key */
    struct pins *pins; /* of FIELD_PINS */
    uint64_t by_color[FILTER_COLOR_STEPS + 1];
    bool descending;
};

struct ranked {
    const char *name;
    uint32_t id;
};

static int compare_ranked(const void *left, const void *right)
{
    return strcmp(((const struct ranked *)left)->name, ((const struct ranked *)right)->name);
}

/* Ranks the name ids. Equal names have the same rank, null comes last. */
static bool rank_names(const struct field_names *names, uint64_t *rank)
{
    struct ranked *sorted = malloc((names->name_count + 1) * sizeof(*sorted));
    if (!sorted)
        return false;
    size_t count = 0;
    for (uint32_t id = 0; id < names->name_count; id++) {
        rank[id] = KEY_NULL;
        if (names->name[id])
            sorted[count++] = (struct ranked){names->name[id], id};
    }
    qsort(sorted, count, sizeof(*sorted), compare_ranked);
    for (size_t i = 0; i < count; i++) {
        bool same = i > 0 && strcmp(sorted[i].name, sorted[i - 1].name) == 0;
        rank[sorted[i].id] = same ? rank[sorted[i - 1].id] : i;
    }
    free(sorted);
    return true;
}

static bool source_of_names(struct session *session, struct key_source *source,
                            struct session_error *error)
{
    struct field_names names;
    if (!field_names_open(session, source->field, source->frame, &names, error))
        return false;
    uint64_t *by_name = calloc((size_t)names.name_count + 1, sizeof(*by_name));
    source->rank = malloc(((size_t)names.count + 1) * sizeof(*source->rank));
    bool good = by_name && source->rank && rank_names(&names, by_name);
    source->column = names.column;
    for (uint32_t value = 0; good && value < names.count; value++)
        source->rank[value] = by_name[field_names_id(&names, value)];
    free(by_name);
    field_names_close(&names);
    return good || session_fail_memory(error, "the sort order");
}

static bool source_of_line(const struct session *session, struct key_source *source,
                           struct session_error *error)
{
    source->column = COLUMN_STACK;
    source->rank = malloc(((size_t)session->stacks.count + 1) * sizeof(*source->rank));
    if (!source->rank)
        return session_fail_memory(error, "the sort order");
    for (uint32_t stack = 0; stack < session->stacks.count; stack++) {
        uint32_t line = stacks_call_site(&session->stacks, stack)->line;
        source->rank[stack] = line == 0 ? KEY_NULL : line;
    }
    return true;
}

static bool source_open(struct session *session, const struct row_set *set,
                        const struct filter_colors *colors, struct key_source *source,
                        struct session_error *error)
{
    *source = (struct key_source){
        .field = set->sort_field, .frame = set->sort_frame, .descending = set->descending};
    switch (set->sort_field) {
    case FIELD_SIZE:
        source->column = COLUMN_SIZE;
        return true;
    case FIELD_COUNT:
        source->column = COLUMN_COUNT_OF_OBJECTS;
        return true;
    case FIELD_ADDRESS:
    case FIELD_ID:
        source->column = COLUMN_ADDRESS;
        return true;
    case FIELD_STACK:
        source->column = COLUMN_STACK;
        return true;
    case FIELD_FREE_STACK:
        source->column = COLUMN_FREE_STACK;
        return true;
    case FIELD_ALLOC_TIME:
    case FIELD_FREE_TIME:
    case FIELD_LIFETIME:
    case FIELD_FREED:
        source->column = COLUMN_LIFE_NS;
        return true;
    case FIELD_CROSSED:
        source->column = COLUMN_FREE_THREAD;
        return true;
    case FIELD_COLOR:
        source->column = COLUMN_SIZE;
        source->by_color[0] = KEY_NULL;
        for (size_t step = 1; step <= colors->count; step++)
            source->by_color[step] = (uint64_t)colors->step[step].number;
        return true;
    case FIELD_LINE:
        return source_of_line(session, source, error);
    case FIELD_PINS: {
        const struct filter_live live = {.time = {.ns = set->sort_ns}, .end = set->sort_at_end};
        source->column = COLUMN_ADDRESS;
        source->pins = pins_find(session, &live, error);
        return source->pins != NULL;
    }
    default:
        return source_of_names(session, source, error);
    }
}

/* The views of one chunk that give the keys. */
struct key_views {
    struct column_view value, begin; /* of FIELD_CROSSED, `begin` is the thread */
    const uint8_t *colors;
    uint64_t first_row, end_ns;
};

static uint64_t row_key(const struct key_source *source, const struct key_views *views, size_t row)
{
    uint64_t value = column_view_at(&views->value, row);
    uint64_t began = column_view_at(&views->begin, row);
    uint64_t key = value;
    if (source->rank) {
        key = source->rank[value];
    } else {
        switch (source->field) {
        case FIELD_ID:
            key = views->first_row + row;
            break;
        case FIELD_ALLOC_TIME:
            key = began;
            break;
        case FIELD_FREE_TIME:
            key = value == 0 ? KEY_NULL : began + value - 1;
            break;
        case FIELD_LIFETIME:
            key = value != 0 ? value - 1 : views->end_ns > began ? views->end_ns - began : 0;
            break;
        case FIELD_FREED:
            key = value != 0;
            break;
        case FIELD_PINS:
            key = pins_of(source->pins, views->first_row + row);
            break;
        case FIELD_CROSSED:
            key = value != 0 && value != began;
            break;
        case FIELD_STACK:
        case FIELD_FREE_STACK:
            key = value == 0 ? KEY_NULL : value;
            break;
        case FIELD_COLOR:
            key = source->by_color[!views->colors ? 0 : views->colors[row]];
            break;
        default:
            break;
        }
    }
    /* Only nulls have the largest key: no name, time or size in a session reaches it. */
    return source->descending && key != KEY_NULL ? KEY_NULL - 1 - key : key;
}

static bool after(const struct sort_entry *left, const struct sort_entry *right)
{
    return left->key != right->key ? left->key > right->key : left->row > right->row;
}

/* Moves the entry at `i` down in a heap whose root is the last in order. */
static void sift_down(struct sort_entry *heap, size_t count, size_t i)
{
    struct sort_entry moved = heap[i];
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && after(&heap[child + 1], &heap[child]))
            child++;
        if (!after(&heap[child], &moved))
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

static int compare_entries(const void *left, const void *right)
{
    return after(left, right) ? 1 : after(right, left) ? -1 : 0;
}

/* Moves the entries to `spare`, in the order of one byte of their keys. Looks for a cancel now and
 * then. */
static bool distribute(const struct session *session, const struct sort_entry *entries,
                       struct sort_entry *spare, size_t count, unsigned shift, size_t *places)
{
    size_t place = 0;
    for (unsigned byte = 0; byte < 256; byte++) {
        size_t here = places[byte];
        places[byte] = place;
        place += here;
    }
    for (size_t first = 0; first < count; first += CANCEL_STEP) {
        const size_t last = count - first < CANCEL_STEP ? count : first + CANCEL_STEP;
        if (session && scan_cancelled(session))
            return false;
        for (size_t i = first; i < last; i++)
            spare[places[entries[i].key >> shift & 0xff]++] = entries[i];
    }
    return true;
}

/* Sorts by the least significant byte first and skips bytes that are the same in all keys. */
static bool sort_by_bytes(const struct session *session, struct sort_entry *entries,
                          struct sort_entry *spare, size_t count)
{
    struct sort_entry *const kept = entries;
    size_t histogram[8][256] = {{0}};
    for (size_t first = 0; first < count; first += CANCEL_STEP) {
        const size_t last = count - first < CANCEL_STEP ? count : first + CANCEL_STEP;
        if (session && scan_cancelled(session))
            return false;
        for (size_t i = first; i < last; i++)
            for (unsigned byte = 0; byte < 8; byte++)
                histogram[byte][entries[i].key >> (8 * byte) & 0xff]++;
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t *places = histogram[shift / 8];
        if (count == 0 || places[entries[0].key >> shift & 0xff] == count)
            continue;
        if (!distribute(session, entries, spare, count, shift, places))
            return false;
        struct sort_entry *swap = entries;
        entries = spare;
        spare = swap;
    }
    if (entries != kept)
        memcpy(kept, entries, count * sizeof(*kept));
    return true;
}

bool sort_entries(struct sort_entry *entries, size_t count)
{
    return sort_entries_of(NULL, entries, count, NULL);
}

bool sort_entries_of(const struct session *session, struct sort_entry *entries, size_t count,
                     struct session_error *error)
{
    struct sort_entry *spare = malloc((count + 1) * sizeof(*spare));
    if (!spare)
        return session_fail_memory(error, "a sort");
    const bool good = sort_by_bytes(session, entries, spare, count);
    free(spare);
    return good || scan_go_on(session, error);
}

/* Keeps the first `limit` rows in `entries`, as a heap once it is full. */
static void offer(struct sort_entry *entries, size_t *count, size_t limit, struct sort_entry entry)
{
    if (*count < limit) {
        entries[(*count)++] = entry;
        if (*count == limit) {
            for (size_t i = limit / 2; i-- > 0;)
                sift_down(entries, limit, i);
        }
    } else if (limit > 0 && after(&entries[0], &entry)) {
        entries[0] = entry;
        sift_down(entries, limit, 0);
    }
}

/* What all threads read of a sort. */
struct sorting {
    struct session *session;
    const struct row_set *set;
    const struct key_source *source;
    struct sort_entry *entries; /* all rows, those of a chunk from before[chunk] on; NULL: heaps */
    size_t *before;
    size_t limit;
};

/* The first rows that one thread has met. */
struct heap {
    const struct sorting *sorting;
    size_t count;
    struct sort_entry entries[];
};

static bool collect_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                          struct session_error *error)
{
    struct heap *heap = context;
    const struct sorting *sorting = heap->sorting;
    const struct row_set *set = sorting->set;
    const enum column begin =
        sorting->source->field == FIELD_CROSSED ? COLUMN_THREAD : COLUMN_ALLOC_NS;
    struct key_views views = {.first_row = (uint64_t)chunk * COLUMN_CHUNK_ROWS,
                              .end_ns = sorting->session->duration_ns};
    if (row_set_chunk_empty(set, chunk))
        return true;
    if (set->colors)
        views.colors = set->colors + views.first_row;
    if (!scan_column(worker, chunk, sorting->source->column, &views.value, error) ||
        !scan_column(worker, chunk, begin, &views.begin, error))
        return false;
    size_t next = sorting->entries ? sorting->before[chunk] : 0;
    ROW_SET_EACH(row_set_chunk(set, chunk), row)
    {
        struct sort_entry entry = {views.first_row + row, views.first_row + row};
        if (set->sorted)
            entry.key = row_key(sorting->source, &views, row);
        if (sorting->entries)
            sorting->entries[next++] = entry;
        else
            offer(heap->entries, &heap->count, sorting->limit, entry);
    }
    return true;
}

static bool collect(const struct sorting *sorting, struct scan_contexts *heaps,
                    struct session_error *error)
{
    for (size_t i = 0; i < heaps->threads; i++)
        ((struct heap *)heaps->each[i])->sorting = sorting;
    return scan_chunks(sorting->session, sorting->set->chunks, collect_chunk, heaps->each,
                       heaps->threads, error);
}

/* Stores the first `limit` rows: each thread keeps a heap of so many. */
static bool find_first(struct sorting *sorting, struct sort_entry **entries, size_t *count,
                       struct session_error *error)
{
    struct scan_contexts heaps;
    const size_t size = sizeof(struct heap) + sorting->limit * sizeof(struct sort_entry);
    if (!scan_contexts_open(sorting->session, &heaps, size, SIZE_MAX, error))
        return false;
    *entries = malloc((sorting->limit * heaps.threads + 1) * sizeof(**entries));
    const bool good =
        *entries ? collect(sorting, &heaps, error) : session_fail_memory(error, "the sort order");
    for (size_t i = 0; good && i < heaps.threads; i++) {
        const struct heap *heap = heaps.each[i];
        memcpy(*entries + *count, heap->entries, heap->count * sizeof(**entries));
        *count += heap->count;
    }
    scan_contexts_close(&heaps);
    if (!good)
        return false;
    qsort(*entries, *count, sizeof(**entries), compare_entries);
    *count = *count < sorting->limit ? *count : sorting->limit;
    return true;
}

/* Stores all rows. Each thread writes those of its chunks to their places, so they are in the order
 * of ids before the sort. */
static bool find_all(struct sorting *sorting, struct sort_entry **entries, size_t *count,
                     struct session_error *error)
{
    struct scan_contexts heaps;
    size_t selected = 0;
    sorting->before = malloc(((size_t)sorting->set->chunks + 1) * sizeof(*sorting->before));
    for (uint32_t chunk = 0; sorting->before && chunk < sorting->set->chunks; chunk++) {
        sorting->before[chunk] = selected;
        selected += row_set_chunk_count(sorting->set, chunk);
    }
    *entries = malloc((selected + 1) * sizeof(**entries));
    sorting->entries = *entries;
    bool good = (sorting->before && *entries) || session_fail_memory(error, "the sort order");
    good =
        good && scan_contexts_open(sorting->session, &heaps, sizeof(struct heap), SIZE_MAX, error);
    if (good) {
        good = collect(sorting, &heaps, error) &&
               sort_entries_of(sorting->session, *entries, selected, error);
        scan_contexts_close(&heaps);
    }
    free(sorting->before);
    *count = selected < sorting->limit ? selected : sorting->limit;
    return good;
}

bool sort_order_rows(struct session *session, const struct row_set *set,
                     const struct filter_colors *colors, uint64_t limit,
                     struct sort_entry **entries, size_t *count, struct session_error *error)
{
    struct key_source source = {.field = FIELD_ID, .column = COLUMN_ADDRESS};
    struct sorting sorting = {.session = session, .set = set, .source = &source, .limit = limit};
    *count = 0;
    *entries = NULL;
    bool good = !set->sorted || source_open(session, set, colors, &source, error);
    /* If `limit` is large, sorting all rows is cheaper than keeping heaps. */
    if (limit <= SORT_FEW)
        good = good && find_first(&sorting, entries, count, error);
    else
        good = good && find_all(&sorting, entries, count, error);
    free(source.rank);
    pins_free(source.pins);
    if (!good) {
        free(*entries);
        *entries = NULL;
    }
    return good;
}
