/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sqlite/graph_table.h"

#include <sqlite3ext.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "session/groups.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "graph_table_sql.h"

SQLITE_EXTENSION_INIT1

/* ---- the session ------------------------------------------------------------------------ */

/* The session that is open as `main`, opened a second time by the session library. It stays open
 * from the first question to the end of the connection, because the kernel drops the locks that a
 * process has on a file when it closes any descriptor of the file. If the file has changed, the
 * next question opens it again; results of earlier ones keep the old state. */

/* One state of the file. Each result that was made from it is a user. */
struct opened {
    struct session *session;
    struct stat about;
    unsigned users;
};

static bool is_present(const struct opened *opened, const struct stat *now)
{
    const struct stat *then = &opened->about;
    return then->st_dev == now->st_dev && then->st_ino == now->st_ino &&
           then->st_size == now->st_size && then->st_mtim.tv_sec == now->st_mtim.tv_sec &&
           then->st_mtim.tv_nsec == now->st_mtim.tv_nsec && !session_has_newer(opened->session);
}

static struct opened *open_file(const char *path, const struct stat *about,
                                struct session_error *error)
{
    struct opened *opened = malloc(sizeof(*opened));
    if (!opened)
        return session_fail_memory_null(error, "the session");
    *opened = (struct opened){.about = *about, .users = 1};
    opened->session = session_open(path, error);
    if (opened->session)
        return opened;
    free(opened);
    return NULL;
}

/* Takes a user away. The last one closes the session. NULL is allowed. */
static void opened_drop(struct opened *opened)
{
    if (!opened || --opened->users > 0)
        return;
    session_close(opened->session);
    free(opened);
}

/* Opens `path`, unless `*current` has its present state already, and adds a user. NULL or "": the
 * database has no file. Returns NULL with `error` set. */
static struct opened *opened_take(struct opened **current, const char *path,
                                  struct session_error *error)
{
    struct stat now = {.st_ino = 0};
    if (!path || !*path)
        return session_fail_null(
            error, 0, "the database has no file: open a session made by mprof-ingest, as main");
    if (stat(path, &now) != 0 || !*current || !is_present(*current, &now)) {
        struct opened *opened = open_file(path, &now, error);
        if (!opened)
            return NULL;
        opened_drop(*current);
        *current = opened;
    }
    (*current)->users++;
    return *current;
}

/* The data that both virtual tables of one connection share. */
struct connection {
    sqlite3 *database;
    struct session *session; /* that the program has opened; NULL: `opened` */
    struct opened *opened;
    unsigned users; /* modules of SQLite, and the caller who makes them */
};

/* Takes a user away. The last one frees it. */
static void connection_drop(void *context)
{
    struct connection *connection = context;
    if (--connection->users > 0)
        return;
    opened_drop(connection->opened);
    free(connection);
}

/* Returns true if sqlite3_interrupt() has been called since the statement began that runs now:
 * SQLite refuses each new one then. sqlite3_is_interrupted() came with 3.41. */
static bool is_interrupted(void *database)
{
    return sqlite3_exec(database, "SELECT 1", NULL, NULL, NULL) == SQLITE_INTERRUPT;
}

/* Returns SQLite's code for a question that failed: SQLITE_INTERRUPT, or SQLITE_ERROR. */
static int connection_failed(const struct connection *connection)
{
    const struct opened *opened = connection->opened;
    if (!opened || !scan_cancelled(opened->session))
        return SQLITE_ERROR;
    scan_cancel(opened->session, false);
    return SQLITE_INTERRUPT;
}

/* Returns the session in its present state, NULL with `error` set. `*opened` gets a user that the
 * caller drops; NULL if the program has opened the session. The session's questions end when the
 * statement is interrupted; the program's own session has other cancels. */
static struct session *connection_session(struct connection *connection, struct opened **opened,
                                          struct session_error *error)
{
    *opened = NULL;
    if (connection->session)
        return connection->session;
    *opened =
        opened_take(&connection->opened, sqlite3_db_filename(connection->database, "main"), error);
    if (!*opened)
        return NULL;
    scan_cancel((*opened)->session, false);
    scan_ask((*opened)->session, is_interrupted, connection->database);
    return (*opened)->session;
}

