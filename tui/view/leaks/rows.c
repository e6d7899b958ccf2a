/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of the view of leaks: groups, and the frames of a stack. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/leaks/leaks.h"

enum column {
    COLUMN_BYTES,
    COLUMN_PERCENT,
    COLUMN_BLOCKS,
    COLUMN_EACH,
    COLUMN_WHERE,
    COLUMN_TYPE,
    COLUMN_WHAT,
    COLUMN_WHEN,
    COLUMN_FIRST,
    COLUMN_LAST,
    COLUMN_SITE,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    [COLUMN_BYTES] = {.title = "bytes",
                      .width = 6,
                      .keep = true,
                      .meaning = "live at the end",
                      .file = "live_bytes"},
    [COLUMN_PERCENT] = {.title = "share",
                        .width = 5,
                        .least_width = 60,
                        .unsorted = true,
                        .meaning = "of the bytes of all groups"},
    [COLUMN_BLOCKS] = {.title = "blocks",
                       .width = 6,
                       .keep = true,
                       .meaning = "live at the end",
                       .file = "live_count"},
    [COLUMN_EACH] = {.title = "× bytes",
                     .width = 12,
                     .least_width = 70,
                     .meaning = "the size of a block, or the smallest and the largest",
                     .file = "size"},
    [COLUMN_WHERE] = {.title = "allocated by",
                      .keep = true,
                      .text = true,
                      .cut = TABLE_CUT_NAME,
                      .meaning = "innermost function of your own code on the stack",
                      .file = "allocated_by"},
    [COLUMN_TYPE] = {.title = "type",
                     .text = true,
                     .least_width = 76,
                     .cut = TABLE_CUT_CATEGORY,
                     .meaning = "type of the blocks; ? after an inferred one"},
    [COLUMN_WHAT] = {.title = "what",
                     .width = 10,
                     .text = true,
                     .least_width = 50,
                     .meaning = "leak, early leak (of the start of the run), or why it is none"},
    [COLUMN_WHEN] = {.title = "when",
                     .width = 16,
                     .text = true,
                     .least_width = 96,
                     .unsorted = true,
                     .meaning = "tenths of the run that allocated blocks of the group"},
    [COLUMN_FIRST] = {.title = "first",
                      .width = 8,
                      .least_width = 125,
                      .meaning = "time of the first allocation",
                      .file = "first_ns"},
    [COLUMN_LAST] = {.title = "last",
                     .width = 8,
                     .least_width = 125,
                     .meaning = "time of the last allocation",
                     .file = "last_ns"},
    [COLUMN_SITE] = {.title = "call site",
                     .text = true,
                     .least_width = 170,
                     .cut = TABLE_CUT_NAME,
                     .meaning = "the function that allocates, wrappers skipped",
                     .file = "function"},
};

/* Returns true if the program still ran at the end of the session. */
static bool leaks_unknown(const struct leaks *leaks)
{
    return session_recording(leaks->session) || session_stopped(leaks->session);
}

const char *leaks_kind_name(const struct leaks *leaks, enum session_leak_kind kind)
{
    static const char *const names[] = {"leak", "early leak", "suppressed", "runtime",
                                        "suppressed"};
    return kind == SESSION_LEAK_LATER && leaks_unknown(leaks) ? "live" : names[kind];
}

char *leaks_size_text(char *out, const struct session_leak *leak)
{
    char least[FORMAT_SIZE], most[FORMAT_SIZE];
    format_size_short(least, leak->least_size);
    format_size_short(most, leak->most_size);
    if (leak->least_size == leak->most_size)
        snprintf(out, LEAK_SIZE_TEXT, "%s", least);
    else if (strcmp(least, most) == 0)
        snprintf(out, LEAK_SIZE_TEXT, "≈%s", least);
    else
        snprintf(out, LEAK_SIZE_TEXT, "%s–%s", least, most);
    return out;
}

char *leaks_when_text(char *out, const struct session_leak *leak)
{
    if (leak->blocks == 1 || leak->first_ns == leak->last_ns)
        snprintf(out, LEAK_SIZE_TEXT, "once");
    else
        snprintf(out, LEAK_SIZE_TEXT, "%s%u of 10", leak->tenths >= 8 ? "steady, " : "",
                 leak->tenths);
    return out;
}

