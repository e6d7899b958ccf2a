/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of sizes: how many blocks have which size, or lie in which of the classes of mprof of
 * 1988, and in a pane the types that make the selected size or class. */
#include <stdlib.h>

#include "session/spread.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/table_view.h"

struct sizes {
    struct table_view view;
    bool by_class;
};

struct sizes_data {
    struct list_data list; /* of[2]: by class */
    struct session_size_sums classes[SESSION_SIZE_CLASSES];
    uint64_t sizes, allocations;
};

#define AT(member) offsetof(struct session_size_sums, member)
enum { COLUMN_SIZE, COLUMN_CLASS, COLUMN_BYTES = 3, COLUMNS = 9 };

static const struct table_column columns[COLUMNS] = {
    [COLUMN_SIZE] = {"size", 13, .keep = true, .meaning = "as asked for", .number = TABLE_COUNT,
                     .at = AT(size)},
    [COLUMN_CLASS] = {"class", 5, 46, .text = true, .unsorted = true,
                      .meaning = "s up to 32, m up to 256, l up to 2048 bytes, x above"},
    {"count", 8, .keep = true, .meaning = "allocations", .file = "allocations",
     .number = TABLE_COUNT, .at = AT(allocations), .bar = true},
    [COLUMN_BYTES] = {"bytes", 8, .keep = true, .meaning = "allocated in all",
                      .number = TABLE_BYTES, .at = AT(bytes), .bar = true},
    {"share", 5, 60, .unsorted = true, .meaning = "of all bytes", .number = TABLE_SHARE,
     .at = AT(bytes)},
    {"live count", 10, 70, .meaning = "blocks at the end", .file = "live_count",
     .number = TABLE_COUNT, .at = AT(live_count)},
    {"live", 6, 84, .meaning = "at the end", .file = "live_bytes", .number = TABLE_BYTES,
     .at = AT(live_bytes)},
    {"program peak count", 18, 116, .meaning = "blocks live at the program's peak",
     .file = "at_peak_count", .number = TABLE_COUNT, .at = AT(at_peak_count)},
    {"program peak", 12, 96, .meaning = "live at the program's peak", .file = "at_peak_bytes",
     .number = TABLE_BYTES, .at = AT(at_peak_bytes)},
};

/* ---- rows ------------------------------------------------------------------------------- */

static bool ask(const void *view, const struct browse *browse, struct list_request *request)
{
    request->of[2] = ((const struct sizes *)view)->by_class;
    return true;
}

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
    struct session_size_sums *rows = NULL;
    size_t count;
    if (!selection_sizes(selection, &rows, &count, error))
        return false;
    data->sizes = count;
    for (size_t i = 0; i < count; i++) {
        add(&data->classes[session_size_class(rows[i].size)], &rows[i]);
        data->allocations += rows[i].allocations;
    }
    /* Classes that occur take the places of as many sizes. */
    for (size_t i = 0, of_class = 0; i < SESSION_SIZE_CLASSES; i++) {
        data->classes[i].size = session_size_class_most((enum session_size_class)i);
        if (data->list.request.of[2] && data->classes[i].allocations > 0) {
            rows[of_class++] = data->classes[i];
            count = of_class;
        }
    }
    data->list.rows = rows;
    data->list.count = count;
    return true;
}

static void write_size(const struct sizes *sizes, const struct session_size_sums *row, char *out,
                       size_t size)
{
    static const char *const names[] = {"up to 32", "33 to 256", "257 to 2,048", "above 2,048"};
    char count[FORMAT_SIZE];
    snprintf(out, size, "%s",
             sizes->by_class ? names[session_size_class(row->size)]
                             : format_count(count, row->size));
}

static void cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct session_size_sums *sums = row;
    if (column == COLUMN_SIZE)
        write_size(view, sums, cell->text, sizeof(cell->text));
    else if (column == COLUMN_CLASS)
        cell->text[0] = "smlx"[session_size_class(sums->size)];
}

static char *step(const void *view, const void *row, const char **why)
{
    const uint64_t size = ((const struct session_size_sums *)row)->size;
    const enum session_size_class class = session_size_class(size);
    if (!((const struct sizes *)view)->by_class)
        return list_size_step(size, size);
    return list_size_step(class == SESSION_SMALL
                              ? 0
                              : session_size_class_most((enum session_size_class)(class - 1)) + 1,
                          session_size_class_most(class));
}

static void label(const void *view, const void *row, char *out, size_t size)
{
    char text[40];
    write_size(view, row, text, sizeof(text));
    snprintf(out, size, "%s bytes", text);
}

static const struct list_kind sizes_list = {LIST_OF(struct session_size_sums),
                                            .sort = COLUMN_BYTES,
                                            .load = LIST_LOAD(sizes_data, run, list_free_rows),
                                            .ask = ask,
                                            .cell = cell,
                                            .step = step,
                                            .label = label};

/* ---- view ------------------------------------------------------------------------------- */

/* Writes one line with the four classes. */
static void head(const void *view, const struct browse *browse, const struct area *area)
{
    static const char *const names[][2] = {
        {"s ≤32", "s<=32"}, {"m ≤256", "m<=256"}, {"l ≤2K", "l<=2K"}, {"x", "x"}};
    const struct sizes_data *data = ((const struct sizes *)view)->view.list.data;
    char count[FORMAT_SIZE], share[FORMAT_SIZE], bytes[FORMAT_SIZE];
    if (!data)
        return;
    int x = 1 + area_print(area, 1, 0, theme_style(THEME_STRONG), "%s size%s  ",
                           format_count(count, data->sizes), format_plural(data->sizes));
    for (int i = 0; i < SESSION_SIZE_CLASSES; i++) {
        x += area_print(area, x, 0, theme_style(THEME_HEADING), "%s ",
                        names[i][grid_ascii(area->grid)]);
        x += area_print(area, x, 0, theme_style(THEME_FAINT), "%s%s %s%s", browse->about,
                        format_percent(share, data->classes[i].allocations, data->allocations),
                        format_size_short(bytes, data->classes[i].bytes),
                        i + 1 < SESSION_SIZE_CLASSES ? " · " : "");
    }
}

static void title(const void *view, const void *row, char *out, size_t size)
{
    char text[40];
    write_size(view, row, text, sizeof(text));
    snprintf(out, size, " types of %s bytes ", text);
}

static bool act(void *view, struct browse *browse, const struct view_input *input)
{
    struct sizes *sizes = view;
    if (input->action != ACTION_MODE)
        return false;
    sizes->by_class = !sizes->by_class;
    browse_say(browse, sizes->by_class ? "classes of sizes" : "exact sizes");
    return true;
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "list the blocks of the size or class; in the pane: those of the type",
     .keys = {KEYCODE_ENTER}, .footer = "list"},
    {ACTION_NEXT_PANE, "into the pane of types, and back", .keys = {KEYCODE_TAB},
     .footer = "types"},
    {ACTION_MODE, "exact sizes, or the classes s, m, l and x", .keys = {'C'}, .footer = "classes"},
};

static const struct table_view_kind kind = {.size = sizeof(struct sizes),
                                            .list = &sizes_list,
                                            .side = &breakdown_by_type,
                                            .lines = 1,
                                            .head = head,
                                            .title = title,
                                            .act = act};

const struct view_ops sizes_view = {
    .name = "sizes",
    .title = "Sizes",
    .help = "Blocks by the size that the program asked for. The classes are those of mprof of "
            "1988: s up to 32 bytes, m up to 256, l up to 2,048, x above.",
    .keys = KEY_TABLE(keys),
    .rows = &kind,
    TABLE_VIEW_OPS,
};
