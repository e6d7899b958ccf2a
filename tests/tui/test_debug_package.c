/* SPDX-License-Identifier: BSD-2-Clause */
/* Packages with debug information, by lists of files as dpkg keeps them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tui/view/overview/findings.h"

static char folder[] = "debug_package.XXXXXX";
static const char *const lists[][2] = {
    {"libfoo2:amd64.list", "/.\n/usr\n/usr/lib/libfoo.so.2.1\n/usr/lib/libfoo.so.2\n"},
    {"libbar3-1.list", "/usr/lib/libbar3.so.1\n"},
    {"libold4t64.list", "/usr/lib/libold.so.4"},
    {"libgcc-s1:amd64.list", "/lib/x86_64-linux-gnu/libgcc_s.so.1\n"},
    {"libempty1.list", "/usr/lib/libother.so.1\n"},
    {"libc6:amd64.list", "/lib/libc.so.6\n/lib/libm.so.6\n"},
};
enum { LISTS = sizeof(lists) / sizeof(lists[0]) };

static void put_path(char *out, size_t size, size_t list)
{
    snprintf(out, size, "%s/%s", folder, lists[list][0]);
}

static int begin(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    for (size_t i = 0; i < LISTS; i++) {
        char path[200];
        put_path(path, sizeof(path), i);
        FILE *file = fopen(path, "w");
        if (!file || fputs(lists[i][1], file) < 0 || fclose(file) != 0)
            return -1;
    }
    return 0;
}

static int end(void **state)
{
    for (size_t i = 0; i < LISTS; i++) {
        char path[200];
        put_path(path, sizeof(path), i);
        unlink(path);
    }
    return rmdir(folder);
}

static void packages_are_found_by_their_files(void **state)
{
    static const char *const modules[][2] = {
        {"libfoo.so.2", "libfoo2-dbgsym"},
        {"libfoo.so.2.1", "libfoo2-dbgsym"},
        {"libbar3.so.1", "libbar3-1-dbgsym"},
        {"libold.so.4", "libold4t64-dbgsym"},
        {"libgcc_s.so.1", "libgcc-s1-dbgsym"},
        {"libm.so.6", "libc6-dbg"},
        {"libempty.so.1", NULL},
        {"libfoo.so", NULL},
        {"libfoo.so.3", NULL},
        {"program", NULL},
        {"", NULL},
        {".so.1", NULL},
        {"../libfoo.so.2", NULL},
        {"libfoo.so.x", NULL},
    };
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        char package[DEBUG_PACKAGE_SIZE] = "";
        const bool found = debug_package(modules[i][0], folder, package);
        assert_int_equal(found, modules[i][1] != NULL);
        if (found)
            assert_string_equal(package, modules[i][1]);
    }
    char package[DEBUG_PACKAGE_SIZE];
    assert_false(debug_package("libfoo.so.2", "/nonexistent", package));
    char module[400];
    memset(module, 'a', sizeof(module));
    memcpy(module + 390, ".so.1", 6);
    assert_false(debug_package(module, folder, package));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packages_are_found_by_their_files)};
    return cmocka_run_group_tests(tests, begin, end);
}
