/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of sizes: how many blocks have which size, or lie in which of the classes of mprof of
 * 1988, and in a pane the types that make the selected size or class. */
#include <inttypes.h>
#include <stdlib.h>

#include "session/spread.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/breakdown.h"
#include "tui/view/common/list.h"
#include "tui/view/common/pair.h"
#include "tui/view/view.h"

struct sizes_data {
    uint64_t selections; /* the request */
    struct session_size_sums *rows;
    size_t count;
    struct session_size_sums classes[SESSION_SIZE_CLASSES], all;
    bool complete;
};

struct sizes {
    struct load load;
    struct sizes_data *data; /* NULL: not there yet */
    struct breakdown types;
    bool by_class, estimated;
    struct session_size_sums *shown; /* the rows, in the order of the table */
    size_t count;
    uint64_t shown_selections;
    bool shown_by_class;
    uint64_t pane_of; /* size of the row that the pane is about */
    struct pair pair;
};

enum column {
    COLUMN_SIZE,
    COLUMN_CLASS,
    COLUMN_COUNT,
    COLUMN_SHARE,
    COLUMN_BYTES,
    COLUMN_LIVE,
    COLUMN_LIVE_BYTES,
    COLUMN_AT_PEAK,
    COLUMN_AT_PEAK_BYTES,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    [COLUMN_SIZE] = {.title = "size", .width = 13, .keep = true, .meaning = "as asked for"},
    [COLUMN_CLASS] = {.title = "class",
                      .width = 5,
                      .text = true,
                      .least_width = 46,
                      .unsorted = true,
                      .meaning = "s up to 32, m up to 256, l up to 2048 bytes, x above"},
    [COLUMN_COUNT] = {.title = "count",
                      .width = 8,
                      .keep = true,
                      .meaning = "allocations",
                      .file = "allocations"},
    [COLUMN_SHARE] = {.title = "share",
                      .width = 5,
                      .least_width = 60,
                      .unsorted = true,
                      .meaning = "of all allocations"},
    [COLUMN_BYTES] = {.title = "bytes", .width = 8, .keep = true, .meaning = "allocated in all"},
    [COLUMN_LIVE] = {.title = "live count",
                     .width = 10,
                     .least_width = 70,
                     .meaning = "blocks at the end",
                     .file = "live_count"},
    [COLUMN_LIVE_BYTES] = {.title = "live",
                           .width = 6,
                           .least_width = 84,
                           .meaning = "at the end",
                           .file = "live_bytes"},
    [COLUMN_AT_PEAK] = {.title = "program peak count",
                        .width = 18,
                        .least_width = 116,
                        .meaning = "blocks live at the program's peak",
                        .file = "at_peak_count"},
    [COLUMN_AT_PEAK_BYTES] = {.title = "program peak",
                              .width = 12,
                              .least_width = 96,
                              .meaning = "live at the program's peak",
                              .file = "at_peak_bytes"},
};

static void *create(void)
{
    struct sizes *sizes = calloc(1, sizeof(*sizes));
    if (sizes) {
        sizes->pair.main.sort = COLUMN_BYTES;
        sizes->pair.main.descending = true;
        sizes->pair.side.descending = true;
        sizes->pair.side.blurred = true;
    }
    return sizes;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct sizes *sizes = view;
    load_clear(&exploration->loader, &sizes->load);
    breakdown_clear(&sizes->types, exploration);
    free(sizes->shown);
    free(sizes);
}

/* ---- loading ---------------------------------------------------------------------------- */

static void add(struct session_size_sums *sum, const struct session_size_sums *part)
{
    sum->allocations += part->allocations;
    sum->bytes += part->bytes;
    sum->live_count += part->live_count;
    sum->live_bytes += part->live_bytes;
    sum->at_peak_count += part->at_peak_count;
    sum->at_peak_bytes += part->at_peak_bytes;
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct sizes_data *data = context;
    (void)session;
    data->complete = selection_sizes(selection, &data->rows, &data->count, error);
    for (size_t i = 0; i < data->count; i++) {
        add(&data->classes[session_size_class(data->rows[i].size)], &data->rows[i]);
        add(&data->all, &data->rows[i]);
    }
    for (int i = 0; i < SESSION_SIZE_CLASSES; i++)
        data->classes[i].size = session_size_class_most((enum session_size_class)i);
    return data->complete;
}

