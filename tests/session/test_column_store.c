/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Column chunks read straight from the file are those that SQLite gives, also after other programs
 * have moved them, and on several threads at once. If the file does not look as expected, SQLite
 * reads them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "session/store/column_store.h"
#include "session/store/database.h"

#define PATH "columns.db"
#define MASTER "columns_master.db"
#define ROWS 200000
#define CHUNKS 4

static struct session_error error;

struct open_store {
    struct database *database;
    struct column_store *store;
};

static struct open_store open_store(const char *path)
{
    struct open_store open = {.database = database_open(path, &error)};
    assert_non_null(open.database);
    open.store = column_store_open(open.database, &error);
    assert_non_null(open.store);
    return open;
}

static void close_store(struct open_store *open)
{
    column_store_close(open->store);
    database_close(open->database);
}

/* Makes a copy of a session that is made once. */
static void write_session(const char *path)
{
    static bool made;
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = ROWS;
    if (!made)
        assert_true(fixture_write(MASTER, &options));
    made = true;
    FILE *from = fopen(MASTER, "rb"), *to = fopen(path, "wb");
    char buffer[65536];
    assert_true(from && to);
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), from)) > 0;)
        assert_int_equal(fwrite(buffer, 1, n, to), n);
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

/* Reads the data of a chunk as it is stored, and its smallest value. The caller frees the data. */
static uint8_t *stored_data(uint32_t chunk, enum column column, size_t *length, uint64_t *min)
{
    sqlite3 *sqlite;
    sqlite3_stmt *query;
    assert_int_equal(sqlite3_open(PATH, &sqlite), SQLITE_OK);
    sqlite3_prepare_v2(sqlite, "SELECT data, min FROM column_chunk WHERE id = ?", -1, &query, NULL);
    sqlite3_bind_int64(query, 1, (int64_t)chunk * COLUMN_ID_STRIDE + column);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    *length = (size_t)sqlite3_column_bytes(query, 0);
    *min = (uint64_t)sqlite3_column_int64(query, 1);
    uint8_t *data = malloc(*length + 1);
    assert_non_null(data);
    if (*length > 0)
        memcpy(data, sqlite3_column_blob(query, 0), *length);
    sqlite3_finalize(query);
    sqlite3_close(sqlite);
    return data;
}

/* Reads the values of a chunk by SQLite and column_unpack(). */
static void stored_values(uint32_t rows, uint32_t chunk, enum column column, uint64_t *values)
{
    static uint64_t life[COLUMN_CHUNK_ROWS];
    size_t length;
    uint64_t min;
    if (column == COLUMN_ALLOC_NS)
        stored_values(rows, chunk, COLUMN_LIFE_NS, life);
    uint8_t *data = stored_data(chunk, column, &length, &min);
    for (uint32_t row = 0; row < rows; row++)
        values[row] = min;
    assert_true(length == 0 ||
                column_unpack(data, length, column == COLUMN_ALLOC_NS ? life : NULL, rows, values));
    free(data);
}

/* Compares every chunk with what SQLite gives. Returns what the store read for it. */
static struct column_reads compare(struct open_store *open)
{
    struct column_store *store = open->store;
    struct column_reader *reader = column_reader_new(store, &error);
    uint64_t *wanted = malloc(COLUMN_CHUNK_ROWS * sizeof(*wanted));
    const struct column_reads before = column_store_reads(store);
    assert_int_equal(column_store_rows(store), ROWS);
    assert_int_equal(column_store_chunks(store), CHUNKS);
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        for (int column = 0; column < COLUMN_TOTAL; column++) {
            struct column_view view;
            assert_true(column_reader_get(reader, chunk, (enum column)column, &view, &error));
            assert_int_equal(view.rows, column_store_chunk_rows(store, chunk));
            if (view.width == 0)
                continue;
            stored_values(view.rows, chunk, (enum column)column, wanted);
            for (uint32_t row = 0; row < view.rows; row++)
                if (column_view_at(&view, row) != wanted[row])
                    fail_msg("chunk %u, column %d, row %u", chunk, column, row);
        }
    }
    column_reader_free(reader);
    free(wanted);
    const struct column_reads after = column_store_reads(store);
    return (struct column_reads){after.direct - before.direct, after.by_sqlite - before.by_sqlite,
                                 after.bytes - before.bytes};
}

