/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of leaks: groups of never freed blocks, and in a pane the whole stack of the selected
 * one. It chooses what suppresses a group, and writes that beside the session (supp_file.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/leaks.h"
#include "session/user_code.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/offers.h"
#include "tui/view/common/table_view.h"
#include "tui/view/leaks/supp_file.h"

/* A pattern that suppresses a group, and what else it takes. */
struct leak_pattern {
    char text[600];         /* "": no frame of the group has a name */
    uint64_t groups, bytes; /* of the others */
};

struct leak_question {
    struct load load;
    const struct leaks_data *of; /* NULL: nothing is asked */
    size_t group;
};

struct leaks {
    struct table_view view;
    uint64_t writes;  /* of the file of suppressions: changes with each */
    uint64_t noted;   /* list.ordered of the rows whose note the user has seen */
    size_t nth;       /* stack of the group that the pane shows */
    uint64_t nth_key; /* of that group */
    struct leak_question shown_pattern, written_pattern; /* of the selected group; of `X` */
    const struct leak_pattern *pattern; /* of the selected group, NULL while it is not known */
    struct function_matchers matchers;  /* of selected_function() */
    uint32_t
        told; /* the function that other views select because the stack has the keys; 0: none */
};

struct leak_row {
    uint64_t key; /* in another filter it is the same if its type and its largest stack are */
    struct session_leak leak;
    uint32_t user, site;             /* functions; user 0: none */
    size_t first_frame, frame_count; /* in `frames`: its largest stack, innermost first */
    size_t user_frame;               /* the user's of these, or else the call site, or else 0 */
    uint32_t caller; /* a function farther out that no group like this one has; 0: none is needed */
};

struct leaks_data {
    struct list_data list;             /* of[2]: writes */
    struct suppressions *suppressions; /* of the file beside the session */
    char note[SUPP_ERROR_SIZE];        /* about that file; "": none */
    struct session_leaks leaks;        /* its groups are the rows */
    uint32_t *frames;                  /* functions, `frame_count` in all groups */
    size_t frame_count;
};

#define LEAK_FRAMES 512
struct frame_row {
    uint64_t place;
    struct session_frame frame;
};

/* The whole stack of a group. */
struct stack_data {
    struct list_data list; /* of[1]: the stack and its place in the group */
    struct frame_row rows[LEAK_FRAMES];
    size_t user, site;
    uint32_t stack;
};

#define AT(member) offsetof(struct leak_row, leak.member)
enum {
    COLUMN_EACH = 3,
    COLUMN_WHERE,
    COLUMN_TYPE,
    COLUMN_WHAT,
    COLUMN_WHEN,
    COLUMN_SITE = 10,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    {"bytes", 6, .keep = true, .meaning = "live at the end", .file = "live_bytes",
     .number = TABLE_BYTES, .at = AT(bytes), .bar = true},
    {"share", 5, 90, .unsorted = true, .meaning = "of the bytes of all groups",
     .number = TABLE_SHARE, .at = AT(bytes)},
    {"blocks", 6, .keep = true, .meaning = "live at the end", .file = "live_count",
     .number = TABLE_COUNT, .at = AT(blocks)},
    [COLUMN_EACH] = {"× bytes", 12, 90, .file = "size",
                     .meaning = "the size of a block, or the smallest and the largest",
                     .number = TABLE_BYTES, .at = AT(most_size)},
    [COLUMN_WHERE] = {"allocated by", .keep = true, .text = true, .cut = TABLE_CUT_NAME,
                      .meaning =
                          "innermost function of your own code on the stack, and a caller if "
                          "other groups have it, too",
                      .file = "allocated_by"},
    [COLUMN_TYPE] = {"type", 0, 76, .text = true, .cut = TABLE_CUT_CATEGORY,
                     .meaning = "type of the blocks; ? after an inferred one"},
    [COLUMN_WHAT] = {"what", 11, 50, .text = true,
                     .meaning = "leak, early leak (of the start of the run), or why it is none; if "
                                "the references were taken, what reaches its blocks"},
    [COLUMN_WHEN] = {"when", 16, 96, .text = true, .unsorted = true,
                     .meaning = "tenths of the run that allocated blocks of the group"},
    {"first", 8, 125, .meaning = "time of the first allocation", .file = "first_ns",
     .number = TABLE_INSTANT, .at = AT(first_ns)},
    {"last", 8, 125, .meaning = "time of the last allocation", .file = "last_ns",
     .number = TABLE_INSTANT, .at = AT(last_ns)},
    [COLUMN_SITE] = {"call site", 0, 170, .text = true, .cut = TABLE_CUT_NAME, .file = "function",
                     .meaning = "the function that allocates, wrappers skipped"},
};

/* ---- groups ----------------------------------------------------------------------------- */

static bool ask(const void *view, const struct browse *browse, struct list_request *request)
{
    request->of[2] = ((const struct leaks *)view)->writes;
    return true;
}

/* Frames that are kept of all groups, and at least of each. */
enum { FRAMES_IN_ALL = 1 << 24, FRAMES_OF_EACH = 16 };

/* Finds the names under which groups are listed. */
static bool name_groups(struct session *session, struct leaks_data *data, struct leak_row *rows)
{
    const struct session_leaks *leaks = &data->leaks;
    struct session_frame frames[LEAK_FRAMES];
    const size_t share = FRAMES_IN_ALL / (leaks->count + 1);
    const size_t most = share > LEAK_FRAMES      ? LEAK_FRAMES
                        : share < FRAMES_OF_EACH ? FRAMES_OF_EACH
                                                 : share;
    size_t kept = 0, room = 0;
    for (size_t i = 0; i < leaks->count; i++) {
        const struct session_leak *leak = &leaks->leaks[i];
        const size_t count = session_stack(session, leak->stack, frames, most);
        const size_t known = count < most ? count : most;
        const size_t user = session_stack_user(session, leak->stack);
        const size_t site = session_stack_call_site(session, leak->stack);
        if (!array_grow(&data->frames, &room, kept + known, sizeof(*data->frames)))
            return false;
        for (size_t frame = 0; frame < known; frame++)
            data->frames[kept + frame] = frames[frame].function;
        rows[i] = (struct leak_row){
            .key = (uint64_t)leak->stack << 32 | (uint64_t)leak->reach << 29 | leak->type,
            .leak = *leak,
            .user = user < known ? frames[user].function : 0,
            .site = site < known ? frames[site].function : 0,
            .first_frame = kept,
            .frame_count = known,
            .user_frame = user < known   ? user
                          : site < known ? site
                                         : 0,
        };
        kept += known;
    }
    data->frame_count = kept;
    return true;
}

/* Returns the function that a group is listed under. */
static uint32_t function_of(const struct leak_row *row)
{
    return row->user != 0 ? row->user : row->site;
}

/* Groups in the order of their names, and of those with one name by the functions that call it. */
struct order {
    const struct leaks_data *data;
    const struct leak_row *rows;
    const bool *own; /* by function: the user's own code */
    size_t functions;
};

/* Returns the next function of the user's own code outwards of a frame of a group, 0 after the
 * last, and moves to it. */
static uint32_t next_own(const struct order *order, const struct leak_row *row, size_t *frame)
{
    while (++*frame < row->frame_count) {
        const uint32_t function = order->data->frames[row->first_frame + *frame];
        if (function < order->functions && order->own[function])
            return function;
    }
    return 0;
}

/* Compares the callers of two groups. Returns how many are the same, and stores the next ones. */
static size_t same_callers(const struct order *order, const struct leak_row *a,
                           const struct leak_row *b, uint32_t differing[2])
{
    size_t at_a = a->user_frame, at_b = b->user_frame, same = 0;
    do {
        differing[0] = next_own(order, a, &at_a);
        differing[1] = next_own(order, b, &at_b);
    } while (differing[0] == differing[1] && differing[0] != 0 && ++same);
    return same;
}

static int compare_callers(const void *left, const void *right, void *context)
{
    const struct order *order = context;
    const struct leak_row *a = &order->rows[*(const size_t *)left];
    const struct leak_row *b = &order->rows[*(const size_t *)right];
    uint32_t differing[2];
    if (function_of(a) != function_of(b))
        return function_of(a) < function_of(b) ? -1 : 1;
    if (a->leak.type != b->leak.type)
        return a->leak.type < b->leak.type ? -1 : 1;
    same_callers(order, a, b, differing);
    return ORDER(differing[0], differing[1]);
}

/* Finds for groups of one function and type the caller from which on each differs from all others:
 * the one most like it is its neighbour in the order. */
static bool find_callers(struct session *session, struct leaks_data *data, struct leak_row *rows)
{
    const size_t count = data->leaks.count;
    struct order order = {.data = data, .rows = rows};
    struct session_error error;
    bool *own;
    size_t *sorted = malloc((count + 1) * sizeof(*sorted));
    if (!sorted || !session_own_functions(session, &own, &order.functions, &error)) {
        free(sorted);
        return false;
    }
    order.own = own;
    for (size_t i = 0; i < count; i++)
        sorted[i] = i;
    qsort_r(sorted, count, sizeof(*sorted), compare_callers, &order);
    size_t before = 0; /* callers that a group shares with the one before it */
    for (size_t i = 0; i + 1 < count; i++) {
        struct leak_row *a = &rows[sorted[i]], *b = &rows[sorted[i + 1]];
        uint32_t differing[2];
        const bool alike = function_of(a) == function_of(b) && a->leak.type == b->leak.type;
        const size_t same = alike ? same_callers(&order, a, b, differing) : 0;
        if (alike && (a->caller == 0 || same > before))
            a->caller = differing[0];
        if (alike)
            b->caller = differing[1];
        before = same;
    }
    FREE_ALL(own, sorted);
    return true;
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct leaks_data *data = context;
    char path[SUPP_PATH_SIZE];
    data->suppressions =
        supp_file_read(supp_file_path(path, sizeof(path), session_path(session)), data->note);
    if (!selection_leaks(selection, data->suppressions, &data->leaks, error))
        return false;
    data->list.rows = calloc(data->leaks.count + 1, sizeof(struct leak_row));
    if (!data->list.rows || !name_groups(session, data, data->list.rows) ||
        !find_callers(session, data, data->list.rows)) {
        snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
        return false;
    }
    data->list.count = data->leaks.count;
    return true;
}

static void clear(void *context)
{
    struct leaks_data *data = context;
    suppressions_free(data->suppressions);
    session_leaks_free(&data->leaks);
    FREE_ALL(data->list.rows, data->frames);
}

static uint64_t rank(const void *view, const void *row)
{
    const struct session_leak *leak = &((const struct leak_row *)row)->leak;
    return leak->kind > SESSION_LEAK_START_UP ? 2 * SESSION_LEAK_REACHES + leak->kind
                                              : 2 * leak->reach + leak->kind;
}

enum { SIZE_TEXT = 72 };

/* Writes "16 to 124 B", or the size of all blocks. */
static char *size_text(char *out, const struct session_leak *leak)
{
    char least[FORMAT_SIZE], most[FORMAT_SIZE];
    format_size_short(least, leak->least_size);
    format_size_short(most, leak->most_size);
    if (leak->least_size == leak->most_size)
        snprintf(out, SIZE_TEXT, "%s", least);
    else if (strcmp(least, most) == 0)
        snprintf(out, SIZE_TEXT, "≈%s", least);
    else
        snprintf(out, SIZE_TEXT, "%s–%s", least, most);
    return out;
}

/* Writes the name of the type, and how sure it is. */
static void type_text(char *out, size_t size, const struct session *session,
                      const struct session_leak *leak)
{
    snprintf(out, size, "%s%s", session_type_name(session, leak->type),
             leak->type == 0 || leak->exact ? "" : "?");
}

static void put_function(const struct session *session, uint32_t function, struct table_cell *cell)
{
    if (function != 0)
        list_function_cell(session, function, cell);
    else
        cell->name = "no function known";
}

static void cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    static const char *const kinds[] = {"leak", "early leak", "suppressed", "runtime",
                                        "suppressed"};
    const struct session *session = ((const struct leaks *)view)->view.session;
    const struct leak_row *group = row;
    const struct session_leak *leak = &group->leak;
    const bool later = leak->kind == SESSION_LEAK_LATER,
               live = later && (session_recording(session) || session_stopped(session));
    cell->styled = !later || column == COLUMN_WHAT;
    cell->style = theme_style(!later ? THEME_FAINT : live ? THEME_PLAIN : THEME_WARNING);
    switch (column) {
    case COLUMN_EACH:
        size_text(cell->text, leak);
        cell->is_number = leak->least_size == leak->most_size;
        break;
    case COLUMN_WHERE:
        if (group->user == 0 && strstr(session_function_name(session, group->site), "+0x"))
            snprintf(cell->text, sizeof(cell->text), "in %.200s",
                     session_function_module(session, group->site));
        else
            put_function(session, function_of(group), cell);
        if (group->caller != 0)
            cell->caller = session_function_name(session, group->caller);
        break;
    case COLUMN_SITE:
        put_function(session, group->site, cell);
        break;
    case COLUMN_TYPE:
        if (leak->type != 0 && leak->exact)
            cell->name = session_type_name(session, leak->type);
        else
            type_text(cell->text, sizeof(cell->text), session, leak);
        break;
    case COLUMN_WHAT:
        cell->name = live                                 ? "live"
                     : leak->kind > SESSION_LEAK_START_UP ? kinds[leak->kind]
                     : leak->reach == SESSION_LEAK_REACH_UNKNOWN
                         ? kinds[leak->kind]
                         : session_leak_reach_word(leak->reach);
        break;
    case COLUMN_WHEN:
        if (leak->blocks == 1 || leak->first_ns == leak->last_ns)
            cell->name = "once";
        else
            snprintf(cell->text, sizeof(cell->text), "%s%u of 10",
                     leak->tenths >= 8 ? "steady, " : "", leak->tenths);
        break;
    default:
        break;
    }
}

