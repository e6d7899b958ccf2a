/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of the resident set: at one of the moments at which the pages in memory were read, each
 * of its bytes in one class. The pane tells whose blocks make the selected class, who pins the
 * holes and who lived there last; or which stacks, files and mappings it consists of. All blocks of
 * the process count, whatever is selected. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/residency.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/table_view.h"

/* The way in which the shown moment is chosen. */
enum choice {
    CHOOSE_LARGEST,
    CHOOSE_NEAREST, /* to a time */
    CHOOSE_PLACE,   /* of the list of moments */
};

struct rss {
    struct table_view view;
    enum choice choice;
    uint64_t wanted; /* the time, or the place */
    enum session_residency_by by;
    bool seen;        /* the view has been shown: */
    uint64_t seen_ns; /* the moment of all views, as this one has seen it */
};

struct class_row {
    uint64_t class; /* the key */
    uint64_t bytes;
};

/* A type or function that has a part of a class. */
struct group_row {
    uint64_t id; /* the key */
    struct session_residency_group sums;
};

struct rss_data {
    struct list_data list;           /* of[2]: the choice, of[3] what is wanted, of[4] the groups */
    struct session_residency moment; /* its texts are these: */
    char reason[32], mark[80], allocator[32], advice[SESSION_RESIDENCY_ADVICE];
    uint64_t place, count; /* of the moments */
    struct session_residency_group *groups, total;
    size_t group_count;
    struct session_residency_part *parts;
    size_t part_count;
    char why[256]; /* there is none */
};

static const struct rss_data *data_of(const void *view)
{
    return ((const struct rss *)view)->view.list.data;
}

/* ---- the ledger ------------------------------------------------------------------------- */

enum { COLUMN_SHARE = 1, COLUMN_BAR, COLUMN_PART, COLUMNS, BAR_WIDTH = 20 };

static const struct table_column columns[COLUMNS] = {
    {"bytes", 8, .keep = true, .unsorted = true, .number = TABLE_BYTES,
     .at = offsetof(struct class_row, bytes)},
    [COLUMN_SHARE] = {"of RSS", 6, .keep = true, .unsorted = true, .file = "share"},
    [COLUMN_BAR] = {"", BAR_WIDTH, 64, .text = true, .unsorted = true, .file = ""},
    [COLUMN_PART] = {"part", .text = true, .keep = true, .unsorted = true},
};

static bool ask(const void *view, const struct browse *browse, struct list_request *request)
{
    const struct rss *rss = view;
    request->of[2] = rss->choice;
    request->of[3] = rss->wanted;
    request->of[4] = rss->by;
    return true;
}

static void keep_moment(struct rss_data *data, const struct session *session,
                        const struct session_residency *moment)
{
    data->moment = *moment;
    session_printable(data->reason, sizeof(data->reason), moment->reason);
    session_printable(data->mark, sizeof(data->mark), moment->mark);
    session_printable(data->allocator, sizeof(data->allocator), moment->allocator);
    session_residency_advice(session, moment, data->advice);
}

static bool make_rows(struct rss_data *data)
{
    struct class_row *rows = calloc(RESIDENCY_CLASSES, sizeof(*rows));
    data->list.rows = rows;
    for (uint64_t class = 0; rows && class < RESIDENCY_CLASSES; class ++)
        if (data->moment.bytes[class] > 0)
            rows[data->list.count++] = (struct class_row){class, data->moment.bytes[class]};
    return rows;
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct rss_data *data = context;
    const struct session_residency *moments;
    const uint64_t *of = data->list.request.of;
    size_t count;
    if (!session_residencies(session, &moments, &count, error))
        return false;
    data->count = count;
    if (count == 0) {
        snprintf(data->why, sizeof(data->why), "%s", session_residency_why(session));
        return true;
    }
    data->place = of[2] == CHOOSE_LARGEST   ? session_residency_largest(moments, count)
                  : of[2] == CHOOSE_NEAREST ? session_residency_nearest(moments, count, of[3])
                  : of[3] < count           ? of[3]
                                            : count - 1;
    keep_moment(data, session, &moments[data->place]);
    if (!session_residency_groups(session, &moments[data->place], (enum session_residency_by)of[4],
                                  &data->groups, &data->group_count, &data->total, error) ||
        !session_residency_parts(session, &moments[data->place], &data->parts, &data->part_count,
                                 error))
        return false;
    if (make_rows(data))
        return true;
    snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
    return false;
}

