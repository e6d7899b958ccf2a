/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares filters with SQLite: the same condition as SQL over v_allocation gives the same ids.
 * Then checks properties that hold for every filter.
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
#include "pins_sql.h"
#include "session/time.h"
#include "session/session.h"
#include "tests/soak.h"

#define PATH "filters.db"

static struct session *session;
static sqlite3 *database;

static void open_fixture(uint64_t seed, size_t allocations)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    options.seed = seed;
    options.allocations = allocations;
    assert_true(fixture_write(PATH, &options));
    assert_true(fixture_sql(PATH,
                            "INSERT INTO type_candidate SELECT stack_id, size, 0, 'Page' FROM "
                            "allocation WHERE id % 7 = 0 GROUP BY stack_id, size"));
    session = session_open(PATH, &error);
    assert_non_null(session);
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(database,
                     "CREATE TEMP TABLE v AS SELECT v.*, (SELECT f.function FROM v_stack f WHERE "
                     "f.stack_id = v.stack_id AND f.depth = 1 + (SELECT min(sf.depth) FROM "
                     "stack_frame sf JOIN stack st ON st.id = sf.stack_id WHERE sf.stack_id = "
                     "v.stack_id AND sf.frame_id = st.call_site_frame_id)) AS caller, (SELECT "
                     "f.function FROM v_stack f WHERE f.stack_id = v.stack_id AND f.depth = 2 + "
                     "(SELECT min(sf.depth) FROM stack_frame sf JOIN stack st ON st.id = "
                     "sf.stack_id WHERE sf.stack_id = v.stack_id AND sf.frame_id = "
                     "st.call_site_frame_id)) AS frame2 "
                     "FROM v_allocation v",
                     NULL, NULL, NULL),
        SQLITE_OK);
}

static void close_fixture(void)
{
    session_close(session);
    sqlite3_close(database);
}

/* Selects the blocks whose gaps at the peak hold for a condition. The fixture's blocks of the
 * process heap do not overlap. */
#define PINS(condition)                                                                            \
    "id IN (SELECT id FROM (SELECT id, " PINS_SQL " AS pins FROM (SELECT id, " PINS_COLUMNS_SQL    \
    " FROM v_allocation WHERE alloc_ns <= " PEAK_NS                                                \
    " AND COALESCE(free_ns, 1e18) > " PEAK_NS PINS_WINDOW_SQL ")) WHERE " condition ")"
#define PEAK_NS "(SELECT value FROM meta WHERE key = 'peak_ns')"