static void test_direct(void **state)
{
    write_session(PATH);
    struct open_store open = open_store(PATH);
    const struct column_reads reads = compare(&open);
    assert_int_equal(reads.by_sqlite, 0);
    assert_true(reads.direct > (size_t)5 * CHUNKS);
    assert_true(reads.bytes > (size_t)ROWS * 10);
    close_store(&open);
}

static void test_vacuum(void **state)
{
    static const char *const changes[] = {
        "DELETE FROM problem; VACUUM",
        "PRAGMA page_size = 1024; VACUUM",
        "PRAGMA page_size = 65536; VACUUM",
        "PRAGMA page_size = 512; VACUUM",
        "PRAGMA auto_vacuum = FULL; PRAGMA page_size = 4096; VACUUM",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        assert_true(fixture_sql(PATH, changes[i]));
        struct open_store open = open_store(PATH);
        const struct column_reads reads = compare(&open);
        assert_true(reads.direct > 0);
        close_store(&open);
    }
}

/* Another program moves all pages while the session is open. */
static void test_moved_meanwhile(void **state)
{
    write_session(PATH);
    struct open_store open = open_store(PATH);
    assert_int_equal(compare(&open).by_sqlite, 0);
    assert_true(fixture_sql(PATH, "CREATE TABLE other AS SELECT * FROM stack_run;"
                                  "DROP TABLE stack_run; VACUUM"));
    assert_true(compare(&open).by_sqlite > 0);
    close_store(&open);
}

static void test_log(void **state)
{
    write_session(PATH);
    assert_true(fixture_sql(PATH, "PRAGMA journal_mode = WAL"));
    struct open_store open = open_store(PATH);
    const struct column_reads reads = compare(&open);
    assert_int_equal(reads.direct, 0);
    assert_true(reads.by_sqlite > 0);
    close_store(&open);
    unlink(PATH "-wal");
    unlink(PATH "-shm");
}

/* Returns a sum of all values of the addresses. */
static uint64_t sum_addresses(struct column_store *store)
{
    struct column_reader *reader = column_reader_new(store, &error);
    uint64_t sum = 0;
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        struct column_view view;
        assert_true(column_reader_get(reader, chunk, COLUMN_ADDRESS, &view, &error));
        for (uint32_t row = 0; row < view.rows; row++)
            sum = sum * 3 + column_view_at(&view, row);
    }
    column_reader_free(reader);
    return sum;
}

static bool no_row(void *context, const struct database_row *row, struct session_error *no_error)
{
    return true;
}

/* A newer state is noticed and not read: the session keeps the one that it was opened with. */
static void test_newer_state(void **state)
{
    write_session(PATH);
    assert_true(fixture_sql(PATH, "PRAGMA journal_mode = WAL"));
    struct open_store open = open_store(PATH);
    assert_false(database_changed(open.database));
    const uint64_t sum = sum_addresses(open.store);
    assert_true(fixture_sql(PATH, "UPDATE column_chunk SET data = zeroblob(length(data) + 8)"));
    assert_true(database_changed(open.database));
    assert_true(database_changed(open.database)); /* until it is opened again */
    assert_int_equal(sum_addresses(open.store), sum);
    database_release(open.database);
    assert_true(database_changed(open.database));
    assert_false(database_each(open.database, "SELECT 1", no_row, NULL, &error));
    assert_non_null(strstr(error.message, "there is a newer state"));
    close_store(&open);
    unlink(PATH "-wal");
    unlink(PATH "-shm");
}

#define FOLLOWED "followed.db"
#define FINISHED "finished.db"
#define COMING "coming.db"

static void wait_for(int spins)
{
    for (volatile int left = spins; left > 0; left--)
        ;
}

