/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/field_names.h"
#include "session/filter/sort_order.h"
#include "session/scan/scan.h"

/* A name may be used any number of times: a text of one page could need any amount of work. */
enum { PIPELINES_MAX = 1000 };

struct run {
    struct session *session;
    struct filter_colors *colors;
    enum session_color_by color_by;
    unsigned pipelines;
    bool arenas;    /* sets have blocks of custom allocators */
    bool processes; /* sets have blocks of all processes, not only of the selected one */
    struct session_error *error;
};

static bool run_pipeline(struct run *run, const struct filter_pipeline *pipeline,
                         struct row_set *set);

/* What the threads of a pass over a set work on. */
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
static bool keep_where(struct run *run, const struct filter_program *program, struct row_set *set)
{
    return pass_over(run, &(struct pass){.set = set, .program = program}, keep_chunk);
}

static bool run_where(struct run *run, const struct filter_step *step, struct row_set *set)
{
    struct filter_program *program =
        filter_program_new(run->session, step->predicate, run->colors, run->error);
    bool good = program && keep_where(run, program, set);
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

static bool run_color(struct run *run, const struct filter_step *step, struct row_set *set)
{
    struct filter_colors *colors = run->colors;
    if (colors->count == FILTER_COLOR_STEPS)
        return session_fail(run->error, step->color.column, "more than %d color steps",
                            FILTER_COLOR_STEPS);
    struct filter_program *program = NULL;
    if (step->predicate) {
        program = filter_program_new(run->session, step->predicate, colors, run->error);
        if (!program)
            return false;
    }
    colors->count++;
    colors->step[colors->count].number = (int)step->color.number;
    color_label(colors->step[colors->count].label, sizeof(colors->step[0].label), step->text);
    bool good =
        row_set_color(set, run->error) && color_where(run, program, (uint8_t)colors->count, set);
    filter_program_free(program);
    run->color_by = SESSION_COLOR_NONE;
    return good;
}

static bool run_top(struct run *run, const struct filter_step *step, struct row_set *set)
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

static bool run_step(struct run *run, const struct filter_step *step, struct row_set *set)
{
    switch (step->kind) {
    case STEP_WHERE:
        return run_where(run, step, set);
    case STEP_COLOR:
        return run_color(run, step, set);
    case STEP_COLOR_BY:
        run->color_by = (enum session_color_by)filter_fields[step->field].color_by;
        return true;
    case STEP_SORT:
        if (!field_names_available(step->field, step->field_column, run->error))
            return false;
        set->sorted = true;
        set->sort_field = step->field;
        set->sort_frame = step->frame;
        set->descending = step->descending;
        return true;
    case STEP_TOP:
        return run_top(run, step, set);
    default:
        return session_fail(run->error, step->column, "the step \"%.*s\" is not available yet",
                            (int)strcspn(step->text, " "), step->text);
    }
}

static bool predicate_speaks_of(const struct filter_predicate *predicate, int field)
{
    if (!predicate)
        return false;
    if (predicate->kind == PREDICATE_TEST)
        return (int)predicate->test.field == field;
    return predicate_speaks_of(predicate->left, field) ||
           predicate_speaks_of(predicate->right, field);
}

static bool set_speaks_of(const struct filter_set *set, int field, unsigned *pipelines);

/* Visits at most PIPELINES_MAX pipelines: with more the filter does not run. */
static bool pipeline_speaks_of(const struct filter_pipeline *pipeline, int field,
                               unsigned *pipelines)
{
    if (++*pipelines > PIPELINES_MAX)
        return true;
    for (const struct filter_step *step = pipeline->steps; step; step = step->next) {
        if (predicate_speaks_of(step->predicate, field))
            return true;
        for (size_t i = 0; i < step->key_count; i++) {
            if ((int)step->keys[i].field == field)
                return true;
        }
    }
    return set_speaks_of(pipeline->set, field, pipelines);
}

static bool set_speaks_of(const struct filter_set *set, int field, unsigned *pipelines)
{
    if (set->kind == SET_ALL || set->kind == SET_LIVE_AT || set->kind == SET_LEAKED ||
        set->kind == SET_SESSION)
        return false;
    if (set->kind == SET_PIPELINE)
        return pipeline_speaks_of(set->pipeline, field, pipelines);
    return set_speaks_of(set->left, field, pipelines) ||
           set_speaks_of(set->right, field, pipelines);
}

/*
 * Starts with all rows that the filter may select. The memory of custom allocators comes from the
 * process heap and is counted there, so only filters that test arenas see their blocks. Only
 * filters that test processes see the blocks of processes other than the selected one.
 */
static bool start_set(struct run *run, struct row_set *set)
{
    const struct filter_program heap = {
        .kind = PREDICATE_TEST, .leaf = LEAF_RANGE, .column = COLUMN_ARENA};
    if (!row_set_start(set, run->session->columns, true, run->error))
        return false;
    for (uint32_t chunk = 0; !run->processes && chunk < set->chunks; chunk++)
        processes_mask(run->session, chunk, row_set_chunk(set, chunk));
    return run->arenas || keep_where(run, &heap, set);
}

static bool run_live_at(struct run *run, const struct filter_value *moment, struct row_set *set)
{
    struct filter_program live = {.kind = PREDICATE_TEST, .leaf = LEAF_LIVE_AT};
    if (moment->moment == MOMENT_END) {
        /* Blocks that were never freed are live at the end; stamps play no part in it. */
        live.leaf = LEAF_RANGE;
        live.column = COLUMN_LIFE_NS;
    } else {
        struct filter_ns time;
        if (!filter_moment_ns(run->session, moment, &time, run->error))
            return false;
        live.low = time.ns;
        if (time.before) /* nothing was live then: a constant 0 */
            live = (struct filter_program){.kind = PREDICATE_TEST, .leaf = LEAF_CONSTANT};
    }
    return start_set(run, set) && keep_where(run, &live, set);
}

/* Removes the blocks that the runtime keeps to the end on purpose: they are not leaks. */
static bool leave_out_runtime(struct run *run, struct row_set *set)
{
    const struct stacks *stacks = &run->session->stacks;
    struct filter_program own = {
        .kind = PREDICATE_TEST, .leaf = LEAF_TABLE, .column = COLUMN_STACK};
    own.table = calloc(stacks->count, 1);
    if (!own.table)
        return session_fail_memory(run->error, "the filter");
    for (uint32_t stack = 0; stack < stacks->count; stack++)
        own.table[stack] = !stacks->runtime[stack];
    bool good = keep_where(run, &own, set);
    free(own.table);
    return good;
}

static enum row_set_operation operation_of(enum filter_set_kind kind)
{
    return kind == SET_PLUS ? ROW_SET_PLUS : kind == SET_MINUS ? ROW_SET_MINUS : ROW_SET_BOTH;
}

static bool run_set(struct run *run, const struct filter_set *source, struct row_set *set)
{
    struct row_set right = {.words = NULL};
    switch (source->kind) {
    case SET_ALL:
        return start_set(run, set);
    case SET_LIVE_AT:
        return run_live_at(run, &source->moment, set);
    case SET_LEAKED:
        return run_live_at(run, &source->moment, set) && leave_out_runtime(run, set);
    case SET_PIPELINE:
        return run_pipeline(run, source->pipeline, set);
    case SET_SESSION:
        return session_fail(run->error, source->column,
                            "a set of another session is not available yet");
    default:
        break;
    }
    bool good = run_set(run, source->left, set) && run_set(run, source->right, &right) &&
                row_set_combine(set, operation_of(source->kind), &right, run->error);
    row_set_free(&right);
    return good;
}

static bool run_pipeline(struct run *run, const struct filter_pipeline *pipeline,
                         struct row_set *set)
{
    if (++run->pipelines > PIPELINES_MAX)
        return session_fail(run->error, 1, "more than %d pipelines to run: use fewer names",
                            PIPELINES_MAX);
    if (!run_set(run, pipeline->set, set))
        return false;
    for (const struct filter_step *step = pipeline->steps; step; step = step->next) {
        if (!run_step(run, step, set))
            return false;
    }
    return true;
}

bool filter_run(struct session *session, const struct filter_graph *graph, struct row_set *set,
                struct filter_colors *colors, enum session_color_by *by, bool *of_all,
                struct session_error *error)
{
    struct run run = {.session = session, .colors = colors, .error = error};
    *set = (struct row_set){.words = NULL};
    unsigned pipelines = 0, again = 0;
    run.arenas = pipeline_speaks_of(filter_graph_pipeline(graph), FIELD_ARENA, &pipelines);
    run.processes = pipeline_speaks_of(filter_graph_pipeline(graph), FIELD_PROCESS, &again);
    *of_all = run.processes;
    if (!run_pipeline(&run, filter_graph_pipeline(graph), set)) {
        row_set_free(set);
        return false;
    }
    *by = run.color_by;
    return true;
}
