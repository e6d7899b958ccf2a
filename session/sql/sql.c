/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a statement of the user and reads its rows. */
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/scan/scan.h"
#include "session/sql.h"
#include "session/sql/sql_connection.h"

/* ---- the table of results --------------------------------------------------------------- */

#define BYTES_MOST (UINT64_C(64) << 20)

/* A value in a table. Texts lie one after another in `texts`, each with a NUL. */
struct stored {
    union {
        int64_t integer;
        double real;
        size_t text; /* its place */
    } of;
    uint16_t length;
    uint8_t kind;
    bool cut;
};

struct session_table {
    size_t columns, rows;
    enum session_table_end end;
    char **titles, **origins;
    struct stored *values; /* row * columns + column */
    size_t capacity;       /* of `values` */
    char *texts;
    size_t used, room; /* of `texts` */
};

/* Makes a table with the titles of a statement. Returns NULL if memory is exhausted. */
static struct session_table *table_new(sqlite3_stmt *statement)
{
    struct session_table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    table->columns = (size_t)sqlite3_column_count(statement);
    table->titles = calloc(table->columns + 1, sizeof(*table->titles));
    table->origins = calloc(table->columns + 1, sizeof(*table->origins));
    bool good = table->titles && table->origins;
    for (size_t i = 0; good && i < table->columns; i++) {
        const char *title = sqlite3_column_name(statement, (int)i);
        const char *origin = sqlite3_column_table_name(statement, (int)i);
        table->titles[i] = strdup(title ? title : "?");
        table->origins[i] = strdup(origin ? origin : "");
        good = table->titles[i] && table->origins[i];
    }
    if (good)
        return table;
    session_table_free(table);
    return NULL;
}

void session_table_free(struct session_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; table->titles && i < table->columns; i++)
        free(table->titles[i]);
    for (size_t i = 0; table->origins && i < table->columns; i++)
        free(table->origins[i]);
    free(table->origins);
    free(table->titles);
    free(table->values);
    free(table->texts);
    free(table);
}

/* Makes room for one more row of values and `bytes` more of texts. */
static bool grow(struct session_table *table, size_t bytes)
{
    const size_t values = (table->rows + 1) * table->columns;
    if (values > table->capacity) {
        const size_t capacity = values * 2;
        struct stored *larger = realloc(table->values, capacity * sizeof(*larger));
        if (!larger)
            return false;
        table->values = larger;
        table->capacity = capacity;
    }
    if (table->used + bytes > table->room) {
        const size_t room = (table->used + bytes) * 2;
        char *larger = realloc(table->texts, room);
        if (!larger)
            return false;
        table->texts = larger;
        table->room = room;
    }
    return true;
}

