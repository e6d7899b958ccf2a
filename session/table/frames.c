/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of stacks: sums of a selection by function, caller, callee, file and line, from the
 * sums by stack (stack_sums.c), and the stacks that have a function or a line.
 *
 * A walk over the tree of stacks takes one step for each frame, however deep the stacks are. Each
 * stack counts once for a function, file or line, even if it passes through it several times. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/residency.h"
#include "session/source.h"
#include "session/stacks.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/store/user.h"
#include "session/table/selection_state.h"
#include "session/table/sums.h"

/* ---- the walk --------------------------------------------------------------------------- */

#define CLASS_NONE UINT32_MAX

struct classes {
    const struct stacks *stacks;
    /* Return a class of a node of the tree, or CLASS_NONE. NULL: it has no second one. */
    uint32_t (*class_of)(const struct classes *classes, uint32_t node);
    uint32_t (*second_of)(const struct classes *classes, uint32_t node);
    uint32_t function, functions; /* whose edges are sought; the number of all */
    const uint32_t *of_frame;     /* by frame, for lines */
    struct stack_sum *sums;       /* by class; free() them */
    uint32_t *open;               /* by class: nodes that were entered and not left yet */
    struct stack_sum *path;       /* by depth: of the open node, as far as its stacks were met */
};

static void add(struct stack_sum *to, const struct stack_sum *sum)
{
    to->bytes += sum->bytes;
    to->count += sum->count;
    to->live_bytes += sum->live_bytes;
    to->live_count += sum->live_count;
    to->at_peak_bytes += sum->at_peak_bytes;
    to->at_peak_count += sum->at_peak_count;
    to->short_lived += sum->short_lived;
}

/* Leaves a node. If no node of the class is open any more, it has all stacks of the class. */
static void leave(const struct classes *classes, uint32_t class, const struct stack_sum *sum)
{
    if (class != CLASS_NONE && --classes->open[class] == 0)
        add(&classes->sums[class], sum);
}

static void enter(const struct classes *classes, uint32_t class)
{
    if (class != CLASS_NONE)
        classes->open[class]++;
}

/* Leaves the nodes from the open one outwards up to `node`, which is the open one afterwards. */
static void leave_to(const struct classes *classes, uint32_t open, uint32_t node)
{
    for (; open != node; open = stacks_caller(classes->stacks, open)) {
        struct stack_sum *sum = &classes->path[stacks_depth(classes->stacks, open)];
        leave(classes, classes->class_of(classes, open), sum);
        if (classes->second_of)
            leave(classes, classes->second_of(classes, open), sum);
        add(sum - 1, sum);
    }
}

static uint32_t largest_depth(const struct stacks *stacks)
{
    uint32_t depth = 0;
    for (uint32_t node = 1; node < stacks->all.count; node++)
        depth = stacks_depth(stacks, node) > depth ? stacks_depth(stacks, node) : depth;
    return depth;
}

/* Finds the sums of `count` classes by those of stacks. Call stacks_frames() before. Returns false
 * with `error` set: cancelled, or no memory. */
static bool sum_classes(const struct session *session, const struct stack_sum *sums, size_t count,
                        struct classes *classes, struct session_error *error)
{
    const struct stacks *stacks = classes->stacks = &session->stacks;
    /* By node and by stack: another stack that ends at the node. 0: none. */
    uint32_t *stack_of = calloc(stacks->all.count, sizeof(*stack_of));
    uint32_t *next = calloc(stacks->count, sizeof(*next));
    classes->path = calloc((size_t)largest_depth(stacks) + 1, sizeof(*classes->path));
    classes->open = calloc(count + 1, sizeof(*classes->open));
    classes->sums = calloc(count + 1, sizeof(*classes->sums));
    bool good = (stack_of && next && classes->path && classes->open && classes->sums) ||
                session_fail_memory(error, "the functions");
    for (uint32_t stack = 0; good && stack < stacks->count; stack++) {
        next[stack] = stack_of[stacks_node(stacks, stack)];
        stack_of[stacks_node(stacks, stack)] = stack;
    }
    uint32_t open = 0;
    for (uint32_t node = stacks->all.count; good && node-- > 1; open = node) {
        leave_to(classes, open, stacks_caller(stacks, node));
        struct stack_sum *sum = &classes->path[stacks_depth(stacks, node)];
        *sum = (struct stack_sum){0};
        for (uint32_t stack = stack_of[node]; stack != 0; stack = next[stack])
            add(sum, &sums[stack]);
        enter(classes, classes->class_of(classes, node));
        if (classes->second_of)
            enter(classes, classes->second_of(classes, node));
        good = node % 65536 != 0 || scan_go_on(session, error);
    }
    if (good)
        leave_to(classes, open, 0);
    FREE_ALL(stack_of, next, classes->path, classes->open);
    if (!good)
        free(classes->sums);
    return good;
}

