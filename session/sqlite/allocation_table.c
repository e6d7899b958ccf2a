/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sqlite/allocation_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/sqlite/allocation_rows.h"
#include "session/sqlite/connection.h"
#include "allocation_table_sql.h"

SQLITE_EXTENSION_INIT3

/* sqlite3_vtab_distinct() and sqlite3_vtab_in() came with 3.38. */
#define HAS_HINTS (SQLITE_VERSION_NUMBER >= 3038000)

struct table {
    sqlite3_vtab base;
    struct connection *connection;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct opened *opened;
    struct session *session;
    struct allocation_columns *columns; /* of the session */
    struct allocation_rows *rows;
};

static struct cursor *cursor_of(sqlite3_vtab_cursor *base)
{
    return (struct cursor *)base;
}

/* An interrupt has a message of SQLite's own. */
static int fail(sqlite3_vtab *base, const struct session_error *error)
{
    const int status = connection_failed(((struct table *)base)->connection);
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = status == SQLITE_INTERRUPT ? NULL : sqlite3_mprintf("%s", error->message);
    return status;
}

static int connect(sqlite3 *database, void *context, int count, const char *const *words,
                   sqlite3_vtab **made, char **message)
{
    (void)count, (void)words, (void)message;
    struct table *table = sqlite3_malloc(sizeof(*table));
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct table){.connection = context};
    *made = &table->base;
    /* No view or trigger of a file that came from elsewhere may run it. */
    sqlite3_vtab_config(database, SQLITE_VTAB_DIRECTONLY);
    return sqlite3_declare_vtab(database, allocation_table_sql);
}

static int disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* ---- plans ------------------------------------------------------------------------------ */

/*
 * A plan is a text. It has two letters for each value that filter() gets, the column and the test;
 * after a '/' two for each column of the order; after the second one the columns that are read, as
 * a hexadecimal number. The letter of a column is 'A' plus its number.
 */
enum { PLAN_MOST = 2 * 32 + 2 * 4 + 24, TESTS_MOST = 32 };

static const struct {
    unsigned char constraint;
    char letter;
    enum allocation_test_how how;
    double part; /* of the rows that pass, about */
} tests[] = {
    {SQLITE_INDEX_CONSTRAINT_EQ, '=', TEST_EQUAL, 0.01},
    {SQLITE_INDEX_CONSTRAINT_LT, '<', TEST_LESS, 0.3},
    {SQLITE_INDEX_CONSTRAINT_LE, 'l', TEST_LESS_EQUAL, 0.3},
    {SQLITE_INDEX_CONSTRAINT_GT, '>', TEST_MORE, 0.3},
    {SQLITE_INDEX_CONSTRAINT_GE, 'g', TEST_MORE_EQUAL, 0.3},
    {SQLITE_INDEX_CONSTRAINT_LIKE, '~', TEST_LIKE, 0.1},
    {SQLITE_INDEX_CONSTRAINT_GLOB, '*', TEST_GLOB, 0.1},
    {SQLITE_INDEX_CONSTRAINT_ISNULL, '0', TEST_NULL, 0.1},
    {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, '1', TEST_NOT_NULL, 0.9},
};
enum { TESTS = sizeof(tests) / sizeof(*tests), NO_TEST = -1 };

static int test_of_constraint(unsigned char constraint)
{
    for (int i = 0; i < TESTS; i++) {
        if (tests[i].constraint == constraint)
            return i;
    }
    return NO_TEST;
}

static int test_of_letter(char letter)
{
    for (int i = 0; i < TESTS; i++) {
        if (tests[i].letter == letter)
            return i;
    }
    return NO_TEST;
}

/* Returns true if texts are compared as they are. */
static bool is_plain(sqlite3_index_info *index, int i)
{
    const char *collation = sqlite3_vtab_collation(index, i);
    return !collation || sqlite3_stricmp(collation, "BINARY") == 0;
}

/* Plans the tests. Returns the length of the text. */
static size_t plan_tests(sqlite3_index_info *index, char *plan, double *rows)
{
    size_t length = 0;
    for (int i = 0, given = 0; i < index->nConstraint && given < TESTS_MOST; i++) {
        const struct sqlite3_index_constraint *constraint = &index->aConstraint[i];
        const int test = test_of_constraint(constraint->op);
        if (test == NO_TEST || !constraint->usable || constraint->iColumn < 0 ||
            !is_plain(index, i))
            continue;
        const bool one = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
#if HAS_HINTS
        if (one && sqlite3_libversion_number() >= 3038000)
            sqlite3_vtab_in(index, i, 1);
#endif
        index->aConstraintUsage[i].argvIndex = ++given;
        *rows *= one && constraint->iColumn == ALLOCATION_ID         ? 1e-7
                 : one && constraint->iColumn == ALLOCATION_STACK_ID ? 1e-4
                                                                     : tests[test].part;
        plan[length++] = (char)('A' + constraint->iColumn);
        plan[length++] = tests[test].letter;
    }
    return length;
}