char *leaks_type_text(char *out, size_t size, const struct leaks *leaks,
                      const struct session_leak *leak)
{
    snprintf(out, size, "%s%s", session_type_name(leaks->session, leak->type),
             leak->type == 0 || leak->exact ? "" : "?");
    return out;
}

uint32_t leaks_function(const struct leaks *leaks, size_t group)
{
    const struct leak_names *names = &leaks->data->names[group];
    return names->user != 0 ? names->user : names->site;
}

/* ---- groups ----------------------------------------------------------------------------- */

static void number_cell(struct table_cell *cell, uint64_t number)
{
    cell->is_number = true;
    cell->number = number;
}

static const char *function_name(const struct leaks *leaks, uint32_t function)
{
    return function == 0 ? "no function known" : session_function_name(leaks->session, function);
}

static void put_function(const struct leaks *leaks, uint32_t function, struct table_cell *cell)
{
    if (function != 0)
        list_function_cell(leaks->session, function, cell);
    else
        cell->name = function_name(leaks, function);
}

static void group_text(const struct leaks *leaks, size_t group, enum column column,
                       struct table_cell *cell)
{
    const struct session_leak *leak = &leaks->data->leaks.leaks[group];
    switch (column) {
    case COLUMN_WHERE:
        put_function(leaks, leaks_function(leaks, group), cell);
        break;
    case COLUMN_SITE:
        put_function(leaks, leaks->data->names[group].site, cell);
        break;
    case COLUMN_TYPE:
        if (leak->type != 0 && leak->exact)
            cell->name = session_type_name(leaks->session, leak->type);
        else
            leaks_type_text(cell->text, sizeof(cell->text), leaks, leak);
        break;
    case COLUMN_WHAT:
        snprintf(cell->text, sizeof(cell->text), "%s", leaks_kind_name(leaks, leak->kind));
        if (leak->kind == SESSION_LEAK_LATER) {
            cell->style = theme_style(leaks_unknown(leaks) ? THEME_PLAIN : THEME_WARNING);
            cell->styled = true;
        }
        break;
    case COLUMN_WHEN:
        leaks_when_text(cell->text, leak);
        break;
    default:
        leaks_size_text(cell->text, leak);
        cell->is_number = leak->least_size == leak->most_size;
        cell->number = leak->most_size;
        break;
    }
}

static void group_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct leaks *leaks = context;
    const size_t group = leaks->order[row];
    const struct session_leak *leak = &leaks->data->leaks.leaks[group];
    if (leak->kind != SESSION_LEAK_LATER) {
        cell->style = theme_style(THEME_FAINT);
        cell->styled = true;
    }
    switch (column) {
    case COLUMN_BYTES:
        format_size_short(cell->text, leak->bytes);
        number_cell(cell, leak->bytes);
        cell->part = leak->bytes;
        cell->whole = leaks->data->bytes;
        break;
    case COLUMN_PERCENT:
        format_percent(cell->text, leak->bytes, leaks->data->bytes);
        break;
    case COLUMN_BLOCKS:
        format_count_short(cell->text, leak->blocks);
        number_cell(cell, leak->blocks);
        break;
    case COLUMN_FIRST:
        format_instant(cell->text, leak->first_ns);
        number_cell(cell, leak->first_ns);
        break;
    case COLUMN_LAST:
        format_instant(cell->text, leak->last_ns);
        number_cell(cell, leak->last_ns);
        break;
    default:
        group_text(leaks, group, (enum column)column, cell);
        break;
    }
}

/* A group is the same in another filter if its type and its largest stack are. */
static uint64_t group_key(void *context, size_t row)
{
    const struct leaks *leaks = context;
    const struct session_leak *leak = &leaks->data->leaks.leaks[leaks->order[row]];
    return (uint64_t)leak->stack << 32 | leak->type;
}

struct table_source leaks_groups_source(const struct leaks *leaks)
{
    return (struct table_source){.context = (void *)leaks,
                                 .columns = columns,
                                 .column_count = COLUMNS,
                                 .rows = leaks_rows(leaks),
                                 .about = leaks->estimated ? "~" : NULL,
                                 .cell = group_cell,
                                 .key = group_key};
}