/* ---- columns ---------------------------------------------------------------------------- */

/* A result and the row that SQLite reads. */
struct graph_row {
    struct session *session;
    struct graph_result *result;
    uint64_t row, rows; /* the row from 0, and their number */
    bool read;          /* `allocation` is that of `row` */
    struct session_allocation allocation;
    uint32_t site_stack; /* `site` is the call site of this stack; 0: of none */
    struct session_frame site;
};

enum {
    KEYS = 4,
    COLUMN_RESULT = 0,
    COLUMN_ROW,
    COLUMN_WARNING,
    COLUMN_KEY,
    COLUMN_KEY_1,
    COLUMN_MEASURE = COLUMN_KEY_1 + KEYS, /* in the order of enum session_group_measure */
    COLUMN_GROUP_COLOR = COLUMN_MEASURE + MEASURE_TOTAL,
    COLUMN_NAME,
    COLUMN_VALUE,
    COLUMN_UNIT,
    COLUMN_ESTIMATED,
    COLUMN_STANDARD_ERROR,
    COLUMN_PARTS,
    COLUMN_OF_ALLOCATION,
};

/* The columns of an allocation, from COLUMN_OF_ALLOCATION on. */
enum {
    OF_ID,
    OF_ADDRESS,
    OF_SIZE,
    OF_COUNT,
    OF_KIND,
    OF_ALIGNMENT,
    OF_ARENA,
    OF_THREAD,
    OF_STACK,
    OF_TYPE,
    OF_ALLOC_NS,
    OF_FREE_NS,
    OF_FREE_THREAD,
    OF_FREE_STACK,
    OF_REALLOC_OF,
    OF_LIFETIME,
    OF_FUNCTION,
    OF_FILE,
    OF_LINE,
    OF_MODULE,
    OF_TYPE_NAME,
    OF_CONFIDENCE,
    OF_THREAD_NAME,
    OF_PROCESS,
    COLUMNS_OF_ALLOCATION,
    COLUMN_TEXT = COLUMN_OF_ALLOCATION + COLUMNS_OF_ALLOCATION
};

/* Returns the number of the last column, which is hidden: the text of the graph. */
static int graph_column_text(void)
{
    return COLUMN_TEXT;
}

static uint64_t graph_rows(const struct graph_result *result)
{
    switch (graph_result_kind(result)) {
    case RESULT_ALLOCATIONS:
        return selection_count(graph_result_selection(result));
    case RESULT_GROUPS:
        return session_groups_count(graph_result_groups(result));
    case RESULT_MEASURE:
        break;
    }
    return 1;
}

static void put_number(sqlite3_context *context, uint64_t number)
{
    sqlite3_result_int64(context, (sqlite3_int64)number);
}

/* Numbers of things count from 1; 0 is null. */
static void put_id(sqlite3_context *context, uint64_t id)
{
    if (id != 0)
        put_number(context, id);
}