/* Returns true if only one row of each group is of use: the query is a DISTINCT of its columns. Row
 * ids may be asked for all the same, by a test or by a right join, which remembers the rows that it
 * has met. From then on allocation_rows_id() has all rows come. */
static bool is_of_ones(sqlite3_index_info *index, int asked)
{
    sqlite3_uint64 order = 0;
    for (int i = 0; i < index->nOrderBy; i++)
        order |= (sqlite3_uint64)1 << index->aOrderBy[i].iColumn;
    return (asked == 2 || asked == 3) && (index->colUsed & ~order) == 0;
}

/* Plans the order, if the rows can come in it. Returns the length of the text. */
static size_t plan_order(sqlite3_index_info *index, char *plan)
{
    size_t length = 0;
    int asked = 0;
#if HAS_HINTS
    if (sqlite3_libversion_number() >= 3038000)
        asked = sqlite3_vtab_distinct(index);
#endif
    if (index->nOrderBy == 0 || index->nOrderBy > 4)
        return 0;
    for (int i = 0; i < index->nOrderBy; i++) {
        const int column = index->aOrderBy[i].iColumn;
        if (column < 0 || allocation_column_by(column) == BY_ROW)
            return 0;
        plan[length++] = (char)('A' + column);
        plan[length++] = index->aOrderBy[i].desc ? '-' : '+';
    }
    index->orderByConsumed = 1;
    index->idxNum = is_of_ones(index, asked);
    return length;
}

static int choose(sqlite3_vtab *base, sqlite3_index_info *index)
{
    char plan[PLAN_MOST + 1];
    const struct connection *connection = ((struct table *)base)->connection;
    const struct session *session = connection->session  ? connection->session
                                    : connection->opened ? connection->opened->session
                                                         : NULL;
    const double all = session ? (double)column_store_rows(session->columns) + 1 : 1e6;
    double rows = all;
    size_t length = plan_tests(index, plan, &rows);
    plan[length++] = '/';
    length += plan_order(index, plan + length);
    snprintf(plan + length, sizeof(plan) - length, "/%llx", (unsigned long long)index->colUsed);
    /* To test a row costs less than to give it. One batch of rows is always read. */
    index->estimatedCost = (rows < 1 ? 1e3 : all / 16 + 1e3) + rows;
    index->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    index->idxStr = sqlite3_mprintf("%s", plan);
    index->needToFreeIdxStr = 1;
    return index->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- a run of a plan -------------------------------------------------------------------- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    (void)base;
    struct cursor *cursor = calloc(1, sizeof(*cursor));
    if (!cursor)
        return SQLITE_NOMEM;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = cursor_of(base);
    allocation_rows_free(cursor->rows);
    allocation_columns_free(cursor->columns);
    opened_drop(cursor->opened);
    free(cursor);
    return SQLITE_OK;
}

/* Opens the session in its present state. The columns are kept as long as that is the same. */
static bool open_session(struct connection *connection, struct cursor *cursor,
                         struct session_error *error)
{
    struct opened *opened;
    struct session *session = connection_session(connection, &opened, error);
    allocation_rows_free(cursor->rows);
    cursor->rows = NULL;
    if (!session)
        return false;
    if (session != cursor->session) {
        allocation_columns_free(cursor->columns);
        cursor->columns = NULL;
    }
    opened_drop(cursor->opened);
    cursor->opened = opened;
    cursor->session = session;
    if (!cursor->columns)
        cursor->columns = allocation_columns_new(session, error);
    if (cursor->columns)
        cursor->rows = allocation_rows_new(session, cursor->columns, error);
    return cursor->rows != NULL;
}

/* Takes a value as it is. A number with a fraction or a blob becomes null, which no test knows. */
static struct allocation_value take_value(sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        return (struct allocation_value){.number = sqlite3_value_int64(value),
                                         .form = VALUE_NUMBER};
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_value_text(value);
        const uint32_t length = (uint32_t)sqlite3_value_bytes(value);
        /* A name ends at its first NUL. */
        if (text && strlen(text) == length)
            return (struct allocation_value){.text = text, .length = length, .form = VALUE_TEXT};
        break;
    }
    default:
        break;
    }
    return (struct allocation_value){.form = VALUE_NULL};
}

enum { LIST_MOST = 64 };

/* Copies the values of a list. A text lives only until the next one is asked for. Returns their
 * number, 0 if SQLite must test the list alone: it is long, or has other values. */