static uint32_t function_of(const struct classes *classes, uint32_t node)
{
    return stacks_function(classes->stacks, node);
}

/* Sums by function. Without frames the allocations still belong to their call site, even if that is
 * "none". The caller frees the sums; NULL with `error` set. */
static struct stack_sum *sum_functions(struct session *session, const struct stack_sum *sums,
                                       struct session_error *error)
{
    struct classes classes = {.class_of = function_of};
    const struct stacks *stacks = &session->stacks;
    if (!stacks_frames(&session->stacks, error) ||
        !sum_classes(session, sums, session->names.function_count, &classes, error))
        return NULL;
    for (uint32_t stack = 0; stack < stacks->count; stack++)
        if (stacks_node(stacks, stack) == 0)
            add(&classes.sums[stacks->function[stack]], &sums[stack]);
    return classes.sums;
}

/* Loads the sums by stack and all frames. Returns the sums, NULL with `error` set. */
static const struct stack_sum *load(struct selection *selection, struct session_error *error)
{
    const struct stack_sum *sums = selection_stack_sums(selection, error);
    return sums && stacks_frames(&selection->session->stacks, error) ? sums : NULL;
}

/* ---- functions -------------------------------------------------------------------------- */

/* Returns the function that a stack's allocations belong to: that of the call site or, with frames
 * of the user by stack, the user's. */
static uint32_t self_of(const struct stacks *stacks, const uint32_t *users, uint32_t stack)
{
    return users ? stacks->frame_table[users[stack]].function : stacks->function[stack];
}

static void add_self(const struct stacks *stacks, const struct stack_sum *sums,
                     const uint32_t *users, struct session_function_row *rows)
{
    for (uint32_t stack = 0; stack < stacks->count; stack++) {
        struct session_function_row *row = &rows[self_of(stacks, users, stack)];
        row->self_bytes += sums[stack].bytes;
        row->self_count += sums[stack].count;
        row->live_bytes += sums[stack].live_bytes;
        row->live_count += sums[stack].live_count;
        if (stacks->runtime[stack]) {
            row->kept_bytes += sums[stack].live_bytes;
            row->kept_count += sums[stack].live_count;
        }
        row->at_peak_bytes += sums[stack].at_peak_bytes;
        row->short_lived += sums[stack].short_lived;
    }
}

/* Sums up the rows by function id. Self values follow from each stack's call site. */
static bool sum_up(struct selection *selection, struct session_function_row *all,
                   struct session_error *error)
{
    struct session *session = selection->session;
    const struct stack_sum *sums = selection_stack_sums(selection, error);
    struct stack_sum *totals = sums ? sum_functions(session, sums, error) : NULL;
    if (!totals)
        return false;
    add_self(&session->stacks, sums, NULL, all);
    for (uint32_t id = 0; id < session->names.function_count; id++) {
        all[id].total_bytes = totals[id].bytes;
        all[id].total_count = totals[id].count;
    }
    free(totals);
    return true;
}

bool selection_functions(struct selection *selection, struct session_function_row **rows,
                         size_t *count, struct session_error *error)
{
    struct session *session = selection->session;
    uint32_t functions = session->names.function_count;
    struct session_function_row *all = calloc(functions, sizeof(*all));
    if (!all)
        return session_fail_memory(error, "the functions");
    const bool good = selection->everything && summary_answers(session)
                          ? summary_functions(session, all, functions, error)
                          : sum_up(selection, all, error);
    if (!good) {
        free(all);
        return false;
    }
    size_t used = 0;
    for (uint32_t id = 0; id < functions; id++) {
        if (all[id].total_count == 0)
            continue;
        struct session_function_row row = all[id];
        row.function = id;
        all[used++] = row;
    }
    *rows = all;
    *count = used;
    return true;
}

