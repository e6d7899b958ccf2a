/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tui/screen/input.h"
#include "tui/screen/format.h"

static void sizes(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *expected, *expected_short;
    } cases[] = {
        {0, "0 B", "0"},
        {999, "999 B", "999"},
        {1023, "1023 B", "1.00K"},
        {1024, "1.00 KiB", "1.00K"},
        {1280, "1.25 KiB", "1.25K"},
        {10229, "9.99 KiB", "9.99K"},
        {10239, "10.0 KiB", "10.0K"},
        {102390, "100 KiB", "100K"},
        {1023488, "0.98 MiB", "0.98M"}, /* 999.5 KiB */
        {50541363, "48.2 MiB", "48.2M"},
        {UINT64_MAX, "16.0 EiB", "16.0E"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[FORMAT_SIZE];
        assert_string_equal(format_size(out, cases[i].bytes), cases[i].expected);
        assert_string_equal(format_size_short(out, cases[i].bytes), cases[i].expected_short);
    }
}

static void counts(void **state)
{
    char out[FORMAT_SIZE];
    assert_string_equal(format_count(out, 0), "0");
    assert_string_equal(format_count(out, 999), "999");
    assert_string_equal(format_count(out, 3104220), "3,104,220");
    assert_string_equal(format_count(out, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(format_count_short(out, 9999), "9,999");
    assert_string_equal(format_count_short(out, 31000), "31.0k");
    assert_string_equal(format_count_short(out, 999999), "1.00M");
}

static void durations(void **state)
{
    static const struct {
        uint64_t ns;
        const char *expected;
    } cases[] = {
        {0, "0 ns"},
        {999, "999 ns"},
        {1250, "1.25 µs"},
        {999600, "1.00 ms"},
        {812000000, "812 ms"},
        {2310000000, "2.310 s"},
        {59900000000, "59.90 s"},
        {185000000000, "3 min 05 s"},
        {7380000000000, "2 h 03 min"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[FORMAT_SIZE];
        assert_string_equal(format_duration(out, cases[i].ns), cases[i].expected);
    }
}

static void moments_tell_steps_apart(void **state)
{
    char out[FORMAT_SIZE];
    assert_string_equal(format_moment(out, 2310000000, 100000000), "2.3 s");
    assert_string_equal(format_moment(out, 2310000000, 10000000), "2.31 s");
    assert_string_equal(format_moment(out, 2310000000, 25000000), "2.31 s");
    assert_string_equal(format_moment(out, 12500000, 500000), "12.5 ms");
    assert_string_equal(format_moment(out, 1500, 100), "1.5 µs");
    assert_string_equal(format_moment(out, 120000000000, 1000000000), "120 s");
}

static void instants(void **state)
{
    char out[FORMAT_SIZE];
    assert_string_equal(format_instant(out, 7), "7 ns");
    assert_string_equal(format_instant(out, 14768100), "14.77 ms");
    assert_string_equal(format_instant(out, 3748200), "3.748 ms");
    assert_string_equal(format_instant(out, 999960), "1.000 ms");
    assert_string_equal(format_instant(out, 812500), "812.5 µs");
    assert_string_equal(format_instant(out, 2310000000), "2.310 s");
    assert_string_equal(format_instant(out, 75312000000), "75.312 s");
}

static void percentages(void **state)
{
    char out[FORMAT_SIZE];
    assert_string_equal(format_percent(out, 1, 0), "");
    assert_string_equal(format_percent(out, 0, 9), "0%");
    assert_string_equal(format_percent(out, 1, 10000), "<0.1%");
    assert_string_equal(format_percent(out, 4, 1000), "0.4%");
    assert_string_equal(format_percent(out, 61, 100), "61%");
    assert_string_equal(format_percent(out, 1, 1), "100%");
}

static void times_are_read_and_written(void **state)
{
    char out[FORMAT_SIZE];
    uint64_t ns = 0;
    static const char *const same[] = {"0s", "2s", "2310ms", "17us", "2310000001ns"};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        assert_true(parse_time(same[i], &ns));
        assert_string_equal(format_filter_time(out, ns), same[i]);
    }
    assert_true(parse_time(" 2.5 s", &ns));
    assert_int_equal(ns, 2500000000);
    assert_true(parse_time("1.5", &ns));
    assert_int_equal(ns, 1500000000);
    static const char *const bad[] = {"", "s", "-1s", "1x", "inf", "1e300s", "nan"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(parse_time(bad[i], &ns));
}

static void addresses_are_read(void **state)
{
    uint64_t address = 0;
    assert_true(parse_address("0x55d0c4a02780", &address));
    assert_int_equal(address, 0x55d0c4a02780);
    assert_true(parse_address(" ff ", &address));
    assert_int_equal(address, 0xff);
    assert_false(parse_address("", &address));
    assert_false(parse_address("12z", &address));
    assert_false(parse_address("-1", &address));
}

/* The examples of RFC 4648, 10. */
static void clipboards_get_base64(void **state)
{
    static const char *const examples[][2] = {{"", ""},
                                              {"f", "Zg=="},
                                              {"fo", "Zm8="},
                                              {"foo", "Zm9v"},
                                              {"foob", "Zm9vYg=="},
                                              {"fooba", "Zm9vYmE="},
                                              {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        char *text = NULL, expected[64];
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        assert_true(clipboard_write(out, examples[i][0]));
        fclose(out);
        snprintf(expected, sizeof(expected), "\033]52;c;%s\a", examples[i][1]);
        assert_string_equal(text, expected);
        free(text);
    }
    char *long_text = calloc(1, CLIPBOARD_MOST + 2);
    assert_non_null(long_text);
    memset(long_text, 'x', CLIPBOARD_MOST + 1);
    assert_false(clipboard_write(stdout, long_text));
    free(long_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(counts),
        cmocka_unit_test(durations),
        cmocka_unit_test(moments_tell_steps_apart),
        cmocka_unit_test(instants),
        cmocka_unit_test(percentages),
        cmocka_unit_test(times_are_read_and_written),
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(clipboards_get_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
