/* SPDX-License-Identifier: BSD-2-Clause */
/* Names from outside in each format, and JSON's numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/output/json.h"
#include "report/output/names.h"

/* Not UTF-8, a cut character, an overlong one, a surrogate, an escape, and a mark of direction. */
#define HOSTILE "a\xff|\xc3\x28\xc0\x80\xed\xa0\x80\x1b[31m\n\xe2\x80\xae<&\">,"

#define BAD "\xef\xbf\xbd" /* U+FFFD */

static void check_form(void (*put)(FILE *, const char *), const char *text, const char *wanted)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    assert_non_null(out);
    put(out, text);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(got, wanted);
    free(got);
}

static void put_text(FILE *out, const char *text)
{
    const size_t columns = name_put_text(out, text);
    assert_int_equal(columns, name_text_columns(text));
}

static void forms(void **state)
{
    check_form(put_text, HOSTILE,
               "a\\xff|\\xc3(\\xc0\\x80\\xed\\xa0\\x80\\x1b[31m\\x0a\\xe2\\x80\\xae<&\">,");
    check_form(put_text, "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
    assert_int_equal(name_text_columns("gr\xc3\xbc\xc3\x9f"), 4);
    check_form(name_put_csv, "plain", "\"plain\"");
    check_form(name_put_csv, "", "\"\"");
    check_form(name_put_csv, "a,\"b\"\n\xff", "\"a,\"\"b\"\"\xef\xbf\xbd\xef\xbf\xbd\"");
    check_form(name_put_csv, "\x1b\xe2\x80\xae\t|", "\"" BAD BAD BAD BAD BAD "|\"");
    check_form(name_put_markdown, "a|b*c_d`e<f>\\\n", "a\\|b\\*c\\_d\\`e\\<f\\>\\\\\\\\x0a");
    check_form(name_put_xml, "<a b=\"&\">\t\x01\xff",
               "&lt;a b=&quot;&amp;&quot;&gt;&#x9;\xef\xbf\xbd\xef\xbf\xbd");
    check_form(name_put_xml, "\xc2\x9b\xe2\x80\xae\xc3\xbc", "&#x9b;&#x202e;\xc3\xbc");
    check_form(name_put_xml, "\xef\xbf\xbf", "\xef\xbf\xbd"); /* U+FFFF is not of XML */
}

static void valid_utf8(void **state)
{
    char out[64], *copy;
    size_t length = name_utf8(out, sizeof(out), "a\xff\xc3\x28");
    assert_string_equal(out, "a\xef\xbf\xbd\xef\xbf\xbd(");
    assert_int_equal(length, strlen(out));
    /* Bytes that would be more than U+10FFFF. */
    name_utf8(out, sizeof(out), "\xf8\x90\x80\x80");
    assert_string_equal(out, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    /* Cut before a character. */
    assert_int_equal(name_utf8(out, 3, "a\xc3\xbc"), 1);
    assert_int_equal(name_utf8(out, 4, "a\xc3\xbc"), 3);
    assert_int_equal(name_utf8(out, 1, "a"), 0);
    assert_string_equal(out, "");
    copy = name_utf8_copy("\xff\xff", &length);
    assert_string_equal(copy, "\xef\xbf\xbd\xef\xbf\xbd");
    assert_int_equal(length, 6);
    free(copy);
}

static void json(void **state)
{
    char *got = NULL, longer[3000];
    size_t size;
    FILE *out = open_memstream(&got, &size);
    struct json *json = json_begin(out, false);
    json_put(json, "[");
    json_number(json, UINT64_MAX);
    json_signed(json, INT64_MIN);
    json_real(json, 0.5);
    json_precise(json, 86400000000.123);
    json_real(json, 1.0 / 0.0);
    json_truth(json, true);
    json_text(json, NULL);
    json_text(json, "\"\xff\n");
    json_text(json, "\x1b\x7f\xc2\x9b\xe2\x80\xae\xef\xbb\xbf\xc3\xbc");
    json_put(json, "{%s: null, size: -4, of: [%u, %zu, %ld, %i, %g, true, word, trues:]", "k\xff",
             4000000000u, SIZE_MAX, -5L, 1 == 1, 2.5);
    json_put(json, "}]");
    assert_true(json_end(json));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(
        got, "[18446744073709551615,-9223372036854775808,0.5,86400000000.123,null,true,null,"
             "\"\\\"\xef\xbf\xbd\\n\",\"\\u001B\\u007f\\u009b\\u202e\\ufeff\xc3\xbc\",{"
             "\"k\xef\xbf\xbd\":null,\"size\":-4,\"of\":[4000000000,18446744073709551615,-5,true,2."
             "5,true,"
             "\"word\",\"trues\"]}]\n");
    free(got);

    /* A text that is longer than the room, and a document that is not whole. */
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    out = open_memstream(&got, &size);
    json = json_begin(out, true);
    json_put(json, "[");
    json_text(json, longer);
    assert_false(json_end(json));
    assert_false(json_end(NULL));
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(got, longer));
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(valid_utf8),
                                       cmocka_unit_test(json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
