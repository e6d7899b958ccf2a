/* SPDX-License-Identifier: BSD-2-Clause */
/* The diff view: what is live at B compared with what was live at A. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/moment.h"
#include "tui/explore/growth.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/diff/compare.h"
#include "tui/view/diff/counted.h"
#include "tui/view/view.h"

#define WORD_SIZE 128 /* of a time as the user writes it */
#define FILTER_SIZE 4096

enum column {
    COLUMN_NAME,
    COLUMN_NET,
    COLUMN_BEFORE,
    COLUMN_AFTER,
    COLUMN_BLOCKS,
    COLUMN_STATE,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    {"name", .text = true, .keep = true},
    {"net", 8, .keep = true, .meaning = "bytes live at B less those at A", .file = "net_bytes"},
    {"at A", 8, 60, .file = "from_bytes"},
    {"at B", 8, 50, .file = "to_bytes"},
    {"net blocks", 10, 70, .meaning = "live at B less those at A", .file = "net_count"},
    {"is", 7, 40, .text = true, .meaning = "new, gone, grown or shrunk", .file = "change"},
};

static const enum session_growth_by ways[] = {SESSION_GROWTH_TYPE, SESSION_GROWTH_USER,
                                              SESSION_GROWTH_FUNCTION, SESSION_GROWTH_STACK};
static const enum table_cut cuts[] = {TABLE_CUT_CATEGORY, TABLE_CUT_NAME, TABLE_CUT_NAME,
                                      TABLE_CUT_PATH};
static const char *const way_names[] = {"type", "function of yours", "function", "path"};
static const char *const way_files[] = {"type", "user", "function", "path"};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* Smaller changes are not shown. */
static const uint64_t thresholds[] = {0, 1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20};
#define THRESHOLDS (sizeof(thresholds) / sizeof(thresholds[0]))

/* The answer of the engine, and its question. */
struct diff_data {
    struct {
        uint64_t selections, by, before_ns, after_ns, other; /* other: A is of exploration->other */
        char before[WORD_SIZE];                              /* the time in the other session */
        char filter[FILTER_SIZE];                            /* for the other session */
        const char *path;
    } request;
    struct compare_row *rows;
    size_t count;
    char renamed[256]; /* a module that has another name in the other session; "": none */
    bool known;        /* false: it failed */
};

struct diff {
    struct load load;
    const struct diff_data *data; /* NULL: not known yet */
    char before[WORD_SIZE], after[WORD_SIZE];
    bool chosen; /* the times, by the user; otherwise they are those of the range */
    size_t way, threshold;
    struct table table;
    struct table_column columns[COLUMNS]; /* names are cut as the way needs */
    uint32_t *order;                      /* of the rows that are shown */
    size_t shown, changed;                /* changed: before the threshold */
    bool failed;
};

static void *create(void)
{
    struct diff *diff = calloc(1, sizeof(*diff));
    if (diff)
        diff->table = (struct table){.sort = COLUMN_NET, .descending = true};
    return diff;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct diff *diff = view;
    load_clear(&exploration->loader, &diff->load);
    free(diff->order);
    free(diff);
}

/* ---- loading ---------------------------------------------------------------------------- */

/* Opens the other session, which ends early with `session`, and finds its side. The caller frees
 * both. */
