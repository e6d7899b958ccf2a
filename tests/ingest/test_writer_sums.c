/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of functions, threads and processes, counted in one pass and compared with SQL's sums: over
 * stacks with recursion, threads of no process, frames of no stack. Frames of several sessions that
 * wait in a file, compared with INSERT.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/write/frames.h"
#include "ingest/write/functions.h"
#include "tests/session/fixture_nodes.h"

static void run(sqlite3 *database, const char *sql)
{
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
}

static int64_t number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *query;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return value;
}

/* Checks that both tables hold the same rows. */
static void compare(sqlite3 *database, const char *table, const char *expected)
{
    char sql[256];
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM (SELECT * FROM %s EXCEPT SELECT * FROM %s)",
             table, expected);
    assert_int_equal(number(database, sql), 0);
    snprintf(sql, sizeof(sql), "SELECT (SELECT count(*) FROM %s) - (SELECT count(*) FROM %s)",
             table, expected);
    assert_int_equal(number(database, sql), 0);
}

static sqlite3 *open_database(const char *tables)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    run(database, tables);
    return database;
}

/* 50 functions, 200 frames, 300 stacks of 1 to 20 frames each, some of which repeat. */
static const char function_tables[] =
    "CREATE TABLE function(id INTEGER PRIMARY KEY);"
    "CREATE TABLE frame(id INTEGER PRIMARY KEY, function_id INTEGER);"
    "CREATE TABLE stack(id INTEGER PRIMARY KEY, function_id INTEGER, bytes, allocations, "
    "live_bytes,"
    "  live_count, at_peak_bytes, call_site_frame_id, node_id);"
    "CREATE TABLE stack_frame(stack_id, depth, frame_id, PRIMARY KEY(stack_id, depth)) WITHOUT "
    "ROWID;"
    "CREATE TABLE function_total(a, b, c, d, e, f, g, h, i, j);"
    "CREATE TABLE call_node(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);"
    "CREATE TABLE stack_node(id INTEGER PRIMARY KEY, parent_id, frame_id);"
    "CREATE TABLE stack_run(stack_id, depth, node_id, frames);"
    "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)"
    "  INSERT INTO function SELECT i FROM n;"
    "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
    "  INSERT INTO frame SELECT i, 1 + i * 7919 % 47 FROM n;"
    "WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 299)"
    "  INSERT INTO stack SELECT i, nullif(i * 31 % 40, 0), i * 1000, i, i * 10, i % 3, i * 5, NULL,"
    "    NULL FROM "
    "n;"
    "INSERT INTO stack_frame SELECT s.id, f.id - 1, 1 + (s.id * 13 + f.id * f.id) % 200"
    "  FROM stack s JOIN frame f ON f.id <= 1 + s.id % 20 WHERE s.id > 0;"
    "CREATE TEMP TABLE whole AS SELECT * FROM stack_frame;" FIXTURE_NODES("main");

static const char function_expected[] =
    "CREATE TABLE expected AS"
    "  SELECT f.id, ifnull(s.bytes, 0), ifnull(s.count, 0), ifnull(t.bytes, 0), ifnull(t.count, 0),"
    "    ifnull(s.live_bytes, 0), ifnull(s.live_count, 0), ifnull(s.at_peak_bytes, 0),"
    "    iif(f.id = 2, 77, 0), iif(f.id = 1, 3, iif(f.id = 2, 5, 0))"
    "  FROM function f"
    "  LEFT JOIN (SELECT function_id, sum(bytes) AS bytes, sum(allocations) AS count,"
    "      sum(live_bytes) AS live_bytes, sum(live_count) AS live_count,"
    "      sum(at_peak_bytes) AS at_peak_bytes FROM stack GROUP BY function_id) s"
    "    ON s.function_id = f.id"
    "  LEFT JOIN (SELECT d.function_id, sum(st.bytes) AS bytes, sum(st.allocations) AS count"
    "      FROM (SELECT DISTINCT sf.stack_id, fr.function_id"
    "        FROM stack_frame sf JOIN frame fr ON fr.id = sf.frame_id) d"
    "      JOIN stack st ON st.id = d.stack_id GROUP BY d.function_id) t ON t.function_id = f.id"
    "  UNION ALL SELECT 0, sum(bytes), sum(allocations), sum(bytes), sum(allocations),"
    "    sum(live_bytes), sum(live_count), sum(at_peak_bytes), 55, 9"
    "  FROM stack WHERE function_id IS NULL;";

