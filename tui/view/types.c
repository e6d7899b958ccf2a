/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of types, and a pane about the selected one: its members, the functions that allocate
 * it, the owners of its containers, or the names that would fit blocks of unknown type. */
#include <inttypes.h>
#include <stdlib.h>

#include "schemas/array.h"
#include "session/residency.h"
#include "session/types.h"
#include "tui/screen/bars.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/table_view.h"

/* The facts that need passes over the rows. They come later. */
struct courses_data {
    struct {
        uint64_t selections, from_ns, to_ns, moment_ns, peaks; /* the request */
    } request;
    struct session_type_course *rows; /* by type */
    size_t count;
    bool resident; /* is known */
};

enum pane { PANE_MEMBERS, PANE_FUNCTIONS, PANE_OWNERS, PANES };

struct types {
    struct table_view view;
    struct load courses_load;
    const struct courses_data *courses; /* NULL: not there yet */
    enum pane pane;
    bool has_range;
    uint64_t from_ns, to_ns;
};

#define AT(member) offsetof(struct session_type_sums, member)
enum {
    COLUMN_AT_PEAK = 3,
    COLUMN_NAME,
    COLUMN_CONFIDENCE,
    COLUMN_PEAK,
    COLUMN_AVERAGE,
    COLUMN_GROWTH,
    COLUMN_COURSE,
    COLUMN_WASTED,
    COLUMN_RESIDENT, /* the last one: it is not always there */
    COLUMNS
};

/* The columns of a screen that shows the change of a type. */
enum { CHANGE_LEAST = 86 };

static const struct table_column columns[COLUMNS] = {
    {"bytes", 6, .keep = true, .meaning = "allocated in all", .number = TABLE_BYTES,
     .at = AT(bytes), .bar = true},
    {"count", 6, 50, .meaning = "allocations", .file = "allocations", .number = TABLE_COUNT,
     .at = AT(allocations)},
    {"live", 6, 60, .meaning = "bytes at the end", .file = "live_bytes", .number = TABLE_BYTES,
     .at = AT(live_bytes)},
    [COLUMN_AT_PEAK] = {"program peak", 12, .keep = true, .file = "at_peak_bytes",
                        .meaning = "bytes live at the program's peak", .number = TABLE_BYTES,
                        .at = AT(at_peak_bytes), .bar = true},
    [COLUMN_NAME] = {"type", .text = true, .keep = true, .cut = TABLE_CUT_CATEGORY},
    [COLUMN_CONFIDENCE] = {"sure", 9, 66, .text = true, .file = "confidence",
                           .meaning = "exact: the program says so; inferred: a rule concluded it"},
    [COLUMN_PEAK] = {"peak", 6, 76, .meaning = "largest live bytes of the type itself",
                     .file = "peak_bytes", .number = TABLE_BYTES, .at = TABLE_ASKED},
    [COLUMN_AVERAGE] = {"average", 7, 100, .meaning = "bytes of a block", .file = "avg_size",
                        .number = TABLE_BYTES, .at = TABLE_ASKED},
    [COLUMN_GROWTH] = {"change", 7, CHANGE_LEAST, .file = "growth_bytes",
                       .meaning = "bytes live in the middle of the last tenth of the run minus "
                                  "those in the first; over the marked range if there is one",
                       .number = TABLE_GROWTH, .at = TABLE_ASKED},
    [COLUMN_COURSE] = {"over run", 10, 112, .text = true, .unsorted = true, .file = "course",
                       .meaning = "bytes live in the middle of each tenth of the run"},
    [COLUMN_WASTED] = {"wasted", 6, 124, .meaning = "bytes of all objects that no member covers",
                       .file = "wasted_bytes", .number = TABLE_BYTES, .at = TABLE_ASKED},
    [COLUMN_RESIDENT] = {"resident", 8, 104, .file = "resident",
                         .meaning = "bytes in memory of those live at the timeline's cursor",
                         .number = TABLE_BYTES, .at = TABLE_ASKED},
};

