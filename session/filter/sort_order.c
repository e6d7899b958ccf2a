/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/sort_order.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/filter/field_names.h"
#include "session/filter/pins.h"
#include "session/filter/references.h"
#include "session/store/error.h"
#include "session/store/session_state.h"

/* ---- sort key ---- */

/* ---- names ---- */

struct ranked {
    const char *name;
    uint32_t id;
};

ARRAY_ORDER(compare_ranked, struct ranked, strcmp(a->name, b->name))

/* Ranks the name ids. Equal names have the same rank, null comes last. */
static bool rank_names(const struct field_names *names, uint64_t *rank)
{
    struct ranked *sorted = malloc(((size_t)names->name_count + 1) * sizeof(*sorted));
    if (!sorted)
        return false;
    size_t count = 0;
    for (uint32_t id = 0; id < names->name_count; id++) {
        rank[id] = SORT_KEY_NULL;
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

static bool key_of_names(struct session *session, struct sort_key *key, uint32_t frame,
                         struct session_error *error)
{
    struct field_names names;
    if (!field_names_open(session, key->field, frame, &names, error))
        return false;
    uint64_t *by_name = calloc((size_t)names.name_count + 1, sizeof(*by_name));
    key->rank = malloc(((size_t)names.count + 1) * sizeof(*key->rank));
    bool good = by_name && key->rank && rank_names(&names, by_name);
    key->column = names.column;
    key->ranks = names.name_count;
    for (uint32_t value = 0; good && value < names.count; value++)
        key->rank[value] = by_name[field_names_id(&names, value)];
    free(by_name);
    field_names_close(&names);
    return good || session_fail_memory(error, "the sort order");
}

static bool key_of_line(const struct session *session, struct sort_key *key,
                        struct session_error *error)
{
    key->column = COLUMN_STACK;
    key->ranks = UINT32_MAX;
    if (!(key->rank = malloc(((size_t)session->stacks.count + 1) * sizeof(*key->rank))))
        return session_fail_memory(error, "the sort order");
    for (uint32_t stack = 0; stack < session->stacks.count; stack++) {
        uint32_t line = stacks_call_site(&session->stacks, stack)->line;
        key->rank[stack] = line == 0 ? SORT_KEY_NULL : line;
    }
    return true;
}

static bool key_of_collected(const struct session *session, struct sort_key *key,
                             struct session_error *error)
{
    key->column = COLUMN_FREE_STACK;
    key->ranks = 2;
    if (!(key->rank = malloc(((size_t)session->stacks.count + 1) * sizeof(*key->rank))))
        return session_fail_memory(error, "the sort order");
    for (uint32_t stack = 0; stack < session->stacks.count; stack++)
        key->rank[stack] = session_stack_by_collector(session, stack);
    return true;
}

bool sort_key_open(struct session *session, const struct row_set *set,
                   const struct filter_colors *colors, struct sort_key *key,
                   struct session_error *error)
{
    *key = (struct sort_key){.field = set->sorted ? (enum filter_field)set->sort_field : FIELD_ID,
                             .column = COLUMN_ADDRESS,
                             .end_ns = session->duration_ns,
                             .descending = set->sorted && set->descending};
    switch (key->field) {
    case FIELD_ADDRESS:
    case FIELD_ID:
        return true;
    case FIELD_SIZE:
        key->column = COLUMN_SIZE;
        return true;
    case FIELD_COUNT:
        key->column = COLUMN_COUNT_OF_OBJECTS;
        return true;
    case FIELD_STACK:
        key->column = COLUMN_STACK;
        return true;
    case FIELD_FREE_STACK:
        key->column = COLUMN_FREE_STACK;
        return true;
    case FIELD_ALLOC_TIME:
        key->column = COLUMN_ALLOC_NS;
        return true;
    case FIELD_FREE_TIME:
    case FIELD_LIFETIME:
    case FIELD_FREED:
        key->column = COLUMN_LIFE_NS;
        return true;
    case FIELD_CROSSED:
        key->column = COLUMN_FREE_THREAD;
        return true;
    case FIELD_COLOR:
        key->column = COLUMN_SIZE;
        key->by_color[0] = SORT_KEY_NULL;
        for (size_t step = 1; step <= colors->count; step++)
            key->by_color[step] = (uint64_t)colors->step[step].number;
        return true;
    case FIELD_COLLECTED:
        return key_of_collected(session, key, error);
    case FIELD_LINE:
        return key_of_line(session, key, error);
    case FIELD_PINS:
    case FIELD_RESIDENT:
    case FIELD_REACHABILITY:
    case FIELD_RETAINED:
    case FIELD_REFERENCES:
    case FIELD_DOMINATOR: {
        const struct filter_live live = {.time = {.ns = set->sort_ns}, .end = set->sort_at_end};
        key->pins = pins_find(session, key->field, 0, &live, error);
        return key->pins != NULL;
    }
    default:
        return key_of_names(session, key, set->sort_frame, error);
    }
}

void sort_key_close(struct sort_key *key)
{
    free(key->rank);
    pins_free(key->pins);
}

/* ---- bounds ---- */

/* Returns true if the values of the key's column are the keys. */
static bool is_direct(const struct sort_key *key)
{
    return !key->rank && (key->field == FIELD_ADDRESS || key->field == FIELD_SIZE ||
                          key->field == FIELD_COUNT || key->field == FIELD_ALLOC_TIME);
}

static void order_bounds(const struct sort_key *key, uint64_t *low, uint64_t *high)
{
    const uint64_t first = *low;
    if (!key->descending)
        return;
    *low = SORT_KEY_NULL - 1 - *high;
    *high = SORT_KEY_NULL - 1 - first;
}

bool sort_key_chunk_bounds(const struct sort_key *key, const struct column_store *store,
                           uint32_t chunk, uint64_t *low, uint64_t *high)
{
    if (!is_direct(key))
        return false;
    *low = column_store_min(store, chunk, key->column);
    *high = column_store_max(store, chunk, key->column);
    if (*high == SORT_KEY_NULL)
        return false;
    order_bounds(key, low, high);
    return true;
}

void sort_key_bounds(const struct sort_key *key, const struct column_store *store, uint64_t *low,
                     uint64_t *high)
{
    const uint32_t chunks = column_store_chunks(store);
    uint64_t chunk_low, chunk_high;
    *low = SORT_KEY_NULL;
    *high = 0;
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        if (!sort_key_chunk_bounds(key, store, chunk, &chunk_low, &chunk_high))
            break;
        *low = chunk_low < *low ? chunk_low : *low;
        *high = chunk_high > *high ? chunk_high : *high;
        if (chunk + 1 == chunks)
            return;
    }
    uint64_t value = 0, begin = 0;
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        const uint64_t here = column_store_max(store, chunk, key->column);
        const uint64_t began = column_store_max(store, chunk, COLUMN_ALLOC_NS);
        value = here > value ? here : value;
        begin = began > begin ? began : begin;
    }
    *low = 0;
    *high = SORT_KEY_NULL - 1;
    if (key->rank)
        *high = key->ranks;
    else if (key->field == FIELD_ID)
        *high = column_store_rows(store);
    else if (key->field == FIELD_LIFETIME)
        *high = value > key->end_ns ? value : key->end_ns;
    else if (key->field == FIELD_FREE_TIME && value < SORT_KEY_NULL / 2 &&
             begin < SORT_KEY_NULL / 2)
        *high = begin + value;
    order_bounds(key, low, high);
}