bool selection_user_functions(struct selection *selection, struct session_function_row **rows,
                              struct session_error *error)
{
    struct session *session = selection->session;
    const struct stack_sum *sums = load(selection, error);
    const uint32_t *users;
    if (!sums || !user_frames(session, &users, error))
        return false;
    *rows = calloc((size_t)session->names.function_count + 1, sizeof(**rows));
    if (!*rows)
        return session_fail_memory(error, "the functions");
    add_self(&session->stacks, sums, users, *rows);
    return true;
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
    struct stack_sum *sums = calloc(session->stacks.count, sizeof(*sums));
    for (size_t i = 0; sums && i < row_count; i++)
        sums[rows[i].stack].at_peak_bytes = rows[i].at_peak_bytes;
    struct stack_sum *totals = sums ? sum_functions(session, sums, error) : NULL;
    *count = session->names.function_count;
    *bytes = totals ? calloc(*count, sizeof(**bytes)) : NULL;
    if (!sums || (totals && !*bytes))
        session_fail_memory(error, "the functions");
    for (size_t id = 0; *bytes && id < *count; id++)
        (*bytes)[id] = totals[id].at_peak_bytes;
    FREE_ALL(rows, sums, totals);
    return *bytes != NULL;
}

bool selection_stacks_resident(struct selection *selection, uint64_t ns, uint64_t **bytes,
                               struct session_error *error)
{
    struct session *session = selection->session;
    const struct sums_query query = {.parts = SUMS_BIT(SUMS_RESIDENT),
                                     .cells = session->stacks.count,
                                     .columns = COLUMN_BIT(COLUMN_STACK),
                                     .resident_ns = &ns};
    struct sums sums = {.count = 0};
    bool known;
    *bytes = NULL;
    if (!session_reads_residency(session, &known, error) || !known)
        return !known;
    if (!sums_find(session, &selection->set, &query, &sums, error))
        return false;
    *bytes = calloc(session->stacks.count + 1, sizeof(**bytes));
    for (uint32_t stack = 0; *bytes && stack < session->stacks.count; stack++)
        (*bytes)[stack] = sums_of(&sums, stack, SUMS_RESIDENT)[0];
    sums_free(&sums);
    return *bytes || session_fail_memory(error, "the bytes in memory");
}

bool selection_functions_resident(struct selection *selection, uint64_t ns, bool by_user,
                                  uint64_t **bytes, size_t *count, struct session_error *error)
{
    struct session *session = selection->session;
    const uint32_t *users = NULL;
    uint64_t *by_stack;
    *bytes = NULL;
    *count = session->names.function_count;
    if ((by_user && !user_frames(session, &users, error)) ||
        !selection_stacks_resident(selection, ns, &by_stack, error))
        return false;
    if (!by_stack)
        return true;
    *bytes = calloc(*count + 1, sizeof(**bytes));
    for (uint32_t stack = 0; *bytes && stack < session->stacks.count; stack++)
        (*bytes)[self_of(&session->stacks, users, stack)] += by_stack[stack];
    free(by_stack);
    return *bytes || session_fail_memory(error, "the functions");
}

/* ---- callers and callees ---------------------------------------------------------------- */

/* The class of an edge is the function at its other end; those to callees come behind all others.
 */
static uint32_t caller_of(const struct classes *classes, uint32_t node)
{
    const uint32_t outer = stacks_caller(classes->stacks, node);
    return outer != 0 && stacks_function(classes->stacks, node) == classes->function
               ? stacks_function(classes->stacks, outer)
               : CLASS_NONE;
}

static uint32_t callee_of(const struct classes *classes, uint32_t node)
{
    const uint32_t outer = stacks_caller(classes->stacks, node);
    return outer != 0 && stacks_function(classes->stacks, outer) == classes->function
               ? classes->functions + stacks_function(classes->stacks, node)
               : CLASS_NONE;
}

static int compare_edges(const void *left, const void *right)
{
    const struct session_edge *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(b->count, a->count) ?: ORDER(a->function, b->function);
}

/* Lists edges, the most bytes first. The caller frees them; NULL with `error` set. */
static struct session_edge *list_edges(const struct stack_sum *sums, uint32_t functions,
                                       size_t *count, struct session_error *error)
{
    struct session_edge *edges = calloc(functions, sizeof(*edges));
    *count = 0;
    if (!edges)
        session_fail_memory(error, "the callers and callees");
    for (uint32_t id = 0; edges && id < functions; id++)
        if (sums[id].count > 0)
            edges[(*count)++] = (struct session_edge){
                .function = id, .bytes = sums[id].bytes, .count = sums[id].count};
    if (edges)
        qsort(edges, *count, sizeof(*edges), compare_edges);
    return edges;
}

