/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The directory of chunks as a packed array: whatever it says, opening and reading end in right
 * values or in an error. Also sessions of more rows than 32 bits can count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "schemas/packed_array.h"
#include "session/store/column_store.h"
#include "session/store/database.h"
#include "session/session.h"

#define PATH "packed.db"
#define ROWS 150000

static struct session_error error;

static void put_array(int id, const uint8_t *data, size_t length)
{
    sqlite3 *database;
    sqlite3_stmt *insert;
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO packed_array VALUES (?, ?)", -1, &insert,
                       NULL);
    sqlite3_bind_int(insert, 1, id);
    sqlite3_bind_blob64(insert, 2, data, length, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_finalize(insert);
    sqlite3_close(database);
}

/* Makes the directory of a session that has none. The caller frees it. */
static uint8_t *make_directory(size_t *length)
{
    struct database *database = database_open(PATH, &error);
    struct column_store *store = column_store_open(database, &error);
    assert_non_null(store);
    const uint32_t chunks = column_store_chunks(store);
    *length = packed_directory_length(chunks);
    uint8_t *data = calloc(*length, 1);
    packed_put(data, column_store_rows(store), 8);
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        uint8_t *at = data + packed_directory_chunk(chunk);
        packed_put(at, 5 + chunk, 8);
        packed_put(at + 8, UINT64_MAX - chunk, 8);
        for (unsigned i = 0; i < COLUMN_TOTAL; i++) {
            uint8_t *values = at + packed_directory_column(i);
            packed_put(values, column_store_min(store, chunk, (enum column)i), 8);
            packed_put(values + 8, column_store_max(store, chunk, (enum column)i), 8);
            packed_put(values + 16, column_store_length(store, chunk, (enum column)i), 4);
        }
    }
    column_store_close(store);
    database_close(database);
    return data;
}

static void fresh(void)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = ROWS;
    assert_true(fixture_write(PATH, &options));
}

static uint64_t sum_of(struct column_store *store)
{
    struct column_reader *reader = column_reader_new(store, &error);
    uint64_t sum = 0;
    for (uint32_t chunk = 0; chunk < column_store_chunks(store); chunk++) {
        for (int i = 0; i < COLUMN_TOTAL; i++) {
            struct column_view view;
            if (!column_reader_get(reader, chunk, (enum column)i, &view, &error)) {
                assert_non_null(strstr(error.message, "is damaged"));
                sum = UINT64_MAX;
                break;
            }
            for (uint32_t row = 0; row < view.rows; row++)
                sum += column_view_at(&view, row) * (row + 1 + (uint64_t)i);
        }
    }
    column_reader_free(reader);
    return sum;
}

/* Opens the session. `first` tells whether the directory was used. */
static uint64_t read_all(uint64_t *first)
{
    struct database *database = database_open(PATH, &error);
    struct column_store *store = column_store_open(database, &error);
    assert_non_null(store);
    assert_int_equal(column_store_rows(store), ROWS);
    *first = column_store_first_free(store, 2);
    const uint64_t sum = sum_of(store);
    column_store_close(store);
    database_close(database);
    return sum;
}

static void test_directory(void **state)
{
    size_t length;
    uint64_t first;
    fresh();
    const uint64_t wanted = read_all(&first);
    assert_int_not_equal(first, 7);
    uint8_t *data = make_directory(&length);
    put_array(PACKED_DIRECTORY, data, length);
    assert_int_equal(read_all(&first), wanted);
    assert_int_equal(first, 7);
    free(data);
}

/* Directories that do not fit the table are not used. */
static void test_misfits(void **state)
{
    size_t length;
    uint64_t first;
    fresh();
    const uint64_t wanted = read_all(&first);
    uint8_t *good = make_directory(&length);
    uint8_t *bad = malloc(length + 8);
    for (int i = 0; i < 10; i++) {
        size_t cut = length;
        memcpy(bad, good, length);
        memset(bad + length, 0, 8);
        static const uint64_t rows[] = {
            0, 1, ROWS - 1, ROWS + 1, UINT64_MAX, UINT64_C(1) << 63, ROWS - 65536};
        if (i < 7)
            packed_put(bad, rows[i], 8);
        else if (i == 7)
            cut = length - 1;
        else if (i == 8)
            cut = length + 8;
        else
            cut = 4;
        put_array(PACKED_DIRECTORY, bad, cut);
        assert_int_equal(read_all(&first), wanted);
        assert_int_not_equal(first, 7);
    }
    /* Smallest above largest. */
    memcpy(bad, good, length);
    packed_put(bad + packed_directory_chunk(1) + packed_directory_column(COLUMN_SIZE), UINT64_MAX,
               8);
    put_array(PACKED_DIRECTORY, bad, length);
    assert_int_equal(read_all(&first), wanted);
    free(bad);
    free(good);
}

