/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from outside in its printable form (schemas/printable.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schemas/printable.h"

static void check(const char *text, const char *expected)
{
    char out[128];
    size_t length = printable_copy(out, sizeof(out), text);
    assert_string_equal(out, expected);
    assert_int_equal(length, strlen(expected));
}

static void test_forms(void **state)
{
    check("", "");
    check("main.c:12 ~[]{}\\x41", "main.c:12 ~[]{}\\x41");
    check("a\x1b[2J\n\r\t\x7f"
          "b",
          "a\\x1b[2J\\x0a\\x0d\\x09\\x7f"
          "b");
    check("größe → 大 🙂", "größe → 大 🙂");
    /* C1: CSI in one byte, and as UTF-8. */
    check("\x9b"
          "31m \xc2\x9b"
          "31m",
          "\\x9b31m \\xc2\\x9b31m");
    /* Changes of direction, and line separators. */
    check("\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6\xef\xbb\xbf",
          "\\xe2\\x80\\xae\\xe2\\x80\\xa8\\xe2\\x81\\xa6\\xef\\xbb\\xbf");
}

static void test_bad_utf8(void **state)
{
    check("\xff\xfe", "\\xff\\xfe");
    check("\x80", "\\x80");
    check("\xc3", "\\xc3");
    check("\xe2\x82", "\\xe2\\x82");
    check("\xf0\x9f\x99", "\\xf0\\x9f\\x99");
    /* Overlong forms, a surrogate, and a number above the last glyph. */
    check("\xc0\x9b\xe0\x80\x9b", "\\xc0\\x9b\\xe0\\x80\\x9b");
    check("\xed\xa0\x80", "\\xed\\xa0\\x80");
    check("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
    check("\xc3(", "\\xc3(");
}

/* No glyph is cut in the middle, and nothing is written past the end. */
static void test_cut(void **state)
{
    const char *text = "ab\x1b\xc3\xa4z";
    for (size_t size = 1; size < 16; size++) {
        char *out = malloc(size); /* ASan sees the end */
        size_t length = printable_copy(out, size, text);
        assert_int_equal(length, strlen(out));
        assert_true(length == 0 || length == 1 || length == 2 || length == 6 || length == 8 ||
                    length == 9);
        assert_true(length < size);
        assert_memory_equal(out, "ab\\x1b\xc3\xa4z", length);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_bad_utf8),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