static void clear(void *context)
{
    struct rss_data *data = context;
    free(data->list.rows);
    free(data->groups);
    session_residency_parts_free(data->parts, data->part_count);
}

/* Writes a bar of `width` columns, in eighths of them. */
static void write_bar(char *out, uint64_t part, uint64_t whole, unsigned width)
{
    const uint64_t eighths = whole == 0 ? 0 : (uint64_t)((double)part / (double)whole * width * 8);
    for (uint64_t left = eighths; left > 0; left -= left < 8 ? left : 8)
        out += text_encode(left >= 8 ? 0x2588 : 0x2590 - (uint32_t)left, out);
    *out = 0;
}

/* Writes what a class is, and how much of it there is beside the bytes. */
static void write_part(const struct rss_data *data, uint64_t class, char *out, size_t size)
{
    char count[FORMAT_SIZE];
    const char *title = session_residency_class_title((enum session_residency_class) class);
    if (class == RESIDENCY_HOLES)
        snprintf(out, size, "%s, %s page%s", title, format_count(count, data->total.pinned_pages),
                 format_plural(data->total.pinned_pages));
    else if (class == RESIDENCY_HEADERS && data->allocator[0])
        snprintf(out, size, "%s (%s)",
                 strcmp(data->allocator, "glibc") == 0 ? title : "size classes, own data",
                 data->allocator);
    else
        snprintf(out, size, "%s", title);
}

static void cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct rss_data *data = data_of(view);
    const struct class_row *shown = row;
    const bool in_rss = shown->class < RESIDENCY_IN_RSS;
    if (!in_rss) {
        cell->styled = true;
        cell->style = theme_style(THEME_FAINT);
    }
    if (column == COLUMN_SHARE && in_rss) {
        format_percent(cell->text, shown->bytes, data->moment.present);
    } else if (column == COLUMN_SHARE) {
        snprintf(cell->text, sizeof(cell->text), "beside");
    } else if (column == COLUMN_BAR && in_rss) {
        write_bar(cell->text, shown->bytes, data->moment.present, BAR_WIDTH);
        cell->sentence = true;
    } else if (column == COLUMN_PART) {
        write_part(data, shown->class, cell->text, sizeof(cell->text));
        cell->sentence = true;
    }
}

static uint64_t rank(const void *view, const void *row)
{
    return ((const struct class_row *)row)->class;
}

/* Returns the steps that select the blocks of a class among those live at the moment. NULL: no
 * block makes it. */
static const char *class_steps(uint64_t class)
{
    switch (class) {
    case RESIDENCY_LIVE_RESIDENT:
        return "where resident > 0 | sort resident desc";
    case RESIDENCY_LIVE_UNTOUCHED:
    case RESIDENCY_LIVE_SWAPPED:
    case RESIDENCY_HEADERS:
        return "where resident is not null | sort size desc";
    case RESIDENCY_HOLES:
        return "where pins > 0 | sort pins desc";
    default:
        return NULL;
    }
}

static char *step(const void *view, const void *row, const char **why)
{
    const struct rss_data *data = data_of(view);
    char *step;
    *why = "no live block lies in this part";
    if (!class_steps(((const struct class_row *)row)->class))
        return NULL;
    *why = SESSION_OUT_OF_MEMORY;
    return asprintf(&step, "where alloc_time <= %" PRIu64 "ns and not free_time <= %" PRIu64 "ns",
                    data->moment.ns, data->moment.ns) < 0
               ? NULL
               : step;
}

