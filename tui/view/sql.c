/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of the SQL prompt: runs statements, and draws. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/sql.h"
#include "tui/screen/format.h"
#include "tui/screen/table.h"
#include "tui/screen/theme.h"
#include "tui/view/common/browse.h"
#include "tui/view/common/list.h"
#include "tui/view/view.h"

enum { ROWS_MOST = 10000, TEXT_MOST = 4096 };

struct result_data {
    struct {
        uint64_t serial;
        char text[TEXT_MOST];
    } request;
    struct session_table *table; /* NULL: `failed` says why */
    struct session_error failed;
};

struct sql {
    struct table table;
    struct load open_load;
    struct session *session;
    uint64_t renewals; /* of `session` */
    struct loader loader;
    struct load result_load;
    struct result_data wanted; /* only its request */
    bool asked;
    const struct result_data *result; /* NULL: there is none yet */

    struct table_column *columns; /* all of the result */
    size_t column_count;
    size_t first;  /* the leftmost one on the screen */
    size_t *order; /* the result's rows as they are sorted */
    size_t row_count;
    size_t
        sorted; /* the column that they are sorted by; SQL_UNSORTED: as the statement gave them */
    bool descending;
};
#define SQL_UNSORTED SIZE_MAX

static void rows_clear(struct sql *sql);
static size_t columns_shown(const struct sql *sql, int width);

/* Returns true if numbers of a table's own rows are those of allocations. */
static bool is_of_allocations(const char *origin)
{
    return !*origin || strcmp(origin, "allocation") == 0 || strcmp(origin, "v_allocation") == 0 ||
           strcmp(origin, "graph") == 0;
}

/* Returns the field of the filter language that a column holds, by title and table, or NULL. */
static const char *field_of(const struct session_table *table, size_t column)
{
    const char *title = session_table_title(table, column);
    const char *origin = session_table_origin(table, column);
    static const char *const fields[][2] = {{"id", "id"},           {"allocation_id", "id"},
                                            {"realloc_of", "id"},   {"stack_id", "stack"},
                                            {"address", "address"}, {"free_stack_id", "free_stack"},
                                            {"size", "size"}};
    const char *field = NULL;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcasecmp(title, fields[i][0]) == 0)
            field = fields[i][1];
    const bool own = field && (strcasecmp(title, "id") == 0 || strcasecmp(title, "address") == 0);
    if (!own || is_of_allocations(origin))
        return field;
    return strcasecmp(title, "id") == 0 && strcmp(origin, "stack") == 0 ? "stack" : NULL;
}

ARRAY_ORDER(compare_numbers, uint64_t, ORDER(*a, *b))

/* Writes the numbers of a column as a step: runs as ranges. Returns it, malloc()ed; NULL if there
 * is no number, or no memory. */
static char *make_step(const struct session_table *table, size_t column, const char *field)
{
    const size_t rows = session_table_rows(table);
    uint64_t *numbers = calloc(rows + 1, sizeof(*numbers));
    char *text = NULL;
    size_t count = 0, size = 0;
    for (size_t row = 0; numbers && row < rows; row++) {
        const struct session_value value = session_table_value(table, row, column);
        if (value.kind == VALUE_INTEGER && value.integer >= 0)
            numbers[count++] = (uint64_t)value.integer;
    }
    FILE *out = count > 0 ? open_memstream(&text, &size) : NULL;
    if (!out) {
        free(numbers);
        return NULL;
    }
    qsort(numbers, count, sizeof(*numbers), compare_numbers);
    fprintf(out, "where %s in (", field);
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && numbers[last + 1] - numbers[last] <= 1)
            last++;
        fprintf(out, "%s%" PRIu64, i > 0 ? ", " : "", numbers[i]);
        if (numbers[last] > numbers[i])
            fprintf(out, "..%" PRIu64, numbers[last]);
        i = last + 1;
    }
    fputc(')', out);
    free(numbers);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Offers each column of ids, addresses or sizes as a set, as view_ops.offers. */