bool selection_edges(struct selection *selection, uint32_t function, struct session_edge **callers,
                     size_t *caller_count, struct session_edge **callees, size_t *callee_count,
                     struct session_error *error)
{
    struct session *session = selection->session;
    const uint32_t functions = session->names.function_count;
    struct classes classes = {.class_of = caller_of,
                              .second_of = callee_of,
                              .function = function,
                              .functions = functions};
    const struct stack_sum *sums = load(selection, error);
    if (!sums || !sum_classes(session, sums, 2 * (size_t)functions, &classes, error))
        return false;
    *callers = list_edges(classes.sums, functions, caller_count, error);
    *callees = list_edges(classes.sums + functions, functions, callee_count, error);
    free(classes.sums);
    if (*callers && *callees)
        return true;
    FREE_ALL(*callers, *callees);
    return false;
}

/* ---- files and lines -------------------------------------------------------------------- */

/* Stores by file id 1 for the files of a name. Id 0 is not a file, whatever its name. The caller
 * frees them; NULL with `error` set. */
static uint8_t *find_files(const struct session *session, const char *path,
                           struct session_error *error)
{
    const struct name_table *files = &session->names.file;
    uint8_t *of_file = calloc((size_t)files->count + 1, sizeof(*of_file));
    for (uint32_t file = 1; of_file && file < files->count; file++)
        of_file[file] = files->name[file] && strcmp(files->name[file], path) == 0;
    if (!of_file)
        session_fail_memory(error, "a list of stacks");
    return of_file;
}

static uint32_t line_of(const struct classes *classes, uint32_t node)
{
    return classes->of_frame[stacks_frame(classes->stacks, node)];
}

/* Notes that a function has code of a line. */
static void add_function(const struct session *session, uint32_t function, bool first,
                         struct session_source_line *line)
{
    if (first)
        line->function = function;
    else if (line->function != 0 && strcmp(session_function_name(session, line->function),
                                           session_function_name(session, function)) != 0)
        line->function = 0;
}

/* Numbers the lines of a file that frames have, in ascending order: by frame in `of_frame`. Returns
 * rows for them, NULL with `error` set. */
static struct session_source_line *number_lines(const struct session *session,
                                                const uint8_t *of_file, uint32_t *of_frame,
                                                size_t *count, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < stacks->frame_count; i++) {
        const struct stack_frame *frame = &stacks->frame_table[i];
        const bool in_file = of_file[frame->file] != 0;
        of_frame[i] = in_file && frame->line != 0 ? frame->line : CLASS_NONE;
        largest = in_file && frame->line > largest ? frame->line : largest;
    }
    uint32_t *number = calloc((size_t)largest + 1, sizeof(*number));
    struct session_source_line *lines = NULL;
    *count = 0;
    for (uint32_t i = 0; number && i < stacks->frame_count; i++)
        if (of_frame[i] != CLASS_NONE)
            number[of_frame[i]] = 1;
    for (uint32_t line = 0; number && line <= largest; line++)
        if (number[line] != 0)
            number[line] = (uint32_t)++ * count;
    if (number)
        lines = calloc(*count + 1, sizeof(*lines));
    for (uint32_t i = 0; lines && i < stacks->frame_count; i++) {
        if (of_frame[i] == CLASS_NONE)
            continue;
        struct session_source_line *line = &lines[number[of_frame[i]] - 1];
        add_function(session, stacks->frame_table[i].function, line->line == 0, line);
        line->line = of_frame[i];
        of_frame[i] = (uint32_t)(line - lines);
    }
    free(number);
    if (!lines)
        session_fail_memory(error, "the lines");
    return lines;
}