static void label(const void *view, const void *row, char *out, size_t size)
{
    char time[FORMAT_SIZE];
    snprintf(out, size, "live at %s", format_instant(time, data_of(view)->moment.ns));
}

static const struct list_kind ledger = {LIST_OF(struct class_row),
                                        .load = LIST_LOAD(rss_data, run, clear),
                                        .ask = ask,
                                        .cell = cell,
                                        .rank = rank,
                                        .step = step,
                                        .label = label};

/* ---- whose blocks ----------------------------------------------------------------------- */

#define OF(member)                                                                                 \
    (offsetof(struct group_row, sums) + offsetof(struct session_residency_group, member))
enum { GROUP_NAME = 5, GROUP_COLUMNS };

/* Those of holes. */
static const struct table_column hole_columns[GROUP_COLUMNS] = {
    {"pinned", 8, .keep = true, .meaning = "free bytes on the pages that its blocks pin",
     .number = TABLE_BYTES, .at = OF(pinned), .bar = true},
    {"pages", 7, 60, .meaning = "pages in memory that its blocks pin", .file = "pinned_pages",
     .number = TABLE_COUNT, .at = OF(pinned_pages)},
    {"last", 8, .keep = true, .meaning = "free bytes in memory where its blocks lived last",
     .file = "last_owned", .number = TABLE_BYTES, .at = OF(last_owned), .bar = true},
    {"live", 8, 76, .meaning = "live bytes at this moment", .file = "live_bytes",
     .number = TABLE_BYTES, .at = OF(live_bytes)},
    {"blocks", 8, 90, .meaning = "live blocks", .file = "live_count", .number = TABLE_COUNT,
     .at = OF(live_count)},
    [GROUP_NAME] = {"name", .text = true, .keep = true, .cut = TABLE_CUT_NAME},
};
/* Those of live blocks. */
static const struct table_column live_columns[GROUP_COLUMNS] = {
    {"resident", 8, .keep = true, .meaning = "live bytes in memory", .number = TABLE_BYTES,
     .at = OF(resident), .bar = true},
    {"untouched", 9, .keep = true, .meaning = "live bytes on pages that were never touched",
     .number = TABLE_BYTES, .at = OF(untouched), .bar = true},
    {"headers", 8, 60, .meaning = "bytes of the allocator around the blocks", .number = TABLE_BYTES,
     .at = OF(headers)},
    {"live", 8, 76, .meaning = "live bytes at this moment", .file = "live_bytes",
     .number = TABLE_BYTES, .at = OF(live_bytes)},
    {"blocks", 8, 90, .meaning = "live blocks", .file = "live_count", .number = TABLE_COUNT,
     .at = OF(live_count)},
    [GROUP_NAME] = {"name", .text = true, .keep = true, .cut = TABLE_CUT_NAME},
};

static bool ask_side(const void *view, const struct browse *browse, struct list_request *request)
{
    const struct rss *rss = view;
    const struct class_row *row = list_selected(&rss->view.list);
    const struct rss_data *data = data_of(view);
    request->of[1] = row ? row->class + 1 : 0;
    request->of[2] = data ? data->moment.id : 0;
    request->of[3] = data ? data->list.serial : 0;
    return row && data;
}

static bool make_groups(const void *view, struct list_data *list)
{
    const struct rss_data *data = data_of(view);
    const struct list_kind *kind = list->request.kind;
    struct group_row *rows = calloc(data->group_count + 1, sizeof(*rows));
    list->rows = rows;
    for (size_t i = 0; rows && i < data->group_count; i++) {
        const struct session_residency_group *sums = &data->groups[i];
        const bool holes = kind->columns == hole_columns;
        if (holes ? sums->pinned > 0 || sums->last_owned > 0 : sums->live_count > 0)
            rows[list->count++] = (struct group_row){sums->id, *sums};
    }
    return rows;
}

