/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a parsed graph: makes the sets, and does the steps of each pipeline. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "session/filter/field_names.h"
#include "session/filter/references.h"
#include "session/filter/sort_order.h"
#include "session/store/error.h"
#include "session/store/processes.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/store/user.h"
#include "session/table/group_set.h"
#include "session/table/run.h"
#include "session/table/run_state.h"

/* ---- collected arenas ---- */

/* Blocks that are left in arenas with a garbage collector are not leaks, but kept, or garbage.
 * Keeps what the program selects. `others`: in arenas that no collector cleans, by the table;
 * otherwise by the time at which the last collection of each began. */
static bool keep(struct run *run, struct filter_program program, bool others, struct row_set *set)
{
    struct collected_arenas arenas;
    if (!run->arenas)
        return true;
    if (!collected_arenas_read(run->session, &arenas, run->error))
        return false;
    if (others)
        program.table = arenas.other;
    else
        program.kept = &arenas;
    const bool good = arenas.count == 0 || run_keep_where(run, &program, set);
    collected_arenas_free(&arenas);
    return good;
}

static bool run_leave_out_collected(struct run *run, struct row_set *set)
{
    return keep(
        run,
        (struct filter_program){.kind = PREDICATE_TEST, .leaf = LEAF_TABLE, .column = COLUMN_ARENA},
        true, set);
}

/* ---- outlived: schemas/filter-language.md, "Outlived" ---- */

/* One pass notes for each stack in which parts of the run a clear freed blocks of it, as bits. A
 * second pass looks up each block's stack. */

enum {
    PARTS = 1024,           /* of the run */
    PARTS_LATER = 10,       /* so many parts after the clear a block must still be live */
    PART_WORDS = PARTS / 64 /* of a stack */
};

struct outlived {
    struct row_set *set;
    const uint8_t *clears;     /* by stack: see user_clears() */
    _Atomic uint64_t *cleared; /* PART_WORDS words of each stack, a bit for each part */
    uint64_t end_ns, part_ns;  /* the end of the run; the length of a part */
};

static uint64_t value(const struct chunk_rows *rows, enum column column, size_t row)
{
    return column_view_at(&rows->views[column], row);
}

/* Notes the parts in which clears freed blocks. */
static void note_clears(void *context, const struct chunk_rows *rows)
{
    const struct outlived *outlived = context;
    ROW_SET_EACH(rows->words, row)
    {
        const uint64_t life = value(rows, COLUMN_LIFE_NS, row);
        if (life == 0 || !outlived->clears[value(rows, COLUMN_FREE_STACK, row)])
            continue;
        const uint64_t free_ns = value(rows, COLUMN_ALLOC_NS, row) + life - 1;
        const uint64_t free_part = free_ns / outlived->part_ns;
        const uint64_t part = free_part < PARTS ? free_part : PARTS - 1;
        atomic_fetch_or_explicit(
            &outlived->cleared[value(rows, COLUMN_STACK, row) * PART_WORDS + part / 64],
            UINT64_C(1) << part % 64, memory_order_relaxed);
    }
}

/* Returns true if a clear freed blocks of the stack in a part from `first` to `last`. */
static bool is_cleared(const struct outlived *outlived, uint64_t stack, uint64_t first,
                       uint64_t last)
{
    for (uint64_t part = first; part <= last;) {
        const uint64_t word = atomic_load_explicit(
            &outlived->cleared[stack * PART_WORDS + part / 64], memory_order_relaxed);
        if (word >> part % 64 & 1)
            return true;
        part = word >> part % 64 == 0 ? (part / 64 + 1) * 64 : part + 1;
    }
    return false;
}

