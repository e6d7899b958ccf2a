/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schemas/column_codec.h"
#include "schemas/trace_begin.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session_sql.h"
#include "virtual_tables_sql.h"

/* ---- guard ---- */

/* Instructions of SQLite's virtual machine between two looks: about half a millisecond. */
enum { GUARD_STEP = 10000 };

/* A row takes four bytes of the file or more, and a statement of the session library takes fewer
 * than 64 instructions for each row. */
enum { STEPS_LEAST = 3000, INSTRUCTIONS_PER_BYTE = 16 };

static int look(void *context)
{
    struct guard *guard = context;
    const uint64_t steps = atomic_fetch_add_explicit(&guard->steps, 1, memory_order_relaxed);
    return steps >= guard->steps_max || (guard->stop && guard->stop(guard->context));
}

static bool is_among(const char *names, const char *table)
{
    char name[80];
    if (names[0] == '*')
        return true;
    snprintf(name, sizeof(name), "/%s/", table);
    return strstr(names, name) != NULL;
}

bool guard_is_virtual(const struct guard *guard, const char *table)
{
    return is_among(guard->virtual_names, table);
}

/* Asked for each column that a statement reads. `view` names the view that reads it. */
static int authorize(void *context, int action, const char *table, const char *column,
                     const char *schema, const char *view)
{
    struct guard *guard = context;
    if (action != SQLITE_READ || !table)
        return SQLITE_OK;
    const char *refused = view ? view
                          : guard_is_virtual(guard, table) || is_among(guard->view_names, table)
                              ? table
                              : NULL;
    if (!refused)
        return SQLITE_OK;
    snprintf(guard->refused, sizeof(guard->refused), "%s", refused);
    return SQLITE_DENY;
}

/* Gives the query the text of the table allocation in the schema, as virtual_tables.sql says. */
static void bind_allocation(sqlite3_stmt *query)
{
    const char *text = strstr(session_sql, "CREATE TABLE allocation(");
    const char *number = strstr(text, "(0 + ") + 1, *end = strstr(number, "\n  address_code ");
    sqlite3_bind_text(query, 1, text, (int)(number - text), SQLITE_STATIC);
    sqlite3_bind_text(query, 2, number + 1, (int)(end - number - 1), SQLITE_STATIC);
}

char *database_view(const char *name)
{
    char begin[64];
    snprintf(begin, sizeof(begin), "CREATE VIEW %s AS", name);
    const char *text = strstr(strstr(session_sql, begin), "SELECT");
    return strndup(text, strcspn(text, ";"));
}

/* Collects the names that a statement gives. Sessions have some only by their users. */
static int find_names(sqlite3 *database, const char *sql, char *names, size_t size)
{
    sqlite3_stmt *query = NULL;
    size_t used = 1;
    int result = sqlite3_prepare_v2(database, sql, -1, &query, NULL);
    names[0] = '/';
    bind_allocation(query);
    while (result == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(query, 0);
        used += (size_t)snprintf(names + used, size - used, "%s/", name ? name : "");
        if (used >= size) {
            memcpy(names, "*", 2);
            break;
        }
    }
    const int finalized = sqlite3_finalize(query);
    return result == SQLITE_OK ? finalized : result;
}

/* Finds virtual tables and those with computed columns; and views, of which one that reads no table
 * can have rows without end and shows itself by nothing but its name. */
static int find_all_names(struct guard *guard, sqlite3 *database)
{
    const int result = find_names(database, virtual_tables_sql, guard->virtual_names,
                                  sizeof(guard->virtual_names));
    return result != SQLITE_OK
               ? result
               : find_names(database, "SELECT name FROM sqlite_schema WHERE type = 'view'",
                            guard->view_names, sizeof(guard->view_names));
}