/* ---- types ------------------------------------------------------------------------------ */

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct list_data *data = context;
    struct session_type_sums *rows = NULL;
    const bool good = selection_types(selection, &rows, &data->count, error);
    data->rows = rows;
    return good;
}

static bool run_courses(struct session *session, struct selection *selection, void *context,
                        struct session_error *error)
{
    struct courses_data *data = context;
    return session_reads_residency(session, &data->resident, error) &&
           selection_type_courses(selection, data->request.from_ns, data->request.to_ns,
                                  data->request.moment_ns, data->request.peaks != 0, &data->rows,
                                  &data->count, error);
}

static void load_courses(void *view, struct browse *browse)
{
    static const struct load_kind kind = LOAD_ROWS(courses_data, run_courses, rows);
    struct types *types = view;
    const struct list_data *data = types->view.list.data;
    const struct courses_data *before = types->courses;
    types->has_range = browse->has_range;
    types->from_ns = browse->has_range ? browse->range_from_ns : 0;
    types->to_ns = browse->has_range ? browse->range_to_ns : 0;
    types->courses = NULL;
    if (!data)
        return;
    struct courses_data wanted = {
        .request = {browse->selections, types->from_ns, types->to_ns, browse->moment_ns}};
    for (size_t i = 0; i < data->count; i++)
        wanted.request.peaks |=
            ((const struct session_type_sums *)data->rows)[i].peak_bytes == SESSION_PEAK_UNKNOWN;
    types->courses = browse_get(browse, &types->courses_load, &kind, &wanted.request);
    if (types->courses_load.failed)
        types->courses = NULL;
    if (types->courses)
        list_hide_last(&types->view.list, !types->courses->resident);
    if (types->courses != before)
        list_sort(&types->view.list);
}

static int compare_course(const void *key, const void *course)
{
    const uint32_t type = *(const uint32_t *)key;
    const uint32_t other = ((const struct session_type_course *)course)->type;
    return ORDER(type, other);
}

/* Returns the course of a type, NULL if it is not known yet. */
static const struct session_type_course *course_of(const struct types *types, uint32_t type)
{
    return types->courses && types->courses->count > 0
               ? bsearch(&type, types->courses->rows, types->courses->count,
                         sizeof(*types->courses->rows), compare_course)
               : NULL;
}

static const char *name_of(const struct types *types, uint32_t type)
{
    return session_type_name(types->view.session, type);
}

static uint64_t number(const void *view, const void *row, size_t column)
{
    const struct types *types = view;
    const struct session_type_sums *sums = row;
    const struct session_type_course *course = course_of(types, sums->type);
    if (column == COLUMN_AVERAGE)
        return sums->allocations == 0 ? 0 : sums->bytes / sums->allocations;
    if (column == COLUMN_PEAK && sums->peak_bytes != SESSION_PEAK_UNKNOWN)
        return sums->peak_bytes;
    if (!course)
        return 0;
    if (column == COLUMN_GROWTH && types->has_range)
        return course->at_to - course->at_from;
    if (column == COLUMN_RESIDENT)
        return course->resident;
    return column == COLUMN_PEAK     ? course->peak_bytes
           : column == COLUMN_GROWTH ? course->live[SESSION_TYPE_POINTS - 1] - course->live[0]
                                     : course->wasted;
}

static uint64_t key(const void *view, const void *row)
{
    return ((const struct session_type_sums *)row)->type;
}

/* Writes "exact", "inferred", "unknown", or how much of the bytes is exact. */
static void write_confidence(char *out, size_t size, const struct session_type_sums *row)
{
    char percent[FORMAT_SIZE];
    if (row->type == SESSION_TYPE_UNKNOWN)
        snprintf(out, size, "unknown");
    else if (row->exact_bytes == 0 && row->bytes > 0)
        snprintf(out, size, "inferred");
    else if (row->exact_bytes == row->bytes)
        snprintf(out, size, "exact");
    else
        snprintf(out, size, "%.9s ex.", format_percent(percent, row->exact_bytes, row->bytes));
}