static bool has_outlived(const struct outlived *outlived, const struct chunk_rows *rows, size_t row)
{
    const uint64_t stack = value(rows, COLUMN_STACK, row);
    const uint64_t began = value(rows, COLUMN_ALLOC_NS, row);
    const uint64_t life = value(rows, COLUMN_LIFE_NS, row);
    const uint64_t end = life == 0 ? outlived->end_ns : began + life - 1;
    const uint64_t end_part = end / outlived->part_ns;
    const uint64_t last = end_part < PARTS ? end_part : PARTS - 1;
    if (stack == 0 || outlived->clears[stack] || last < PARTS_LATER ||
        (life != 0 && outlived->clears[value(rows, COLUMN_FREE_STACK, row)]))
        return false;
    return is_cleared(outlived, stack, began / outlived->part_ns + 1, last - PARTS_LATER);
}

static void keep_outlived(void *context, const struct chunk_rows *rows)
{
    const struct outlived *outlived = context;
    uint64_t words[ROW_SET_WORDS] = {0};
    ROW_SET_EACH(rows->words, row)
    {
        if (has_outlived(outlived, rows, row))
            words[row / 64] |= UINT64_C(1) << row % 64;
    }
    memcpy(row_set_chunk(outlived->set, rows->chunk), words, sizeof(words));
}

static bool pass_of_frees(struct run *run, struct outlived *outlived, scan_visitor *visit)
{
    void *contexts[SCAN_THREADS_MAX];
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = outlived;
    return scan_each_chunk(run->session, outlived->set,
                           COLUMN_BIT(COLUMN_STACK) | COLUMN_BIT(COLUMN_FREE_STACK) |
                               COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS),
                           visit, contexts, SCAN_THREADS_MAX, run->error);
}

/* Tells by the directory of chunks alone if the session has stacks of frees. */
static bool has_free_stacks(const struct column_store *columns)
{
    for (uint32_t chunk = 0; chunk < column_store_chunks(columns); chunk++)
        if (column_store_max(columns, chunk, COLUMN_FREE_STACK) > 0)
            return true;
    return false;
}

static bool keep_none(struct row_set *set)
{
    memset(set->words, 0, (size_t)set->chunks * ROW_SET_WORDS * sizeof(*set->words));
    return true;
}

static bool run_keep_outlived(struct run *run, struct row_set *set)
{
    /* It spares most sessions the reading of all frames. */
    if (!has_free_stacks(run->session->columns))
        return keep_none(set);
    const size_t stacks = run->session->stacks.count;
    const uint64_t end_ns = run->session->duration_ns;
    uint8_t *clears = user_clears(run->session, run->error);
    if (!clears)
        return false;
    if (!memchr(clears, 1, stacks)) {
        free(clears);
        return keep_none(set);
    }
    struct outlived outlived = {
        .set = set, .clears = clears, .end_ns = end_ns, .part_ns = end_ns / PARTS + 1};
    outlived.cleared = calloc(stacks * PART_WORDS, sizeof(*outlived.cleared));
    const bool good = outlived.cleared ? pass_of_frees(run, &outlived, note_clears) &&
                                             pass_of_frees(run, &outlived, keep_outlived)
                                       : session_fail_memory(run->error, "the filter");
    free(outlived.cleared);
    free(clears);
    return good;
}

/* Starts with all rows that the filter may select. The memory of custom allocators comes from the
 * process heap and is counted there, so only filters that test arenas see their blocks. Only
 * filters that test processes see the blocks of processes other than the selected one. */
static bool start_set(struct run *run, struct row_set *set)
{
    const struct filter_program heap = {
        .kind = PREDICATE_TEST, .leaf = LEAF_RANGE, .column = COLUMN_ARENA};
    if (!row_set_start(set, run->session->columns, true, run->error))
        return false;
    for (uint32_t chunk = 0; !run->processes && chunk < set->chunks; chunk++)
        processes_mask(run->session, chunk, row_set_chunk(set, chunk));
    return run->arenas || run_keep_where(run, &heap, set);
}

