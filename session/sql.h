/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs SQL of the user on a session, read only: one statement, whose rows come back as a table. It
 * has graph('…') and graph_warning('…') of docs/session-schema.md, on this session.
 *
 * The rules of session.h hold: the call blocks, and a cancel of the question ends it
 * (session_job_cancel()). It uses a connection of its own, so nothing that a statement does reaches
 * another question. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "session/words.h"

/* The longest text or blob that a table keeps of a value, in bytes. */
#define SESSION_VALUE_MOST 4096

enum session_value_kind { VALUE_NULL, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_BLOB };

struct session_value {
    enum session_value_kind kind;
    int64_t integer;
    double real;
    const char *text; /* TEXT: as stored, with control characters, NUL after it; BLOB: its bytes */
    size_t length;    /* bytes of `text`; a longer value is cut */
    bool cut;
};

/* Why a table ends before the last row. */
enum session_table_end { TABLE_COMPLETE, TABLE_ROWS_MOST, TABLE_BYTES_MOST };

struct session_table;

/* Runs `text`. Keeps at most `rows_most` rows, and at most 64 MiB. Returns NULL with `error` set:
 * not one statement, a statement that may write (or attach, detach, or change a setting), an error
 * of SQL, cancelled. `error->column` counts characters of `text` from 1; 0: no place is known. */
struct session_table *session_sql(struct session *session, const char *text, size_t rows_most,
                                  struct session_error *error);
void session_table_free(struct session_table *table);

size_t session_table_columns(const struct session_table *table);
size_t session_table_rows(const struct session_table *table);
enum session_table_end session_table_end(const struct session_table *table);
/* Returns the name of a column; it lives as long as the table. */
const char *session_table_title(const struct session_table *table, size_t column);
/* Returns the table of the session that a column comes from, also through a view; "" if it is
 * computed. It lives as long as the table. */
const char *session_table_origin(const struct session_table *table, size_t column);
/* Returns a value. Its text lives as long as the table. */
struct session_value session_table_value(const struct session_table *table, size_t row,
                                         size_t column);

/* Visits the words that can come at byte `at` of a statement: after FROM and JOIN the tables and
 * views; after "NAME." the columns of that table, or of the one that has this alias; elsewhere the
 * columns of the tables that the statement names, then all tables. `keywords`: SQL's keywords, too.
 * It reads the tables of the file, so it takes some milliseconds. There are no words in a string,
 * and none while another program writes to the file. */
void session_sql_words(struct session *session, const char *text, size_t at, bool keywords,
                       session_visit_word *visit, void *context);