static void cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct types *types = view;
    const struct session_type_sums *sums = row;
    const struct session_type_course *course = course_of(types, sums->type);
    if (column == COLUMN_NAME) {
        cell->name = name_of(types, sums->type);
    } else if (column == COLUMN_CONFIDENCE) {
        write_confidence(cell->text, sizeof(cell->text), sums);
        cell->styled = true;
        cell->style = theme_style(THEME_FAINT);
    } else if (!course && (column == COLUMN_GROWTH || column == COLUMN_COURSE ||
                           column == COLUMN_WASTED || column == COLUMN_RESIDENT ||
                           (column == COLUMN_PEAK && sums->peak_bytes == SESSION_PEAK_UNKNOWN))) {
        *cell = (struct table_cell){.text = "…"};
    } else if (column == COLUMN_COURSE) {
        bars_spark(cell->text, sizeof(cell->text), course->live, SESSION_TYPE_POINTS);
    }
}

static char *step(const void *view, const void *row, const char **why)
{
    const uint32_t type = ((const struct session_type_sums *)row)->type;
    return list_name_step("type", type == SESSION_TYPE_UNKNOWN ? NULL : name_of(view, type));
}

static void label(const void *view, const void *row, char *out, size_t size)
{
    snprintf(out, size, "this type: %.100s",
             name_of(view, ((const struct session_type_sums *)row)->type));
}

static const struct list_kind types_list = {LIST_OF(struct session_type_sums),
                                            .last_optional = true,
                                            .sort = COLUMN_AT_PEAK,
                                            .load = LIST_LOAD(list_data, run, list_free_rows),
                                            .key = key,
                                            .cell = cell,
                                            .number = number,
                                            .step = step,
                                            .label = label};

/* ---- members ---------------------------------------------------------------------------- */

enum { MEMBERS_MOST = 512 };

/* A member, or the padding before one (no name, no type). */
struct member_row {
    uint64_t key;
    struct session_member member;
    bool padding;
};

struct members_data {
    struct list_data list; /* of[1]: the type */
    struct member_row rows[2 * MEMBERS_MOST + 1];
    size_t members; /* all of them */
    uint64_t size, padding;
};

enum { MEMBER_OFFSET, MEMBER_SIZE, MEMBER_NAME, MEMBER_TYPE, MEMBER_COLUMNS };

static const struct table_column member_columns[MEMBER_COLUMNS] = {
    [MEMBER_OFFSET] = {"offset", 6, .keep = true, .unsorted = true},
    [MEMBER_SIZE] = {"bytes", 6, .keep = true, .unsorted = true},
    [MEMBER_NAME] = {"member", .text = true, .keep = true, .unsorted = true},
    [MEMBER_TYPE] = {"type", 0, 40, .text = true, .unsorted = true, .cut = TABLE_CUT_CATEGORY},
};

/* The members are those of the session, whatever is selected. */
static bool ask_members(const void *state, const struct browse *browse,
                        struct list_request *request)
{
    const struct types *types = state;
    request->of[0] = browse->renewals;
    request->of[1] = key(types, list_selected(&types->view.list));
    return true;
}

static void add_member(struct members_data *data, const struct session_member *member, bool padding)
{
    const size_t at = data->list.count++;
    data->rows[at] = (struct member_row){at, *member, padding};
}