/* The filter language allows a list of so many items. */
enum { ITEMS_MOST = 100000 };

/* Writes the stacks of a group as the items of a list. Returns their number. */
static size_t write_stacks(FILE *out, const struct session_leaks *leaks,
                           const struct session_leak *leak)
{
    uint32_t *ids = malloc((leak->stack_count + 1) * sizeof(*ids));
    size_t items = 0;
    if (!ids)
        return SIZE_MAX;
    for (size_t i = 0; i < leak->stack_count; i++)
        ids[i] = leaks->stacks[leak->first_stack + i].stack;
    qsort(ids, leak->stack_count, sizeof(*ids), array_order32);
    for (size_t i = 0, last; i < leak->stack_count; i = last + 1, items++) {
        for (last = i; last + 1 < leak->stack_count && ids[last + 1] == ids[last] + 1;)
            last++;
        fprintf(out, last > i ? "%s%" PRIu32 "..%" PRIu32 : "%s%" PRIu32, items > 0 ? ", " : "",
                ids[i], ids[last]);
    }
    free(ids);
    return items;
}

/* Returns the step that selects exactly the blocks of a group. */
static char *step(const void *view, const void *row, const char **why)
{
    const struct leaks *leaks = view;
    const struct leaks_data *data = leaks->view.list.data;
    const struct session_leak *leak = &((const struct leak_row *)row)->leak;
    char *step = NULL,
         *type = list_name_step(
             "type", leak->type == 0 ? NULL : session_type_name(leaks->view.session, leak->type));
    size_t size, items = 1;
    FILE *out = type ? open_memstream(&step, &size) : NULL;
    if (!out) {
        free(type);
        return NULL;
    }
    fputs("where freed == false and stack ", out);
    if (leak->stack == 0 && leak->stack_count == 1) {
        fputs("is null", out);
    } else if (leak->stack_count == 1) {
        fprintf(out, "== %" PRIu32, leak->stack);
    } else {
        fputs("in (", out);
        items = write_stacks(out, &data->leaks, leak);
        fputc(')', out);
    }
    fprintf(out, " and %s", type + strlen("where "));
    if (data->leaks.has_reach && leak->kind <= SESSION_LEAK_START_UP)
        fprintf(out,
                leak->reach == SESSION_LEAK_REACH_UNKNOWN
                    ? " and (reachability is null or reachability == %s)"
                    : " and reachability == %s",
                session_leak_reach_word(leak->reach));
    free(type);
    if (fclose(out) == 0 && items <= ITEMS_MOST)
        return step;
    if (items != SIZE_MAX)
        *why =
            "the group has too many stacks for a filter: Tab, then Enter lists the blocks of one "
            "of them";
    free(step);
    return NULL;
}

