/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The view of lifetimes: a histogram of freed blocks by the time, or by the number of allocations,
 * between their allocation and their free. A pane shows whose blocks lived so long.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "session/spread.h"
#include "tui/screen/bars.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/breakdown.h"
#include "tui/view/common/list.h"
#include "tui/view/common/pair.h"
#include "tui/view/view.h"

struct lifetimes_data {
    struct {
        uint64_t selections, in_allocations; /* the request */
    } request;
    struct session_lifetimes lifetimes;
    bool complete;
};

struct lifetimes {
    struct load load;
    struct lifetimes_data *data; /* NULL: not there yet */
    struct breakdown functions;
    bool in_allocations, estimated, sampled;
    uint64_t order[SESSION_LIFETIMES + 1]; /* rows to bins; the bin `count` is what was not freed */
    struct pair pair;
};

enum column {
    COLUMN_LIFE,
    COLUMN_COUNT,
    COLUMN_SHARE,
    COLUMN_UP_TO,
    COLUMN_BYTES,
    COLUMN_AVERAGE,
    COLUMN_BAR,
    COLUMNS
};

enum { BAR_WIDTH = 18 };

static const struct table_column columns[COLUMNS] = {
    [COLUMN_LIFE] = {.title = "lived", .width = 17, .keep = true, .file = "lifetime"},
    [COLUMN_COUNT] = {.title = "blocks", .width = 6, .keep = true, .file = "allocations"},
    [COLUMN_SHARE] = {.title = "share",
                      .width = 5,
                      .least_width = 50,
                      .unsorted = true,
                      .meaning = "of all blocks of the selection"},
    [COLUMN_UP_TO] = {.title = "so far",
                      .width = 6,
                      .least_width = 66,
                      .unsorted = true,
                      .meaning = "share of the blocks that lived so long or shorter",
                      .file = "share_so_far"},
    [COLUMN_BYTES] = {.title = "bytes", .width = 6, .least_width = 40},
    [COLUMN_AVERAGE] = {.title = "average",
                        .width = 7,
                        .least_width = 76,
                        .meaning = "bytes of a block",
                        .file = "avg_size"},
    [COLUMN_BAR] = {.title = "blocks by lifetime",
                    .text = true,
                    .keep = true,
                    .unsorted = true,
                    .file = "bar"},
};

static void *create(void)
{
    struct lifetimes *view = calloc(1, sizeof(*view));
    if (view) {
        view->pair.side.descending = true;
        view->pair.side.blurred = true;
    }
    return view;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct lifetimes *lifetimes = view;
    load_clear(&exploration->loader, &lifetimes->load);
    breakdown_clear(&lifetimes->functions, exploration);
    free(lifetimes);
}

/* ---- loading ---------------------------------------------------------------------------- */

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct lifetimes_data *data = context;
    (void)session;
    data->complete = data->request.in_allocations
                         ? selection_lifetimes_in_allocations(selection, &data->lifetimes, error)
                         : selection_lifetimes(selection, &data->lifetimes, error);
    return data->complete;
}

/* A row: a bin, or after the last bin the blocks that were never freed. */
static struct session_lifetime row_of(const struct lifetimes *view, uint64_t bin)
{
    const struct session_lifetimes *all = &view->data->lifetimes;
    return bin < all->count
               ? all->bins[bin]
               : (struct session_lifetime){UINT64_MAX, UINT64_MAX, all->live, all->live_bytes};
}

static size_t row_count(const struct lifetimes *view)
{
    return !view->data ? 0
           : view->data->lifetimes.count == 0 && view->data->lifetimes.live == 0
               ? 0
               : view->data->lifetimes.count + 1;
}

static uint64_t average(const struct session_lifetime *row)
{
    return row->allocations == 0 ? 0 : row->bytes / row->allocations;
}

static int compare(const void *left, const void *right, void *context)
{
    const struct lifetimes *view = context;
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    const struct session_lifetime x = row_of(view, a), y = row_of(view, b);
    const size_t sort = view->pair.main.sort;
    const uint64_t m = sort == COLUMN_COUNT     ? x.allocations
                       : sort == COLUMN_BYTES   ? x.bytes
                       : sort == COLUMN_AVERAGE ? average(&x)
                                                : a;
    const uint64_t n = sort == COLUMN_COUNT     ? y.allocations
                       : sort == COLUMN_BYTES   ? y.bytes
                       : sort == COLUMN_AVERAGE ? average(&y)
                                                : b;
    if (m != n)
        return (m < n) == view->pair.main.descending ? 1 : -1;
    return a < b ? -1 : a > b;
}