/* Puts the padding before and after the members between them. */
static void list_members(struct members_data *data, const struct session_member *members)
{
    uint64_t gaps[MEMBERS_MOST], end = 0;
    const size_t count = data->members < MEMBERS_MOST ? data->members : MEMBERS_MOST;
    data->padding = session_members_padding(members, count, data->size, gaps);
    for (size_t i = 0; i < count; i++) {
        if (gaps[i] > 0)
            add_member(
                data,
                &(struct session_member){.offset = members[i].offset - gaps[i], .size = gaps[i]},
                true);
        add_member(data, &members[i], false);
        end = members[i].offset + members[i].size > end ? members[i].offset + members[i].size : end;
    }
    if (count > 0 && count == data->members && data->size > end)
        add_member(data, &(struct session_member){.offset = end, .size = data->size - end}, true);
}

static bool run_members(struct session *session, struct selection *selection, void *context,
                        struct session_error *error)
{
    struct members_data *data = context;
    struct session_member *members = malloc(MEMBERS_MOST * sizeof(*members));
    if (!members) {
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
        return false;
    }
    const bool good = session_type_members(session, (uint32_t)data->list.request.of[1], members,
                                           MEMBERS_MOST, &data->members, &data->size, error);
    if (good)
        list_members(data, members);
    data->list.rows = data->rows;
    free(members);
    return good;
}

static void member_cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct member_row *shown = row;
    const struct session_member *member = &shown->member;
    cell->styled = shown->padding;
    cell->style = theme_style(THEME_WARNING);
    if (column == MEMBER_NAME) {
        cell->name = shown->padding    ? "(padding)"
                     : member->name[0] ? member->name
                                       : "(base or no name)";
    } else if (column == MEMBER_TYPE) {
        cell->name = member->type;
    } else {
        cell->is_number = true;
        cell->number = column == MEMBER_OFFSET ? member->offset : member->size;
        snprintf(cell->text, sizeof(cell->text), "%" PRIu64, cell->number);
    }
}

static const struct list_kind members_list = {.columns = member_columns,
                                              .column_count = MEMBER_COLUMNS,
                                              .row_size = sizeof(struct member_row),
                                              .load = LIST_LOAD(members_data, run_members, NULL),
                                              .ask = ask_members,
                                              .cell = member_cell};

/* ---- names that would fit --------------------------------------------------------------- */

#define OF(member) offsetof(struct session_type_candidates, member)
enum { CANDIDATE_FUNCTION = 4, CANDIDATE_NAMES, CANDIDATE_COLUMNS };

static const struct table_column candidate_columns[CANDIDATE_COLUMNS] = {
    {"bytes", 6, .keep = true, .number = TABLE_BYTES, .at = OF(bytes), .bar = true},
    {"count", 6, 40, .number = TABLE_COUNT, .at = OF(allocations)},
    {"size", 6, 50, .number = TABLE_BYTES, .at = OF(size)},
    {"live", 6, 60, .number = TABLE_BYTES, .at = OF(live_bytes)},
    [CANDIDATE_FUNCTION] = {"allocated by", 0, 90, .text = true, .cut = TABLE_CUT_NAME},
    [CANDIDATE_NAMES] = {"would fit, none is known to be right", .text = true, .keep = true},
};

static bool run_candidates(struct session *session, struct selection *selection, void *context,
                           struct session_error *error)
{
    struct list_data *data = context;
    struct session_type_candidates *rows = NULL;
    const bool good = selection_candidates(selection, &rows, &data->count, error);
    data->rows = rows;
    return good;
}

static void clear_candidates(void *context)
{
    struct list_data *data = context;
    selection_candidates_free(data->rows, data->count);
}

static uint64_t candidate_key(const void *view, const void *row)
{
    const struct session_type_candidates *shown = row;
    uint64_t names = 0; /* rows of one function and size differ by their names */
    for (const char *at = shown->names; *at; at++)
        names = names * 31 + (unsigned char)*at;
    return (uint64_t)shown->function << 32 ^ shown->size ^ names << 16;
}