static const struct {
    const char *filter, *sql;
} pairs[] = {
    {"live at peak | where pins > 100", PINS("pins > 100")},
    {"live at peak | where pins in 1..1K", PINS("pins BETWEEN 1 AND 1024")},
    {"live at peak | where pins == 0", PINS("pins = 0")},
    {"live at peak | where not pins < 64", PINS("pins >= 64")},
    {"live at peak & (where size > 64) | sort pins | where pins != 0",
     PINS("pins != 0") " AND size > 64"},
    {"live at start - 1s | where pins >= 0", "0"},
    {"live at peak | where pins > 10 and arena is not null", PINS("pins > 10") " AND arena_id > 0"},
    {"live at peak | where pins is not null and arena is null", PINS("1")},
    {"all | where lifetime in (end) - (end)..48us", "lifetime_ns BETWEEN 0 AND 48000"},
    {"all | where alloc_time in (start + 1us)..(peak)",
     "alloc_ns BETWEEN 1000 AND (SELECT value FROM meta WHERE key = 'peak_ns')"},
    {"all | where confidence ~ cand", "confidence = 'candidate' OR type_id = 0 AND (stack_id, "
                                      "size) IN (SELECT stack_id, size FROM type_candidate)"},
    {"all | where confidence !~ \"^cand\"",
     "NOT (confidence = 'candidate' OR type_id = 0 AND (stack_id, size) IN (SELECT stack_id, size "
     "FROM type_candidate))"},
    {"all | where confidence ~ \"exact|cand\"",
     "confidence IN ('exact', 'candidate') OR type_id = 0 AND (stack_id, size) IN (SELECT "
     "stack_id, size FROM type_candidate)"},
    {"all | where confidence ~ \"unknown|candidate\"", "confidence IN ('unknown', 'candidate')"},
    {"all | where confidence ~ unk", "type_id = 0"},
    {"all | where confidence == candidate",
     "confidence = 'candidate' OR type_id = 0 AND (stack_id, size) IN (SELECT stack_id, size FROM "
     "type_candidate)"},
    {"all | where confidence != candidate",
     "NOT (confidence = 'candidate' OR type_id = 0 AND (stack_id, size) IN (SELECT stack_id, size "
     "FROM type_candidate))"},
    {"all", "1"},
    {"", "1"},
    {"live", "free_ns IS NULL"},
    {"leaked", "free_ns IS NULL AND stack_id NOT IN (SELECT stack_id FROM runtime_stack)"},
    {"live at end", "free_ns IS NULL"},
    {"live at start", "alloc_ns <= 0 AND COALESCE(free_ns, 1e18) > 0"},
    {"live at 3ms", "alloc_ns <= 3000000 AND COALESCE(free_ns, 1e18) > 3000000"},
    {"live at load", "alloc_ns <= (SELECT ns FROM mark WHERE name = 'load') AND COALESCE(free_ns, "
                     "1e18) > (SELECT ns FROM mark WHERE name = 'load')"},
    {"live at peak", "alloc_ns <= (SELECT value FROM meta WHERE key = 'peak_ns') AND "
                     "COALESCE(free_ns, 1e18) > (SELECT value FROM meta WHERE key = 'peak_ns')"},
    {"live at 25%", "alloc_ns <= (SELECT value / 4 FROM meta WHERE key = 'duration_ns') AND "
                    "COALESCE(free_ns, 1e18) > (SELECT value / 4 FROM meta WHERE key = "
                    "'duration_ns')"},
    {"live at 0%", "alloc_ns <= 0 AND COALESCE(free_ns, 1e18) > 0"},
    {"all | where alloc_time in 12.5%..100%",
     "alloc_ns >= (SELECT value / 8 FROM meta WHERE key = 'duration_ns')"},
    {"all | where lifetime > 0.1%",
     "lifetime_ns > (SELECT value / 1000 FROM meta WHERE key = 'duration_ns')"},
    {"all | where lifetime > 10% - 1us",
     "lifetime_ns > (SELECT value / 10 - 1000 FROM meta WHERE key = 'duration_ns')"},
    {"all | where lifetime > 101%", "0"},
    {"all | where crossed == true", "free_thread_id <> thread_id"},
    {"all | where crossed == false", "free_thread_id IS NULL OR free_thread_id = thread_id"},
    {"all | where crossed != false", "free_thread_id <> thread_id"},
    {"all | where crossed is null", "0"},
    {"all | where free_thread == 2", "free_thread_id = 2"},
    {"all | where free_thread != 2", "free_thread_id <> 2"},
    {"all | where free_thread is null", "free_thread_id IS NULL"},
    {"all | where free_thread ~ \".\"", "free_thread_id IS NOT NULL"},
    {"all | where size == 64", "size = 64"},
    {"where size == 64", "size = 64"},
    {"all | where size != 64", "size != 64"},
    {"all | where size < 64", "size < 64"},
    {"all | where size <= 64", "size <= 64"},
    {"all | where size > 64", "size > 64"},
    {"all | where size >= 64", "size >= 64"},
    {"all | where size < 0", "0"},
    {"all | where size >= 0", "1"},
    {"all | where size > 18446744073709551615", "0"},
    {"all | where size in 64..1K", "size BETWEEN 64 AND 1024"},
    {"all | where size in 1K..64", "0"},
    {"all | where size >= 1.5K and size < 1M", "size >= 1536 AND size < 1048576"},
    {"all | where size is null", "0"},
    {"all | where size is not null", "1"},
    {"all | where count > 1", "count > 1"},
    {"all | where count == 1", "count = 1"},
    {"all | where address >= 0x7f0000000000", "address >= 139637976727552"},
    {"all | where id in 100..200", "id BETWEEN 100 AND 200"},
    {"all | where id != 7", "id != 7"},
    {"all | where id in (7, 100..200, 150..210, 9, 50..40, 0)",
     "id IN (7, 9) OR id BETWEEN 100 AND 210"},
    {"all | where not id in (0..100, 300..18446744073709551615)", "id > 100 AND id < 300"},
    {"all | where stack in (3, 5..7, 99999)", "stack_id IN (3, 5, 6, 7)"},
    {"all | where free_stack in (0, 3, 5..7)", "free_stack_id IN (3, 5, 6, 7)"},
    {"all | where size in (16, 24, 100..120) and count in (1)",
     "(size IN (16, 24) OR size BETWEEN 100 AND 120) AND count = 1"},
    {"all | where address in (0x0..0x10, 5)", "address BETWEEN 0 AND 16"},
    {"all | where type == Node", "type = 'Node'"},
    {"all | where type != Node", "type != 'Node'"},
    {"all | where not type == Node", "NOT COALESCE(type = 'Node', 0)"},
    {"all | where type is null", "type IS NULL"},
    {"all | where type is not null", "type IS NOT NULL"},
    {"all | where type ~ \"^(No|Ta)\"", "type LIKE 'No%' OR type LIKE 'Ta%'"},
    {"all | where type !~ \"o\"", "type NOT LIKE '%o%'"},
    {"all | where type == \"std::vector<Node>\"", "type = 'std::vector<Node>'"},
    {"all | where confidence == exact", "confidence = 'exact'"},
    {"all | where confidence == unknown", "type_id = 0"},
    {"all | where confidence is null", "0"},
    {"all | where function == parse_table", "function = 'parse_table'"},
    {"all | where function ~ parse", "function LIKE '%parse%'"},
    {"all | where function ~ \"parse|_table$\"",
     "function LIKE '%parse%' OR function LIKE '%_table'"},
    {"all | where function !~ parse", "function NOT LIKE '%parse%'"},
    {"all | where caller == main", "caller = 'main'"},
    {"all | where caller ~ node", "caller LIKE '%node%'"},
    {"all | where caller is null", "caller IS NULL"},
    {"all | where frame 0 == parse_table", "function = 'parse_table'"},
    {"all | where frame 1 ~ node", "caller LIKE '%node%'"},
    {"all | where frame 1 is null", "caller IS NULL"},
    {"all | where frame 2 == main", "frame2 = 'main'"},
    {"all | where frame 2 is not null", "frame2 IS NOT NULL"},
    {"all | where frame 200 is null", "1"},
    {"live at peak - 1ms", "alloc_ns <= (SELECT value FROM meta WHERE key = 'peak_ns') - 1000000 "
                           "AND COALESCE(free_ns, 1e18) > (SELECT value FROM meta WHERE key = "
                           "'peak_ns') - 1000000"},
    {"live at (load + 20us - (peak - peak))",
     "alloc_ns <= (SELECT ns FROM mark WHERE name = 'load') + 20000 AND COALESCE(free_ns, 1e18) > "
     "(SELECT ns FROM mark WHERE name = 'load') + 20000"},
    {"live at start - 1s", "0"},
    {"live at end + 1s", "free_ns IS NULL OR free_ns > (SELECT value FROM meta WHERE key = "
                         "'duration_ns') + 1000000000"},
    {"t(A, B) = live at B - live at (A); t(load - 1us, peak)",
     "alloc_ns > (SELECT ns FROM mark WHERE name = 'load') - 1000 AND alloc_ns <= (SELECT value "
     "FROM meta WHERE key = 'peak_ns') AND COALESCE(free_ns, 1e18) > (SELECT value FROM meta WHERE "
     "key = 'peak_ns') OR alloc_ns <= (SELECT value FROM meta WHERE key = 'peak_ns') AND "
     "COALESCE(free_ns, 1e18) > (SELECT value FROM meta WHERE key = 'peak_ns') AND free_ns <= "
     "(SELECT ns FROM mark WHERE name = 'load') - 1000"},
    {"all | where alloc_time >= load - 1ms and lifetime < end - load",
     "alloc_ns >= (SELECT ns FROM mark WHERE name = 'load') - 1000000 AND lifetime_ns < (SELECT "
     "value FROM meta WHERE key = 'duration_ns') - (SELECT ns FROM mark WHERE name = 'load')"},
    {"all | where alloc_time > start - 1s", "1"},
    {"all | where alloc_time == start - 1s", "0"},
    {"all | where alloc_time != start - 1s", "1"},
    {"all | where alloc_time <= start - 1s", "0"},
    {"all | where free_time != start - 1s", "free_ns IS NOT NULL"},
    {"all | where alloc_time in start - 1s..1ms", "alloc_ns <= 1000000"},
    {"all | where alloc_time in start - 2s..start - 1s", "0"},
    {"all | where lifetime > 1ms - 2ms", "1"},
    {"all | where lifetime < start - end", "0"},
    {"all | where lifetime in start - end..1us", "lifetime_ns <= 1000"},
    {"all | join type | where bytes > 1M | ungroup",
     "type IN (SELECT type FROM v_allocation GROUP BY type HAVING sum(size) > 1048576) OR (type IS "
     "NULL AND (SELECT sum(size) FROM v_allocation WHERE type IS NULL) > 1048576)"},
    {"all | join type", "1"},
    {"all | where size > 64 | count", "size > 64"},
    {"all | where stack == 17", "stack_id = 17"},
    {"all | where stack != 17", "stack_id != 17 AND stack_id > 0"},
    {"all | where stack is null", "stack_id = 0"},
    {"all | where free_stack == 3", "free_stack_id = 3"},
    {"all | where free_stack != 3", "free_stack_id != 3"},
    {"all | where free_stack is null", "free_stack_id IS NULL"},
    {"all | where free_stack is not null", "free_stack_id IS NOT NULL"},
    {"all | where stack has main",
     "stack_id IN (SELECT stack_id FROM v_stack WHERE function = 'main')"},
    {"all | where stack has read_table",
     "stack_id IN (SELECT stack_id FROM v_stack WHERE function = 'read_table')"},
    {"all | where not stack has read_table",
     "stack_id NOT IN (SELECT stack_id FROM v_stack WHERE function = 'read_table')"},
    {"all | where free_stack has grow_header",
     "free_stack_id IN (SELECT stack_id FROM v_stack WHERE function = 'grow_header')"},
    {"all | where stack ~ \"_token|_page\"",
     "stack_id IN (SELECT stack_id FROM v_stack WHERE function LIKE '%!_token%' ESCAPE '!' OR "
     "function LIKE '%!_page%' ESCAPE '!')"},
    {"all | where stack !~ \"_token\"", "stack_id > 0 AND stack_id NOT IN (SELECT stack_id FROM "
                                        "v_stack WHERE function LIKE '%!_token%' ESCAPE '!')"},
    {"all | where file == \"node.c\"", "file = '/src/fixture/node.c'"},
    {"all | where file == \"/src/fixture/node.c\"", "file = '/src/fixture/node.c'"},
    {"all | where file != \"node.c\"", "file != '/src/fixture/node.c'"},
    {"all | where file is null", "file IS NULL"},
    {"all | where file ~ \"^/src.*(node|table)\"", "file LIKE '%node%' OR file LIKE '%table%'"},
    {"all | where line in 20..60", "line BETWEEN 20 AND 60"},
    {"all | where line != 30", "line != 30"},
    {"all | where line > 30", "line > 30"},
    {"all | where line is null", "line IS NULL"},
    {"all | where line is not null", "line IS NOT NULL"},
    {"all | where module == \"libstore.so.2\"", "module = 'libstore.so.2'"},
    {"all | where module ~ \"^lib\"", "module LIKE 'lib%'"},
    {"all | where thread == 2", "thread_id = 2"},
    {"all | where thread == main", "thread = 'main'"},
    {"all | where thread ~ \"worker [12]\"", "thread IN ('worker 1', 'worker 2')"},
    {"all | where thread != 1", "thread_id != 1"},
    {"all | where process == server", "process_id = 1"},
    {"all | where process != 4711", "pid = 4800"},
    {"all | where process ~ \"^h\"", "process = 'helper'"},
    {"all | where process is null", "0"},
    {"process helper", "process_id = 2"},
    {"all | where size > 64 | process 4711", "pid = 4711 AND size > 64"},
    {"process \"/opt/server\"", "0"},
    {"all | where arena is null", "arena_id = 0"},
    {"all | where kind == realloc", "kind = 'realloc'"},
    {"all | where kind ~ \"^new\"", "kind LIKE 'new%'"},
    {"all | where alloc_time < 2ms", "alloc_ns < 2000000"},
    {"all | where alloc_time in load..serve",
     "alloc_ns BETWEEN (SELECT ns FROM mark WHERE name = 'load') AND (SELECT ns FROM mark WHERE "
     "name = 'serve')"},
    {"all | where alloc_time >= \"shut down\"",
     "alloc_ns >= (SELECT ns FROM mark WHERE name = 'shut down')"},
    {"all | where free_time < 4ms", "free_ns < 4000000"},
    {"all | where free_time != 4ms", "free_ns != 4000000"},
    {"all | where free_time >= 0", "free_ns IS NOT NULL"},
    {"all | where free_time is null", "free_ns IS NULL"},
    {"all | where free_time is not null", "free_ns IS NOT NULL"},
    {"all | where lifetime > 100us", "lifetime_ns > 100000"},
    {"all | where lifetime in 1us..1ms", "lifetime_ns BETWEEN 1000 AND 1000000"},
    {"all | where lifetime <= 64ns", "lifetime_ns <= 64"},
    {"all | where freed == true", "free_ns IS NOT NULL"},
    {"all | where freed != true", "free_ns IS NULL"},
    {"all | where freed == false", "free_ns IS NULL"},
    {"all | where freed is null", "0"},
    {"all | where size > 64 and kind == malloc or thread == 2",
     "(size > 64 AND kind = 'malloc') OR thread_id = 2"},
    {"all | where size > 64 and (kind == malloc or thread == 2)",
     "size > 64 AND (kind = 'malloc' OR thread_id = 2)"},
    {"all | where not size > 64 and not not thread == 2", "size <= 64 AND thread_id = 2"},
    {"all | where size > 64 | where thread == 1 | where freed == true",
     "size > 64 AND thread_id = 1 AND free_ns IS NOT NULL"},
    {"all - live", "free_ns IS NOT NULL"},
    {"live + (all | where size > 1K)", "free_ns IS NULL OR size > 1024"},
    {"live & (all | where size > 1K)", "free_ns IS NULL AND size > 1024"},
    {"all - live & (all | where thread == 1)", "free_ns IS NOT NULL AND thread_id = 1"},
    {"(live at load) - (live at serve) | where size > 32",
     "size > 32 AND alloc_ns <= (SELECT ns FROM mark WHERE name = 'load') AND free_ns > (SELECT "
     "ns FROM mark WHERE name = 'load') AND free_ns <= (SELECT ns FROM mark WHERE name = "
     "'serve')"},
    {"big = all | where size > 1K; kept = big & live; big - kept",
     "size > 1024 AND free_ns IS NOT NULL"},
    {"all | color red where size > 64 | color blue where thread == 1 | where color == red",
     "size > 64 AND thread_id != 1"},
    {"all | color red where size > 64 | where color is null", "size <= 64"},
    {"all | color red where size > 64 | where color != red", "0"},
    {"all | color 7 | where color == white", "1"},
    {"all | color red | color blue where color == red and size > 64 | where color == blue",
     "size > 64"},
    {"(all | color red where size > 64) + live | where color is not null", "size > 64"},
    {"(all | color red | where size > 64) + all | where color is not null", "size > 64"},
    {"live + (all | color red where size > 64) | where color == red", "size > 64"},
    {"all | where color is null", "1"},
    {"all | top 50", "id <= 50"},
    {"all | top 0", "0"},
    {"all | top 100000000", "1"},
    {"all | sort size desc | top 10", "id IN (SELECT id FROM v ORDER BY size DESC, id LIMIT 10)"},
    {"all | sort free_time desc | top 30",
     "id IN (SELECT id FROM v ORDER BY free_ns IS NULL, free_ns DESC, id LIMIT 30)"},
    {"all | sort type | top 3000 | where size > 64",
     "size > 64 AND id IN (SELECT id FROM v ORDER BY type IS NULL, type, id LIMIT 3000)"},
    {"(all | sort size | top 5) + (all | sort lifetime desc | top 5)",
     "id IN (SELECT id FROM v ORDER BY size, id LIMIT 5) OR id IN (SELECT id FROM v ORDER BY "
     "lifetime_ns DESC, id LIMIT 5)"},
};

