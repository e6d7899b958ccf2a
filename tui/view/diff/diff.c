/* SPDX-License-Identifier: BSD-2-Clause */
/* The diff view: what is live at B compared with what was live at A. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/time.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/moments.h"
#include "tui/view/common/table_view.h"
#include "tui/view/diff/compare.h"

#define WORD_SIZE 128 /* of a time as the user writes it */

struct diff {
    struct table_view view;
    char before[WORD_SIZE], after[WORD_SIZE];
    bool chosen; /* the times, by the user; otherwise they are those of the range */
    size_t way, threshold;
    uint64_t largest; /* change of a row in bytes */
};

struct diff_data {
    struct list_data list; /* of[1] and [2]: A and B; text: the filter of the other session */
    char renamed[256];     /* a module that has another name in the other session; "": none */
    size_t changed;        /* rows */
};

#define AT(member) offsetof(struct compare_row, member)
enum { COLUMN_NAME, COLUMN_BAR, COLUMN_NET, COLUMN_BLOCKS = 5, COLUMN_STATE, COLUMNS };

enum { BAR_HALF = 10 };

static const struct table_column columns[COLUMNS] = {
    [COLUMN_NAME] = {"name", .text = true, .keep = true},
    [COLUMN_BAR] = {"less      more", 2 * BAR_HALF + 1, 96, .text = true, .unsorted = true,
                    .file = "", .meaning = "the net change, from the middle"},
    [COLUMN_NET] = {"net", 8, .keep = true, .meaning = "bytes live at B less those at A",
                    .file = "net_bytes", .number = TABLE_GROWTH, .at = TABLE_ASKED},
    {"at A", 8, 60, .file = "from_bytes", .number = TABLE_BYTES, .at = AT(before.bytes)},
    {"at B", 8, 50, .file = "to_bytes", .number = TABLE_BYTES, .at = AT(after.bytes)},
    [COLUMN_BLOCKS] = {"net blocks", 10, 70, .meaning = "live at B less those at A",
                       .file = "net_count", .number = TABLE_GROWTH, .at = TABLE_ASKED},
    [COLUMN_STATE] = {"is", 7, 40, .text = true, .meaning = "new, gone, grown or shrunk",
                      .file = "change"},
};

static const struct {
    enum session_growth_by by;
    enum table_cut cut;
    const char *name, *file;
} ways[] = {{SESSION_GROWTH_TYPE, TABLE_CUT_CATEGORY, "type", "type"},
            {SESSION_GROWTH_USER, TABLE_CUT_NAME, "function of yours", "user"},
            {SESSION_GROWTH_FUNCTION, TABLE_CUT_NAME, "function", "function"},
            {SESSION_GROWTH_STACK, TABLE_CUT_PATH, "path", "path"}};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* Smaller changes are not shown. */
static const uint64_t thresholds[] = {0, 1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20};
#define THRESHOLDS (sizeof(thresholds) / sizeof(thresholds[0]))

/* ---- the question ----------------------------------------------------------------------- */

/* Finds the two moments, A in this session unless there is another one. */
static bool find_moments(const struct diff *diff, const struct browse *browse, uint64_t *before,
                         uint64_t *after, struct session_error *error)
{
    *before = 0;
    return session_moment(browse->session, diff->after, after, error) &&
           (browse->other || session_moment(browse->session, diff->before, before, error));
}

static bool ask(const void *view, const struct browse *browse, struct list_request *request)
{
    const struct diff *diff = view;
    struct session_error ignored;
    request->of[3] = (uint64_t)ways[diff->way].by;
    request->of[4] = (uint64_t)(uintptr_t)browse->other;
    return find_moments(diff, browse, &request->of[1], &request->of[2], &ignored) &&
           (!browse->other || snprintf(request->text, LIST_TEXT, "%s%c%s", diff->before, '\n',
                                       browse->filter) < LIST_TEXT);
}

/* Opens the other session, which ends early with `session`, and its side. Free both. */
static bool open_other(const struct session *session, const struct list_request *request,
                       struct compare_side *side, struct session_error *error)
{
    char message[sizeof(error->message)], before[WORD_SIZE];
    const char *filter = strchr(request->text, '\n');
    snprintf(before, sizeof(before), "%.*s", (int)(filter - request->text), request->text);
    side->session = session_open((const char *)(uintptr_t)request->of[4], error);
    if (side->session)
        session_obey(side->session, session);
    if (side->session && session_moment(side->session, before, &side->ns, error))
        side->selection = selection_new(side->session, filter + 1, error);
    if (side->selection)
        return true;
    memcpy(message, error->message, sizeof(message));
    snprintf(error->message, sizeof(error->message), "in the other session: %.480s", message);
    error->column = 0;
    return false;
}

