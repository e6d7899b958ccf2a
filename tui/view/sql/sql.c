/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of the SQL prompt: runs statements, and draws. */
#include "tui/view/sql/sql.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/view.h"

/* The session that the statements run on. */
struct opened_data {
    uint64_t renewals; /* the request */
    struct session *session;
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
    sql_rows_clear(sql);
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
    sql_rows_clear(sql);
    if (result->table && !sql_rows_take(sql))
        exploration_complain(exploration, SESSION_OUT_OF_MEMORY);
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
    sql_rows_clear(sql);
    exploration_say(exploration, "the statement was ended");
    return true;
}

/* Shows the block or the stack's blocks of the selected row. */
static void follow(const struct sql *sql, struct exploration *exploration)
{
    if (sql->row_count == 0)
        return; /* Enter types a statement */
    for (size_t i = 0; i < sql->column_count && sql->table.selected < sql->row_count; i++) {
        const char *field = sql_field_of(sql->result->table, i);
        const struct session_value value =
            session_table_value(sql->result->table, sql->order[sql->table.selected], i);
        char step[80];
        if (!field || value.kind != VALUE_INTEGER)
            continue;
        if (strcmp(field, "id") == 0 && value.integer > 0 &&
            session_has_allocation(exploration->session, (uint64_t)value.integer)) {
            exploration->allocation = (uint64_t)value.integer;
            exploration_show(exploration, VIEW_DETAIL);
        } else {
            snprintf(step, sizeof(step), "where %s == %" PRIu64, field, (uint64_t)value.integer);
            exploration_list(exploration, step);
        }
        return;
    }
    exploration_say(exploration,
                    "g types a statement; Enter follows the id of an allocation or a stack");
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct sql *sql = view;
    const struct table_place place = {0, 2, input->width, input->height - 2};
    const struct table_source before = sql_source(sql);
    bool used = true;
    if (exploration->wish_sql)
        ask(sql, exploration, exploration->wish_sql);
    exploration->wish_sql = NULL;
    if (input->action == ACTION_GOTO && input->text) {
        ask(sql, exploration, input->text);
    } else if (input->action == ACTION_FOLLOW) {
        used = sql->row_count > 0;
        follow(sql, exploration);
    } else if (input->action == ACTION_BACK) {
        used = cancel(sql, exploration);
    } else if (input->action == ACTION_LEFT || input->action == ACTION_RIGHT) {
        sql_scroll(sql, input->action == ACTION_RIGHT, input->width);
    } else {
        const enum table_answer answer =
            list_update(exploration, &sql->table, &before, input, &place);
        if (answer == TABLE_SORTED)
            sql_sort(sql);
        used = answer != TABLE_IGNORED;
        if (answer == TABLE_FOLLOW)
            follow(sql, exploration);
    }
    load(sql, exploration);
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
    const size_t shown = sql_columns_shown(sql, area->width);
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
        "SELECT function, count(*), sum(size) FROM v_allocation GROUP BY 1 ORDER BY 3 DESC LIMIT "
        "20",
        "SELECT name, at_peak_bytes FROM function_total JOIN function ON id = function_id ORDER BY "
        "2 DESC",
        "SELECT key, bytes FROM graph('live at peak | join type') ORDER BY 2 DESC",
    };
    area_text(area, 1, 2, theme_style(THEME_FAINT),
              "Tab completes tables and columns, and names in '…'. Examples:");
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        area_field(area, 1, 4 + (int)i, area->width - 2, theme_style(THEME_FAINT), examples[i]);
}

static void render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct sql *sql = view;
    (void)exploration;
    const struct area rows = area_part(area, 0, 2, area->width, area->height - 2);
    const char *text = sql->wanted.request.text;
    area_field(area, 1, 0, area->width - 2, theme_style(*text ? THEME_STRONG : THEME_FAINT),
               *text ? text : "Enter types a statement; it only reads");
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

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct sql *sql = view;
    const struct table_source source = sql_source_of_all(sql);
    (void)exploration;
    if (sql->table.selected >= source.rows)
        return false;
    table_copy(&source, sql->table.selected, out);
    return true;
}

static bool table(void *view, struct exploration *exploration, FILE *out, enum table_format format)
{
    const struct table_source source = sql_source_of_all(view);
    (void)exploration;
    table_write(&source, out, format);
    return source.rows > 0;
}

static const struct key_binding keys[] = {
    {.keys = {'g'},
     .action = ACTION_GOTO,
     .footer = "statement",
     .description = "type a statement; Tab completes tables and columns, Up brings the last back"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "follow",
     .description =
         "the allocation, or those of the stack, that the row names; without rows: type"},
    {.keys = {KEYCODE_LEFT}, .action = ACTION_LEFT, .description = "to the columns on the left"},
    {.keys = {KEYCODE_RIGHT}, .action = ACTION_RIGHT, .description = "to the columns on the right"},
};

const struct view_ops sql_view = {
    .name = "sql",
    .title = "SQL",
    .asks = "SQL:",
    .asks_first = true,
    .help = "One statement at a time, on the tables and views of the session, and on "
            "graph('FILTER'). It only reads. w makes a set of a column of ids.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = sql_offers,
    .copy = copy,
    .table = table,
};