static void compare_pair(const char *filter, const char *condition)
{
    struct session_error error = {.column = 0};
    struct selection *selection = selection_new(session, filter, &error);
    if (!selection)
        fail_msg("%s: column %d: %s", filter, error.column, error.message);
    char sql[4096];
    sqlite3_stmt *statement;
    snprintf(sql, sizeof(sql), "SELECT id, size, free_ns IS NULL FROM v WHERE %s ORDER BY id",
             condition);
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    uint64_t next = 1;
    uint64_t count = 0;
    uint64_t bytes = 0;
    uint64_t live_bytes = 0;
    uint64_t live_count = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        uint64_t id = (uint64_t)sqlite3_column_int64(statement, 0);
        uint64_t size = (uint64_t)sqlite3_column_int64(statement, 1);
        for (; next < id; next++) {
            if (selection_contains(selection, next))
                fail_msg("%s: has %llu too much", filter, (unsigned long long)next);
        }
        if (!selection_contains(selection, id))
            fail_msg("%s: lacks %llu", filter, (unsigned long long)id);
        next = id + 1;
        count++;
        bytes += size;
        if (sqlite3_column_int(statement, 2)) {
            live_bytes += size;
            live_count++;
        }
    }
    for (; next <= session_allocation_count(session); next++) {
        if (selection_contains(selection, next))
            fail_msg("%s: has %llu too much", filter, (unsigned long long)next);
    }
    assert_int_equal(selection_count(selection), count);
    assert_int_equal(selection_bytes(selection), bytes);
    assert_int_equal(selection_live_bytes(selection), live_bytes);
    assert_int_equal(selection_live_count(selection), live_count);
    assert_false(selection_contains(selection, 0));
    assert_false(selection_contains(selection, UINT64_MAX));
    sqlite3_finalize(statement);
    selection_free(selection);
}

