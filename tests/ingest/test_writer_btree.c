/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bulk load of b-trees, checked by SQLite, which reads the file: trees from no entry to four
 * levels, rows with and without overflow pages, numbers of pages around that of the locks.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/write/btree.h"
#include "ingest/write/packed.h"
#include "schemas/packed_array.h"

static const char path[] = "btree.db";
static const uint32_t lock_byte = 0x40000000;

static int64_t number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *query;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return value;
}

static void run(sqlite3 *database, const char *sql)
{
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
}

static void check(sqlite3 *database)
{
    sqlite3_stmt *query;
    sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &query, NULL);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(query, 0), "ok");
    sqlite3_finalize(query);
}

/* Makes a new database with the table t(id, number, data) and its index by number, and opens the
 * pages. */
static void make(struct writer_pages *pages, int page_size, uint32_t lock, uint32_t *roots)
{
    sqlite3 *database;
    char sql[80];
    unlink(path);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    snprintf(sql, sizeof(sql), "PRAGMA synchronous = OFF; PRAGMA page_size = %d", page_size);
    run(database, sql);
    run(database, "CREATE TABLE t(id INTEGER PRIMARY KEY, number INTEGER, data BLOB);"
                  "CREATE INDEX i ON t(number)");
    roots[0] = (uint32_t)number(database, "SELECT rootpage FROM sqlite_schema WHERE name = 't'");
    roots[1] = (uint32_t)number(database, "SELECT rootpage FROM sqlite_schema WHERE name = 'i'");
    sqlite3_close(database);
    assert_true(writer_pages_open(pages, open(path, O_RDWR), lock));
    assert_int_equal(pages->page_size, page_size);
}

/* Encodes the record (NULL, value, blob of `length` bytes) or, with length 0, (NULL, value,
 * NULL). */
static size_t encode_row(uint8_t *record, uint64_t value, size_t length)
{
    uint8_t head[16], *at = head + 1;
    *at++ = 0;
    *at++ = 6;
    at = writer_put_varint(at, length == 0 ? 0 : 12 + 2 * length);
    head[0] = (uint8_t)(at - head);
    memcpy(record, head, head[0]);
    for (int i = 0; i < 8; i++)
        record[head[0] + i] = (uint8_t)(value >> (56 - 8 * i));
    memset(record + head[0] + 8, (int)(value & 0xff), length);
    return head[0] + 8 + length;
}

/* Encodes the index entry (value, row). */
static size_t encode_key(uint8_t *record, uint64_t value, uint64_t row)
{
    record[0] = 3;
    record[1] = record[2] = 6;
    for (int i = 0; i < 8; i++) {
        record[3 + i] = (uint8_t)(value >> (56 - 8 * i));
        record[11 + i] = (uint8_t)(row >> (56 - 8 * i));
    }
    return 19;
}

static uint64_t value_of(uint64_t row)
{
    return row / 3;
}

static size_t length_of(uint64_t row, size_t longest)
{
    return longest == 0 ? 0 : (size_t)(row * 2654435761u % (longest + 1));
}

static void fill(struct writer_pages *pages, const uint32_t *roots, uint64_t rows, size_t longest)
{
    struct writer_btree table, index;
    uint8_t *record = malloc(longest + 64), key[32];
    writer_btree_open(&table, pages, roots[0], WRITER_BTREE_TABLE);
    writer_btree_open(&index, pages, roots[1], WRITER_BTREE_INDEX);
    for (uint64_t row = 1; row <= rows; row++) {
        size_t length = encode_row(record, value_of(row), length_of(row, longest));
        assert_true(writer_btree_put_row(&table, row, record, length));
        assert_true(writer_btree_put_key(&index, key, encode_key(key, value_of(row), row)));
    }
    assert_true(writer_btree_finish(&table));
    assert_true(writer_btree_finish(&index));
    writer_btree_close(&table);
    writer_btree_close(&index);
    free(record);
    int descriptor = pages->descriptor;
    assert_true(writer_pages_close(pages));
    close(descriptor);
}