static void label(const void *view, const void *row, char *out, size_t size)
{
    snprintf(out, size, "the blocks of this group");
}

static const struct list_kind groups_list = {LIST_OF(struct leak_row),
                                             .load = LIST_LOAD(leaks_data, run, clear),
                                             .ask = ask,
                                             .cell = cell,
                                             .rank = rank,
                                             .step = step,
                                             .label = label};

/* ---- the stack -------------------------------------------------------------------------- */

enum { FRAME_FUNCTION, FRAME_PLACE, FRAME_NOTE, FRAME_MODULE, FRAME_COLUMNS };

static const struct table_column frame_columns[FRAME_COLUMNS] = {
    [FRAME_FUNCTION] = {"function, innermost first", .text = true, .keep = true, .unsorted = true,
                        .cut = TABLE_CUT_NAME},
    [FRAME_PLACE] = {"where", 24, 46, .text = true, .unsorted = true},
    [FRAME_NOTE] = {"how", 8, 64, .text = true, .unsorted = true},
    [FRAME_MODULE] = {"module", 18, 90, .text = true, .unsorted = true},
};

/* Returns the stack of the selected group that the pane shows. */
static const struct session_leak_stack *shown_stack(const struct leaks *leaks)
{
    const struct leaks_data *data = leaks->view.list.data;
    const struct leak_row *row = list_selected(&leaks->view.list);
    return &data->leaks.stacks[row->leak.first_stack + leaks->nth];
}

