/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SQL prompt: one reading statement at a time, its rows as a table. It has a session and an
 * engine of its own, so a long statement holds up no other view.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/sql.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/view.h"

enum { ROWS_MOST = 10000, TEXT_MOST = 4096, FILTER_MOST = 900, WIDEST = 40, SAMPLE = 200 };

/* The session that the statements run on. */
struct opened_data {
    uint64_t renewals; /* the request */
    struct session *session;
};

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
    struct table_column columns[TABLE_COLUMNS];
    size_t column_count;
};

static void *create(void)
{
    return calloc(1, sizeof(struct sql));
}

static void close_engine(struct sql *sql, struct exploration *exploration)
{
    if (exploration->beside == &sql->loader)
        exploration->beside = NULL;
    load_clear(&sql->loader, &sql->result_load);
    session_jobs_stop(sql->loader.jobs);
    session_close(sql->session);
    sql->loader.jobs = NULL;
    sql->session = NULL;
    sql->result = NULL;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct sql *sql = view;
    load_clear(&exploration->loader, &sql->open_load);
    close_engine(sql, exploration);
    free(sql);
}

/* ---- running ---------------------------------------------------------------------------- */

static bool run_open(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct opened_data *opened = data;
    (void)selection;
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
    (void)selection;
    (void)error;
    result->table = session_sql(session, result->request.text, ROWS_MOST, &result->failed);
    return true;
}

static void clear_result(void *data)
{
    session_table_free(((struct result_data *)data)->table);
}

/* Opens the session a second time, in the background. Returns true once it is open. */
static bool has_engine(struct sql *sql, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct opened_data), run_open,
                                          clear_open};
    if (sql->session && sql->renewals == exploration->renewals)
        return true;
    struct session_error error = {.message = ""};
    struct opened_data *opened =
        exploration_get(exploration, &sql->open_load, &kind, &exploration->renewals);
    if (opened && !opened->session)
        sql->asked = false; /* it cannot be opened: the footer says why */
    if (!opened || !opened->session)
        return false;
    close_engine(sql, exploration);
    sql->loader.jobs = session_jobs_start(opened->session, &error);
    if (!sql->loader.jobs) {
        exploration_complain(exploration, "%s", error.message);
        return false;
    }
    sql->session = opened->session;
    opened->session = NULL;
    sql->renewals = exploration->renewals;
    load_clear(&exploration->loader, &sql->open_load);
    return true;
}

/* Writes a value as a cell shows it. Returns the text, which is `out` or the value's own. */
static const char *value_text(const struct session_value *value, char *out, size_t size)
{
    switch (value->kind) {
    case VALUE_INTEGER:
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
    sql->column_count = session_table_columns(table);
    if (sql->column_count > TABLE_COLUMNS)
        sql->column_count = TABLE_COLUMNS;
    for (size_t i = 0; i < sql->column_count; i++) {
        int width = 3;
        bool is_text = false;
        for (size_t row = 0; row < rows && row < SAMPLE; row++) {
            const struct session_value value = session_table_value(table, row, i);
            const int here = text_width(value_text(&value, text, sizeof(text)));
            width = here > width ? here : width;
            is_text |= value.kind == VALUE_TEXT || value.kind == VALUE_BLOB;
        }
        sql->columns[i] = (struct table_column){.title = session_table_title(table, i),
                                                .width = width < WIDEST ? width : WIDEST,
                                                .text = is_text,
                                                .keep = i == 0,
                                                .unsorted = true};
    }
    sql->table = (struct table){.selected = 0};
}

static void load(struct sql *sql, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct result_data *)0)->request),
                                          sizeof(struct result_data), run_result, clear_result};
    if (!sql->asked || !has_engine(sql, exploration))
        return;
    exploration->beside = &sql->loader;
    sql->loader.deadline_ms = exploration->loader.deadline_ms;
    const struct result_data *result =
        load_get(&sql->loader, &sql->result_load, &kind, NULL, &sql->wanted.request);
    if (!result)
        return;
    sql->asked = false;
    sql->result = result;
    sql->column_count = 0;
    if (result->table)
        lay_out(sql);
}