static void sort(struct lifetimes *view)
{
    const size_t count = row_count(view);
    for (size_t i = 0; i < count; i++)
        view->order[i] = i;
    if (count > 1)
        qsort_r(view->order, count, sizeof(*view->order), compare, view);
}

static bool selected(const struct lifetimes *view, struct session_lifetime *row)
{
    if (view->pair.main.selected >= row_count(view))
        return false;
    *row = row_of(view, view->order[view->pair.main.selected]);
    return true;
}

/* Writes the step that selects the blocks of a row. False: no filter tests it. */
static bool write_step(const struct lifetimes *view, const struct session_lifetime *row, char *out,
                       size_t size)
{
    char from[FORMAT_SIZE], to[FORMAT_SIZE];
    if (row->from == UINT64_MAX)
        snprintf(out, size, "where freed == false");
    else if (view->in_allocations)
        return false;
    else
        snprintf(out, size, "where freed == true and lifetime >= %s and lifetime < %s",
                 format_filter_time(from, row->from), format_filter_time(to, row->to));
    return true;
}

static void load(struct lifetimes *view, struct exploration *exploration, bool with_pane)
{
    static const struct load_kind kind = {sizeof(((struct lifetimes_data *)0)->request),
                                          sizeof(struct lifetimes_data), run, NULL};
    const struct lifetimes_data wanted = {
        .request = {exploration->selections, view->in_allocations}};
    struct session_lifetime row;
    char step[BREAKDOWN_STEP];
    view->estimated = session_sampled(exploration->session);
    view->data = exploration_get(exploration, &view->load, &kind, &wanted.request);
    if (view->data && !view->data->complete)
        view->data = NULL;
    sort(view);
    if (!with_pane)
        return;
    view->functions.data = NULL;
    if (selected(view, &row) && row.allocations > 0 && write_step(view, &row, step, sizeof(step)))
        breakdown_load(&view->functions, exploration, step, "user", &view->pair.side);
}

/* ---- table ------------------------------------------------------------------------------ */

/* Writes a bound of a bin: 1, 2 or 5 times a power of ten. */
static char *write_bound(char *out, uint64_t ns)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    int unit = 0;
    while (unit < 3 && ns >= 1000) {
        ns /= 1000;
        unit++;
    }
    snprintf(out, FORMAT_SIZE, "%" PRIu64 " %s", ns, units[unit]);
    return out;
}

static void write_life(const struct lifetimes *view, const struct session_lifetime *row, char *out,
                       size_t size)
{
    char from[FORMAT_SIZE], to[FORMAT_SIZE];
    if (row->from == UINT64_MAX)
        snprintf(out, size, "never freed");
    else if (!view->in_allocations)
        snprintf(out, size, "%s to %s", write_bound(from, row->from), write_bound(to, row->to));
    else if (row->to == row->from + 1)
        snprintf(out, size, "%s", format_count_short(from, row->from));
    else
        snprintf(out, size, "%s to %s", format_count_short(from, row->from),
                 format_count_short(to, row->to - 1));
}

/* Draws a bar of the share of the largest row. */
static void write_bar(const struct lifetimes *view, uint64_t allocations, char *out, size_t size)
{
    uint64_t most = 1;
    size_t length = 0;
    for (size_t i = 0; i < row_count(view); i++) {
        const struct session_lifetime row = row_of(view, i);
        most = row.allocations > most ? row.allocations : most;
    }
    uint64_t eighths = (uint64_t)((double)allocations / (double)most * BAR_WIDTH * 8 + 0.5);
    if (allocations > 0 && eighths == 0)
        eighths = 1;
    for (; eighths > 0 && length + 5 < size; eighths -= eighths < 8 ? eighths : 8)
        length += (size_t)text_encode(0x2590 - (uint32_t)(eighths < 8 ? eighths : 8), out + length);
    out[length] = 0;
}

static uint64_t up_to(const struct lifetimes *view, uint64_t bin)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i <= bin; i++)
        sum += row_of(view, i).allocations;
    return sum;
}

