/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who keeps blocks alive, on random heaps: compared with the definition. A block retains what can
 * be reached only as long as it is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "ingest/write/derived.h"
#include "schemas/trace_references.h"
#include "session_sql.h"

#define HEAP UINT64_C(0x10000000)
#define DATA UINT64_C(0x500000)
#define STACK UINT64_C(0x7f0000000000)

enum { BLOCKS = 40, STEP = 64, WORDS_OUTSIDE = 8, ROUNDS = 60 };

static uint64_t state_of_random;

static uint64_t draw(uint64_t below)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return state_of_random % below;
}

/* The heap: 0 is the outside, and block i has the number i. */
struct model {
    uint64_t size[BLOCKS + 1];
    int strong[BLOCKS + 1][BLOCKS + 1], all[BLOCKS + 1][BLOCKS + 1]; /* references */
};

static void run(sqlite3 *database, const char *format, ...)
{
    char *sql, *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    assert_non_null(sql);
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_free(sql);
}

static int64_t number(sqlite3 *database, const char *format, ...)
{
    sqlite3_stmt *query;
    int64_t found = -1;
    va_list arguments;
    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &query, NULL), SQLITE_OK);
    if (sqlite3_step(query) == SQLITE_ROW)
        found = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    sqlite3_free(sql);
    return found;
}

/* Draws what a word holds: the start of a block, its middle, or memory that is free. */
static uint64_t draw_target(struct model *model, int from)
{
    const int to = 1 + (int)draw(BLOCKS);
    const uint64_t where = draw(4), address = HEAP + (uint64_t)to * STEP;
    if (where == 0)
        return address + STEP - 8; /* behind the block */
    if (from != to) {
        model->all[from][to]++;
        model->strong[from][to] += where != 1;
    }
    return where == 1 ? address + 8 : address;
}

/* Fills the session with a snapshot. */
static void fill(sqlite3 *database, struct model *model)
{
    struct trace_references_words words = {.count = 0};
    uint8_t data[TRACE_EXTENDED_MAX], *end = data;
    sqlite3_stmt *put;
    memset(model, 0, sizeof(*model));
    run(database, "INSERT INTO thread(id, tid, name) VALUES (1, 77, 'main')");
    run(database, "INSERT INTO heap_snapshot VALUES (1,1,500,'end','end',0,1,0,0,0,0,NULL)");
    run(database,
        "INSERT INTO heap_range VALUES (1,%lld,4096,'rw-','data','/bin/x',0),"
        "(1,%lld,%d,'rw-','heap','[heap]',0),(1,%lld,4096,'rw-','stack','[stack]',0)",
        DATA, HEAP, (BLOCKS + 2) * STEP, STACK);
    run(database, "INSERT INTO heap_thread VALUES (1,77,%lld,0)", STACK + 64);
    run(database, "INSERT INTO heap_variable VALUES (1,%lld,8,'first',NULL)", DATA);
    for (int i = 1; i <= BLOCKS; i++) {
        model->size[i] = 16 + draw(4) * 8;
        run(database,
            "INSERT INTO allocation(id, whole_address, size, stack_id, alloc_ns, lived_ns) VALUES"
            " (%d,%lld,%lld,0,%d,%s)",
            i, HEAP + (uint64_t)i * STEP, model->size[i], i, draw(2) ? "NULL" : "500");
    }
    /* Blocks that had ended, or had not begun. */
    run(database,
        "INSERT INTO allocation(id, whole_address, size, stack_id, alloc_ns, lived_ns) VALUES"
        " (100,%lld,32,0,1,1),(101,%lld,32,0,600,NULL)",
        HEAP + 8, HEAP + 16);
    for (uint64_t i = 0; i < WORDS_OUTSIDE; i++)
        if (draw(3) == 0)
            trace_references_add(
                &words, (struct trace_references_word){DATA + i * 8, draw_target(model, 0), false});
    for (int i = 1; i <= BLOCKS; i++) {
        for (uint64_t offset = 0; offset < model->size[i]; offset += 8)
            if (draw(4) == 0)
                trace_references_add(
                    &words, (struct trace_references_word){HEAP + (uint64_t)i * STEP + offset,
                                                           draw_target(model, i), false});
        /* A word that the allocator has left in free memory. */
        trace_references_add(
            &words, (struct trace_references_word){HEAP + (uint64_t)i * STEP + STEP - 8,
                                                   HEAP + (1 + draw(BLOCKS)) * STEP, false});
    }
    for (uint64_t i = 0; i < WORDS_OUTSIDE; i++)
        if (draw(4) == 0)
            trace_references_add(&words, (struct trace_references_word){
                                             STACK + 64 + i * 8, draw_target(model, 0), false});
    end = trace_put_varint(end, words.count);
    memcpy(end, words.pairs, words.used);
    end += words.used;
    assert_int_equal(
        sqlite3_prepare_v2(database, "INSERT INTO heap_words VALUES (1,0,?)", -1, &put, NULL),
        SQLITE_OK);
    sqlite3_bind_blob(put, 1, data, (int)(end - data), SQLITE_STATIC);
    assert_int_equal(sqlite3_step(put), SQLITE_DONE);
    sqlite3_finalize(put);
}

