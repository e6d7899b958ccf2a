/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that SQL of the user gives its rows, and that none of it writes, ends the process or stays
 * for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "session/jobs.h"
#include "session/sql.h"

#define PATH "sql.db"

static struct session *session;
static struct session_error error;

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 5000;
    assert_true(fixture_write(PATH, &options));
    session = session_open(PATH, &error);
    assert_non_null(session);
    return 0;
}

static int close_fixture(void **state)
{
    session_close(session);
    return 0;
}

static struct session_table *run(const char *text, size_t rows_most)
{
    error = (struct session_error){.column = 0};
    return session_sql(session, text, rows_most, &error);
}

static int64_t number(const char *text)
{
    struct session_table *table = run(text, 10);
    if (!table)
        fail_msg("%s: %s", text, error.message);
    assert_int_equal(session_table_rows(table), 1);
    assert_int_equal(session_table_value(table, 0, 0).kind, VALUE_INTEGER);
    const int64_t value = session_table_value(table, 0, 0).integer;
    session_table_free(table);
    return value;
}

static void test_values(void **state)
{
    struct session_table *table =
        run("  SELECT 1 AS one, 2.5, 'text' AS \"the text\", x'0041ff', NULL, 'a\nb' ; -- end", 10);
    assert_non_null(table);
    assert_int_equal(session_table_columns(table), 6);
    assert_int_equal(session_table_rows(table), 1);
    assert_int_equal(session_table_end(table), TABLE_COMPLETE);
    assert_string_equal(session_table_title(table, 2), "the text");
    assert_int_equal(session_table_value(table, 0, 0).integer, 1);
    assert_true(session_table_value(table, 0, 1).real == 2.5);
    assert_string_equal(session_table_value(table, 0, 2).text, "text");
    const struct session_value blob = session_table_value(table, 0, 3);
    assert_int_equal(blob.kind, VALUE_BLOB);
    assert_int_equal(blob.length, 3);
    assert_memory_equal(blob.text, "\0A\377", 3);
    assert_int_equal(session_table_value(table, 0, 4).kind, VALUE_NULL);
    assert_string_equal(session_table_value(table, 0, 5).text, "a\nb");
    session_table_free(table);
}

static void test_cut_values(void **state)
{
    struct session_table *table =
        run("SELECT replace(hex(zeroblob(3000)), '0', 'ä'), zeroblob(5000), ''", 10);
    assert_non_null(table);
    const struct session_value text = session_table_value(table, 0, 0);
    assert_true(text.cut);
    assert_int_equal(text.length, SESSION_VALUE_MOST);
    assert_int_equal(strlen(text.text), SESSION_VALUE_MOST);
    assert_true(session_table_value(table, 0, 1).cut);
    assert_false(session_table_value(table, 0, 2).cut);
    session_table_free(table);
}

static void test_rows_most(void **state)
{
    struct session_table *table = run("SELECT id FROM allocation ORDER BY id", 100);
    assert_non_null(table);
    assert_int_equal(session_table_rows(table), 100);
    assert_int_equal(session_table_end(table), TABLE_ROWS_MOST);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(session_table_value(table, i, 0).integer, i + 1);
    session_table_free(table);
    table = run("SELECT id FROM allocation WHERE id <= 100", 100);
    assert_non_null(table);
    assert_int_equal(session_table_rows(table), 100);
    assert_int_equal(session_table_end(table), TABLE_COMPLETE);
    session_table_free(table);
    table = run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                "SELECT i, zeroblob(4000) FROM n",
                1000000);
    assert_non_null(table);
    assert_int_equal(session_table_end(table), TABLE_BYTES_MOST);
    session_table_free(table);
}

static void test_graph(void **state)
{
    const int64_t plain = number("SELECT count(*) FROM allocation WHERE size > 100");
    assert_int_equal(number("SELECT value FROM graph('all | where size > 100 | count')"), plain);
    assert_int_equal(number("SELECT count(*) FROM graph('all | where size > 100') g"
                            " JOIN allocation a USING(id) WHERE a.size > 100"),
                     plain);
    assert_null(run("SELECT * FROM graph('all | were')", 10));
    assert_non_null(strstr(error.message, "column 7"));
}