static bool open_other(const struct session *session, const struct diff_data *data,
                       struct compare_side *side, struct session_error *error)
{
    char message[sizeof(error->message)];
    side->session = session_open(data->request.path, error);
    if (side->session)
        session_obey(side->session, session);
    if (side->session && session_moment(side->session, data->request.before, &side->ns, error))
        side->selection = selection_new(side->session, data->request.filter, error);
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

static bool run(struct session *session, struct selection *selection, void *argument,
                struct session_error *error)
{
    struct diff_data *data = argument;
    const struct compare_side after = {.session = session, selection, data->request.after_ns};
    struct compare_side before = {.session = session, selection, data->request.before_ns};
    struct compare_side other = {.ns = 0};
    struct same_modules *same = NULL;
    bool good = true;
    if (data->request.other) {
        good = open_other(session, data, &other, error) &&
               (same = same_modules_find(other.session, session, error));
        before = other;
        before.same = same;
    }
    if (same)
        tell_renamed(same, data->renamed, sizeof(data->renamed));
    good = good && compare_sides(&before, &after, (enum session_growth_by)data->request.by,
                                 &data->rows, &data->count, error);
    data->known = good;
    same_modules_free(same);
    selection_free(other.selection);
    session_close(other.session);
    return good;
}

static void clear(void *argument)
{
    struct diff_data *data = argument;
    compare_free(data->rows, data->count);
}

static uint64_t magnitude(int64_t net)
{
    return net < 0 ? 0 - (uint64_t)net : (uint64_t)net;
}

static bool has_changed(const struct compare_row *row)
{
    return row->before.bytes != row->after.bytes || row->before.count != row->after.count;
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct diff *diff = context;
    const struct compare_row *a = &diff->data->rows[*(const uint32_t *)left];
    const struct compare_row *b = &diff->data->rows[*(const uint32_t *)right];
    const int64_t net_a = compare_net(a), net_b = compare_net(b);
    const int64_t blocks_a = (int64_t)(a->after.count - a->before.count);
    const int64_t blocks_b = (int64_t)(b->after.count - b->before.count);
    int order = 0;
    switch (diff->table.sort) {
    case COLUMN_NAME:
        order = strcmp(a->name, b->name);
        break;
    case COLUMN_BEFORE:
        order = (a->before.bytes > b->before.bytes) - (a->before.bytes < b->before.bytes);
        break;
    case COLUMN_AFTER:
        order = (a->after.bytes > b->after.bytes) - (a->after.bytes < b->after.bytes);
        break;
    case COLUMN_BLOCKS:
        order = (blocks_a > blocks_b) - (blocks_a < blocks_b);
        break;
    case COLUMN_STATE:
        order = strcmp(compare_state(a), compare_state(b));
        break;
    default:
        order = (net_a > net_b) - (net_a < net_b);
        break;
    }
    if (order == 0)
        return strcmp(a->name, b->name);
    return diff->table.descending ? -order : order;
}

static void sort_rows(struct diff *diff)
{
    free(diff->order);
    diff->shown = diff->changed = 0;
    diff->order = diff->data ? malloc((diff->data->count + 1) * sizeof(uint32_t)) : NULL;
    if (!diff->order)
        return;
    for (size_t i = 0; i < diff->data->count; i++) {
        const struct compare_row *row = &diff->data->rows[i];
        diff->changed += has_changed(row);
        if (has_changed(row) && magnitude(compare_net(row)) >= thresholds[diff->threshold])
            diff->order[diff->shown++] = (uint32_t)i;
    }
    qsort_r(diff->order, diff->shown, sizeof(uint32_t), compare_rows, diff);
}

/* Takes the times of the range, or start and peak, unless the user has chosen others. */
static void find_times(struct diff *diff, const struct exploration *exploration)
{
    if (diff->chosen)
        return;
    if (exploration->has_range && !exploration->other) {
        format_filter_time(diff->before, exploration->range_from_ns);
        format_filter_time(diff->after, exploration->range_to_ns);
    } else {
        snprintf(diff->before, sizeof(diff->before), "%s", exploration->other ? "peak" : "start");
        snprintf(diff->after, sizeof(diff->after), "peak");
    }
}

static void load(struct diff *diff, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct diff_data *)0)->request),
                                          sizeof(struct diff_data), run, clear};
    static struct diff_data wanted; /* too large for the stack; only one thread uses views */
    struct session_error error = {.message = ""};
    const struct diff_data *before = diff->data;
    find_times(diff, exploration);
    memcpy(diff->columns, columns, sizeof(columns));
    diff->columns[COLUMN_NAME].cut = cuts[diff->way];
    diff->columns[COLUMN_NAME].file = way_files[diff->way];
    memset(&wanted, 0, sizeof(wanted));
    wanted.request.selections = exploration->selections;
    wanted.request.by = (uint64_t)ways[diff->way];
    wanted.request.other = exploration->other != NULL;
    diff->failed =
        !session_moment(exploration->session, diff->after, &wanted.request.after_ns, &error);
    if (exploration->other) {
        snprintf(wanted.request.before, sizeof(wanted.request.before), "%s", diff->before);
        snprintf(wanted.request.filter, sizeof(wanted.request.filter), "%s", exploration->filter);
        wanted.request.path = exploration->other;
    } else if (!diff->failed) {
        diff->failed =
            !session_moment(exploration->session, diff->before, &wanted.request.before_ns, &error);
    }
    diff->data = NULL;
    if (diff->failed)
        exploration_complain(exploration, "%s", error.message);
    else
        diff->data = exploration_get(exploration, &diff->load, &kind, &wanted.request);
    if (diff->data && !diff->data->known) {
        diff->data = NULL;
        diff->failed = true;
    }
    if (diff->data != before)
        sort_rows(diff);
}