static size_t sql_offers(void *view, struct browse *browse, struct view_offer *out, size_t capacity)
{
    const struct sql *sql = view;
    size_t count = 0;
    for (size_t i = 0; i < sql->column_count && count < capacity; i++) {
        const char *field = field_of(sql->result->table, i);
        struct view_offer *offer = &out[count];
        if (!field || !(offer->step = make_step(sql->result->table, i, field)))
            continue;
        snprintf(offer->label, sizeof(offer->label), "all of column %.80s", sql->columns[i].title);
        count++;
    }
    return count;
}

enum { WIDEST = 40, SAMPLE = 200 };

/* Returns true if the numbers of a column are amounts, neither ids nor addresses nor lines. */
static bool has_amounts(const char *title)
{
    static const char *const words[] = {"bytes", "size", "allocations", "blocks", "count", "_ns"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strstr(title, words[i]))
            return true;
    return false;
}

/* Writes a value as a cell of a column shows it. Returns the text, which is `out` or the value's
 * own. */
static const char *value_text(const char *title, const struct session_value *value, char *out,
                              size_t size)
{
    switch (value->kind) {
    case VALUE_INTEGER:
        if (value->integer >= 0 && has_amounts(title))
            return format_count(out, (uint64_t)value->integer);
        snprintf(out, size, "%" PRId64, value->integer);
        return out;
    case VALUE_REAL:
        snprintf(out, size, "%.15g", value->real);
        return out;
    case VALUE_TEXT:
        return value->text;
    case VALUE_BLOB: {
        size_t used = (size_t)snprintf(out, size, "x'");
        for (size_t i = 0; i < value->length && i < 16; i++)
            used += (size_t)snprintf(out + used, size - used, "%02x",
                                     (unsigned)(unsigned char)value->text[i]);
        snprintf(out + used, size - used, "'%s", value->cut || value->length > 16 ? "…" : "");
        return out;
    }
    default:
        return "";
    }
}

/* Makes the columns of a new result: as wide as their first values. */
static void lay_out(struct sql *sql)
{
    const struct session_table *table = sql->result->table;
    const size_t rows = session_table_rows(table);
    char text[128];
    for (size_t i = 0; i < sql->column_count; i++) {
        int width = 3;
        bool is_text = false;
        for (size_t row = 0; row < rows && row < SAMPLE; row++) {
            const struct session_value value = session_table_value(table, row, i);
            const int here =
                text_width(value_text(session_table_title(table, i), &value, text, sizeof(text)));
            width = here > width ? here : width;
            is_text |= value.kind == VALUE_TEXT || value.kind == VALUE_BLOB;
        }
        sql->columns[i] = (struct table_column){.title = session_table_title(table, i),
                                                .width = width < WIDEST ? width : WIDEST,
                                                .text = is_text};
    }
}

/* Tells the table which column is the leftmost one, which has room in any case, and which of those
 * on the screen the rows are sorted by. */
static void mark_columns(struct sql *sql)
{
    for (size_t i = 0; i < sql->column_count; i++)
        sql->columns[i].keep = i == sql->first;
    sql->table.sort = sql->sorted != SQL_UNSORTED && sql->sorted >= sql->first
                          ? sql->sorted - sql->first
                          : SQL_UNSORTED;
    sql->table.descending = sql->descending;
}

/* Takes the rows of a new result. Returns false if memory is exhausted. */
static bool rows_take(struct sql *sql)
{
    rows_clear(sql);
    const size_t rows = session_table_rows(sql->result->table);
    const size_t columns = session_table_columns(sql->result->table);
    sql->columns = calloc(columns + 1, sizeof(*sql->columns));
    sql->order = calloc(rows + 1, sizeof(*sql->order));
    if (!sql->columns || !sql->order) {
        rows_clear(sql);
        return false;
    }
    sql->column_count = columns;
    sql->row_count = rows;
    for (size_t i = 0; i < rows; i++)
        sql->order[i] = i;
    lay_out(sql);
    mark_columns(sql);
    return true;
}