static bool run_live_at(struct run *run, const struct filter_value *moment, struct row_set *set)
{
    struct filter_live live;
    if (!filter_live_time(run->session, moment, &live, run->error))
        return false;
    if (live.time.before)
        filter_warn(&run->warnings, moment->column,
                    "this time lies before the start: nothing was live");
    else if (live.time.ns > run->session->duration_ns)
        filter_warn(&run->warnings, moment->column,
                    "the recording ended %.6g s after its start, before this time: what is live "
                    "then is what was never freed",
                    (double)run->session->duration_ns / 1e9);
    const struct filter_program program = filter_live_program(&live);
    return start_set(run, set) && run_keep_where(run, &program, set);
}

/* Removes the blocks that the runtime keeps to the end on purpose: they are not leaks. */
static bool leave_out_runtime(struct run *run, struct row_set *set)
{
    const struct stacks *stacks = &run->session->stacks;
    struct filter_program own = {
        .kind = PREDICATE_TEST, .leaf = LEAF_TABLE, .column = COLUMN_STACK};
    if (!(own.table = calloc(stacks->count, 1)))
        return session_fail_memory(run->error, "the filter");
    for (uint32_t stack = 0; stack < stacks->count; stack++)
        own.table[stack] = !stacks->runtime[stack];
    bool good = run_keep_where(run, &own, set);
    free(own.table);
    return good;
}

static bool run_reachability(struct run *run, const struct filter_set *source,
                             enum reachability wanted, struct row_set *set)
{
    const struct filter_live live = {.end = true};
    struct filter_program program = {
        .kind = PREDICATE_TEST, .leaf = LEAF_PINS, .low = wanted, .high = wanted};
    if (!references_known(run->session, reachability_words[wanted], source->column, run->error) ||
        !start_set(run, set))
        return false;
    program.pins = pins_find(run->session, FIELD_REACHABILITY, source->column, &live, run->error);
    const bool good = program.pins && run_keep_where(run, &program, set);
    pins_free(program.pins);
    return good;
}

/* Moves an error within a saved filter to the place of its use. */
static bool run_use(struct run *run, const struct filter_set *source, struct run_rows *rows)
{
    struct session_error inner = {.column = 0};
    struct session_error *outer = run->error;
    if (!source->stored || !outer)
        return run_pipeline(run, source->pipeline, rows);
    const size_t warned = run->warnings.count;
    run->error = &inner;
    bool good = run_pipeline(run, source->pipeline, rows);
    run->error = outer;
    filter_place_warnings(source->stored, warned, &run->warnings);
    if (!good) {
        if (inner.column != 0)
            filter_place_error(source->stored, &inner);
        *outer = inner;
    }
    return good;
}

bool run_set(struct run *run, const struct filter_set *source, struct run_rows *rows)
{
    struct run_rows right = {.kind = KIND_ALLOCATIONS};
    switch (source->kind) {
    case SET_ALL:
        return start_set(run, &rows->set);
    case SET_LIVE_AT:
        return run_live_at(run, &source->moment, &rows->set);
    case SET_LEAKED:
        run->leaks_unknown |= session_stopped(run->session);
        return run_live_at(run, &source->moment, &rows->set) &&
               leave_out_runtime(run, &rows->set) && run_leave_out_collected(run, &rows->set);
    case SET_SURVIVED:
        return run_live_at(run, &source->moment, &rows->set) &&
               keep(run, (struct filter_program){.kind = PREDICATE_TEST, .leaf = LEAF_KEPT}, false,
                    &rows->set);
    case SET_OUTLIVED:
        return start_set(run, &rows->set) && run_keep_outlived(run, &rows->set);
    case SET_UNREACHABLE:
        return run_reachability(run, source, REACHABILITY_UNREACHABLE, &rows->set);
    case SET_POSSIBLY:
        return run_reachability(run, source, REACHABILITY_POSSIBLY, &rows->set);
    case SET_PIPELINE:
        return run_use(run, source, rows);
    case SET_SESSION:
        return run_other_session(run, source, rows);
    default:
        break;
    }
    bool good = run_set(run, source->left, rows) && run_set(run, source->right, &right) &&
                run_combine(run, source->kind, rows, &right);
    run_rows_free(&right);
    return good;
}