/* ---- rows ------------------------------------------------------------------------------- */

static const struct compare_row *row_at(const struct diff *diff, size_t row)
{
    return &diff->data->rows[diff->order[row]];
}

static void signed_count(char *out, size_t size, uint64_t before, uint64_t after)
{
    char count[FORMAT_SIZE];
    snprintf(out, size, "%s%s", after >= before ? "+" : "−",
             format_count_short(count, after >= before ? after - before : before - after));
}

static void cell(void *context, size_t number, size_t column, struct table_cell *cell)
{
    const struct compare_row *row = row_at(context, number);
    const int64_t net = compare_net(row);
    char text[FORMAT_SIZE];
    switch (column) {
    case COLUMN_NAME:
        cell->name = row->name;
        return;
    case COLUMN_NET:
        snprintf(cell->text, sizeof(cell->text), "%s", growth_text(text, net));
        cell->styled = true;
        cell->style = theme_style(net > 0 ? THEME_WARNING : net < 0 ? THEME_GOOD : THEME_FAINT);
        table_cell_signed(cell, net);
        return;
    case COLUMN_BLOCKS:
        signed_count(cell->text, sizeof(cell->text), row->before.count, row->after.count);
        table_cell_signed(cell, (int64_t)(row->after.count - row->before.count));
        return;
    case COLUMN_STATE:
        snprintf(cell->text, sizeof(cell->text), "%s", compare_state(row));
        return;
    default:
        cell->is_number = true;
        cell->number = column == COLUMN_BEFORE ? row->before.bytes : row->after.bytes;
        snprintf(cell->text, sizeof(cell->text), "%s", format_size_short(text, cell->number));
        return;
    }
}

static uint64_t key(void *context, size_t number)
{
    return row_at(context, number)->key;
}

static struct table_source source_of(const struct diff *diff, const struct exploration *exploration)
{
    return (struct table_source){.context = (void *)(uintptr_t)diff,
                                 .columns = diff->columns,
                                 .column_count = COLUMNS,
                                 .rows = diff->shown,
                                 .about = *exploration->about ? exploration->about : NULL,
                                 .cell = cell,
                                 .key = key};
}

static struct table_place place_of(int width, int height)
{
    return (struct table_place){0, 2, width, height - 3};
}

/* ---- what a row counts ------------------------------------------------------------------ */

static const struct compare_row *selected_row(const struct diff *diff)
{
    return diff->data && diff->table.selected < diff->shown ? row_at(diff, diff->table.selected)
                                                            : NULL;
}

/* Returns the step that selects what happened to a row, malloc()ed. NULL: there is none. */
static char *make_step(const struct diff *diff, const struct exploration *exploration,
                       const struct compare_row *row, enum counted counted)
{
    struct counted_times times = {.two_sessions = exploration->other != NULL};
    struct session_error error;
    if (!session_moment(exploration->session, diff->after, &times.after_ns, &error) ||
        (!times.two_sessions &&
         !session_moment(exploration->session, diff->before, &times.before_ns, &error)))
        return NULL;
    return counted_step(row, ways[diff->way], counted, &times);
}

/* Returns true if this session has nothing of a row. */
static bool is_elsewhere(const struct exploration *exploration, const struct compare_row *row)
{
    return exploration->other && row->after.count == 0;
}