/* ---- keys ---- */

bool sort_key_chunk(const struct sort_key *key, const struct row_set *set,
                    struct scan_worker *worker, uint32_t chunk, struct sort_key_chunk *columns,
                    struct session_error *error)
{
    *columns = (struct sort_key_chunk){.first_row = (uint64_t)chunk * COLUMN_CHUNK_ROWS};
    if (set->colors)
        columns->colors = set->colors + columns->first_row;
    if (key->field == FIELD_ID || key->pins || key->field == FIELD_COLOR)
        return true;
    if (!scan_column(worker, chunk, key->column, &columns->value, error))
        return false;
    if (key->field == FIELD_CROSSED)
        return scan_column(worker, chunk, COLUMN_THREAD, &columns->begin, error);
    return (key->field != FIELD_FREE_TIME && key->field != FIELD_LIFETIME) ||
           scan_column(worker, chunk, COLUMN_ALLOC_NS, &columns->begin, error);
}

static uint64_t computed_key(const struct sort_key *key, const struct sort_key_chunk *columns,
                             size_t row, uint64_t value, uint64_t began)
{
    switch (key->field) {
    case FIELD_ID:
        return columns->first_row + row;
    case FIELD_FREE_TIME:
        return value == 0 ? SORT_KEY_NULL : began + value - 1;
    case FIELD_LIFETIME:
        return value != 0 ? value - 1 : key->end_ns > began ? key->end_ns - began : 0;
    case FIELD_FREED:
        return value != 0;
    case FIELD_REACHABILITY:
        return pins_of(key->pins, columns->first_row + row, &value)
                   ? reachability_rank((enum reachability)value)
                   : SORT_KEY_NULL;
    case FIELD_PINS:
    case FIELD_RESIDENT:
    case FIELD_RETAINED:
    case FIELD_REFERENCES:
    case FIELD_DOMINATOR:
        return pins_of(key->pins, columns->first_row + row, &value) ? value : SORT_KEY_NULL;
    case FIELD_CROSSED:
        return value != 0 && value != began;
    case FIELD_STACK:
    case FIELD_FREE_STACK:
        return value == 0 ? SORT_KEY_NULL : value;
    case FIELD_COLOR:
        return key->by_color[columns->colors ? columns->colors[row] : 0];
    default:
        return value;
    }
}