static const char *field_of(const void *view)
{
    const enum session_residency_by by = ((const struct rss *)view)->by;
    return by == SESSION_RESIDENCY_TYPE   ? "type"
           : by == SESSION_RESIDENCY_SITE ? "function"
                                          : "user";
}

/* Returns the name of a group, NULL if it has none. */
static const char *group_name(const void *view, const struct group_row *row)
{
    const struct rss *rss = view;
    if (row->id == 0)
        return NULL;
    return rss->by == SESSION_RESIDENCY_TYPE
               ? session_type_name(rss->view.session, (uint32_t)row->id)
               : session_function_name(rss->view.session, (uint32_t)row->id);
}

static void group_cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    if (column != GROUP_NAME)
        return;
    cell->name = group_name(view, row);
    if (cell->name)
        return;
    cell->name = ((const struct rss *)view)->by == SESSION_RESIDENCY_USER ? "no own code"
                                                                          : SESSION_UNKNOWN_TYPE;
    cell->styled = true;
    cell->style = theme_style(THEME_FAINT);
}

static char *group_step(const void *view, const void *row, const char **why)
{
    return list_name_step(field_of(view), group_name(view, row));
}

static void group_label(const void *view, const void *row, char *out, size_t size)
{
    const char *name = group_name(view, row);
    snprintf(out, size, "this %s: %.100s", field_of(view), name ? name : SESSION_UNKNOWN_TYPE);
}

#define GROUPS(its_columns, by)                                                                    \
    {                                                                                              \
        .columns = (its_columns), .column_count = GROUP_COLUMNS,                                   \
        .row_size = sizeof(struct group_row), .sort = (by), .make = make_groups, .ask = ask_side,  \
        .cell = group_cell, .step = group_step, .label = group_label, .none = "of no block"        \
    }
static const struct list_kind pins = GROUPS(hole_columns, 0), last_owners = GROUPS(hole_columns, 2),
                              residents = GROUPS(live_columns, 0),
                              untouched = GROUPS(live_columns, 1),
                              headers = GROUPS(live_columns, 2);

/* ---- stacks, files, mappings ------------------------------------------------------------ */

struct part_row {
    uint64_t key, bytes;
    const char *detail; /* of the data */
};

static const struct table_column part_columns[] = {
    {"bytes", 8, .keep = true, .number = TABLE_BYTES, .at = offsetof(struct part_row, bytes),
     .bar = true},
    {"share", 6, .number = TABLE_SHARE, .unsorted = true, .at = offsetof(struct part_row, bytes)},
    {"of", .text = true, .keep = true, .cut = TABLE_CUT_FILE},
};

static bool make_parts(const void *view, struct list_data *list)
{
    const struct rss *rss = view;
    const struct rss_data *data = data_of(view);
    const struct class_row *row = list_selected(&rss->view.list);
    struct part_row *rows = calloc(data->part_count + 1, sizeof(*rows));
    list->rows = rows;
    for (size_t i = 0; rows && row && i < data->part_count; i++)
        if (data->parts[i].class == row->class && data->parts[i].detail[0])
            rows[list->count++] = (struct part_row){i, data->parts[i].bytes, data->parts[i].detail};
    return rows;
}

static void part_cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    if (column == 2)
        cell->name = ((const struct part_row *)row)->detail;
}

static const struct list_kind details = {.columns = part_columns,
                                         .column_count =
                                             sizeof(part_columns) / sizeof(*part_columns),
                                         .row_size = sizeof(struct part_row),
                                         .none = "it has no parts that are told apart",
                                         .make = make_parts,
                                         .ask = ask_side,
                                         .cell = part_cell};

static const struct list_kind *choose(void *view, const void *row)
{
    static const struct list_kind *const of[RESIDENCY_CLASSES] = {
        [RESIDENCY_HOLES] = &pins,
        [RESIDENCY_FREE_PAGES] = &last_owners,
        [RESIDENCY_HEADERS] = &headers,
        [RESIDENCY_LIVE_UNTOUCHED] = &untouched,
        [RESIDENCY_LIVE_SWAPPED] = &untouched,
        [RESIDENCY_LIVE_RESIDENT] = &residents,
    };
    const struct list_kind *kind = of[((const struct class_row *)row)->class];
    return kind ? kind : &details;
}