/* Compares what SQLite finds there, by table and by index, and checks that it can write more. */
static void compare(uint64_t rows, size_t longest)
{
    sqlite3 *database;
    sqlite3_stmt *query;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    run(database, "PRAGMA synchronous = OFF");
    check(database);
    sqlite3_prepare_v2(database, "SELECT id, number, length(data), data FROM t ORDER BY id", -1,
                       &query, NULL);
    for (uint64_t row = 1; row <= rows; row++) {
        size_t length = length_of(row, longest);
        assert_int_equal(sqlite3_step(query), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int64(query, 0), row);
        assert_int_equal(sqlite3_column_int64(query, 1), value_of(row));
        assert_int_equal(sqlite3_column_int64(query, 2), length);
        const uint8_t *data = sqlite3_column_blob(query, 3);
        for (size_t i = 0; i < length; i++)
            if (data[i] != (value_of(row) & 0xff))
                fail_msg("row %d: byte %d", (int)row, (int)i);
    }
    assert_int_equal(sqlite3_step(query), SQLITE_DONE);
    sqlite3_finalize(query);
    sqlite3_prepare_v2(database, "SELECT count(*) FROM t INDEXED BY i WHERE number = ?", -1, &query,
                       NULL);
    for (uint64_t value = 0; value <= rows / 3; value += 1 + rows / 1000) {
        uint64_t end = 3 * value + 2 < rows ? 3 * value + 2 : rows;
        uint64_t begin = value == 0 ? 1 : 3 * value;
        sqlite3_bind_int64(query, 1, (int64_t)value);
        assert_int_equal(sqlite3_step(query), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int64(query, 0), end + 1 - begin);
        sqlite3_reset(query);
    }
    sqlite3_finalize(query);
    run(database, "INSERT INTO t SELECT NULL, number / 2, zeroblob(3000) FROM t LIMIT 50;"
                  "UPDATE t SET number = number + 1, data = zeroblob(10) WHERE id % 5 = 1;"
                  "DELETE FROM t WHERE id % 7 = 2;");
    check(database);
    sqlite3_close(database);
}

static void load(int page_size, uint32_t lock, uint64_t rows, size_t longest)
{
    struct writer_pages pages;
    uint32_t roots[2];
    make(&pages, page_size, lock, roots);
    fill(&pages, roots, rows, longest);
    compare(rows, longest);
}

static void every_small_number(void **state)
{
    /* Crosses from one page to two, and from two levels to three. */
    for (uint64_t rows = 0; rows < 90; rows++)
        load(512, lock_byte, rows, 0);
    for (uint64_t rows = 880; rows < 980; rows += 3)
        load(512, lock_byte, rows, 0);
}

static void many_levels(void **state)
{
    load(512, lock_byte, 100000, 0);
    load(8192, lock_byte, 300000, 0);
    load(65536, lock_byte, 50000, 0);
}

static void overflow_pages(void **state)
{
    load(512, lock_byte, 3000, 2000);
    load(1024, lock_byte, 300, 100000);
    load(8192, lock_byte, 2000, 9000);
    load(65536, lock_byte, 100, 300000);
}

static void page_of_the_locks(void **state)
{
    /* Uses SQLite's own control for such tests. Before it knows a file's pages, they have 4096
     * bytes. */
    unsigned before = (unsigned)sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, 0);
    for (unsigned page = 8; page < 40; page++) {
        sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, page * 512);
        load(512, page * 512, 300, 0);
        load(512, page * 512, 30, 2000);
        load(512, page * 512, UINT64_C(4) * page, 0);
    }
    sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, before);
}

static void failures_are_told(void **state)
{
    struct writer_pages pages;
    struct writer_btree table;
    uint8_t record[64];
    uint32_t roots[2];
    make(&pages, 512, lock_byte, roots);
    close(pages.descriptor);
    pages.descriptor = open("/dev/full", O_RDWR);
    writer_btree_open(&table, &pages, roots[0], WRITER_BTREE_TABLE);
    size_t length = encode_row(record, 7, 20);
    for (uint64_t row = 1; writer_btree_put_row(&table, row, record, length); row++)
        assert_true(row < 1000000);
    assert_int_equal(pages.error, 28 /* ENOSPC */);
    assert_false(writer_btree_finish(&table));
    writer_btree_close(&table);
    close(pages.descriptor);
    assert_false(writer_pages_close(&pages));
    assert_false(writer_pages_open(&pages, open("/dev/null", O_RDWR), lock_byte));
    close(pages.descriptor);
}