void sort_key_take(const struct sort_key *key, const struct sort_key_chunk *columns,
                   const struct kernel_rows *rows, uint64_t *keys)
{
    uint64_t began[KERNEL_ROWS];
    const bool has_value = columns->value.rows > 0, has_begin = columns->begin.rows > 0;
    if (has_value)
        kernel_take(&columns->value, rows, keys);
    if (has_begin)
        kernel_take(&columns->begin, rows, began);
    if (key->rank) {
        for (size_t i = 0; i < rows->count; i++)
            keys[i] = key->rank[has_value ? keys[i] : 0];
    } else if (!is_direct(key)) {
        for (size_t i = 0; i < rows->count; i++)
            keys[i] = computed_key(key, columns, rows->first + rows->row[i],
                                   has_value ? keys[i] : 0, has_begin ? began[i] : 0);
    }
    for (size_t i = 0; key->descending && i < rows->count; i++)
        keys[i] = keys[i] == SORT_KEY_NULL ? SORT_KEY_NULL : SORT_KEY_NULL - 1 - keys[i];
}

enum { CANCEL_STEP = 1 << 17 };
/* Bits of a digit of keys. The table of the largest fits the processor's first caches. */
enum { DIGIT_BITS = 11, FEW_BITS = 8, FEW_ENTRIES = 1 << 14 };

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

/* The digits of keys: bits from `shift` on. */
struct digit {
    unsigned shift;
    uint64_t mask;
};

static size_t digit_of(struct digit digit, const struct sort_entry *entry)
{
    return (size_t)(entry->key >> digit.shift & digit.mask);
}

/* Returns the end of the entries from `first` on that may be worked on before the next look for a
 * cancel, 0 if there was one. */
static size_t step_end(const struct session *session, size_t first, size_t count)
{
    if (session && scan_cancelled(session))
        return 0;
    return count - first < CANCEL_STEP ? count : first + CANCEL_STEP;
}

/* Moves the entries to `spare`, in the order of a digit. Looks for a cancel now and then. */
static bool distribute(const struct session *session, const struct sort_entry *entries,
                       struct sort_entry *spare, size_t count, struct digit digit)
{
    size_t places[1 << DIGIT_BITS] = {0}, place = 0, end;
    for (size_t i = 0; i < count;) {
        if ((end = step_end(session, i, count)) == 0)
            return false;
        for (; i < end; i++)
            places[digit_of(digit, &entries[i])]++;
    }
    for (size_t value = 0; value <= digit.mask; value++) {
        const size_t here = places[value];
        places[value] = place;
        place += here;
    }
    for (size_t i = 0; i < count;) {
        if ((end = step_end(session, i, count)) == 0)
            return false;
        for (; i < end; i++)
            spare[places[digit_of(digit, &entries[i])]++] = entries[i];
    }
    return true;
}

/* Copies the entries. Looks for a cancel now and then. */
static bool copy_entries(const struct session *session, struct sort_entry *to,
                         const struct sort_entry *entries, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        if ((end = step_end(session, i, count)) == 0)
            return false;
        memcpy(to + i, entries + i, (end - i) * sizeof(*to));
    }
    return true;
}

