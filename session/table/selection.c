/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes selections from filters, counts them, and reads them row by row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/filter/sort_order.h"
#include "session/store/error.h"
#include "session/store/kernels.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/table/group_set.h"
#include "session/table/part.h"
#include "session/table/selection_state.h"

/* The sums of one thread. */
struct summing {
    const struct row_set *set;
    struct row_totals totals;
};

/* Adds the rows of a sample, each of which represents a number of blocks. */
static void add_sampled(void *context, const struct chunk_rows *rows)
{
    struct row_totals *totals = &((struct summing *)context)->totals;
    struct kernel_rows batch;
    uint64_t bytes[KERNEL_ROWS], counts[KERNEL_ROWS], lives[KERNEL_ROWS];
    KERNEL_EACH_BATCH(rows->words, &batch)
    {
        kernel_take(&rows->bytes, &batch, bytes);
        kernel_take(&rows->counts, &batch, counts);
        kernel_take(&rows->views[COLUMN_LIFE_NS], &batch, lives);
        totals->bytes += kernel_sum(bytes, batch.count);
        totals->allocations += kernel_sum(counts, batch.count);
        totals->live_bytes += kernel_sum_of_zero(bytes, lives, batch.count);
        totals->live_count += kernel_sum_of_zero(counts, lives, batch.count);
    }
}

static bool add_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct summing *summing = context;
    return row_totals_add(&summing->totals, worker, chunk, row_set_chunk(summing->set, chunk),
                          error);
}

static void set_totals(struct selection *selection, const struct row_totals *totals)
{
    selection->bytes = totals->bytes;
    selection->allocations = totals->allocations;
    selection->live_bytes = totals->live_bytes;
    selection->live_count = totals->live_count;
}

static bool find_totals(struct selection *selection, struct session_error *error)
{
    struct session *session = selection->session;
    struct scan_contexts contexts;
    struct row_totals all = {.bytes = 0};
    if (selection->everything && summary_answers(session)) {
        selection->bytes = (uint64_t)session_meta_number(session, "bytes_allocated");
        selection->allocations = (uint64_t)session_meta_number(session, "allocations");
        selection->live_bytes = (uint64_t)session_meta_number(session, "live_bytes_end");
        selection->live_count = (uint64_t)session_meta_number(session, "live_count_end");
        return true;
    }
    if (!scan_contexts_open(session, &contexts, sizeof(struct summing), SIZE_MAX, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct summing *)contexts.each[i])->set = &selection->set;
    const bool good = session->estimate
                          ? scan_each_chunk(session, &selection->set,
                                            COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_LIFE_NS),
                                            add_sampled, contexts.each, contexts.threads, error)
                          : scan_chunks(session, selection->set.chunks, add_chunk, contexts.each,
                                        contexts.threads, error);
    for (size_t i = 0; i < contexts.threads; i++)
        row_totals_merge(&all, &((const struct summing *)contexts.each[i])->totals);
    set_totals(selection, &all);
    scan_contexts_close(&contexts);
    return good;
}

/* Counts the rows of the selection's set. `totals`: theirs, NULL: not known yet. */
static bool count_rows(struct selection *selection, const struct row_totals *totals,
                       struct session_error *error)
{
    selection->before = row_set_counts(&selection->set, error);
    if (!selection->before)
        return false;
    if (!totals)
        return find_totals(selection, error);
    set_totals(selection, totals);
    return true;
}

struct selection *selection_of_set(struct session *session, struct row_set *set,
                                   const struct filter_colors *colors, bool everything,
                                   const struct row_totals *totals, struct session_error *error)
{
    struct selection *selection = calloc(1, sizeof(*selection));
    if (!selection) {
        row_set_free(set);
        session_fail_memory(error, "a selection");
        return NULL;
    }
    selection->session = session;
    selection->set = *set;
    *set = (struct row_set){.words = NULL};
    selection->colors = *colors;
    selection->everything = everything;
    selection->chosen_from = session_allocation_count(session);
    atomic_init(&selection->owners, 1);
    if (!count_rows(selection, totals, error)) {
        selection_free(selection);
        return NULL;
    }
    return selection;
}

struct selection *selection_share(struct selection *selection)
{
    atomic_fetch_add(&selection->owners, 1);
    return selection;
}

/* A stacked selection has no stacked one itself. */
/* NOLINTNEXTLINE(misc-no-recursion) */
void selection_free(struct selection *selection)
{
    if (!selection || atomic_fetch_sub(&selection->owners, 1) > 1)
        return;
    row_set_free(&selection->set);
    for (int by = 0; by < COLOR_BY_TOTAL; by++)
        color_map_free(selection->maps[by]);
    FREE_ALL(selection->before, selection->warnings, selection->order, selection->stack_sums,
             selection->slots);
    for (size_t i = 0; i < SELECTION_PARTS; i++)
        free(selection->parts[i]);
    FREE_ALL(selection->graph, selection->grid_colors, selection->stacked_by);
    selection_free(selection->stacked);
    free(selection);
}

