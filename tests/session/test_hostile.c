/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions from someone who wants the reader to hang, to crash or to take all memory: each is
 * refused with a reason, or answered, in a bounded time.
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
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "session/code_facts.h"
#include "session/session.h"

#define PATH "hostile.db"

/* No session here takes this long, not even in an emulator on a loaded machine: the signal ends a
 * test that hangs. */
enum { SECONDS_MAX = 1500 };

static struct session_error error;

/* Makes the session, the first time by the fixture, then as a copy. */
static void fresh(void)
{
    static char *bytes;
    static size_t size;
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 300;
    unlink(PATH);
    if (!bytes)
        assert_true(fixture_write(PATH, &options));
    FILE *file = fopen(PATH, bytes ? "wb" : "rb");
    assert_non_null(file);
    if (bytes) {
        assert_int_equal(fwrite(bytes, 1, size, file), size);
    } else {
        struct stat about;
        assert_int_equal(fstat(fileno(file), &about), 0);
        size = (size_t)about.st_size;
        bytes = malloc(size);
        assert_non_null(bytes);
        assert_int_equal(fread(bytes, 1, size, file), size);
    }
    assert_int_equal(fclose(file), 0);
}

/* Asks what a first screen asks. */
static void ask(struct session *session)
{
    struct session_slot slots[20];
    struct session_function_row *rows;
    struct session_region *regions;
    struct session_legend legend;
    const struct session_process *processes;
    size_t count;
    struct selection *selection = selection_new(session, NULL, &error);
    if (!selection)
        return;
    selection_timeline(selection, 0, session_duration_ns(session) + 1, 20, SESSION_COLOR_AGE, slots,
                       &error);
    selection_timeline(selection, 5, 6, 20, SESSION_COLOR_AGE, slots, &error);
    selection_legend(selection, SESSION_COLOR_FUNCTION, &legend);
    if (selection_functions(selection, &rows, &count, &error))
        free(rows);
    if (session_regions(session, session_peak_ns(session), &regions, &count, &error))
        free(regions);
    session_processes(session, &processes);
    selection_free(selection);
}

/* Returns whether the session opened. If not, the message has `expected` and the file's name. */
static bool try_sql(const char *sql, const char *expected)
{
    fresh();
    if (!fixture_sql(PATH, sql))
        return false;
    alarm(SECONDS_MAX);
    error.message[0] = '\0';
    struct session *session = session_open(PATH, &error);
    if (session) {
        ask(session);
        session_close(session);
    } else if (!strstr(error.message, expected) || !strstr(error.message, PATH)) {
        fail_msg("%s: \"%s\" does not say \"%s\"", sql, error.message, expected);
    }
    alarm(0);
    return session != NULL;
}

static void refused(const char *sql, const char *expected)
{
    if (try_sql(sql, expected))
        fail_msg("%s: the session opened", sql);
}

/* Calls `each` with the name of each table of the schema. Returns their number. */
static int each_table(void (*each)(const char *table))
{
    FILE *file = fopen(SESSION_SCHEMA, "r");
    char line[256], name[64];
    int count = 0;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "CREATE TABLE %63[a-z_]", name) == 1) {
            each(name);
            count++;
        }
    }
    fclose(file);
    return count;
}

static int views_refused;

/* Makes a view with the same rows of a table. The session opens only if nothing reads the table. */
static void as_view(const char *table)
{
    static const char *const needed[] = {"meta",  "module",       "source_file",  "function",
                                         "frame", "stack",        "process",      "thread",
                                         "type",  "arena",        "mark",         "rss",
                                         "kind",  "column_chunk", "runtime_stack"};
    char sql[512], expected[96];
    snprintf(sql, sizeof(sql),
             "PRAGMA legacy_alter_table = ON; ALTER TABLE %s RENAME TO real_%s;"
             "CREATE VIEW %s AS SELECT * FROM real_%s",
             table, table, table, table);
    snprintf(expected, sizeof(expected), "%s is not a table", table);
    const bool opened = try_sql(sql, expected);
    views_refused += !opened;
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (strcmp(needed[i], table) == 0 && opened)
            fail_msg("%s may be a view", table);
}

static void test_views(void **state)
{
    assert_true(each_table(as_view) > 30);
    assert_true(views_refused >= 15);
}

