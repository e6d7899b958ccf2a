/* SPDX-License-Identifier: BSD-2-Clause */
/* The delay of a live session, and the details that it skips. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ingest/follow.h"

#define SECONDS(n) (UINT64_C(1000000000) * (n))
#define TENTHS(n) (UINT64_C(100000000) * (n))

static uint64_t behind(uint64_t shown, uint64_t newest, uint64_t now, bool ended)
{
    struct follow_lag lag = {0, false};
    follow_lag_update(
        &lag, &(struct follow_moment){SECONDS(shown), SECONDS(newest), SECONDS(now), ended});
    return lag.behind_ns / SECONDS(1);
}

static void what_is_left_is_behind(void **state)
{
    assert_int_equal(behind(10, 10, 100, false), 0); /* the program does nothing: all is shown */
    assert_int_equal(behind(8, 12, 60, false), 52);  /* much may have come since that look */
    assert_int_equal(behind(8, 12, 60, true), 4);    /* nothing more comes */
    assert_int_equal(behind(12, 12, 60, true), 0);
    assert_int_equal(behind(12, 13, 11, false), 0); /* clocks differ a little */
}

static void details_are_skipped_until_it_has_caught_up(void **state)
{
    static const struct {
        uint64_t shown, now;
        bool skips;
    } moments[] = {{0, 12, false},  {10, 23, true},  {20, 30, true}, {30, 39, true},
                   {40, 48, false}, {50, 61, false}, {60, 80, true}};
    struct follow_lag lag = {0, false};
    for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
        follow_lag_update(&lag, &(struct follow_moment){.shown_ns = TENTHS(moments[i].shown),
                                                        .newest_ns = TENTHS(moments[i].now),
                                                        .now_ns = TENTHS(moments[i].now)});
        assert_int_equal(lag.skips, moments[i].skips);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_is_behind),
        cmocka_unit_test(details_are_skipped_until_it_has_caught_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