static bool ask_stack(const void *view, const struct browse *browse, struct list_request *request)
{
    const struct leaks *leaks = view;
    request->of[1] = (uint64_t)shown_stack(leaks)->stack << 32 | leaks->nth;
    return true;
}

static bool run_stack(struct session *session, struct selection *selection, void *context,
                      struct session_error *error)
{
    struct stack_data *data = context;
    struct session_frame frames[LEAK_FRAMES];
    data->stack = (uint32_t)(data->list.request.of[1] >> 32);
    const size_t count = session_stack(session, data->stack, frames, LEAK_FRAMES);
    data->list.count = count < LEAK_FRAMES ? count : LEAK_FRAMES;
    data->list.rows = data->rows;
    for (size_t i = 0; i < data->list.count; i++)
        data->rows[i] = (struct frame_row){i, frames[i]};
    data->user = session_stack_user(session, data->stack);
    data->site = session_stack_call_site(session, data->stack);
    return true;
}

static void frame_cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct leaks *leaks = view;
    const struct stack_data *stack = leaks->view.side.data;
    const struct frame_row *shown = row;
    const struct session_frame *frame = &shown->frame;
    cell->styled = true;
    cell->style = theme_style(shown->place == stack->user  ? THEME_STRONG
                              : shown->place < stack->site ? THEME_FAINT
                                                           : THEME_PLAIN);
    if (column == FRAME_FUNCTION)
        cell->name = frame->function ? session_function_name(leaks->view.session, frame->function)
                                     : "no function known";
    else if (column == FRAME_NOTE)
        cell->name = frame->inlined ? "inlined" : frame->guessed ? "guessed" : "";
    else if (column == FRAME_MODULE)
        cell->name = session_function_module(leaks->view.session, frame->function);
    else if (frame->line != 0)
        snprintf(cell->text, sizeof(cell->text), "%s:%" PRIu32, basename(frame->file), frame->line);
}

static char *stack_step(const void *view, const void *row, const char **why)
{
    const struct stack_data *stack = ((const struct leaks *)view)->view.side.data;
    char *step;
    if (stack->stack == 0)
        return strdup("where freed == false and stack is null");
    return asprintf(&step, "where freed == false and stack == %" PRIu32, stack->stack) < 0 ? NULL
                                                                                           : step;
}

static void stack_label(const void *view, const void *row, char *out, size_t size)
{
    snprintf(out, size, "the blocks of this stack");
}

static const struct list_kind stack_list = {.columns = frame_columns,
                                            .column_count = FRAME_COLUMNS,
                                            .row_size = sizeof(struct frame_row),
                                            .none = "no stack was taken",
                                            .load = LIST_LOAD(stack_data, run_stack, NULL),
                                            .ask = ask_stack,
                                            .cell = frame_cell,
                                            .step = stack_step,
                                            .label = stack_label};

static const struct list_kind *choose_stack(void *view, const void *row)
{
    struct leaks *leaks = view;
    const struct leak_row *group = row;
    if (leaks->nth_key != group->key || leaks->nth >= group->leak.stack_count)
        leaks->nth = 0;
    leaks->nth_key = group->key;
    return &stack_list;
}

