/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the tests that tell a function from others of its name with what its row counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "session/session.h"
#include "session/stacks.h"
#include "session/user_code.h"

#define PATH "function_stacks.db"

static struct session *session;
static struct session_error error;

/* Counts the allocations that a test lets through. */
static uint64_t count_of(const char *test)
{
    char *filter = NULL;
    assert_true(asprintf(&filter, "all | where %s", test) > 0);
    struct selection *selection = selection_new(session, filter, &error);
    assert_non_null(selection);
    const uint64_t count = selection_allocations(selection);
    selection_free(selection);
    free(filter);
    return count;
}

/* Counts the allocations whose user's frame is of a function. */
static uint64_t user_count(uint32_t function)
{
    uint64_t count = 0;
    for (uint64_t id = 1; id <= session_allocation_count(session); id++) {
        struct session_allocation allocation;
        struct session_frame frames[64];
        assert_true(session_allocation(session, id, &allocation, &error));
        const size_t user = session_stack_user(session, allocation.stack);
        session_stack(session, allocation.stack, frames, 64);
        count +=
            allocation.arena == 0 && user != SESSION_NO_FRAME && frames[user].function == function;
    }
    return count;
}

/* A test that lists stacks counts what the row of a function counts, also if others have its name.
 */
static void test_function_stacks(void **state)
{
    struct session_function_row *found;
    size_t count, shared = 0;
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 3000;
    assert_true(fixture_write(PATH, &options));
    assert_true(fixture_sql(PATH, "UPDATE function SET name = 'make(int)' WHERE id IN (5, 6, 9)"));
    session = session_open(PATH, &error);
    assert_non_null(session);
    struct selection *all = selection_new(session, "all", &error);
    assert_non_null(all);
    assert_true(selection_functions(all, &found, &count, &error));
    for (size_t i = 0; i < count; i++) {
        const uint32_t function = found[i].function;
        char *test;
        if (function == 0)
            continue;
        assert_int_equal(session_function_is_alone(session, function),
                         function != 5 && function != 6 && function != 9);
        assert_true(session_function_stacks(session, function, SESSION_ANYWHERE, &test, &error));
        assert_non_null(test);
        assert_int_equal(count_of(test), found[i].total_count);
        free(test);
        assert_true(
            session_function_stacks(session, function, SESSION_AT_CALL_SITE, &test, &error));
        assert_int_equal(test ? count_of(test) : 0, found[i].self_count);
        free(test);
        assert_true(session_function_stacks(session, function, SESSION_AT_USER, &test, &error));
        assert_int_equal(test ? count_of(test) : 0, user_count(function));
        free(test);
        shared += function == 5 || function == 6 || function == 9;
    }
    assert_true(shared >= 2);
    char *none;
    assert_true(session_function_stacks(session, 1000000, SESSION_ANYWHERE, &none, &error));
    assert_null(none);
    free(found);
    selection_free(all);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_function_stacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
