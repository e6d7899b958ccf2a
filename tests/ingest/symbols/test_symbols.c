/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbolizer on programs of the test, and its map of intervals. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <stdio.h>
#include <cmocka.h>

#include "ingest/symbols/file.h"
#include "ingest/symbols/intervals.h"
#include "ingest/symbols/symbols.h"

static const struct symbols_options none = {.debug_dir = NULL};

static uint32_t at(const struct symbols_intervals *map, uint64_t address)
{
    return symbols_intervals_find(map, address);
}

static void intervals_nest(void **state)
{
    struct symbols_intervals map = {0};
    assert_true(symbols_intervals_add(&map, 100, 200, 0));
    assert_true(symbols_intervals_add(&map, 120, 160, 1));
    assert_true(symbols_intervals_add(&map, 130, 160, 2));
    assert_true(symbols_intervals_add(&map, 160, 170, 3));
    assert_true(symbols_intervals_add(&map, 300, 310, 4));
    assert_true(symbols_intervals_add(&map, 305, 305, 5));
    assert_true(symbols_intervals_settle(&map));
    assert_int_equal(at(&map, 99), SYMBOLS_NOWHERE);
    assert_int_equal(at(&map, 100), 0);
    assert_int_equal(at(&map, 119), 0);
    assert_int_equal(at(&map, 120), 1);
    assert_int_equal(at(&map, 130), 2);
    assert_int_equal(at(&map, 159), 2);
    assert_int_equal(at(&map, 160), 3);
    assert_int_equal(at(&map, 170), 0);
    assert_int_equal(at(&map, 200), SYMBOLS_NOWHERE);
    assert_int_equal(at(&map, 305), 4);
    assert_int_equal(at(&map, 310), SYMBOLS_NOWHERE);
    symbols_intervals_free(&map);
}

static void equal_intervals_give_the_greater_value(void **state)
{
    struct symbols_intervals map = {0};
    assert_true(symbols_intervals_add(&map, 10, 20, 7));
    assert_true(symbols_intervals_add(&map, 10, 20, 9));
    assert_true(symbols_intervals_add(&map, 10, 20, 8));
    assert_true(symbols_intervals_settle(&map));
    assert_int_equal(at(&map, 10), 9);
    assert_int_equal(at(&map, 19), 9);
    assert_int_equal(at(&map, 20), SYMBOLS_NOWHERE);
    symbols_intervals_free(&map);
}

/* Damaged input overlaps without nesting. The answer is still an interval that covers the
 * address. */
static void overlaps_are_covered_by_one_of_them(void **state)
{
    enum { INTERVALS = 40, ADDRESSES = 256 };
    unsigned seed = 1988;
    for (int round = 0; round < 200; round++) {
        struct symbols_intervals map = {0};
        uint64_t start[INTERVALS], end[INTERVALS];
        for (uint32_t i = 0; i < INTERVALS; i++) {
            seed = seed * 1103515245 + 12345;
            start[i] = seed >> 16 & 127;
            end[i] = start[i] + (seed >> 24 & 31);
            assert_true(symbols_intervals_add(&map, start[i], end[i], i));
        }
        assert_true(symbols_intervals_settle(&map));
        for (uint64_t address = 0; address < ADDRESSES; address++) {
            uint32_t value = at(&map, address);
            bool covered = false;
            for (int i = 0; i < INTERVALS; i++)
                covered = covered || (start[i] <= address && address < end[i]);
            if (value == SYMBOLS_NOWHERE)
                assert_false(covered);
            else
                assert_true(start[value] <= address && address < end[value]);
        }
        symbols_intervals_free(&map);
    }
}

static struct symbols *with_module(const char *path, const uint8_t *build_id, size_t length)
{
    struct symbols *symbols = symbols_new(&none);
    assert_non_null(symbols);
    symbols_module(symbols, 1, path, build_id, length);
    return symbols;
}

/* Checks that one line names a file that cannot be used, and that lookups still give one frame. */
static void assert_unusable(const char *path, const char *reason)
{
    struct symbols *symbols = with_module(path, NULL, 0);
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    if (!strstr(symbols_status(symbols, 1), reason))
        fail_msg("%s: %s", path, symbols_status(symbols, 1));
    assert_null(strchr(symbols_status(symbols, 1), '\n'));
    assert_int_equal(symbols_lookup(symbols, 1, 0x1234, frames), 1);
    assert_non_null(strstr(frames[0].function, "+0x1234"));
    assert_null(frames[0].file);
    symbols_free(symbols);
}