static void test_functions(void **state)
{
    sqlite3 *database = open_database(function_tables);
    struct ingest_status status = {.code = INGEST_OK};
    struct writer_database session = {.sqlite = database, .name = "test", .status = &status};
    uint32_t call_sites[300] = {0};
    struct function_usage peaks[] = {{0, 55, 9}, {0, 0, 3}, {0, 77, 5}};
    struct totals *totals = calloc(1, sizeof(*totals));
    sqlite3_stmt *query;
    assert_non_null(totals);
    totals->functions = peaks;
    totals->function_capacity = 3;
    assert_true(stack_usages_grow(&totals->stacks, 300));
    sqlite3_prepare_v2(database, "SELECT * FROM stack", -1, &query, NULL);
    while (sqlite3_step(query) == SQLITE_ROW) {
        const int64_t stack = sqlite3_column_int64(query, 0);
        struct stack_sums *sums = &totals->stacks.sums[stack];
        call_sites[stack] = (uint32_t)sqlite3_column_int64(query, 1);
        sums->bytes = (uint64_t)sqlite3_column_int64(query, 2);
        sums->allocations = (uint64_t)sqlite3_column_int64(query, 3);
        sums->live_bytes = (uint64_t)sqlite3_column_int64(query, 4);
        sums->live_count = (uint64_t)sqlite3_column_int64(query, 5);
        totals->stacks.shares[stack].bytes = (uint64_t)sqlite3_column_int64(query, 6);
    }
    sqlite3_finalize(query);
    assert_true(writer_functions_put(&session, call_sites, 300, totals));
    run(database, function_expected);
    assert_int_equal(number(database, "SELECT count(*) FROM expected WHERE rowid <= 51"), 51);
    compare(database, "function_total", "expected");

    run(database, "DELETE FROM function_total; DELETE FROM frame WHERE id = 7");
    assert_false(writer_functions_put(&session, call_sites, 300, totals));
    assert_non_null(strstr(status.message, "gaps"));
    stack_usages_free_memory(&totals->stacks);
    free(totals);
    writer_database_close(&session);
}

/* Threads 1 to 6 and 100, of processes 1, 2 and 3. Thread 6 belongs to a process that is not
 * there. */
static const char owner_tables[] =
    "CREATE TABLE process(id INTEGER PRIMARY KEY, allocations, frees, bytes, live_count, "
    "live_bytes,"
    "  peak_bytes, peak_ns);"
    "CREATE TABLE thread(id INTEGER PRIMARY KEY, allocations, frees, bytes, process_id);"
    "INSERT INTO process(id) VALUES (1), (2), (3);"
    "INSERT INTO thread VALUES (1, 0, 0, 0, 1), (2, 0, 0, 0, 1), (3, 0, 0, 0, 2), (4, 0, 0, 0, 2),"
    "  (5, 0, 0, 0, 3), (6, 0, 0, 0, 9), (100, 0, 0, 0, 3);"
    "CREATE TABLE event(ns INTEGER PRIMARY KEY, free, thread, size, freed_by);";

static const char owner_expected[] =
    "CREATE TABLE threads AS SELECT t.id,"
    "  (SELECT count(*) FROM event e WHERE e.thread = t.id AND NOT free),"
    "  (SELECT count(*) FROM event e WHERE e.freed_by = t.id),"
    "  (SELECT total(size) FROM event e WHERE e.thread = t.id AND NOT free), t.process_id"
    "  FROM thread t;"
    "CREATE TABLE processes AS SELECT p.id, total(NOT free), total(free AND freed_by > 0),"
    "  total(iif(free, 0, size)), total(iif(free, -1, 1)), total(iif(free, -size, size)), 0, 0"
    "  FROM process p JOIN thread t ON t.process_id = p.id JOIN event e ON e.thread = t.id"
    "  GROUP BY p.id;"
    "CREATE TABLE live AS SELECT t.process_id AS process, ns, sum(iif(free, -size, size))"
    "  OVER (PARTITION BY t.process_id ORDER BY ns) AS bytes"
    "  FROM event e JOIN thread t ON t.id = e.thread;"
    "CREATE TABLE peaks AS SELECT p.id, max(l.bytes), l.ns FROM process p"
    "  JOIN live l ON l.process = p.id GROUP BY p.id;";

