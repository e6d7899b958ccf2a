/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are made beside their target (ingest/base/output_file.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/base/output_file.h"

#define TARGET "output_file.db"

static struct ingest_status status;

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_content(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)!fgets(found, sizeof(found), file);
    fclose(file);
    assert_string_equal(found, text);
}

static int begin(void **state)
{
    unlink(TARGET);
    status = (struct ingest_status){0};
    return 0;
}

static void test_modes_and_names(void **state)
{
    struct output_file a, b;
    struct stat about;
    mode_t before = umask(0);
    assert_true(output_file_begin(&a, TARGET, false, &status));
    assert_true(output_file_begin(&b, TARGET, false, &status));
    umask(before);
    assert_string_not_equal(a.part, b.part);
    assert_int_equal(fstat(a.descriptor, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(output_file_maker(a.part, TARGET), getpid());
    put(a.part, "a");
    assert_int_equal(access(TARGET, F_OK), -1);
    assert_true(output_file_finish(&a, &status));
    check_content(TARGET, "a");
    /* The other one came too late and may not replace it. */
    assert_false(output_file_finish(&b, &status));
    assert_non_null(strstr(status.message, "exists already"));
    char part[256];
    snprintf(part, sizeof(part), "%s", b.part);
    output_file_end(&a);
    output_file_end(&b);
    assert_int_equal(access(part, F_OK), -1);
    check_content(TARGET, "a");
}

static void test_replacing(void **state)
{
    struct output_file file;
    put(TARGET, "old");
    assert_false(output_file_begin(&file, TARGET, false, &status));
    output_file_end(&file);
    assert_true(output_file_begin(&file, TARGET, true, &status));
    put(file.part, "new");
    check_content(TARGET, "old");
    /* While the file is made, something else takes its name: a link, whose target stays. */
    put("output_file.other", "other");
    assert_int_equal(rename(TARGET, "output_file.old"), 0);
    assert_int_equal(symlink("output_file.other", TARGET), 0);
    assert_false(output_file_finish(&file, &status));
    assert_non_null(strstr(status.message, "symbolic link"));
    check_content("output_file.other", "other");
    assert_int_equal(rename("output_file.old", TARGET), 0);
    assert_true(output_file_finish(&file, &status));
    output_file_end(&file);
    check_content(TARGET, "new");
    unlink("output_file.other");
}

static void test_makers(void **state)
{
    assert_int_equal(output_file_maker("s.db.part.12.0123456789ab", "s.db"), 12);
    assert_int_equal(output_file_maker("s.db.part.12.0123456789ab.part.7.ffffffffffff", "s.db"), 7);
    static const char *const others[] = {
        "s.db",
        "s.db.part",
        "s.db.part.12",
        "s.db.part.12.",
        "s.db.part.12.0123456789a",
        "s.db.part.12.0123456789abc",
        "s.db.part.12.0123456789AB",
        "s.db.part.0.0123456789ab",
        "s.db.part.-2.0123456789ab",
        "s.db.part.99999999999.0123456789ab",
        "s.db.part.12.0123456789ab.db",
        "t.db.part.12.0123456789ab",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_int_equal(output_file_maker(others[i], "s.db"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_modes_and_names, begin),
        cmocka_unit_test_setup(test_replacing, begin),
        cmocka_unit_test(test_makers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
