/* SPDX-License-Identifier: BSD-2-Clause */
/* The words that fit at a place of a statement: tables, columns and keywords. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/sql.h"
#include "session/sql/sql_connection.h"
#include "table_names_sql.h"

enum { NAME_SIZE = 128, TABLES_MOST = 256, NAMED_MOST = 16 };

/* A table that the statement names. */
struct named {
    char table[NAME_SIZE], alias[NAME_SIZE];
};

struct words {
    sqlite3 *database;
    char tables[TABLES_MOST][NAME_SIZE];
    size_t table_count;
    struct named named[NAMED_MOST];
    size_t named_count;
    session_visit_word *visit;
    void *context;
};

/* ---- the text --------------------------------------------------------------------------- */

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Copies the next name or other character of a statement. Skips strings. Returns the rest, NULL at
 * the end. */
static const char *next_token(const char *text, char out[NAME_SIZE])
{
    size_t used = 0;
    while (isspace((unsigned char)*text))
        text++;
    if (*text == '\'') {
        const char *end = strchr(text + 1, '\'');
        memcpy(out, "'", 2);
        return end ? end + 1 : NULL;
    }
    if (!*text)
        return NULL;
    do {
        if (used + 1 < NAME_SIZE)
            out[used++] = *text;
        text++;
    } while (in_name(out[0]) && in_name(*text));
    out[used] = 0;
    return text;
}

static bool is_table(const struct words *words, const char *name)
{
    for (size_t i = 0; i < words->table_count; i++)
        if (sqlite3_stricmp(words->tables[i], name) == 0)
            return true;
    return false;
}

/* Returns true if a keyword begins (1) or ends (-1) a list of tables. */
static int table_list(const char *token)
{
    static const char *const begin[] = {"from", "join"};
    static const char *const end[] = {"select", "where",  "on",    "using", "group",
                                      "order",  "having", "limit", "union"};
    for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
        if (sqlite3_stricmp(token, begin[i]) == 0)
            return 1;
    for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++)
        if (sqlite3_stricmp(token, end[i]) == 0)
            return -1;
    return 0;
}

/* Finds the tables that the statement names, and their aliases: the name after a table and its
 * arguments, unless it is a keyword. */
static void find_named(struct words *words, const char *text)
{
    char token[NAME_SIZE];
    struct named *last = NULL; /* its alias may come */
    bool in_list = false;
    int depth = 0;
    while ((text = next_token(text, token))) {
        const int change = table_list(token);
        if (change != 0) {
            in_list = change > 0;
            last = NULL;
        } else if (last && (*token == '(' || *token == ')')) {
            depth += *token == '(' ? 1 : -1;
        } else if (last && depth == 0 && in_name(*token)) {
            if (!sqlite3_keyword_check(token, (int)strlen(token)))
                memcpy(last->alias, token, sizeof(token));
        } else if (*token == ',') {
            last = NULL;
        } else if (in_list && !last && is_table(words, token) && words->named_count < NAMED_MOST) {
            last = &words->named[words->named_count++];
            memcpy(last->table, token, sizeof(token));
            depth = 0;
        }
    }
}

/* ---- the words -------------------------------------------------------------------------- */

/* Calls `take` for each row of a statement with the text of its first column. */
static void each_name(struct words *words, const char *sql, const char *argument,
                      bool (*take)(struct words *words, const char *name))
{
    sqlite3_stmt *statement = NULL;
    bool more = sqlite3_prepare_v2(words->database, sql, -1, &statement, NULL) == SQLITE_OK;
    if (more && argument)
        sqlite3_bind_text(statement, 1, argument, -1, SQLITE_STATIC);
    while (more && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        more = !name || take(words, name);
    }
    sqlite3_finalize(statement);
}

static bool take_table(struct words *words, const char *name)
{
    if (strlen(name) < NAME_SIZE)
        memcpy(words->tables[words->table_count++], name, strlen(name) + 1);
    return words->table_count < TABLES_MOST;
}

static bool take_column(struct words *words, const char *name)
{
    return words->visit(words->context, name, false);
}

static void visit_columns(struct words *words, const char *table)
{
    each_name(words, "SELECT name FROM pragma_table_info(?)", table, take_column);
}

static void visit_tables(const struct words *words)
{
    for (size_t i = 0; i < words->table_count; i++)
        if (!words->visit(words->context, words->tables[i], false))
            return;
}

static void visit_keywords(const struct words *words)
{
    char word[NAME_SIZE];
    const char *name;
    int length;
    for (int i = 0; sqlite3_keyword_name(i, &name, &length) == SQLITE_OK; i++) {
        snprintf(word, sizeof(word), "%.*s", length, name);
        if (!words->visit(words->context, word, false))
            return;
    }
}

/* Visits the columns of the table or alias before a point. */
static void visit_columns_of(struct words *words, const char *name)
{
    for (size_t i = 0; i < words->named_count; i++) {
        if (sqlite3_stricmp(words->named[i].alias, name) == 0 ||
            sqlite3_stricmp(words->named[i].table, name) == 0) {
            visit_columns(words, words->named[i].table);
            return;
        }
    }
}

/* Stores the last two tokens before the word at `at`. Returns false in a string. */
static bool look_back(const char *text, size_t at, char last[NAME_SIZE], char before[NAME_SIZE])
{
    size_t end = at, quotes = 0;
    char token[NAME_SIZE];
    last[0] = before[0] = 0;
    for (size_t i = 0; i < at; i++)
        quotes += text[i] == '\'';
    while (end > 0 && in_name(text[end - 1]))
        end--;
    char *part = strndup(text, end);
    const char *rest = part;
    while (rest && (rest = next_token(rest, token))) {
        memcpy(before, last, NAME_SIZE);
        memcpy(last, token, NAME_SIZE);
    }
    free(part);
    return quotes % 2 == 0;
}

static void visit_all(struct words *words, const char *text, size_t at, bool keywords)
{
    char last[NAME_SIZE], before[NAME_SIZE];
    if (!look_back(text, at, last, before))
        return;
    each_name(words, table_names_sql, NULL, take_table);
    find_named(words, text);
    if (strcmp(last, ".") == 0) {
        visit_columns_of(words, before);
    } else if (sqlite3_stricmp(last, "from") == 0 || sqlite3_stricmp(last, "join") == 0) {
        visit_tables(words);
    } else {
        for (size_t i = 0; i < words->named_count; i++)
            visit_columns(words, words->named[i].table);
        visit_tables(words);
        if (keywords)
            visit_keywords(words);
    }
}

void session_sql_words(struct session *session, const char *text, size_t at, bool keywords,
                       session_visit_word *visit, void *context)
{
    struct session_error error;
    struct sql_connection connection;
    struct words *words = calloc(1, sizeof(*words));
    if (words && sql_connection_open(&connection, session, 0, &error)) {
        words->database = connection.database;
        words->visit = visit;
        words->context = context;
        visit_all(words, text, at, keywords);
    }
    if (words)
        sql_connection_close(&connection);
    free(words);
}