struct pass {
    struct row_set *set;
    const struct filter_program *program; /* NULL: holds for all rows */
    uint8_t number;                       /* of a color step */
};

static bool pass_over(struct run *run, struct pass *pass, scan_chunk_work *work)
{
    return scan_chunks_shared(run->session, pass->set->chunks, work, pass, run->error);
}

/* Stores the rows of a chunk that belong to the set and for which the program holds. */
static bool find_rows(const struct pass *pass, struct scan_worker *worker, uint32_t chunk,
                      uint64_t *words, struct session_error *error)
{
    const uint64_t *of_set = row_set_chunk(pass->set, chunk);
    if (!pass->program) {
        memcpy(words, of_set, ROW_SET_WORDS * sizeof(*words));
        return true;
    }
    struct column_reader *reader = scan_reader(worker, error);
    if (!reader || !filter_program_run(scan_session(worker), reader, pass->program, chunk,
                                       pass->set->colors, words, error))
        return false;
    row_set_keep(words, of_set);
    return true;
}

static bool keep_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                       struct session_error *error)
{
    const struct pass *pass = context;
    uint64_t words[ROW_SET_WORDS];
    if (row_set_chunk_empty(pass->set, chunk))
        return true;
    if (!find_rows(pass, worker, chunk, words, error))
        return false;
    memcpy(row_set_chunk(pass->set, chunk), words, sizeof(words));
    return true;
}

/* Keeps the rows of `set` for which the program holds. */
bool run_keep_where(struct run *run, const struct filter_program *program, struct row_set *set)
{
    return pass_over(run, &(struct pass){.set = set, .program = program}, keep_chunk);
}

struct last_pass {
    struct pass *pass;
    struct row_totals totals;
};

/* Keeps rows of a chunk and adds them up: columns that both need are read once. */
static bool keep_and_sum(void *context, struct scan_worker *worker, uint32_t chunk,
                         struct session_error *error)
{
    struct last_pass *last = context;
    return keep_chunk(last->pass, worker, chunk, error) &&
           row_totals_add(&last->totals, worker, chunk, row_set_chunk(last->pass->set, chunk),
                          error);
}

/* Keeps the rows for which the program holds, and finds their totals. */
static bool keep_last(struct run *run, const struct filter_program *program, struct row_set *set)
{
    struct pass pass = {.set = set, .program = program};
    struct scan_contexts contexts;
    if (!scan_contexts_open(run->session, &contexts, sizeof(struct last_pass), SIZE_MAX,
                            run->error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct last_pass *)contexts.each[i])->pass = &pass;
    run->summed = scan_chunks(run->session, set->chunks, keep_and_sum, contexts.each,
                              contexts.threads, run->error);
    for (size_t i = 0; i < contexts.threads; i++)
        row_totals_merge(&run->totals, &((const struct last_pass *)contexts.each[i])->totals);
    scan_contexts_close(&contexts);
    return run->summed;
}

static bool run_where(struct run *run, const struct filter_step *step, struct row_set *set)
{
    struct filter_program *program =
        filter_program_new(run->session, step->predicate, run->colors, run->error);
    /* The rows of other sessions come after the own ones. */
    bool good = program && (step == run->last && !run->summed ? keep_last(run, program, set)
                                                              : run_keep_where(run, program, set));
    filter_warn_of_names(run->session, program, &run->warnings);
    filter_program_free(program);
    return good;
}

static bool color_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    const struct pass *pass = context;
    uint64_t words[ROW_SET_WORDS];
    uint8_t *of_row = pass->set->colors + (size_t)chunk * COLUMN_CHUNK_ROWS;
    if (row_set_chunk_empty(pass->set, chunk))
        return true;
    if (!find_rows(pass, worker, chunk, words, error))
        return false;
    ROW_SET_EACH(words, row)
    {
        of_row[row] = pass->number;
    }
    return true;
}

