/* SPDX-License-Identifier: BSD-2-Clause */
/* The definitions of the tables that belong to a session's user (schemas/session.sql), without
 * comments and needless blanks. A session from elsewhere may define them in other ways, with
 * expressions that take hours to compute: programs use only tables with exactly these
 * definitions. */
#pragma once

#include <stdbool.h>

#define USER_TABLE_GRAPH                                                                           \
    "CREATE TABLE named_graph(name TEXT PRIMARY KEY,text TEXT NOT NULL,changed INTEGER NOT NULL)"  \
    "WITHOUT ROWID"
#define USER_TABLE_SETTING                                                                         \
    "CREATE TABLE setting(key TEXT NOT NULL,value TEXT NOT NULL,PRIMARY KEY(key,value))"           \
    "WITHOUT ROWID"

/* Gives a row if there is a table of that name: its definition, and the number of indexes that
 * somebody added. These may compute expressions, too. */
#define USER_TABLE_QUERY(table)                                                                    \
    "SELECT sql, (SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"     \
    " AND tbl_name = '" table "' COLLATE NOCASE) FROM sqlite_schema"                               \
    " WHERE type = 'table' AND name = '" table "'"

static inline bool user_table_mark(char character)
{
    return character == '(' || character == ')' || character == ',' || character == '\0';
}

/* Returns true if `sql` is the definition, apart from comments and blanks. */
static inline bool user_table_is(const char *sql, const char *definition)
{
    char last = '\0';
    bool blank = false;
    while (*sql) {
        if (sql[0] == '-' && sql[1] == '-') {
            while (*sql && *sql != '\n')
                sql++;
            blank = true;
        } else if (*sql == ' ' || *sql == '\n' || *sql == '\t' || *sql == '\r') {
            sql++;
            blank = true;
        } else {
            if (blank && !user_table_mark(last) && !user_table_mark(*sql) && *definition++ != ' ')
                return false;
            if (*definition++ != *sql)
                return false;
            blank = false;
            last = *sql++;
        }
    }
    return *definition == '\0';
}

/* The limits of what a user stores. Readers skip longer rows and further rows, so that a session
 * from elsewhere cannot cost more. */
#define USER_GRAPH_NAME_MAX 64u /* bytes, as the next ones */
#define USER_GRAPH_TEXT_MAX 65536u
#define USER_SETTING_MAX 256u
#define USER_ROWS_MAX 1000u /* of one table */
/* The steps of SQLite's virtual machine for one look at these tables. */
#define USER_STEPS_MAX 2000000