/* Everything that is not a reading: the message says what was refused. */
static void test_refused(void **state)
{
    static const char *const texts[] = {
        "ATTACH 'other.db' AS other",
        "DETACH main",
        "INSERT INTO meta VALUES('a', 1)",
        "UPDATE meta SET value = 1",
        "DELETE FROM meta",
        "DROP TABLE meta",
        "DROP INDEX type_name",
        "CREATE TABLE t(a)",
        "CREATE TEMP TABLE t(a)",
        "CREATE TEMP VIEW t AS SELECT 1",
        "CREATE TEMP TRIGGER t AFTER INSERT ON meta BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE t USING fts5(a)",
        "ALTER TABLE meta RENAME TO other",
        "REPLACE INTO meta VALUES('a', 1)",
        "INSERT INTO named_graph VALUES('a', 'all', 1) RETURNING name",
        "WITH x(a) AS (SELECT 'a') INSERT INTO meta SELECT a, 1 FROM x",
        "BEGIN",
        "COMMIT",
        "SAVEPOINT a",
        "VACUUM",
        "VACUUM INTO 'refused.db'",
        "ANALYZE",
        "REINDEX",
        "PRAGMA user_version = 7",
        "PRAGMA journal_mode = wal",
        "PRAGMA journal_mode",
        "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1",
        "PRAGMA trusted_schema = 1",
        "PRAGMA temp_store_directory = '/'",
        "PRAGMA wal_checkpoint",
        "PRAGMA optimize",
        "PRAGMA incremental_vacuum",
        "PRAGMA schema_version = 1",
        "SELECT load_extension('x')",
    };
    struct stat before, after;
    assert_int_equal(stat(PATH, &before), 0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct session_table *table = run(texts[i], 10);
        if (table)
            fail_msg("%s was not refused", texts[i]);
        if (error.message[0] == 0)
            fail_msg("%s was refused without a word", texts[i]);
    }
    assert_int_equal(access("refused.db", F_OK), -1);
    assert_int_equal(access("other.db", F_OK), -1);
    assert_int_equal(stat(PATH, &after), 0);
    assert_int_equal(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_null(run("INSERT INTO meta VALUES('a', 1)", 10));
    assert_string_equal(error.message, "writing to meta is refused: the prompt only reads");
}

static void test_allowed(void **state)
{
    assert_int_equal(number("PRAGMA user_version"), 3);
    assert_true(number("SELECT count(*) FROM pragma_table_info('allocation')") > 10);
    assert_true(number("SELECT count(*) FROM v_allocation") == 5000);
    assert_int_equal(number("SELECT count(*) FROM json_each('[1,2]')"), 2);
    session_table_free(run("EXPLAIN QUERY PLAN SELECT * FROM meta", 10));
    assert_string_equal(error.message, "");
}

static void test_errors(void **state)
{
    assert_null(run("SELECT äöü, nichts FROM meta", 10));
    assert_string_equal(error.message, "no such column: äöü");
    assert_int_equal(error.column, 8);
    assert_null(run("SELECT 'äöü', nichts FROM meta", 10));
    assert_int_equal(error.column, 15);
    assert_null(run("/* ä */ SELECT FROM", 10));
    assert_int_equal(error.column, 16);
    assert_null(run("", 10));
    assert_null(run(" ; -- nothing", 10));
    assert_string_equal(error.message, "there is no statement: write SELECT … FROM …");
    assert_null(run("SELECT 1; SELECT 2", 10));
    assert_string_equal(error.message, "one statement at a time: a second one begins here");
    assert_int_equal(error.column, 10);
    assert_null(run("SELECT 1; SELEKT", 10));
    assert_null(run("SELECT abs(-9223372036854775808)", 10));
    assert_string_equal(error.message, "integer overflow");
}

/* A file from somebody else: its virtual tables run code of their modules. */
static void test_hostile_file(void **state)
{
    close_fixture(NULL);
    assert_true(fixture_sql(PATH, "CREATE VIRTUAL TABLE trap USING rtree(id, a, b);"
                                  "CREATE VIEW mine AS SELECT 7 AS seven;"
                                  "CREATE VIEW deep AS SELECT * FROM graph('all')"));
    session = session_open(PATH, &error);
    assert_non_null(session);
    assert_null(run("SELECT * FROM trap", 10));
    if (!strstr(error.message, "is refused"))
        fail_msg("%s", error.message);
    assert_int_equal(number("SELECT seven FROM mine"), 7);
    assert_null(run("SELECT * FROM deep", 10));
    close_fixture(NULL);
    open_fixture(NULL);
}

struct question {
    struct session_table *table;
};

static bool ask(struct session *of, struct selection *selection, void *data,
                struct session_error *failed)
{
    struct question *question = data;
    question->table = session_sql(
        of, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n",
        10, failed);
    return question->table;
}

/* Without a cancel the statement would never end, and session_jobs_stop() waits for its end. */
static void test_cancel(void **state)
{
    struct session_jobs *jobs = session_jobs_start(session, &error);
    assert_non_null(jobs);
    struct session_job *job =
        session_job_ask(jobs,
                        &(struct session_question){.kind = SESSION_ASK_CALL,
                                                   .call = ask,
                                                   .data = calloc(1, sizeof(struct question)),
                                                   .release = free},
                        &error);
    assert_non_null(job);
    while (session_job_poll(job, NULL) == SESSION_JOB_WAITING)
        usleep(1000);
    usleep(20000);
    assert_int_equal(session_job_poll(job, NULL), SESSION_JOB_RUNNING);
    session_job_cancel(job);
    session_job_free(job);
    session_jobs_stop(jobs);
    assert_int_equal(number("SELECT 3"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),    cmocka_unit_test(test_cut_values),
        cmocka_unit_test(test_rows_most), cmocka_unit_test(test_graph),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_errors),    cmocka_unit_test(test_hostile_file),
        cmocka_unit_test(test_cancel)};
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