static void test_virtual_tables(void **state)
{
    refused("DROP TABLE rss; CREATE VIRTUAL TABLE rss USING fts5(ns, bytes, process_id)",
            "rss is not a table");
    refused("DROP TABLE mark; CREATE VIRTUAL TABLE mark USING rtree(id, ns, kind)",
            "mark is not a table");
    /* Others do not harm: a user may add an index of texts. */
    assert_true(try_sql("CREATE VIRTUAL TABLE notes USING fts5(text)", ""));
}

/* The views of the schema with any text are not read, so they do not harm. */
static void test_endless_views(void **state)
{
    assert_true(try_sql(
        "DROP VIEW v_process; CREATE VIEW v_process AS WITH RECURSIVE n(i) AS (SELECT 1 UNION "
        "ALL SELECT i + 1 FROM n) SELECT i AS process_id, i AS pid, '' AS program, '' AS argv,"
        "'' AS executable, 0 AS start_ns, 0 AS end_ns, 0 AS allocations, 0 AS frees, 0 AS bytes,"
        "0 AS live_count, 0 AS live_bytes, 0 AS peak_bytes, 0 AS peak_ns, 1 AS place,"
        "0 AS executed_from, 0 AS parent_id FROM n WHERE i < 0",
        ""));
    /* A view cannot take the place of the table that the schema's view was about. */
    refused("DROP TABLE process; CREATE VIEW process AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
            "SELECT i + 1 FROM n) SELECT i AS id, i AS pid, 1 AS machine FROM n",
            "process is not a table");
    /* One in the place of a table reads no table either, and is refused before it runs. */
    refused("DROP TABLE rss; CREATE VIEW rss AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
            "SELECT i + 1 FROM n) SELECT i AS ns, i AS bytes, 1 AS process_id FROM n",
            "rss is not a table");
    refused("DROP TABLE mark; CREATE VIEW mark AS SELECT 1 AS id, 1 AS ns, 'mark' AS kind, "
            "'m' AS name, 1 AS process_id",
            "mark is not a table");
    /* A user's own view does not harm. */
    assert_true(try_sql("CREATE VIEW mine AS SELECT * FROM rss", ""));
    assert_true(try_sql(
        "DROP VIEW v_process; CREATE VIEW v_process AS SELECT load_extension('x') AS process_id,"
        "0 AS pid, '' AS program, '' AS argv, '' AS executable, 0 AS start_ns, 0 AS end_ns,"
        "0 AS allocations, 0 AS frees, 0 AS bytes, 0 AS live_count, 0 AS live_bytes,"
        "0 AS peak_bytes, 0 AS peak_ns, 1 AS place, 0 AS executed_from, 0 AS parent_id",
        ""));
}

/* A table may compute its values, too. */
static void test_computed_columns(void **state)
{
    refused("DROP TABLE rss; CREATE TABLE rss(ns INTEGER, process_id INTEGER DEFAULT 1,"
            "bytes INTEGER AS (length(hex(zeroblob(300000000)))));"
            "INSERT INTO rss(ns) VALUES (1), (2), (3)",
            "rss is not a table");
}

/* Changes the text of the table allocation. Its own computed columns are read, no others. */
static void change_allocation(const char *from, const char *to, bool may_read)
{
    char sql[512];
    bool any;
    snprintf(sql, sizeof(sql),
             "INSERT INTO arena(id, collected) VALUES (1, 1); PRAGMA writable_schema = ON;"
             "UPDATE sqlite_schema SET sql = replace(sql, '%s', '%s') WHERE name = 'allocation'",
             from, to);
    fresh();
    assert_true(fixture_sql(PATH, sql));
    struct session *session = session_open(PATH, &error);
    if (!session)
        fail_msg("%s", error.message);
    assert_int_equal(session_has_collected(session, &any, &error), may_read);
    assert_true(may_read || strstr(error.message, "allocation is not a table"));
    session_close(session);
}

static void test_computed_allocation(void **state)
{
    static const char large[] = "length(hex(zeroblob(300000000)))";
    char computed[64];
    snprintf(computed, sizeof(computed), "arena_id INTEGER AS (%s)", large);
    change_allocation("(0 + ", "(4096 + ", true);
    change_allocation("(0 + ", "(length(hex(zeroblob(300000000))) + ", false);
    change_allocation("alloc_ns + lived_ns", large, false);
    change_allocation("arena_id INTEGER NOT NULL DEFAULT 0", computed, false);
}