static void candidate_cell(const void *view, const void *row, size_t column,
                           struct table_cell *cell)
{
    const struct session_type_candidates *shown = row;
    if (column == CANDIDATE_NAMES)
        cell->name = shown->names;
    else if (column == CANDIDATE_FUNCTION)
        cell->name =
            shown->function
                ? session_function_name(((const struct table_view *)view)->session, shown->function)
                : "no call site known";
}

static char *candidate_step(const void *view, const void *row, const char **why)
{
    const struct session_type_candidates *shown = row;
    char *step;
    return asprintf(&step, "where type is null and size == %" PRIu64 " and %s", shown->size,
                    shown->stacks) < 0
               ? NULL
               : step;
}

static void candidate_label(const void *view, const void *row, char *out, size_t size)
{
    const struct session_type_candidates *shown = row;
    snprintf(out, size, "unknown type, %" PRIu64 " bytes: %.60s", shown->size, shown->names);
}

static const struct list_kind candidates_list = {
    .columns = candidate_columns,
    .column_count = CANDIDATE_COLUMNS,
    .row_size = sizeof(struct session_type_candidates),
    .load = LIST_LOAD(list_data, run_candidates, clear_candidates),
    .key = candidate_key,
    .cell = candidate_cell,
    .step = candidate_step,
    .label = candidate_label};

/* ---- view ------------------------------------------------------------------------------- */

static void head(const void *view, const struct browse *browse, const struct area *area)
{
    const struct types *types = view;
    const struct list *list = &types->view.list;
    char count[FORMAT_SIZE], size[FORMAT_SIZE], exact[FORMAT_SIZE], inferred[FORMAT_SIZE];
    char from[FORMAT_SIZE], to[FORMAT_SIZE];
    uint64_t bytes = 0, exact_bytes = 0, known_bytes = 0;
    if (!list->data)
        return;
    for (size_t i = 0; i < list->count; i++) {
        const struct session_type_sums *row = list_row(list, i);
        bytes += row->bytes;
        exact_bytes += row->exact_bytes;
        known_bytes += row->type == SESSION_TYPE_UNKNOWN ? 0 : row->bytes;
    }
    int x = 1 + area_print(area, 1, 0, theme_style(THEME_STRONG), "%s type%s, %s%s",
                           format_count(count, list->count), format_plural(list->count),
                           browse->about, format_size(size, bytes));
    x += area_print(area, x, 0, theme_style(THEME_FAINT), " · exact %s, inferred %s of the bytes",
                    bytes ? format_percent(exact, exact_bytes, bytes) : "0%",
                    bytes ? format_percent(inferred, known_bytes - exact_bytes, bytes) : "0%");
    if (types->has_range)
        area_print(area, x, 0, theme_style(THEME_PLAIN), " · change from %s to %s",
                   format_instant(from, types->from_ns), format_instant(to, types->to_ns));
    else if (area->width >= CHANGE_LEAST)
        area_whole_text(area, x, 0, theme_style(THEME_FAINT),
                        " · change from the first to the last tenth of the run");
}

static const struct list_kind *choose(void *view, const void *row)
{
    const enum pane pane = ((const struct types *)view)->pane;
    return pane == PANE_FUNCTIONS                   ? &breakdown_by_user
           : pane == PANE_OWNERS                    ? &breakdown_by_owner
           : key(view, row) == SESSION_TYPE_UNKNOWN ? &candidates_list
                                                    : &members_list;
}

static void title(const void *view, const void *row, char *out, size_t size)
{
    const enum pane pane = ((const struct types *)view)->pane;
    const uint32_t type = ((const struct session_type_sums *)row)->type;
    if (pane == PANE_MEMBERS && type == SESSION_TYPE_UNKNOWN)
        snprintf(out, size, " candidates of blocks of unknown type ");
    else
        snprintf(out, size, " %s %.150s ",
                 pane == PANE_MEMBERS     ? "members of"
                 : pane == PANE_FUNCTIONS ? "functions that allocate"
                                          : "owners of",
                 name_of(view, type));
}