/* Writes which module of the other session is compared under another name, and how many more. */
static void tell_renamed(const struct same_modules *same, char *out, size_t size)
{
    const struct same_module *list;
    char text[200];
    const size_t count = same_modules_list(same, &list);
    if (count == 0)
        return;
    same_module_text(&list[0], text, sizeof(text));
    if (count > 1)
        snprintf(out, size, "%s, and %zu more", text, count - 1);
    else
        snprintf(out, size, "%s", text);
}

static bool has_changed(const struct compare_row *row)
{
    return row->before.bytes != row->after.bytes || row->before.count != row->after.count;
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct diff_data *data = context;
    const struct list_request *request = &data->list.request;
    const struct compare_side after = {.session = session, selection, request->of[2]};
    struct compare_side before = {.session = session, selection, request->of[1]};
    struct compare_side other = {.ns = 0};
    struct same_modules *same = NULL;
    struct compare_row *rows = NULL;
    bool good = true;
    if (request->of[4]) {
        good = open_other(session, request, &other, error) &&
               (same = same_modules_find(other.session, session, error));
        before = other;
        before.same = same;
    }
    if (same)
        tell_renamed(same, data->renamed, sizeof(data->renamed));
    good = good && compare_sides(&before, &after, (enum session_growth_by)request->of[3], &rows,
                                 &data->list.count, error);
    data->list.rows = rows;
    for (size_t i = 0; good && i < data->list.count; i++)
        data->changed += has_changed(&rows[i]);
    same_modules_free(same);
    selection_free(other.selection);
    session_close(other.session);
    return good;
}

static void clear(void *context)
{
    struct list_data *data = context;
    compare_free(data->rows, data->count);
}

/* ---- rows ------------------------------------------------------------------------------- */

static bool hides(const void *view, const void *row)
{
    const int64_t net = compare_net(row);
    return !has_changed(row) ||
           (uint64_t)(net < 0 ? -net : net) < thresholds[((const struct diff *)view)->threshold];
}

static uint64_t key(const void *view, const void *row)
{
    return ((const struct compare_row *)row)->key;
}

static uint64_t number(const void *view, const void *row, size_t column)
{
    const struct compare_row *shown = row;
    return column == COLUMN_NET ? (uint64_t)compare_net(shown)
                                : shown->after.count - shown->before.count;
}

/* Draws a bar from the middle: to the left what has become less, to the right what has grown. */
static void put_bar(int64_t net, uint64_t largest, struct table_cell *cell)
{
    const uint64_t change = net < 0 ? 0 - (uint64_t)net : (uint64_t)net;
    const int halves =
        (int)((double)change / (double)(largest > 0 ? largest : 1) * 2 * BAR_HALF + 0.5);
    const int full = halves / 2, half = halves % 2;
    char *out = cell->text;
    for (int i = 0; i < BAR_HALF; i++)
        out = stpcpy(out, net >= 0 || i < BAR_HALF - full - half ? " "
                          : i < BAR_HALF - full                  ? "\u2590"
                                                                 : "\u2588");
    out = stpcpy(out, "\u2502");
    for (int i = 0; net > 0 && i < full + half; i++)
        out = stpcpy(out, i < full ? "\u2588" : "\u258c");
    cell->styled = true;
    cell->style = theme_style(net > 0 ? THEME_WARNING : net < 0 ? THEME_GOOD : THEME_FAINT);
}

static void cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const int64_t net = compare_net(row);
    char count[FORMAT_SIZE];
    cell->styled = column == COLUMN_NET;
    if (column == COLUMN_NAME) {
        cell->name = ((const struct compare_row *)row)->name;
    } else if (column == COLUMN_BAR) {
        put_bar(net, ((const struct diff *)view)->largest, cell);
    } else if (column == COLUMN_STATE) {
        cell->name = compare_state(row);
    } else if (column == COLUMN_NET) {
        growth_text(cell->text, net);
        cell->style = theme_style(net > 0 ? THEME_WARNING : net < 0 ? THEME_GOOD : THEME_FAINT);
    } else if (column == COLUMN_BLOCKS) {
        snprintf(cell->text, sizeof(cell->text), "%s%s", cell->negative ? "−" : "+",
                 format_count_short(count, cell->number));
    }
}

/* Returns the step that selects what happened to a row, NULL if memory is exhausted. */
static char *make_step(const struct diff *diff, const struct compare_row *row, enum counted counted)
{
    struct counted_times times = {.two_sessions = diff->view.browse->other != NULL};
    struct session_error error;
    return find_moments(diff, diff->view.browse, &times.before_ns, &times.after_ns, &error)
               ? counted_step(row, ways[diff->way].by, counted, &times)
               : NULL;
}

/* Returns true if this session has nothing of a row. */
static bool is_elsewhere(const struct diff *diff, const struct compare_row *row)
{
    return diff->view.browse->other && row->after.count == 0;
}