/* Marks what can be reached from `begin`, without `removed`. */
static void reach(int edges[][BLOCKS + 1], int begin, int removed, bool *reached)
{
    int todo[BLOCKS + 1], count = 0;
    if (reached[begin] || begin == removed)
        return;
    reached[begin] = true;
    todo[count++] = begin;
    while (count > 0) {
        const int from = todo[--count];
        for (int to = 1; to <= BLOCKS; to++)
            if (edges[from][to] && to != removed && !reached[to]) {
                reached[to] = true;
                todo[count++] = to;
            }
    }
}

static void compare(sqlite3 *database, struct model *model)
{
    bool surely[BLOCKS + 1] = {0}, maybe[BLOCKS + 1] = {0};
    /* References in doubt count for blocks that no others reach. */
    static int counted[BLOCKS + 1][BLOCKS + 1];
    int64_t unreachable = 0;
    reach(model->strong, 0, -1, surely);
    reach(model->all, 0, -1, maybe);
    for (int from = 0; from <= BLOCKS; from++)
        for (int to = 1; to <= BLOCKS; to++)
            counted[from][to] = surely[to] ? model->strong[from][to] : model->all[from][to];
    for (int i = 1; i <= BLOCKS; i++) {
        const int64_t state =
            number(database, "SELECT state FROM retained WHERE allocation_id = %d", i);
        int64_t referrers = 0, bytes = (int64_t)model->size[i];
        for (int from = 0; from <= BLOCKS; from++)
            referrers += model->all[from][i];
        assert_int_equal(
            number(database, "SELECT referrers FROM retained WHERE allocation_id = %d", i),
            referrers);
        if (!maybe[i]) {
            assert_true(state == 3 || state == 4);
            unreachable += (int64_t)model->size[i];
            continue;
        }
        assert_int_equal(state, surely[i] ? 1 : 2);
        bool without[BLOCKS + 1] = {0};
        reach(counted, 0, i, without);
        for (int other = 1; other <= BLOCKS; other++)
            bytes +=
                other != i && maybe[other] && !without[other] ? (int64_t)model->size[other] : 0;
        assert_int_equal(number(database, "SELECT bytes FROM retained WHERE allocation_id = %d", i),
                         bytes);
    }
    /* The first ones of unreachable groups reach all the others, and none of them reaches another.
     */
    bool covered[BLOCKS + 1] = {0};
    for (int i = 1; i <= BLOCKS; i++)
        if (number(database, "SELECT state FROM retained WHERE allocation_id = %d", i) == 3) {
            assert_false(covered[i]);
            reach(model->all, i, -1, covered);
        }
    for (int i = 1; i <= BLOCKS; i++)
        assert_true(maybe[i] || covered[i]);
    assert_int_equal(number(database, "SELECT ifnull(sum(bytes), 0) FROM retained WHERE state > 2"
                                      " AND dominator_id = 0"),
                     unreachable);
    assert_int_equal(number(database, "SELECT count(*) FROM retained"), BLOCKS);
    assert_int_equal(number(database, "SELECT bytes FROM retained_group WHERE kind = 'type'"),
                     number(database, "SELECT sum(size) FROM v_retained"));
    assert_int_equal(number(database, "SELECT count(*) FROM v_path_to_root WHERE path IS NULL"), 0);
    assert_int_equal(number(database, "SELECT count(*) FROM v_path_to_root p JOIN retained r USING"
                                      " (allocation_id) WHERE r.state < 3 AND path NOT GLOB"
                                      " '* (data)' AND path NOT GLOB '* (stack)'"),
                     0);
}

static void test_random_heaps(void **state)
{
    static struct model model;
    state_of_random = 0x9e3779b97f4a7c15;
    for (int round = 0; round < ROUNDS; round++) {
        struct ingest_status status = {0};
        struct writer_database database = {.name = "test", .status = &status};
        assert_true(writer_database_open(&database,
                                         ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
        assert_true(writer_database_run(&database, session_sql));
        fill(database.sqlite, &model);
        assert_true(writer_references_put(&database));
        compare(database.sqlite, &model);
        writer_database_close(&database);
    }
}

/* If words are missing, nothing is surely unreachable. */
static void test_incomplete(void **state)
{
    static struct model model;
    struct ingest_status status = {0};
    struct writer_database database = {.name = "test", .status = &status};
    state_of_random = 7;
    assert_true(
        writer_database_open(&database, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    assert_true(writer_database_run(&database, session_sql));
    fill(database.sqlite, &model);
    run(database.sqlite, "UPDATE heap_snapshot SET why = 'a part of the trace is lost'");
    assert_true(writer_references_put(&database));
    assert_int_equal(number(database.sqlite, "SELECT count(*) FROM retained WHERE state > 2"), 0);
    assert_true(number(database.sqlite, "SELECT count(*) FROM retained WHERE state = 0") > 0);
    writer_database_close(&database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_heaps),
        cmocka_unit_test(test_incomplete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