static void put_text(sqlite3_context *context, const char *text)
{
    if (text)
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* ---- allocations ---- */

/* Finds the frame of the call site, unless it is that of the row before. */
static void find_site(struct graph_row *row)
{
    const uint32_t stack = row->allocation.stack;
    if (stack == row->site_stack)
        return;
    row->site_stack = stack;
    row->site = (struct session_frame){.function = 0};
    const size_t place = session_stack_call_site(row->session, stack);
    struct session_frame *frames = calloc(place + 1, sizeof(*frames));
    if (frames && row->allocation.function != 0 &&
        session_stack(row->session, stack, frames, place + 1) > place)
        row->site = frames[place];
    free(frames);
}

static void put_place(struct graph_row *row, sqlite3_context *context, bool line)
{
    find_site(row);
    if (line)
        put_id(context, row->site.line);
    else if (row->site.file && *row->site.file)
        put_text(context, row->site.file);
}

static void put_freed(const struct session_allocation *allocation, sqlite3_context *context,
                      uint64_t value)
{
    if (allocation->free_ns != SESSION_LIVE)
        put_number(context, value);
}

static void put_lifetime(const struct graph_row *row, sqlite3_context *context)
{
    const struct session_allocation *a = &row->allocation;
    const uint64_t end =
        a->free_ns == SESSION_LIVE ? session_duration_ns(row->session) : a->free_ns;
    put_number(context, end - a->alloc_ns);
}

static void put_names(struct graph_row *row, sqlite3_context *context, int column)
{
    const struct session_allocation *a = &row->allocation;
    const struct names *names = &row->session->names;
    switch (column) {
    case OF_FUNCTION:
        put_text(context, a->function ? session_function_name(row->session, a->function) : NULL);
        break;
    case OF_FILE:
    case OF_LINE:
        put_place(row, context, column == OF_LINE);
        break;
    case OF_MODULE:
        put_text(context, a->function ? session_function_module(row->session, a->function) : NULL);
        break;
    case OF_TYPE_NAME:
        put_text(context, a->type ? session_type_name(row->session, a->type) : NULL);
        break;
    case OF_CONFIDENCE:
        put_text(context,
                 a->type && a->type < names->type.count ? names->confidence[a->type] : "unknown");
        break;
    case OF_THREAD_NAME:
        put_text(context, session_thread_name(row->session, a->thread));
        break;
    default:
        put_id(context, a->thread < names->thread.count ? names->thread_process[a->thread] : 0);
        break;
    }
}

/* Gives the column OF_… of the allocation. Returns false with `error` set. */
static bool put_allocation(struct graph_row *row, sqlite3_context *context, int column,
                           struct session_error *error)
{
    struct session_allocation *a = &row->allocation;
    if (!row->read && !selection_row(graph_result_selection(row->result), row->row, a))
        return session_fail(error, 0, "%s: row %llu cannot be read; ingest the trace again",
                            session_path(row->session), (unsigned long long)row->row + 1);
    row->read = true;
    const uint64_t plain[] = {[OF_ID] = a->id,
                              [OF_ADDRESS] = a->address,
                              [OF_SIZE] = a->size,
                              [OF_COUNT] = a->count,
                              [OF_ALIGNMENT] = a->alignment,
                              [OF_ARENA] = a->arena,
                              [OF_THREAD] = a->thread,
                              [OF_STACK] = a->stack,
                              [OF_TYPE] = a->type,
                              [OF_ALLOC_NS] = a->alloc_ns};
    switch (column) {
    case OF_KIND:
        put_text(context, session_kind_name(row->session, a->kind));
        break;
    case OF_FREE_NS:
        put_freed(a, context, a->free_ns);
        break;
    case OF_FREE_THREAD:
        put_freed(a, context, a->free_thread);
        break;
    case OF_FREE_STACK:
        put_freed(a, context, a->free_stack);
        break;
    case OF_REALLOC_OF:
        put_id(context, a->realloc_of);
        break;
    case OF_LIFETIME:
        put_lifetime(row, context);
        break;
    default:
        if (column < (int)(sizeof(plain) / sizeof(*plain)))
            put_number(context, plain[column]);
        else
            put_names(row, context, column);
        break;
    }
    return true;
}

/* ---- groups ---- */

/* Gives a key as its number, or as its name where `named` is set or it has no number. */
static bool put_key(const struct session_group_set *set, size_t row, size_t key, bool named,
                    sqlite3_context *context)
{
    const struct session_key_column *columns;
    const size_t keys = session_groups_keys(set, &columns);
    const struct session_group_key value = session_group_key(set, row, key);
    if (key >= keys || value.is_null)
        return true;
    if (!named && columns[key].type != KEY_TEXT && columns[key].type != KEY_PATH) {
        put_number(context, value.id);
        return true;
    }
    char *text = session_group_key_whole(set, row, key);
    if (!text)
        return false;
    sqlite3_result_text64(context, text, strlen(text), free, SQLITE_UTF8);
    return true;
}

/* The columns of an allocation that hold a joined field, too. A join by another field is refused,
 * or the field has no column. */
static const struct {
    const char *field;
    bool named; /* the column has the name, not the id */
} joined[COLUMNS_OF_ALLOCATION] = {
    [OF_SIZE] = {"size", false},
    [OF_COUNT] = {"count", false},
    [OF_KIND] = {"kind", false},
    [OF_ARENA] = {"arena", false},
    [OF_THREAD] = {"thread", false},
    [OF_STACK] = {"stack", false},
    [OF_FREE_THREAD] = {"free_thread", false},
    [OF_FREE_STACK] = {"free_stack", false},
    [OF_FUNCTION] = {"function", false},
    [OF_FILE] = {"file", false},
    [OF_LINE] = {"line", false},
    [OF_MODULE] = {"module", false},
    [OF_TYPE_NAME] = {"type", false},
    [OF_CONFIDENCE] = {"confidence", false},
    [OF_THREAD_NAME] = {"thread", true},
    [OF_PROCESS] = {"process", false},
};

/* Gives the column OF_… of a group whose allocations were joined by it. */
static bool put_joined(const struct session_group_set *set, size_t row, int column,
                       sqlite3_context *context)
{
    const struct session_key_column *columns;
    const size_t keys = session_groups_keys(set, &columns);
    for (size_t key = 0; joined[column].field && key < keys; key++)
        if (strcmp(columns[key].name, joined[column].field) == 0)
            return put_key(set, row, key, joined[column].named, context);
    return true;
}

/* Gives all keys as one text, with " | " between them. */
static bool put_keys(const struct session_group_set *set, size_t row, sqlite3_context *context)
{
    const struct session_key_column *columns;
    const size_t keys = session_groups_keys(set, &columns);
    static const char between[] = " | ";
    size_t length = 0, used = 0;
    for (size_t key = 0; key < keys; key++)
        length += session_group_key_text(set, row, key, (char[1]){0}, 1) + sizeof(between) - 1;
    char *text = malloc(length + 1);
    if (!text)
        return false;
    for (size_t key = 0; key < keys; key++) {
        if (key > 0) {
            memcpy(text + used, between, sizeof(between));
            used += sizeof(between) - 1;
        }
        used += session_group_key_text(set, row, key, text + used, length + 1 - used);
    }
    sqlite3_result_text64(context, text, used, free, SQLITE_UTF8);
    return true;
}

static bool put_group(struct graph_row *row, sqlite3_context *context, int column,
                      struct session_error *error)
{
    struct session_group_set *set = graph_result_groups(row->result);
    const size_t n = (size_t)row->row;
    uint64_t value;
    if (column == COLUMN_KEY)
        return put_keys(set, n, context) || session_fail_memory(error, "a key");
    if (column < COLUMN_MEASURE)
        return put_key(set, n, (size_t)(column - COLUMN_KEY_1), false, context) ||
               session_fail_memory(error, "a key");
    if (column >= COLUMN_OF_ALLOCATION)
        return put_joined(set, n, column - COLUMN_OF_ALLOCATION, context) ||
               session_fail_memory(error, "a key");
    if (column == COLUMN_GROUP_COLOR) {
        if (session_group_color(set, n) >= 0)
            sqlite3_result_int(context, session_group_color(set, n));
        return true;
    }
    if (!session_group_value(set, n, (enum session_group_measure)(column - COLUMN_MEASURE), &value,
                             error))
        return false;
    put_number(context, value);
    return true;
}

/* ---- measures ---- */

static void put_parts(const struct session_measure *measure, sqlite3_context *context)
{
    char text[512] = "{";
    size_t used = 1;
    for (size_t i = 0; i < measure->part_count; i++)
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s\"%s\":%llu", i > 0 ? "," : "",
                             measure->part[i].name, (unsigned long long)measure->part[i].value);
    snprintf(text + used, sizeof(text) - used, "}");
    put_text(context, text);
}