static void test_against_sql(void **state)
{
    for (uint64_t seed = 1; seed <= in_soak(3, 1); seed++) {
        open_fixture(seed, 6000 + seed);
        for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
            compare_pair(pairs[i].filter, pairs[i].sql);
        close_fixture();
    }
}

/* Several chunks, so that whole chunks are skipped or taken by their min and max. */
static void test_chunks_against_sql(void **state)
{
    open_fixture(9, 140000);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i += in_soak(1, 6))
        compare_pair(pairs[i].filter, pairs[i].sql);
    compare_pair("all | where id in 65536..65537", "id BETWEEN 65536 AND 65537");
    compare_pair("all | where id in 70000..139999", "id BETWEEN 70000 AND 139999");
    compare_pair("all | where id in (3, 65536..65537, 131000..139999)",
                 "id = 3 OR id BETWEEN 65536 AND 65537 OR id BETWEEN 131000 AND 139999");
    close_fixture();
}

static void test_order(void **state)
{
    static const struct {
        const char *filter, *sql;
    } orders[] = {
        {"all", "1 ORDER BY id"},
        {"all | where size > 64", "size > 64 ORDER BY id"},
        {"all | sort size", "1 ORDER BY size, id"},
        {"all | sort size desc", "1 ORDER BY size DESC, id"},
        {"all | sort function", "1 ORDER BY function IS NULL, function, id"},
        {"all | sort function desc", "1 ORDER BY function IS NULL, function DESC, id"},
        {"all | sort free_time", "1 ORDER BY free_ns IS NULL, free_ns, id"},
        {"all | sort type desc", "1 ORDER BY type IS NULL, type DESC, id"},
        {"all | sort file", "1 ORDER BY file IS NULL, file, id"},
        {"all | sort line desc", "1 ORDER BY line IS NULL, line DESC, id"},
        {"all | sort caller", "1 ORDER BY caller IS NULL, caller, id"},
        {"all | sort thread desc", "1 ORDER BY thread DESC, id"},
        {"all | sort process", "1 ORDER BY pid DESC, id"},
        {"all | sort kind", "1 ORDER BY kind, id"},
        {"all | sort module", "1 ORDER BY module IS NULL, module, id"},
        {"all | sort confidence", "1 ORDER BY confidence, id"},
        {"all | sort lifetime desc", "1 ORDER BY lifetime_ns DESC, id"},
        {"all | sort alloc_time desc", "1 ORDER BY alloc_ns DESC, id"},
        {"all | sort address", "1 ORDER BY address, id"},
        {"all | sort id desc", "1 ORDER BY id DESC"},
        {"all | sort count desc", "1 ORDER BY count DESC, id"},
        {"all | sort stack", "1 ORDER BY stack_id = 0, stack_id, id"},
        {"all | sort free_stack", "1 ORDER BY free_stack_id IS NULL, free_stack_id, id"},
        {"all | sort freed", "1 ORDER BY free_ns IS NOT NULL, id"},
        {"all | color 9 where size > 64 | color 3 where thread == 1 | sort color",
         "1 ORDER BY CASE WHEN thread_id = 1 THEN 3 WHEN size > 64 THEN 9 ELSE 999 END, id"},
        {"all | sort size | top 7", "1 ORDER BY size, id LIMIT 7"},
        {"all | sort size | sort kind", "1 ORDER BY kind, id"},
        {"(all | sort size) + live", "1 ORDER BY id"},
    };
    open_fixture(4, 5000);
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        struct session_error error = {.column = 0};
        struct selection *selection = selection_new(session, orders[i].filter, &error);
        assert_non_null(selection);
        char sql[512];
        sqlite3_stmt *statement;
        snprintf(sql, sizeof(sql), "SELECT id FROM v WHERE %s", orders[i].sql);
        assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
        uint64_t n = 0;
        struct session_allocation row;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            assert_true(selection_row(selection, n, &row));
            if (row.id != (uint64_t)sqlite3_column_int64(statement, 0))
                fail_msg("%s: row %llu", orders[i].filter, (unsigned long long)n);
            n++;
        }
        assert_int_equal(selection_count(selection), n);
        assert_false(selection_row(selection, n, &row));
        sqlite3_finalize(statement);
        selection_free(selection);
    }
    struct session_allocation row;
    assert_false(selection_row(NULL, 0, &row));
    close_fixture();
}