uint64_t selection_count(const struct selection *selection)
{
    return selection->before[selection->set.chunks];
}

size_t selection_warnings(const struct selection *selection,
                          const struct session_warning **warnings)
{
    *warnings = selection->warnings ? selection->warnings->list : NULL;
    return selection->warnings ? selection->warnings->count : 0;
}

uint64_t selection_chosen_from(const struct selection *selection)
{
    return selection->chosen_from;
}

uint64_t selection_allocations(const struct selection *selection)
{
    return selection->allocations;
}

uint64_t selection_bytes(const struct selection *selection)
{
    return selection->bytes;
}

uint64_t selection_live_bytes(const struct selection *selection)
{
    return selection->live_bytes;
}

uint64_t selection_live_count(const struct selection *selection)
{
    return selection->live_count;
}

enum session_color_by selection_color_by(const struct selection *selection)
{
    return selection->color_by;
}

bool selection_contains(const struct selection *selection, uint64_t id)
{
    if (id == 0 || id > column_store_rows(selection->session->columns))
        return false;
    return row_set_has(selection->set.words, id - 1);
}

/* Finds the n-th set bit: the chunk by the count before it, then the word, then the bit. */
uint64_t selection_nth_row(const struct selection *selection, uint64_t n)
{
    uint32_t low = 0, high = selection->set.chunks - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (selection->before[middle] <= n)
            low = middle;
        else
            high = middle - 1;
    }
    const uint64_t *words = row_set_chunk(&selection->set, low);
    uint64_t left = n - selection->before[low];
    size_t word = 0;
    while ((uint64_t)__builtin_popcountll(words[word]) <= left)
        left -= (uint64_t)__builtin_popcountll(words[word++]);
    uint64_t bits = words[word];
    while (left-- > 0)
        bits &= bits - 1;
    return (uint64_t)low * COLUMN_CHUNK_ROWS + word * 64 + (uint64_t)__builtin_ctzll(bits);
}

/* Finds the order of the rows up to number `n`, or of all if that is far. */
static bool find_order(struct selection *selection, uint64_t n, struct session_error *error)
{
    struct sort_entry *entries;
    size_t count;
    if (n < selection->ordered)
        return true;
    if (!sort_order_rows(selection->session, &selection->set, &selection->colors,
                         n < SORT_FEW ? SORT_FEW : UINT64_MAX, &entries, &count, error))
        return false;
    uint64_t *order = malloc((count + 1) * sizeof(*order));
    for (size_t i = 0; order && i < count; i++)
        order[i] = entries[i].row;
    free(entries);
    if (!order)
        return session_fail_memory(error, "the sort order");
    free(selection->order);
    selection->order = order;
    selection->ordered = count;
    return true;
}

bool selection_row(struct selection *selection, uint64_t n, struct session_allocation *allocation)
{
    if (!selection || n >= selection_count(selection))
        return false;
    if (selection->set.sorted && !find_order(selection, n, NULL))
        return false;
    uint64_t row = selection->set.sorted ? selection->order[n] : selection_nth_row(selection, n);
    return session_allocation(selection->session, row + 1, allocation, NULL);
}

bool selection_write(struct selection *selection, const char *graph, const char *path,
                     struct session_error *error)
{
    return part_write(selection->session, &selection->set, graph, path, error);
}

/* ---- joins ---- */

struct filter_graph *fields_parse(const char *by, struct session_error *error)
{
    static const char before[] = "all | join ";
    struct filter_graph *graph = NULL;
    char *text = NULL;
    if (strchr(by, '|'))
        return session_fail_null(error, (int)(strchr(by, '|') - by) + 1,
                                 "only fields stack, not steps");
    if (asprintf(&text, "%s%s", before, by) < 0)
        return session_fail_memory_null(error, "the fields of a join");
    graph = filter_parse(text, error);
    if (!graph && error && error->column >= (int)sizeof(before))
        error->column -= (int)sizeof(before) - 1;
    free(text);
    return graph;
}

struct session_group_set *selection_join(const struct selection *selection, const char *fields,
                                         const struct sums_query *also, struct session_error *error)
{
    struct session_group_set *groups = NULL;
    struct row_set rows = {.words = NULL};
    struct filter_graph *graph = fields_parse(fields, error);
    if (graph && row_set_start(&rows, selection->session->columns, false, error) &&
        (!selection->set.colors || row_set_color(&rows, error)) &&
        row_set_combine(&rows, ROW_SET_PLUS, &selection->set, error)) {
        const struct filter_pipeline *pipeline = filter_graph_pipeline(graph);
        groups = group_join(selection->session, &rows, &selection->colors, pipeline->keys,
                            pipeline->key_count, also, error);
    }
    row_set_free(&rows);
    filter_graph_free(graph);
    return groups;
}