/* Sums up the lines, and drops those without allocations. */
static bool sum_lines(const struct session *session, const struct stack_sum *sums,
                      const uint32_t *of_frame, struct session_source_line *lines, size_t *count,
                      struct session_error *error)
{
    struct classes classes = {.class_of = line_of, .of_frame = of_frame};
    const struct stacks *stacks = &session->stacks;
    if (!sum_classes(session, sums, *count, &classes, error))
        return false;
    for (uint32_t stack = 1; stack < stacks->count; stack++) {
        const uint32_t line = of_frame[stacks_call_site(stacks, stack) - stacks->frame_table];
        if (line != CLASS_NONE)
            lines[line].own_bytes += sums[stack].bytes;
    }
    size_t used = 0;
    for (size_t i = 0; i < *count; i++) {
        const struct stack_sum *sum = &classes.sums[i];
        if (sum->count > 0)
            lines[used++] = (struct session_source_line){.line = lines[i].line,
                                                         .allocations = sum->count,
                                                         .bytes = sum->bytes,
                                                         .live_count = sum->live_count,
                                                         .live_bytes = sum->live_bytes,
                                                         .at_peak_bytes = sum->at_peak_bytes,
                                                         .own_bytes = lines[i].own_bytes,
                                                         .function = lines[i].function};
    }
    *count = used;
    free(classes.sums);
    return true;
}

bool selection_source(struct selection *selection, const char *path,
                      struct session_source_line **lines, size_t *count,
                      struct session_error *error)
{
    struct session *session = selection->session;
    const struct stacks *stacks = &session->stacks;
    const struct stack_sum *sums = load(selection, error);
    uint8_t *of_file = sums ? find_files(session, path, error) : NULL;
    uint32_t *of_frame = of_file ? calloc(stacks->frame_count + 1, sizeof(*of_frame)) : NULL;
    *lines = NULL;
    *count = 0;
    if (of_file && !of_frame)
        session_fail_memory(error, "the lines");
    if (of_frame)
        *lines = number_lines(session, of_file, of_frame, count, error);
    if (*lines && !sum_lines(session, sums, of_frame, *lines, count, error)) {
        free(*lines);
        *lines = NULL;
    }
    FREE_ALL(of_file, of_frame);
    return *lines != NULL;
}

ARRAY_ORDER(compare_files, struct session_source_file, strcmp(a->path, b->path))

static uint32_t file_of(const struct classes *classes, uint32_t node)
{
    return classes->stacks->frame_table[stacks_frame(classes->stacks, node)].file;
}

/* Stores by file id 1 if frames of the user's own code are in it. The caller frees them; NULL with
 * `error` set. */
static uint8_t *find_own_files(struct session *session, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    uint8_t *own = calloc((size_t)session->names.file.count + 1, sizeof(*own));
    bool *functions = NULL;
    size_t count;
    if (!own)
        session_fail_memory(error, "the files");
    if (!own || !session_own_functions(session, &functions, &count, error)) {
        free(own);
        return NULL;
    }
    for (uint32_t i = 0; i < stacks->frame_count; i++)
        own[stacks->frame_table[i].file] |= functions[stacks->frame_table[i].function];
    free(functions);
    return own;
}

bool selection_source_files(struct selection *selection, struct session_source_file **files,
                            size_t *count, struct session_error *error)
{
    struct classes classes = {.class_of = file_of};
    struct session *session = selection->session;
    const struct name_table *names = &session->names.file;
    const struct stack_sum *sums = load(selection, error);
    uint8_t *own = sums ? find_own_files(session, error) : NULL;
    *count = 0;
    *files = own ? calloc((size_t)names->count + 1, sizeof(**files)) : NULL;
    if (own && !*files)
        session_fail_memory(error, "the files");
    if (!*files || !sum_classes(session, sums, names->count, &classes, error)) {
        FREE_ALL(own, *files);
        *files = NULL;
        return false;
    }
    for (uint32_t file = 1; file < names->count; file++) {
        const struct stack_sum *sum = &classes.sums[file];
        if (sum->bytes > 0 || sum->live_bytes > 0)
            (*files)[(*count)++] =
                (struct session_source_file){name_table_get(names, file), sum->bytes,
                                             sum->live_bytes, sum->at_peak_bytes, own[file] != 0};
    }
    qsort(*files, *count, sizeof(**files), compare_files);
    FREE_ALL(own, classes.sums);
    return true;
}

/* ---- the stacks that have a function or a line ------------------------------------------ */

enum { PIECES_MOST = 100000 }; /* a text of the language has at most 500,000 tokens */