static void put_event(sqlite3 *database, struct writer_thread_totals *totals, int64_t ns,
                      bool is_free, int64_t thread, uint64_t size, int64_t freed_by)
{
    char sql[160];
    snprintf(sql, sizeof(sql), "INSERT INTO event VALUES (%lld, %d, %lld, %llu, %lld)",
             (long long)ns, is_free, (long long)thread, (unsigned long long)size,
             (long long)freed_by);
    run(database, sql);
    if (is_free)
        writer_thread_totals_free(totals, thread, size, freed_by);
    else
        writer_thread_totals_allocate(totals, thread, size, (uint64_t)ns);
}

static void test_owners(void **state)
{
    static const int64_t threads[] = {1, 2, 3, 4, 5, 6, 100, 50 /* there is none */};
    sqlite3 *database = open_database(owner_tables);
    struct writer_thread_totals totals = {0};
    struct {
        int64_t thread;
        uint64_t size;
    } live[64] = {{0, 0}};
    uint32_t random = 1;
    run(database, "BEGIN");
    assert_int_equal(writer_thread_totals_read(&totals, database), SQLITE_OK);
    for (int64_t ns = 1; ns <= 4000; ns++) {
        random = random * 1664525 + 1013904223;
        const size_t place = (random >> 8) % 64;
        const int64_t thread = threads[(random >> 20) % 8];
        if (live[place].size != 0) {
            /* About every fifth block is freed by no thread. */
            put_event(database, &totals, ns, true, live[place].thread, live[place].size,
                      random % 5 == 0 ? 0 : thread);
            live[place].size = 0;
        } else {
            live[place].thread = thread;
            live[place].size = 1 + random % 1000;
            put_event(database, &totals, ns, false, thread, live[place].size, 0);
        }
    }
    assert_int_equal(writer_thread_totals_put(&totals, database, true), SQLITE_OK);
    run(database, owner_expected);
    compare(database, "thread", "threads");
    compare(database, "(SELECT id, peak_bytes, peak_ns FROM process)", "peaks");
    run(database, "UPDATE process SET peak_bytes = 0, peak_ns = 0");
    compare(database, "process", "processes");
    assert_true(number(database, "SELECT min(live_bytes) FROM process") > 0);
    writer_thread_totals_close(&totals);
    sqlite3_close(database);
}

static const char frames_path[] = "frames.db";

static sqlite3_stmt *insert_frames(sqlite3 *database)
{
    sqlite3_stmt *insert;
    assert_int_equal(
        sqlite3_prepare_v2(database, "INSERT INTO wanted VALUES (?, ?, ?)", -1, &insert, NULL),
        SQLITE_OK);
    return insert;
}

/* Adds stacks of 1 to 17 frames that share none, and inserts the same rows with their final ids. */
static void add_session(struct writer_frames *frames, sqlite3_stmt *insert)
{
    uint32_t node = 1;
    for (uint32_t stack = 1; stack <= 5000; stack++)
        for (uint32_t depth = 0, last = stack % 17; depth <= last; depth++, node++) {
            const uint32_t frame = 1 + (stack * 31 + depth) % 60000;
            assert_true(writer_frames_add_node(
                frames, &(struct stack_node_row){node, depth == last ? 0 : node + 1, frame, 0}));
            sqlite3_bind_int64(insert, 1, (int64_t)(stack + frames->first_stack));
            sqlite3_bind_int64(insert, 2, (int64_t)depth);
            sqlite3_bind_int64(insert, 3, (int64_t)(frame + frames->first_frame));
            assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
            sqlite3_reset(insert);
        }
    node = 1;
    for (uint32_t stack = 1; stack <= 5000; stack++) {
        const struct stack_run_row row = {stack, 0, node, 1 + stack % 17};
        assert_true(writer_frames_add_run(frames, &row));
        node += row.frames;
    }
}

static uint32_t root_page(sqlite3 *database, const char *table)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    return (uint32_t)number(database, sql);
}