/* Copies the text of the step, cut to `size` before a character. */
static void color_label(char *label, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(label, text, length);
    label[length] = '\0';
}

static bool color_rows(struct run *run, const struct filter_step *step, struct row_set *set)
{
    struct filter_program *program = NULL;
    if (step->predicate) {
        program = filter_program_new(run->session, step->predicate, run->colors, run->error);
        if (!program)
            return false;
    }
    bool good = row_set_color(set, run->error) &&
                pass_over(run, &(struct pass){set, program, (uint8_t)(run->colors->count + 1)},
                          color_chunk);
    filter_warn_of_names(run->session, program, &run->warnings);
    filter_program_free(program);
    return good;
}

static bool on_all_sides(struct run *run, const struct filter_step *step, struct run_rows *rows,
                         bool (*work)(struct run *, const struct filter_step *, struct row_set *))
{
    struct session *own = run->session;
    bool good = work(run, step, &rows->set);
    for (struct run_side *side = rows->sides; good && side; side = side->next) {
        run->session = side->session;
        good = work(run, step, &side->set);
    }
    run->session = own;
    return good;
}

/* Colours rows or groups. The step's own predicate does not see its colour. */
static bool run_color(struct run *run, const struct filter_step *step, struct run_rows *rows)
{
    struct filter_colors *colors = run->colors;
    if (colors->count == FILTER_COLOR_STEPS)
        return session_fail(run->error, step->color.column, "more than %d color steps",
                            FILTER_COLOR_STEPS);
    const size_t number = colors->count + 1;
    colors->step[number].number = (int)step->color.number;
    color_label(colors->step[number].label, sizeof(colors->step[0].label), step->text);
    bool good = rows->groups ? group_color(rows->groups, step->predicate, colors, (uint8_t)number,
                                           run->error)
                             : on_all_sides(run, step, rows, color_rows);
    colors->count = number;
    run->color_by = SESSION_COLOR_NONE;
    return good;
}

static bool top_rows(struct run *run, const struct filter_step *step, struct row_set *set)
{
    struct sort_entry *entries;
    size_t count;
    if (!sort_order_rows(run->session, set, run->colors, step->limit, &entries, &count, run->error))
        return false;
    memset(set->words, 0, (size_t)set->chunks * ROW_SET_WORDS * sizeof(*set->words));
    for (size_t i = 0; i < count; i++)
        set->words[entries[i].row / 64] |= UINT64_C(1) << (entries[i].row % 64);
    free(entries);
    return true;
}

static bool sort_rows(struct run *run, const struct filter_step *step, struct row_set *set)
{
    struct filter_live live = {.end = false};
    if (filter_field_found(step->field) &&
        !filter_live_time(run->session, step->moment, &live, run->error))
        return false;
    if (filter_field_of_snapshot(step->field) &&
        !references_known(run->session, filter_fields[step->field].name, step->field_column,
                          run->error))
        return false;
    set->sort_ns = live.time.ns;
    set->sort_at_end = live.end;
    set->sorted = true;
    set->sort_field = step->field;
    set->sort_frame = step->frame;
    set->descending = step->descending;
    return true;
}

/* Refuses a step that works on the rows of one session. */
static bool one_session(struct run *run, const struct filter_step *step, struct run_rows *rows,
                        struct run_side **only)
{
    bool several;
    *only = run_only_side(rows, &several);
    return !several ||
           session_fail(run->error, step->column,
                        "%.*s works on allocations of one session, and these are of several",
                        (int)strcspn(step->text, " "), step->text);
}

static bool run_top(struct run *run, const struct filter_step *step, struct run_rows *rows)
{
    struct run_side *only;
    if (!rows->groups)
        return one_session(run, step, rows, &only) && on_all_sides(run, step, rows, top_rows);
    group_top(rows->groups, step->limit);
    return true;
}

/* ---- references ---- */