static void put_value(const struct session_measure *measure, sqlite3_context *context)
{
    if (measure->is_null)
        return;
    const sqlite3_int64 value = (sqlite3_int64)measure->value;
    sqlite3_result_int64(context, measure->negative ? -value : value);
}

static void put_measure(const struct session_measure *measure, sqlite3_context *context, int column)
{
    static const char *const units[] = {[UNIT_NUMBER] = "number",
                                        [UNIT_BYTES] = "bytes",
                                        [UNIT_DURATION] = "ns",
                                        [UNIT_MOMENT] = "ns since the trace began"};
    switch (column) {
    case COLUMN_NAME:
        put_text(context, measure->name);
        break;
    case COLUMN_VALUE:
        put_value(measure, context);
        break;
    case COLUMN_UNIT:
        put_text(context, units[measure->unit]);
        break;
    case COLUMN_ESTIMATED:
        sqlite3_result_int(context, measure->estimated);
        break;
    case COLUMN_STANDARD_ERROR:
        if (measure->standard_error >= 0)
            sqlite3_result_double(context, measure->standard_error);
        break;
    default:
        if (measure->part_count > 0)
            put_parts(measure, context);
        break;
    }
}

/* ---- all ---- */

/* Returns the warnings of a result as lines, malloc()ed; NULL: there are none, or no memory. */
static char *graph_warnings(const struct graph_result *result)
{
    const struct session_warning *warnings;
    const size_t count = graph_result_warnings(result, &warnings);
    const size_t size = count * (sizeof(warnings->message) + 32) + 1;
    char *text = count == 0 ? NULL : malloc(size);
    for (size_t i = 0, used = 0; text && i < count; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s", i > 0 ? "\n" : "");
        if (warnings[i].column > 0)
            used += (size_t)snprintf(text + used, size - used, "column %d: ", warnings[i].column);
        used += (size_t)snprintf(text + used, size - used, "%s", warnings[i].message);
    }
    return text;
}

