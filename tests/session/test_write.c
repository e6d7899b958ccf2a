/* SPDX-License-Identifier: BSD-2-Clause */
/* The step write: its files are read back by SQLite, and it replaces nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "session/groups.h"
#include "session/session.h"

#define PATH "write.db"

static struct session *session;
static sqlite3 *database;

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    options.allocations = 3000;
    return !fixture_write(PATH, &options) || !fixture_write("write_other.db", &options) ||
           !fixture_sql(PATH,
                        "UPDATE type SET name = 'left' || char(8206, 173, 127, 133) WHERE id = 2;"
                        "UPDATE owner SET name = CAST(x'41ff42' AS TEXT) WHERE id = 2") ||
           !fixture_sql(PATH,
                        "UPDATE type SET name = 'a \"b\", ' || char(10, 92) || 'ü' WHERE id = "
                        "1") ||
           !(session = session_open(PATH, &error)) || sqlite3_open(PATH, &database) != SQLITE_OK;
}

static int close_fixture(void **state)
{
    session_close(session);
    sqlite3_close(database);
    return unlink("write_other.db");
}

static void write_by(const char *filter)
{
    struct session_error error = {.column = 0};
    const struct graph_options options = {.write = true};
    struct graph_result *result = graph_run_with(session, filter, &options, &error);
    if (!result)
        fail_msg("%s: column %d: %s", filter, error.column, error.message);
    graph_result_free(result);
}

/* Returns the text of a file, which the caller frees. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 4 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (4 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* Returns the number that `sql` gives; ?1 is `text`. */
static int64_t ask(const char *sql, const char *text)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) != SQLITE_ROW)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    const int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void no_drafts(void)
{
    glob_t found;
    assert_int_equal(glob("*.part", 0, NULL, &found), GLOB_NOMATCH);
    globfree(&found);
}

static void test_json(void **state)
{
    unlink("rows.json");
    write_by("where size > 64 | sort size | write \"rows.json\"");
    char *text = read_text("rows.json");
    /* Every row of the file is in the view, and the other way round. */
    assert_int_equal(
        ask("SELECT (SELECT count(*) FROM (SELECT id, address, size, count, alloc_ns, free_ns, "
            "function, type, confidence, kind, module, file, thread FROM v_allocation WHERE size > "
            "64 EXCEPT SELECT j.value->>'id', j.value->>'address', j.value->>'size', "
            "j.value->>'count', j.value->>'alloc_ns', j.value->>'free_ns', j.value->>'function', "
            "j.value->>'type', j.value->>'confidence', j.value->>'kind', j.value->>'module', "
            "j.value->>'file', j.value->>'thread' FROM json_each(?1) j))",
            text),
        0);
    assert_int_equal(ask("SELECT count(*) FROM json_each(?1)", text),
                     ask("SELECT count(*) FROM v_allocation WHERE size > 64", ""));
    assert_int_equal(ask("SELECT count(*) FROM (SELECT value->>'size' AS size, lag(value->>'size') "
                         "OVER (ORDER BY key) AS before FROM json_each(?1)) WHERE before > size",
                         text),
                     0);
    /* Marks of direction and the like stay; control characters are escaped, other bytes replaced.
     */
    assert_non_null(strstr(text, "\"left\u200e\u00ad\\u007f\\u0085\""));
    assert_non_null(strstr(text, "\"A\\ufffdB\""));
    free(text);
    no_drafts();
}

static void test_groups(void **state)
{
    unlink("groups.json");
    write_by("all | join type, thread | where bytes > 1K | write \"groups.json\" | top 1");
    char *text = read_text("groups.json");
    assert_int_equal(
        ask("SELECT (SELECT count(*) FROM (SELECT type, thread_id, sum(size), count(*), max(size) "
            "FROM v_allocation GROUP BY type, thread_id HAVING sum(size) > 1024)) = (SELECT "
            "count(*) FROM json_each(?1))",
            text),
        1);
    assert_int_equal(ask("SELECT sum(value->>'bytes') FROM json_each(?1)", text),
                     ask("SELECT sum(b) FROM (SELECT sum(size) AS b FROM v_allocation GROUP BY "
                         "type, thread_id HAVING sum(size) > 1024)",
                         ""));
    assert_int_equal(ask("SELECT sum(value->>'estimated') FROM json_each(?1)", text), 0);
    free(text);
}

