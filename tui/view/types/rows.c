/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of types. */
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/types/types.h"

enum column {
    COLUMN_BYTES,
    COLUMN_COUNT,
    COLUMN_LIVE,
    COLUMN_AT_PEAK,
    COLUMN_NAME,
    COLUMN_CONFIDENCE,
    COLUMN_PEAK,
    COLUMN_AVERAGE,
    COLUMN_GROWTH,
    COLUMN_COURSE,
    COLUMN_WASTED,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    [COLUMN_BYTES] = {.title = "bytes", .width = 6, .keep = true, .meaning = "allocated in all"},
    [COLUMN_COUNT] = {.title = "count",
                      .width = 6,
                      .least_width = 50,
                      .meaning = "allocations",
                      .file = "allocations"},
    [COLUMN_LIVE] = {.title = "live",
                     .width = 6,
                     .least_width = 60,
                     .meaning = "bytes at the end",
                     .file = "live_bytes"},
    [COLUMN_AT_PEAK] = {.title = "program peak",
                        .width = 12,
                        .keep = true,
                        .meaning = "bytes live at the program's peak",
                        .file = "at_peak_bytes"},
    [COLUMN_NAME] = {.title = "type", .text = true, .keep = true, .cut = TABLE_CUT_CATEGORY},
    [COLUMN_CONFIDENCE] = {.title = "sure",
                           .width = 9,
                           .text = true,
                           .least_width = 66,
                           .meaning = "exact: the program says so; inferred: a rule concluded it",
                           .file = "confidence"},
    [COLUMN_PEAK] = {.title = "peak",
                     .width = 6,
                     .least_width = 76,
                     .meaning = "largest live bytes of the type itself",
                     .file = "peak_bytes"},
    [COLUMN_AVERAGE] = {.title = "average",
                        .width = 7,
                        .least_width = 100,
                        .meaning = "bytes of a block",
                        .file = "avg_size"},
    [COLUMN_GROWTH] = {.title = "growth",
                       .width = 7,
                       .least_width = 86,
                       .meaning = "bytes live in the middle of the last tenth of the run minus "
                                  "those in the first; over the marked range if there is one",
                       .file = "growth_bytes"},
    [COLUMN_COURSE] = {.title = "over run",
                       .width = 10,
                       .text = true,
                       .least_width = 112,
                       .unsorted = true,
                       .meaning = "bytes live in the middle of each tenth of the run",
                       .file = "course"},
    [COLUMN_WASTED] = {.title = "wasted",
                       .width = 6,
                       .least_width = 124,
                       .meaning = "bytes of all objects that no member covers",
                       .file = "wasted_bytes"},
};

const char *types_name(const struct types *types, uint32_t type)
{
    return session_type_name(types->session, type);
}

char *types_confidence(char *out, const struct session_type_sums *row)
{
    char percent[FORMAT_SIZE];
    if (row->type == SESSION_TYPE_UNKNOWN)
        snprintf(out, TYPE_CONFIDENCE_TEXT, "unknown");
    else if (row->exact_bytes == 0 && row->bytes > 0)
        snprintf(out, TYPE_CONFIDENCE_TEXT, "inferred");
    else if (row->exact_bytes == row->bytes)
        snprintf(out, TYPE_CONFIDENCE_TEXT, "exact");
    else
        snprintf(out, TYPE_CONFIDENCE_TEXT, "%.9s ex.",
                 format_percent(percent, row->exact_bytes, row->bytes));
    return out;
}

int64_t types_growth(const struct types *types, const struct session_type_course *course)
{
    const uint64_t from = types->has_range ? course->at_from : course->live[0];
    const uint64_t to = types->has_range ? course->at_to : course->live[SESSION_TYPE_POINTS - 1];
    return (int64_t)(to - from);
}

static uint64_t peak_of(const struct session_type_sums *row,
                        const struct session_type_course *course)
{
    return row->peak_bytes != SESSION_PEAK_UNKNOWN ? row->peak_bytes
           : course                                ? course->peak_bytes
                                                   : SESSION_PEAK_UNKNOWN;
}

/* Draws the live bytes as eighth blocks. */
static void write_course(char *out, size_t size, const struct session_type_course *course)
{
    uint64_t most = 1;
    size_t length = 0;
    for (int i = 0; i < SESSION_TYPE_POINTS; i++)
        most = course->live[i] > most ? course->live[i] : most;
    for (int i = 0; i < SESSION_TYPE_POINTS && length + 5 < size; i++) {
        const uint64_t eighths =
            course->live[i] == 0 ? 0 : 1 + (uint64_t)((double)course->live[i] / (double)most * 7);
        length +=
            (size_t)text_encode(eighths == 0 ? 0xb7 : 0x2580 + (uint32_t)eighths, out + length);
    }
}

static void number(struct table_cell *cell, uint64_t value, bool bytes)
{
    cell->is_number = true;
    cell->number = value;
    if (bytes)
        format_size_short(cell->text, value);
    else
        format_count_short(cell->text, value);
    if (value == 0) {
        cell->styled = true;
        cell->style = theme_style(THEME_FAINT);
    }
}