static void list(const struct diff *diff, struct exploration *exploration)
{
    const struct compare_row *row = selected_row(diff);
    if (!row)
        return;
    if (is_elsewhere(exploration, row)) {
        exploration_say(exploration, "only the other session has this");
        return;
    }
    char *step =
        make_step(diff, exploration, row, compare_net(row) < 0 ? COUNTED_WENT : COUNTED_CAME);
    if (step)
        exploration_list(exploration, step);
    else
        exploration_complain(exploration, SESSION_OUT_OF_MEMORY);
    free(step);
}

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    static const char *const labels[] = {"live at B, not at A", "live at A, not at B", "live at B"};
    const struct diff *diff = view;
    const struct compare_row *row = selected_row(diff);
    size_t count = 0;
    if (!row || is_elsewhere(exploration, row))
        return 0;
    for (int counted = exploration->other ? COUNTED_LIVE : COUNTED_CAME;
         counted <= COUNTED_LIVE && count < capacity; counted++) {
        out[count].long_step = make_step(diff, exploration, row, (enum counted)counted);
        if (!out[count].long_step)
            continue;
        snprintf(out[count].label, sizeof(out[count].label), "%s: %.90s", labels[counted],
                 row->name);
        count++;
    }
    return count;
}

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct diff *diff = view;
    const struct table_source source = source_of(diff, exploration);
    if (!diff->data || diff->table.selected >= diff->shown)
        return false;
    table_copy(&source, diff->table.selected, out);
    return true;
}

static bool table(void *view, struct exploration *exploration, FILE *out, enum table_format format)
{
    const struct diff *diff = view;
    const struct table_source source = source_of(diff, exploration);
    if (!diff->data)
        return false;
    table_write(&source, out, format);
    return true;
}

/* ---- keys ------------------------------------------------------------------------------- */

/* Takes "load bgsave", "2s..5s" or "start, peak" as the two times. */
static void choose_times(struct diff *diff, struct exploration *exploration, const char *text)
{
    char from[WORD_SIZE], to[WORD_SIZE];
    uint64_t ns;
    struct session_error error = {.message = ""};
    if (!split_times(text, from, to, WORD_SIZE)) {
        exploration_complain(exploration, "write two times, such as 2s 5s, or start..peak");
        return;
    }
    if (!session_moment(exploration->session, to, &ns, &error) ||
        (!exploration->other && !session_moment(exploration->session, from, &ns, &error))) {
        exploration_complain(exploration, "%s", error.message);
        return;
    }
    memcpy(diff->before, from, sizeof(from));
    memcpy(diff->after, to, sizeof(to));
    diff->chosen = true;
}

static bool act(struct diff *diff, struct exploration *exploration, const struct view_input *input)
{
    const struct table_place place = place_of(input->width, input->height);
    switch (input->action) {
    case ACTION_DIRECTION:
        diff->way = (diff->way + 1) % WAYS;
        diff->table = (struct table){.sort = COLUMN_NET, .descending = true};
        return true;
    case ACTION_ZOOM_IN:
    case ACTION_ZOOM_OUT:
        if (input->action == ACTION_ZOOM_IN)
            diff->threshold += diff->threshold + 1 < THRESHOLDS;
        else
            diff->threshold -= diff->threshold > 0;
        sort_rows(diff);
        return true;
    case ACTION_GOTO:
        choose_times(diff, exploration, input->text);
        return true;
    case ACTION_RANGE:
        diff->chosen = false;
        return true;
    case ACTION_FOLLOW:
        list(diff, exploration);
        return true;
    default:
        break;
    }
    const struct table_source source = source_of(diff, exploration);
    const enum table_answer answer = table_update(&diff->table, &source, input, &place);
    char message[TABLE_MESSAGE_SIZE];
    if (answer == TABLE_SORTED)
        sort_rows(diff);
    if (answer == TABLE_FOLLOW)
        list(diff, exploration);
    if (table_message(&diff->table, &source, answer, message)[0])
        exploration_say(exploration, "%s", message);
    return answer != TABLE_IGNORED;
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct diff *diff = view;
    const struct table_place place = place_of(input->width, input->height);
    if (!input->more)
        load(diff, exploration);
    const bool used = act(diff, exploration, input);
    if (!input->more)
        load(diff, exploration);
    const struct table_source source = source_of(diff, exploration);
    table_settle(&diff->table, &source, &place);
    return used || input->action == ACTION_REFRESH;
}

/* ---- cells ------------------------------------------------------------------------------ */

