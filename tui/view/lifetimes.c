/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of lifetimes: a histogram of freed blocks by the time, or by the number of allocations,
 * between their allocation and their free. A pane shows whose blocks lived so long. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/spread.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/table_view.h"

struct lifetimes {
    struct table_view view;
    bool in_allocations;
};

/* A bin, or after the last one the blocks that were never freed. */
struct life_row {
    uint64_t from, to; /* UINT64_MAX: never freed */
    uint64_t allocations, bytes, average;
    uint64_t so_far; /* allocations of this bin and those before it */
};

struct lifetimes_data {
    struct list_data list; /* of[2]: in allocations */
    struct life_row rows[SESSION_LIFETIMES + 1];
    uint64_t freed, live, most; /* blocks; most: of a row */
};

#define AT(member) offsetof(struct life_row, member)
enum { COLUMN_LIFE, COLUMN_UP_TO = 3, COLUMN_BAR = 6, COLUMNS, BAR_WIDTH = 18 };

static const struct table_column columns[COLUMNS] = {
    [COLUMN_LIFE] = {"lived", 17, .keep = true, .file = "lifetime", .number = TABLE_COUNT,
                     .at = AT(from)},
    {"blocks", 6, .keep = true, .file = "allocations", .number = TABLE_COUNT,
     .at = AT(allocations)},
    {"share", 5, 50, .unsorted = true, .meaning = "of all blocks of the selection",
     .number = TABLE_SHARE, .at = AT(allocations)},
    [COLUMN_UP_TO] = {"so far", 6, 66, .unsorted = true, .file = "share_so_far",
                      .meaning = "share of the blocks that lived so long or shorter"},
    {"bytes", 6, 40, .number = TABLE_BYTES, .at = AT(bytes), .bar = true},
    {"average", 7, 76, .meaning = "bytes of a block", .file = "avg_size", .number = TABLE_BYTES,
     .at = AT(average)},
    [COLUMN_BAR] = {"blocks by lifetime", .text = true, .keep = true, .unsorted = true, .file = ""},
};

/* ---- rows ------------------------------------------------------------------------------- */

static bool ask(const void *view, const struct browse *browse, struct list_request *request)
{
    request->of[2] = ((const struct lifetimes *)view)->in_allocations;
    return true;
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct lifetimes_data *data = context;
    struct session_lifetimes all = {.count = 0};
    uint64_t so_far = 0;
    if (!(data->list.request.of[2] ? selection_lifetimes_in_allocations(selection, &all, error)
                                   : selection_lifetimes(selection, &all, error)))
        return false;
    data->freed = all.freed;
    data->live = all.live;
    data->list.rows = data->rows;
    data->list.count = all.count == 0 && all.live == 0 ? 0 : all.count + 1;
    for (size_t i = 0; i < data->list.count; i++) {
        const struct session_lifetime bin =
            i < all.count
                ? all.bins[i]
                : (struct session_lifetime){UINT64_MAX, UINT64_MAX, all.live, all.live_bytes};
        so_far += bin.allocations;
        data->most = bin.allocations > data->most ? bin.allocations : data->most;
        data->rows[i] = (struct life_row){bin.from,
                                          bin.to,
                                          bin.allocations,
                                          bin.bytes,
                                          bin.allocations ? bin.bytes / bin.allocations : 0,
                                          so_far};
    }
    return true;
}

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

static void write_life(const struct lifetimes *view, const struct life_row *row, char *out,
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
static void write_bar(uint64_t most, uint64_t allocations, char *out, size_t size)
{
    size_t length = 0;
    uint64_t eighths =
        most == 0 ? 0 : (uint64_t)((double)allocations / (double)most * BAR_WIDTH * 8 + 0.5);
    if (allocations > 0 && eighths == 0)
        eighths = 1;
    for (; eighths > 0 && length + 5 < size; eighths -= eighths < 8 ? eighths : 8)
        length += (size_t)text_encode(0x2590 - (uint32_t)(eighths < 8 ? eighths : 8), out + length);
    out[length] = 0;
}

static void cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct lifetimes *lifetimes = view;
    const struct lifetimes_data *data = lifetimes->view.list.data;
    const struct life_row *life = row;
    cell->styled = life->allocations == 0;
    cell->style = theme_style(THEME_FAINT);
    if (column == COLUMN_LIFE) {
        cell->is_number = false;
        write_life(lifetimes, life, cell->text, sizeof(cell->text));
    } else if (column == COLUMN_UP_TO) {
        format_percent(cell->text, life->so_far, data->freed + data->live);
    } else if (column == COLUMN_BAR) {
        write_bar(data->most, life->allocations, cell->text, sizeof(cell->text));
    }
}