/* Cuts a text that is too long, not within a character. */
static size_t kept_length(const char *bytes, size_t length, bool is_text)
{
    if (length <= SESSION_VALUE_MOST)
        return length;
    length = SESSION_VALUE_MOST;
    while (is_text && length > 0 && ((unsigned char)bytes[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static bool store_bytes(struct session_table *table, struct stored *value, const char *bytes,
                        size_t length, bool is_text)
{
    const size_t kept = kept_length(bytes, length, is_text);
    if (!grow(table, kept + 1))
        return false;
    value->of.text = table->used;
    value->length = (uint16_t)kept;
    value->cut = kept < length;
    if (kept > 0)
        memcpy(table->texts + table->used, bytes, kept);
    table->texts[table->used + kept] = 0;
    table->used += kept + 1;
    return true;
}

static bool store_value(struct session_table *table, sqlite3_stmt *statement, int column,
                        struct stored *value)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        value->kind = VALUE_INTEGER;
        value->of.integer = sqlite3_column_int64(statement, column);
        return true;
    case SQLITE_FLOAT:
        value->kind = VALUE_REAL;
        value->of.real = sqlite3_column_double(statement, column);
        return true;
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        value->kind = VALUE_TEXT;
        return text && store_bytes(table, value, text,
                                   (size_t)sqlite3_column_bytes(statement, column), true);
    }
    case SQLITE_BLOB: {
        const char *bytes = sqlite3_column_blob(statement, column);
        value->kind = VALUE_BLOB;
        return store_bytes(table, value, bytes, (size_t)sqlite3_column_bytes(statement, column),
                           false);
    }
    default:
        value->kind = VALUE_NULL;
        return true;
    }
}

/*
 * Adds the statement's present row, unless the table has `rows_most` rows or is too large: then it
 * notes this and stores true in `*full`. Returns false if memory is exhausted.
 */
static bool table_add(struct session_table *table, sqlite3_stmt *statement, size_t rows_most,
                      bool *full)
{
    const size_t size = table->used + table->rows * table->columns * sizeof(struct stored);
    *full = table->rows >= rows_most || size >= BYTES_MOST;
    if (*full) {
        table->end = table->rows >= rows_most ? TABLE_ROWS_MOST : TABLE_BYTES_MOST;
        return true;
    }
    if (!grow(table, 0))
        return false;
    for (size_t i = 0; i < table->columns; i++) {
        struct stored value = {.kind = VALUE_NULL};
        if (!store_value(table, statement, (int)i, &value))
            return false;
        table->values[table->rows * table->columns + i] = value;
    }
    table->rows++;
    return true;
}

size_t session_table_columns(const struct session_table *table)
{
    return table->columns;
}

size_t session_table_rows(const struct session_table *table)
{
    return table->rows;
}

enum session_table_end session_table_end(const struct session_table *table)
{
    return table->end;
}

const char *session_table_title(const struct session_table *table, size_t column)
{
    return table->titles[column];
}

const char *session_table_origin(const struct session_table *table, size_t column)
{
    return table->origins[column];
}

struct session_value session_table_value(const struct session_table *table, size_t row,
                                         size_t column)
{
    const struct stored *stored = &table->values[row * table->columns + column];
    struct session_value value = {.kind = (enum session_value_kind)stored->kind, .text = ""};
    if (value.kind == VALUE_INTEGER)
        value.integer = stored->of.integer;
    if (value.kind == VALUE_REAL)
        value.real = stored->of.real;
    if (value.kind == VALUE_TEXT || value.kind == VALUE_BLOB) {
        value.text = table->texts + stored->of.text;
        value.length = stored->length;
        value.cut = stored->cut;
    }
    return value;
}

enum { WAIT_MS = 3000 }; /* for a writer of the session */

struct running {
    struct session *session;
    const char *text;
    struct sql_connection at;
};

/* Returns the column of a byte of the text: its characters before that byte, and one. */
static int column_of(const char *text, size_t offset)
{
    int column = 1;
    for (size_t i = 0; i < offset && text[i] && column < INT_MAX; i++)
        column += ((unsigned char)text[i] & 0xc0) != 0x80;
    return column;
}

/* Says what SQLite found wrong with the part of the text that begins at `part`. */
static bool fail(struct running *running, const char *part, struct session_error *error)
{
    const int offset = sqlite3_error_offset(running->at.database);
    const int column =
        offset < 0 ? 0 : column_of(running->text, (size_t)(part - running->text) + (size_t)offset);
    if (scan_cancelled(running->session))
        return session_fail(error, 0, "the question was cancelled");
    if (running->at.rights.refused[0])
        return session_fail(error, column, "%s is refused: the prompt only reads",
                            running->at.rights.refused);
    return session_fail(error, column, "%s", sqlite3_errmsg(running->at.database));
}

/* Returns true if a text has nothing but blanks, semicolons and comments from `text` on. */
static bool is_empty(struct running *running, const char *text)
{
    while (*text) {
        sqlite3_stmt *statement = NULL;
        const char *rest = NULL;
        if (sqlite3_prepare_v2(running->at.database, text, -1, &statement, &rest) != SQLITE_OK ||
            statement) {
            sqlite3_finalize(statement);
            return false;
        }
        if (rest == text)
            return true;
        text = rest;
    }
    return true;
}

/* Prepares the one statement of the text. */
static bool prepare(struct running *running, sqlite3_stmt **statement, struct session_error *error)
{
    const char *text = running->text, *rest = text;
    *statement = NULL;
    while (*text && !*statement) {
        if (sqlite3_prepare_v2(running->at.database, text, -1, statement, &rest) != SQLITE_OK)
            return fail(running, text, error);
        if (rest == text)
            break;
        text = rest;
    }
    if (!*statement)
        return session_fail(error, 0, "there is no statement: write SELECT … FROM …");
    if (!is_empty(running, rest))
        return session_fail(error, column_of(running->text, (size_t)(rest - running->text)),
                            "one statement at a time: a second one begins here");
    /* The rights have refused what would write. This is the second lock on the same door. */
    if (!sqlite3_stmt_readonly(*statement))
        return session_fail(error, 0, "the statement would write: the prompt only reads");
    return true;
}

static struct session_table *read_rows(struct running *running, sqlite3_stmt *statement,
                                       size_t rows_most, struct session_error *error)
{
    struct session_table *table = table_new(statement);
    bool good = table, full = false;
    int status = SQLITE_ROW;
    if (!good)
        session_fail_memory(error, "the table");
    while (good && !full && (status = sqlite3_step(statement)) == SQLITE_ROW) {
        good = table_add(table, statement, rows_most, &full) ||
               session_fail_memory(error, "the table");
        if (good && scan_cancelled(running->session))
            good = fail(running, running->text, error);
    }
    if (good && status != SQLITE_ROW && status != SQLITE_DONE)
        good = fail(running, running->text, error);
    if (good)
        return table;
    session_table_free(table);
    return NULL;
}

struct session_table *session_sql(struct session *session, const char *text, size_t rows_most,
                                  struct session_error *error)
{
    struct running running = {.session = session, .text = text};
    struct session_table *table = NULL;
    sqlite3_stmt *statement = NULL;
    if (sql_connection_open(&running.at, session, WAIT_MS, error) &&
        prepare(&running, &statement, error))
        table = read_rows(&running, statement, rows_most, error);
    sqlite3_finalize(statement);
    sql_connection_close(&running.at);
    return table;
}
