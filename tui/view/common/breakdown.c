/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "session/groups.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"

enum column { COLUMN_BYTES, COLUMN_COUNT, COLUMN_LIVE, COLUMN_AT_PEAK, COLUMN_NAME, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [COLUMN_BYTES] = {.title = "bytes", .width = 6, .keep = true, .meaning = "allocated in all"},
    [COLUMN_COUNT] = {.title = "count", .width = 6, .least_width = 40, .meaning = "allocations"},
    [COLUMN_LIVE] = {.title = "live", .width = 6, .least_width = 50, .meaning = "at the end"},
    [COLUMN_AT_PEAK] = {.title = "program peak",
                        .width = 12,
                        .least_width = 64,
                        .meaning = "live at the program's peak"},
    [COLUMN_NAME] = {.title = "name", .text = true, .keep = true, .cut = TABLE_CUT_CATEGORY},
};

/* ---- the question ----------------------------------------------------------------------- */

static bool take_row(struct session_group_set *groups, size_t i, struct breakdown_row *row,
                     struct session_error *error)
{
    const struct session_group_key key = session_group_key(groups, i, 0);
    row->name = key.is_null ? NULL : key.text ? key.text : "?";
    return session_group_value(groups, i, MEASURE_ALLOCATIONS, &row->allocations, error) &&
           session_group_value(groups, i, MEASURE_BYTES, &row->bytes, error) &&
           session_group_value(groups, i, MEASURE_LIVE_BYTES, &row->live_bytes, error) &&
           session_group_value(groups, i, MEASURE_AT_PEAK_BYTES, &row->at_peak_bytes, error);
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct breakdown_data *data = context;
    char steps[BREAKDOWN_STEP + 80];
    (void)session;
    snprintf(steps, sizeof(steps), "%s%sjoin %s | sort bytes desc", data->request.where,
             data->request.where[0] ? " | " : "", data->request.field);
    struct graph_result *result = selection_graph(selection, steps, error);
    struct session_group_set *groups = result ? graph_result_groups(result) : NULL;
    bool good = groups != NULL;
    if (good) {
        data->made = session_groups_count(groups);
        data->count = data->made < BREAKDOWN_MOST ? data->made : BREAKDOWN_MOST;
        data->rows = calloc(data->count + 1, sizeof(*data->rows));
        good = data->rows != NULL;
    }
    for (size_t i = 0; good && i < data->count; i++)
        good = take_row(groups, i, &data->rows[i], error);
    graph_result_free(result);
    data->complete = good;
    return good;
}

static void clear(void *context)
{
    free(((struct breakdown_data *)context)->rows);
}

void breakdown_load(struct breakdown *breakdown, struct exploration *exploration, const char *where,
                    const char *field, const struct table *table)
{
    static const struct load_kind kind = {sizeof(((struct breakdown_data *)0)->request),
                                          sizeof(struct breakdown_data), run, clear};
    struct breakdown_data wanted = {.request = {.selections = exploration->selections}};
    snprintf(wanted.request.where, sizeof(wanted.request.where), "%s", where);
    snprintf(wanted.request.field, sizeof(wanted.request.field), "%s", field);
    breakdown->estimated = session_sampled(exploration->session);
    breakdown->data = exploration_get(exploration, &breakdown->load, &kind, &wanted.request);
    if (breakdown->data && !breakdown->data->complete)
        breakdown->data = NULL; /* the question has failed */
    if (breakdown->data && !breakdown->data->ordered)
        breakdown_sort(breakdown, table);
}

void breakdown_clear(struct breakdown *breakdown, struct exploration *exploration)
{
    load_clear(&exploration->loader, &breakdown->load);
}

/* ---- rows ------------------------------------------------------------------------------- */

static uint64_t value_of(const struct breakdown_row *row, size_t column)
{
    const uint64_t values[] = {row->bytes, row->allocations, row->live_bytes, row->at_peak_bytes};
    return column < COLUMN_NAME ? values[column] : 0;
}

static int compare(const void *left, const void *right, void *context)
{
    const struct breakdown_row *a = left, *b = right;
    const struct table *table = context;
    const uint64_t x = value_of(a, table->sort), y = value_of(b, table->sort);
    int order = x < y ? -1 : x > y;
    if (table->sort == COLUMN_NAME)
        order = strcmp(a->name ? a->name : "", b->name ? b->name : "");
    if (order != 0)
        return table->descending ? -order : order;
    return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

void breakdown_sort(struct breakdown *breakdown, const struct table *table)
{
    if (breakdown->data)
        breakdown->data->ordered = true;
    if (breakdown->data && breakdown->data->count > 1)
        qsort_r(breakdown->data->rows, breakdown->data->count, sizeof(*breakdown->data->rows),
                compare, (void *)table);
}

static void cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct breakdown *breakdown = context;
    const struct breakdown_row *shown = &breakdown->data->rows[row];
    const uint64_t value = value_of(shown, column);
    if (column == COLUMN_NAME) {
        cell->name = shown->name ? shown->name : SESSION_UNKNOWN_TYPE;
        cell->styled = !shown->name;
        cell->style = theme_style(THEME_FAINT);
        return;
    }
    cell->is_number = true;
    cell->number = value;
    if (column == COLUMN_COUNT)
        format_count_short(cell->text, value);
    else
        format_size_short(cell->text, value);
}

static uint64_t key(void *context, size_t row)
{
    const struct breakdown *breakdown = context;
    return (uint64_t)(uintptr_t)breakdown->data->rows[row].name;
}

struct table_source breakdown_source(const struct breakdown *breakdown)
{
    return (struct table_source){.context = (void *)breakdown,
                                 .columns = columns,
                                 .column_count = COLUMNS,
                                 .rows = breakdown->data ? breakdown->data->count : 0,
                                 .about = breakdown->estimated ? "~" : NULL,
                                 .cell = cell,
                                 .key = key};
}

const struct breakdown_row *breakdown_selected(const struct breakdown *breakdown,
                                               const struct table *table)
{
    return breakdown->data && table->selected < breakdown->data->count
               ? &breakdown->data->rows[table->selected]
               : NULL;
}

bool breakdown_step(const struct breakdown *breakdown, const struct breakdown_row *row, char *out,
                    size_t size)
{
    const char *where = breakdown->data->request.where, *field = breakdown->data->request.field;
    char name[1100];
    const char *begin = where[0] ? where : "where ";
    const char *and = where[0] ? " and " : "";
    if (!row->name)
        return (size_t)snprintf(out, size, "%s%s%s is null", begin, and, field) < size;
    filter_quote(name, sizeof(name), row->name);
    return name[0] && (size_t)snprintf(out, size, "%s%s%s == %s", begin, and, field, name) < size;
}