static void rows_clear(struct sql *sql)
{
    FREE_ALL(sql->columns, sql->order);
    sql->columns = NULL;
    sql->order = NULL;
    sql->column_count = sql->row_count = sql->first = 0;
    sql->sorted = SQL_UNSORTED;
    sql->table = (struct table){.sort = SQL_UNSORTED};
}

/* ---- order ------------------------------------------------------------------------------ */

struct sorting {
    const struct session_table *table;
    size_t column;
    bool descending;
};

/* Compares text as bytes: the shorter one first if it begins the longer one. */
static int compare_text(const struct session_value *a, const struct session_value *b)
{
    const size_t least = a->length < b->length ? a->length : b->length;
    const int order = memcmp(a->text, b->text, least);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* Compares as SQLite does: null, numbers, text, blobs. */
static int compare_values(const struct session_value *a, const struct session_value *b)
{
    static const int classes[] = {[VALUE_NULL] = 0,
                                  [VALUE_INTEGER] = 1,
                                  [VALUE_REAL] = 1,
                                  [VALUE_TEXT] = 2,
                                  [VALUE_BLOB] = 3};
    if (classes[a->kind] != classes[b->kind])
        return classes[a->kind] - classes[b->kind];
    if (a->kind == VALUE_NULL)
        return 0;
    if (classes[a->kind] > 1)
        return compare_text(a, b);
    if (a->kind == VALUE_INTEGER && b->kind == VALUE_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    const double left = a->kind == VALUE_REAL ? a->real : (double)a->integer;
    const double right = b->kind == VALUE_REAL ? b->real : (double)b->integer;
    return ORDER(left, right);
}

/* Equal rows stay in the statement's order. */
static int compare_rows(const void *left, const void *right, void *context)
{
    const struct sorting *sorting = context;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const struct session_value one = session_table_value(sorting->table, a, sorting->column);
    const struct session_value other = session_table_value(sorting->table, b, sorting->column);
    const int order = compare_values(&one, &other);
    if (order != 0)
        return sorting->descending ? -order : order;
    return ORDER(a, b);
}

static void sql_sort(struct sql *sql)
{
    const size_t column = sql->first + sql->table.sort;
    if (!sql->result || !sql->result->table || column >= sql->column_count)
        return;
    struct sorting sorting = {sql->result->table, column, sql->table.descending};
    sql->sorted = column;
    sql->descending = sql->table.descending;
    qsort_r(sql->order, sql->row_count, sizeof(*sql->order), compare_rows, &sorting);
}

/* Moves the columns on the screen by one. */
static void scroll(struct sql *sql, bool right, int width)
{
    if (right && sql->first + columns_shown(sql, width) < sql->column_count)
        sql->first++;
    else if (!right && sql->first > 0)
        sql->first--;
    mark_columns(sql);
}

/* ---- the table -------------------------------------------------------------------------- */

static void put_cell(const struct sql *sql, size_t row, size_t column, struct table_cell *out)
{
    const struct session_value value =
        session_table_value(sql->result->table, sql->order[row], column);
    out->name = value_text(sql->columns[column].title, &value, out->text, sizeof(out->text));
    if (value.kind == VALUE_INTEGER && value.integer >= 0) {
        out->is_number = true;
        out->number = (uint64_t)value.integer;
    }
}

static void cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    const struct sql *sql = context;
    put_cell(sql, row, sql->first + column, out);
}

static void cell_of_all(void *context, size_t row, size_t column, struct table_cell *out)
{
    put_cell(context, row, column, out);
}

static uint64_t key(void *context, size_t row)
{
    return ((const struct sql *)context)->order[row];
}

static struct table_source source_of_all(const struct sql *sql)
{
    return (struct table_source){.context = (void *)sql,
                                 .columns = sql->columns,
                                 .column_count = sql->column_count,
                                 .rows = sql->row_count,
                                 .cell = cell_of_all,
                                 .key = key};
}

/* The rows with the columns from the leftmost one on the screen on, and with all. */
static struct table_source sql_source(const struct sql *sql)
{
    const size_t left = sql->column_count - sql->first;
    struct table_source source = source_of_all(sql);
    source.columns = sql->columns ? sql->columns + sql->first : NULL;
    source.column_count = left < TABLE_COLUMNS ? left : TABLE_COLUMNS;
    source.cell = cell;
    return source;
}

/* Returns how many columns a screen of this width shows. */
static size_t columns_shown(const struct sql *sql, int width)
{
    const struct table_source source = sql_source(sql);
    return table_columns_shown(&source, width);
}

/* The session that the statements run on. */
struct opened_data {
    uint64_t renewals; /* the request */
    struct session *session;
};

static void close_engine(struct sql *sql, struct browse *browse)
{
    if (browse->beside == &sql->loader)
        browse->beside = NULL;
    load_clear(&sql->loader, &sql->result_load);
    session_jobs_stop(sql->loader.jobs);
    session_close(sql->session);
    sql->loader.jobs = NULL;
    sql->session = NULL;
    sql->result = NULL;
    rows_clear(sql);
}

static void destroy(void *view, struct browse *browse)
{
    struct sql *sql = view;
    load_clear(&browse->loader, &sql->open_load);
    close_engine(sql, browse);
    free(sql);
}

/* ---- running ---------------------------------------------------------------------------- */

static bool run_open(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct opened_data *opened = data;
    opened->session = session_open(session_path(session), error);
    return opened->session &&
           session_select_process(opened->session, session_selected_process(session), error);
}

static void clear_open(void *data)
{
    session_close(((struct opened_data *)data)->session);
}

static bool run_result(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct result_data *result = data;
    result->table = session_sql(session, result->request.text, ROWS_MOST, &result->failed);
    return true;
}

static void clear_result(void *data)
{
    session_table_free(((struct result_data *)data)->table);
}

/* Opens the session a second time, in the background. Returns true once it is open. */
static bool has_engine(struct sql *sql, struct browse *browse)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct opened_data), run_open,
                                          clear_open};
    if (sql->session && sql->renewals == browse->renewals)
        return true;
    struct session_error error = {.message = ""};
    struct opened_data *opened = browse_get(browse, &sql->open_load, &kind, &browse->renewals);
    if (opened && !opened->session)
        sql->asked = false; /* it cannot be opened: the footer says why */
    if (!opened || !opened->session)
        return false;
    close_engine(sql, browse);
    sql->loader.jobs = session_jobs_start(opened->session, &error);
    if (!sql->loader.jobs) {
        browse_complain(browse, "%s", error.message);
        return false;
    }
    sql->session = opened->session;
    opened->session = NULL;
    sql->renewals = browse->renewals;
    load_clear(&browse->loader, &sql->open_load);
    return true;
}