static void test_csv(void **state)
{
    unlink("rows.csv");
    write_by("where type is not null | top 200 | write \"rows.csv\"");
    char *text = read_text("rows.csv");
    static const char head[] =
        "session,id,address,size,count,alloc_ns,free_ns,stack_id,free_stack_id,kind,type,"
        "confidence,function,user,owner,file,module,thread,process,arena\r\n";
    assert_memory_equal(text, head, sizeof(head) - 1);
    size_t lines = 0;
    for (const char *at = text; (at = strstr(at, "\r\n")); at += 2)
        lines++;
    assert_int_equal(lines, 201);
    assert_non_null(strstr(text, ",\"a \"\"b\"\", \n\\ü\","));
    free(text);
}

static void test_refusals(void **state)
{
    struct session_error error = {.column = 0};
    const struct graph_options options = {.write = true};
    FILE *file = fopen("there.csv", "w");
    assert_non_null(file);
    fputs("kept", file);
    fclose(file);
    assert_null(graph_run_with(session, "all | write \"there.csv\"", &options, &error));
    assert_int_equal(error.column, 7);
    assert_non_null(strstr(error.message, "write never replaces one"));
    char *text = read_text("there.csv");
    assert_string_equal(text, "kept");
    free(text);
    assert_null(graph_run_with(session, "all | write \"no/such/folder.csv\"", &options, &error));
    assert_int_equal(error.column, 7);
    assert_null(
        graph_run_with(session, "all | write \"there.csv\" | write \"no.db\"", &options, &error));
    assert_int_equal(access("no.db", F_OK), -1);
    unlink("no.csv");
    assert_null(graph_run(session, "all | write \"no.csv\"", &error));
    assert_int_equal(error.column, 7);
    assert_non_null(strstr(error.message, "may not write files"));
    assert_null(selection_new(session, "all | write \"no.csv\"", &error));
    assert_int_equal(access("no.csv", F_OK), -1);
    no_drafts();
}

/* A session of the rows is refused as the other files are. part.sh tests its contents. */
static void test_sessions(void **state)
{
    struct session_error error = {.column = 0};
    const struct graph_options options = {.write = true};
    unlink("part.db");
    assert_null(graph_run(session, "all | write \"part.db\"", &error));
    assert_non_null(strstr(error.message, "may not write files"));
    assert_null(selection_new(session, "all | write \"part.db\"", &error));
    assert_null(graph_run_with(session, "all | write \"" PATH "\"", &options, &error));
    assert_int_equal(error.column, 7);
    assert_non_null(strstr(error.message, "write never replaces one"));
    assert_null(
        graph_run_with(session, "f(A) = join type | write A; f(\"part.db\")", &options, &error));
    assert_non_null(strstr(error.message, "ungroup them, or"));
    assert_null(graph_run_with(
        session, "all + session \"write_other.db\" | where size > 64 | write \"part.db\"", &options,
        &error));
    assert_non_null(strstr(error.message, "these are of several"));
    /* mprof-ingest is needed, and nothing stays of the draft if there is none. */
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    assert_null(graph_run_with(session, "where size > 64 | write \"part.db\"", &options, &error));
    assert_int_equal(error.column, 19);
    assert_non_null(strstr(error.message, "mprof-ingest, which makes the sums, cannot be run"));
    assert_true(fixture_sql("write_other.db", "INSERT INTO meta VALUES ('unfinished', 1)"));
    struct session *other = session_open("write_other.db", &error);
    assert_non_null(other);
    assert_null(graph_run_with(other, "all | write \"part.db\"", &options, &error));
    assert_non_null(strstr(error.message, "is still being recorded"));
    session_close(other);
    assert_int_equal(access("part.db", F_OK), -1);
    no_drafts();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),     cmocka_unit_test(test_groups),
        cmocka_unit_test(test_csv),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_sessions),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
