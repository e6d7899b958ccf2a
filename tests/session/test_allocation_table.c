/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the same queries of v_allocation twice: of the view, and of the table that takes its place
 * with the extension. Both must give the same rows. Most queries are put together by chance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "session/sqlite/allocation_groups.h"
#include "session/sqlite/allocation_rows.h"
#include "session/sqlite/graph_table.h"

#define PATH "allocation_table.db"
enum { ROWS = 3000 };

static sqlite3 *by_view, *by_table;

static void open_both(size_t allocations)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = allocations;
    options.stacks = 60;
    options.functions = 20;
    assert_true(fixture_write(PATH, &options));
    /* Names that are not there, twice there, or differ in case only; addresses with a sign. */
    assert_true(fixture_sql(
        PATH, "UPDATE type SET name = 'Node' WHERE id IN (1, 3);"
              "UPDATE type SET name = 'node', size = NULL WHERE id = 2;"
              "UPDATE thread SET name = NULL WHERE id = 2;"
              "UPDATE stack SET call_site_frame_id = NULL, function_id = NULL WHERE id % 7 = 3;"
              "UPDATE stack SET user_frame_id = call_site_frame_id WHERE id % 2 = 0;"
              "UPDATE stack SET state = 'collector' WHERE id = 9;"
              "UPDATE frame SET line = NULL WHERE id % 5 = 0;"
              /* The views do not know settings. */
              "INSERT INTO setting SELECT 'wrapper', f.name FROM stack s"
              " JOIN function f ON f.id = s.function_id WHERE s.function_id > 2"
              " GROUP BY f.name ORDER BY count(*) DESC, f.name LIMIT 1;"));
    assert_int_equal(sqlite3_open_v2(PATH, &by_view, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_open_v2(PATH, &by_table, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(graph_table_register(by_table), SQLITE_OK);
}

static int open_small(void **state)
{
    (void)state;
    open_both(ROWS);
    return 0;
}

static int open_large(void **state)
{
    (void)state;
    open_both(COLUMN_CHUNK_ROWS + 500);
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    sqlite3_close(by_view);
    sqlite3_close(by_table);
    return 0;
}

/* ---- comparing ---- */

struct answer {
    char **rows;
    size_t count, capacity;
};

static void free_answer(struct answer *answer)
{
    for (size_t i = 0; answer->rows && i < answer->count; i++)
        free(answer->rows[i]);
    free(answer->rows);
}

static struct answer ask(sqlite3 *database, const char *sql)
{
    struct answer answer = {.count = 0};
    sqlite3_stmt *query;
    int status;
    if (sqlite3_prepare_v2(database, sql, -1, &query, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    while ((status = sqlite3_step(query)) == SQLITE_ROW) {
        char row[2048] = "";
        size_t used = 0;
        for (int i = 0; i < sqlite3_column_count(query); i++) {
            const char *text = (const char *)sqlite3_column_text(query, i);
            used += (size_t)snprintf(row + used, sizeof(row) - used, "%d %s|",
                                     sqlite3_column_type(query, i), text ? text : "");
        }
        if (answer.count == answer.capacity) {
            answer.capacity = answer.capacity * 2 + 64;
            answer.rows = realloc(answer.rows, answer.capacity * sizeof(char *));
            assert_non_null(answer.rows);
        }
        answer.rows[answer.count++] = strdup(row);
    }
    if (status != SQLITE_DONE)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    sqlite3_finalize(query);
    return answer;
}

static int compare_rows(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Asks the table `sql` and the view `same`. Returns the number of rows. */
static size_t check_as(const char *sql, const char *same, bool ordered)
{
    struct answer view = ask(by_view, same), table = ask(by_table, sql);
    const size_t count = view.count;
    if (!ordered && count > 0 && table.count > 0) {
        qsort(view.rows, view.count, sizeof(char *), compare_rows);
        qsort(table.rows, table.count, sizeof(char *), compare_rows);
    }
    if (view.count != table.count)
        fail_msg("%s: %zu rows, not %zu", sql, table.count, view.count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(view.rows[i], table.rows[i]) != 0)
            fail_msg("%s: row %zu is %s, not %s", sql, i, table.rows[i], view.rows[i]);
    }
    free_answer(&view);
    free_answer(&table);
    return count;
}

static size_t check(const char *sql, bool ordered)
{
    return check_as(sql, sql, ordered);
}

/* ---- queries by chance ---- */

static uint64_t chance_state;

static unsigned chance(unsigned below)
{
    chance_state = chance_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(chance_state >> 33) % below;
}

static const char *const shared[] = {"function", "file",   "line", "module",     "owner",
                                     "user",     "type",   "kind", "confidence", "stack_id",
                                     "type_id",  "thread", "pid",  "thread_id",  "process"};
enum { SHARED = sizeof(shared) / sizeof(*shared) };

static const char *const conditions[] = {
    "size > 100",
    "size BETWEEN 16 AND 4096",
    "size = 32.0",
    "size < '200'",
    "free_ns IS NULL",
    "free_ns IS NOT NULL",
    "free_ns < 20000000",
    "id <= 65536",
    "id >= 65530",
    "id IN (5, 65536, 65537, 66000, 1000000)",
    "id < -1",
    "lifetime_ns > 10000",
    "lifetime_ns <= 500",
    "alloc_ns > 5000000 AND alloc_ns < 90000000",
    "address = (SELECT address FROM allocation WHERE id = 77)",
    "address < 0",
    "function LIKE '%a%'",
    "function NOT LIKE '%a%'",
    "function GLOB '*1*'",
    "type = 'Node'",
    "type = 'Node' COLLATE NOCASE",
    "type LIKE 'node'",
    "type IN ('Node', 'node', 'none')",
    "type IS NULL",
    "type > 'M'",
    "type IS NOT NULL AND kind <> 'malloc'",
    "stack_id IN (3, 4, 5, 6, 7)",
    "stack_id = 12",
    "stack_id = '12'",
    "line >= 40",
    "thread IS NULL",
    "thread_id = 2",
    "module = 'libc.so.6' OR size < 64",
    "owner IS NULL",
    "user = function",
    "freed_by = 'collector'",
    "kept",
    "extra_bytes > 0",
    "realloc_of IS NOT NULL",
    "arena_id = 0",
    "kind IN (SELECT name FROM kind WHERE id < 3)",
    "confidence = 'unknown'",
};
enum { CONDITIONS = sizeof(conditions) / sizeof(*conditions) };

/* Writes up to `most` columns that rows share, each at most once. */
static void write_columns(char *text, size_t size, unsigned most, const char *suffix)
{
    const unsigned first = chance(SHARED), step = 1 + chance(3), count = 1 + chance(most);
    size_t used = 0;
    for (unsigned i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s%s", i > 0 ? ", " : "",
                                 shared[(first + i * step) % SHARED], i == 0 ? suffix : "");
}

static size_t check_by_chance(void)
{
    char sql[1024], where[300] = "", columns[200];
    if (chance(4) > 0)
        snprintf(where, sizeof(where), "WHERE %s AND %s", conditions[chance(CONDITIONS)],
                 conditions[chance(CONDITIONS)]);
    switch (chance(4)) {
    case 0:
        write_columns(columns, sizeof(columns), 3, chance(2) == 0 ? " DESC" : "");
        snprintf(sql, sizeof(sql), "SELECT function FROM v_allocation %s ORDER BY function, kind",
                 where);
        check(sql, true);
        snprintf(sql, sizeof(sql),
                 "SELECT count(*), sum(n) FROM (SELECT id AS n FROM v_allocation %s ORDER BY %s)",
                 where, columns);
        return check(sql, true);
    case 1:
        write_columns(columns, sizeof(columns), 4, "");
        snprintf(sql, sizeof(sql), "SELECT DISTINCT %s FROM v_allocation %s", columns, where);
        break;
    case 2:
        snprintf(sql, sizeof(sql), "SELECT * FROM v_allocation %s%s", where,
                 where[0] ? "" : "WHERE id % 97 = 0");
        break;
    default:
        write_columns(columns, sizeof(columns), 5, "");
        snprintf(sql, sizeof(sql),
                 "SELECT %s, count(*), sum(size), min(id), max(lifetime_ns), count(DISTINCT kind),"
                 " max(stack_id) FROM v_allocation %s GROUP BY %s",
                 columns, where, columns);
        break;
    }
    return check(sql, false);
}

/* With little memory most groups come by a pass of their own. Groups of several columns are found
 * in two ways. */
static void test_rows(void **state)
{
    static const size_t memory[] = {(size_t)8 << 20, 4000, 500};
    const size_t dense = allocation_groups_dense_max;
    (void)state;
    size_t rows = 0;
    chance_state = 7;
    for (size_t i = 0; i < 3; i++) {
        allocation_gathered_max = memory[i];
        for (int k = 0; k < 40; k++) {
            allocation_groups_dense_max = k % 2 == 0 ? dense : 1;
            rows += check_by_chance();
        }
    }
    allocation_gathered_max = memory[0];
    allocation_groups_dense_max = dense;
    assert_true(rows > 300);
}

/* Each condition alone, which must let no row of the view fall. */
static void test_conditions(void **state)
{
    char sql[400];
    (void)state;
    for (size_t i = 0; i < CONDITIONS; i++) {
        snprintf(sql, sizeof(sql),
                 "SELECT count(*), sum(id), total(size), max(address) FROM v_allocation WHERE %s",
                 conditions[i]);
        check(sql, true);
    }
    check("SELECT count(*) FROM v_allocation", true);
}

static void test_order(void **state)
{
    (void)state;
    check("SELECT type, thread FROM v_allocation ORDER BY type DESC, thread", true);
    check("SELECT module, line, kind FROM v_allocation ORDER BY module, line DESC, kind", true);
    check("SELECT DISTINCT function, type FROM v_allocation ORDER BY function DESC, type", true);
    check("SELECT owner, count(*) FROM v_allocation GROUP BY owner ORDER BY owner", true);
}

static void test_joins(void **state)
{
    (void)state;
    check("SELECT s.id, count(a.id), sum(a.size) FROM stack s LEFT JOIN v_allocation a"
          " ON a.stack_id = s.id AND a.size > 64 WHERE s.id < 6 GROUP BY s.id",
          false);
    check("SELECT a.id, b.function FROM v_allocation a JOIN v_allocation b ON b.id = a.realloc_of"
          " WHERE a.id < 3000",
          false);
}

/* The view has no rowid. */
static void check_row_ids(void)
{
    check_as("SELECT rowid, type FROM v_allocation ORDER BY type",
             "SELECT id, type FROM v_allocation", false);
    check_as("SELECT rowid, kind, thread FROM v_allocation WHERE size > 64 ORDER BY kind, thread",
             "SELECT id, kind, thread FROM v_allocation WHERE size > 64", false);
    check_as("SELECT DISTINCT type FROM v_allocation WHERE rowid < 1",
             "SELECT DISTINCT type FROM v_allocation WHERE id < 1", false);
    check_as("SELECT DISTINCT function FROM v_allocation WHERE rowid + 0 = 2000",
             "SELECT DISTINCT function FROM v_allocation WHERE id = 2000", false);
    check_as("SELECT DISTINCT type, kind FROM v_allocation WHERE type = 'node' OR rowid % 1000 = 7",
             "SELECT DISTINCT type, kind FROM v_allocation WHERE type = 'node' OR id % 1000 = 7",
             false);
}

/* SQLite remembers the rows that it has met by their rowid. */
static void check_right_joins(void)
{
    check("SELECT v.type, count(*) FROM type x RIGHT JOIN v_allocation v ON v.type_id = x.id"
          " GROUP BY v.type",
          false);
    check("SELECT v.type, x.t, count(*), min(v.id) FROM (SELECT 'Node' AS t) x"
          " FULL JOIN v_allocation v ON v.type = x.t GROUP BY v.type, x.t",
          false);
    check("SELECT v.function, x.t FROM (SELECT 'Node' AS t UNION ALL SELECT 'none') x"
          " FULL JOIN v_allocation v ON v.type = x.t ORDER BY v.function",
          false);
    check("SELECT DISTINCT v.type FROM (SELECT 'Node' AS t) x"
          " RIGHT JOIN v_allocation v ON v.type = x.t WHERE x.t IS NULL",
          false);
    check("SELECT DISTINCT v.type, v.kind FROM (SELECT 'malloc' AS t) x"
          " FULL JOIN v_allocation v ON v.kind = x.t WHERE x.t IS NULL",
          false);
}

static void test_row_ids(void **state)
{
    static const size_t memory[] = {(size_t)8 << 20, 4000, 500};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        allocation_gathered_max = memory[i];
        check_row_ids();
        if (sqlite3_libversion_number() >= 3039000) /* before there were no right joins */
            check_right_joins();
    }
    allocation_gathered_max = memory[0];
}

/* Returns true if the first row of an answer has a text. */
static bool says(const char *sql, const char *text)
{
    struct answer answer = ask(by_table, sql);
    const bool found = answer.rows && strstr(answer.rows[0], text);
    free_answer(&answer);
    return found;
}

static void test_place(void **state)
{
    (void)state;
    assert_true(says("EXPLAIN QUERY PLAN SELECT type, count(*) FROM v_allocation GROUP BY type",
                     "VIRTUAL TABLE"));
    /* The view of the file is still there. */
    assert_true(says("SELECT count(*) FROM main.v_allocation", "1 3000|"));
    assert_false(says("EXPLAIN QUERY PLAN SELECT type FROM main.v_allocation", "VIRTUAL TABLE"));
}

/* Several chunks. */
static void test_chunks(void **state)
{
    (void)state;
    check("SELECT count(*), sum(id), sum(size) FROM v_allocation WHERE id >= 65530", true);
    check("SELECT * FROM v_allocation WHERE id IN (5, 65535, 65536, 65537, 66036, 66037)", false);
    check("SELECT type, thread, count(*), sum(size), min(id), max(id) FROM v_allocation"
          " GROUP BY type, thread",
          false);
    /* Several threads gather the rows of a group, which stay in the order of ids. */
    const size_t dense = allocation_groups_dense_max;
    for (int i = 0; i < 2; i++) {
        check_as("SELECT id, address FROM v_allocation ORDER BY kind, thread",
                 "SELECT id, address FROM v_allocation ORDER BY kind, thread, id", true);
        allocation_groups_dense_max = 1;
    }
    allocation_groups_dense_max = dense;
    allocation_gathered_max = 30000;
    check("SELECT kind, count(*), sum(id), sum(size) FROM v_allocation GROUP BY kind", false);
}

/* ---- interrupts ---- */

static void interrupt(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_interrupt(sqlite3_context_db_handle(context));
    sqlite3_result_value(context, values[0]);
}

/* Returns what the first step of a statement gives. */
static int first_step(const char *sql)
{
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(by_table, sql, -1, &statement, NULL), SQLITE_OK);
    const int status = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return status;
}

/* An interrupt that comes when the statement has begun, and before its rows are grouped, ends the
 * grouping: SQLite itself would look for it after the first row. */
static void test_interrupts(void **state)
{
    (void)state;
    static const char *const queries[] = {
        "SELECT type, size FROM v_allocation WHERE size >= interrupt(1) ORDER BY type",
        ("SELECT stack_id, type, size FROM v_allocation WHERE size >= interrupt(1)"
         " ORDER BY stack_id, type"),
        "SELECT allocations FROM graph(interrupt('all | join stack'))",
    };
    sqlite3_create_function(by_table, "interrupt", 1, SQLITE_UTF8, NULL, interrupt, NULL, NULL);
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
        assert_int_equal(first_step(queries[i]), SQLITE_INTERRUPT);
        assert_string_equal(sqlite3_errmsg(by_table), "interrupted");
        /* Later statements are not interrupted, and errors are errors. */
        assert_int_equal(first_step("SELECT * FROM graph('all | join')"), SQLITE_ERROR);
        check("SELECT type, count(*), sum(size) FROM v_allocation GROUP BY type", false);
    }
}

int main(void)
{
    const struct CMUnitTest small[] = {
        cmocka_unit_test(test_place),      cmocka_unit_test(test_rows),
        cmocka_unit_test(test_conditions), cmocka_unit_test(test_order),
        cmocka_unit_test(test_joins),      cmocka_unit_test(test_row_ids),
        cmocka_unit_test(test_interrupts)};
    const struct CMUnitTest large[] = {cmocka_unit_test(test_chunks)};
    const int failed = cmocka_run_group_tests(small, open_small, close_both);
    return cmocka_run_group_tests(large, open_large, close_both) + failed;
}