static char *step(const void *view, const void *row, const char **why)
{
    const struct life_row *life = row;
    char from[FORMAT_SIZE], to[FORMAT_SIZE], *step;
    if (life->from == UINT64_MAX)
        return strdup("where freed == false");
    if (((const struct lifetimes *)view)->in_allocations) {
        *why = "no filter tests lifetimes in allocations; C shows lifetimes in time";
        return NULL;
    }
    return asprintf(&step, "where freed == true and lifetime >= %s and lifetime < %s",
                    format_filter_time(from, life->from), format_filter_time(to, life->to)) < 0
               ? NULL
               : step;
}

static void label(const void *view, const void *row, char *out, size_t size)
{
    char life[64];
    write_life(view, row, life, sizeof(life));
    snprintf(out, size, "lived %s", life);
}

static const struct list_kind lifetimes_list = {LIST_OF(struct life_row),
                                                .ascending = true,
                                                .load = LIST_LOAD(lifetimes_data, run, NULL),
                                                .ask = ask,
                                                .cell = cell,
                                                .step = step,
                                                .label = label};

/* ---- view ------------------------------------------------------------------------------- */

static void head(const void *view, const struct browse *browse, const struct area *area)
{
    const struct lifetimes *lifetimes = view;
    const struct lifetimes_data *data = lifetimes->view.list.data;
    char freed[FORMAT_SIZE], live[FORMAT_SIZE];
    if (data)
        area_print(area, 1, 0, theme_style(THEME_STRONG), "%s%s freed blocks, %s%s never freed",
                   browse->about, format_count(freed, data->freed), browse->about,
                   format_count(live, data->live));
    area_text(
        area, 1, 1, theme_style(THEME_FAINT),
        !lifetimes->in_allocations ? "lifetime: nanoseconds from allocation to free"
        : lifetimes->view.list.estimated
            ? "lifetime: recorded allocations of the heap after the block's own, up to its free"
            : "lifetime: allocations of the heap after the block's own, up to its free");
}

static void title(const void *view, const void *row, char *out, size_t size)
{
    const struct lifetimes *lifetimes = view;
    const struct life_row *shown = row;
    char life[64];
    write_life(lifetimes, shown, life, sizeof(life));
    if (lifetimes->in_allocations && shown->from != UINT64_MAX)
        snprintf(out, size, " no filter tests this lifetime ");
    else
        snprintf(out, size, " functions of yours whose blocks lived %s ", life);
}

static bool act(void *view, struct browse *browse, const struct view_input *input)
{
    struct lifetimes *lifetimes = view;
    if (input->action != ACTION_MODE)
        return false;
    lifetimes->in_allocations = !lifetimes->in_allocations;
    browse_say(browse,
               lifetimes->in_allocations ? "lifetimes in allocations" : "lifetimes in time");
    return true;
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "list the blocks that lived so long; in the pane: those of the function",
     .keys = {KEYCODE_ENTER}, .footer = "list"},
    {ACTION_NEXT_PANE, "into the pane of functions, and back", .keys = {KEYCODE_TAB},
     .footer = "functions"},
    {ACTION_MODE, "lifetimes in time, or in allocations between", .keys = {'C'},
     .footer = "time/allocations"},
};

static const struct table_view_kind kind = {.size = sizeof(struct lifetimes),
                                            .list = &lifetimes_list,
                                            .side = &breakdown_by_user,
                                            .lines = 2,
                                            .head = head,
                                            .title = title,
                                            .act = act};

const struct view_ops lifetimes_view = {
    .name = "lifetimes",
    .title = "Lifetimes",
    .help = "Freed blocks by their lifetime, in time or in allocations. In allocations it is the "
            "number of allocations of the process heap, in the filter or not, whose time is after "
            "that of the block's own allocation and not after that of its free.",
    .keys = KEY_TABLE(keys),
    .rows = &kind,
    TABLE_VIEW_OPS,
};