static uint64_t count_of(const char *filter)
{
    struct session_error error = {.column = 0};
    struct selection *selection = selection_new(session, filter, &error);
    if (!selection)
        fail_msg("%s: column %d: %s", filter, error.column, error.message);
    uint64_t count = selection_count(selection);
    selection_free(selection);
    return count;
}

/* p and not p together give everything and share nothing, with or without nulls. */
static void test_complements(void **state)
{
    open_fixture(5, 5000);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        static const char start[] = "all | where ";
        const char *predicate = pairs[i].filter;
        if (strncmp(predicate, start, sizeof(start) - 1) != 0 ||
            strchr(predicate + sizeof(start), '|'))
            continue;
        predicate += sizeof(start) - 1;
        char both[512];
        char either[512];
        snprintf(both, sizeof(both), "all | where (%s) and not (%s)", predicate, predicate);
        snprintf(either, sizeof(either), "all | where (%s) or not (%s)", predicate, predicate);
        assert_int_equal(count_of(both), 0);
        assert_int_equal(count_of(either), 5000);
    }
    close_fixture();
}

static void test_run_errors(void **state)
{
    open_fixture(6, 1000);
    struct session_error error = {.column = 0};
    assert_null(selection_new(session, "live at nowhere", &error));
    assert_int_equal(error.column, 9);
    assert_non_null(strstr(error.message, "no mark named \"nowhere\""));
    assert_null(selection_new(session, "all | where alloc_time > \"then\"", &error));
    assert_int_equal(error.column, 26);
    assert_null(selection_new(session, "all | where stack == main", &error));
    assert_int_equal(error.column, 22);
    assert_null(selection_new(session, "all | wher", &error));
    assert_int_equal(error.column, 7);
    /* Each name doubles the work: the filter is refused, not run for hours. */
    char text[1024] = "a0 = all; ";
    for (int i = 1; i < 20; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "a%d = a%d + a%d; ", i, i - 1,
                 i - 1);
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "a19");
    assert_null(selection_new(session, text, &error));
    assert_non_null(strstr(error.message, "more than 1000 pipelines"));
    /* A session can be used after errors. */
    assert_int_equal(count_of("all"), 1000);
    close_fixture();
}