/* Stores the bits in which keys differ. Looks for a cancel now and then. */
static bool find_differing(const struct session *session, const struct sort_entry *entries,
                           size_t count, uint64_t *differ)
{
    *differ = 0;
    for (size_t i = 0, end; i < count;) {
        if ((end = step_end(session, i, count)) == 0)
            return false;
        for (; i < end; i++)
            *differ |= entries[i].key ^ entries[0].key;
    }
    return true;
}

/* Sorts by the least significant digit first (Knuth, TAOCP 3, 5.2.5), from the lowest bit to the
 * highest one in which keys differ. Digits are as long as a few passes need, as the tables of few
 * entries must be short. */
static bool sort_by_digits(const struct session *session, struct sort_entry *entries,
                           struct sort_entry *spare, size_t count)
{
    struct sort_entry *const kept = entries;
    const unsigned most = count < FEW_ENTRIES ? FEW_BITS : DIGIT_BITS;
    uint64_t differ;
    if (!find_differing(session, entries, count, &differ))
        return false;
    if (differ == 0)
        return true;
    const unsigned first = (unsigned)__builtin_ctzll(differ);
    const unsigned end = 64 - (unsigned)__builtin_clzll(differ);
    const unsigned passes = (end - first + most - 1) / most;
    const unsigned bits = (end - first + passes - 1) / passes;
    for (unsigned pass = 0; pass < passes; pass++) {
        const struct digit digit = {first + pass * bits, (UINT64_C(1) << bits) - 1};
        if (!distribute(session, entries, spare, count, digit))
            return false;
        struct sort_entry *swap = entries;
        entries = spare;
        spare = swap;
    }
    return entries == kept || copy_entries(session, kept, entries, count);
}

bool sort_entries(struct sort_entry *entries, size_t count)
{
    return sort_entries_of(NULL, entries, count, NULL);
}

bool sort_entries_of(const struct session *session, struct sort_entry *entries, size_t count,
                     struct session_error *error)
{
    struct sort_entry *spare = large_memory((count + 1) * sizeof(*spare));
    if (!spare)
        return session_fail_memory(error, "a sort");
    const bool good = sort_by_digits(session, entries, spare, count);
    free(spare);
    return good || scan_go_on(session, error);
}

/* Keeps the first `limit` rows in `entries`, as a heap once it is full. */
static void offer(struct sort_entry *entries, size_t *count, size_t limit, struct sort_entry entry)
{
    if (*count < limit) {
        entries[(*count)++] = entry;
        if (*count == limit)
            for (size_t i = limit / 2; i-- > 0;)
                sift_down(entries, limit, i);
    } else if (limit > 0 && after(&entries[0], &entry)) {
        entries[0] = entry;
        sift_down(entries, limit, 0);
    }
}

/* The part of a sort that all threads read. */
struct sorting {
    struct session *session;
    const struct row_set *set;
    const struct sort_key *key;
    struct sort_entry *entries; /* all rows, those of a chunk from before[chunk] on; NULL: heaps */
    size_t *before, limit;
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
    struct sort_key_chunk columns;
    struct kernel_rows rows;
    uint64_t keys[KERNEL_ROWS];
    if (row_set_chunk_empty(set, chunk))
        return true;
    if (!sort_key_chunk(sorting->key, set, worker, chunk, &columns, error))
        return false;
    size_t next = sorting->entries ? sorting->before[chunk] : 0;
    KERNEL_EACH_BATCH(row_set_chunk(set, chunk), &rows)
    {
        sort_key_take(sorting->key, &columns, &rows, keys);
        for (size_t i = 0; i < rows.count; i++) {
            const struct sort_entry entry = {keys[i], columns.first_row + rows.first + rows.row[i]};
            if (sorting->entries)
                sorting->entries[next++] = entry;
            else
                offer(heap->entries, &heap->count, sorting->limit, entry);
        }
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
    *entries = large_memory((selected + 1) * sizeof(**entries));
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
    struct sort_key key;
    struct sorting sorting = {.session = session, .set = set, .key = &key, .limit = limit};
    *count = 0;
    *entries = NULL;
    bool good = sort_key_open(session, set, colors, &key, error);
    /* If `limit` is large, sorting all rows is cheaper than keeping heaps. */
    if (limit <= SORT_FEW)
        good = good && find_first(&sorting, entries, count, error);
    else
        good = good && find_all(&sorting, entries, count, error);
    sort_key_close(&key);
    if (!good) {
        free(*entries);
        *entries = NULL;
    }
    return good;
}
