/* What is read of a program's dynamic section. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "capture/program_image.h"
#include "made_program.h"

static struct made_program program;
static char names[1024];
static const char *last;

static bool note(void *context, const char *name)
{
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s ", name);
    assert_ptr_equal(context, &program);
    return !last || strcmp(name, last) != 0;
}

static bool libraries(const char *expected)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    made_write(&program, file);
    *names = 0;
    const bool whole = program_image_libraries(fileno(file), note, &program);
    assert_string_equal(names, expected);
    fclose(file);
    return whole;
}

static enum program_kind kind(void)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    made_write(&program, file);
    const enum program_kind is = program_image_read(fileno(file));
    fclose(file);
    return is;
}

static void begin(void)
{
    made_begin(&program);
    made_add_strings(&program);
}

static void test_libraries(void **state)
{
    char name[300];
    (void)state;
    begin();
    assert_true(libraries(""));
    made_add_name(&program, DT_NEEDED, "libm.so.6");
    made_add_name(&program, DT_SONAME, "libown.so.6");
    made_add_name(&program, DT_NEEDED, "libc.so.6");
    assert_true(libraries("libm.so.6 libc.so.6 "));
    last = "libm.so.6";
    assert_false(libraries("libm.so.6 "));
    last = NULL;
    /* Where names are cut off, too long or nowhere. */
    made_add(&program, DT_NEEDED, UINT64_C(1) << 40);
    assert_false(libraries("libm.so.6 libc.so.6 "));
    begin();
    memset(name, 'x', 255);
    name[255] = 0;
    made_add_name(&program, DT_NEEDED, name);
    assert_false(libraries(""));
    made_begin(&program);
    made_add_name(&program, DT_NEEDED, "libc.so.6");
    assert_false(libraries(""));
    begin();
    program.file.header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_false(libraries(""));
    memset(&program.file.header, 0, sizeof program.file.header);
    assert_false(libraries(""));
    begin();
    program.file.segments[1].p_offset = sizeof program.file;
    assert_false(libraries(""));
    program.file.segments[1].p_type = PT_NOTE;
    assert_false(libraries(""));
}

static void test_other_places(void **state)
{
    static const Elf64_Sxword tags[] = {DT_RPATH,    DT_RUNPATH, DT_AUDIT,
                                        DT_DEPAUDIT, DT_FILTER,  DT_AUXILIARY};
    (void)state;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        begin();
        made_add_name(&program, tags[i], "/opt/lib");
        assert_false(libraries(""));
    }
    begin();
    made_add(&program, DT_FLAGS_1, DF_1_NOW | DF_1_PIE);
    assert_true(libraries(""));
    made_add(&program, DT_FLAGS_1, DF_1_NODEFLIB);
    assert_false(libraries(""));
}

/* Entries are read some at a time. */
static void test_many_entries(void **state)
{
    (void)state;
    for (unsigned place = 2; place < MADE_ENTRIES - 1; place++) {
        begin();
        made_add_name(&program, DT_NEEDED, "libc.so.6");
        made_fill(&program, place);
        assert_true(libraries("libc.so.6 "));
        assert_int_equal(kind(), PROGRAM_DYNAMIC);
        made_add_name(&program, DT_NEEDED, "libasan.so.8");
        assert_true(libraries("libc.so.6 libasan.so.8 "));
        assert_int_equal(kind(), PROGRAM_SANITIZED);
        /* Behind the end is nothing. */
        program.file.entries[place - 1].d_tag = DT_NULL;
        assert_true(libraries(place > 2 ? "libc.so.6 " : ""));
        assert_int_equal(kind(), PROGRAM_DYNAMIC);
    }
    /* Without an end but that of the segment; the place of the names comes last. */
    made_begin(&program);
    made_add_name(&program, DT_NEEDED, "libasan.so.8");
    made_fill(&program, MADE_ENTRIES - 1);
    made_add_strings(&program);
    assert_true(libraries("libasan.so.8 "));
    assert_int_equal(kind(), PROGRAM_SANITIZED);
    program.file.segments[1].p_filesz -= sizeof *program.file.entries;
    assert_false(libraries(""));
    assert_int_equal(kind(), PROGRAM_DYNAMIC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_other_places),
        cmocka_unit_test(test_many_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
