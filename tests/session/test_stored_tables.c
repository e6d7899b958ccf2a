/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the stored tables of a session with those that SQL lists, value by value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "session/stored_tables.h"

#define PATH "stored_tables.db"

struct comparing {
    sqlite3_stmt *statement;
    size_t columns, rows, stop_at;
};

static bool compare_row(void *context, const char *const *values)
{
    struct comparing *comparing = context;
    assert_int_equal(sqlite3_step(comparing->statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_count(comparing->statement), comparing->columns);
    for (size_t i = 0; i < comparing->columns; i++) {
        const char *wanted = (const char *)sqlite3_column_text(comparing->statement, (int)i);
        assert_int_equal(values[i] != NULL, wanted != NULL);
        if (wanted)
            assert_string_equal(values[i], wanted);
    }
    return ++comparing->rows != comparing->stop_at;
}

/* Reads a table beside SQL. Returns the number of rows that were visited. */
static size_t compare(struct session *session, const struct stored_table *table, size_t stop_at)
{
    struct session_error error = {.message = "mine"};
    struct comparing comparing = {.columns = table->count, .stop_at = stop_at};
    sqlite3 *database;
    char sql[1024] = "SELECT ";
    size_t length = strlen(sql);
    for (size_t i = 0; i < table->count; i++)
        length += (size_t)snprintf(sql + length, sizeof(sql) - length, "%s\"%s\"", i > 0 ? "," : "",
                                   table->columns[i].name);
    snprintf(sql + length, sizeof(sql) - length, " FROM \"%s\"", table->name);
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &comparing.statement, NULL), SQLITE_OK);
    const bool good = session_stored_rows(session, table, compare_row, &comparing, &error);
    assert_int_equal(good, stop_at == 0 || comparing.rows < stop_at);
    if (!good)
        assert_string_equal(error.message, "mine");
    else
        assert_int_equal(sqlite3_step(comparing.statement), SQLITE_DONE);
    sqlite3_finalize(comparing.statement);
    sqlite3_close(database);
    return comparing.rows;
}

static void tables_are_those_of_sql(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    struct stored_table *tables;
    size_t count, rows = 0;
    bool allocation = false;
    options.allocations = 2000;
    assert_true(fixture_write(PATH, &options));
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    assert_true(session_stored_tables(session, &tables, &count, &error));
    assert_in_range(count, 20, 60);
    for (size_t i = 0; i < count; i++) {
        const struct stored_column *first = &tables[i].columns[0];
        if (tables[i].derived) /* tests/readers/translations.py compares what they tell */
            continue;
        rows += compare(session, &tables[i], 0);
        assert_null(strstr(tables[i].name, "chunk"));
        if (strcmp(tables[i].name, "allocation") != 0)
            continue;
        allocation = true;
        assert_string_equal(first->name, "id");
        assert_true(first->key && first->required && first->type == STORED_INTEGER);
        assert_int_equal(compare(session, &tables[i], 3), 3);
    }
    assert_true(allocation);
    assert_in_range(rows, 2001, 100000);
    session_stored_tables_free(tables, count);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_those_of_sql)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