/* Writes one line about what the pane lists, or why it is empty. */
static void side_head(const void *view, const void *row, const struct browse *browse,
                      const struct area *area)
{
    const struct types *types = view;
    const struct list *side = &types->view.side;
    const struct session_type_sums *sums = row;
    const struct session_type_course *course = course_of(types, sums->type);
    const struct members_data *members = side->kind == &members_list ? side->data : NULL;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], d[FORMAT_SIZE];
    const struct cell_style style = theme_style(THEME_FAINT);
    if (!side->data) {
        return;
    } else if (side->kind == &candidates_list) {
        area_print(area, 1, 0, style, "%s of %s of unknown type have names that would fit",
                   format_size(a, side->sums[0]), format_size(b, sums->bytes));
    } else if (!members) {
        const size_t made = breakdown_count(side);
        area_print(area, 1, 0, style, "%s %s%s%s", format_count(a, made),
                   types->pane == PANE_OWNERS ? "owner" : "function", format_plural(made),
                   made > BREAKDOWN_MOST ? ", the largest 1,000" : "");
    } else if (members->members == 0) {
        area_print(area, 1, 0, style, "no members are known; m shows who allocates it");
    } else if (members->members > MEMBERS_MOST) {
        area_print(area, 1, 0, style, "%s members: the first %d", format_count(a, members->members),
                   MEMBERS_MOST);
    } else {
        int x = 1 + area_print(area, 1, 0, style, "%s B, %s B of padding",
                               format_count(a, members->size), format_count(b, members->padding));
        if (course && course->wasted)
            area_print(area, x, 0, style, ": %s wasted in %s objects",
                       format_size(c, course->wasted), format_count(d, course->objects));
    }
}

static bool act(void *view, struct browse *browse, const struct view_input *input)
{
    static const char *const names[] = {"members", "functions that allocate the type",
                                        "owners of the type's blocks"};
    struct types *types = view;
    if (input->action != ACTION_MEMBERS)
        return false;
    types->pane = (enum pane)((types->pane + 1) % PANES);
    browse_say(browse, "%s", names[types->pane]);
    return true;
}

static void copy(const void *view, FILE *out)
{
    const struct list *side = &((const struct types *)view)->view.side;
    for (size_t i = 0; side->kind == &members_list && i < side->count; i++) {
        const struct member_row *shown = list_row(side, i);
        fprintf(out, "  %4" PRIu64 " %4" PRIu64 "  %s  %s\n", shown->member.offset,
                shown->member.size, shown->padding ? "(padding)" : shown->member.name,
                shown->member.type);
    }
}

static void close_courses(void *view, struct browse *browse)
{
    load_clear(&browse->loader, &((struct types *)view)->courses_load);
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "list the blocks of the type; in the pane: those of its row",
     .keys = {KEYCODE_ENTER}, .footer = "list"},
    {ACTION_NEXT_PANE, "into the pane, and back", .keys = {KEYCODE_TAB}, .footer = "pane"},
    {ACTION_MEMBERS, "the pane shows members, functions that allocate, owners of containers",
     .keys = {'m'}, .footer = "members/functions/owners"},
};

static const struct table_view_kind kind = {.size = sizeof(struct types),
                                            .list = &types_list,
                                            .side = &members_list,
                                            .lines = 1,
                                            .side_lines = 1,
                                            .head = head,
                                            .side_head = side_head,
                                            .title = title,
                                            .loaded = load_courses,
                                            .choose = choose,
                                            .act = act,
                                            .copy = copy,
                                            .close = close_courses};

const struct view_ops types_view = {
    .name = "types",
    .title = "Types",
    .help = "The types of the blocks. Blocks of unknown type are a row of their own; names that "
            "would fit them are in its pane, and never an answer.",
    .keys = KEY_TABLE(keys),
    .rows = &kind,
    TABLE_VIEW_OPS,
};
