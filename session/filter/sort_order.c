/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/sort_order.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/field_names.h"

enum { HEAP_MAX = 65536 };
#define KEY_NULL UINT64_MAX

/* The way to compute a row's key. */
struct key_source {
    enum filter_field field;
    uint32_t frame; /* of FIELD_FRAME */
    enum column column;
    uint64_t *rank; /* by the column's value; NULL: the value itself is the key */
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
    case FIELD_COLOR:
        source->column = COLUMN_SIZE;
        source->by_color[0] = KEY_NULL;
        for (size_t step = 1; step <= colors->count; step++)
            source->by_color[step] = (uint64_t)colors->step[step].number;
        return true;
    case FIELD_LINE:
        return source_of_line(session, source, error);
    default:
        return source_of_names(session, source, error);
    }
}

/* The views of one chunk that give the keys. */
struct key_views {
    struct column_view value, begin;
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

/* Sorts by the least significant byte first and skips bytes that are the same in all keys. */
bool sort_entries(struct sort_entry *entries, size_t count)
{
    struct sort_entry *other = malloc((count + 1) * sizeof(*other));
    struct sort_entry *const kept = entries;
    if (!other)
        return false;
    struct sort_entry *spare = other;
    size_t histogram[8][256] = {{0}};
    for (size_t i = 0; i < count; i++) {
        for (unsigned byte = 0; byte < 8; byte++)
            histogram[byte][entries[i].key >> (8 * byte) & 0xff]++;
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t *places = histogram[shift / 8];
        if (count == 0 || places[entries[0].key >> shift & 0xff] == count)
            continue;
        size_t place = 0;
        for (unsigned byte = 0; byte < 256; byte++) {
            size_t here = places[byte];
            places[byte] = place;
            place += here;
        }
        for (size_t i = 0; i < count; i++)
            spare[places[entries[i].key >> shift & 0xff]++] = entries[i];
        struct sort_entry *swap = entries;
        entries = spare;
        spare = swap;
    }
    if (entries != kept)
        memcpy(kept, entries, count * sizeof(*kept));
    free(other);
    return true;
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

static bool collect(struct session *session, const struct row_set *set,
                    const struct key_source *source, struct sort_entry *entries, size_t *count,
                    size_t limit, struct session_error *error)
{
    for (uint32_t chunk = 0; chunk < set->chunks; chunk++) {
        struct key_views views = {.first_row = (uint64_t)chunk * COLUMN_CHUNK_ROWS,
                                  .end_ns = session->duration_ns};
        if (row_set_chunk_count(set, chunk) == 0)
            continue;
        if (set->colors)
            views.colors = set->colors + views.first_row;
        if (!column_reader_get(session->reader, chunk, source->column, &views.value, error) ||
            !column_reader_get(session->reader, chunk, COLUMN_ALLOC_NS, &views.begin, error))
            return false;
        ROW_SET_EACH(row_set_chunk(set, chunk), row)
        {
            struct sort_entry entry = {views.first_row + row, views.first_row + row};
            if (set->sorted)
                entry.key = row_key(source, &views, row);
            offer(entries, count, limit, entry);
        }
    }
    return true;
}

bool sort_order_rows(struct session *session, const struct row_set *set,
                     const struct filter_colors *colors, uint64_t limit,
                     struct sort_entry **entries, size_t *count, struct session_error *error)
{
    struct key_source source = {.field = FIELD_ID, .column = COLUMN_ADDRESS};
    size_t selected = 0;
    for (uint32_t chunk = 0; chunk < set->chunks; chunk++)
        selected += row_set_chunk_count(set, chunk);
    /* If `limit` is large, sorting all rows is cheaper than keeping a heap. */
    bool heap = limit < selected && limit <= HEAP_MAX;
    size_t kept = heap ? (size_t)limit : selected;
    *count = 0;
    *entries = malloc((kept + 1) * sizeof(**entries));
    if (!*entries)
        return session_fail_memory(error, "the sort order");
    bool good = !set->sorted || source_open(session, set, colors, &source, error);
    good = good && collect(session, set, &source, *entries, count, heap ? kept : SIZE_MAX, error);
    if (good && heap)
        qsort(*entries, *count, sizeof(**entries), compare_entries);
    else if (good)
        good = sort_entries(*entries, *count) || session_fail_memory(error, "the sort order");
    if (good && *count > limit)
        *count = (size_t)limit;
    free(source.rank);
    if (!good) {
        free(*entries);
        *entries = NULL;
    }
    return good;
}
