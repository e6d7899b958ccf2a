/* SPDX-License-Identifier: BSD-2-Clause */
/* Filter texts: good ones, and the columns and reasons of errors in bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"

static const char *const good[] = {
    "",
    "   ",
    "all",
    "live",
    "leaked",
    "live at 10ms",
    "live at 1.5s",
    "live at 0",
    "live at peak",
    "live at start",
    "live at end",
    "live at \"start up\"",
    "live at load",
    "all|where size>100",
    "where size > 100",
    "color by thread | top 5",
    "(where size > 10) & live",
    "where = live; where | sort size",
    "all | where size == 4K and count != 1 or address >= 0x7f0000000000",
    "all | where type ~ \"^std::(vector|map)<.*>$\" and not (confidence == candidate)",
    "all | where function !~ parse and caller == main",
    "all | where stack has \"main\" and not free_stack has free_node",
    "all | where stack == 17 or stack ~ \"run|loop\" or stack is not null",
    "all | where file == \"dict.c\" and line in 100..200",
    "all | where module == \"libc.so.6\" | where thread == 3 or thread == main",
    "all | where arena is null and kind == malloc",
    "all | where alloc_time in start..peak and free_time >= load",
    "all | where alloc_time in 10ms..20ms",
    "all | where lifetime in 1us..2.5ms and freed == true",
    "all | where freed != false and id in 1..100",
    "all | color red where size > 1M | color 208 | where color == red or color is null",
    "all | color by function",
    "all | color by alloc_time",
    "all | sort size desc | top 10",
    "all | sort function asc",
    "all | sort line",
    "all - live",
    "(all | where size > 10) & live at peak + leaked",
    "((all))",
    "big = all | where size > 1M; big - live",
    "\"my set\" = leaked; a = \"my set\" | top 5; a + \"my set\"",
    "all | where (size > 1 and (size < 3 or not not count == 1))",
    "all\n| where\tsize > 1\r\n",
    "all | where function == \"say \\\"hello\\\"\"",
    "all | where size <= 18446744073709551615",
    "all | where function == Größe",
    "all | where function ~ \"a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+\"",
    "all | where function ~ \"[]+{9}[:alpha:]+{9}]+(ab{2,30}|c*){4}?\"",
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct session_error error = {.column = 0};
        if (!filter_check(good[i], &error))
            fail_msg("\"%s\": column %d: %s", good[i], error.column, error.message);
    }
    assert_true(filter_check(NULL, NULL));
}

static const struct {
    const char *text;
    int column;
    const char *message;
} bad[] = {
    {"some", 1, "no graph named \"some\""},
    {"all |", 6, "expected a step (where, process, color, sort or top), found the end"},
    {"all | wher size > 1", 7,
     "expected a step (where, process, color, sort or top), found \"wher\""},
    {"all where size > 1", 5, "expected \"|\" or the end, found \"where\""},
    {"all | where", 12, "expected a field"},
    {"all | where sise > 1", 13, "expected a field (size, function, thread, lifetime, …), found"},
    {"all | where size", 17, "expected an operator"},
    {"all | where size = 1", 18, "expected an operator"},
    {"all | where size >", 19, "expected a size (number, or number with K, M or G), found the end"},
    {"all | where size > 10ms", 20, "expected a size"},
    {"all | where size > 10k", 20, "expected a size"},
    {"all | where size > \"10\"", 20, "expected a size"},
    {"all | where size > 18446744073709551616", 20, "expected a number below 2^64"},
    {"all | where size > 99999999999G", 20, "expected a number below 2^64"},
    {"all | where size ~ \"1\"", 18, "size is not text"},
    {"all | where function > a", 22, "function has no order"},
    {"all | where function in a..b", 22, "function has no order for \"in\""},
    {"all | where function == 5", 25, "expected a name"},
    {"all | where function ~ \"a(\"", 24, "bad regular expression"},
    {"all | where function ~ \"(a{100}){100}\"", 24, "multiply to more than 1000"},
    {"all | where function ~ \"((((((((((a*b*)+)+)+)+)+)+)+)+)+)+\"", 24,
     "multiply to more than 1000"},
    {"all | where function ~ \"a{99999999999999999999}\"", 24, "bad regular expression"},
    {"all | where function ~ \"((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+\"", 24,
     "multiply to more than 10000"},
    {"all | where function ~ \"a++++++++++++++++++++++++++++++++++++++++\"", 24,
     "multiply to more than 10000"},
    {"all | where function ~ \"[]+{9}[:alpha:]+{9}]{99}{99}{99}\"", 24,
     "multiply to more than 1000"},
    {"all | where function ~ \"(a)\\\\1\"", 24, "back reference"},
    {"all | where function has main", 22, "only stack and free_stack"},
    {"all | where lifetime > 10", 24, "expected a duration (number with ns, us, ms or s)"},
    {"all | where lifetime > 10min", 24, "expected a duration"},
    {"all | where alloc_time > 10", 26, "expected a time"},
    {"all | where alloc_time in 1s", 29, "expected \"..\", found the end"},
    {"all | where freed == 1", 22, "expected true or false"},
    {"all | where freed > true", 19, "freed has no order"},
    {"all | where count > 1.5", 21, "expected a whole number"},
    {"all | where count > 0x", 21, "expected a hexadecimal number"},
    {"all | where address == 0xg1", 24, "expected a hexadecimal number"},
    {"all | where size is null or", 28, "expected a field"},
    {"all | where size is nul", 21, "expected null, found \"nul\""},
    {"all | where (size > 1", 22, "expected and, or or \")\""},
    {"all | where bytes > 1", 13, "bytes is a field of groups, which only a join makes"},
    {"all | where function == \"abc", 25, "this string does not end"},
    {"all | where size > 1 @", 22, "this character means nothing here"},
    {"all | color", 12, "expected a colour"},
    {"all | color mauve", 13, "expected a colour"},
    {"all | color 256", 13, "expected a colour number from 0 to 255"},
    {"all | color by caller", 16, "cannot colour by caller"},
    {"all | sort", 11, "expected a field"},
    {"all | sort size upward", 17, "expected \"|\" or the end"},
    {"all | top", 10, "expected a number"},
    {"all | top 1K", 11, "expected a number"},
    {"all | fold 10K", 7, "the step \"fold\" is not available yet"},
    {"all | join type", 7, "the step \"join\" is not available yet"},
    {"all | count", 7, "the step \"count\" is not available yet"},
    {"all | sum size", 7, "the step \"sum\" is not available yet"},
    {"all | avg size", 7, "the step \"avg\" is not available yet"},
    {"all | min size", 7, "the step \"min\" is not available yet"},
    {"all | max size", 7, "the step \"max\" is not available yet"},
    {"all | write \"x\"", 7, "the step \"write\" is not available yet"},
    {"session \"b.db\"", 1, "a set of another session is not available yet"},
    {"all +", 6, "expected a set"},
    {"(all", 5, "expected \"|\" or \")\", found the end"},
    {"a = all", 8, "expected \"|\" or \";\", found the end"},
    {"a = a; a", 5, "no graph named \"a\" before this place"},
    {"a = all; a = live; a", 10, "there is already a graph named \"a\""},
    {"live = all; live", 1, "\"live\" is already a set"},
    {"a = all;", 9, "expected a set"},
    {"all | where function == \"Größe\" !", 33, "means nothing here"},
    {"live at", 8, "expected a time"},
    {"live at 5", 9, "expected a time"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct session_error error = {.column = 0};
        if (filter_check(bad[i].text, &error))
            fail_msg("\"%s\" should be refused", bad[i].text);
        if (error.column != bad[i].column || !strstr(error.message, bad[i].message))
            fail_msg("\"%s\": column %d: %s", bad[i].text, error.column, error.message);
    }
}

/* Returns `part` `count` times, between `before` and `after`. */
static char *repeated(const char *before, const char *part, size_t count, const char *after)
{
    char *text = malloc(strlen(before) + strlen(part) * count + strlen(after) + 1);
    assert_non_null(text);
    char *end = stpcpy(text, before);
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, part);
    stpcpy(end, after);
    return text;
}

static void test_nesting(void **state)
{
    (void)state;
    static const struct {
        const char *before, *part;
        size_t count;
    } deep[] = {
        {"", "(", 100000},
        {"all | where ", "(", 100000},
        {"all | where ", "not ", 100000},
        {"all | where size > 1", " and size > 1", 100000},
        {"all | where size > 1", " or size > 1", 100000},
        {"all", " + all", 100000},
    };
    for (size_t i = 0; i < sizeof(deep) / sizeof(deep[0]); i++) {
        struct session_error error = {.column = 0};
        char *text = repeated(deep[i].before, deep[i].part, deep[i].count, "");
        assert_false(filter_check(text, &error));
        assert_non_null(strstr(error.message, "nested more than 100 deep"));
        assert_true(error.column > 100);
        free(text);
    }
    /* A long chain of steps does not count as nesting. */
    char *text = repeated("all", " | where size > 1", 5000, "");
    assert_true(filter_check(text, NULL));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
