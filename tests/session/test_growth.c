/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the growth between two moments with a plain computation over the rows. Types of one name
 * are one there, and so are functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "rows.h"
#include "session/time.h"
#include "session/user_code.h"

#define PATH "growth.db"
enum { FIRST_MAKE = 5, SECOND_MAKE = 6 };

static struct session *session;
static struct session_error error;
static struct row *rows;
static size_t row_count;

/* The function that stands for one: functions 5 and 6 are both named make(). */
static uint32_t one_of(uint32_t function)
{
    return function == SECOND_MAKE ? FIRST_MAKE : function;
}

static uint32_t id_of(const struct row *row, enum session_growth_by by)
{
    struct session_frame frames[256];
    size_t user;
    switch (by) {
    case SESSION_GROWTH_TYPE:
        return row->type == 4 ? 1 : row->type; /* both are named Request */
    case SESSION_GROWTH_FUNCTION:
        return one_of(row->function);
    case SESSION_GROWTH_STACK:
        return row->stack;
    case SESSION_GROWTH_SIZE:
        for (uint32_t bits = SESSION_SMALLEST_SIZE; bits < 64; bits++)
            if (row->size <= UINT64_C(1) << bits)
                return bits;
        return 64;
    case SESSION_GROWTH_USER:
        break;
    }
    user = session_stack_user(session, row->stack);
    if (user == SESSION_NO_FRAME)
        return 0;
    assert_true(session_stack(session, row->stack, frames, 256) <= 256);
    return one_of(frames[user].function);
}

static void add(struct session_growth_sum *sum, const struct row *row, bool is)
{
    sum->bytes += is ? row->size : 0;
    sum->count += is;
}

/* Sums up one id by looking at all rows. */
static struct session_growth sum_of(const struct selection *selection, uint64_t from, uint64_t to,
                                    const uint32_t *ids, uint32_t id)
{
    struct session_growth sum = {.id = id};
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        const bool born = row->alloc_ns > from && row->alloc_ns <= to;
        const bool live_after = row->alloc_ns <= to && row->free_ns > to;
        if (ids[i] != id || !selection_contains(selection, row->id))
            continue;
        add(&sum.before, row, row->alloc_ns <= from && row->free_ns > from);
        add(&sum.after, row, live_after);
        add(&sum.allocated, row, born);
        add(&sum.freed, row,
            row->free_ns > from && row->free_ns <= to && (born || row->alloc_ns <= from));
        add(&sum.born, row, born && live_after);
    }
    return sum;
}

static void check(struct selection *selection, uint64_t from, uint64_t to,
                  enum session_growth_by by)
{
    struct session_growth *grown, total, wanted = {.id = 0};
    uint32_t *ids = malloc(row_count * sizeof(*ids));
    size_t count, matched = 0;
    assert_non_null(ids);
    for (size_t i = 0; i < row_count; i++)
        ids[i] = id_of(&rows[i], by);
    assert_true(selection_growth(selection, from, to, by, &grown, &count, &total, &error));
    for (size_t i = 0; i < count; i++) {
        const bool functions = by == SESSION_GROWTH_FUNCTION || by == SESSION_GROWTH_USER;
        const struct session_growth sum =
            sum_of(selection, from, to, ids, functions ? one_of(grown[i].id) : grown[i].id);
        assert_memory_equal(&grown[i].before, &sum.before,
                            sizeof(sum) - offsetof(struct session_growth, before));
        assert_true(i == 0 || session_growth_net(&grown[i - 1]) >= session_growth_net(&grown[i]));
        assert_int_equal(session_growth_net(&sum),
                         (int64_t)(sum.allocated.bytes - sum.freed.bytes));
        wanted.before.bytes += sum.before.bytes;
        wanted.after.bytes += sum.after.bytes;
    }
    assert_int_equal(total.before.bytes, wanted.before.bytes);
    assert_int_equal(total.after.bytes, wanted.after.bytes);
    /* No row is missing: all live bytes are in one of them. */
    for (size_t i = 0; i < row_count; i++)
        if (selection_contains(selection, rows[i].id) && rows[i].alloc_ns <= to &&
            rows[i].free_ns > to)
            matched += rows[i].size;
    assert_int_equal(total.after.bytes, matched);
    free(ids);
    free(grown);
}

static void test_growth(void **state)
{
    static const char *const filters[] = {"all", "all | where size > 100 and thread == 2"};
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 5000;
    assert_true(fixture_write(PATH, &options));
    assert_true(fixture_sql(PATH, "UPDATE type SET name = 'Request' WHERE id = 4"));
    assert_true(fixture_sql(PATH, "UPDATE function SET name = 'make()' WHERE id IN (5, 6)"));
    session = session_open(PATH, &error);
    assert_non_null(session);
    rows = rows_load(PATH, &row_count);
    const uint64_t end = session_duration_ns(session);
    for (size_t f = 0; f < 2; f++) {
        struct selection *selection = selection_new(session, filters[f], &error);
        assert_non_null(selection);
        for (int by = SESSION_GROWTH_TYPE; by <= SESSION_GROWTH_SIZE; by++) {
            check(selection, end / 4, end / 2, (enum session_growth_by)by);
            check(selection, end / 3, end / 3, (enum session_growth_by)by);
            check(selection, 0, end, (enum session_growth_by)by);
            check(selection, rows[3].free_ns, rows[4].free_ns, (enum session_growth_by)by);
            check(selection, rows[row_count / 2].alloc_ns, rows[row_count / 2].free_ns,
                  (enum session_growth_by)by);
        }
        selection_free(selection);
    }
    session_close(session);
    free(rows);
}

static void test_moments_in_the_wrong_order(void **state)
{
    struct session_growth *grown;
    size_t count;
    session = session_open(PATH, &error);
    assert_non_null(session);
    struct selection *selection = selection_new(session, "all", &error);
    assert_false(
        selection_growth(selection, 5, 4, SESSION_GROWTH_TYPE, &grown, &count, NULL, &error));
    assert_non_null(strstr(error.message, "first moment"));
    selection_free(selection);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_moments_in_the_wrong_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
