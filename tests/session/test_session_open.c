/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a session: names, rows against SQL, refusals, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "schemas/trace_layout.h"
#include "session/session.h"

#define PATH "open.db"

static void fresh(size_t allocations)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = allocations;
    assert_true(fixture_write(PATH, &options));
}

static void refused(const char *sql, const char *expected)
{
    fresh(1000);
    assert_true(fixture_sql(PATH, sql));
    struct session_error error = {.column = 0};
    struct session *session = session_open(PATH, &error);
    if (session || !strstr(error.message, expected))
        print_error("%s: got \"%s\"\n", sql, error.message);
    assert_null(session);
    assert_non_null(strstr(error.message, expected));
    assert_non_null(strstr(error.message, PATH));
}

static void refused_file(const char *text, const char *expected)
{
    struct session_error error = {.column = 0};
    FILE *file = fopen(PATH, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_null(session_open(PATH, &error));
    assert_non_null(strstr(error.message, expected));
}

static void test_refusals(void **state)
{
    struct session_error error = {.column = 0};
    unlink("absent.db");
    assert_null(session_open("absent.db", &error));
    assert_non_null(strstr(error.message, "absent.db"));
    refused("PRAGMA user_version=99", "schema version 99");
    refused("PRAGMA user_version=0", "ingest the trace again");
    refused("PRAGMA application_id=1", "not a session");
    refused("DROP TABLE stack", "ingest the trace again");
    refused("DELETE FROM column_chunk WHERE id=3", "column chunk 3 is damaged: missing");
    refused("UPDATE column_chunk SET width=9 WHERE id=1", "column chunk 1 is damaged");
    refused("UPDATE column_chunk SET rows=65537 WHERE id=2", "column chunk 2 is damaged");
    refused("UPDATE column_chunk SET rows=999 WHERE id=9", "column chunk 9 is damaged");
    refused("UPDATE column_chunk SET data=x'00' WHERE id=0", "column chunk 0 is damaged");
    refused("UPDATE column_chunk SET id=64 WHERE id=0", "column chunk 64 is damaged");
    refused("DELETE FROM stack WHERE id>300", "column chunk 4 is damaged");
    refused("UPDATE stack SET id=900000000 WHERE id=7", "ids of table stack are damaged");
    refused("UPDATE function SET id=-7 WHERE id=7", "ids of table function are damaged");
    refused_file("not a database, but long enough to be mistaken for one by its length alone",
                 "open.db: is not a session");
    refused_file(TRACE_MAGIC "and the rest of a trace",
                 "open.db: is a trace, not a session; mprof-ingest");
}

static void test_damaged_values(void **state)
{
    fresh(1000);
    /* Column size: every value becomes larger than max. */
    assert_true(fixture_sql(PATH, "UPDATE column_chunk SET data = "
                                  "CAST(printf('%.*c', length(data), 'z') AS BLOB) WHERE id = 1"));
    struct session_error error = {.column = 0};
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    struct session_allocation row;
    assert_false(session_allocation(session, 5, &row, &error));
    assert_non_null(strstr(error.message, "column chunk 1 is damaged"));
    session_close(session);
}

static void test_rows_against_sql(void **state)
{
    fresh(150000); /* three chunks */
    struct session_error error = {.column = 0};
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    assert_int_equal(session_allocation_count(session), 150000);
    sqlite3 *database;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    sqlite3_prepare_v2(
        database,
        "SELECT a.id, address, size, count, a.kind, alignment, arena_id, thread_id,"
        "stack_id, type_id, alloc_ns, free_ns, COALESCE(free_thread_id, 0),"
        "COALESCE(free_stack_id, 0), COALESCE(realloc_of, 0), COALESCE(s.function_id, 0) "
        "FROM allocation a JOIN stack s ON s.id = a.stack_id ORDER BY a.id",
        -1, &statement, NULL);
    uint64_t id = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        struct session_allocation row;
        assert_true(session_allocation(session, ++id, &row, &error));
        const uint64_t got[] = {row.id,          row.address,    row.size,       row.count,
                                row.kind,        row.alignment,  row.arena,      row.thread,
                                row.stack,       row.type,       row.alloc_ns,   row.free_ns,
                                row.free_thread, row.free_stack, row.realloc_of, row.function};
        for (int i = 0; i < 16; i++) {
            uint64_t expected = sqlite3_column_type(statement, i) == SQLITE_NULL
                                    ? SESSION_LIVE
                                    : (uint64_t)sqlite3_column_int64(statement, i);
            if (got[i] != expected)
                print_error("allocation %llu, column %d\n", (unsigned long long)id, i);
            assert_true(got[i] == expected);
        }
    }
    assert_int_equal(id, 150000);
    struct session_allocation row;
    assert_false(session_allocation(session, 0, &row, &error));
    assert_false(session_allocation(session, 150001, &row, &error));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    session_close(session);
}

