/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the words of the user's editor: no shell may see a file's name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/screen/line_editor.h"

static char *words[EDITOR_WORDS];
static char text[300];

static bool split(const char *editor, const char *path)
{
    return editor_words(editor, path, 12, words, text, sizeof(text));
}

static void test_words(void **state)
{
    assert_true(split("vi", "/a b/$(c);d.c"));
    assert_string_equal(words[0], "vi");
    assert_string_equal(words[1], "+12");
    assert_string_equal(words[2], "/a b/$(c);d.c");
    assert_null(words[3]);
    assert_true(split(" emacsclient\t-t ", "/x.c"));
    assert_string_equal(words[0], "emacsclient");
    assert_string_equal(words[1], "-t");
    assert_string_equal(words[2], "+12");
    assert_string_equal(words[3], "/x.c");
    assert_true(split("/usr/bin/code -w", "/x.c"));
    assert_string_equal(words[1], "-w");
    assert_string_equal(words[2], "--goto");
    assert_string_equal(words[3], "/x.c:12");
    assert_null(words[4]);
}

static void test_too_much(void **state)
{
    char path[400];
    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = 0;
    assert_false(split("vi", path));
    assert_false(split(path, "/x.c"));
    assert_false(split("  ", "/x.c"));
    assert_false(split("a b c d e f g h i j k l m n o p q", "/x.c"));
}

static void test_run(void **state)
{
    char error[256];
    setenv("VISUAL", "/no/such/editor", 1);
    assert_false(editor_run("/x.c", 3, error, sizeof(error)));
    assert_non_null(strstr(error, "/no/such/editor"));
    setenv("VISUAL", " ", 1);
    setenv("EDITOR", "touch --", 1);
    unlink("+3");
    unlink("edited file");
    assert_true(editor_run("edited file", 3, error, sizeof(error)));
    assert_int_equal(access("edited file", F_OK), 0);
    assert_int_equal(access("+3", F_OK), 0);
    unlink("+3");
    unlink("edited file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_too_much), cmocka_unit_test(test_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