/* Gives one column of the row to SQLite, but not the text of the graph. False with `error` set. */
static bool graph_column(struct graph_row *row, sqlite3_context *context, int column,
                         struct session_error *error)
{
    static const char *const names[] = {[RESULT_ALLOCATIONS] = "allocation",
                                        [RESULT_GROUPS] = "group",
                                        [RESULT_MEASURE] = "measure"};
    const enum graph_result_kind kind = graph_result_kind(row->result);
    if (column == COLUMN_RESULT)
        put_text(context, names[kind]);
    else if (column == COLUMN_ROW)
        put_number(context, row->row + 1);
    else if (column == COLUMN_WARNING)
        sqlite3_result_text(context, graph_warnings(row->result), -1, free);
    else if (column >= COLUMN_OF_ALLOCATION && kind == RESULT_ALLOCATIONS)
        return put_allocation(row, context, column - COLUMN_OF_ALLOCATION, error);
    else if (column == COLUMN_ESTIMATED && kind != RESULT_MEASURE)
        sqlite3_result_int(context, kind == RESULT_GROUPS && session_sampled(row->session));
    else if (column >= COLUMN_NAME && kind == RESULT_MEASURE)
        put_measure(graph_result_measure(row->result), context, column);
    else if (kind == RESULT_GROUPS && (column < COLUMN_NAME || column >= COLUMN_OF_ALLOCATION))
        return put_group(row, context, column, error);
    return true;
}

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
    return connect_to(context, false, table);
}

static int connect_warning(sqlite3 *database, void *context, int count, const char *const *words,
                           sqlite3_vtab **table, char **message)
{
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
    if (!(cursor->text = strdup((const char *)text)))
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

static int add_module(struct connection *connection, const char *name, const sqlite3_module *module)
{
    connection->users++;
    /* A call that fails drops the user. */
    return sqlite3_create_module_v2(connection->database, name, module, connection,
                                    connection_drop);
}

int graph_table_register(sqlite3 *database, struct session *session)
{
    static const sqlite3_module graph = GRAPH_MODULE(connect_graph);
    static const sqlite3_module warning = GRAPH_MODULE(connect_warning);
    struct connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return SQLITE_NOMEM;
    *connection = (struct connection){.database = database, .session = session, .users = 1};
    int status = add_module(connection, "graph", &graph);
    if (status == SQLITE_OK)
        status = add_module(connection, "graph_warning", &warning);
    connection_drop(connection);
    return status;
}

#ifndef SQLITE_CORE
/* The entry point of mprof_sqlite.so. SQLite derives its name from that of the file. */
__attribute__((visibility("default"))) int
sqlite3_mprofsqlite_init(sqlite3 *database, char **message, const sqlite3_api_routines *api);

int sqlite3_mprofsqlite_init(sqlite3 *database, char **message, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api)
    const int status = graph_table_register(database, NULL);
    /* The session library has threads of its own: its code must stay loaded. */
    return status == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : status;
}
#endif