bool session_function_is_alone(const struct session *session, uint32_t function)
{
    const struct name_function *all = session->names.function;
    const uint32_t count = session->names.function_count;
    if (function >= count)
        return true;
    for (uint32_t other = 1; other < count; other++)
        if (all[other].hash == all[function].hash && other != function &&
            strcmp(all[other].name, all[function].name) == 0)
            return false;
    return true;
}

/* The function or the file that is sought, and the frames that count. */
struct wanted {
    uint32_t function;
    enum session_function_part part;
    const uint32_t *users; /* the user's frames by stack, of SESSION_AT_USER */
    uint8_t *of_node;      /* 1: the node or one outward of it fits, of SESSION_ANYWHERE */
    uint8_t *of_file;      /* by file id: 1 if it is the file; NULL: the function is sought */
    uint32_t line;         /* 0: any */
};

static bool fits(const struct wanted *wanted, const struct stack_frame *frame)
{
    if (!wanted->of_file)
        return frame->function == wanted->function;
    return wanted->of_file[frame->file] && (wanted->line == 0 || frame->line == wanted->line);
}

static bool has(const struct stacks *stacks, uint32_t stack, const struct wanted *wanted)
{
    if (wanted->part == SESSION_AT_USER)
        return fits(wanted, &stacks->frame_table[wanted->users[stack]]);
    if (!wanted->of_file && stacks->function[stack] == wanted->function)
        return true;
    return wanted->part == SESSION_ANYWHERE && wanted->of_node[stacks_node(stacks, stack)];
}

/* Finds the nodes of stacks that pass through what is wanted. */
static bool find_nodes(struct session *session, struct wanted *wanted, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    if (!stacks_frames(&session->stacks, error))
        return false;
    if (!(wanted->of_node = calloc(stacks->all.count, 1)))
        return session_fail_memory(error, "a list of stacks");
    for (uint32_t node = stacks->all.count; node-- > 1;)
        wanted->of_node[node] = wanted->of_node[stacks_caller(stacks, node)] ||
                                fits(wanted, &stacks->frame_table[stacks_frame(stacks, node)]);
    return true;
}

/* Writes the stacks, each run of numbers as one piece. Returns how many pieces there are. */
static size_t put_stacks(const struct session *session, const struct wanted *wanted, FILE *out)
{
    const struct stacks *stacks = &session->stacks;
    size_t pieces = 0;
    /* Stack 0 is not a stack. */
    for (uint32_t stack = 1; stack < stacks->count && pieces <= PIECES_MOST; stack++) {
        const uint32_t first = stack;
        if (stack % 4096 == 0 && scan_cancelled(session))
            break;
        while (stack < stacks->count && has(stacks, stack, wanted))
            stack++;
        if (stack == first)
            continue;
        fprintf(out, "%s%" PRIu32, pieces++ > 0 ? ", " : "stack in (", first);
        if (stack - 1 > first)
            fprintf(out, "..%" PRIu32, stack - 1);
    }
    fputs(pieces > 0 ? ")" : "", out);
    return pieces;
}

static bool write_test(struct session *session, const struct wanted *wanted, char **test,
                       struct session_error *error)
{
    size_t size;
    FILE *out = open_memstream(test, &size);
    const size_t pieces = out ? put_stacks(session, wanted, out) : 0;
    bool good = out && !ferror(out);
    free(wanted->of_node);
    if ((out && fclose(out) != 0) || !good)
        good = session_fail_memory(error, "a list of stacks");
    else
        good = scan_go_on(session, error);
    if (!good || pieces == 0 || pieces > PIECES_MOST) {
        free(*test);
        *test = NULL;
    }
    return good;
}

bool session_function_stacks(struct session *session, uint32_t function,
                             enum session_function_part part, char **test,
                             struct session_error *error)
{
    struct wanted wanted = {.function = function, .part = part};
    *test = NULL;
    if ((part == SESSION_AT_USER && !user_frames(session, &wanted.users, error)) ||
        (part == SESSION_ANYWHERE && !find_nodes(session, &wanted, error)))
        return false;
    return write_test(session, &wanted, test, error);
}

bool session_source_stacks(struct session *session, const char *path, uint32_t line, char **test,
                           struct session_error *error)
{
    struct wanted wanted = {.line = line, .of_file = find_files(session, path, error)};
    *test = NULL;
    const bool good = wanted.of_file && find_nodes(session, &wanted, error) &&
                      write_test(session, &wanted, test, error);
    free(wanted.of_file);
    return good;
}