static size_t take_list(sqlite3_value *list, struct allocation_value *values, char **copies)
{
    size_t count = 0;
#if HAS_HINTS
    sqlite3_value *each = NULL;
    int status = sqlite3_vtab_in_first(list, &each);
    for (; status == SQLITE_OK && each; status = sqlite3_vtab_in_next(list, &each)) {
        if (count == LIST_MOST)
            return 0;
        values[count] = take_value(each);
        if (values[count].form == VALUE_NULL)
            return 0;
        if (values[count].form == VALUE_TEXT) {
            copies[count] = strdup(values[count].text);
            values[count].text = copies[count];
            if (!copies[count])
                return 0;
        }
        count++;
    }
#else
    (void)list, (void)values, (void)copies;
#endif
    return count;
}

/* Returns true if a value is a list. */
static bool is_list(sqlite3_value *value)
{
#if HAS_HINTS
    sqlite3_value *each = NULL;
    if (sqlite3_libversion_number() >= 3038000) {
        const int status = sqlite3_vtab_in_first(value, &each);
        return status == SQLITE_OK || status == SQLITE_DONE;
    }
#endif
    (void)value;
    return false;
}

static bool add_test(struct allocation_rows *rows, const char *plan, sqlite3_value *given,
                     struct session_error *error)
{
    struct allocation_value values[LIST_MOST];
    char *copies[LIST_MOST] = {NULL};
    struct allocation_test test = {
        .column = plan[0] - 'A', .how = tests[test_of_letter(plan[1])].how, .values = values};
    const bool list = test.how == TEST_EQUAL && is_list(given);
    if (list) {
        test.count = take_list(given, values, copies);
    } else {
        values[0] = take_value(given);
        test.count = 1;
    }
    const bool good = (list && test.count == 0) || allocation_rows_test(rows, &test, error);
    for (size_t i = 0; i < LIST_MOST; i++)
        free(copies[i]);
    return good;
}

static int filter(sqlite3_vtab_cursor *base, int one, const char *plan, int count,
                  sqlite3_value **values)
{
    struct cursor *cursor = cursor_of(base);
    struct session_error error = {.column = 0};
    struct allocation_order order = {.one = one != 0};
    if (!open_session(((struct table *)base->pVtab)->connection, cursor, &error))
        return fail(base->pVtab, &error);
    for (int i = 0; i < count; i++, plan += 2) {
        if (!add_test(cursor->rows, plan, values[i], &error))
            return fail(base->pVtab, &error);
    }
    for (plan++; *plan != '/'; plan += 2, order.count++) {
        order.columns[order.count] = plan[0] - 'A';
        order.descending |= (plan[1] == '-' ? 1u : 0) << order.count;
    }
    if (!allocation_rows_start(cursor->rows, strtoull(plan + 1, NULL, 16), &order, &error))
        return fail(base->pVtab, &error);
    return SQLITE_OK;
}

/* ---- rows ------------------------------------------------------------------------------- */

static int next(sqlite3_vtab_cursor *base)
{
    struct session_error error;
    return allocation_rows_next(cursor_of(base)->rows, &error) ? SQLITE_OK
                                                               : fail(base->pVtab, &error);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return allocation_rows_at_end(cursor_of(base)->rows);
}

static int column_of(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct allocation_value value;
    allocation_rows_value(cursor_of(base)->rows, column, &value);
    if (value.form == VALUE_NUMBER)
        sqlite3_result_int64(context, value.number);
    else if (value.form == VALUE_TEXT)
        sqlite3_result_text(context, value.text, (int)value.length, SQLITE_TRANSIENT);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    struct session_error error = {.column = 0};
    uint64_t stored;
    if (!allocation_rows_id(cursor_of(base)->rows, &stored, &error))
        return fail(base->pVtab, &error);
    *id = (sqlite3_int64)stored;
    return SQLITE_OK;
}

/* ---- the module ------------------------------------------------------------------------- */

int allocation_table_add(struct connection *connection)
{
    static const sqlite3_module module = {.iVersion = 0,
                                          .xCreate = connect,
                                          .xConnect = connect,
                                          .xBestIndex = choose,
                                          .xDisconnect = disconnect,
                                          .xDestroy = disconnect,
                                          .xOpen = open_cursor,
                                          .xClose = close_cursor,
                                          .xFilter = filter,
                                          .xNext = next,
                                          .xEof = at_end,
                                          .xColumn = column_of,
                                          .xRowid = row_id};
    static const char find_view[] =
        "SELECT 1 FROM main.sqlite_schema WHERE type = 'view' AND name = 'v_allocation'";
    sqlite3_stmt *view = NULL;
    const int status = connection_add(connection, "mprof_allocation", &module);
    if (status != SQLITE_OK)
        return status;
    /* A table that cannot be read now says so when it is used. */
    const bool has =
        sqlite3_prepare_v2(connection->database, find_view, -1, &view, NULL) == SQLITE_OK &&
        sqlite3_step(view) == SQLITE_ROW;
    sqlite3_finalize(view);
    if (has)
        sqlite3_exec(connection->database,
                     "CREATE VIRTUAL TABLE IF NOT EXISTS temp.v_allocation USING mprof_allocation",
                     NULL, NULL, NULL);
    return SQLITE_OK;
}
