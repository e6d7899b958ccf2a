/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a statement of the user and reads its rows. */
#include "session/sql.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/scan/scan.h"
#include "session/sql/sql_connection.h"
#include "session/sql/table.h"

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
