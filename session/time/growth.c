/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums up the growth between two moments in one pass: the code of a block (type or stack) leads to
 * the place of its row in the thread's table. */
#include "schemas/array.h"
#include "schemas/slot_codec.h"
#include "session/time.h"

#include <stdlib.h>
#include <string.h>

#include "session/store/error.h"
#include "session/store/kernels.h"
#include "session/store/session_state.h"
#include "session/store/user.h"
#include "session/table/selection_state.h"

#define SIZE_IDS 65u
#define CONTEXTS_MOST ((size_t)128 << 20)

/* The sums of one thread, by the id of a row. */
struct growing {
    uint64_t from, to;
    enum column column;
    const uint32_t *ids; /* by code; NULL: by size */
    struct session_growth sums[];
};

static void add(struct session_growth_sum *sum, uint64_t bytes, uint64_t count)
{
    sum->bytes += bytes;
    sum->count += count;
}

static uint32_t size_id(uint64_t size)
{
    const uint32_t class = slot_size_class(size);
    return class < SESSION_SMALLEST_SIZE ? SESSION_SMALLEST_SIZE : class;
}

static void add_rows(void *context, const struct chunk_rows *rows)
{
    struct growing *growing = context;
    const uint64_t from = growing->from, to = growing->to;
    struct kernel_rows batch;
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS], code[KERNEL_ROWS];
    uint64_t bytes[KERNEL_ROWS], counts[KERNEL_ROWS];
    KERNEL_EACH_BATCH(rows->words, &batch)
    {
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &batch, began);
        kernel_take(&rows->views[COLUMN_LIFE_NS], &batch, life);
        kernel_take(&rows->views[growing->column], &batch, code);
        kernel_take(&rows->bytes, &batch, bytes);
        kernel_take(&rows->counts, &batch, counts);
        for (size_t i = 0; i < batch.count; i++) {
            /* Life 0 means never freed: the end is then the largest number. */
            const uint64_t end = life[i] == 0 ? UINT64_MAX : began[i] + life[i] - 1;
            struct session_growth *sum =
                &growing->sums[growing->ids ? growing->ids[code[i]] : size_id(code[i])];
            if (began[i] > to || end <= from)
                continue;
            if (began[i] <= from)
                add(&sum->before, bytes[i], counts[i]);
            else
                add(&sum->allocated, bytes[i], counts[i]);
            if (end <= to)
                add(&sum->freed, bytes[i], counts[i]);
            else
                add(&sum->after, bytes[i], counts[i]);
            if (began[i] > from && end > to)
                add(&sum->born, bytes[i], counts[i]);
        }
    }
}

static bool is_wanted(const void *context, const struct column_store *store, uint32_t chunk)
{
    const struct growing *growing = context;
    return column_store_min(store, chunk, COLUMN_ALLOC_NS) <= growing->to &&
           column_store_last_free(store, chunk) > growing->from;
}

static void merge(struct session_growth *to, const struct session_growth *from)
{
    add(&to->before, from->before.bytes, from->before.count);
    add(&to->after, from->after.bytes, from->after.count);
    add(&to->allocated, from->allocated.bytes, from->allocated.count);
    add(&to->freed, from->freed.bytes, from->freed.count);
    add(&to->born, from->born.bytes, from->born.count);
}

/* The rows to which the sums of codes go. Sizes have no codes. */
struct mapping {
    enum session_growth_by by;
    uint32_t *ids; /* by code */
    uint32_t codes, count;
};

static bool open_mapping(struct session *session, enum session_growth_by by,
                         struct mapping *mapping, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    const bool by_type = by == SESSION_GROWTH_TYPE;
    const uint32_t *frames = NULL; /* the user's, by stack */
    *mapping = (struct mapping){.by = by, .count = SIZE_IDS};
    if (by == SESSION_GROWTH_SIZE)
        return true;
    mapping->codes = by_type ? session->names.type.count : stacks->count;
    mapping->count =
        by_type || by == SESSION_GROWTH_STACK ? mapping->codes : session->names.function_count;
    if (by == SESSION_GROWTH_USER && !user_frames(session, &frames, error))
        return false;
    if (!(mapping->ids = malloc(((size_t)mapping->codes + 1) * sizeof(*mapping->ids))))
        return session_fail_memory(error, "the growth");
    for (uint32_t code = 0; code < mapping->codes; code++)
        mapping->ids[code] = by_type                         ? session->names.type_first[code]
                             : by == SESSION_GROWTH_FUNCTION ? stacks->function[code]
                             : frames ? stacks->frame_table[frames[code]].function
                                      : code;
    return true;
}