static void title(const void *view, const void *row, char *out, size_t size)
{
    static const char *const by[] = {"type", "call site", "function of yours"};
    const uint64_t class = ((const struct class_row *)row)->class;
    const char *way = by[((const struct rss *)view)->by];
    if (class == RESIDENCY_HOLES)
        snprintf(out, size, " who pins the holes, and who lived there last, by %s ", way);
    else if (class == RESIDENCY_FREE_PAGES)
        snprintf(out, size, " who lived there last, by %s ", way);
    else if (choose((void *)(uintptr_t)view, row) == &details)
        snprintf(out, size, " %s ",
                 session_residency_class_title((enum session_residency_class) class));
    else
        snprintf(out, size, " whose live blocks, by %s ", way);
}

/* ---- view ------------------------------------------------------------------------------- */

static const char *instead(const void *view)
{
    const struct rss_data *data = data_of(view);
    return data && data->count == 0 ? data->why : NULL;
}

static void head(const void *view, const struct browse *browse, const struct area *area)
{
    const struct rss_data *data = data_of(view);
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    if (!data)
        return;
    const struct session_residency *moment = &data->moment;
    int x = 1 + area_print(area, 1, 0, theme_style(THEME_STRONG), "%sRSS %s at %s",
                           moment->zero_known ? "" : "at most: ", format_size(a, moment->present),
                           format_instant(b, moment->ns));
    x += area_print(area, x, 0, theme_style(THEME_FAINT), " · %s%s%s · %" PRIu64 " of %" PRIu64,
                    data->reason, data->mark[0] ? " " : "", data->mark, data->place + 1,
                    data->count);
    const uint64_t less =
        moment->rss_before < moment->rss_after ? moment->rss_before : moment->rss_after;
    const uint64_t more = moment->rss_before + moment->rss_after - less;
    if (strcmp(format_size(a, less), format_size(b, more)) == 0)
        area_print(area, x, 0, theme_style(THEME_FAINT), " · kernel %s", a);
    else
        area_print(area, x, 0, theme_style(THEME_FAINT), " · kernel %s to %s", a, b);
    x = 1 + area_print(area, 1, 1, theme_style(THEME_PLAIN),
                       "live %s in %s block%s, %s of it not resident",
                       format_size(a, data->total.live_bytes),
                       format_count(b, data->total.live_count),
                       format_plural(data->total.live_count),
                       format_size(c, data->total.untouched + data->total.swapped));
    browse_tell_process(browse, area, x, 1, moment->process);
    area_text(area, 1, 2, theme_style(THEME_FAINT),
              data->advice[0] ? data->advice : "the parts add up to RSS: each byte is in one");
}

/* Follows the moment of all views if another one has changed it. */
static void prepare(void *view, struct browse *browse)
{
    struct rss *rss = view;
    if (rss->seen && browse->moment_ns != rss->seen_ns) {
        rss->choice = CHOOSE_NEAREST;
        rss->wanted = browse->moment_ns;
    }
    if (!rss->seen)
        rss->by = SESSION_RESIDENCY_USER;
    rss->seen = true;
    rss->seen_ns = browse->moment_ns;
}

/* Other views go to the moment that the user has stepped to. */
static void loaded(void *view, struct browse *browse)
{
    struct rss *rss = view;
    const struct rss_data *data = data_of(view);
    const uint64_t end = session_duration_ns(browse->session);
    if (!data || data->count == 0 || rss->choice != CHOOSE_PLACE)
        return;
    browse->moment_ns = data->moment.ns < end || end == 0 ? data->moment.ns : end - 1;
    rss->seen_ns = browse->moment_ns;
}

