/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums a selection by stack. Without a split and for the usual sums, those of stack_sums.c are
 * there already, or those that ingest stored. Otherwise the stacks and what they are split by make
 * a join (session/group), whose groups are the rows.
 */
#include "session/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_state.h"
#include "session/query/selection_state.h"
#include "session/query/stored_stacks.h"
#include "session/query/tree_sums.h"
#include "session/scan/large_memory.h"
#include "session/summary/summary.h"

/* ---- sums of the selection ---- */

static bool selected_stacks(struct selection *selection, bool at_peak,
                            struct session_stack_sums **rows, size_t *count,
                            struct session_error *error)
{
    const struct stack_sum *sums = selection_stack_sums(selection, error);
    const uint32_t stacks = selection->session->stacks.count;
    size_t used = 0;
    if (!sums)
        return false;
    for (uint32_t stack = 0; stack < stacks; stack++)
        used += sums[stack].count > 0;
    *rows = large_memory((used + 1) * sizeof(**rows));
    if (!*rows)
        return session_fail_memory(error, "the sums by stack");
    *count = 0;
    for (uint32_t stack = 0; stack < stacks; stack++) {
        const struct stack_sum *sum = &sums[stack];
        if (sum->count == 0)
            continue;
        (*rows)[(*count)++] =
            (struct session_stack_sums){.stack = stack,
                                        .allocations = sum->count,
                                        .bytes = sum->bytes,
                                        .live_count = sum->live_count,
                                        .live_bytes = sum->live_bytes,
                                        .at_peak_count = at_peak ? sum->at_peak_count : 0,
                                        .at_peak_bytes = at_peak ? sum->at_peak_bytes : 0,
                                        .short_count = sum->short_lived};
    }
    return true;
}

/* ---- joins ---- */

/* The keys of a join: the stack, and what it is split by. */
static const struct {
    unsigned bit;
    enum filter_field field;
} splits[] = {
    {STACKS_BY_TYPE, FIELD_TYPE},       {STACKS_BY_THREAD, FIELD_THREAD},
    {STACKS_BY_ARENA, FIELD_ARENA},     {STACKS_BY_SIZE, FIELD_SIZE},
    {STACKS_BY_PROCESS, FIELD_PROCESS},
};
enum { SPLITS = sizeof(splits) / sizeof(splits[0]) };

/* Makes the groups. Only the search for their own peaks needs their order. */
static struct session_group_set *join_stacks(struct selection *selection,
                                             const struct session_stacks_options *options,
                                             struct session_error *error)
{
    struct filter_field_use keys[SPLITS + 1] = {{.field = FIELD_STACK}};
    size_t count = 1;
    struct row_set all, set;
    for (size_t i = 0; i < SPLITS; i++) {
        if ((options->split & splits[i].bit) != 0)
            keys[count++].field = splits[i].field;
    }
    if (!row_set_start(&set, selection->session->columns, false, error))
        return NULL;
    all = selection->set;
    memcpy(set.words, all.words, (size_t)set.chunks * ROW_SET_WORDS * sizeof(*set.words));
    return options->own_peaks
               ? group_join(selection->session, &set, &selection->colors, keys, count, error)
               : group_join_plain(selection->session, &set, &selection->colors, keys, count, error);
}

/* Stores what a group is: its stack and the values of what it is split by. */
static void take_keys(const struct session_group_set *set, uint32_t group,
                      struct session_stack_sums *sums)
{
    const struct names *names = &set->session->names;
    for (size_t i = 0; i < set->keys.part_count; i++) {
        const struct group_part *part = &set->keys.parts[i];
        const uint64_t value = group_value(set, group, part->dimension);
        switch (part->field) {
        case FIELD_STACK:
            sums->stack = (uint32_t)value;
            break;
        case FIELD_TYPE:
            sums->type = (uint32_t)value;
            break;
        case FIELD_THREAD:
            sums->thread = (uint32_t)value;
            break;
        case FIELD_ARENA:
            sums->arena = (uint32_t)value;
            break;
        case FIELD_PROCESS:
            sums->process = names->thread_process[value];
            break;
        default:
            sums->size = value;
        }
    }
}

#define COMPARE(field)                                                                             \
    if (a->field != b->field)                                                                      \
    return a->field < b->field ? -1 : 1

static int compare_rows(const void *left, const void *right)
{
    const struct session_stack_sums *a = left, *b = right;
    COMPARE(stack);
    COMPARE(type);
    COMPARE(thread);
    COMPARE(arena);
    COMPARE(process);
    COMPARE(size);
    return 0;
}

static void take_moments(const struct group_moments *moments,
                         const struct session_stacks_options *options,
                         struct session_stack_sums *sums)
{
    sums->live_count = moments->live_count;
    sums->live_bytes = moments->live_bytes;
    sums->short_count = moments->short_count;
    if (options->at_peak) {
        sums->at_peak_count = moments->at_peak_count;
        sums->at_peak_bytes = moments->at_peak_bytes;
    }
    if (options->at) {
        sums->at_count = moments->at_count;
        sums->at_bytes = moments->at_bytes;
    }
    if (options->lifetimes)
        sums->lifetime_ns = moments->lifetime_ns;
}