/* Compares each text with what SQL gives. */
static void test_moments(void **state)
{
    struct session_error error;
    static const struct {
        const char *text, *sql;
    } moments[] = {
        {"start", "SELECT 0"},
        {"end", "SELECT value FROM meta WHERE key = 'duration_ns'"},
        {"peak - 1us", "SELECT value - 1000 FROM meta WHERE key = 'peak_ns'"},
        {"2.5us", "SELECT 2500"},
        {"load + 3ns", "SELECT ns + 3 FROM mark WHERE name = 'load'"},
    };
    static const struct {
        const char *text;
        int column;
    } wrong[] = {
        {"", 1}, {"yesterday", 1}, {"5us where", 5}, {"\"nowhere\"", 1}, {"start - 1s", 1}};
    uint64_t ns;
    open_fixture(1, 3000);
    for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
        sqlite3_stmt *statement;
        assert_int_equal(sqlite3_prepare_v2(database, moments[i].sql, -1, &statement, NULL), 0);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        assert_true(session_moment(session, moments[i].text, &ns, &error));
        assert_int_equal(ns, sqlite3_column_int64(statement, 0));
        sqlite3_finalize(statement);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_false(session_moment(session, wrong[i].text, &ns, &error));
        assert_int_equal(error.column, wrong[i].column);
        assert_string_not_equal(error.message, "");
        assert_false(session_moment(session, wrong[i].text, &ns, NULL));
    }
    /* Durations: half of the run, and what lies between two times. */
    uint64_t end;
    assert_true(session_moment(session, "end", &end, &error));
    assert_true(session_duration(session, "50% + 3ns", &ns, &error));
    assert_int_equal(ns, end / 2 + 3);
    assert_true(session_duration(session, "end - start", &ns, &error));
    assert_int_equal(ns, end);
    assert_false(session_duration(session, "end", &ns, &error));
    assert_false(session_duration(session, "start - end", &ns, &error));
    assert_int_equal(error.column, 1);
    close_fixture();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_sql), cmocka_unit_test(test_chunks_against_sql),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_complements),
        cmocka_unit_test(test_run_errors),  cmocka_unit_test(test_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
