/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stored sample of rows: sums over parts of the rows, divided by the probabilities, compared
 * with the sums over all of them. Rows of which few are large or live long.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "ingest/write/row_sample.h"

enum { PARTS = 6 };

#define END_NS UINT64_C(1000000000)

struct sums {
    double count[PARTS], bytes[PARTS];
};

static uint64_t mix(uint64_t value)
{
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 29;
    value *= UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 32;
}

static void make_row(struct row_batch *batch, uint64_t id, uint64_t rows)
{
    const uint64_t any = mix(id), begin = id * (END_NS / 2) / rows;
    const size_t i = batch->rows++;
    for (unsigned column = 0; column < COLUMN_TOTAL; column++)
        batch->column[column][i] = 0;
    batch->column[COLUMN_SIZE][i] = any % 1000 == 0 ? 100000 + any % 77777 : any % 300;
    batch->column[COLUMN_ALLOC_NS][i] = begin;
    batch->column[COLUMN_LIFE_NS][i] = any % 2000 == 1 ? 0 : 1 + any % 900;
    batch->column[COLUMN_KIND][i] = any % 7;
    batch->column[COLUMN_ALIGNMENT][i] = any % 5 == 0 ? UINT64_C(64) : 0;
    batch->column[COLUMN_STACK][i] = id % 1000000;
}

/* Adds a row to the parts that it belongs to. */
static void add(struct sums *sums, double weight, uint64_t size, uint64_t alloc_ns, uint64_t life,
                uint64_t kind)
{
    const bool in[PARTS] = {true,      size >= 100000,         life == 0,
                            kind == 3, alloc_ns < END_NS / 20, size >= 200 && size < 230};
    for (size_t part = 0; part < PARTS; part++) {
        sums->count[part] += in[part] ? weight : 0;
        sums->bytes[part] += in[part] ? weight * (double)size : 0;
    }
}

static struct row_sample *sample_rows(uint64_t rows, struct row_batch *batch, struct sums *sums)
{
    struct row_sample *sample = row_sample_new(END_NS);
    assert_non_null(sample);
    batch->first_id = 1;
    batch->rows = 0;
    for (uint64_t id = 1; id <= rows; id++) {
        make_row(batch, id, rows);
        const size_t i = batch->rows - 1;
        add(sums, 1, batch->column[COLUMN_SIZE][i], batch->column[COLUMN_ALLOC_NS][i],
            batch->column[COLUMN_LIFE_NS][i], batch->column[COLUMN_KIND][i]);
        if (batch->rows < COLUMN_CHUNK_ROWS && id < rows)
            continue;
        row_sample_add(sample, batch);
        batch->first_id += batch->rows;
        batch->rows = 0;
    }
    return sample;
}

static sqlite3 *put(struct row_sample *sample, struct row_batch *batch)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database,
                                  "CREATE TABLE sample_chunk(id INTEGER PRIMARY KEY, rows, width,"
                                  " min, max, data)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(row_sample_put(sample, database, batch), SQLITE_OK);
    row_sample_free(sample);
    return database;
}

/* Reads a chunk into the batch. Returns its rows, 0 if there is none. */
static size_t get(sqlite3 *database, uint64_t chunk, struct row_batch *batch)
{
    sqlite3_stmt *query;
    size_t columns = 0;
    sqlite3_prepare_v2(database,
                       "SELECT id % 32, rows, min, data FROM sample_chunk WHERE id / 32 = ?", -1,
                       &query, NULL);
    sqlite3_bind_int64(query, 1, (int64_t)chunk);
    while (sqlite3_step(query) == SQLITE_ROW) {
        const uint64_t min = (uint64_t)sqlite3_column_int64(query, 2);
        const size_t length = (size_t)sqlite3_column_bytes(query, 3);
        uint64_t *values = batch->column[sqlite3_column_int(query, 0)];
        batch->rows = (size_t)sqlite3_column_int64(query, 1);
        for (size_t i = 0; i < batch->rows; i++)
            values[i] = min;
        assert_true(length == 0 || column_unpack(sqlite3_column_blob(query, 3), length, NULL,
                                                 batch->rows, values));
        columns++;
    }
    sqlite3_finalize(query);
    for (size_t i = 0; columns > 0 && i < batch->rows; i++)
        batch->column[COLUMN_ALLOC_NS][i] =
            column_alloc_ns(batch->column[COLUMN_ALLOC_NS][i], batch->column[COLUMN_LIFE_NS][i]);
    assert_true(columns == 0 || columns == COLUMN_TOTAL);
    return columns == 0 ? 0 : batch->rows;
}

static void sums_are_near(void **state)
{
    struct row_batch *batch = calloc(1, sizeof(*batch));
    struct sums all = {{0}, {0}}, estimated = {{0}, {0}};
    size_t total = 0;
    sqlite3 *database = put(sample_rows(ROW_SAMPLE_FEWEST, batch, &all), batch);
    for (uint64_t chunk = 0, rows; (rows = get(database, chunk, batch)) != 0; chunk++) {
        total += rows;
        for (size_t i = 0; i < rows; i++) {
            const uint64_t weight = batch->column[COLUMN_WEIGHT][i];
            assert_true(weight >= 65536);
            assert_true(batch->column[COLUMN_ALIGNMENT][i] == 0 ||
                        batch->column[COLUMN_ALIGNMENT][i] == 64);
            add(&estimated, (double)weight / 65536, batch->column[COLUMN_SIZE][i],
                batch->column[COLUMN_ALLOC_NS][i], batch->column[COLUMN_LIFE_NS][i],
                batch->column[COLUMN_KIND][i]);
            /* Rows stay in order, and none comes twice: each has its own time. */
            assert_true(i == 0 ||
                        batch->column[COLUMN_ALLOC_NS][i - 1] < batch->column[COLUMN_ALLOC_NS][i]);
        }
    }
    assert_in_range(total, 400000, 3 * 262144);
    for (size_t part = 0; part < PARTS; part++) {
        assert_true(all.count[part] > 1000);
        assert_true(fabs(estimated.count[part] / all.count[part] - 1) < 0.03);
        assert_true(fabs(estimated.bytes[part] / all.bytes[part] - 1) < 0.03);
    }
    sqlite3_close(database);
    free(batch);
}

static void few_rows_have_no_sample(void **state)
{
    struct row_batch *batch = calloc(1, sizeof(*batch));
    struct sums sums = {{0}, {0}};
    sqlite3 *database = put(sample_rows(100000, batch, &sums), batch);
    assert_int_equal(get(database, 0, batch), 0);
    sqlite3_close(database);
    free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_near),
        cmocka_unit_test(few_rows_have_no_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
