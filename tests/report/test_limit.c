/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of budgets: their texts, and what passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/budget/budget_file.h"

/* Returns the value of a text, or -1: it is refused. */
static long long value_of(const char *text, enum session_unit unit)
{
    struct limit limit;
    struct session_error error = {.message = ""};
    if (!limit_parse(text, NULL, unit, &limit, &error)) {
        assert_true(error.message[0] != '\0');
        return -1;
    }
    return (long long)(limit.relative ? limit.change : limit.value);
}

static void texts(void **state)
{
    assert_int_equal(value_of("0", UNIT_BYTES), 0);
    assert_int_equal(value_of("10M", UNIT_BYTES), 10485760);
    assert_int_equal(value_of("1.5K", UNIT_BYTES), 1536);
    assert_int_equal(value_of("0.1K", UNIT_BYTES), 102); /* rounded down */
    assert_int_equal(value_of("-2K", UNIT_BYTES), -2048);
    assert_int_equal(value_of("8589934591G", UNIT_BYTES), 9223372035781033984LL);
    assert_int_equal(value_of("99999999999G", UNIT_BYTES), -1);
    assert_int_equal(value_of("5x", UNIT_BYTES), -1);
    assert_int_equal(value_of("K", UNIT_BYTES), -1);
    assert_int_equal(value_of("", UNIT_BYTES), -1);
    assert_int_equal(value_of("1.", UNIT_BYTES), -1);
    assert_int_equal(value_of("5%", UNIT_BYTES), -1);
    assert_int_equal(value_of("2.5ms", UNIT_DURATION), 2500000);
    assert_int_equal(value_of("0", UNIT_DURATION), 0);
    assert_int_equal(value_of("5", UNIT_DURATION), -1);
    assert_int_equal(value_of("1s + 2ms - 500us", UNIT_DURATION), 1001500000);
    assert_int_equal(value_of("(1s + 2ms) - 1s", UNIT_DURATION), 2000000);
    assert_int_equal(value_of("1ms - 1s", UNIT_DURATION), -1); /* below 0 */
    assert_int_equal(value_of("end", UNIT_DURATION), -1);
    assert_int_equal(value_of("1ms 2ms", UNIT_DURATION), -1);
    assert_int_equal(value_of("0x2710", UNIT_NUMBER), 10000);
    assert_int_equal(value_of("007", UNIT_NUMBER), 7);
    assert_int_equal(value_of("1.5", UNIT_NUMBER), -1);
    assert_int_equal(value_of("+5%", UNIT_BYTES), 50000);
    assert_int_equal(value_of("-0.25%", UNIT_NUMBER), -2500);
    assert_int_equal(value_of("+x%", UNIT_NUMBER), -1);
    assert_int_equal(value_of("median(last 10)", UNIT_BYTES), 0);
    assert_int_equal(value_of("median(last 10) + 3 %", UNIT_BYTES), 30000);
    assert_int_equal(value_of("median(last 1)-0.5%", UNIT_DURATION), -5000);
    assert_int_equal(value_of("median(last 0)", UNIT_BYTES), -1);
    assert_int_equal(value_of("median(last 10) + 3", UNIT_BYTES), -1);
    assert_int_equal(value_of("median(last 10", UNIT_BYTES), -1);
    assert_true(limit_is_relative("+5%"));
    assert_false(limit_is_relative("5%"));
    assert_false(limit_is_relative("+5"));
}

static bool passes(long long value, enum budget_relation relation, const char *text, long long from,
                   long long shown)
{
    struct limit limit;
    struct session_error error;
    __int128 made = 0;
    const struct session_measure measure = {.unit = UNIT_BYTES,
                                            .negative = value < 0,
                                            .value = (uint64_t)(value < 0 ? -value : value)},
                                 base = {.negative = from < 0,
                                         .value = (uint64_t)(from < 0 ? -from : from)};
    assert_true(limit_parse(text, NULL, UNIT_BYTES, &limit, &error));
    const bool good = limit_passes(&limit, relation, &measure, &base, &made);
    assert_int_equal((long long)made, shown);
    return good;
}

static void verdicts(void **state)
{
    assert_true(passes(10, BUDGET_EQUAL, "10", 0, 10));
    assert_false(passes(10, BUDGET_NOT_EQUAL, "10", 0, 10));
    assert_false(passes(10, BUDGET_LESS, "10", 0, 10));
    assert_true(passes(10, BUDGET_LESS_EQUAL, "10", 0, 10));
    assert_false(passes(10, BUDGET_MORE, "10", 0, 10));
    assert_true(passes(10, BUDGET_MORE_EQUAL, "10", 0, 10));
    assert_true(passes(-10, BUDGET_LESS_EQUAL, "-5", 0, -5));
    /* Against a base: exact, not rounded. */
    assert_true(passes(105, BUDGET_LESS_EQUAL, "+5%", 100, 105));
    assert_false(passes(106, BUDGET_LESS_EQUAL, "+5%", 100, 105));
    assert_false(passes(11, BUDGET_LESS_EQUAL, "+5%", 10, 10));
    assert_true(passes(94, BUDGET_LESS, "-5%", 100, 95));
    assert_true(passes(-104, BUDGET_MORE_EQUAL, "-5%", -100, -105));
    assert_false(passes(-106, BUDGET_MORE_EQUAL, "-5%", -100, -105));
    /* Against nothing only nothing passes. */
    assert_true(passes(0, BUDGET_LESS_EQUAL, "+5%", 0, 0));
    assert_false(passes(1, BUDGET_LESS_EQUAL, "+5%", 0, 0));
    assert_false(passes(1, BUDGET_MORE, "+5%", 0, 0));
    assert_true(passes(0, BUDGET_MORE, "+5%", 0, 0));
    assert_true(passes(9000000000000000000LL, BUDGET_LESS_EQUAL, "+0%", 9000000000000000000LL,
                       9000000000000000000LL));
}

static void nothing(void **state)
{
    struct limit limit = {.value = 5};
    __int128 shown;
    const struct session_measure none = {.is_null = true}, zero = {.value = 0};
    assert_false(limit_passes(&limit, BUDGET_LESS_EQUAL, &none, &zero, &shown));
    assert_false(limit_passes(&limit, BUDGET_NOT_EQUAL, &none, &zero, &shown));
    limit = (struct limit){.relative = true};
    assert_false(limit_passes(&limit, BUDGET_EQUAL, &zero, &none, &shown));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(verdicts),
                                       cmocka_unit_test(nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
