/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/stacks.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"

void list_init(struct list *list, const struct list_kind *kind, const void *view)
{
    list->kind = kind;
    list->view = view;
    list->table.sort = kind->sort;
    list->table.descending = !kind->ascending;
    list->without_last = kind->last_optional;
}

void list_free_rows(void *data)
{
    free(((struct list_data *)data)->rows);
}

static void free_made(struct list *list)
{
    if (list->made)
        list_free_rows(list->made);
    free(list->made);
    list->made = NULL;
}

void list_clear(struct list *list, struct browse *browse)
{
    load_clear(&browse->loader, &list->load);
    free_made(list);
    FREE_ALL(list->order, list->above);
}

const void *list_row(const struct list *list, size_t place)
{
    return list->rows + list->order[place] * list->kind->row_size;
}

const void *list_selected(const struct list *list)
{
    return list->table.selected < list->count ? list_row(list, list->table.selected) : NULL;
}

/* ---- table ------------------------------------------------------------------------------ */

static uint64_t number_of(const struct list *list, const void *row, size_t column)
{
    const size_t at = list->kind->columns[column].at;
    uint64_t number;
    if (at == TABLE_ASKED)
        return list->kind->number(list->view, row, column);
    memcpy(&number, (const char *)row + at, sizeof(number));
    return number;
}

static void put_growth(struct table_cell *cell, int64_t growth)
{
    char size[FORMAT_SIZE];
    table_cell_signed(cell, growth);
    snprintf(cell->text, sizeof(cell->text), "%s%s",
             growth < 0   ? "-"
             : growth > 0 ? "+"
                          : "",
             format_size_short(size, cell->number));
    cell->styled = growth <= 0;
}

static void put_number(const struct list *list, const void *row, size_t column,
                       struct table_cell *cell)
{
    const struct table_column *about = &list->kind->columns[column];
    if (about->number == TABLE_NO_NUMBER)
        return;
    const uint64_t number = number_of(list, row, column);
    cell->is_number = about->number != TABLE_SHARE;
    cell->number = number;
    cell->styled = number == 0;
    cell->style = theme_style(THEME_FAINT);
    if (about->number == TABLE_COUNT)
        format_count_short(cell->text, number);
    else if (about->number == TABLE_BYTES)
        format_size_short(cell->text, number);
    else if (about->number == TABLE_INSTANT)
        format_instant(cell->text, number);
    else if (about->number == TABLE_SHARE)
        format_percent(cell->text, number, list->sums[column]);
    else
        put_growth(cell, (int64_t)number);
    if (about->bar) {
        cell->part = number;
        cell->whole = list->sums[column];
    }
}

static void put_cell(const struct list *list, const void *row, size_t column,
                     struct table_cell *cell)
{
    put_number(list, row, column, cell);
    if (list->kind->cell)
        list->kind->cell(list->view, row, column, cell);
}

static void write_cell(void *context, size_t place, size_t column, struct table_cell *cell)
{
    put_cell(context, list_row(context, place), column, cell);
}

static uint64_t key_of(void *context, size_t place)
{
    const struct list *list = context;
    const void *row = list_row(list, place);
    uint64_t key;
    if (list->kind->key)
        return list->kind->key(list->view, row);
    memcpy(&key, row, sizeof(key));
    return key;
}

struct table_source list_source(const struct list *list)
{
    return (struct table_source){.context = (void *)list,
                                 .columns = list->kind->columns,
                                 .column_count = list->kind->column_count - list->without_last,
                                 .rows = list->count,
                                 .about = list->estimated ? "~" : NULL,
                                 .cell = write_cell,
                                 .key = key_of};
}

void list_hide_last(struct list *list, bool hide)
{
    list->without_last = hide;
    if (!hide || list->table.sort + 1 < list->kind->column_count)
        return;
    list->table.sort = list->kind->sort;
    list_sort(list);
}

/* ---- order ------------------------------------------------------------------------------ */

static int compare_cells(const struct list *list, const void *x, const void *y)
{
    struct table_cell a = {.text = ""}, b = {.text = ""};
    put_cell(list, x, list->table.sort, &a);
    put_cell(list, y, list->table.sort, &b);
    return strcmp(a.name ? a.name : a.text, b.name ? b.name : b.text);
}

/* Returns a number as its column is sorted: a loss by its size, so that the largest losses stand
 * beside the largest gains. */
static uint64_t size_of(uint64_t number, bool growth)
{
    return growth && (int64_t)number < 0 ? 0 - number : number;
}