static void varints(void **state)
{
    static const struct {
        uint64_t value;
        const char *bytes;
        size_t length;
    } cases[] = {
        {0, "\0", 1},
        {0x7f, "\x7f", 1},
        {0x80, "\x81\x00", 2},
        {0x3fff, "\xff\x7f", 2},
        {0x4000, "\x81\x80\x00", 3},
        {(UINT64_C(1) << 56) - 1, "\xff\xff\xff\xff\xff\xff\xff\x7f", 8},
        {UINT64_C(1) << 56, "\x80\xc0\x80\x80\x80\x80\x80\x80\x00", 9},
        {UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9},
    };
    uint8_t got[9];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(writer_put_varint(got, cases[i].value) - got, cases[i].length);
        assert_memory_equal(got, cases[i].bytes, cases[i].length);
    }
}

/* The directory of a late batch, whose ids need more than 32 bits. */
static void far_batch(void **state)
{
    struct writer_directory directory = {.data = NULL};
    struct row_batch *batch = calloc(1, sizeof(*batch));
    struct row_batch_chunk chunk;
    static uint8_t data[COLUMN_BATCH_MOST + COLUMN_PADDING];
    assert_non_null(batch);
    batch->first_id = UINT64_C(70000) * COLUMN_CHUNK_ROWS + 1;
    batch->rows = 2;
    batch->column[COLUMN_ALLOC_NS][0] = UINT64_C(1) << 40;
    batch->column[COLUMN_ALLOC_NS][1] = (UINT64_C(1) << 40) + 200;
    batch->column[COLUMN_LIFE_NS][0] = 101;
    batch->column[COLUMN_LIFE_NS][1] = 1;
    assert_true(writer_directory_begin(&directory, batch));
    for (unsigned column = 0; column < COLUMN_TOTAL; column++) {
        row_batch_pack(batch, column, data, &chunk);
        assert_int_equal(chunk.id, UINT64_C(70000) * COLUMN_ID_STRIDE + column);
        writer_directory_put(&directory, &chunk);
    }
    assert_int_equal(directory.rows, UINT64_C(70000) * COLUMN_CHUNK_ROWS + 2);
    const uint8_t *at = directory.data + packed_directory_chunk(70000);
    assert_int_equal(packed_get64(at), (UINT64_C(1) << 40) + 100);
    assert_int_equal(packed_get64(at + 8), (UINT64_C(1) << 40) + 200);
    at += packed_directory_column(COLUMN_ALLOC_NS);
    assert_int_equal(packed_get64(at), UINT64_C(1) << 40);
    assert_int_equal(packed_get64(at + 8), (UINT64_C(1) << 40) + 200);
    writer_directory_cut(&directory, 65537);
    assert_int_equal(directory.rows, UINT64_C(65537) * COLUMN_CHUNK_ROWS);
    writer_directory_free(&directory);
    free(batch);
}

/* Rows whose ids need more than 32 bits, in one table with small ones. */
static void large_ids(void **state)
{
    static const uint64_t ids[] = {1, UINT64_C(1) << 31, (UINT64_C(1) << 32) - 1, UINT64_C(1) << 32,
                                   UINT64_C(1) << 62};
    struct writer_pages pages;
    struct writer_btree table, index;
    uint32_t roots[2];
    uint8_t record[64];
    sqlite3 *database;
    make(&pages, 512, lock_byte, roots);
    const int descriptor = pages.descriptor;
    writer_btree_open(&table, &pages, roots[0], WRITER_BTREE_TABLE);
    writer_btree_open(&index, &pages, roots[1], WRITER_BTREE_INDEX);
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
        assert_true(writer_btree_put_row(&table, ids[i], record, encode_row(record, i, 0)));
        assert_true(writer_btree_put_key(&index, record, encode_key(record, i, ids[i])));
    }
    assert_true(writer_btree_finish(&table) && writer_btree_finish(&index));
    writer_btree_close(&table);
    writer_btree_close(&index);
    assert_true(writer_pages_close(&pages));
    close(descriptor);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    check(database);
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
        char sql[80];
        snprintf(sql, sizeof(sql), "SELECT id FROM t INDEXED BY i WHERE number = %zu", i);
        assert_int_equal(number(database, sql), ids[i]);
    }
    sqlite3_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_number), cmocka_unit_test(many_levels),
        cmocka_unit_test(overflow_pages),     cmocka_unit_test(page_of_the_locks),
        cmocka_unit_test(failures_are_told),  cmocka_unit_test(varints),
        cmocka_unit_test(far_batch),          cmocka_unit_test(large_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