static void unusable_files_say_why(void **state)
{
    char directory[] = "/tmp/mprof-symbols-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    assert_unusable("/nonexistent/library.so", "No such file");
    assert_unusable("[vdso]", "[vdso] is not a file");
    assert_unusable("", "without a name");
    assert_unusable(directory, "not a regular file");
    assert_unusable("/dev/zero", "not a regular file");
    snprintf(path, sizeof(path), "%s/fifo", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_unusable(path, "not a regular file");
    unlink(path);
    snprintf(path, sizeof(path), "%s/text", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("not an ELF file", file);
    fclose(file);
    assert_unusable(path, "not a readable ELF file");
    unlink(path);
    rmdir(directory);
}

static void another_build_id_is_not_used(void **state)
{
    static const uint8_t wrong[20] = {0xde, 0xad};
    struct symbols *symbols = with_module("/proc/self/exe", wrong, sizeof(wrong));
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    assert_non_null(strstr(symbols_status(symbols, 1), "build-id"));
    assert_non_null(strstr(symbols_status(symbols, 1), "dead0000"));
    assert_int_equal(symbols_lookup(symbols, 1, 0x1000, frames), 1);
    assert_string_equal(frames[0].function, "exe+0x1000");
    symbols_free(symbols);
}

static void unknown_modules_are_nameless(void **state)
{
    struct symbols *symbols = with_module("/proc/self/exe", NULL, 0);
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    assert_string_equal(symbols_status(symbols, 1), "dwarf");
    assert_string_equal(symbols_status(symbols, 0), "none");
    assert_string_equal(symbols_status(symbols, 7), "none");
    symbols_module(symbols, UINT32_MAX, "/proc/self/exe", NULL, 0);
    assert_string_equal(symbols_status(symbols, UINT32_MAX), "none");
    assert_int_equal(symbols_lookup(symbols, 0, 0xabc, frames), 1);
    assert_string_equal(frames[0].function, "?+0xabc");
    assert_int_equal(symbols_lookup(symbols, 1, UINT64_MAX, frames), 1);
    assert_int_equal(symbols_lookup(symbols, 1, 0, frames), 1);
    symbols_free(symbols);
}

static void a_sysroot_stands_before_every_path(void **state)
{
    struct symbols_options options = {.sysroot = "/proc"};
    struct symbols *symbols = symbols_new(&options);
    assert_non_null(symbols);
    symbols_module(symbols, 1, "/self/exe", NULL, 0);
    assert_string_equal(symbols_status(symbols, 1), "dwarf");
    symbols_free(symbols);
}

/* A library loaded by a relative path lies below the directory in which the program ran. */
static void relative_paths_need_the_directory(void **state)
{
    struct symbols *symbols = with_module("self/exe", NULL, 0);
    assert_non_null(strstr(symbols_status(symbols, 1), "self/exe is not a file"));
    struct symbols_program program = {.directory = "/proc"};
    assert_true(symbols_set_program(symbols, &program));
    symbols_module(symbols, 1, "self/exe", NULL, 0);
    assert_string_equal(symbols_status(symbols, 1), "dwarf");
    /* A bare name was found on a search path that is not known here. */
    symbols_module(symbols, 2, "exe", NULL, 0);
    assert_non_null(strstr(symbols_status(symbols, 2), "exe is not a file"));
    symbols_free(symbols);
}

/* Finds our own vdso's build-id by the program headers of its image. */
static size_t vdso_build_id(const uint8_t **build_id)
{
    const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Phdr *segments = !image ? NULL : (const void *)(image + header->e_phoff);
    for (size_t i = 0; segments && i < header->e_phnum; i++) {
        const uint8_t *at = image + segments[i].p_offset, *end = at + segments[i].p_filesz;
        while (segments[i].p_type == PT_NOTE && at + sizeof(Elf64_Nhdr) <= end) {
            const Elf64_Nhdr *note = (const void *)at;
            const uint8_t *content = at + sizeof(*note) + ((note->n_namesz + 3) & ~3U);
            *build_id = content;
            if (note->n_type == NT_GNU_BUILD_ID && strcmp((const char *)(note + 1), "GNU") == 0)
                return note->n_descsz;
            at = content + ((note->n_descsz + 3) & ~3U);
        }
    }
    return 0;
}

static void the_vdso_is_read_from_memory(void **state)
{
    const uint8_t *build_id = NULL;
    size_t length = vdso_build_id(&build_id);
    if (length == 0)
        skip();
    struct symbols *symbols = with_module("[vdso]", build_id, length);
    assert_string_equal(symbols_status(symbols, 1), "dynsym");
    const struct symbols_file *file = symbols_module_file(symbols, 1);
    assert_non_null(file);
    bool found = false;
    for (uint64_t pc = file->code->start; pc < file->code[file->code_count - 1].end; pc++) {
        struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
        assert_int_equal(symbols_lookup(symbols, 1, pc, frames), 1);
        found = found || strstr(frames[0].function, "clock_gettime");
    }
    assert_true(found);
    uint8_t other[20] = {1};
    symbols_module(symbols, 2, "[vdso]", other, sizeof(other));
    assert_non_null(strstr(symbols_status(symbols, 2), "of another kernel"));
    symbols_free(symbols);
}

static const char *generated(struct symbols *symbols, uint64_t pc)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    assert_int_equal(symbols_lookup(symbols, 0, pc, frames), 1);
    return frames[0].function;
}

static void perf_maps_name_generated_code(void **state)
{
    char directory[] = "/tmp/mprof-symbols-XXXXXX", below[64], path[96];
    assert_non_null(mkdtemp(directory));
    snprintf(below, sizeof(below), "%s/tmp", directory);
    assert_int_equal(mkdir(below, 0700), 0);
    snprintf(path, sizeof(path), "%s/perf-1988.map", below);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("7f0000001000 20 py::main:/x/my file.py\n"
          "no entry\n"
          "7f0000001010\n"
          "7f0000001020 0 empty\n"
          "ffffffffffffffff 2 beyond\n"
          "0x7f0000002000 0x10 prefixed\r\n"
          "7f0000003000 10 old\n"
          "7f0000003000 10 new",
          file);
    fclose(file);
    struct stat information;
    assert_int_equal(stat(path, &information), 0);
    struct symbols_options options = {.sysroot = directory};
    struct symbols_program program = {.pid = 1988, .start_ns = 1000000000};
    struct symbols *symbols = symbols_new(&options);
    assert_non_null(symbols);
    assert_true(symbols_set_program(symbols, &program));
    assert_string_equal(generated(symbols, 0x7f0000000fff), "?+0x7f0000000fff");
    assert_string_equal(generated(symbols, 0x7f0000001000), "py::main:/x/my file.py");
    assert_string_equal(generated(symbols, 0x7f000000101f), "py::main:/x/my file.py");
    assert_string_equal(generated(symbols, 0x7f0000001020), "?+0x7f0000001020");
    assert_string_equal(generated(symbols, 0x7f0000002008), "prefixed");
    assert_string_equal(generated(symbols, 0x7f0000003008), "new");
    /* The file was written before the recording began, by an earlier process with that number. */
    program.start_ns = ((uint64_t)information.st_mtim.tv_sec + 5) * 1000000000;
    assert_true(symbols_set_program(symbols, &program));
    assert_string_equal(generated(symbols, 0x7f0000001000), "?+0x7f0000001000");
    program = (struct symbols_program){.pid = 1989};
    assert_true(symbols_set_program(symbols, &program));
    assert_string_equal(generated(symbols, 0x7f0000001000), "?+0x7f0000001000");
    symbols_free(symbols);
    unlink(path);
    rmdir(below);
    rmdir(directory);
}

static void names_of_other_languages_are_demangled(void **state)
{
    static const struct {
        const char *linkage, *name;
    } cases[] = {
        {"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"},
        {"_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
         "4drop17h89ab01234567cdefE",
         "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop"},
        {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
        {"_RNvMs_NtCs1234_7mycrate3barNtB4_3Baz3new", "<mycrate::bar::Baz>::new"},
        {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
        {"_D3std5array8appenderFZv", "std.array.appender()"},
        {"_D8demangle4testFAaZv", "demangle.test(char[])"},
        {"_Dmain", "D main"},
        {"_ZNSt6vectorIiSaIiEE9push_backEOi",
         "std::vector<int, std::allocator<int> >::push_back(int&&)"},
        {"_Device_open", "_Device_open"},
        {"_D9short", "_D9short"},
        {"_R", "_R"},
        {"main", "main"},
    };
    struct symbols *symbols = with_module("/nonexistent", NULL, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_string_equal(symbols_demangle(symbols, cases[i].linkage), cases[i].name);
    symbols_free(symbols);
}

/* Names stay valid, and equal names are equal pointers. */
static void names_are_shared(void **state)
{
    struct symbols *symbols = with_module("/nonexistent", NULL, 0);
    struct symbols_frame first[SYMBOLS_FRAMES_MAX], second[SYMBOLS_FRAMES_MAX];
    symbols_lookup(symbols, 1, 0x10, first);
    for (uint64_t pc = 0x1000; pc < 0x3000; pc++)
        symbols_lookup(symbols, 1, pc, second);
    symbols_lookup(symbols, 1, 0x10, second);
    assert_ptr_equal(first[0].function, second[0].function);
    assert_string_equal(first[0].function, "nonexistent+0x10");
    symbols_free(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_nest),
        cmocka_unit_test(equal_intervals_give_the_greater_value),
        cmocka_unit_test(overlaps_are_covered_by_one_of_them),
        cmocka_unit_test(unusable_files_say_why),
        cmocka_unit_test(another_build_id_is_not_used),
        cmocka_unit_test(unknown_modules_are_nameless),
        cmocka_unit_test(a_sysroot_stands_before_every_path),
        cmocka_unit_test(relative_paths_need_the_directory),
        cmocka_unit_test(the_vdso_is_read_from_memory),
        cmocka_unit_test(perf_maps_name_generated_code),
        cmocka_unit_test(names_of_other_languages_are_demangled),
        cmocka_unit_test(names_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