/* Begins at the call site, with the user's frame selected. */
static void begin_stack(void *view)
{
    struct list *side = &((struct leaks *)view)->view.side;
    const struct stack_data *stack = side->data;
    side->table.selected = stack->user < stack->list.count ? stack->user : stack->site;
    side->table.first = stack->site > 0 ? stack->site - 1 : 0;
}

/* ---- patterns --------------------------------------------------------------------------- */

struct pattern_data {
    struct {
        const struct leaks_data *of; /* held */
        uint64_t group;
    } request;
    struct leak_pattern best;
};

/* A search on the engine's thread. */
struct search {
    struct session *session;
    const struct leaks_data *data;
    const struct leak_row *rows;
    size_t group;
    char *takes;  /* by function: what the pattern does with it, 0 while nobody has asked */
    size_t count; /* of functions */
};

enum { TAKES = 1, LEAVES = 2, BETWEEN_LOOKS = 1000 };

/* Frames that are looked at for one pattern: a group of many frames beside many others tries fewer
 * of its functions, but some. */
enum { LOOKS_MAX = 1 << 28, TRIES_MIN = 4 };

/* Returns true if a pattern names a function or its module. The patterns that this view writes name
 * no source files. */
static bool takes_function(const struct search *search, const char *pattern, uint32_t function)
{
    char *known = &search->takes[function];
    if (*known == 0)
        *known =
            suppression_matches(pattern, session_function_name(search->session, function)) ||
                    suppression_matches(pattern, session_function_module(search->session, function))
                ? TAKES
                : LEAVES;
    return *known == TAKES;
}

static bool takes_group(const struct search *search, const char *pattern, size_t group)
{
    const struct leak_row *row = &search->rows[group];
    for (size_t i = 0; i < row->frame_count; i++)
        if (takes_function(search, pattern, search->data->frames[row->first_frame + i]))
            return true;
    return false;
}

/* Sums up the other groups that a pattern would take from the leaks. */
static bool add_others(const struct search *search, struct leak_pattern *pattern,
                       struct session_error *error)
{
    memset(search->takes, 0, search->count);
    pattern->groups = pattern->bytes = 0;
    for (size_t i = 0; i < search->data->list.count; i++) {
        const struct session_leak *leak = &search->rows[i].leak;
        if (i % BETWEEN_LOOKS == 0 && !session_job_goes_on(search->session, error))
            return false;
        if (i != search->group && leak->kind <= SESSION_LEAK_START_UP &&
            takes_group(search, pattern->text, i)) {
            pattern->groups++;
            pattern->bytes += leak->bytes;
        }
    }
    return true;
}

/* Chooses among the frames of the group, from the user's own outwards, the function that names the
 * group and the fewest bytes of others. */
static bool choose_pattern(const struct search *search, struct leak_pattern *best,
                           struct session_error *error)
{
    const struct leak_row *row = &search->rows[search->group];
    const size_t tries = TRIES_MIN + LOOKS_MAX / (search->data->frame_count + 1);
    struct leak_pattern tried;
    for (size_t i = row->user_frame; i < row->frame_count && i - row->user_frame < tries; i++) {
        if (!session_leak_frame_pattern(search->session, search->data->frames[row->first_frame + i],
                                        tried.text, sizeof(tried.text)) ||
            (best->text[0] && tried.text[0] != '^'))
            continue;
        if (!add_others(search, &tried, error))
            return false;
        if (!best->text[0] || tried.bytes < best->bytes)
            *best = tried;
        if (best->groups == 0)
            break;
    }
    return true;
}

static bool run_pattern(struct session *session, struct selection *selection, void *context,
                        struct session_error *error)
{
    struct pattern_data *data = context;
    struct search search = {.session = session,
                            .data = data->request.of,
                            .rows = data->request.of->list.rows,
                            .group = (size_t)data->request.group,
                            .count = (size_t)session_function_count(session) + 1};
    search.takes = calloc(search.count, 1);
    if (!search.takes) {
        snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
        return false;
    }
    const bool good = choose_pattern(&search, &data->best, error);
    free(search.takes);
    return good;
}

static void clear_pattern(void *context)
{
    load_let_go((void *)((struct pattern_data *)context)->request.of);
}

static void forget_pattern(struct leak_question *question, struct browse *browse)
{
    load_clear(&browse->loader, &question->load);
    load_let_go((void *)question->of);
    question->of = NULL;
}

/* Asks for the pattern of the selected group. The question holds the data. */
static void ask_pattern(struct leak_question *question, struct browse *browse,
                        const struct list *list)
{
    const size_t group = list->order[list->table.selected];
    if (question->of == list->data && question->group == group)
        return;
    forget_pattern(question, browse);
    question->of = load_hold((void *)list->data);
    question->group = group;
}

/* Returns the answer, NULL while there is none. It is valid until the next call. */
static const struct leak_pattern *take_pattern(struct leak_question *question,
                                               struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(pattern_data, run_pattern, clear_pattern);
    if (!question->of)
        return NULL;
    /* A request that is about to be made holds the data, too. */
    const struct pattern_data wanted = {.request = {question->of, question->group}};
    if (!question->load.job && !question->load.shown)
        load_hold((void *)question->of);
    const struct pattern_data *data = browse_get(browse, &question->load, &kind, &wanted.request);
    if (!data && !question->load.job)
        forget_pattern(question, browse); /* it cannot be asked */
    return data ? &data->best : NULL;
}

/* ---- suppressions ----------------------------------------------------------------------- */

