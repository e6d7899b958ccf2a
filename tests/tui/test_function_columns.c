/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of the functions view: their positions, and the order in which they sort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "session/user_code.h"
#include "tui/view/functions/functions.h"
#include "fixture.h"

/* Each column sorts rows by the number that it shows. */
static void rows_sort_by_every_number(void **state)
{
    (void)state;
    static const char path[] = "function_columns.db";
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 5000;
    assert_true(fixture_write(path, &options));
    struct session_error error = {.message = ""};
    struct session *session = session_open(path, &error);
    assert_non_null(session);
    struct selection *selection = selection_new(session, "", &error);
    struct session_function_row *rows = NULL;
    size_t count = 0;
    assert_true(selection_functions(selection, &rows, &count, &error));
    assert_true(count > 10);
    for (int i = 0; i < COLUMN_NAME; i++) {
        enum function_column column = (enum function_column)i;
        if (column == COLUMN_SHORT)
            continue; /* sorts by the share, which it shows */
        function_rows_sort(session, rows, count, NULL, column, true);
        for (size_t r = 1; r < count; r++)
            assert_true(function_column_value(column, &rows[r - 1]) >=
                        function_column_value(column, &rows[r]));
        function_rows_sort(session, rows, count, NULL, column, false);
        for (size_t r = 1; r < count; r++)
            assert_true(function_column_value(column, &rows[r - 1]) <=
                        function_column_value(column, &rows[r]));
    }
    function_rows_sort(session, rows, count, NULL, COLUMN_SHORT, true);
    double before = 2;
    for (size_t r = 0; r < count; r++) {
        if (rows[r].self_count == 0)
            continue;
        double share = (double)rows[r].short_lived / (double)rows[r].self_count;
        assert_true(share <= before);
        before = share;
    }
    function_rows_sort(session, rows, count, NULL, COLUMN_NAME, false);
    for (size_t r = 1; r < count; r++)
        assert_true(strcmp(session_function_name(session, rows[r - 1].function),
                           session_function_name(session, rows[r].function)) <= 0);
    /* The user's own code first, then all others, each by bytes. */
    bool *own = NULL;
    size_t functions = 0, of_user = 0;
    assert_true(session_own_functions(session, &own, &functions, &error));
    function_rows_sort(session, rows, count, own, COLUMN_TOTAL, true);
    while (of_user < count && own[rows[of_user].function])
        of_user++;
    assert_true(of_user > 0 && of_user < count);
    for (size_t r = 1; r < count; r++) {
        assert_true(r < of_user || !own[rows[r].function]);
        assert_true(r == of_user || rows[r - 1].total_bytes >= rows[r].total_bytes);
    }
    free(own);
    free(rows);
    selection_free(selection);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_sort_by_every_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
