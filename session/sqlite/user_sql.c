/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a statement of the user and reads its rows. */
#include <ctype.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "schemas/array.h"
#include "session/session.h"
#include "session/sql.h"
#include "session/sqlite/graph_table.h"
#include "session/store/database.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "table_names_sql.h"

/* ---- rights ---- */

/* The rights of a user's statement: it may read, and nothing else. */

struct rights {
    struct session *session; /* a cancel of its questions ends the statement */
    struct guard guard;      /* against a file that somebody else has made */
    char refused[160];       /* the last thing that was refused, ""; for messages */
};

enum {
    STEP = 2000,            /* instructions of SQLite between two looks for a cancel */
    LONGEST_VALUE = 1 << 26 /* bytes */
};

static int look(void *context)
{
    const struct rights *rights = context;
    return scan_cancelled(rights->session);
}

/* Pragmas that only read. These take the name of a table or index, */
static const char *const asking[] = {"table_info", "table_xinfo", "table_list",      "index_list",
                                     "index_info", "index_xinfo", "foreign_key_list"};
/* and these nothing. */
static const char *const plain[] = {"user_version",    "application_id", "page_count",
                                    "page_size",       "encoding",       "data_version",
                                    "compile_options", "function_list",  "collation_list",
                                    "pragma_list",     "database_list",  "module_list"};

static bool is_reading(const char *pragma, const char *argument)
{
    for (size_t i = 0; i < sizeof(asking) / sizeof(asking[0]); i++)
        if (sqlite3_stricmp(pragma, asking[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (sqlite3_stricmp(pragma, plain[i]) == 0)
            return !argument;
    return false;
}

static int refuse(struct rights *rights, const char *what, const char *name)
{
    snprintf(rights->refused, sizeof(rights->refused), "%s%s%.100s", what, name ? " " : "",
             name ? name : "");
    return SQLITE_DENY;
}

/* SQLite asks for the rights of CREATE TABLE, too, when it connects to a virtual table. */
static int refuse_change(struct rights *rights)
{
    return refuse(rights, "a change of the database, or a virtual table of the file,", NULL);
}

/* Asked for everything that a statement would do, before it does it. */
static int authorize(void *context, int action, const char *first, const char *second,
                     const char *schema, const char *view)
{
    struct rights *rights = context;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        if (first && guard_is_virtual(&rights->guard, first))
            return refuse(rights, "reading the virtual table", first);
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (second && sqlite3_stricmp(second, "load_extension") == 0)
            return refuse(rights, "the function", second);
        return SQLITE_OK;
    case SQLITE_PRAGMA:
        return is_reading(first, second) ? SQLITE_OK : refuse(rights, "PRAGMA", first);
    case SQLITE_ATTACH:
        return refuse(rights, "ATTACH", first);
    case SQLITE_DETACH:
        return refuse(rights, "DETACH", first);
    case SQLITE_INSERT:
        if (first && strncmp(first, "sqlite_", 7) == 0)
            return refuse_change(rights);
        return refuse(rights, "writing to", first);
    case SQLITE_UPDATE:
        return refuse(rights, "changing", first);
    case SQLITE_DELETE:
        return refuse(rights, "deleting from", first);
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return refuse(rights, "a transaction", NULL);
    default:
        return refuse_change(rights);
    }
}

static void connect_table(sqlite3 *database, const char *prefix, const char *name)
{
    char text[80];
    sqlite3_stmt *statement = NULL;
    snprintf(text, sizeof(text), "SELECT 1 FROM %s%s", prefix, name);
    /* It may fail, because a table wants an argument. The connection exists even then. */
    sqlite3_prepare_v2(database, text, -1, &statement, NULL);
    sqlite3_finalize(statement);
}

/* Connects to the virtual tables of this program and of SQLite before the rights are in force:
 * later connections are refused. */
static void connect_own(sqlite3 *database)
{
    connect_table(database, "", "graph");
    connect_table(database, "", "graph_warning");
    connect_table(database, "", "json_each");
    connect_table(database, "", "json_tree");
    for (size_t i = 0; i < sizeof(asking) / sizeof(asking[0]); i++)
        connect_table(database, "pragma_", asking[i]);
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        connect_table(database, "pragma_", plain[i]);
}

/* Limits a connection to a file of `file_size` bytes. Returns SQLite's code. */
static int rights_open(struct rights *rights, sqlite3 *database, struct session *session,
                       uint64_t file_size)
{
    rights->session = session;
    const int result = guard_open(&rights->guard, database, file_size);
    if (result != SQLITE_OK)
        return result;
    connect_own(database);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_progress_handler(database, STEP, look, rights);
    return sqlite3_set_authorizer(database, authorize, rights);
}

/* ---- the connection ---- */

/* A connection to the file of a session on which statements of the user run. */
struct sql_connection {
    sqlite3 *database; /* NULL: not open */
    struct rights rights;
};

/* Opens a connection that only reads, with graph('…') and graph_warning('…') on the session. It
 * waits at most `wait_ms` for a program that writes to the file. Returns false with `error` set; in
 * any case the caller calls sql_connection_close(). */
static bool sql_connection_open(struct sql_connection *connection, struct session *session,
                                int wait_ms, struct session_error *error)
{
    struct stat about;
    const char *path = session_path(session);
    *connection = (struct sql_connection){.database = NULL};
    if (sqlite3_open_v2(path, &connection->database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return session_fail(error, 0, "%s: %s", path,
                            connection->database ? sqlite3_errmsg(connection->database)
                                                 : "out of memory");
    sqlite3_busy_timeout(connection->database, wait_ms);
    sqlite3_extended_result_codes(connection->database, 0);
    if (graph_table_register(connection->database, session) != SQLITE_OK ||
        rights_open(&connection->rights, connection->database, session,
                    stat(path, &about) == 0 ? (uint64_t)about.st_size : 0) != SQLITE_OK)
        return session_fail(error, 0, "%s: %s", path, sqlite3_errmsg(connection->database));
    return true;
}

static void sql_connection_close(struct sql_connection *connection)
{
    sqlite3_close(connection->database);
    connection->database = NULL;
}

/* ---- words ---- */

/* The words that fit at a place of a statement: tables, columns and keywords. */

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

/* Copies a statement's next name or character but strings. Returns the rest, NULL at the end. */
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
    each_name(words, "SELECT name FROM pragma_table_xinfo(?)", table, take_column);
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
    FREE_ALL(table->origins, table->titles, table->values, table->texts, table);
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

/* Adds the statement's present row, unless the table has `rows_most` rows or is too large: then it
 * notes this and stores true in `*full`. Returns false if memory is exhausted. */
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