/* Returns true if the file beside the session has the pattern. */
static bool is_own(const struct leaks_data *data, const char *pattern)
{
    const struct suppressions *all = data->suppressions;
    for (size_t i = 0; all && i < suppressions_count(all); i++)
        if (strcmp(suppressions_pattern(all, i), pattern) == 0)
            return true;
    return false;
}

static void unsuppress(struct leaks *leaks, struct browse *browse, const char *pattern)
{
    char path[SUPP_PATH_SIZE], error[SUPP_ERROR_SIZE];
    supp_file_path(path, sizeof(path), session_path(browse->session));
    if (!is_own(leaks->view.list.data, pattern)) {
        browse_complain(browse, "%.100s comes from mprof-ingest: it is not in %.150s", pattern,
                        path);
    } else if (!supp_file_remove(path, pattern, error)) {
        browse_complain(browse, "%s", error);
    } else {
        browse_say(browse, "no longer suppressed: leak:%.100s is taken out of %.150s", pattern,
                   path);
        leaks->writes++;
    }
}

static void say_suppressed(struct browse *browse, const struct leak_pattern *pattern,
                           const char *path)
{
    char bytes[FORMAT_SIZE], groups[FORMAT_SIZE];
    if (strcmp(pattern->text, "^main$") == 0)
        browse_complain(
            browse, "suppressed this group and all that main() leaks: leak:%s is added to %.120s",
            pattern->text, path);
    else if (pattern->groups == 0)
        browse_say(browse, "suppressed this group alone: leak:%.120s is added to %.120s",
                   pattern->text, path);
    else
        browse_complain(browse,
                        "suppressed this group and %s other%s, %s: leak:%.120s is added to %.120s",
                        format_count(groups, pattern->groups), pattern->groups == 1 ? "" : "s",
                        format_size(bytes, pattern->bytes), pattern->text, path);
}

/* Writes the suppression that the user has asked for as soon as its pattern is known. */
static void write_pattern(struct leaks *leaks, struct browse *browse)
{
    struct leak_question *question = &leaks->written_pattern;
    char path[SUPP_PATH_SIZE], error[SUPP_ERROR_SIZE], about[200];
    char bytes[FORMAT_SIZE], blocks[FORMAT_SIZE];
    const bool asked = question->of != NULL;
    const struct leak_pattern *pattern = take_pattern(question, browse);
    if (!pattern) {
        if (asked && question->of)
            browse_say(browse, "finding what else the suppression takes …");
        return;
    }
    const struct leak_row *rows = question->of->list.rows;
    const struct session_leak *leak = &rows[question->group].leak;
    supp_file_path(path, sizeof(path), session_path(browse->session));
    snprintf(about, sizeof(about), "%s in %s block%s", format_size(bytes, leak->bytes),
             format_count(blocks, leak->blocks), format_plural(leak->blocks));
    if (pattern->text[0] == 0) {
        browse_complain(browse, "no frame of the stack has a name to suppress");
    } else if (!supp_file_add(path, pattern->text, about, error)) {
        browse_complain(browse, "%s", error);
    } else {
        leaks->writes++;
        say_suppressed(browse, pattern, path);
    }
    forget_pattern(question, browse);
}

static void suppress(struct leaks *leaks, struct browse *browse)
{
    const struct leak_row *row = list_selected(&leaks->view.list);
    if (!row)
        return;
    if (session_recording(browse->session))
        browse_complain(browse, "nothing is known of leaks while the program runs");
    else if (row->leak.kind == SESSION_LEAK_SUPPRESSED ||
             row->leak.kind == SESSION_LEAK_SUPPRESSED_HERE)
        unsuppress(leaks, browse, row->leak.why);
    else
        ask_pattern(&leaks->written_pattern, browse, &leaks->view.list);
}

/* ---- actions ---------------------------------------------------------------------------- */

/* Returns the function of the selected frame if the pane has the keys, otherwise the one that the
 * selected group is listed under; 0: none. */
static uint32_t selected_function(const struct leaks *leaks)
{
    const struct leak_row *group = list_selected(&leaks->view.list);
    const struct frame_row *frame = leaks->view.in_side ? list_selected(&leaks->view.side) : NULL;
    return frame ? frame->frame.function : group ? function_of(group) : 0;
}

/* Opens the line of the selected frame or, in the groups, of the frame that they name. */
static void open_source(const struct leaks *leaks, struct browse *browse)
{
    const struct list *side = &leaks->view.side;
    const struct stack_data *stack = side->data;
    const size_t named = !stack ? 0 : stack->user < side->count ? stack->user : stack->site;
    const size_t at = leaks->view.in_side ? side->table.selected : named;
    if (!stack || at >= side->count || stack->rows[at].frame.line == 0) {
        browse_complain(browse, "the source of this frame is not known");
        return;
    }
    browse_open_source(browse, stack->rows[at].frame.file, stack->rows[at].frame.line);
    browse->source_live = true;
}

static bool act(void *view, struct browse *browse, const struct view_input *input)
{
    struct leaks *leaks = view;
    const struct leak_row *row = list_selected(&leaks->view.list);
    bool used = true;
    if (input->action == ACTION_LEFT || input->action == ACTION_RIGHT) {
        const size_t count = row ? row->leak.stack_count : 1;
        leaks->nth = (leaks->nth + (input->action == ACTION_RIGHT ? 1 : count - 1)) % count;
    } else if (input->action == ACTION_OPEN) {
        open_source(leaks, browse);
    } else if (input->action == ACTION_SUPPRESS) {
        suppress(leaks, browse);
    } else {
        used = false;
    }
    write_pattern(leaks, browse);
    return used;
}