static char *step(const void *view, const void *row, const char **why)
{
    if (!is_elsewhere(view, row))
        return make_step(view, row, compare_net(row) < 0 ? COUNTED_WENT : COUNTED_CAME);
    *why = "only the other session has this";
    return NULL;
}

/* Offers what a row counts, in place of the one step that Enter takes. */
static size_t offers(void *view, struct browse *browse, struct view_offer *out, size_t capacity)
{
    static const char *const labels[] = {"live at B, not at A", "live at A, not at B", "live at B"};
    const struct diff *diff = view;
    const struct compare_row *row = list_selected(&diff->view.list);
    size_t count = 0;
    if (!row || is_elsewhere(diff, row))
        return 0;
    for (int counted = browse->other ? COUNTED_LIVE : COUNTED_CAME;
         counted <= COUNTED_LIVE && count < capacity; counted++) {
        out[count].step = make_step(diff, row, (enum counted)counted);
        if (!out[count].step)
            continue;
        snprintf(out[count].label, sizeof(out[count].label), "%s: %.90s", labels[counted],
                 row->name);
        count++;
    }
    return count;
}

static const struct list_kind diff_list = {LIST_OF(struct compare_row),
                                           .sort = COLUMN_NET,
                                           .load = LIST_LOAD(diff_data, run, clear),
                                           .ask = ask,
                                           .key = key,
                                           .cell = cell,
                                           .number = number,
                                           .hides = hides,
                                           .step = step};

/* Lists the rows in one of the ways, whose names have their own column. */
static void use_way(struct diff *diff, size_t way)
{
    static struct table_column named[WAYS][COLUMNS];
    static struct list_kind kinds[WAYS];
    memcpy(named[way], columns, sizeof(columns));
    named[way][COLUMN_NAME].cut = ways[way].cut;
    named[way][COLUMN_NAME].file = ways[way].file;
    kinds[way] = diff_list;
    kinds[way].columns = named[way];
    diff->way = way;
    diff->view.list.table = (struct table){.sort = COLUMN_NET, .descending = true};
    diff->view.list.kind = &kinds[way];
}

/* ---- actions ---------------------------------------------------------------------------- */

/* Takes the times of the range, or start and peak, unless the user has chosen others. */
static void find_times(struct diff *diff, const struct browse *browse)
{
    if (diff->chosen)
        return;
    if (browse->has_range && !browse->other) {
        format_filter_time(diff->before, browse->range_from_ns);
        format_filter_time(diff->after, browse->range_to_ns);
    } else {
        snprintf(diff->before, sizeof(diff->before), "%s", browse->other ? "peak" : "start");
        snprintf(diff->after, sizeof(diff->after), "peak");
    }
}

/* Takes "load bgsave", "2s..5s" or "start, peak" as the two times. */
static void choose_times(struct diff *diff, struct browse *browse, const char *text)
{
    char from[WORD_SIZE], to[WORD_SIZE];
    uint64_t ns;
    struct session_error error = {.message = ""};
    if (!split_times(text, from, to, WORD_SIZE)) {
        browse_complain(browse, "write two times, such as 2s 5s, or start..peak");
        return;
    }
    if (!session_moment(browse->session, to, &ns, &error) ||
        (!browse->other && !session_moment(browse->session, from, &ns, &error))) {
        browse_complain(browse, "%s", error.message);
        return;
    }
    memcpy(diff->before, from, sizeof(from));
    memcpy(diff->after, to, sizeof(to));
    diff->chosen = true;
}

static bool act(void *view, struct browse *browse, const struct view_input *input)
{
    struct diff *diff = view;
    switch (input->action) {
    case ACTION_DIRECTION:
        use_way(diff, (diff->way + 1) % WAYS);
        return true;
    case ACTION_ZOOM_IN:
    case ACTION_ZOOM_OUT:
        if (input->action == ACTION_ZOOM_IN)
            diff->threshold += diff->threshold + 1 < THRESHOLDS;
        else
            diff->threshold -= diff->threshold > 0;
        list_renew(&diff->view.list);
        return true;
    case ACTION_GOTO:
        choose_times(diff, browse, input->text);
        return true;
    case ACTION_RANGE:
        diff->chosen = false;
        return true;
    default:
        return false;
    }
}

static void prepare(void *view, struct browse *browse)
{
    struct diff *diff = view;
    uint64_t before, after;
    struct session_error error = {.message = ""};
    if (diff->view.list.kind == &diff_list) {
        const struct table kept = diff->view.list.table;
        use_way(diff, 0);
        diff->view.list.table = kept;
    }
    find_times(diff, browse);
    if (!find_moments(diff, browse, &before, &after, &error))
        browse_complain(browse, "%s", error.message);
}

/* ---- cells ------------------------------------------------------------------------------ */