/* Keeps the rows that have to do with those of a filter of the same session. */
static bool run_references(struct run *run, const struct filter_step *step, struct run_rows *rows)
{
    static const char *const names[] = {
        [STEP_HELD] = "held by", [STEP_HOLDS] = "holds", [STEP_RETAINED] = "retained by"};
    struct run_rows of = {.kind = KIND_ALLOCATIONS};
    struct run_side *only;
    struct filter_live live;
    struct session *own = run->session;
    if (!one_session(run, step, rows, &only))
        return false;
    run->session = only ? only->session : own;
    bool good = references_known(run->session, names[step->kind], step->column, run->error) &&
                filter_live_time(run->session, step->moment, &live, run->error) &&
                run_pipeline(run, step->pipeline, &of);
    if (good && of.sides)
        good = session_fail(run->error, step->column,
                            "%s works within one session, and its filter has blocks of another",
                            names[step->kind]);
    good = good && references_keep(run->session, step->kind, &live, &of.set,
                                   only ? &only->set : &rows->set, run->error);
    run->session = own;
    run_rows_free(&of);
    return good;
}

/* ---- groups ---- */

static bool run_groups(struct run *run, const struct filter_step *step, struct run_rows *rows)
{
    struct run_side *only;
    if (!one_session(run, step, rows, &only))
        return false;
    struct session *session = only ? only->session : run->session;
    struct row_set *set = only ? &only->set : &rows->set;
    rows->groups =
        step->kind == STEP_JOIN
            ? group_join(session, set, run->colors, step->keys, step->key_count, NULL, run->error)
            : group_fold(session, set, run->colors, step->limit, run->error);
    rows->kind = KIND_GROUPS;
    return rows->groups != NULL;
}

static bool run_ungroup(struct run *run, struct run_rows *rows)
{
    struct row_set *set = &rows->set;
    for (struct run_side *side = rows->sides; side; side = side->next)
        if (side->session == group_session(rows->groups))
            set = &side->set;
    row_set_free(set);
    bool good = group_ungroup(rows->groups, set, run->error);
    if (good && set != &rows->set && !rows->set.words)
        good = row_set_start(&rows->set, run->session->columns, false, run->error);
    session_groups_free(rows->groups);
    rows->groups = NULL;
    rows->kind = KIND_ALLOCATIONS;
    return good;
}

static bool run_step(struct run *run, const struct filter_step *step, struct run_rows *rows)
{
    switch (step->kind) {
    case STEP_WHERE:
        return rows->groups ? group_where(rows->groups, step->predicate, run->colors, run->error)
                            : on_all_sides(run, step, rows, run_where);
    case STEP_COLOR:
        return run_color(run, step, rows);
    case STEP_COLOR_BY:
        run->color_by = (enum session_color_by)filter_fields[step->field].color_by;
        return true;
    case STEP_SORT:
        return rows->groups ? group_sort(rows->groups, step, run->error)
                            : on_all_sides(run, step, rows, sort_rows);
    case STEP_TOP:
        return run_top(run, step, rows);
    case STEP_JOIN:
    case STEP_FOLD:
        return run_groups(run, step, rows);
    case STEP_UNGROUP:
        return run_ungroup(run, rows);
    case STEP_HELD:
    case STEP_HOLDS:
    case STEP_RETAINED:
        return run_references(run, step, rows);
    case STEP_WRITE:
        return run_write(run, step, rows);
    default:
        rows->kind = KIND_MEASURE;
        rows->measure = step;
        return true;
    }
}

void run_rows_free(struct run_rows *rows)
{
    row_set_free(&rows->set);
    run_sides_free(rows->sides);
    session_groups_free(rows->groups);
    *rows = (struct run_rows){.kind = KIND_ALLOCATIONS};
}