static bool put_frame(void *tables, const struct writer_frame *row)
{
    return row->is_run ? writer_frame_tables_run(tables, &row->run)
                       : writer_frame_tables_node(tables, &row->node);
}

/* Three sessions, of which each continues the numbers of the one before. More rows than wait at
 * once. */
static void test_frames(void **state)
{
    sqlite3 *database;
    struct writer_frames frames;
    FILE *waiting = tmpfile();
    unlink(frames_path);
    assert_non_null(waiting);
    assert_int_equal(sqlite3_open(frames_path, &database), SQLITE_OK);
    run(database, "PRAGMA synchronous = OFF;"
                  "CREATE TABLE stack_node(id INTEGER PRIMARY KEY, parent_id, frame_id);"
                  "CREATE TABLE stack_run(stack_id INTEGER NOT NULL, depth INTEGER NOT NULL,"
                  "  node_id, frames, PRIMARY KEY(stack_id, depth)) WITHOUT ROWID;"
                  "CREATE VIEW stack_frame AS SELECT stack_id, depth + id - node_id AS depth,"
                  "  frame_id FROM stack_run JOIN stack_node"
                  "  ON id BETWEEN node_id AND node_id + frames - 1;"
                  "CREATE TABLE wanted(stack_id, depth, frame_id); BEGIN");
    const struct writer_frame_roots roots = {root_page(database, "stack_node"),
                                             root_page(database, "stack_run")};
    sqlite3_stmt *insert = insert_frames(database);
    assert_true(writer_frames_begin(&frames, fileno(waiting)));
    add_session(&frames, insert);
    frames.first_stack = 5000;
    frames.first_frame = 70000;
    frames.first_node = frames.nodes;
    add_session(&frames, insert);
    frames.first_stack = 10000;
    frames.first_node = frames.nodes;
    add_session(&frames, insert);
    assert_false(writer_frames_add_run(&frames, &(struct stack_run_row){.stack = UINT32_MAX}));
    assert_int_equal(frames.records.error, EOVERFLOW);
    sqlite3_finalize(insert);
    run(database, "COMMIT");
    sqlite3_close(database);

    const int descriptor = open(frames_path, O_RDWR | O_CLOEXEC);
    struct writer_pages pages;
    struct writer_frame_tables tables;
    assert_true(writer_pages_open(&pages, descriptor, WRITER_LOCK_BYTE));
    writer_frame_tables_open(&tables, &pages, roots);
    assert_true(writer_frames_each(&frames, put_frame, &tables));
    assert_true(writer_frame_tables_finish(&tables));
    writer_frame_tables_close(&tables);
    assert_true(writer_pages_close(&pages));
    close(descriptor);
    assert_int_equal(sqlite3_open(frames_path, &database), SQLITE_OK);
    assert_true(number(database, "SELECT count(*) FROM stack_frame") > 65536);
    compare(database, "stack_frame", "wanted");
    assert_int_equal(number(database, "SELECT count(*) FROM stack_node n JOIN stack_node p"
                                      " ON p.id = n.parent_id WHERE p.id <> n.id + 1"),
                     0);
    sqlite3_stmt *check;
    sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &check, NULL);
    assert_int_equal(sqlite3_step(check), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(check, 0), "ok");
    sqlite3_finalize(check);
    sqlite3_close(database);
    writer_frames_end(&frames);
    fclose(waiting);
    unlink(frames_path);
}

static bool refuse(void *context, const struct writer_frame *row)
{
    return false;
}

/* It stops where the receiver fails, and a file that cannot be read again gives a message. */
static void test_frames_fail(void **state)
{
    struct writer_frames frames;
    FILE *waiting = tmpfile();
    assert_non_null(waiting);
    assert_true(writer_frames_begin(&frames, fileno(waiting)));
    assert_true(writer_frames_add_node(&frames, &(struct stack_node_row){1, 0, 1, 0}));
    assert_false(writer_frames_each(&frames, refuse, NULL));
    assert_int_equal(frames.records.error, 0);
    assert_int_equal(ftruncate(fileno(waiting), 0), 0);
    assert_false(writer_frames_each(&frames, refuse, NULL));
    assert_int_equal(frames.records.error, EIO);
    writer_frames_end(&frames);
    fclose(waiting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_frames_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