/* Compares two rows with the same one above them. */
static int compare_rows(const struct list *list, uint32_t a, uint32_t b)
{
    const struct list_kind *kind = list->kind;
    const void *x = list->rows + a * kind->row_size, *y = list->rows + b * kind->row_size;
    const struct table_column *column = &kind->columns[list->table.sort];
    int order = 0;
    if (kind->rank && kind->rank(list->view, x) != kind->rank(list->view, y))
        return kind->rank(list->view, x) < kind->rank(list->view, y) ? -1 : 1;
    if (!column->unsorted && column->number == TABLE_NO_NUMBER) {
        order = compare_cells(list, x, y);
    } else if (!column->unsorted) {
        const bool growth = column->number == TABLE_GROWTH;
        const uint64_t m = size_of(number_of(list, x, list->table.sort), growth);
        const uint64_t n = size_of(number_of(list, y, list->table.sort), growth);
        order = m < n ? -1 : m > n;
    }
    if (order != 0)
        return list->table.descending ? -order : order;
    return ORDER(a, b);
}

static int compare(const void *left, const void *right, void *context)
{
    const struct list *list = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (!list->kind->level || a == b)
        return compare_rows(list, a, b);
    int level_a = list->kind->level(list->rows + a * list->kind->row_size);
    int level_b = list->kind->level(list->rows + b * list->kind->row_size);
    const bool a_is_lower = level_a > level_b;
    for (; level_a > level_b; level_a--)
        a = list->above[a];
    for (; level_b > level_a; level_b--)
        b = list->above[b];
    if (a == b)
        return a_is_lower ? 1 : -1;
    while (list->above[a] != list->above[b]) {
        a = list->above[a];
        b = list->above[b];
    }
    return compare_rows(list, a, b);
}

/* Finds the row above each row of a tree. UINT32_MAX: it has none. */
static void find_above(struct list *list, size_t count)
{
    const struct list_kind *kind = list->kind;
    for (size_t i = 0; i < count; i++) {
        const int level = kind->level(list->rows + i * kind->row_size);
        uint32_t above = (uint32_t)i - 1;
        while (above != UINT32_MAX && kind->level(list->rows + above * kind->row_size) >= level)
            above = list->above[above];
        list->above[i] = above;
    }
}

static void sum_up(struct list *list)
{
    for (size_t column = 0; column < list->kind->column_count; column++) {
        const struct table_column *about = &list->kind->columns[column];
        list->sums[column] = 0;
        for (size_t i = 0; (about->bar || about->number == TABLE_SHARE) && i < list->count; i++)
            list->sums[column] += number_of(list, list_row(list, i), column);
    }
}

void list_sort(struct list *list)
{
    list->by = list->table.sort;
    list->down = list->table.descending;
    if (list->count > 1)
        qsort_r(list->order, list->count, sizeof(*list->order), compare, list);
}

void list_renew(struct list *list)
{
    list->ordered = 0;
}

/* Orders new rows. Returns false if memory is exhausted. */
static bool take_rows(struct list *list, const struct list_data *data)
{
    const struct list_kind *kind = list->kind;
    list->data = data;
    list->rows = data->rows;
    list->count = list->shown;
    if (list->ordered == data->serial) {
        if (list->by != list->table.sort || list->down != list->table.descending)
            list_sort(list);
        return true;
    }
    uint32_t *order = realloc(list->order, (data->count + 1) * sizeof(*order));
    list->order = order ? order : list->order;
    uint32_t *above = kind->level ? realloc(list->above, (data->count + 1) * sizeof(*above)) : NULL;
    list->above = above ? above : list->above;
    if (!order || (kind->level && !above))
        return false;
    list->count = 0;
    for (size_t i = 0; i < data->count; i++)
        if (!kind->hides || !kind->hides(list->view, list->rows + i * kind->row_size))
            order[list->count++] = (uint32_t)i;
    list->shown = list->count;
    if (kind->level)
        find_above(list, data->count);
    sum_up(list);
    list_sort(list);
    list->ordered = data->serial;
    return true;
}

static struct list_data *make(struct list *list, const struct list_request *wanted)
{
    if (list->made && memcmp(&list->made->request, wanted, sizeof(*wanted)) == 0)
        return list->made;
    free_made(list);
    list->made = calloc(1, sizeof(*list->made));
    if (!list->made)
        return NULL;
    list->made->request = *wanted;
    if (!list->kind->make(list->view, list->made))
        free_made(list);
    return list->made;
}