static const char *text_of(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

static void test_stacks_against_sql(void **state)
{
    fresh(1000);
    struct session_error error = {.column = 0};
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    sqlite3 *database;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    sqlite3_prepare_v2(database,
                       "SELECT v.stack_id, v.depth, v.function, v.module, COALESCE(v.file, ''),"
                       "COALESCE(v.line, 0), v.inlined, v.pc, s.depth, s.state FROM v_stack v "
                       "JOIN stack s ON s.id = v.stack_id ORDER BY v.stack_id, v.depth",
                       -1, &statement, NULL);
    size_t compared = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        struct session_frame frames[64];
        uint32_t stack = (uint32_t)sqlite3_column_int64(statement, 0);
        size_t depth = (size_t)sqlite3_column_int64(statement, 1);
        assert_int_equal(session_stack(session, stack, frames, 64),
                         sqlite3_column_int64(statement, 8));
        const struct session_frame *frame = &frames[depth];
        assert_string_equal(session_function_name(session, frame->function), text_of(statement, 2));
        assert_string_equal(session_function_module(session, frame->function),
                            text_of(statement, 3));
        assert_string_equal(frame->file, text_of(statement, 4));
        assert_int_equal(frame->line, sqlite3_column_int64(statement, 5));
        assert_int_equal(frame->inlined, sqlite3_column_int64(statement, 6));
        assert_int_equal(frame->pc, sqlite3_column_int64(statement, 7));
        assert_string_equal(session_stack_state(session, stack), text_of(statement, 9));
        size_t site = session_stack_call_site(session, stack);
        assert_true(site <= 1);
        if (site == 1)
            assert_true(frames[0].function <= 2);
        compared++;
    }
    assert_true(compared > 400);
    assert_int_equal(session_stack(session, 0, NULL, 0), 0);
    assert_int_equal(session_stack(session, 4000000, NULL, 0), 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    session_close(session);
}

static void test_names(void **state)
{
    fresh(1000);
    struct session_error error = {.column = 0};
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    assert_string_equal(session_meta(session, "program"), "fixture-server");
    assert_null(session_meta(session, "no such key"));
    assert_int_equal(session_meta_number(session, "allocations"), 1000);
    assert_int_equal(session_duration_ns(session), session_meta_number(session, "duration_ns"));
    assert_string_equal(session_function_name(session, 3), "main");
    assert_string_equal(session_function_place(session, 3), "node.c:13");
    assert_string_equal(session_function_place(session, 7), "");
    assert_string_equal(session_function_name(session, 999999), "?");
    assert_string_equal(session_thread_name(session, 2), "worker 1");
    assert_string_equal(session_type_name(session, 3), "Node");
    assert_string_equal(session_type_name(session, 0), SESSION_UNKNOWN_TYPE);
    assert_string_equal(session_kind_name(session, 10), "new[]");
    const struct session_thread *threads;
    assert_int_equal(session_threads(session, &threads), 4);
    assert_string_equal(threads[0].name, "main");
    const struct session_mark *marks;
    assert_int_equal(session_marks(session, &marks), 5);
    assert_string_equal(marks[1].name, "load");
    const struct session_rss *samples;
    assert_int_equal(session_rss(session, &samples), 200);
    session_close(session);
}

/* A session with a write-ahead log in a folder that the user may not write to: SQLite needs a file
 * beside it. */
static void test_log_in_read_only_folder(void **state)
{
    static const char path[] = "open_folder/log.db";
    const uid_t nobody = 65534;
    const bool super = geteuid() == 0;
    struct session_error error = {.column = 0};
    fresh(100);
    assert_true(mkdir("open_folder", 0755) == 0 || errno == EEXIST);
    assert_int_equal(rename(PATH, path), 0);
    assert_true(fixture_sql(path, "PRAGMA journal_mode = WAL"));
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chmod("open_folder", 0555), 0);
    assert_true(!super || seteuid(nobody) == 0); /* the superuser may write everywhere */
    struct session *session = access(path, R_OK) == 0 ? session_open(path, &error) : NULL;
    const bool reached = access(path, R_OK) == 0;
    assert_true(!super || seteuid(0) == 0);
    assert_null(session);
    if (reached && !strstr(error.message, "open_folder/log.db: has a write-ahead log, and its "
                                          "folder cannot be written; copy"))
        fail_msg("%s", error.message);
    assert_int_equal(chmod("open_folder", 0755), 0);
    unlink(path);
}

static void threads_of_one_name_have_numbers(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error = {.message = ""};
    assert_true(fixture_write("labels.db", &options));
    assert_true(fixture_sql("labels.db", "UPDATE thread SET name = 'worker 1' WHERE id = 3"));
    struct session *session = session_open("labels.db", &error);
    assert_non_null(session);
    assert_string_equal(session_thread_label(session, 1), "main");
    assert_string_equal(session_thread_label(session, 2), "#2 worker 1");
    assert_string_equal(session_thread_label(session, 3), "#3 worker 1");
    assert_string_equal(session_thread_label(session, 99), "?");
    assert_string_equal(session_thread_name(session, 3), "worker 1");
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_in_read_only_folder),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_damaged_values),
        cmocka_unit_test(test_rows_against_sql),
        cmocka_unit_test(threads_of_one_name_have_numbers),
        cmocka_unit_test(test_stacks_against_sql),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