static void load(struct sql *sql, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(result_data, run_result, clear_result);
    if (!sql->asked || !has_engine(sql, browse))
        return;
    browse->beside = &sql->loader;
    sql->loader.deadline_ms = browse->loader.deadline_ms;
    const struct result_data *result =
        load_get(&sql->loader, &sql->result_load, &kind, NULL, &sql->wanted.request);
    if (!result)
        return;
    sql->asked = false;
    sql->result = result;
    rows_clear(sql);
    if (result->table && !rows_take(sql))
        browse_complain(browse, SESSION_OUT_OF_MEMORY);
}

/* ---- update ----------------------------------------------------------------------------- */

static void ask(struct sql *sql, struct browse *browse, const char *text)
{
    if (strlen(text) >= TEXT_MOST) {
        browse_complain(browse, "a statement has at most %d bytes", TEXT_MOST - 1);
        return;
    }
    const uint64_t serial = sql->wanted.request.serial + 1;
    memset(&sql->wanted.request, 0, sizeof(sql->wanted.request));
    sql->wanted.request.serial = serial;
    memcpy(sql->wanted.request.text, text, strlen(text));
    sql->asked = true;
}

/* Ends the statement that runs. Returns false if none does. */
static bool cancel(struct sql *sql, struct browse *browse)
{
    if (!sql->asked)
        return false;
    load_clear(&sql->loader, &sql->result_load);
    sql->asked = false;
    sql->result = NULL;
    rows_clear(sql);
    browse_say(browse, "the statement was ended");
    return true;
}