static void clear(void *context)
{
    free(((struct sizes_data *)context)->rows);
}

static uint64_t value_of(const struct session_size_sums *row, size_t column)
{
    switch (column) {
    case COLUMN_SIZE:
        return row->size;
    case COLUMN_COUNT:
    case COLUMN_SHARE:
        return row->allocations;
    case COLUMN_BYTES:
        return row->bytes;
    case COLUMN_LIVE:
        return row->live_count;
    case COLUMN_LIVE_BYTES:
        return row->live_bytes;
    case COLUMN_AT_PEAK:
        return row->at_peak_count;
    default:
        return row->at_peak_bytes;
    }
}

static int compare(const void *left, const void *right, void *context)
{
    const struct session_size_sums *a = left, *b = right;
    const struct table *table = context;
    const uint64_t x = value_of(a, table->sort), y = value_of(b, table->sort);
    if (x != y)
        return (x < y) == table->descending ? 1 : -1;
    return a->size < b->size ? -1 : a->size > b->size;
}

static void sort(struct sizes *sizes)
{
    if (sizes->count > 1)
        qsort_r(sizes->shown, sizes->count, sizeof(*sizes->shown), compare, &sizes->pair.main);
}

/* Takes the rows that the table shows: sizes or classes that occur. */
static bool take_rows(struct sizes *sizes, struct exploration *exploration)
{
    if (sizes->shown && sizes->shown_selections == exploration->selections &&
        sizes->shown_by_class == sizes->by_class)
        return true;
    const struct sizes_data *data = sizes->data;
    const struct session_size_sums *rows = sizes->by_class ? data->classes : data->rows;
    const size_t count = sizes->by_class ? SESSION_SIZE_CLASSES : data->count;
    struct session_size_sums *shown = realloc(sizes->shown, (count + 1) * sizeof(*shown));
    if (!shown) {
        exploration_complain(exploration, SESSION_OUT_OF_MEMORY);
        return false;
    }
    sizes->shown = shown;
    sizes->count = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].allocations > 0)
            shown[sizes->count++] = rows[i];
    sizes->shown_selections = exploration->selections;
    sizes->shown_by_class = sizes->by_class;
    sort(sizes);
    return true;
}

static const struct session_size_sums *selected(const struct sizes *sizes)
{
    return sizes->data && sizes->pair.main.selected < sizes->count
               ? &sizes->shown[sizes->pair.main.selected]
               : NULL;
}

/* Writes the step that selects the blocks of a row. */
static void write_step(const struct sizes *sizes, const struct session_size_sums *row, char *out,
                       size_t size)
{
    const enum session_size_class class = session_size_class(row->size);
    const uint64_t least = class == SESSION_SMALL
                               ? 0
                               : session_size_class_most((enum session_size_class)(class - 1)) + 1;
    if (!sizes->by_class)
        snprintf(out, size, "where size == %" PRIu64, row->size);
    else if (class == SESSION_EXTRA)
        snprintf(out, size, "where size >= %" PRIu64, least);
    else
        snprintf(out, size, "where size >= %" PRIu64 " and size <= %" PRIu64, least, row->size);
}

static void load(struct sizes *sizes, struct exploration *exploration, bool with_pane)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct sizes_data), run, clear};
    sizes->estimated = session_sampled(exploration->session);
    sizes->data = exploration_get(exploration, &sizes->load, &kind, &exploration->selections);
    if (sizes->data && (!sizes->data->complete || !take_rows(sizes, exploration)))
        sizes->data = NULL;
    const struct session_size_sums *row = selected(sizes);
    if (!with_pane)
        return;
    if (!row) {
        sizes->types.data = NULL;
        return;
    }
    char step[BREAKDOWN_STEP];
    write_step(sizes, row, step, sizeof(step));
    breakdown_load(&sizes->types, exploration, step, "type", &sizes->pair.side);
}

/* ---- table ------------------------------------------------------------------------------ */

static void write_size(const struct sizes *sizes, const struct session_size_sums *row, char *out,
                       size_t size)
{
    static const char *const names[] = {"up to 32", "33 to 256", "257 to 2,048", "above 2,048"};
    char count[FORMAT_SIZE];
    snprintf(out, size, "%s",
             sizes->by_class ? names[session_size_class(row->size)]
                             : format_count(count, row->size));
}

