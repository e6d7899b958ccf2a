/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sqlite/graph_table.h"

#include <sqlite3ext.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "session/sqlite/allocation_table.h"
#include "session/sqlite/connection.h"
#include "session/sqlite/graph_columns.h"
#include "graph_table_sql.h"

SQLITE_EXTENSION_INIT3

struct table {
    sqlite3_vtab base;
    struct connection *connection;
    bool of_warnings;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct opened *opened;
    char *text;
    struct graph_row row;
};

enum { COLUMN_PLACE, COLUMN_MESSAGE, COLUMN_WARNED_TEXT };
static const char warning_columns[] =
    "CREATE TABLE graph_warning(\"column\" INTEGER, message TEXT, graph TEXT HIDDEN)";

static struct table *table_of(sqlite3_vtab *base)
{
    return (struct table *)base;
}

static struct cursor *cursor_of(sqlite3_vtab_cursor *base)
{
    return (struct cursor *)base;
}

/* Gives the error to SQLite, and returns its code. An interrupt has a message of SQLite's own. */
static int fail(sqlite3_vtab *base, const struct session_error *error)
{
    const int status = connection_failed(table_of(base)->connection);
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = NULL;
    if (status != SQLITE_INTERRUPT && error->column > 0)
        base->zErrMsg = sqlite3_mprintf("column %d: %s", error->column, error->message);
    else if (status != SQLITE_INTERRUPT)
        base->zErrMsg = sqlite3_mprintf("%s", error->message);
    return status;
}

/* ---- tables ---- */

static int connect_to(struct connection *connection, bool of_warnings, sqlite3_vtab **made)
{
    struct table *table = sqlite3_malloc(sizeof(*table));
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct table){.connection = connection, .of_warnings = of_warnings};
    *made = &table->base;
    /* No view or trigger of a file that came from elsewhere may run it. */
    sqlite3_vtab_config(connection->database, SQLITE_VTAB_DIRECTONLY);
    return sqlite3_declare_vtab(connection->database,
                                of_warnings ? warning_columns : graph_table_sql);
}

static int connect_graph(sqlite3 *database, void *context, int count, const char *const *words,
                         sqlite3_vtab **table, char **message)
{
    (void)database, (void)count, (void)words, (void)message;
    return connect_to(context, false, table);
}

static int connect_warning(sqlite3 *database, void *context, int count, const char *const *words,
                           sqlite3_vtab **table, char **message)
{
    (void)database, (void)count, (void)words, (void)message;
    return connect_to(context, true, table);
}