void list_load(struct list *list, struct browse *browse)
{
    static uint64_t serials;
    struct list_request wanted = {.of = {browse->selections}, .kind = list->kind};
    list->estimated = session_sampled(browse->session);
    list->count = 0;
    list->data = NULL;
    list->asked = !list->kind->ask || list->kind->ask(list->view, browse, &wanted);
    list->about = wanted.of[1];
    struct list_data *data = !list->asked ? NULL
                             : list->kind->make
                                 ? make(list, &wanted)
                                 : browse_get(browse, &list->load, &list->kind->load, &wanted);
    list->failed = data && !list->kind->make && list->load.failed;
    if (!data || list->failed)
        return;
    if (data->serial == 0)
        data->serial = ++serials;
    if (take_rows(list, data))
        return;
    list->count = 0;
    list->data = NULL;
    browse_complain(browse, SESSION_OUT_OF_MEMORY);
}

enum table_answer list_update(struct list *list, struct browse *browse,
                              const struct view_input *input, const struct table_place *place)
{
    const struct table_source source = list_source(list);
    const enum table_answer answer = list_update_table(browse, &list->table, &source, input, place);
    if (answer == TABLE_SORTED) {
        list_sort(list);
        table_settle(&list->table, &source, place);
    }
    return answer;
}

enum table_answer list_update_table(struct browse *browse, struct table *table,
                                    const struct table_source *source,
                                    const struct view_input *input, const struct table_place *place)
{
    char message[TABLE_MESSAGE_SIZE];
    const enum table_answer answer = table_update(table, source, input, place);
    if (source->rows == 0 && answer == TABLE_USED && input->action != ACTION_REFRESH &&
        browse->loader.waiting)
        browse_say(browse, "no rows yet: they are still being counted");
    if (!*table_message(table, source, answer, message))
        return answer;
    if (answer == TABLE_NOT_FOUND)
        browse_complain(browse, "%s", message);
    else
        browse_say(browse, "%s", message);
    return answer;
}

void list_render_empty(const struct browse *browse, const struct area *area, int y, bool known)
{
    char text[PENDING_SIZE];
    const char *words =
        !known                                           ? browse_pending(text, browse)
        : session_allocation_count(browse->session) == 0 ? "no allocation was recorded"
        : browse->filter[0] ? "nothing here with this filter; Esc goes back, f edits it"
                            : "nothing here";
    area_text(area, 2, y, theme_style(THEME_FAINT), words);
}

/* ---- cells and words -------------------------------------------------------------------- */

char *list_name_step(const char *field, const char *name)
{
    char *step = NULL, *quoted = name ? filter_quoted(name) : strdup("");
    if (!quoted ||
        asprintf(&step, name ? "where %s == %s" : "where %s is null%s", field, quoted) < 0)
        step = NULL;
    free(quoted);
    return step;
}

char *list_size_step(uint64_t least, uint64_t most)
{
    char *step;
    const int length =
        least == most ? asprintf(&step, "where size == %" PRIu64, least)
        : most == UINT64_MAX
            ? asprintf(&step, "where size >= %" PRIu64, least)
            : asprintf(&step, "where size >= %" PRIu64 " and size <= %" PRIu64, least, most);
    return length < 0 ? NULL : step;
}

const char *list_function_place(const struct session *session, uint32_t function)
{
    const char *place = session_function_place(session, function);
    return *place ? place : session_function_module(session, function);
}

struct alike_name list_function_name(const struct session *session, uint32_t function)
{
    struct alike_name name = {session_function_name(session, function),
                              session_function_place(session, function),
                              session_function_module(session, function), ""};
    snprintf(name.id, sizeof(name.id), "function %" PRIu32, function);
    return name;
}

void list_function_cell(const struct session *session, uint32_t function, struct table_cell *cell)
{
    cell->apart = list_function_name(session, function);
    cell->name = cell->apart.name;
}

const char *list_named(const struct session *session, uint32_t function)
{
    return session_function_is_alone(session, function) ? "this function"
                                                        : "each function of this name";
}

struct alike_name list_legend_name(void *context, size_t entry)
{
    const struct legend_names *names = context;
    const uint32_t function = names->legend->entry[entry].function;
    const char *label = names->legend->entry[entry].label;
    struct alike_name name = {.name = label};
    if (function != 0)
        name = list_function_name(names->session, function);
    name.name = label;
    return name;
}