static void loaded(void *view, struct browse *browse)
{
    struct leaks *leaks = view;
    const struct leaks_data *data = leaks->view.list.data;
    leaks->pattern = NULL;
    if (!data || !data->note[0] || leaks->noted == leaks->view.list.ordered)
        return;
    leaks->noted = leaks->view.list.ordered;
    browse_complain(browse, "%s", data->note);
}

static void side_loaded(void *view, struct browse *browse)
{
    struct leaks *leaks = view;
    const uint32_t function = selected_function(leaks);
    const uint32_t below[FUNCTION_PARTS] = {[SESSION_ANYWHERE] = function};
    if (!list_selected(&leaks->view.list))
        return;
    ask_pattern(&leaks->shown_pattern, browse, &leaks->view.list);
    leaks->pattern = take_pattern(&leaks->shown_pattern, browse);
    if (leaks->view.in_side && function != leaks->told) {
        browse->function = function;
        browse->has_function = true;
    }
    leaks->told = leaks->view.in_side ? function : 0;
    function_matchers_load(&leaks->matchers, browse, below);
}

static void close_questions(void *view, struct browse *browse)
{
    struct leaks *leaks = view;
    function_matchers_clear(&leaks->matchers, browse);
    forget_pattern(&leaks->shown_pattern, browse);
    forget_pattern(&leaks->written_pattern, browse);
}

static size_t offers(void *view, struct browse *browse, struct view_offer *out, size_t capacity)
{
    static const struct function_words words = {"made below this function",
                                                "made below each function of this name", false};
    const struct leaks *leaks = view;
    const uint32_t type = ((const struct leak_row *)list_selected(&leaks->view.list))->leak.type;
    const char *name = session_type_name(browse->session, type);
    size_t count = function_matchers_offer(&leaks->matchers, browse->session, SESSION_ANYWHERE,
                                           selected_function(leaks), &words, out, capacity);
    if (type != 0 && count < capacity) {
        snprintf(out[count].label, sizeof(out->label), "this type: %.100s", name);
        out[count].step = list_name_step("type", name);
        count += out[count].step != NULL;
    }
    if (count < capacity) {
        snprintf(out[count].label, sizeof(out->label), "never freed");
        count += offer_step(&out[count], "where freed == false");
    }
    return count;
}

static void copy(const void *view, FILE *out)
{
    const struct leaks *leaks = view;
    for (size_t i = 0; i < leaks->view.side.count; i++) {
        const struct session_frame *frame =
            &((const struct frame_row *)list_row(&leaks->view.side, i))->frame;
        fprintf(out, "  %s", session_function_name(leaks->view.session, frame->function));
        if (frame->line != 0)
            fprintf(out, "  %s:%" PRIu32, frame->file, frame->line);
        fputc('\n', out);
    }
}

/* ---- lines ------------------------------------------------------------------------------ */

/* Writes the leaks, then parts of them, then the other kinds. */
static void head(const void *view, const struct browse *browse, const struct area *area)
{
    const struct leaks_data *data = ((const struct leaks *)view)->view.list.data;
    if (!data)
        return;
    const struct session_leaks *all = &data->leaks;
    const bool stopped = session_stopped(browse->session);
    const bool recording = session_recording(browse->session) || stopped;
    char bytes[FORMAT_SIZE], blocks[FORMAT_SIZE], groups[FORMAT_SIZE];
    int x = 1;
    if (all->leaked.groups == 0 && !recording)
        x += area_print(area, x, 0, theme_style(THEME_GOOD), "nothing leaked");
    else
        x += area_print(
            area, x, 0, theme_style(THEME_STRONG), "%s %s%s in %s%s block%s of %s group%s",
            stopped     ? "live when the recording stopped"
            : recording ? "live so far"
                        : "leaked",
            browse->about, format_size(bytes, all->leaked.bytes), browse->about,
            format_count(blocks, all->leaked.blocks), format_plural(all->leaked.blocks),
            format_count(groups, all->leaked.groups), format_plural(all->leaked.groups));
    if (recording && !stopped)
        x += area_text(area, x, 0, theme_style(THEME_FAINT),
                       "; the program still runs: nothing is known of leaks");
    for (int reach = 0; all->has_reach && reach < SESSION_LEAK_REACHES; reach++)
        if (all->of_reach[reach].groups > 0 && reach != SESSION_LEAK_REACH_UNKNOWN)
            x += area_whole_text(area, x, 0, theme_style(THEME_FAINT), " · %s %s%s",
                                 session_leak_reach_word((enum session_leak_reach)reach),
                                 browse->about, format_size(bytes, all->of_reach[reach].bytes));
    for (int kind = SESSION_LEAK_START_UP; kind < SESSION_LEAK_KINDS; kind++) {
        static const char *const names[] = {"", "early", "suppressed here", "runtime",
                                            "suppressed"};
        if (all->of_kind[kind].groups == 0)
            continue;
        if (kind <= SESSION_LEAKS_LAST && all->of_kind[kind].groups == all->leaked.groups) {
            x += area_whole_text(area, x, 0, theme_style(THEME_FAINT), " · all %s", names[kind]);
            continue;
        }
        x += area_whole_text(area, x, 0, theme_style(THEME_FAINT), " · %s %s%s", names[kind],
                             browse->about, format_size(bytes, all->of_kind[kind].bytes));
    }
}