static bool joined_stacks(struct selection *selection, const struct session_stacks_options *options,
                          struct session_stack_sums **rows, size_t *count,
                          struct session_error *error)
{
    struct session_group_set *set = join_stacks(selection, options, error);
    struct group_moments *moments = NULL;
    struct group_own_peak *peaks = NULL;
    bool good = set && group_find_moments(set, options->at_ns, &moments, error) &&
                (!options->own_peaks || group_find_own_peaks(set, &peaks, error));
    if (good) {
        *rows = calloc(set->made + 1, sizeof(**rows));
        good = *rows || session_fail_memory(error, "the sums by stack");
    }
    for (uint32_t group = 0; good && group < set->made; group++) {
        struct session_stack_sums *sums = &(*rows)[group];
        take_keys(set, group, sums);
        sums->allocations = set->sums[group].allocations;
        sums->bytes = set->sums[group].bytes;
        take_moments(&moments[group], options, sums);
        if (peaks) {
            sums->own_peak_bytes = peaks[group].bytes;
            sums->own_peak_count = peaks[group].count;
        }
    }
    if (good) {
        *count = set->made;
        qsort(*rows, *count, sizeof(**rows), compare_rows);
    }
    free(moments);
    free(peaks);
    session_groups_free(set);
    return good;
}

bool selection_stacks(struct selection *selection, const struct session_stacks_options *options,
                      struct session_stack_sums **rows, size_t *count, struct session_error *error)
{
    struct session *session = selection->session;
    /* The sums by stack do not know machines. */
    const bool usual = options->split == 0 && !options->at && !options->own_peaks &&
                       !options->lifetimes && session->names.machines == 1;
    bool known = false;
    if (usual && options->without_short && !selection->stack_sums && selection->everything &&
        summary_answers(session) &&
        !stored_stacks(selection, options->at_peak, &known, rows, count, error))
        return false;
    if (known)
        return true;
    if (usual)
        return selected_stacks(selection, options->at_peak, rows, count, error);
    return joined_stacks(selection, options, rows, count, error);
}

/* ---- functions -------------------------------------------------------------------------- */

struct at_peak {
    const struct stacks *stacks;
    uint64_t *bytes;
    uint32_t *open; /* by function: nodes that were entered and not left yet */
};

static void enter(void *context, uint32_t node)
{
    const struct at_peak *at_peak = context;
    at_peak->open[stacks_function(at_peak->stacks, node)]++;
}

static void leave(void *context, uint32_t node, const struct stack_sum *sum)
{
    const struct at_peak *at_peak = context;
    const uint32_t function = stacks_function(at_peak->stacks, node);
    if (--at_peak->open[function] == 0)
        at_peak->bytes[function] += sum->at_peak_bytes;
}

/* Adds the bytes of the rows to the functions on their stacks. */
static bool add_to_functions(const struct session *session, const struct session_stack_sums *rows,
                             size_t count, uint64_t *bytes, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    struct at_peak at_peak = {stacks, bytes,
                              calloc(session->names.function_count, sizeof(uint32_t))};
    const struct tree_visitor visitor = {enter, leave, &at_peak};
    struct stack_sum *sums = calloc(stacks->count, sizeof(*sums));
    bool good = (at_peak.open && sums) || session_fail_memory(error, "the functions");
    for (size_t i = 0; good && i < count; i++) {
        sums[rows[i].stack].at_peak_bytes = rows[i].at_peak_bytes;
        /* Without frames the blocks still belong to their call site, even if that is "none". */
        if (stacks_node(stacks, rows[i].stack) == 0)
            bytes[stacks->function[rows[i].stack]] += rows[i].at_peak_bytes;
    }
    good = good && tree_sums_visit(session, sums, &visitor, error);
    free(at_peak.open);
    free(sums);
    return good;
}

bool selection_functions_at_peak(struct selection *selection, uint64_t **bytes, size_t *count,
                                 struct session_error *error)
{
    const struct session_stacks_options options = {.at_peak = true, .without_short = true};
    struct session *session = selection->session;
    struct session_stack_sums *rows;
    size_t row_count;
    if (!selection_stacks(selection, &options, &rows, &row_count, error))
        return false;
    *count = session->names.function_count;
    *bytes = calloc(*count, sizeof(**bytes));
    const bool good = (*bytes || session_fail_memory(error, "the functions")) &&
                      stacks_frames(&session->stacks, error) &&
                      add_to_functions(session, rows, row_count, *bytes, error);
    free(rows);
    if (!good) {
        free(*bytes);
        *bytes = NULL;
    }
    return good;
}