static void cell(void *context, size_t place, size_t column, struct table_cell *cell)
{
    const struct sizes *sizes = context;
    const struct session_size_sums *row = &sizes->shown[place];
    const uint64_t value = value_of(row, column);
    if (column == COLUMN_CLASS) {
        cell->text[0] = "smlx"[session_size_class(row->size)];
        return;
    }
    cell->is_number = column != COLUMN_SHARE;
    cell->number = value;
    if (value == 0) {
        cell->styled = true;
        cell->style = theme_style(THEME_FAINT);
    }
    if (column == COLUMN_SIZE)
        write_size(sizes, row, cell->text, sizeof(cell->text));
    else if (column == COLUMN_SHARE)
        format_percent(cell->text, value, sizes->data->all.allocations);
    else if (column == COLUMN_COUNT || column == COLUMN_LIVE || column == COLUMN_AT_PEAK)
        format_count_short(cell->text, value);
    else
        format_size_short(cell->text, value);
    if (column == COLUMN_COUNT || column == COLUMN_BYTES) {
        cell->part = value;
        cell->whole = value_of(&sizes->data->all, column);
    }
}

static uint64_t key(void *context, size_t place)
{
    const struct sizes *sizes = context;
    return sizes->shown[place].size;
}

static struct pair_tables tables_of(const struct sizes *sizes, int width, int height)
{
    struct pair_tables tables = {.main = {.context = (void *)sizes,
                                          .columns = columns,
                                          .column_count = COLUMNS,
                                          .rows = sizes->data ? sizes->count : 0,
                                          .about = sizes->estimated ? "~" : NULL,
                                          .cell = cell,
                                          .key = key},
                                 .side = breakdown_source(&sizes->types)};
    tables.panes = panes_lay_out(width, height, 1, tables.main.rows);
    return tables;
}

/* ---- update ----------------------------------------------------------------------------- */

static void list_row(const struct sizes *sizes, struct exploration *exploration)
{
    const struct session_size_sums *row = selected(sizes);
    char step[128];
    if (!row)
        return;
    write_step(sizes, row, step, sizeof(step));
    exploration_list(exploration, step);
}

static void list_type(const struct sizes *sizes, struct exploration *exploration)
{
    const struct breakdown_row *row = breakdown_selected(&sizes->types, &sizes->pair.side);
    char step[2 * BREAKDOWN_STEP];
    if (row && breakdown_step(&sizes->types, row, step, sizeof(step)))
        exploration_list(exploration, step);
    else if (row)
        exploration_complain(exploration, "the name is too long for a filter");
}

static bool act(struct sizes *sizes, struct exploration *exploration,
                const struct view_input *input)
{
    const struct pair_tables tables = tables_of(sizes, input->width, input->height);
    if (input->action == ACTION_MODE) {
        sizes->by_class = !sizes->by_class;
        exploration_say(exploration, sizes->by_class ? "classes of sizes" : "exact sizes");
        return true;
    }
    switch (pair_update(&sizes->pair, exploration, &tables, input)) {
    case PAIR_IGNORED:
        return false;
    case PAIR_MAIN_SORTED:
        sort(sizes);
        pair_settle(&sizes->pair, &tables);
        break;
    case PAIR_SIDE_SORTED:
        breakdown_sort(&sizes->types, &sizes->pair.side);
        pair_settle(&sizes->pair, &tables);
        break;
    case PAIR_MAIN_FOLLOW:
        list_row(sizes, exploration);
        break;
    case PAIR_SIDE_FOLLOW:
        list_type(sizes, exploration);
        break;
    case PAIR_USED:
        break;
    }
    return true;
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct sizes *sizes = view;
    const bool needs_pane = sizes->pair.in_side || input->action == ACTION_NEXT_PANE ||
                            input->action == ACTION_PREVIOUS_PANE || input->action == ACTION_CLICK;
    load(sizes, exploration, false);
    struct pair_tables tables = tables_of(sizes, input->width, input->height);
    table_settle(&sizes->pair.main, &tables.main, &tables.panes.main);
    if (needs_pane)
        load(sizes, exploration, true);
    bool used = input->action == ACTION_REFRESH;
    if (!used && sizes->data)
        used = act(sizes, exploration, input);
    else if (!used)
        used = input->action != ACTION_BACK;
    load(sizes, exploration, false);
    tables = tables_of(sizes, input->width, input->height);
    table_settle(&sizes->pair.main, &tables.main, &tables.panes.main);
    if (input->more)
        return used;
    load(sizes, exploration, true);
    tables = tables_of(sizes, input->width, input->height);
    pair_settle(&sizes->pair, &tables);
    return used;
}