/* Directories with other values give the right ones or an error, never a value out of range. */
static void test_lies(void **state)
{
    size_t length;
    uint64_t first, random = 4711;
    int refused = 0;
    fresh();
    const uint64_t wanted = read_all(&first);
    uint8_t *good = make_directory(&length);
    uint8_t *bad = malloc(length);
    for (int i = 0; i < 60; i++) {
        memcpy(bad, good, length);
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const size_t chunk = (size_t)(random >> 40) % 3;
        const unsigned column = (unsigned)(random >> 33) % COLUMN_TOTAL;
        uint8_t *values =
            bad + packed_directory_chunk(chunk) + packed_directory_column(column) + 8 * (i % 2);
        const unsigned bits = i % 3 == 0 ? 64 : 16;
        packed_put(values, packed_get64(values) ^ UINT64_C(1) << (random >> 20) % bits, 8);
        put_array(PACKED_DIRECTORY, bad, length);
        struct database *database = database_open(PATH, &error);
        struct column_store *store = column_store_open(database, &error);
        assert_non_null(store);
        struct column_reader *reader = column_reader_new(store, &error);
        for (uint32_t at = 0; at < column_store_chunks(store); at++) {
            struct column_view view;
            if (!column_reader_get(reader, at, (enum column)column, &view, &error)) {
                refused++;
                continue;
            }
            for (uint32_t row = 0; row < view.rows; row++) {
                const uint64_t value = column_view_at(&view, row);
                assert_true(value >= view.min && value <= view.max);
            }
        }
        column_reader_free(reader);
        column_store_close(store);
        database_close(database);
    }
    assert_true(refused > 5);
    put_array(PACKED_DIRECTORY, good, length);
    assert_int_equal(read_all(&first), wanted);
    free(bad);
    free(good);
}

/* Selects more rows than 32 bits can count: a set of them takes 600 MB. */
static void select_many(struct session *session)
{
    const uint64_t rows = UINT64_C(69999) * COLUMN_CHUNK_ROWS, n = UINT64_C(4500000000);
    struct session_allocation row;
    struct session_slot slots[10];
    struct selection *selection = selection_new(session, "all | where size == 0", &error);
    assert_non_null(selection);
    /* The last chunk has some, too. */
    const uint64_t count = selection_count(selection);
    assert_true(count >= rows && count < rows + COLUMN_CHUNK_ROWS);
    assert_true(rows > n && n > UINT32_MAX);
    assert_true(selection_row(selection, n, &row));
    assert_int_equal(row.id, n + 1);
    assert_int_equal(row.alloc_ns, n / COLUMN_CHUNK_ROWS);
    assert_true(selection_contains(selection, n + 1));
    assert_true(selection_timeline(selection, 0, 70000, 10, SESSION_COLOR_NONE, slots, &error));
    uint64_t allocated = 0;
    for (int i = 0; i < 10; i++)
        allocated += slots[i].allocated_count;
    assert_true(allocated >= rows && allocated <= count);
    selection_free(selection);
}

/*
 * A session of 70,000 chunks, of which only the last has values that differ. Ids of rows, chunks
 * and column_chunk are beyond 32 bits, or 16.
 */
static void test_many_rows(void **state)
{
    enum { CHUNKS = 70000, WIDE = 69999 };
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = COLUMN_CHUNK_ROWS;
    assert_true(fixture_write(PATH, &options));
    size_t one_length;
    uint8_t *one = make_directory(&one_length);
    const size_t length = packed_directory_length(CHUNKS);
    uint8_t *data = calloc(length, 1);
    packed_put(data, (uint64_t)CHUNKS * COLUMN_CHUNK_ROWS, 8);
    for (uint64_t chunk = 0; chunk < WIDE; chunk++) {
        uint8_t *alloc =
            data + packed_directory_chunk(chunk) + packed_directory_column(COLUMN_ALLOC_NS);
        packed_put(alloc, chunk, 8);
        packed_put(alloc + 8, chunk, 8);
    }
    memcpy(data + packed_directory_chunk(WIDE), one + packed_directory_chunk(0),
           PACKED_DIRECTORY_CHUNK);
    put_array(PACKED_DIRECTORY, data, length);
    free(data);
    free(one);
    sqlite3 *database;
    sqlite3_stmt *query;
    assert_true(fixture_sql(PATH, "UPDATE column_chunk SET id = id + 69999 * 32"));
    struct session *session = session_open(PATH, &error);
    if (!session)
        print_error("%s\n", error.message);
    assert_non_null(session);
    const uint64_t rows = (uint64_t)CHUNKS * COLUMN_CHUNK_ROWS;
    assert_true(rows > UINT32_MAX);
    assert_int_equal(session_allocation_count(session), rows);
    struct session_allocation row;
    assert_true(session_allocation(session, UINT64_C(65537) * COLUMN_CHUNK_ROWS + 1, &row, &error));
    assert_int_equal(row.alloc_ns, 65537);
    assert_int_equal(row.id, UINT64_C(65537) * COLUMN_CHUNK_ROWS + 1);
    assert_false(session_allocation(session, rows + 1, &row, &error));
    /* The fixture's rows 1, 2, 3, … are the last ones now. */
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    sqlite3_prepare_v2(database, "SELECT id, address, size FROM allocation WHERE id % 997 = 1", -1,
                       &query, NULL);
    int compared = 0;
    for (; sqlite3_step(query) == SQLITE_ROW; compared++) {
        const uint64_t id = (uint64_t)sqlite3_column_int64(query, 0);
        assert_true(
            session_allocation(session, (uint64_t)WIDE * COLUMN_CHUNK_ROWS + id, &row, &error));
        assert_int_equal(row.address, sqlite3_column_int64(query, 1));
        assert_int_equal(row.size, sqlite3_column_int64(query, 2));
    }
    assert_true(compared > 60);
    if (getenv("MPROF_SOAK"))
        select_many(session);
    sqlite3_finalize(query);
    sqlite3_close(database);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directory),
        cmocka_unit_test(test_misfits),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