static void cell(void *context, size_t place, size_t column, struct table_cell *cell)
{
    const struct lifetimes *view = context;
    const struct session_lifetimes *all = &view->data->lifetimes;
    const struct session_lifetime row = row_of(view, view->order[place]);
    cell->styled = row.allocations == 0;
    cell->style = theme_style(THEME_FAINT);
    switch (column) {
    case COLUMN_LIFE:
        write_life(view, &row, cell->text, sizeof(cell->text));
        break;
    case COLUMN_COUNT:
        format_count_short(cell->text, row.allocations);
        cell->is_number = true;
        cell->number = row.allocations;
        break;
    case COLUMN_SHARE:
        format_percent(cell->text, row.allocations, all->freed + all->live);
        break;
    case COLUMN_UP_TO:
        format_percent(cell->text, up_to(view, view->order[place]), all->freed + all->live);
        break;
    case COLUMN_BYTES:
        format_size_short(cell->text, row.bytes);
        cell->is_number = true;
        cell->number = row.bytes;
        cell->part = row.bytes;
        cell->whole = all->freed_bytes + all->live_bytes;
        break;
    case COLUMN_AVERAGE:
        format_size_short(cell->text, average(&row));
        cell->is_number = true;
        cell->number = average(&row);
        break;
    default:
        write_bar(view, row.allocations, cell->text, sizeof(cell->text));
        break;
    }
}

static uint64_t key(void *context, size_t place)
{
    const struct lifetimes *view = context;
    return row_of(view, view->order[place]).from;
}

static struct pair_tables tables_of(const struct lifetimes *view, int width, int height)
{
    struct pair_tables tables = {.main = {.context = (void *)view,
                                          .columns = columns,
                                          .column_count = COLUMNS,
                                          .rows = row_count(view),
                                          .about = view->estimated ? "~" : NULL,
                                          .cell = cell,
                                          .key = key},
                                 .side = breakdown_source(&view->functions)};
    tables.panes = panes_lay_out(width, height, 2, tables.main.rows);
    return tables;
}

/* ---- update ----------------------------------------------------------------------------- */

static void list_row(const struct lifetimes *view, struct exploration *exploration)
{
    struct session_lifetime row;
    char step[160];
    if (!selected(view, &row))
        return;
    if (write_step(view, &row, step, sizeof(step)))
        exploration_list(exploration, step);
    else
        exploration_complain(exploration, "no filter tests lifetimes in allocations; C shows "
                                          "lifetimes in time");
}

static void list_function(const struct lifetimes *view, struct exploration *exploration)
{
    const struct breakdown_row *row = breakdown_selected(&view->functions, &view->pair.side);
    char step[2 * BREAKDOWN_STEP];
    if (row && breakdown_step(&view->functions, row, step, sizeof(step)))
        exploration_list(exploration, step);
    else if (row)
        exploration_complain(exploration, "the name is too long for a filter");
}

static bool act(struct lifetimes *view, struct exploration *exploration,
                const struct view_input *input)
{
    const struct pair_tables tables = tables_of(view, input->width, input->height);
    if (input->action == ACTION_MODE) {
        view->in_allocations = !view->in_allocations;
        exploration_say(exploration,
                        view->in_allocations ? "lifetimes in allocations" : "lifetimes in time");
        return true;
    }
    switch (pair_update(&view->pair, exploration, &tables, input)) {
    case PAIR_IGNORED:
        return false;
    case PAIR_MAIN_SORTED:
        sort(view);
        pair_settle(&view->pair, &tables);
        break;
    case PAIR_SIDE_SORTED:
        breakdown_sort(&view->functions, &view->pair.side);
        pair_settle(&view->pair, &tables);
        break;
    case PAIR_MAIN_FOLLOW:
        list_row(view, exploration);
        break;
    case PAIR_SIDE_FOLLOW:
        list_function(view, exploration);
        break;
    case PAIR_USED:
        break;
    }
    return true;
}

static bool update(void *context, struct exploration *exploration, const struct view_input *input)
{
    struct lifetimes *view = context;
    const bool needs_pane = view->pair.in_side || input->action == ACTION_NEXT_PANE ||
                            input->action == ACTION_PREVIOUS_PANE || input->action == ACTION_CLICK;
    load(view, exploration, false);
    struct pair_tables tables = tables_of(view, input->width, input->height);
    table_settle(&view->pair.main, &tables.main, &tables.panes.main);
    if (needs_pane)
        load(view, exploration, true);
    bool used = input->action == ACTION_REFRESH;
    if (!used && (view->data || input->action == ACTION_MODE))
        used = act(view, exploration, input);
    else if (!used)
        used = input->action != ACTION_BACK;
    load(view, exploration, false);
    tables = tables_of(view, input->width, input->height);
    table_settle(&view->pair.main, &tables.main, &tables.panes.main);
    if (input->more)
        return used;
    load(view, exploration, true);
    tables = tables_of(view, input->width, input->height);
    pair_settle(&view->pair, &tables);
    return used;
}