/* Copies the rows that take the place of the graph's set. */
static bool copy_begin(struct run *run, struct run_rows *rows)
{
    const struct row_set *begin = run->options->begin;
    struct row_set *set = &rows->set;
    if (!row_set_start(set, run->session->columns, false, run->error) ||
        (begin->colors && !row_set_color(set, run->error)))
        return false;
    memcpy(set->words, begin->words, (size_t)set->chunks * ROW_SET_WORDS * sizeof(*set->words));
    if (begin->colors)
        memcpy(set->colors, begin->colors, (size_t)set->chunks * COLUMN_CHUNK_ROWS);
    return true;
}

static bool run_steps(struct run *run, const struct filter_step *steps, struct run_rows *rows)
{
    bool good = true;
    for (const struct filter_step *step = steps; good && step; step = step->next)
        good = run_step(run, step, rows);
    return good;
}

/* Returns the step after which the graph's rows stay as they are, if it is a `where`. */
static const struct filter_step *last_where(const struct filter_pipeline *pipeline)
{
    const struct filter_step *last = NULL;
    for (const struct filter_step *step = pipeline->steps; step; step = step->next)
        if (step->kind == STEP_WHERE)
            last = step;
        else if (step->kind != STEP_COLOR && step->kind != STEP_COLOR_BY &&
                 step->kind != STEP_SORT && !filter_step_measures(step->kind))
            return NULL;
    return last;
}

bool run_pipeline(struct run *run, const struct filter_pipeline *pipeline, struct run_rows *rows)
{
    if (++run->pipelines > FILTER_PIPELINES_MAX)
        return session_fail(run->error, 1, "more than %d pipelines to run: use fewer names",
                            FILTER_PIPELINES_MAX);
    const bool leaks_unknown = run->leaks_unknown;
    struct pipeline_text text;
    const struct filter_step *keep;
    run->leaks_unknown = false;
    const struct filter_step *known = recall_find(run, pipeline, rows, &text, &keep);
    bool good = known || run_set(run, pipeline->set, rows);
    for (const struct filter_step *step = known ? known->next : pipeline->steps; good && step;
         step = step->next) {
        good = run_step(run, step, rows);
        if (good && step == keep)
            recall_keep(run, &text, rows, run->leaks_unknown);
    }
    run->leaks_unknown |= leaks_unknown;
    return good;
}

bool run_graph(struct session *session, const struct filter_graph *graph,
               const struct run_options *options, struct filter_colors *colors,
               struct run_result *result, struct session_error *error)
{
    const struct filter_pipeline *pipeline = filter_graph_pipeline(graph);
    struct session_error kept = {.column = 0};
    struct run run = {
        .session = session, .options = options, .colors = colors, .error = error ? error : &kept};
    struct run_rows rows = {.kind = KIND_ALLOCATIONS};
    *result = (struct run_result){.kind = KIND_ALLOCATIONS};
    run.last = session->estimate ? NULL : last_where(pipeline);
    run.arenas = filter_mentions(pipeline, FIELD_ARENA);
    run.processes = filter_mentions(pipeline, FIELD_PROCESS);
    if (!(options->begin ? copy_begin(&run, &rows) && run_steps(&run, pipeline->steps, &rows)
                         : run_pipeline(&run, pipeline, &rows))) {
        run_rows_free(&rows);
        filter_place_error(NULL, run.error);
        return false;
    }
    *result = (struct run_result){.kind = rows.kind,
                                  .set = rows.set,
                                  .sides = rows.sides,
                                  .summed = run.summed && !rows.groups,
                                  .totals = run.totals,
                                  .groups = rows.groups,
                                  .measure = rows.measure,
                                  .color_by = run.color_by,
                                  .of_all = run.processes,
                                  .of_arenas = run.arenas || options->begin,
                                  .leaks_unknown = run.leaks_unknown,
                                  .warnings = run.warnings};
    filter_place_warnings(NULL, 0, &result->warnings);
    return true;
}

void run_result_free(struct run_result *result)
{
    row_set_free(&result->set);
    run_sides_free(result->sides);
    session_groups_free(result->groups);
    *result = (struct run_result){.kind = KIND_ALLOCATIONS};
}