/* ---- the table -------------------------------------------------------------------------- */

static void cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    const struct sql *sql = context;
    const struct session_value value = session_table_value(sql->result->table, row, column);
    out->name = value_text(&value, out->text, sizeof(out->text));
    if (value.kind == VALUE_INTEGER && value.integer >= 0) {
        out->is_number = true;
        out->number = (uint64_t)value.integer;
    }
}

static uint64_t key(void *context, size_t row)
{
    (void)context;
    return row;
}

static struct table_source source_of(const struct sql *sql)
{
    const bool has_rows = sql->result && sql->result->table;
    return (struct table_source){.context = (void *)sql,
                                 .columns = sql->columns,
                                 .column_count = sql->column_count,
                                 .rows = has_rows ? session_table_rows(sql->result->table) : 0,
                                 .cell = cell,
                                 .key = key};
}

/* ---- a set of ids ----------------------------------------------------------------------- */

static const char *field_of(const char *title)
{
    static const char *const fields[][2] = {{"id", "id"},           {"allocation_id", "id"},
                                            {"realloc_of", "id"},   {"stack_id", "stack"},
                                            {"address", "address"}, {"free_stack_id", "free_stack"},
                                            {"size", "size"}};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcasecmp(title, fields[i][0]) == 0)
            return fields[i][1];
    return NULL;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Writes the numbers of a column as a step: runs as ranges. Returns false if it is too long. */
static bool write_step(const struct session_table *table, size_t column, const char *field,
                       char *out, size_t size)
{
    const size_t rows = session_table_rows(table);
    uint64_t *numbers = calloc(rows + 1, sizeof(*numbers));
    size_t count = 0, used = (size_t)snprintf(out, size, "where %s in (", field);
    for (size_t row = 0; numbers && row < rows; row++) {
        const struct session_value value = session_table_value(table, row, column);
        if (value.kind == VALUE_INTEGER)
            numbers[count++] = (uint64_t)value.integer;
    }
    if (count > 0)
        qsort(numbers, count, sizeof(*numbers), compare_numbers);
    for (size_t i = 0; i < count && used < size;) {
        size_t last = i;
        while (last + 1 < count && numbers[last + 1] - numbers[last] <= 1)
            last++;
        used +=
            (size_t)snprintf(out + used, size - used, "%s%" PRIu64, i > 0 ? ", " : "", numbers[i]);
        if (numbers[last] > numbers[i] && used < size)
            used += (size_t)snprintf(out + used, size - used, "..%" PRIu64, numbers[last]);
        i = last + 1;
    }
    free(numbers);
    if (used < size)
        used += (size_t)snprintf(out + used, size - used, ")");
    return count > 0 && used < size;
}

/* Each column of ids, addresses or sizes is a set. One that is too long to be typed is left out. */
static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct sql *sql = view;
    size_t count = 0, sets = 0;
    for (size_t i = 0; i < sql->column_count && count < capacity; i++) {
        const char *field = field_of(sql->columns[i].title);
        struct view_offer *offer = &out[count];
        if (!field)
            continue;
        sets++;
        if (!write_step(sql->result->table, i, field, offer->step, FILTER_MOST))
            continue;
        snprintf(offer->label, sizeof(offer->label), "all of column %.80s", sql->columns[i].title);
        count++;
    }
    if (sets > count)
        exploration_complain(exploration,
                             "a set of so many numbers is too long for the filter line");
    return count;
}

/* ---- update ----------------------------------------------------------------------------- */

static void ask(struct sql *sql, struct exploration *exploration, const char *text)
{
    if (strlen(text) >= TEXT_MOST) {
        exploration_complain(exploration, "a statement has at most %d bytes", TEXT_MOST - 1);
        return;
    }
    const uint64_t serial = sql->wanted.request.serial + 1;
    memset(&sql->wanted.request, 0, sizeof(sql->wanted.request));
    sql->wanted.request.serial = serial;
    memcpy(sql->wanted.request.text, text, strlen(text));
    sql->asked = true;
}