/* ---- order ------------------------------------------------------------------------------ */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_text(const struct leaks *leaks, size_t a, size_t b, enum column column)
{
    const struct session_leak *all = leaks->data->leaks.leaks;
    const struct leak_names *names = leaks->data->names;
    if (column == COLUMN_TYPE)
        return strcmp(session_type_name(leaks->session, all[a].type),
                      session_type_name(leaks->session, all[b].type));
    if (column == COLUMN_SITE)
        return strcmp(function_name(leaks, names[a].site), function_name(leaks, names[b].site));
    if (column == COLUMN_WHERE)
        return strcmp(function_name(leaks, leaks_function(leaks, a)),
                      function_name(leaks, leaks_function(leaks, b)));
    return 0; /* groups of one kind are together anyway */
}

static int compare_groups(const void *left, const void *right, void *context)
{
    const struct leaks *leaks = context;
    const size_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct session_leak *x = &leaks->data->leaks.leaks[a];
    const struct session_leak *y = &leaks->data->leaks.leaks[b];
    int order = 0;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    switch (leaks->groups.sort) {
    case COLUMN_BYTES:
        order = compare_numbers(x->bytes, y->bytes);
        break;
    case COLUMN_BLOCKS:
        order = compare_numbers(x->blocks, y->blocks);
        break;
    case COLUMN_EACH:
        order = compare_numbers(x->most_size, y->most_size);
        break;
    case COLUMN_FIRST:
        order = compare_numbers(x->first_ns, y->first_ns);
        break;
    case COLUMN_LAST:
        order = compare_numbers(x->last_ns, y->last_ns);
        break;
    default:
        order = compare_text(leaks, a, b, (enum column)leaks->groups.sort);
        break;
    }
    if (order != 0)
        return leaks->groups.descending ? -order : order;
    return a < b ? -1 : a > b; /* the order of the engine: the most bytes first */
}

void leaks_sort(struct leaks *leaks)
{
    if (leaks->data && leaks->data->leaks.count > 1)
        qsort_r(leaks->order, leaks->data->leaks.count, sizeof(*leaks->order), compare_groups,
                leaks);
}

/* ---- frames ----------------------------------------------------------------------------- */

enum frame_column { FRAME_FUNCTION, FRAME_PLACE, FRAME_NOTE, FRAME_MODULE, FRAME_COLUMNS };

static const struct table_column frame_columns[FRAME_COLUMNS] = {
    [FRAME_FUNCTION] = {.title = "function, innermost first",
                        .text = true,
                        .keep = true,
                        .unsorted = true,
                        .cut = TABLE_CUT_NAME},
    [FRAME_PLACE] =
        {.title = "where", .width = 24, .text = true, .least_width = 46, .unsorted = true},
    [FRAME_NOTE] = {.title = "how", .width = 8, .text = true, .least_width = 64, .unsorted = true},
    [FRAME_MODULE] =
        {.title = "module", .width = 18, .text = true, .least_width = 90, .unsorted = true},
};

static void frame_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct leaks *leaks = context;
    const struct leak_stack_data *stack = leaks->stack;
    const struct session_frame *frame = &stack->frames[row];
    const char *slash;
    cell->styled = true;
    cell->style = theme_style(row == stack->user  ? THEME_STRONG
                              : row < stack->site ? THEME_FAINT
                                                  : THEME_PLAIN);
    switch (column) {
    case FRAME_FUNCTION:
        cell->name = function_name(leaks, frame->function);
        break;
    case FRAME_NOTE:
        cell->name = frame->inlined ? "inlined" : frame->guessed ? "guessed" : "";
        break;
    case FRAME_PLACE:
        slash = strrchr(frame->file, '/');
        if (frame->line != 0)
            snprintf(cell->text, sizeof(cell->text), "%s:%" PRIu32, slash ? slash + 1 : frame->file,
                     frame->line);
        break;
    default:
        cell->name = session_function_module(leaks->session, frame->function);
        break;
    }
}

static uint64_t frame_key(void *context, size_t row)
{
    (void)context;
    return row;
}

struct table_source leaks_frames_source(const struct leaks *leaks)
{
    const size_t count = leaks->stack ? leaks->stack->count : 0;
    return (struct table_source){.context = (void *)leaks,
                                 .columns = frame_columns,
                                 .column_count = FRAME_COLUMNS,
                                 .rows = count < LEAK_FRAMES ? count : LEAK_FRAMES,
                                 .cell = frame_cell,
                                 .key = frame_key};
}

bool leaks_keep_order(void *view, struct table_order *order, bool set)
{
    struct leaks *state = view;
    return table_order(&state->groups, columns, COLUMNS, order, set);
}