/* Gives the finished session the name of the one that may just be opened, a little later. */
static void *finish(void *delay)
{
    wait_for(*(const int *)delay);
    assert_int_equal(rename(COMING, PATH), 0);
    return NULL;
}

/* A session that is replaced while it is opened is either the new one or has changed. The delay
 * moves to where the two meet: at first either may be the slower one. */
static void test_replaced_while_opened(void **state)
{
    enum { TRIES = 200, ENOUGH = 30, STEP = 4000 };
    unsigned before = 0, after = 0;
    int delay = 0; /* below zero: of the opening */
    write_session(FOLLOWED);
    write_session(FINISHED);
    assert_true(fixture_sql(FINISHED, "CREATE TABLE other (id INTEGER)"));
    for (unsigned i = 0; i < TRIES && (before < ENOUGH || after < ENOUGH); i++) {
        pthread_t thread;
        unlink(PATH);
        assert_int_equal(link(FOLLOWED, PATH), 0);
        assert_int_equal(link(FINISHED, COMING), 0);
        assert_int_equal(pthread_create(&thread, NULL, finish, &delay), 0);
        wait_for(-delay);
        struct database *database = database_open(PATH, &error);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_non_null(database);
        int64_t finished;
        assert_true(database_each(database,
                                  "SELECT count(*) FROM sqlite_schema WHERE name = 'other'",
                                  database_take_number, &finished, &error));
        assert_true(finished || database_changed(database));
        *(finished ? &before : &after) += 1;
        delay += finished ? STEP : -STEP;
        database_close(database);
    }
    assert_true(before > 0 && after > 0);
    unlink(FOLLOWED);
    unlink(FINISHED);
}

static off_t log_size(void)
{
    struct stat about;
    assert_int_equal(stat(PATH "-wal", &about), 0);
    return about.st_size;
}