/* Returns a moment as the screen names it: `peak` is the program's, whatever is selected. */
static const char *moment_name(const char *moment)
{
    return strcmp(moment, "peak") == 0 ? "program's peak" : moment;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void render_sums(const struct diff *diff, const struct exploration *exploration,
                        const struct area *area)
{
    struct session_growth total = {.id = 0};
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], d[FORMAT_SIZE];
    for (size_t i = 0; i < diff->data->count; i++) {
        total.before.bytes += diff->data->rows[i].before.bytes;
        total.after.bytes += diff->data->rows[i].after.bytes;
    }
    int x = 1 + area_print(area, 1, 1, theme_style(THEME_STRONG), "%s%s", exploration->about,
                           growth_text(a, session_growth_net(&total)));
    x += area_print(area, x, 1, theme_style(THEME_PLAIN), ": %s → %s",
                    format_size(a, total.before.bytes), format_size(b, total.after.bytes));
    x += area_print(area, x, 1, theme_style(THEME_FAINT), " · %s of %s rows",
                    format_count(c, diff->shown), format_count(d, diff->data->count));
    if (diff->threshold > 0)
        x += area_print(area, x, 1, theme_style(THEME_FAINT), ", changes of %s or more",
                        format_size(a, thresholds[diff->threshold]));
    else
        x += area_text(area, x, 1, theme_style(THEME_FAINT), " changed");
    if (diff->data->renamed[0])
        area_field(area, x + 2, 1, area->width - x - 2, theme_style(THEME_FAINT),
                   diff->data->renamed);
}

static void render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct diff *diff = view;
    const struct cell_style faint = theme_style(THEME_FAINT), strong = theme_style(THEME_STRONG);
    int x = 1 + area_text(area, 1, 0, faint, "A ");
    x += area_text(area, x, 0, strong, moment_name(diff->before));
    if (exploration->other)
        x += area_print(area, x, 0, faint, " of %.60s", last_part(exploration->other));
    x += area_text(area, x, 0, faint, "  B ");
    x += area_text(area, x, 0, strong, moment_name(diff->after));
    if (exploration->other)
        x += area_print(area, x, 0, faint, " of %.60s",
                        last_part(session_path(exploration->session)));
    area_print(area, x, 0, faint, "  by %s", way_names[diff->way]);
    if (diff->failed)
        return;
    if (!diff->data) {
        char text[PENDING_SIZE];
        area_text(area, 1, 2, faint, exploration_pending(text, exploration));
        return;
    }
    render_sums(diff, exploration, area);
    const struct table_place place = place_of(area->width, area->height);
    const struct table_source source = source_of(diff, exploration);
    struct area rows = area_part(area, place.x, place.y, place.width, place.height);
    table_render(&diff->table, &source, &rows);
    if (diff->shown == 0)
        area_text(area, 1, 4, faint,
                  diff->changed > 0 ? "all changes are smaller; - shows them"
                                    : "nothing changed between A and B");
    else if (diff->table.selected < diff->shown)
        area_field(area, 1, area->height - 1, area->width - 2, faint,
                   row_at(diff, diff->table.selected)->name);
}

static bool keep_order(void *view, struct table_order *order, bool set)
{
    struct diff *state = view;
    return table_order(&state->table, columns, COLUMNS, order, set);
}

static const struct key_binding keys[] = {
    {.keys = {'b'},
     .action = ACTION_DIRECTION,
     .footer = "by",
     .description = "by type, function of yours, function, path"},
    {.keys = {'g'},
     .action = ACTION_GOTO,
     .footer = "times",
     .description = "choose the two times: 2s 5s, start..peak, two marks"},
    {.keys = {'v'},
     .action = ACTION_RANGE,
     .description = "take the times of the timeline's range again"},
    {.keys = {'+', '='},
     .action = ACTION_ZOOM_IN,
     .footer_keys = "+ -",
     .footer = "threshold",
     .description = "leave out smaller changes"},
    {.keys = {'-'}, .action = ACTION_ZOOM_OUT, .description = "show smaller changes"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "list",
     .description = "list the blocks that came and stayed, or those that went"},
};

const struct view_ops diff_view = {
    .name = "diff",
    .title = "Diff",
    .asks = "times A and B:",
    .help = "Compares what is live at B with what was live at A: two moments of the session, its "
            "marks, or a session with an earlier one (mprof-tui A.db B.db).",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = offers,
    .copy = copy,
    .order = keep_order,
    .table = table,
};
