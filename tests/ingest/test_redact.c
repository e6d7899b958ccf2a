/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths in text as a redacted session has them (ingest/write/redact.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ingest/write/redact.h"

static void check(const struct redact *redact, const char *text, const char *expected)
{
    char *found = redact_text(redact, text);
    assert_non_null(found);
    assert_string_equal(found, expected);
    free(found);
}

static void test_text(void **state)
{
    struct redact *redact = redact_new("/home/a/project/", NULL);
    assert_non_null(redact);
    /* Not paths. */
    check(redact, "", "");
    check(redact, "operator/(Matrix, Matrix)", "operator/(Matrix, Matrix)");
    check(redact, "operator/=", "operator/=");
    check(redact, "a / b /", "a / b /");
    check(redact, "split<'/'>(char)", "split<'/'>(char)");
    check(redact, "node:internal/fs", "node:internal/fs");
    check(redact, "[vdso]", "[vdso]");
    /* Paths. */
    check(redact, "/usr/lib/x.so", "/usr/lib/x.so");
    check(redact, "/home/a/project/src/m.cc", "src/m.cc");
    check(redact, "/home/a/projects/m.cc", "m.cc");
    check(redact, "/home/a/project/../other/m.cc", "m.cc");
    check(redact, "/home/a/project/src/.././//lib/m.cc", "lib/m.cc");
    check(redact, "/home/a/x/../project/m.cc", "m.cc");
    check(redact, "/../../usr/m.h", "/usr/m.h");
    check(redact, "/usr/../home/a/m.cc", "m.cc");
    check(redact, "f<(lambda at /home/a/project/src/m.cc:3:5)>", "f<(lambda at src/m.cc:3:5)>");
    check(redact, "LazyCompile:~f /srv/app/main.js:10:3", "LazyCompile:~f main.js:10:3");
    check(redact, "/srv/a b/c d/t.bin: the file ends", "t.bin: the file ends");
    check(redact, "\"/srv/a\", /srv/b and /srv/c", "\"a\", b and c");
    check(redact, "file:///home/a/x.js", "file:x.js");
    redact_free(redact);
    check(NULL, "/home/a/project/src/m.cc", "m.cc");
}

static bool keep_text(void *context, enum writer_table table, const struct writer_value *values,
                      size_t count)
{
    assert_int_equal(table, WRITER_META);
    assert_int_equal(count, 2);
    *(char **)context = strdup(values[1].text);
    return true;
}

static void test_lines(void **state)
{
    static const struct {
        const char *paths, *expected;
    } cases[] = {
        {"", ""},
        {"/home/a/project/x.so", "x.so"},
        {"/home/a/Plan [b], (c)/x.so (found only at the end)", "x.so (found only at the end)"},
        {"secret/x.so\n/usr/lib/y.so\n/srv/it's mine/z.so\n", "x.so\n/usr/lib/y.so\nz.so\n"},
    };
    struct redact *redact = redact_new("/home/a/project/", NULL);
    assert_non_null(redact);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char *found = NULL;
        struct table_sink sink = redact_sink(redact, (struct table_sink){&found, keep_text});
        const struct writer_value row[] = {value_text("key"), value_paths(cases[i].paths)};
        assert_true(sink.put(sink.context, WRITER_META, row, 2));
        assert_string_equal(found, cases[i].expected);
        free(found);
    }
    redact_free(redact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