static int disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* The text must be known before the first row. It is slow to run, so SQLite must not repeat it. */
static int choose(sqlite3_vtab *base, sqlite3_index_info *index)
{
    const int text = table_of(base)->of_warnings ? COLUMN_WARNED_TEXT : graph_column_text();
    bool given = false;
    for (int i = 0; i < index->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &index->aConstraint[i];
        if (constraint->iColumn != text || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        given = true;
        if (!constraint->usable)
            continue;
        index->aConstraintUsage[i].argvIndex = 1;
        index->aConstraintUsage[i].omit = 1;
        index->idxNum = 1;
        break;
    }
    index->estimatedCost = 1e9;
    index->estimatedRows = 1000;
    return given && index->idxNum == 0 ? SQLITE_CONSTRAINT : SQLITE_OK;
}

/* ---- rows ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    (void)base;
    struct cursor *cursor = calloc(1, sizeof(*cursor));
    if (!cursor)
        return SQLITE_NOMEM;
    *made = &cursor->base;
    return SQLITE_OK;
}

static void clear(struct cursor *cursor)
{
    graph_result_free(cursor->row.result);
    cursor->row = (struct graph_row){.rows = 0};
    opened_drop(cursor->opened);
    cursor->opened = NULL;
    free(cursor->text);
    cursor->text = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    clear(cursor_of(base));
    free(cursor_of(base));
    return SQLITE_OK;
}

/* Writes the warnings to the log of SQLite, which `.log stderr` shows in the shell. */
static void log_warnings(const struct graph_result *result)
{
    const struct session_warning *warnings;
    const size_t count = graph_result_warnings(result, &warnings);
    for (size_t i = 0; i < count; i++)
        sqlite3_log(SQLITE_WARNING, "graph: column %d: %s", warnings[i].column,
                    warnings[i].message);
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *plan, int count,
                  sqlite3_value **values)
{
    (void)plan;
    struct cursor *cursor = cursor_of(base);
    struct table *table = table_of(base->pVtab);
    struct session_error error = {.column = 0};
    clear(cursor);
    const unsigned char *text = index == 1 && count == 1 ? sqlite3_value_text(values[0]) : NULL;
    if (!text) {
        sqlite3_snprintf((int)sizeof(error.message), error.message,
                         "graph needs the text of a filter graph: SELECT … FROM graph('all | join "
                         "type')");
        return fail(base->pVtab, &error);
    }
    cursor->text = strdup((const char *)text);
    if (!cursor->text)
        return SQLITE_NOMEM;
    cursor->row.session = connection_session(table->connection, &cursor->opened, &error);
    if (!cursor->row.session)
        return fail(base->pVtab, &error);
    cursor->row.result = graph_run(cursor->row.session, cursor->text, &error);
    if (!cursor->row.result)
        return fail(base->pVtab, &error);
    const struct session_warning *warnings;
    cursor->row.rows = table->of_warnings ? graph_result_warnings(cursor->row.result, &warnings)
                                          : graph_rows(cursor->row.result);
    if (!table->of_warnings)
        log_warnings(cursor->row.result);
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct graph_row *row = &cursor_of(base)->row;
    row->row++;
    row->read = false;
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return cursor_of(base)->row.row >= cursor_of(base)->row.rows;
}

static int column_of_warning(const struct cursor *cursor, sqlite3_context *context, int column)
{
    const struct session_warning *warnings;
    graph_result_warnings(cursor->row.result, &warnings);
    const struct session_warning *warning = &warnings[cursor->row.row];
    if (column == COLUMN_MESSAGE)
        sqlite3_result_text(context, warning->message, -1, SQLITE_TRANSIENT);
    else if (column == COLUMN_PLACE && warning->column > 0)
        sqlite3_result_int(context, warning->column);
    return SQLITE_OK;
}

static int column_of(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct cursor *cursor = cursor_of(base);
    struct session_error error = {.column = 0};
    const bool of_warnings = table_of(base->pVtab)->of_warnings;
    if (column == (of_warnings ? COLUMN_WARNED_TEXT : graph_column_text())) {
        sqlite3_result_text(context, cursor->text, -1, SQLITE_TRANSIENT);
        return SQLITE_OK;
    }
    if (of_warnings)
        return column_of_warning(cursor, context, column);
    return graph_column(&cursor->row, context, column, &error) ? SQLITE_OK
                                                               : fail(base->pVtab, &error);
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = (sqlite3_int64)cursor_of(base)->row.row + 1;
    return SQLITE_OK;
}

/* ---- modules ---- */

/* Without xCreate the tables exist in every connection and nobody can make more of them. */
#define GRAPH_MODULE(CONNECT)                                                                      \
    {                                                                                              \
        .iVersion = 0, .xConnect = (CONNECT), .xBestIndex = choose, .xDisconnect = disconnect,     \
        .xOpen = open_cursor, .xClose = close_cursor, .xFilter = filter, .xNext = next,            \
        .xEof = at_end, .xColumn = column_of, .xRowid = row_id                                     \
    }

int graph_table_register(sqlite3 *database)
{
    return graph_table_register_on(database, NULL);
}

int graph_table_register_on(sqlite3 *database, struct session *session)
{
    static const sqlite3_module graph = GRAPH_MODULE(connect_graph);
    static const sqlite3_module warning = GRAPH_MODULE(connect_warning);
    struct connection *connection = connection_new(database, session);
    if (!connection)
        return SQLITE_NOMEM;
    int status = connection_add(connection, "graph", &graph);
    if (status == SQLITE_OK)
        status = connection_add(connection, "graph_warning", &warning);
    if (status == SQLITE_OK)
        status = allocation_table_add(connection);
    connection_drop(connection);
    return status;
}