static void go(struct rss *rss, struct browse *browse, bool forward)
{
    const struct rss_data *data = data_of(rss);
    if (!data || data->count == 0)
        return;
    if (forward ? data->place + 1 >= data->count : data->place == 0) {
        browse_say(browse, "no moment %s this one: the pages were read %" PRIu64 " times",
                   forward ? "after" : "before", data->count);
        return;
    }
    rss->choice = CHOOSE_PLACE;
    rss->wanted = forward ? data->place + 1 : data->place - 1;
}

/* Lists the blocks of the selected line: those that were live at the moment. */
static void list_blocks(const struct rss *rss, struct browse *browse)
{
    const struct rss_data *data = data_of(rss);
    const struct class_row *row = list_selected(&rss->view.list);
    const void *group =
        rss->view.in_side && rss->view.side.kind->step ? list_selected(&rss->view.side) : NULL;
    const char *steps = row ? class_steps(row->class) : NULL;
    char time[FORMAT_SIZE], *narrow = NULL, *filter = NULL;
    if (!data || !row)
        return;
    if (!steps) {
        browse_complain(browse, "no live block lies in this part");
        return;
    }
    if (group)
        narrow = list_name_step(field_of(rss), group_name(rss, group));
    format_filter_time(time, data->moment.ns);
    if ((group && !narrow) || asprintf(&filter, "live at %s%s%s | %s", time, group ? " | " : "",
                                       group ? narrow : "", steps) < 0)
        filter = NULL;
    free(narrow);
    if (!filter) {
        browse_complain(browse, SESSION_OUT_OF_MEMORY);
        return;
    }
    browse_replace(browse, filter);
    browse_show(browse, VIEW_ALLOCATIONS);
    free(filter);
}

static bool act(void *view, struct browse *browse, const struct view_input *input)
{
    struct rss *rss = view;
    switch (input->action) {
    case ACTION_STEP_BACK:
    case ACTION_STEP_FORWARD:
        go(rss, browse, input->action == ACTION_STEP_FORWARD);
        return true;
    case ACTION_BY_TYPE:
        rss->by = SESSION_RESIDENCY_TYPE;
        return true;
    case ACTION_BY_SITE:
        rss->by = SESSION_RESIDENCY_SITE;
        return true;
    case ACTION_BY_USER:
        rss->by = SESSION_RESIDENCY_USER;
        return true;
    case ACTION_FOLLOW:
        list_blocks(rss, browse);
        return true;
    default:
        return false;
    }
}

static const struct key_binding keys[] = {
    {ACTION_STEP_BACK, "to the reading before", .keys = {'['}, .footer_keys = "[ ]",
     .footer = "moment"},
    {ACTION_STEP_FORWARD, "to the reading after", .keys = {']'}},
    {ACTION_FOLLOW,
     "list the blocks of the part that were live at the moment; in the pane: those "
     "of the line",
     .keys = {KEYCODE_ENTER}, .footer = "blocks"},
    {ACTION_NEXT_PANE, "into the pane, and back", .keys = {KEYCODE_TAB}, .footer = "pane"},
    {ACTION_BY_TYPE, "by type", .keys = {'t'}, .footer = "type"},
    {ACTION_BY_SITE, "by the function of the call site", .keys = {'s'}, .footer = "site"},
    {ACTION_BY_USER, "by the function of the user's own code", .keys = {'u'}, .footer = "user"},
};

static const struct table_view_kind kind = {.size = sizeof(struct rss),
                                            .list = &ledger,
                                            .side = &residents,
                                            .lines = 3,
                                            .head = head,
                                            .title = title,
                                            .instead = instead,
                                            .prepare = prepare,
                                            .loaded = loaded,
                                            .choose = choose,
                                            .act = act};

const struct view_ops rss_view = {
    .name = "rss",
    .title = "RSS",
    .help =
        "Why the resident set is what it is: at moments at which the pages in memory were "
        "read, each of its bytes is in one part. The pane tells who makes the selected one. All "
        "blocks of the process count.",
    .keys = KEY_TABLE(keys),
    .rows = &kind,
    TABLE_VIEW_OPS,
};