/* ---- render ----------------------------------------------------------------------------- */

/* Writes one line with the four classes. */
static void render_classes(const struct sizes *sizes, const struct exploration *exploration,
                           const struct area *area)
{
    static const char *const names[][2] = {
        {"s ≤32", "s<=32"}, {"m ≤256", "m<=256"}, {"l ≤2K", "l<=2K"}, {"x", "x"}};
    const struct sizes_data *data = sizes->data;
    char count[FORMAT_SIZE], share[FORMAT_SIZE], bytes[FORMAT_SIZE];
    int x = 1 + area_print(area, 1, 0, theme_style(THEME_STRONG), "%s size%s  ",
                           format_count(count, data->count), data->count == 1 ? "" : "s");
    for (int i = 0; i < SESSION_SIZE_CLASSES; i++) {
        x += area_print(area, x, 0, theme_style(THEME_HEADING), "%s ",
                        names[i][grid_ascii(area->grid)]);
        x += area_print(area, x, 0, theme_style(THEME_FAINT), "%s%s %s%s", exploration->about,
                        format_percent(share, data->classes[i].allocations, data->all.allocations),
                        format_size_short(bytes, data->classes[i].bytes),
                        i + 1 < SESSION_SIZE_CLASSES ? " · " : "");
    }
}

static void render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct sizes *sizes = view;
    const struct pair_tables tables = tables_of(sizes, area->width, area->height);
    const struct session_size_sums *row = selected(sizes);
    char title[80], size[40];
    if (sizes->data)
        render_classes(sizes, exploration, area);
    if (!row) {
        list_render_empty(exploration, area, 2, sizes->data != NULL);
        return;
    }
    write_size(sizes, row, size, sizeof(size));
    snprintf(title, sizeof(title), " types of %s bytes ", size);
    pair_render(&sizes->pair, &tables, area, title);
}

/* ---- text ------------------------------------------------------------------------------- */

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct sizes *sizes = view;
    const struct session_size_sums *row = selected(sizes);
    const struct breakdown_row *type = breakdown_selected(&sizes->types, &sizes->pair.side);
    size_t count = 0;
    char size[40];
    (void)exploration;
    if (!row || capacity < 2)
        return 0;
    write_size(sizes, row, size, sizeof(size));
    if (sizes->pair.in_side && type &&
        breakdown_step(&sizes->types, type, out[count].step, sizeof(out->step)))
        snprintf(out[count++].label, sizeof(out->label), "%s bytes of type %.60s", size,
                 type->name ? type->name : SESSION_UNKNOWN_TYPE);
    snprintf(out[count].label, sizeof(out->label), "%s bytes", size);
    write_step(sizes, row, out[count++].step, sizeof(out->step));
    return count;
}

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct sizes *sizes = view;
    const struct session_size_sums *row = selected(sizes);
    const struct pair_tables tables = tables_of(sizes, 80, 24);
    (void)exploration;
    if (row)
        table_copy(&tables.main, sizes->pair.main.selected, out);
    return row != NULL;
}

static bool write_table(void *view, struct exploration *exploration, FILE *out,
                        enum table_format format)
{
    const struct sizes *sizes = view;
    const struct pair_tables tables = tables_of(sizes, 80, 24);
    (void)exploration;
    if (sizes->data)
        table_write(&tables.main, out, format);
    return sizes->data != NULL;
}

static bool keep_order(void *view, struct table_order *order, bool set)
{
    struct sizes *state = view;
    return table_order(&state->pair.main, columns, COLUMNS, order, set);
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "list",
     .description = "list the blocks of the size or class; in the pane: those of the type"},
    {.keys = {KEYCODE_TAB},
     .action = ACTION_NEXT_PANE,
     .footer = "types",
     .description = "into the pane of types, and back"},
    {.keys = {'C'},
     .action = ACTION_MODE,
     .footer = "classes",
     .description = "exact sizes, or the classes s, m, l and x"},
};

const struct view_ops sizes_view = {
    .name = "sizes",
    .title = "Sizes",
    .help = "Blocks by the size that the program asked for. The classes are those of mprof of "
            "1988: s up to 32 bytes, m up to 256, l up to 2,048, x above.",
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