int guard_open(struct guard *guard, sqlite3 *database, uint64_t file_size)
{
    guard->steps_max = STEPS_LEAST + file_size * INSTRUCTIONS_PER_BYTE / GUARD_STEP;
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    /* No value is longer than its file. */
    if (file_size < INT32_MAX)
        sqlite3_limit(database, SQLITE_LIMIT_LENGTH, (int)file_size + 1000000);
    sqlite3_progress_handler(database, GUARD_STEP, look, guard);
    int result = sqlite3_exec(database, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = find_all_names(guard, database);
    return result == SQLITE_OK ? sqlite3_set_authorizer(database, authorize, guard) : result;
}

static void guard_begin(struct guard *guard)
{
    atomic_store_explicit(&guard->steps, 0, memory_order_relaxed);
    guard->refused[0] = '\0';
}

/* Returns why SQLite refused or interrupted the statement, NULL if the guard did not cause it. */
static const char *guard_reason(const struct guard *guard, char *text, size_t size)
{
    if (guard->refused[0] != '\0')
        snprintf(text, size, "%s is not a table", guard->refused);
    else if (atomic_load_explicit(&guard->steps, memory_order_relaxed) > guard->steps_max)
        snprintf(text, size, "a query needs more work than the file's rows explain");
    else
        return NULL;
    return text;
}

/* ---- database ---- */

struct database {
    sqlite3 *handle;
    pthread_mutex_t blob_lock;
    const char *blob_table; /* of `blob` */
    sqlite3_blob *blob;     /* under `blob_lock`; kept open if `logged`, moved from row to row */
    struct guard guard;
    char *path;
    bool logged;     /* it has a write-ahead log: one transaction reads everything */
    bool released;   /* that transaction has ended: nothing is read any more */
    sqlite3 *watch;  /* of such a file: outside of that transaction, it sees newer states */
    int64_t version; /* that `watch` saw before the transaction began */
    dev_t device;
    ino_t inode;
};

/* Returns the sqlite3_stmt behind a row. Its own type keeps SQLite's header out of other files. */
static sqlite3_stmt *statement_of(const struct database_row *row)
{
    return (sqlite3_stmt *)(uintptr_t)row;
}

/* Returns true if a file begins as a trace. Not for a database: close() would end its locks. */
static bool is_trace(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is = trace_begins(file);
    if (file >= 0)
        close(file);
    return is;
}

static bool fail(struct database *database, struct session_error *error)
{
    char text[128];
    const char *reason = guard_reason(&database->guard, text, sizeof(text));
    if (!reason && sqlite3_errcode(database->handle) == SQLITE_INTERRUPT)
        return session_fail(error, 0, "the question was cancelled");
    /* Nothing here writes, but SQLite keeps a file of locks beside a write-ahead log. */
    const int code = sqlite3_errcode(database->handle) & 0xff;
    if (!reason && (code == SQLITE_READONLY || code == SQLITE_CANTOPEN))
        return session_fail(error, 0,
                            "%s: has a write-ahead log, and its folder cannot be written; copy the "
                            "session (and FILE-wal, if there is one) to a folder of yours",
                            database->path);
    if (!reason && code == SQLITE_NOTADB)
        return session_fail(
            error, 0,
            is_trace(database->path)
                ? "%s: is a trace, not a session; mprof-ingest makes a session of it"
                : "%s: is not a session, or its beginning is damaged; name a session "
                  "made by mprof-ingest",
            database->path);
    return session_fail(error, 0, "%s: cannot be read as a session: %s; ingest the trace again",
                        database->path, reason ? reason : sqlite3_errmsg(database->handle));
}

bool database_take_number(void *context, const struct database_row *row,
                          struct session_error *error)
{
    *(int64_t *)context = database_number(row, 0);
    return true;
}

static bool validate(struct database *database, struct session_error *error)
{
    int64_t application = 0, version = 0;
    if (!database_each(database, "PRAGMA application_id", database_take_number, &application,
                       error) ||
        !database_each(database, "PRAGMA user_version", database_take_number, &version, error))
        return false;
    if (application != SESSION_APPLICATION_ID)
        return session_fail(error, 0,
                            "%s: is not a session (application id %lld); make one from a trace "
                            "with mprof-ingest",
                            database->path, (long long)application);
    if (version != SESSION_SCHEMA_VERSION)
        return session_fail(error, 0,
                            "%s has schema version %lld, this program reads version %d; ingest "
                            "the trace again",
                            database->path, (long long)version, SESSION_SCHEMA_VERSION);
    return true;
}

/* Begins a transaction that reads the present state of the file. */
static bool begin_reading(struct database *database, struct session_error *error)
{
    int64_t tables;
    return sqlite3_exec(database->handle, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
           database_each(database, "SELECT count(*) FROM sqlite_schema", database_take_number,
                         &tables, error);
}

/* Returns a number that changes with each state of the file, -1 if it cannot be read. */
static int64_t watched_version(struct database *database)
{
    sqlite3_stmt *statement = NULL;
    int64_t version = -1;
    if (!database->watch &&
        sqlite3_open_v2(database->path, &database->watch,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX, NULL) != SQLITE_OK) {
        sqlite3_close(database->watch);
        database->watch = NULL;
        return version;
    }
    sqlite3_busy_timeout(database->watch, 3000);
    if (sqlite3_prepare_v2(database->watch, "PRAGMA data_version", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        version = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return version;
}

static bool read_mode(void *context, const struct database_row *row, struct session_error *error)
{
    const char *mode = database_text(row, 0);
    *(bool *)context = mode && strcmp(mode, "wal") == 0;
    return true;
}

/* Begins one transaction for all reads if the session may still be written. */
static bool hold(struct database *database, struct session_error *error)
{
    if (!database_each(database, "PRAGMA journal_mode", read_mode, &database->logged, error))
        return false;
    if (!database->logged)
        return true;
    database->version = watched_version(database);
    return begin_reading(database, error);
}

/* Returns the bytes of the file and of its write-ahead log, which may hold all of its rows. */
static uint64_t size_with_log(const char *path)
{
    struct stat about;
    char *log = malloc(strlen(path) + sizeof("-wal"));
    uint64_t size = stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
    if (log) {
        sprintf(log, "%s-wal", path);
        size += stat(log, &about) == 0 ? (uint64_t)about.st_size : 0;
    }
    free(log);
    return size;
}

struct database *database_open(const char *path, struct session_error *error)
{
    struct stat about;
    if (access(path, R_OK) != 0 || stat(path, &about) != 0)
        return session_fail_null(error, 0, "%s: %s; name a session made by mprof-ingest", path,
                                 strerror(errno));
    if (!S_ISREG(about.st_mode)) { /* SQLite would wait for who writes to a pipe */
        session_fail(error, 0,
                     "%s: is not a session (not a regular file); make one from a trace with "
                     "mprof-ingest",
                     path);
        return NULL;
    }
    struct database *database = calloc(1, sizeof(*database));
    if (!database || !(database->path = strdup(path))) {
        free(database);
        session_fail_memory(error, "the session");
        return NULL;
    }
    /* The file may be replaced from here on: then it has changed. */
    database->device = about.st_dev;
    database->inode = about.st_ino;
    pthread_mutex_init(&database->blob_lock, NULL);
    if (sqlite3_open_v2(path, &database->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX,
                        NULL) != SQLITE_OK) {
        fail(database, error);
        database_close(database);
        return NULL;
    }
    sqlite3_busy_timeout(database->handle, 3000);
    if (guard_open(&database->guard, database->handle, size_with_log(path)) != SQLITE_OK) {
        fail(database, error);
        database_close(database);
        return NULL;
    }
    if (!hold(database, error) || !validate(database, error)) {
        database_close(database);
        return NULL;
    }
    return database;
}

static void close_blob(struct database *database)
{
    pthread_mutex_lock(&database->blob_lock);
    sqlite3_blob_close(database->blob);
    database->blob = NULL;
    pthread_mutex_unlock(&database->blob_lock);
}

static void end_reading(struct database *database)
{
    close_blob(database); /* it would hold the transaction */
    sqlite3_exec(database->handle, "COMMIT", NULL, NULL, NULL);
}

/* Begins the transaction again if the state of the file is still the same. A state that has been
 * copied from the log into the file since needs no log: the writer can begin that again. Returns
 * false if there is a newer state. */
static bool read_again(struct database *database)
{
    struct session_error ignored;
    if (database->released || watched_version(database) != database->version)
        return false;
    end_reading(database);
    if (begin_reading(database, &ignored) && watched_version(database) == database->version)
        return true;
    database_release(database); /* it may have become the newer state */
    return false;
}

bool database_changed(struct database *database)
{
    struct stat named;
    if (stat(database->path, &named) == 0 &&
        (named.st_dev != database->device || named.st_ino != database->inode))
        return true;
    return database->logged && !read_again(database);
}

void database_release(struct database *database)
{
    if (!database->logged || database->released)
        return;
    end_reading(database);
    database->released = true;
}

/* Returns false with `error` set if the state of the file is released. */
static bool is_held(const struct database *database, struct session_error *error)
{
    return !database->released ||
           session_fail(error, 0, "%s: there is a newer state of the session", database->path);
}

void database_close(struct database *database)
{
    if (!database)
        return;
    close_blob(database);
    sqlite3_close(database->handle);
    sqlite3_close(database->watch);
    pthread_mutex_destroy(&database->blob_lock);
    free(database->path);
    free(database);
}

void database_stop_when(struct database *database, bool (*stop)(const void *context),
                        const void *context)
{
    database->guard.context = context;
    database->guard.stop = stop;
}

bool database_stopped(const struct database *database)
{
    return database->guard.stop && database->guard.stop(database->guard.context);
}

bool database_go_on(const struct database *database, struct session_error *error)
{
    return !database_stopped(database) || session_fail(error, 0, "the question was cancelled");
}

uint32_t database_direct_root(struct database *database, const char *table)
{
    char sql[128];
    struct session_error ignored;
    int64_t page = 0;
    snprintf(sql, sizeof(sql),
             "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = '%s'", table);
    if (database->logged || !database_each(database, sql, database_take_number, &page, &ignored))
        return 0;
    return page > 0 && page <= UINT32_MAX ? (uint32_t)page : 0;
}

const char *database_path(const struct database *database)
{
    return database->path;
}

const char *session_path(const struct session *session)
{
    return database_path(session->database);
}

bool database_each(struct database *database, const char *sql, database_handler *handler,
                   void *context, struct session_error *error)
{
    sqlite3_stmt *statement;
    if (!is_held(database, error))
        return false;
    guard_begin(&database->guard);
    if (sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL) != SQLITE_OK)
        return fail(database, error);
    int status;
    bool good = true;
    while (good && (status = sqlite3_step(statement)) != SQLITE_DONE)
        if (status == SQLITE_ROW)
            good = handler(context, (const struct database_row *)(uintptr_t)statement, error);
        else
            good = fail(database, error);
    sqlite3_finalize(statement);
    return good;
}

int64_t database_number(const struct database_row *row, int column)
{
    return sqlite3_column_int64(statement_of(row), column);
}

bool database_natural(const struct database *database, const struct database_row *row, int column,
                      const char *what, uint64_t *number, struct session_error *error)
{
    const int64_t value = database_number(row, column);
    *number = (uint64_t)value;
    return value >= 0 ||
           session_fail(error, 0, "%s: %s is damaged: %s is %lld; ingest the trace again",
                        database->path, what, sqlite3_column_name(statement_of(row), column),
                        (long long)value);
}

const char *database_text(const struct database_row *row, int column)
{
    return (const char *)sqlite3_column_text(statement_of(row), column);
}

const void *database_bytes(const struct database_row *row, int column, size_t *length)
{
    const void *bytes = sqlite3_column_blob(statement_of(row), column);
    *length = (size_t)sqlite3_column_bytes(statement_of(row), column);
    return *length == 0 ? "" : bytes;
}

bool database_is_null(const struct database_row *row, int column)
{
    return sqlite3_column_type(statement_of(row), column) == SQLITE_NULL;
}

struct array_copy {
    uint8_t *data;
    size_t length;
};

static bool copy_array(void *context, const struct database_row *row, struct session_error *error)
{
    struct array_copy *copy = context;
    sqlite3_stmt *statement = statement_of(row);
    const void *bytes = sqlite3_column_blob(statement, 0);
    const size_t length = (size_t)sqlite3_column_bytes(statement, 0);
    if (!bytes || copy->data)
        return true;
    if (!(copy->data = malloc(length)))
        return session_fail_memory(error, "a packed array");
    memcpy(copy->data, bytes, length);
    copy->length = length;
    return true;
}

bool database_has_table(struct database *database, const char *name, bool *has,
                        struct session_error *error)
{
    char sql[160];
    int64_t tables = 0;
    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '%s'", name);
    const bool good = database_each(database, sql, database_take_number, &tables, error);
    *has = good && tables != 0;
    return good;
}

bool database_packed_array(struct database *database, int id, uint8_t **data, size_t *length,
                           struct session_error *error)
{
    char sql[80];
    bool has;
    struct array_copy copy = {.data = NULL};
    *data = NULL;
    *length = 0;
    if (!database_has_table(database, "packed_array", &has, error))
        return false;
    snprintf(sql, sizeof(sql), "SELECT data FROM packed_array WHERE id = %d", id);
    if (!has)
        return true;
    if (!database_each(database, sql, copy_array, &copy, error)) {
        free(copy.data);
        return false;
    }
    *data = copy.data;
    *length = copy.length;
    return true;
}

bool database_chunk(struct database *database, const char *table, int64_t id, void *data,
                    size_t length, struct session_error *error)
{
    if (!is_held(database, error))
        return false;
    pthread_mutex_lock(&database->blob_lock);
    if (database->blob && strcmp(database->blob_table, table) != 0) {
        sqlite3_blob_close(database->blob);
        database->blob = NULL;
    }
    database->blob_table = table;
    int status = database->blob ? sqlite3_blob_reopen(database->blob, id)
                                : sqlite3_blob_open(database->handle, "main", table, "data", id, 0,
                                                    &database->blob);
    const bool good = status == SQLITE_OK && (size_t)sqlite3_blob_bytes(database->blob) == length &&
                      sqlite3_blob_read(database->blob, data, (int)length, 0) == SQLITE_OK;
    /* Without a write-ahead log an open blob keeps others from writing. */
    if (!good || !database->logged) {
        sqlite3_blob_close(database->blob);
        database->blob = NULL;
    }
    pthread_mutex_unlock(&database->blob_lock);
    return good ||
           session_fail(error, 0, "%s: column chunk %lld is damaged; ingest the trace again",
                        database->path, (long long)id);
}
