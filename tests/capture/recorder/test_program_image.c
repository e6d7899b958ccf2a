/* What is read of a program's dynamic section. The programs are made here, and cannot be run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "capture/program_image.h"

#define BASE UINT64_C(0x400000)

struct file {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    Elf64_Dyn entries[100];
    char loader[32];
    char strings[1024];
};

static struct file file;
static unsigned entries, strings;

static void add(Elf64_Sxword tag, uint64_t value)
{
    file.entries[entries++] = (Elf64_Dyn){.d_tag = tag, .d_un.d_val = value};
}

static void add_name(Elf64_Sxword tag, const char *name)
{
    add(tag, strings);
    memcpy(file.strings + strings, name, strlen(name) + 1);
    strings += (unsigned)strlen(name) + 1;
}

/* A program without entries. */
static void begin(void)
{
    static const char loader_name[] = "/lib64/ld-linux-x86-64.so.2";
    const uint64_t at = offsetof(struct file, entries), loader = offsetof(struct file, loader);
    memset(&file, 0, sizeof file);
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_machine = EM_X86_64;
    file.header.e_phoff = offsetof(struct file, segments);
    file.header.e_phentsize = sizeof *file.segments;
    file.header.e_phnum = 3;
    file.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof file};
    file.segments[1] =
        (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = at, .p_filesz = sizeof file.entries};
    memcpy(file.loader, loader_name, sizeof loader_name);
    file.segments[2] =
        (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = loader, .p_filesz = sizeof loader_name};
    entries = 0;
    strings = 1;
}

static void begin_named(void)
{
    begin();
    add(DT_STRTAB, BASE + offsetof(struct file, strings));
}

static void fill(unsigned count)
{
    while (entries < count)
        add(DT_DEBUG, 0);
}

static FILE *written(void)
{
    FILE *image = tmpfile();
    assert_non_null(image);
    assert_int_equal(fwrite(&file, sizeof file, 1, image), 1);
    assert_int_equal(fflush(image), 0);
    return image;
}

static bool needs_libc_only(void)
{
    FILE *image = written();
    const bool only = program_image_needs_libc_only(fileno(image));
    fclose(image);
    return only;
}

static enum program_kind kind(void)
{
    FILE *image = written();
    const enum program_kind is = program_image_read(fileno(image));
    fclose(image);
    return is;
}

static void test_libc_only(void **state)
{
    (void)state;
    begin_named();
    assert_false(needs_libc_only());
    add_name(DT_NEEDED, "libm.so.6");
    add_name(DT_SONAME, "libstdc++.so.6");
    add_name(DT_NEEDED, "libc.so.6");
    assert_true(needs_libc_only());
    add_name(DT_NEEDED, "libstdc++.so.6");
    assert_false(needs_libc_only());
    /* What only begins so, or is cut off. */
    begin_named();
    add_name(DT_NEEDED, "libc.so.60");
    assert_false(needs_libc_only());
    begin_named();
    add_name(DT_NEEDED, "libc.so.6");
    add(DT_NEEDED, UINT64_C(1) << 40);
    assert_false(needs_libc_only());
    begin();
    add_name(DT_NEEDED, "libc.so.6");
    assert_false(needs_libc_only());
    memset(&file.header, 0, sizeof file.header);
    assert_false(needs_libc_only());
}

static void test_other_places(void **state)
{
    static const Elf64_Sxword tags[] = {DT_RPATH,    DT_RUNPATH, DT_AUDIT,
                                        DT_DEPAUDIT, DT_FILTER,  DT_AUXILIARY};
    (void)state;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        begin_named();
        add_name(DT_NEEDED, "libc.so.6");
        add_name(tags[i], "/opt/lib");
        assert_false(needs_libc_only());
    }
}

/* Entries are read some at a time. */
static void test_many_entries(void **state)
{
    (void)state;
    for (unsigned place = 2; place < 98; place++) {
        begin_named();
        add_name(DT_NEEDED, "libc.so.6");
        fill(place);
        assert_true(needs_libc_only());
        assert_int_equal(kind(), PROGRAM_DYNAMIC);
        add_name(DT_NEEDED, "libasan.so.8");
        assert_false(needs_libc_only());
        assert_int_equal(kind(), PROGRAM_SANITIZED);
        /* Behind the end is nothing. */
        file.entries[place - 1].d_tag = DT_NULL;
        assert_int_equal(needs_libc_only(), place > 2);
        assert_int_equal(kind(), PROGRAM_DYNAMIC);
    }
    /* Without an end but that of the segment; the names come last. */
    begin();
    add_name(DT_NEEDED, "libc.so.6");
    fill(99);
    add(DT_STRTAB, BASE + offsetof(struct file, strings));
    assert_true(needs_libc_only());
    file.segments[1].p_filesz -= sizeof *file.entries;
    assert_false(needs_libc_only());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libc_only),
        cmocka_unit_test(test_other_places),
        cmocka_unit_test(test_many_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
