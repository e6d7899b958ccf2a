/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the steps of a graph. Rows are allocations or groups of them. */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/field_names.h"
#include "session/filter/sort_order.h"
#include "session/group/group_set.h"
#include "session/run/run_state.h"
#include "session/scan/scan.h"

/* The input of the threads of a pass over a set. */
struct pass {
    struct row_set *set;
    const struct filter_program *program; /* NULL: holds for all rows */
    uint8_t number;                       /* of a color step */
};

/* Begins a pass of all threads over a set. */
static bool pass_over(struct run *run, struct pass *pass, scan_chunk_work *work)
{
    void *contexts[SCAN_THREADS_MAX];
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = pass;
    return scan_chunks(run->session, pass->set->chunks, work, contexts, SCAN_THREADS_MAX,
                       run->error);
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
    for (size_t i = 0; i < ROW_SET_WORDS; i++)
        words[i] &= of_set[i];
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

/* The input of a thread of the last pass. */
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

static bool color_where(struct run *run, const struct filter_program *program, uint8_t number,
                        struct row_set *set)
{
    return pass_over(run, &(struct pass){set, program, number}, color_chunk);
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
                color_where(run, program, (uint8_t)(run->colors->count + 1), set);
    filter_warn_of_names(run->session, program, &run->warnings);
    filter_program_free(program);
    return good;
}

/* Does a step on the rows of each session. */
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
    if (step->field == FIELD_PINS &&
        !filter_live_time(run->session, step->moment, &live, run->error))
        return false;
    set->sort_ns = live.time.ns;
    set->sort_at_end = live.end;
    set->sorted = true;
    set->sort_field = step->field;
    set->sort_frame = step->frame;
    set->descending = step->descending;
    return true;
}

static bool run_sort(struct run *run, const struct filter_step *step, struct run_rows *rows)
{
    return rows->groups ? group_sort(rows->groups, step, run->error)
                        : on_all_sides(run, step, rows, sort_rows);
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
            ? group_join(session, set, run->colors, step->keys, step->key_count, run->error)
            : group_fold(session, set, run->colors, step->limit, run->error);
    rows->kind = KIND_GROUPS;
    return rows->groups != NULL;
}

static bool run_ungroup(struct run *run, struct run_rows *rows)
{
    struct row_set *set = &rows->set;
    for (struct run_side *side = rows->sides; side; side = side->next) {
        if (side->session == group_session(rows->groups))
            set = &side->set;
    }
    row_set_free(set);
    bool good = group_ungroup(rows->groups, set, run->error);
    if (good && set != &rows->set && !rows->set.words)
        good = row_set_start(&rows->set, run->session->columns, false, run->error);
    session_groups_free(rows->groups);
    rows->groups = NULL;
    rows->kind = KIND_ALLOCATIONS;
    return good;
}

bool run_step(struct run *run, const struct filter_step *step, struct run_rows *rows)
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
        return run_sort(run, step, rows);
    case STEP_TOP:
        return run_top(run, step, rows);
    case STEP_JOIN:
    case STEP_FOLD:
        return run_groups(run, step, rows);
    case STEP_UNGROUP:
        return run_ungroup(run, rows);
    case STEP_WRITE:
        return run_write(run, step, rows);
    default:
        rows->kind = KIND_MEASURE;
        rows->measure = step;
        return true;
    }
}