/* Shows the block or the stack's blocks of the selected row. */
static void follow(const struct sql *sql, struct browse *browse)
{
    if (sql->row_count == 0)
        return; /* Enter types a statement */
    for (size_t i = 0; i < sql->column_count && sql->table.selected < sql->row_count; i++) {
        const char *field = field_of(sql->result->table, i);
        const struct session_value value =
            session_table_value(sql->result->table, sql->order[sql->table.selected], i);
        char step[80];
        if (!field || value.kind != VALUE_INTEGER)
            continue;
        if (strcmp(field, "id") == 0 && value.integer > 0 &&
            session_has_allocation(browse->session, (uint64_t)value.integer)) {
            browse->allocation = (uint64_t)value.integer;
            browse_show(browse, VIEW_DETAIL);
        } else {
            snprintf(step, sizeof(step), "where %s == %" PRIu64, field, (uint64_t)value.integer);
            browse_list(browse, step);
        }
        return;
    }
    browse_say(browse, "g types a statement; Enter follows the id of an allocation or a stack");
}

static bool update(void *view, struct browse *browse, const struct view_input *input)
{
    struct sql *sql = view;
    const struct table_place place = {0, 2, input->width, input->height - 2};
    const struct table_source before = sql_source(sql);
    bool used = true;
    if (browse->request_sql)
        ask(sql, browse, browse->request_sql);
    browse->request_sql = NULL;
    if (input->action == ACTION_GOTO && input->text) {
        ask(sql, browse, input->text);
    } else if (input->action == ACTION_FOLLOW) {
        used = sql->row_count > 0;
        follow(sql, browse);
    } else if (input->action == ACTION_BACK) {
        used = cancel(sql, browse);
    } else if (input->action == ACTION_LEFT || input->action == ACTION_RIGHT) {
        scroll(sql, input->action == ACTION_RIGHT, input->width);
    } else {
        const enum table_answer answer =
            list_update_table(browse, &sql->table, &before, input, &place);
        if (answer == TABLE_SORTED)
            sql_sort(sql);
        used = answer != TABLE_IGNORED;
        if (answer == TABLE_FOLLOW)
            follow(sql, browse);
    }
    load(sql, browse);
    const struct table_source after = sql_source(sql);
    table_settle(&sql->table, &after, &place);
    return used;
}

/* ---- render ----------------------------------------------------------------------------- */

/* Draws how many rows there are, and whether these are all. */
static void render_count(const struct sql *sql, const struct area *area)
{
    const struct session_table *table = sql->result->table;
    const size_t columns = session_table_columns(table);
    char count[FORMAT_SIZE];
    format_count(count, session_table_rows(table));
    const char *more = session_table_end(table) == TABLE_COMPLETE    ? ""
                       : session_table_end(table) == TABLE_ROWS_MOST ? "the first "
                                                                     : "the first 64 MiB: ";
    int x = 1 + area_print(area, 1, 1, theme_style(*more ? THEME_WARNING : THEME_FAINT),
                           "%s%s row%s%s", more, count, session_table_rows(table) == 1 ? "" : "s",
                           *more ? "; the statement gives more" : "");
    const size_t shown = columns_shown(sql, area->width);
    if (columns > shown)
        area_print(area, x + 2, 1, theme_style(THEME_WARNING),
                   "columns %zu to %zu of %zu, ←→ for the others", sql->first + 1,
                   sql->first + shown, columns);
}