static void course_cell(const struct types *types, const struct session_type_sums *row,
                        enum column column, struct table_cell *cell)
{
    const struct session_type_course *course = types_course(types, row->type);
    const uint64_t peak = peak_of(row, course);
    char size[FORMAT_SIZE];
    if (column == COLUMN_PEAK && peak != SESSION_PEAK_UNKNOWN) {
        number(cell, peak, true);
    } else if (!course) {
        snprintf(cell->text, sizeof(cell->text), "…");
    } else if (column == COLUMN_GROWTH) {
        const int64_t growth = types_growth(types, course);
        const uint64_t size_of = growth < 0 ? (uint64_t)0 - (uint64_t)growth : (uint64_t)growth;
        snprintf(cell->text, sizeof(cell->text), "%s%s",
                 growth < 0   ? "-"
                 : growth > 0 ? "+"
                              : "",
                 format_size_short(size, size_of));
        table_cell_signed(cell, growth);
        cell->styled = growth <= 0;
        cell->style = theme_style(THEME_FAINT);
    } else if (column == COLUMN_COURSE) {
        write_course(cell->text, sizeof(cell->text), course);
    } else if (column == COLUMN_WASTED) {
        number(cell, course->wasted, true);
    }
}

static void cell(void *context, size_t place, size_t column, struct table_cell *cell)
{
    const struct types *types = context;
    const struct session_type_sums *row = &types->data->rows[types->order[place]];
    switch (column) {
    case COLUMN_BYTES:
        number(cell, row->bytes, true);
        cell->part = row->bytes;
        cell->whole = types->data->bytes;
        break;
    case COLUMN_COUNT:
        number(cell, row->allocations, false);
        break;
    case COLUMN_LIVE:
        number(cell, row->live_bytes, true);
        break;
    case COLUMN_AT_PEAK:
        number(cell, row->at_peak_bytes, true);
        cell->part = row->at_peak_bytes;
        cell->whole = types->data->at_peak_bytes;
        break;
    case COLUMN_AVERAGE:
        number(cell, row->allocations == 0 ? 0 : row->bytes / row->allocations, true);
        break;
    case COLUMN_NAME:
        cell->name = types_name(types, row->type);
        break;
    case COLUMN_CONFIDENCE:
        types_confidence(cell->text, row);
        cell->styled = true;
        cell->style = theme_style(THEME_FAINT);
        break;
    default:
        course_cell(types, row, (enum column)column, cell);
        break;
    }
}

static uint64_t key(void *context, size_t place)
{
    const struct types *types = context;
    return types->data->rows[types->order[place]].type;
}

struct table_source types_source(const struct types *types)
{
    return (struct table_source){.context = (void *)types,
                                 .columns = columns,
                                 .column_count = COLUMNS,
                                 .rows = types->data ? types->data->count : 0,
                                 .about = types->estimated ? "~" : NULL,
                                 .cell = cell,
                                 .key = key};
}

/* ---- order ------------------------------------------------------------------------------ */

/* Returns the number that a column sorts by. Growth below 0 comes before all others. */
static int64_t sort_value(const struct types *types, const struct session_type_sums *row)
{
    const struct session_type_course *course = types_course(types, row->type);
    const uint64_t peak = peak_of(row, course);
    switch (types->pair.main.sort) {
    case COLUMN_BYTES:
        return (int64_t)row->bytes;
    case COLUMN_COUNT:
        return (int64_t)row->allocations;
    case COLUMN_LIVE:
        return (int64_t)row->live_bytes;
    case COLUMN_AT_PEAK:
        return (int64_t)row->at_peak_bytes;
    case COLUMN_AVERAGE:
        return row->allocations == 0 ? 0 : (int64_t)(row->bytes / row->allocations);
    case COLUMN_PEAK:
        return peak == SESSION_PEAK_UNKNOWN ? 0 : (int64_t)peak;
    case COLUMN_GROWTH:
        return course ? types_growth(types, course) : 0;
    case COLUMN_WASTED:
        return course ? (int64_t)course->wasted : 0;
    default:
        return 0;
    }
}

static int compare(const void *left, const void *right, void *context)
{
    const struct types *types = context;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct session_type_sums *x = &types->data->rows[a], *y = &types->data->rows[b];
    int order;
    if (types->pair.main.sort == COLUMN_NAME || types->pair.main.sort == COLUMN_CONFIDENCE) {
        char left_text[TYPE_CONFIDENCE_TEXT], right_text[TYPE_CONFIDENCE_TEXT];
        order = types->pair.main.sort == COLUMN_NAME
                    ? strcmp(types_name(types, x->type), types_name(types, y->type))
                    : strcmp(types_confidence(left_text, x), types_confidence(right_text, y));
    } else {
        const int64_t m = sort_value(types, x), n = sort_value(types, y);
        order = m < n ? -1 : m > n;
    }
    if (order != 0)
        return types->pair.main.descending ? -order : order;
    return a < b ? -1 : a > b;
}

void types_sort(struct types *types)
{
    if (types->data && types->data->count > 1)
        qsort_r(types->order, types->data->count, sizeof(*types->order), compare, types);
}

bool types_keep_order(void *view, struct table_order *order, bool set)
{
    struct types *state = view;
    return table_order(&state->pair.main, columns, COLUMNS, order, set);
}