/* Returns a moment as the screen names it: `peak` is the program's, whatever is selected. */
static const char *moment_name(const char *moment)
{
    return strcmp(moment, "peak") == 0 ? "program's peak" : moment;
}

static void render_sums(const struct diff *diff, const struct browse *browse,
                        const struct area *area)
{
    const struct diff_data *data = diff->view.list.data;
    const struct compare_row *rows = data->list.rows;
    struct session_growth total = {.id = 0};
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], d[FORMAT_SIZE];
    for (size_t i = 0; i < data->list.count; i++) {
        total.before.bytes += rows[i].before.bytes;
        total.after.bytes += rows[i].after.bytes;
    }
    int x = 1 + area_print(area, 1, 1, theme_style(THEME_STRONG), "%s%s", browse->about,
                           growth_text(a, session_growth_net(&total)));
    x += area_print(area, x, 1, theme_style(THEME_PLAIN), ": %s → %s",
                    format_size(a, total.before.bytes), format_size(b, total.after.bytes));
    x += area_print(area, x, 1, theme_style(THEME_FAINT), " · %s of %s rows",
                    format_count(c, diff->view.list.count), format_count(d, data->list.count));
    if (diff->threshold > 0)
        x += area_print(area, x, 1, theme_style(THEME_FAINT), ", changes of %s or more",
                        format_size(a, thresholds[diff->threshold]));
    else
        x += area_text(area, x, 1, theme_style(THEME_FAINT), " changed");
    if (data->renamed[0])
        area_field(area, x + 2, 1, area->width - x - 2, theme_style(THEME_FAINT), data->renamed);
}

static void head(const void *view, const struct browse *browse, const struct area *area)
{
    const struct diff *diff = view;
    const struct cell_style faint = theme_style(THEME_FAINT), strong = theme_style(THEME_STRONG);
    int x = 1 + area_text(area, 1, 0, faint, "A ");
    x += area_text(area, x, 0, strong, moment_name(diff->before));
    if (browse->other)
        x += area_print(area, x, 0, faint, " of %.60s", basename(browse->other));
    x += area_text(area, x, 0, faint, "  B ");
    x += area_text(area, x, 0, strong, moment_name(diff->after));
    if (browse->other)
        x += area_print(area, x, 0, faint, " of %.60s", basename(session_path(browse->session)));
    area_print(area, x, 0, faint, "  by %s", ways[diff->way].name);
    if (diff->view.list.data)
        render_sums(diff, browse, area);
}

static void foot(const void *view, const void *row, const struct browse *browse,
                 const struct area *area)
{
    area_field(area, 1, 0, area->width - 2, theme_style(THEME_FAINT),
               ((const struct compare_row *)row)->name);
}

static const char *none(const void *view)
{
    const struct diff_data *data = ((const struct diff *)view)->view.list.data;
    return data->changed > 0 ? "all changes are smaller; - shows them"
                             : "nothing changed between A and B";
}

static const struct key_binding keys[] = {
    {ACTION_DIRECTION, "by type, function of yours, function, path", .keys = {'b'}, .footer = "by"},
    {ACTION_GOTO, "choose the two times: 2s 5s, start..peak, two marks", .keys = {'g'},
     .footer = "times"},
    {ACTION_RANGE, "take the times of the timeline's range again", .keys = {'v'}},
    {ACTION_ZOOM_IN, "leave out smaller changes", .keys = {'+', '='}, .footer_keys = "+ -",
     .footer = "threshold"},
    {ACTION_ZOOM_OUT, "show smaller changes", .keys = {'-'}},
    {ACTION_FOLLOW, "list the blocks that came and stayed, or those that went",
     .keys = {KEYCODE_ENTER}, .footer = "list"},
};

static void loaded(void *view, struct browse *browse)
{
    struct diff *diff = view;
    diff->largest = 0;
    for (size_t i = 0; i < diff->view.list.count; i++) {
        const int64_t net = compare_net(list_row(&diff->view.list, i));
        const uint64_t change = net < 0 ? 0 - (uint64_t)net : (uint64_t)net;
        diff->largest = change > diff->largest ? change : diff->largest;
    }
}

static const struct table_view_kind kind = {.size = sizeof(struct diff),
                                            .list = &diff_list,
                                            .lines = 2,
                                            .foot_lines = 1,
                                            .head = head,
                                            .foot = foot,
                                            .none = none,
                                            .prepare = prepare,
                                            .loaded = loaded,
                                            .act = act,
                                            .offers = offers};

const struct view_ops diff_view = {
    .name = "diff",
    .title = "Diff",
    .asks = "times A and B:",
    .help = "Compares what is live at B with what was live at A: two moments of the session, its "
            "marks, or a session with an earlier one (mprof-tui A.db B.db).",
    .keys = KEY_TABLE(keys),
    .rows = &kind,
    TABLE_VIEW_OPS,
};