/* Ends the statement that runs. Returns false if none does. */
static bool cancel(struct sql *sql, struct exploration *exploration)
{
    if (!sql->asked)
        return false;
    load_clear(&sql->loader, &sql->result_load);
    sql->asked = false;
    sql->result = NULL;
    sql->column_count = 0;
    exploration_say(exploration, "the statement was ended");
    return true;
}

/* Shows the block or the stack's blocks of the selected row. */
static void follow(const struct sql *sql, struct exploration *exploration)
{
    for (size_t i = 0; i < sql->column_count && sql->table.selected < source_of(sql).rows; i++) {
        const char *field = field_of(sql->columns[i].title);
        const struct session_value value =
            session_table_value(sql->result->table, sql->table.selected, i);
        char step[80];
        if (!field || value.kind != VALUE_INTEGER)
            continue;
        if (strcmp(field, "id") == 0 && value.integer > 0 &&
            (uint64_t)value.integer <= session_allocation_count(exploration->session)) {
            exploration->allocation = (uint64_t)value.integer;
            exploration_show(exploration, VIEW_DETAIL);
        } else {
            snprintf(step, sizeof(step), "where %s == %" PRIu64, field, (uint64_t)value.integer);
            exploration_list(exploration, step);
        }
        return;
    }
    exploration_say(exploration, "g types a statement; Enter follows a row with an id");
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct sql *sql = view;
    const struct table_place place = {0, 2, input->width, input->height - 2};
    const struct table_source before = source_of(sql);
    bool used = true;
    if (input->action == ACTION_GOTO && input->text) {
        ask(sql, exploration, input->text);
    } else if (input->action == ACTION_FOLLOW) {
        follow(sql, exploration);
    } else if (input->action == ACTION_BACK) {
        used = cancel(sql, exploration);
    } else {
        const enum table_answer answer =
            list_update(exploration, &sql->table, &before, input, &place);
        used = answer != TABLE_IGNORED;
        if (answer == TABLE_FOLLOW)
            follow(sql, exploration);
    }
    load(sql, exploration);
    const struct table_source after = source_of(sql);
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
                           "%s%s rows%s", more, count, *more ? "; the statement gives more" : "");
    if (columns > sql->column_count)
        area_print(area, x + 2, 1, theme_style(THEME_WARNING), "the first %zu of %zu columns",
                   sql->column_count, columns);
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

static void render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct sql *sql = view;
    (void)exploration;
    const struct area rows = area_part(area, 0, 2, area->width, area->height - 2);
    const char *text = sql->wanted.request.text;
    area_field(area, 1, 0, area->width - 2, theme_style(*text ? THEME_STRONG : THEME_FAINT),
               *text ? text : "g types a statement, such as SELECT * FROM v_leak; it only reads");
    if (sql->asked) {
        area_text(area, 1, 1, theme_style(THEME_FAINT), "running … Esc ends it");
        return;
    }
    if (!sql->result)
        return;
    if (!sql->result->table) {
        render_error(sql, area);
        return;
    }
    const struct table_source source = source_of(sql);
    render_count(sql, area);
    table_render(&sql->table, &source, &rows);
}

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct sql *sql = view;
    const struct table_source source = source_of(sql);
    (void)exploration;
    if (sql->table.selected >= source.rows)
        return false;
    table_copy(&source, sql->table.selected, out);
    return true;
}

static bool table(void *view, struct exploration *exploration, FILE *out, enum table_format format)
{
    const struct table_source source = source_of(view);
    (void)exploration;
    table_write(&source, out, format);
    return source.rows > 0;
}

static const struct key_binding keys[] = {
    {.keys = {'g'},
     .action = ACTION_GOTO,
     .footer = "statement",
     .description = "type a statement; Up brings the last ones back"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "follow",
     .description = "the allocation, or those of the stack, that the row names"},
};

const struct view_ops sql_view = {
    .name = "sql",
    .title = "SQL",
    .asks = "SQL:",
    .help = "One statement at a time, on the tables and views of the session, and on "
            "graph('FILTER'). It only reads. w makes a set of a column of ids.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = offers,
    .copy = copy,
    .table = table,
};