int64_t session_growth_net(const struct session_growth *row)
{
    const uint64_t after = row->after.bytes, before = row->before.bytes, most = INT64_MAX;
    if (after >= before)
        return (int64_t)(after - before < most ? after - before : most);
    return -(int64_t)(before - after < most ? before - after : most);
}

static int by_id(const struct session_growth *a, const struct session_growth *b)
{
    return ORDER(a->id, b->id);
}

static int by_net(const void *left, const void *right)
{
    const struct session_growth *a = left, *b = right;
    const int64_t net_a = session_growth_net(a), net_b = session_growth_net(b);
    return ORDER(net_b, net_a) ?: by_id(a, b);
}

static int by_name(const void *left, const void *right, void *context)
{
    const struct session_growth *a = left, *b = right;
    /* 0 is not a function, whatever its name. */
    if (a->id == 0 || b->id == 0)
        return by_id(a, b);
    const int order =
        strcmp(session_function_name(context, a->id), session_function_name(context, b->id));
    return order != 0 ? order : by_id(a, b);
}

/* Merges the rows of functions that have one name into the first of them, as the filter language
 * takes such functions for one. Returns how many rows are left. */
static size_t merge_functions(struct session *session, struct session_growth *rows, size_t count)
{
    size_t used = 0;
    qsort_r(rows, count, sizeof(*rows), by_name, session);
    for (size_t i = 0; i < count; i++)
        if (used > 0 && rows[used - 1].id != 0 &&
            strcmp(session_function_name(session, rows[used - 1].id),
                   session_function_name(session, rows[i].id)) == 0)
            merge(&rows[used - 1], &rows[i]);
        else
            rows[used++] = rows[i];
    return used;
}

/* Merges the threads' sums into rows by id. Returns them, packed and sorted, or NULL. */
static struct session_growth *make_rows(struct session *session,
                                        const struct scan_contexts *contexts,
                                        const struct mapping *mapping, size_t *count,
                                        struct session_growth *total)
{
    struct session_growth *rows = calloc((size_t)mapping->count + 1, sizeof(*rows));
    size_t used = 0;
    if (!rows)
        return NULL;
    for (size_t thread = 0; thread < contexts->threads; thread++) {
        const struct growing *growing = contexts->each[thread];
        for (uint32_t id = 0; id < mapping->count; id++)
            merge(&rows[id], &growing->sums[id]);
    }
    for (uint32_t id = 0; id < mapping->count; id++) {
        const struct session_growth row = rows[id];
        if (row.before.count == 0 && row.allocated.count == 0)
            continue;
        if (total)
            merge(total, &row);
        rows[used] = row;
        rows[used++].id = id;
    }
    if (mapping->by == SESSION_GROWTH_FUNCTION || mapping->by == SESSION_GROWTH_USER)
        used = merge_functions(session, rows, used);
    qsort(rows, used, sizeof(*rows), by_net);
    *count = used;
    return rows;
}

bool selection_growth(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                      enum session_growth_by by, struct session_growth **rows, size_t *count,
                      struct session_growth *total, struct session_error *error)
{
    struct session *session = selection->session;
    struct scan_contexts contexts;
    struct mapping mapping;
    *rows = NULL;
    *count = 0;
    if (total)
        *total = (struct session_growth){.id = 0};
    if (from_ns > to_ns)
        return session_fail(error, 0, "growth needs a first moment that is not after the second");
    if (!open_mapping(session, by, &mapping, error))
        return false;
    const size_t size =
        sizeof(struct growing) + ((size_t)mapping.count + 1) * sizeof(struct session_growth);
    if (!scan_contexts_open(session, &contexts, size, CONTEXTS_MOST, error)) {
        free(mapping.ids);
        return false;
    }
    const enum column column = by == SESSION_GROWTH_TYPE   ? COLUMN_TYPE
                               : by == SESSION_GROWTH_SIZE ? COLUMN_SIZE
                                                           : COLUMN_STACK;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct growing *growing = contexts.each[i];
        growing->from = from_ns;
        growing->to = to_ns < UINT64_MAX ? to_ns : UINT64_MAX - 1;
        growing->column = column;
        growing->ids = mapping.ids;
    }
    bool good = scan_wanted_chunks(session, &selection->set,
                                   COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS) |
                                       COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(column),
                                   is_wanted, add_rows, contexts.each, contexts.threads, error);
    if (good)
        *rows = make_rows(session, &contexts, &mapping, count, total);
    if (good && !*rows)
        good = session_fail_memory(error, "the growth");
    scan_contexts_close(&contexts);
    free(mapping.ids);
    return good;
}