/* Draws the blocks by the tenth of the run that allocated them. */
static void render_tenths(const struct area *area, int x, int y, const struct session_leak *leak)
{
    uint64_t most = 1;
    for (int i = 0; i < SESSION_LEAK_TENTHS; i++)
        most = leak->born[i] > most ? leak->born[i] : most;
    for (int i = 0; i < SESSION_LEAK_TENTHS; i++) {
        const uint64_t eighths = leak->born[i] == 0 ? 0 : 1 + leak->born[i] * 7 / most;
        const uint32_t ascii[] = {'_', '.', '.', ':', ':', '|', '|', '#', '#'};
        area_put(area, x + i, y,
                 eighths == 0             ? 0xb7
                 : grid_ascii(area->grid) ? ascii[eighths]
                                          : 0x2580 + (uint32_t)eighths,
                 theme_style(THEME_PLAIN));
    }
}

/* Writes two lines about the selected group. */
static void side_head(const void *view, const void *row, const struct browse *browse,
                      const struct area *area)
{
    const struct session_leak *leak = &((const struct leak_row *)row)->leak;
    char type[512], size[SIZE_TEXT], count[FORMAT_SIZE], first[FORMAT_SIZE], last[FORMAT_SIZE];
    type_text(type, sizeof(type), browse->session, leak);
    size_text(size, leak);
    const char last_letter = size[strlen(size) - 1];
    const char *unit = last_letter >= '0' && last_letter <= '9' ? " B" : "";
    int x = area_print(area, 1, 0, theme_style(THEME_PLAIN), "%s%s × %s%s  ", browse->about,
                       format_count(count, leak->blocks), size, unit);
    area_category(area, 1 + x, 0, area->width - x - 2, theme_style(THEME_PLAIN), type);
    render_tenths(area, 1, 1, leak);
    x = 3 + SESSION_LEAK_TENTHS;
    if (*leak->why)
        x += area_print(area, x, 1, theme_style(THEME_PLAIN), "%s: %s  ",
                        leak->kind == SESSION_LEAK_RUNTIME ? "kept by" : "by", leak->why);
    area_print(area, x, 1, theme_style(THEME_FAINT), "in %u of 10 tenths  first %s, last %s",
               leak->tenths, format_instant(first, leak->first_ns),
               format_instant(last, leak->last_ns));
}

static void title(const void *view, const void *row, char *out, size_t size)
{
    const struct leaks *leaks = view;
    const struct session_leak *leak = &((const struct leak_row *)row)->leak;
    const struct session_leak_stack *shown = shown_stack(leaks);
    const char *about = leaks->view.list.estimated ? "~" : "";
    char nth[FORMAT_SIZE], count[FORMAT_SIZE], bytes[FORMAT_SIZE], blocks[FORMAT_SIZE];
    if (leak->kind <= SESSION_LEAK_START_UP && leaks->pattern && leaks->pattern->groups > 0 &&
        !session_recording(leaks->view.session))
        snprintf(out, size, " stack (X suppresses %s more group%s, %s) ",
                 format_count(count, leaks->pattern->groups), format_plural(leaks->pattern->groups),
                 format_size(bytes, leaks->pattern->bytes));
    else if (leak->stack_count == 1)
        snprintf(out, size, " stack ");
    else
        snprintf(out, size, " stack %s of %s: %s%s in %s%s block%s (← → others) ",
                 format_count(nth, leaks->nth + 1), format_count(count, leak->stack_count), about,
                 format_size(bytes, shown->bytes), about, format_count(blocks, shown->blocks),
                 format_plural(shown->blocks));
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "list the blocks of the group; in the stack: those of this stack",
     .keys = {KEYCODE_ENTER}, .footer = "list"},
    {ACTION_NEXT_PANE, "into the stack, and back", .keys = {KEYCODE_TAB}, .footer = "stack"},
    {ACTION_LEFT, "the previous stack of the group", .keys = {KEYCODE_LEFT}},
    {ACTION_RIGHT, "the next stack of the group", .keys = {KEYCODE_RIGHT}, .footer_keys = "←→",
     .footer = "stacks"},
    {ACTION_SUPPRESS, "write a suppression of the group beside the session; again: take it out",
     .keys = {'X'}, .footer = "suppress"},
    {ACTION_OPEN, "the source of the frame", .keys = {'o'}},
};

static const struct table_view_kind kind = {.size = sizeof(struct leaks),
                                            .list = &groups_list,
                                            .side = &stack_list,
                                            .lines = 1,
                                            .side_lines = 2,
                                            .head = head,
                                            .side_head = side_head,
                                            .title = title,
                                            .loaded = loaded,
                                            .choose = choose_stack,
                                            .begin = begin_stack,
                                            .side_loaded = side_loaded,
                                            .act = act,
                                            .offers = offers,
                                            .copy = copy,
                                            .close = close_questions};

const struct view_ops leaks_view = {
    .name = "leaks",
    .title = "Leaks",
    .help = "Blocks that were never freed, by the path that allocated them and by type; all depths "
            "of a recursion are one path. Leaks whose group was complete after the first tenth of "
            "the run are early. Blocks of the runtime and suppressed ones are not leaks.",
    .keys = KEY_TABLE(keys),
    .rows = &kind,
    TABLE_VIEW_OPS,
};