static void render_error(const struct sql *sql, const struct area *area)
{
    const struct session_error *error = &sql->result->failed;
    if (error->column > 0)
        area_print(area, 1, 1, theme_style(THEME_ERROR), "column %d: %s", error->column,
                   error->message);
    else
        area_text(area, 1, 1, theme_style(THEME_ERROR), error->message);
    /* The statement is above, so the place can be shown in it. */
    if (error->column > 0 && error->column <= area->width - 1)
        area_restyle(area, error->column, 0, area->width - error->column, theme_style(THEME_ERROR));
}

/* Draws what can be asked, before the first statement. */
static void render_examples(const struct area *area)
{
    static const char *const examples[] = {
        "SELECT * FROM v_leak",
        "SELECT function, sum(allocations), sum(bytes) FROM v_stack_total GROUP BY 1 ORDER BY 3 "
        "DESC LIMIT 20",
        "SELECT name, at_peak_bytes FROM function_total JOIN function ON id = function_id ORDER BY "
        "2 DESC",
        "SELECT key, bytes FROM graph('live at peak | join type') ORDER BY 2 DESC",
    };
    area_text(area, 1, 2, theme_style(THEME_FAINT),
              "Tab completes tables and columns, and names in '…'. Views to begin with:");
    area_text(area, 1, 3, theme_style(THEME_FAINT),
              "v_allocation, v_stack_total, v_user_function, v_leak, v_growth_by_type, v_process");
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        area_field(area, 1, 5 + (int)i, area->width - 2, theme_style(THEME_FAINT), examples[i]);
}

static void render(const void *view, const struct browse *browse, const struct area *area)
{
    const struct sql *sql = view;
    const struct area rows = area_part(area, 0, 2, area->width, area->height - 2);
    const char *text = sql->wanted.request.text;
    area_field(area, 1, 0, area->width - 2, theme_style(*text ? THEME_STRONG : THEME_FAINT),
               *text ? text
                     : "Any question about the session, in SQL: Enter types it; it only reads");
    if (sql->asked) {
        area_text(area, 1, 1, theme_style(THEME_FAINT), "running … Esc ends it");
        return;
    }
    if (!sql->result) {
        render_examples(area);
        return;
    }
    if (!sql->result->table) {
        render_error(sql, area);
        return;
    }
    const struct table_source source = sql_source(sql);
    render_count(sql, area);
    table_render(&sql->table, &source, &rows);
}

static bool copy(void *view, struct browse *browse, FILE *out)
{
    const struct sql *sql = view;
    const struct table_source source = source_of_all(sql);
    if (sql->table.selected >= source.rows)
        return false;
    table_copy(&source, sql->table.selected, out);
    return true;
}

static bool table(void *view, struct browse *browse, FILE *out, enum table_format format)
{
    const struct table_source source = source_of_all(view);
    table_write(&source, out, format);
    return source.rows > 0;
}

static const struct key_binding keys[] = {
    {ACTION_GOTO, "type a statement; Tab completes tables and columns, Up brings the last back",
     .keys = {'g'}, .footer = "statement"},
    {ACTION_FOLLOW, "the allocation, or those of the stack, that the row names; without rows: type",
     .keys = {KEYCODE_ENTER}, .footer = "follow"},
    {ACTION_LEFT, "to the columns on the left", .keys = {KEYCODE_LEFT}},
    {ACTION_RIGHT, "to the columns on the right", .keys = {KEYCODE_RIGHT}},
};

const struct view_ops sql_view = {
    .name = "sql",
    .title = "SQL",
    .asks = "SQL:",
    .asks_first = true,
    .help = "One statement at a time, on the tables and views of the session, and on "
            "graph('FILTER'). It only reads. w makes a set of a column of ids.",
    .keys = KEY_TABLE(keys),
    .size = sizeof(struct sql),
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = sql_offers,
    .copy = copy,
    .table = table,
};
