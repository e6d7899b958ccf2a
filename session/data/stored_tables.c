/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists the tables of a session and reads their rows. */
#include "session/stored_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "stored_tables_sql.h"

enum { COLUMNS_MOST = 64 };

struct collecting {
    struct session *session;
    struct stored_table *tables;
    size_t count;
};

static enum stored_type type_of(const char *declared)
{
    if (strcmp(declared, "INTEGER") == 0)
        return STORED_INTEGER;
    return strcmp(declared, "REAL") == 0 ? STORED_REAL : STORED_TEXT;
}

/* Returns the table of a name, which is the last one or a new one. NULL with `error` set. */
static struct stored_table *last_table(struct collecting *collecting, const char *name,
                                       struct session_error *error)
{
    struct stored_table *last =
        collecting->count > 0 ? &collecting->tables[collecting->count - 1] : NULL;
    if (last && strcmp(last->name, name) == 0)
        return last;
    struct stored_table *grown =
        realloc(collecting->tables, (collecting->count + 1) * sizeof(*grown));
    if (!grown) {
        session_fail_memory(error, "the list of tables");
        return NULL;
    }
    collecting->tables = grown;
    last = &grown[collecting->count];
    *last = (struct stored_table){.name = names_keep(&collecting->session->names, name, error)};
    if (!last->name)
        return NULL;
    collecting->count++;
    return last;
}

/* Adds a column to its table. */
static bool add_column(void *context, const struct database_row *row, struct session_error *error)
{
    struct collecting *collecting = context;
    const char *declared = database_text(row, 2);
    struct stored_table *table = last_table(collecting, database_text(row, 0), error);
    if (!table)
        return false;
    if (table->count == COLUMNS_MOST)
        return session_fail(error, 0, "%s: table %.60s has too many columns",
                            session_path(collecting->session), table->name);
    struct stored_column *grown = realloc(table->columns, (table->count + 1) * sizeof(*grown));
    if (!grown)
        return session_fail_memory(error, "the list of tables");
    table->columns = grown;
    const char *name = names_keep(&collecting->session->names, database_text(row, 1), error);
    grown[table->count++] =
        (struct stored_column){name, type_of(declared ? declared : ""),
                               database_number(row, 3) != 0, database_number(row, 4) != 0};
    return name != NULL;
}

bool session_stored_tables(struct session *session, struct stored_table **tables, size_t *count,
                           struct session_error *error)
{
    struct collecting collecting = {.session = session};
    const bool good =
        database_each(session->database, stored_tables_sql, add_column, &collecting, error);
    *tables = collecting.tables;
    *count = collecting.count;
    if (!good) {
        session_stored_tables_free(*tables, *count);
        *tables = NULL;
        *count = 0;
    }
    return good;
}

void session_stored_tables_free(struct stored_table *tables, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(tables[i].columns);
    free(tables);
}

/* ---- rows ---- */

struct reading {
    const struct stored_table *table;
    stored_row_visitor *visit;
    void *context;
};

static bool read_row(void *context, const struct database_row *row, struct session_error *error)
{
    const struct reading *reading = context;
    const char *values[COLUMNS_MOST];
    (void)error;
    for (size_t i = 0; i < reading->table->count; i++)
        values[i] = database_text(row, (int)i);
    return reading->visit(reading->context, values);
}

bool session_stored_rows(struct session *session, const struct stored_table *table,
                         stored_row_visitor *visit, void *context, struct session_error *error)
{
    struct reading reading = {table, visit, context};
    char sql[4096];
    size_t used = (size_t)snprintf(sql, sizeof(sql), "SELECT ");
    for (size_t i = 0; i < table->count && used < sizeof(sql); i++)
        used += (size_t)snprintf(sql + used, sizeof(sql) - used, "%s\"%s\"", i > 0 ? ", " : "",
                                 table->columns[i].name);
    if (used < sizeof(sql))
        used += (size_t)snprintf(sql + used, sizeof(sql) - used, " FROM \"%s\"", table->name);
    if (used >= sizeof(sql))
        return session_fail(error, 0, "%s: table %.60s has too many columns", session_path(session),
                            table->name);
    return database_each(session->database, sql, read_row, &reading, error);
}