/* ---- render ----------------------------------------------------------------------------- */

static void render_about(const struct lifetimes *view, const struct exploration *exploration,
                         const struct area *area)
{
    char freed[FORMAT_SIZE], live[FORMAT_SIZE];
    if (view->data)
        area_print(area, 1, 0, theme_style(THEME_STRONG), "%s%s freed blocks, %s%s never freed",
                   exploration->about, format_count(freed, view->data->lifetimes.freed),
                   exploration->about, format_count(live, view->data->lifetimes.live));
    area_text(
        area, 1, 1, theme_style(THEME_FAINT),
        !view->in_allocations ? "lifetime: nanoseconds from allocation to free"
        : view->estimated
            ? "lifetime: recorded allocations of the heap after the block's own, up to its free"
            : "lifetime: allocations of the heap after the block's own, up to its free");
}

static void render(const void *context, const struct exploration *exploration,
                   const struct area *area)
{
    const struct lifetimes *view = context;
    const struct pair_tables tables = tables_of(view, area->width, area->height);
    struct session_lifetime row;
    char title[120], life[64];
    render_about(view, exploration, area);
    if (!selected(view, &row)) {
        list_render_empty(exploration, area, 3, view->data != NULL);
        return;
    }
    write_life(view, &row, life, sizeof(life));
    snprintf(title, sizeof(title), " my functions whose blocks lived %s ", life);
    pair_render(&view->pair, &tables, area,
                view->in_allocations && row.from != UINT64_MAX ? " no filter tests this lifetime "
                                                               : title);
}

/* ---- text ------------------------------------------------------------------------------- */

static size_t offers(void *context, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct lifetimes *view = context;
    struct session_lifetime row;
    const struct breakdown_row *function = breakdown_selected(&view->functions, &view->pair.side);
    size_t count = 0;
    char life[64];
    (void)exploration;
    if (!selected(view, &row) || capacity < 2)
        return 0;
    write_life(view, &row, life, sizeof(life));
    if (view->pair.in_side && function &&
        breakdown_step(&view->functions, function, out[count].step, sizeof(out->step)))
        snprintf(out[count++].label, sizeof(out->label), "lived %.40s, by %.60s", life,
                 function->name ? function->name : "no own function");
    if (write_step(view, &row, out[count].step, sizeof(out->step)))
        snprintf(out[count++].label, sizeof(out->label), "lived %s", life);
    return count;
}

static bool copy(void *context, struct exploration *exploration, FILE *out)
{
    const struct lifetimes *view = context;
    const struct pair_tables tables = tables_of(view, 80, 24);
    struct session_lifetime row;
    (void)exploration;
    if (!selected(view, &row))
        return false;
    table_copy(&tables.main, view->pair.main.selected, out);
    return true;
}

static bool write_table(void *context, struct exploration *exploration, FILE *out,
                        enum table_format format)
{
    const struct lifetimes *view = context;
    const struct pair_tables tables = tables_of(view, 80, 24);
    (void)exploration;
    if (view->data)
        table_write(&tables.main, out, format);
    return view->data != NULL;
}

static bool keep_order(void *view, struct table_order *order, bool set)
{
    struct lifetimes *state = view;
    return table_order(&state->pair.main, columns, COLUMNS, order, set);
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "list",
     .description = "list the blocks that lived so long; in the pane: those of the function"},
    {.keys = {KEYCODE_TAB},
     .action = ACTION_NEXT_PANE,
     .footer = "functions",
     .description = "into the pane of functions, and back"},
    {.keys = {'C'},
     .action = ACTION_MODE,
     .footer = "time/allocations",
     .description = "lifetimes in time, or in allocations between"},
};

const struct view_ops lifetimes_view = {
    .name = "lifetimes",
    .title = "Lifetimes",
    .help = "Freed blocks by their lifetime, in time or in allocations. In allocations it is the "
            "number of allocations of the process heap, in the filter or not, whose time is after "
            "that of the block's own allocation and not after that of its free.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = offers,
    .copy = copy,
    .order = keep_order,
    .table = write_table,
};
