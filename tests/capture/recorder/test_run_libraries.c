/* Whether a program is certainly without C++: programs, libraries and the loader's cache are made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/run_libraries.h"
#include "made_program.h"

static char folder[] = "/tmp/mprof-libraries-XXXXXX";
static struct made_program program;

/* The loader's cache, as glibc writes it. */
static struct {
    char magic[20];
    uint32_t count, strings_size, unused[5];
    struct {
        uint32_t flags, name, path, version;
        uint64_t hardware;
    } entries[16];
    char strings[2048];
} cache;
static uint32_t cache_strings;

static FILE *create(const char *name)
{
    char path[sizeof folder + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

static void make(const char *name)
{
    FILE *file = create(name);
    made_write(&program, file);
    fclose(file);
}

/* A file that is linked with `needed` ("" for nothing). */
static void make_linked(const char *name, const char *needed)
{
    made_begin(&program);
    made_add_strings(&program);
    made_add_name(&program, DT_NEEDED, "libc.so.6");
    if (*needed)
        made_add_name(&program, DT_NEEDED, needed);
    make(name);
}

static uint32_t cache_add_string(const char *text)
{
    const uint32_t at = cache_strings;
    snprintf(cache.strings + at, sizeof cache.strings - at, "%s", text);
    cache_strings += (uint32_t)strlen(text) + 1;
    return (uint32_t)((char *)cache.strings - (char *)&cache) + at;
}

static void cache_add(uint32_t flags, const char *name, const char *file)
{
    char path[sizeof folder + 64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    cache.entries[cache.count].flags = flags;
    cache.entries[cache.count].name = cache_add_string(name);
    cache.entries[cache.count++].path = cache_add_string(path);
}

static void cache_begin(void)
{
    memset(&cache, 0, sizeof cache);
    memcpy(cache.magic, "glibc-ld.so.cache1.1", sizeof cache.magic);
    cache_strings = 0;
}

/* With the cache as it is, but only its first `size` bytes. */
static bool certain_of(size_t size)
{
    char path[sizeof folder + 64];
    FILE *file = create("cache");
    assert_int_equal(fwrite(&cache, 1, size, file), size);
    fclose(file);
    snprintf(path, sizeof path, "%s/program", folder);
    const int descriptor = open(path, O_RDONLY);
    assert_true(descriptor >= 0);
    snprintf(path, sizeof path, "%s/cache", folder);
    const bool certain = run_libraries_are_without_cxx(descriptor, path);
    close(descriptor);
    return certain;
}

static bool is_certain(void)
{
    return certain_of(sizeof cache);
}

/* program, libone, libtwo, and what that needs. */
static void make_chain(const char *last)
{
    make_linked("program", "libone.so.1");
    make_linked("libone", "libtwo.so.1");
    make_linked("libtwo", last);
    make_linked("liblast", "");
    cache_begin();
    cache_add(0x303, "liblast.so.1", "liblast");
    cache_add(0x303, "libone.so.1", "libone");
    cache_add(0x1, "libtwo.so.1", "libtwo");
}

static void test_certain(void **state)
{
    (void)state;
    make_chain("liblast.so.1");
    assert_true(is_certain());
    /* Libraries may need one another. */
    make_linked("liblast", "libone.so.1");
    assert_true(is_certain());
    cache_begin();
    make_linked("program", "libm.so.6");
    assert_true(is_certain());
}

static void test_of_cxx(void **state)
{
    (void)state;
    make_chain("libstdc++.so.6");
    assert_false(is_certain());
    make_chain("libc++.so.1");
    assert_false(is_certain());
    make_chain("liblast.so.1");
    make_linked("liblast", "libstdc++.so.6");
    assert_false(is_certain());
    make_linked("liblast", "libstdc.so.6");
    assert_false(is_certain());
    /* By the name that the file has, and by a second file for the same name. */
    make_chain("libodd.so.1");
    make_linked("libc++.so.1", "");
    cache_add(0x303, "libodd.so.1", "libc++.so.1");
    assert_false(is_certain());
    make_chain("liblast.so.1");
    make_linked("libfast", "libstdc++.so.6");
    cache_add(0x303, "liblast.so.1", "libfast");
    assert_false(is_certain());
    /* That of another processor counts not. */
    cache.entries[cache.count - 1].flags = 0x3;
    assert_true(is_certain());
}

static void test_led_elsewhere(void **state)
{
    static const char *const variables[] = {"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"};
    (void)state;
    make_chain("liblast.so.1");
    made_begin(&program);
    made_add_strings(&program);
    made_add_name(&program, DT_RUNPATH, "/opt/lib");
    make("liblast");
    assert_false(is_certain());
    make_chain("liblast.so.1");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        setenv(variables[i], "", 1);
        assert_false(is_certain());
        unsetenv(variables[i]);
        assert_true(is_certain());
    }
}

static void test_not_there(void **state)
{
    char path[sizeof folder + 64];
    (void)state;
    make_chain("libnone.so.1");
    assert_false(is_certain());
    make_chain("liblast.so.1");
    snprintf(path, sizeof path, "%s/liblast", folder);
    assert_int_equal(unlink(path), 0);
    assert_false(is_certain());
    fclose(create("liblast"));
    assert_false(is_certain());
    assert_false(run_libraries_are_without_cxx(-1, "/nowhere"));
}

static void test_damaged_cache(void **state)
{
    (void)state;
    make_chain("liblast.so.1");
    const size_t whole = offsetof(__typeof__(cache), strings) + cache_strings;
    /* The last byte ends the last path. */
    for (size_t size = 0; size < whole - 1; size++)
        assert_false(certain_of(size));
    assert_true(certain_of(whole - 1));
    cache.count = UINT32_MAX;
    assert_false(is_certain());
    cache.count = 3;
    cache.entries[2].path = UINT32_MAX;
    assert_false(is_certain());
    make_chain("liblast.so.1");
    cache.magic[19] = '2';
    assert_false(is_certain());
}

static int set_up(void **state)
{
    (void)state;
    unsetenv("LD_PRELOAD");
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("LD_AUDIT");
    return mkdtemp(folder) ? 0 : 1;
}

static int tear_down(void **state)
{
    char command[sizeof folder + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_certain),       cmocka_unit_test(test_of_cxx),
        cmocka_unit_test(test_led_elsewhere), cmocka_unit_test(test_not_there),
        cmocka_unit_test(test_damaged_cache),
    };
    /* Where something is preloaded into all programs, nothing is certain. */
    if (access("/etc/ld.so.preload", F_OK) == 0)
        return 0;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
