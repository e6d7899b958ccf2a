/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums a selection by stack. Without a split and for the usual sums, those of stack_sums.c are
 * there already, or those that ingest stored. Otherwise the stacks and what they are split by make
 * a join (session/group), whose groups are the rows.
 */
#include <stdlib.h>
#include <string.h>

#include "schemas/packed_array.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_state.h"
#include "session/query/selection_state.h"
#include "session/query/tree_sums.h"
#include "session/scan/large_memory.h"
#include "session/stacks.h"
#include "session/summary/summary.h"
#include "stack_sums_sql.h"

/* ---- stored sums ------------------------------------------------------------------------ */

enum { STACKS_PER_LOOK = 1 << 17 };

struct stored {
    const struct session *session;
    struct session_stack_sums *rows;
    size_t count;
    uint64_t allocations;
    bool at_peak;
};

static bool read_stored(void *context, const struct database_row *row, struct session_error *error)
{
    struct stored *stored = context;
    const struct session *session = stored->session;
    uint64_t number[7];
    for (int i = 0; i < 7; i++) {
        if (!database_natural(session->database, row, i, "stack", &number[i], error))
            return false;
    }
    /* The sum of allocations will show that one is missing. */
    if (number[0] >= session->stacks.count || stored->count == session->stacks.count)
        return true;
    struct session_stack_sums *sums = &stored->rows[stored->count++];
    *sums = (struct session_stack_sums){.stack = (uint32_t)number[0],
                                        .allocations = number[1],
                                        .bytes = number[2],
                                        .live_count = number[3],
                                        .live_bytes = number[4]};
    if (stored->at_peak) {
        sums->at_peak_count = number[5];
        sums->at_peak_bytes = number[6];
    }
    stored->allocations += number[1];
    return true;
}

/* The packed arrays of the sums by stack (schemas/columns.md). */
struct arrays {
    uint8_t *counts, *bytes, *held;
    size_t count_size, byte_size, held_size;
};

/* Adds what each stack allocated. Returns false if the arrays do not fit. */
static bool take_allocated(struct stored *stored, const struct arrays *arrays)
{
    const size_t stacks = stored->session->stacks.count, each = sizeof(uint64_t);
    if (arrays->count_size != stacks * each || arrays->byte_size != stacks * each)
        return false;
    for (size_t stack = 0; stack < stacks; stack++) {
        /* The table is asked then, and knows, too. */
        if (stack % STACKS_PER_LOOK == 0 && scan_cancelled(stored->session))
            return false;
        stored->rows[stack] =
            (struct session_stack_sums){.stack = (uint32_t)stack,
                                        .allocations = packed_get64(arrays->counts + stack * each),
                                        .bytes = packed_get64(arrays->bytes + stack * each)};
        stored->allocations += stored->rows[stack].allocations;
    }
    return true;
}

/* Adds what stacks held at the peak and at the end. Returns false if the array does not fit. */
static bool take_held(struct stored *stored, const struct arrays *arrays)
{
    uint64_t next = 0; /* the least id of the next record */
    if (arrays->held_size % PACKED_HELD_SIZE != 0)
        return false;
    for (size_t at = 0; at < arrays->held_size; at += PACKED_HELD_SIZE) {
        const uint8_t *record = arrays->held + at;
        const uint32_t stack = packed_get32(record);
        const uint64_t at_peak_count = packed_get64(record + PACKED_HELD_AT_PEAK_COUNT);
        const uint64_t at_peak_bytes = packed_get64(record + PACKED_HELD_AT_PEAK_BYTES);
        if (stack < next || stack >= stored->session->stacks.count)
            return false;
        struct session_stack_sums *sums = &stored->rows[stack];
        next = (uint64_t)stack + 1;
        sums->live_count = packed_get64(record + PACKED_HELD_LIVE_COUNT);
        sums->live_bytes = packed_get64(record + PACKED_HELD_LIVE_BYTES);
        if (sums->live_count > sums->allocations || sums->live_bytes > sums->bytes ||
            at_peak_count > sums->allocations || at_peak_bytes > sums->bytes)
            return false;
        sums->at_peak_count = stored->at_peak ? at_peak_count : 0;
        sums->at_peak_bytes = stored->at_peak ? at_peak_bytes : 0;
    }
    return true;
}

/* Leaves out the stacks without allocations. */
static void drop_empty(struct stored *stored)
{
    for (size_t stack = 0; stack < stored->session->stacks.count; stack++) {
        if (stored->rows[stack].allocations > 0)
            stored->rows[stored->count++] = stored->rows[stack];
    }
}

/* Reads the sums of `allocations` from packed arrays. Stores in `*found` whether they are there and
 * fit. */
static bool read_arrays(struct stored *stored, uint64_t allocations, bool *found,
                        struct session_error *error)
{
    struct database *database = stored->session->database;
    struct arrays arrays = {.counts = NULL};
    const bool good =
        database_packed_array(database, PACKED_STACK_ALLOCATIONS, &arrays.counts,
                              &arrays.count_size, error) &&
        database_packed_array(database, PACKED_STACK_BYTES, &arrays.bytes, &arrays.byte_size,
                              error) &&
        database_packed_array(database, PACKED_STACK_HELD, &arrays.held, &arrays.held_size, error);
    *found = good && arrays.counts && arrays.bytes && arrays.held &&
             take_allocated(stored, &arrays) && stored->allocations == allocations &&
             take_held(stored, &arrays);
    if (*found)
        drop_empty(stored);
    else
        stored->allocations = 0;
    free(arrays.counts);
    free(arrays.bytes);
    free(arrays.held);
    return good;
}

/*
 * Reads them from packed arrays or, if these are missing or do not fit, from the table: that takes
 * ten times as long. The selection has all allocations. *known is false if ingest has not stored
 * the sums; otherwise the caller frees the rows, one for each stack with allocations. Returns false
 * with `error` set.
 */
static bool stored_stacks(struct selection *selection, bool at_peak, bool *known,
                          struct session_stack_sums **rows, size_t *count,
                          struct session_error *error)
{
    struct session *session = selection->session;
    struct stored stored = {.session = session, .at_peak = at_peak};
    bool found = false;
    stored.rows = large_memory(((size_t)session->stacks.count + 1) * sizeof(*stored.rows));
    if (!stored.rows)
        return session_fail_memory(error, "the sums by stack");
    if (!read_arrays(&stored, selection->allocations, &found, error) ||
        (!found &&
         !database_each(session->database, stack_sums_sql, read_stored, &stored, error))) {
        free(stored.rows);
        return false;
    }
    *known = stored.allocations == selection->allocations;
    if (!*known) {
        free(stored.rows);
        return true;
    }
    *rows = stored.rows;
    *count = stored.count;
    return true;
}

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