/* A session that is looked at does not keep the log from beginning again. */
static void test_log_begins_again(void **state)
{
    static const char change[] = "UPDATE column_chunk SET data = randomblob(length(data))";
    sqlite3 *writer;
    unlink(PATH "-wal"); /* of a run that failed */
    unlink(PATH "-shm");
    write_session(PATH);
    assert_int_equal(sqlite3_open(PATH, &writer), SQLITE_OK);
    assert_int_equal(sqlite3_exec(writer, "PRAGMA journal_mode = WAL", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(writer, change, NULL, NULL, NULL), SQLITE_OK);
    const off_t before = log_size();
    struct database *database = database_open(PATH, &error);
    assert_non_null(database);
    sqlite3_wal_checkpoint_v2(writer, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    assert_false(database_changed(database));
    assert_int_equal(sqlite3_exec(writer, change, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(log_size(), before);
    database_close(database);
    sqlite3_close(writer);
}

/* The views of all columns of a chunk stay as they are. */
static void test_views_stay(void **state)
{
    write_session(PATH);
    struct open_store open = open_store(PATH);
    struct column_reader *reader = column_reader_new(open.store, &error);
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        struct column_view views[COLUMN_TOTAL];
        uint64_t first[COLUMN_TOTAL];
        for (int column = 0; column < COLUMN_TOTAL; column++) {
            assert_true(
                column_reader_get(reader, chunk, (enum column)column, &views[column], &error));
            first[column] = column_view_at(&views[column], 0);
        }
        for (int column = 0; column < COLUMN_TOTAL; column++)
            assert_int_equal(column_view_at(&views[column], 0), first[column]);
    }
    column_reader_free(reader);
    close_store(&open);
}

enum { PAGE = 4096 };

static long find_page(const uint8_t *file, size_t size, const uint8_t *wanted)
{
    for (size_t page = PAGE; page + PAGE <= size; page += PAGE)
        if (memcmp(file + page + 4, wanted, 256) == 0)
            return (long)page;
    return -1;
}

/* Makes a session of pages of PAGE bytes. Stores the place of the third page of a chunk's chain,
 * and that of the number of its first page, which lies in a leaf. */
static FILE *find_chain(long *place, long *leads)
{
    write_session(PATH);
    assert_true(fixture_sql(PATH, "PRAGMA page_size = 4096; VACUUM"));
    struct open_store open = open_store(PATH);
    size_t length;
    uint64_t min;
    uint8_t *data = stored_data(2, COLUMN_ALLOC_NS, &length, &min);
    assert_true(length > (size_t)4 * PAGE);
    FILE *file = fopen(PATH, "r+b");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    uint8_t *bytes = malloc(size);
    rewind(file);
    assert_int_equal(fread(bytes, 1, size, file), size);
    /* The part of the chunk in its leaf ends at a place that depends on the length. */
    *place = *leads = -1;
    size_t local = 0;
    while (*place < 0 && ++local < PAGE)
        *place = find_page(bytes, size, data + (size_t)2 * (PAGE - 4) + local);
    assert_true(*place > 0 && local >= 8);
    for (size_t at = PAGE; *leads < 0 && at + 8 < size; at++)
        if (memcmp(bytes + at, data + local - 8, 8) == 0)
            *leads = (long)at + 8;
    assert_true(*leads > 0);
    free(bytes);
    free(data);
    close_store(&open);
    return file;
}

static void put32(uint8_t *at, long value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* A chain that is whole, but whose pages do not follow each other in the file. */
static void test_scattered(void **state)
{
    long place, leads;
    FILE *file = find_chain(&place, &leads);
    uint8_t pages[3][PAGE];
    fseek(file, place - PAGE, SEEK_SET);
    assert_int_equal(fread(pages, 1, sizeof(pages), file), sizeof(pages));
    const long number = place / PAGE + 1; /* of pages[1], which changes places with pages[2] */
    uint8_t earlier[PAGE];
    memcpy(earlier, pages[1], PAGE);
    memcpy(pages[1], pages[2], PAGE); /* it goes on to the page after all of them */
    memcpy(pages[2], earlier, PAGE);
    put32(pages[0], number + 1);
    put32(pages[2], number);
    fseek(file, place - PAGE, SEEK_SET);
    assert_int_equal(fwrite(pages, 1, sizeof(pages), file), sizeof(pages));
    fclose(file);
    struct open_store open = open_store(PATH);
    const struct column_reads reads = compare(&open);
    assert_int_equal(reads.by_sqlite, 1);
    assert_true(reads.direct > (size_t)5 * CHUNKS);
    close_store(&open);
}

/* Moves a chain to the end of a file of more than 4 GiB, most of it a hole. */
static void test_far_pages(void **state)
{
    static const long far[] = {600000, 1300000}; /* after 2 GiB, after 4 GiB */
    for (size_t i = 0; i < 2; i++) {
        long place, leads, number = far[i];
        FILE *file = find_chain(&place, &leads);
        uint8_t page[PAGE], four[4];
        put32(four, number);
        fseek(file, leads, SEEK_SET);
        assert_int_equal(fwrite(four, 1, 4, file), 4);
        for (long from = place - (long)2 * PAGE; from >= 0; number++) {
            fseek(file, from, SEEK_SET);
            assert_int_equal(fread(page, 1, PAGE, file), PAGE);
            const long next = (long)page[0] << 24 | page[1] << 16 | page[2] << 8 | page[3];
            put32(page, next == 0 ? 0 : number + 1);
            fseek(file, (number - 1) * PAGE, SEEK_SET);
            assert_int_equal(fwrite(page, 1, PAGE, file), PAGE);
            from = next == 0 ? -1 : (next - 1) * PAGE;
        }
        put32(four, number - 1); /* pages of the file */
        fseek(file, 28, SEEK_SET);
        assert_int_equal(fwrite(four, 1, 4, file), 4);
        fclose(file);
        struct open_store open = open_store(PATH);
        assert_int_equal(compare(&open).by_sqlite, 0);
        close_store(&open);
    }
    unlink(PATH);
}

static void test_wrong_next(void **state)
{
    static const uint8_t wrong[][4] = {{0}, {0, 0, 0, 5}, {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 1}};
    long place, leads;
    FILE *file = find_chain(&place, &leads);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        fseek(file, place, SEEK_SET);
        assert_int_equal(fwrite(wrong[i], 1, 4, file), 4);
        fflush(file);
        struct open_store bad = open_store(PATH);
        struct column_reader *reader = column_reader_new(bad.store, &error);
        struct column_view view;
        /* SQLite does not accept it either, or gives bytes of another page. */
        column_reader_get(reader, 2, COLUMN_ALLOC_NS, &view, &error);
        assert_int_equal(column_store_reads(bad.store).direct, 1); /* the lifetimes */
        assert_int_equal(column_store_reads(bad.store).by_sqlite, 1);
        column_reader_free(reader);
        close_store(&bad);
    }
    fclose(file);
}

struct scanner {
    struct column_store *store;
    pthread_barrier_t *ready;
    atomic_int *running, *together;
    uint64_t sum;
    bool good;
};

static void *scan(void *context)
{
    struct scanner *scanner = context;
    struct session_error own;
    struct column_reader *reader = column_reader_new(scanner->store, &own);
    scanner->good = reader != NULL;
    pthread_barrier_wait(scanner->ready);
    for (int round = 0; scanner->good && round < 20; round++) {
        for (uint32_t chunk = 0; scanner->good && chunk < CHUNKS; chunk++) {
            struct column_view view;
            if (atomic_fetch_add(scanner->running, 1) > 0)
                atomic_fetch_add(scanner->together, 1);
            scanner->good = column_reader_get(reader, chunk, COLUMN_ALLOC_NS, &view, &own);
            atomic_fetch_sub(scanner->running, 1);
            for (uint32_t row = 0; scanner->good && row < view.rows; row++)
                scanner->sum += column_view_at(&view, row) * (row + 1);
        }
    }
    column_reader_free(reader);
    return NULL;
}

/* Two threads read one store. Reads of both overlap, and their sums are the same. */
static void check_threads(const char *sql, bool direct)
{
    write_session(PATH);
    if (sql)
        assert_true(fixture_sql(PATH, sql));
    struct open_store open = open_store(PATH);
    atomic_int together = 0;
    for (int attempt = 0; attempt < 50 && together == 0; attempt++) {
        pthread_barrier_t ready;
        pthread_t threads[2];
        struct scanner scanners[2];
        atomic_int running = 0;
        pthread_barrier_init(&ready, NULL, 2);
        for (int i = 0; i < 2; i++) {
            scanners[i] = (struct scanner){open.store, &ready, &running, &together, 0, true};
            assert_int_equal(pthread_create(&threads[i], NULL, scan, &scanners[i]), 0);
        }
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&ready);
        assert_true(scanners[0].good && scanners[1].good);
        assert_int_equal(scanners[0].sum, scanners[1].sum);
    }
    assert_true(together > 0);
    assert_int_equal(column_store_reads(open.store).by_sqlite > 0, !direct);
    close_store(&open);
    unlink(PATH "-wal");
    unlink(PATH "-shm");
}

static void test_threads(void **state)
{
    check_threads(NULL, true);
    check_threads("PRAGMA journal_mode = WAL", false);
}

/* Bytes that no longer exist are an error, and never read. */
static void test_truncated(void **state)
{
    write_session(PATH);
    struct open_store open = open_store(PATH);
    struct column_reader *reader = column_reader_new(open.store, &error);
    assert_int_equal(truncate(PATH, 200000), 0);
    int failed = 0;
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        struct column_view view;
        error.message[0] = '\0';
        if (!column_reader_get(reader, chunk, COLUMN_ALLOC_NS, &view, &error)) {
            assert_non_null(strstr(error.message, "is damaged"));
            failed++;
        }
    }
    assert_true(failed > 0);
    column_reader_free(reader);
    close_store(&open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct),
        cmocka_unit_test(test_vacuum),
        cmocka_unit_test(test_scattered),
        cmocka_unit_test(test_moved_meanwhile),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_newer_state),
        cmocka_unit_test(test_replaced_while_opened),
        cmocka_unit_test(test_log_begins_again),
        cmocka_unit_test(test_views_stay),
        cmocka_unit_test(test_wrong_next),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_far_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