static void test_numbers(void **state)
{
    static const struct {
        const char *sql, *expected;
    } cases[] = {
        {"UPDATE meta SET value = -1 WHERE key = 'duration_ns'", "duration_ns is -1"},
        {"UPDATE meta SET value = 'much' WHERE key = 'duration_ns'", "duration_ns is much"},
        {"UPDATE meta SET value = -5 WHERE key = 'peak_ns'", "peak_ns is -5"},
        {"UPDATE meta SET value = -5 WHERE key = 'peak_bytes'", "peak_bytes is -5"},
        {"INSERT INTO rss(ns, bytes) VALUES (-1, 5)", "table rss is damaged: ns is -1"},
        {"INSERT INTO rss(ns, bytes) VALUES (1, -5)", "table rss is damaged: bytes is -5"},
        {"INSERT INTO mark(ns, kind) VALUES (-1, 'user')", "table mark is damaged: ns is -1"},
        {"UPDATE thread SET start_ns = -1 WHERE id = 1", "table thread is damaged: start_ns is -1"},
        {"UPDATE thread SET bytes = -1 WHERE id = 1", "table thread is damaged: bytes is -1"},
        {"UPDATE process SET start_ns = -1", "table process is damaged: start_ns is -1"},
        {"UPDATE process SET end_ns = 1, start_ns = 2", "table process is damaged"},
        {"UPDATE process SET peak_bytes = -1", "table process is damaged: peak_bytes is -1"},
        {"UPDATE process SET first_allocation_id = 1, last_allocation_id = 99999999",
         "table process is damaged"},
        {"INSERT INTO stack(id, depth, state) VALUES (2000000000, 1, 'complete')",
         "ids of table stack are damaged"},
        {"INSERT INTO frame(id, module_id, pc, function_id) VALUES (2000000000, 1, 1, 1)",
         "ids of table frame are damaged"},
        {"INSERT INTO type(id, name, confidence) VALUES (2000000000, 'x', 'exact')",
         "ids of table type are damaged"},
        {"INSERT INTO arena(id) VALUES (2000000000)", "ids of table arena are damaged"},
        {"INSERT INTO kind VALUES (-4, 'x')", "ids of table kind are damaged"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        refused(cases[i].sql, cases[i].expected);
}

/* Numbers that are possible, but much larger or smaller than the rest. */
static void test_odd_numbers(void **state)
{
    static const char *const changes[] = {
        "UPDATE meta SET value = 0 WHERE key IN ('duration_ns', 'timeline_slot_ns')",
        "UPDATE meta SET value = 9223372036854775807 WHERE key IN ('duration_ns', 'peak_ns')",
        "UPDATE meta SET value = 1 WHERE key = 'duration_ns'",
        "UPDATE meta SET value = 9223372036854775807 WHERE key IN ('behind_ns', 'sample_interval')",
        "UPDATE meta SET value = -7 WHERE key IN ('sample_interval', 'selected_process', 'stacks')",
        "UPDATE meta SET value = 2147483648 WHERE key IN ('stacks', 'threads', 'rows')",
        "UPDATE meta SET value = 0 WHERE key = 'timeline_slot_ns'",
        "INSERT INTO rss(ns, bytes) VALUES (9223372036854775807, 9223372036854775807)",
        "INSERT INTO mark(ns, kind) VALUES (9223372036854775807, 'user')",
        "UPDATE process SET end_ns = 9223372036854775807",
        "DELETE FROM process",
        "DELETE FROM thread",
        "DELETE FROM kind",
        "UPDATE stack SET depth = 2147483647",
        "UPDATE meta SET value = zeroblob(1000000)",
        "UPDATE meta SET value = printf('%.*c', 1000000, '9') WHERE key = 'peak_count'",
        "UPDATE meta SET key = NULL WHERE 0; INSERT INTO meta VALUES ('', NULL)",
    };
    int opened = 0;
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
        opened += try_sql(changes[i], PATH);
    assert_true(opened > 5);
}

/* Loads the frames of all stacks, and those of some of them. Returns whether both are possible. If
 * not, the message has `expected` and the file's name. */
static bool try_frames(const char *sql, const char *expected)
{
    struct session_function_row *rows;
    const uint32_t *frames;
    size_t count;
    bool some = true;
    fresh();
    assert_true(fixture_sql(PATH, sql));
    alarm(SECONDS_MAX);
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    for (uint32_t stack = 0; some && stack <= session_stack_largest(session); stack++)
        some = session_stack_frames(session, stack, &frames, &count, &error);
    struct selection *selection = selection_new(session, "all | where size > 0", &error);
    assert_non_null(selection);
    const bool all = selection_functions(selection, &rows, &count, &error);
    if (all)
        free(rows);
    else if (!strstr(error.message, expected) || !strstr(error.message, PATH))
        fail_msg("%s: \"%s\" does not say \"%s\"", sql, error.message, expected);
    selection_free(selection);
    session_close(session);
    alarm(0);
    return some && all;
}

/* Nodes of stacks that are missing, or whose parents are not outward of them. */
static void test_nodes(void **state)
{
    static const struct {
        const char *sql, *expected;
    } cases[] = {
        {"DELETE FROM stack_node", "stack_node is damaged at node"},
        {"DELETE FROM stack_node WHERE id = 3", "stack_node is damaged at node 4"},
        {"DELETE FROM stack_node WHERE id = (SELECT max(id) FROM stack_node)",
         "stack_node is damaged"},
        {"UPDATE stack_node SET id = -id", "stack_node is damaged at node -"},
        {"UPDATE stack_node SET id = id + 9000000000", "stack_node is damaged at node"},
        {"INSERT INTO stack_node VALUES (9223372036854775807, 0, 1)",
         "stack_node is damaged at node 9223372036854775807"},
        {"UPDATE stack_node SET parent_id = id WHERE id = 5", "stack_node is damaged at node 5"},
        {"UPDATE stack_node SET parent_id = 3 WHERE id = 5", "stack_node is damaged at node 5"},
        {"UPDATE stack_node SET parent_id = -1 WHERE id = 5", "stack_node is damaged at node 5"},
        {"UPDATE stack_node SET parent_id = 1 << 40 WHERE id = 5",
         "stack_node is damaged at node 5"},
        {"UPDATE stack_node SET parent_id = 4000000 WHERE id = 5", "a parent is missing"},
        {"DELETE FROM packed_array; UPDATE stack SET node_id = 9999999 WHERE id = 5",
         "stack_node is damaged at node 9999999"},
        {"DROP TABLE stack_node", "stack_node"},
        {"ALTER TABLE stack_node RENAME TO other; CREATE VIEW stack_node AS SELECT * FROM other",
         "stack_node is not a table"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (try_frames(cases[i].sql, cases[i].expected))
            fail_msg("%s: nothing is wrong", cases[i].sql);
    assert_true(try_frames("VACUUM", ""));
}

/* A session that is still written: its file may be small, and its log hold nearly everything. */
static void test_large_log(void **state)
{
    sqlite3 *writer;
    fresh();
    assert_int_equal(sqlite3_open(PATH, &writer), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(
            writer,
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF;"
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000)"
            "INSERT INTO rss(ns, bytes) SELECT i, i FROM n;"
            "INSERT INTO meta VALUES ('padding', zeroblob(3000000))",
            NULL, NULL, NULL),
        SQLITE_OK);
    struct session *session = session_open(PATH, &error);
    if (!session)
        fail_msg("%s", error.message);
    const struct session_rss *samples;
    assert_true(session_rss(session, &samples) >= 2000000);
    session_close(session);
    sqlite3_close(writer);
}

/* Neither waits for who writes to a pipe nor reads a device. */
static void test_no_files(void **state)
{
    static const char *const paths[] = {"hostile.pipe", ".", "/dev/zero"};
    unlink(paths[0]);
    assert_int_equal(mkfifo(paths[0], 0600), 0);
    alarm(SECONDS_MAX);
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        assert_null(session_open(paths[i], &error));
        assert_non_null(strstr(error.message, "not a regular file"));
    }
    alarm(0);
    unlink(paths[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_virtual_tables),
        cmocka_unit_test(test_endless_views),
        cmocka_unit_test(test_computed_columns),
        cmocka_unit_test(test_computed_allocation),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_odd_numbers),
        cmocka_unit_test(test_large_log),
        cmocka_unit_test(test_no_files),
        cmocka_unit_test(test_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
