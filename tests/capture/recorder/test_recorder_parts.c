/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the recorder that work alone: options, names, the bootstrap arena. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/os/options.h"
#include "capture/os/trace_name.h"
#include "capture/os/os.h"
#include "capture/record/triggers.h"
#include "capture/record/real.h"
#include "capture/record/chunk.h"

static void options_default(void **state)
{
    struct options options;
    char bad[16] = "";
    assert_true(options_parse(NULL, &options, bad, sizeof(bad)));
    assert_int_equal(options.stack.unwind, STACK_UNWIND_AUTO);
    assert_int_equal(options.stack.depth_limit, 0);
    assert_false(options.fast_clock);
    assert_false(options.free_stacks);
    assert_true(options.follow_fork && options.follow_exec);
    assert_int_equal(options.max_size, 0);
    assert_int_equal(options.root, 0);
    assert_int_equal(options.sample, 0);
    assert_false(options.start_waits);
}

static void options_of_control(void **state)
{
    struct options options;
    char bad[16] = "";
    assert_true(
        options_parse("sample=512K,start=live>2M,stop=mark:the end", &options, bad, sizeof(bad)));
    assert_int_equal(options.sample, 512 << 10);
    assert_true(options.start_waits);
    assert_int_equal(options.start.live, 2 << 20);
    assert_int_equal(options.start.allocations, 0);
    assert_string_equal(options.start_mark, "");
    assert_string_equal(options.stop_mark, "the end");
    assert_true(options_parse("start=call:Cache::load,stop=call:f", &options, bad, sizeof(bad)));
    assert_true(options.start_waits);
    assert_string_equal(options.start_call, "Cache::load");
    assert_string_equal(options.stop_call, "f");
    assert_true(options_parse("sample=1,start=wait,stop=allocs>7", &options, bad, sizeof(bad)));
    assert_int_equal(options.sample, 1);
    assert_true(options.start_waits);
    assert_int_equal(options.start.live, 0);
    assert_int_equal(options.stop.allocations, 7);
    /* A limit that ends recording does not make it wait. */
    assert_true(options_parse("stop=live>1", &options, bad, sizeof(bad)));
    assert_false(options.start_waits);
}

static void options_all(void **state)
{
    struct options options;
    char bad[16] = "";
    assert_true(options_parse(
        "unwind=fp,,depth=4294967295,clock=fast,free-stacks,follow=none,root=17,max-size=3G,"
        "clock=exact,",
        &options, bad, sizeof(bad)));
    assert_int_equal(options.stack.unwind, STACK_UNWIND_FRAME_POINTERS);
    assert_int_equal(options.stack.depth_limit, UINT32_MAX);
    assert_false(options.fast_clock); /* the last setting counts */
    assert_true(options.free_stacks);
    assert_false(options.follow_fork || options.follow_exec);
    assert_int_equal(options.max_size, UINT64_C(3) << 30);
    assert_int_equal(options.root, 17);
}

static void options_min_free(void **state)
{
    struct options options;
    char bad[16] = "";
    assert_true(options_parse("", &options, bad, sizeof(bad)));
    assert_int_equal(options.min_free.bytes, UINT64_C(1) << 30);
    assert_int_equal(options.min_free.percent, 5);
    assert_true(options_parse("min-free=3M", &options, bad, sizeof(bad)));
    assert_int_equal(options.min_free.bytes, 3 << 20);
    assert_int_equal(options.min_free.percent, 100);
    assert_true(options_parse("min-free=10%", &options, bad, sizeof(bad)));
    assert_int_equal(options.min_free.bytes, UINT64_MAX);
    assert_int_equal(options.min_free.percent, 10);
    assert_true(options_parse("min-free=0", &options, bad, sizeof(bad)));
    assert_int_equal(options.min_free.bytes, 0);
}

static void disk_space_is_named(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {
        {0, "0 KiB"},
        {(10240u << 10) - 1, "10239 KiB"},
        {10240u << 10, "10 MiB"},
        {UINT64_C(1) << 30, "1024 MiB"},
        {UINT64_C(20) << 40, "20 TiB"},
        {UINT64_MAX, "16777215 TiB"},
    };
    char text[DISK_SPACE_TEXT];
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        assert_string_equal(disk_space_text(sizes[i].bytes, text), sizes[i].text);
}

/* The smaller of the two limits counts. A disk without a size has no limit. */
static void disk_space_is_looked_at(void **state)
{
    struct disk_space all, some;
    int descriptor = open(".", O_RDONLY | O_CLOEXEC);
    assert_true(descriptor >= 0);
    assert_true(disk_space_look(descriptor, (struct disk_space_limit){UINT64_MAX, 100}, &all));
    assert_true(disk_space_look(descriptor, (struct disk_space_limit){1 << 20, 100}, &some));
    assert_int_equal(some.must_stay_free, 1 << 20);
    assert_true(disk_space_look(descriptor, (struct disk_space_limit){UINT64_MAX, 5}, &some));
    assert_in_range(some.must_stay_free, all.must_stay_free / 21, all.must_stay_free / 20);
    assert_false(disk_space_look(descriptor, (struct disk_space_limit){0, 5}, &some));
    assert_int_equal(close(descriptor), 0);
    descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    assert_false(disk_space_look(descriptor, (struct disk_space_limit){1, 100}, &some));
    assert_int_equal(close(descriptor), 0);
}

static void options_refused(void **state)
{
    static const char *const refused[] = {
        "depth=",     "depth",        "depth=4294967296", "depth=-1",
        "depth=1x",   "unwind=best",  "free-stacks=1",    "max-size=",
        "max-size=K", "max-size=60K", "max-size=9T",      "follow=forks",
        "clock",      "follow=",      "unknown=1",        "=",
        " depth=1",   "sample=",      "sample=0",         "sample=2049G",
        "start=",     "start=waits",  "start=live>",      "start=allocs>0",
        "stop=wait",  "stop=mark:",   "stop=live",        "start=call:",
        "min-free=",  "min-free=%",   "min-free=101%",    "min-free=1x",
    };
    struct options options;
    char bad[16], text[64];
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        snprintf(text, sizeof(text), "root=5,%s,depth=9", refused[i]);
        assert_false(options_parse(text, &options, bad, sizeof(bad)));
        assert_int_equal(strncmp(bad, refused[i], sizeof(bad) - 1), 0);
        assert_int_equal(options.root, 5);
        assert_int_equal(options.stack.depth_limit, 0);
    }
}

static void options_without(void **state)
{
    struct options options;
    char bad[16], text[8 + 4 * (OPTIONS_WITHOUT + 1)] = "without=";
    assert_true(
        options_parse("root=1,without=285:328,without=72,mmap", &options, bad, sizeof(bad)));
    assert_int_equal(options.without_count, 3);
    assert_int_equal(options.without[0], 285);
    assert_int_equal(options.without[1], 328);
    assert_int_equal(options.without[2], 72);
    for (unsigned i = 0; i <= OPTIONS_WITHOUT; i++)
        strcat(text, i ? ":1" : "1");
    assert_false(options_parse(text, &options, bad, sizeof(bad)));
    text[strlen(text) - 2] = 0;
    assert_true(options_parse(text, &options, bad, sizeof(bad)));
    assert_int_equal(options.without_count, OPTIONS_WITHOUT);
    static const char *const refused[] = {"without", "without=", "without=1:", "without=:1",
                                          "without=a"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        assert_false(options_parse(refused[i], &options, bad, sizeof(bad)));
}

/* Descriptors lie above those that the program gets, unless there is no room. */
static void descriptors(void **state)
{
    struct rlimit before, limit;
    char byte;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    for (rlim_t most = 1024; most >= 64; most /= 4) {
        limit.rlim_cur = most;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        const int next = dup(0), descriptor = os_open_read("/proc/self/statm");
        close(next);
        assert_true(descriptor >= (most > 1000 ? 1000 : most > 200 ? 200 : next + 1));
        assert_int_equal(os_read(descriptor, &byte, 1), 1);
        assert_int_equal(fcntl(descriptor, F_GETFD), FD_CLOEXEC);
        os_close(descriptor);
        const int again = dup(0);
        assert_int_equal(again, next);
        close(again);
    }
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(os_open_read("/no/such/file"), -ENOENT);
}

static void symbol_names(void **state)
{
    /* The mangled names come from c++filt. */
    static const struct {
        const char *wanted, *symbol;
        bool is;
    } cases[] = {
        {"load", "load", true},
        {"load", "load.part.0", true},
        {"load", "load.cold", true},
        {"memcpy", "memcpy@@GLIBC_2.14", true},
        {"load", "loader", false},
        {"load", "reload", false},
        {"load", "", false},
        {"load", "_Z4loadi", true},
        {"load", "_ZL4loadi", true},
        {"load", "_Z6loaderi", false},
        {"load", "_ZN5Cache4loadEi", false},
        {"Cache::load", "_ZN5Cache4loadEi", true},
        {"Cache::load", "_ZNK5Cache4loadEv", true},
        {"Cache::load", "_ZN5Cache4loadEi.isra.0", true},
        {"Cache::load", "_ZN5Cache4loadIiEEvT_", false},
        {"Cache::load", "_ZN5Cache4load3useEv", false},
        {"Cache::load", "_ZN4lake5Cache4loadEi", false},
        {"lake::Cache::load", "_ZN4lake5Cache4loadEi", true},
        {"std::terminate", "_ZSt9terminatev", true},
        {"std::type_info::name", "_ZNKSt9type_info4nameEv", true},
        {"_ZN5Cache4loadIiEEvT_", "_ZN5Cache4loadIiEEvT_", true},
        {"Cache::load", "_ZN5Cache4loa", false},
        {"Cache::load", "_ZN5", false},
        {"::", "_ZN", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (symbol_name_is(cases[i].wanted, cases[i].symbol) != cases[i].is)
            fail_msg("%s, %s", cases[i].wanted, cases[i].symbol);
}

static void names(void **state)
{
    static char base[TRACE_NAME_SIZE], name[TRACE_NAME_SIZE], expected[TRACE_NAME_SIZE + 64];
    char folder[PATH_MAX], longest[TRACE_NAME_SIZE];
    assert_non_null(getcwd(folder, sizeof(folder)));
    assert_true(trace_name_base("/a/b.bin", base));
    assert_string_equal(base, "/a/b.bin");
    assert_true(trace_name_attempt(base, 42, 0, true, name));
    assert_string_equal(name, "/a/b.bin");
    assert_true(trace_name_attempt(base, 42, 1, true, name));
    assert_string_equal(name, "/a/b.bin.d/42");
    assert_true(trace_name_attempt(base, 42, 3, true, name));
    assert_string_equal(name, "/a/b.bin.d/42.3");
    assert_true(trace_name_attempt(base, 42, 3, false, name));
    assert_string_equal(name, "/a/b.bin.42.3");
    assert_true(trace_name_base("b.bin", base));
    snprintf(expected, sizeof(expected), "%s/b.bin", folder);
    assert_string_equal(base, expected);
    assert_true(trace_name_base(NULL, base));
    snprintf(expected, sizeof(expected), "%s/mprof.test_recorder_parts.%d.bin", folder,
             (int)getpid());
    assert_string_equal(base, expected);
    assert_int_equal(chdir("/"), 0);
    assert_true(trace_name_base("x", base));
    assert_string_equal(base, "/x");
    memset(longest, 'x', sizeof(longest) - 1);
    longest[0] = '/';
    longest[sizeof(longest) - 1] = 0;
    assert_true(trace_name_base(longest, base));
    assert_false(trace_name_attempt(base, 42, 1, true, name));
    assert_false(trace_name_base(longest + 1, base) && strlen(base) >= TRACE_NAME_SIZE);
    assert_int_equal(chdir(folder), 0);
}

static void bootstrap(void **state)
{
    unsigned char *last = NULL;
    size_t total = 0;
    for (unsigned i = 0; i < 100; i++) {
        size_t size = i * 3, alignment = (size_t)1 << (i % 8);
        unsigned char *block = bootstrap_allocate(size, alignment);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % alignment, 0);
        assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
        assert_true(bootstrap_owns(block));
        assert_int_equal(bootstrap_size(block), size);
        assert_true(last < block);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(block[k], 0);
        memset(block, 0xff, size);
        last = block + size;
        total += size;
    }
    assert_false(bootstrap_owns(&total));
    assert_null(bootstrap_allocate(SIZE_MAX, 1));
    assert_null(bootstrap_allocate(1, (size_t)1 << 40));
    assert_null(bootstrap_allocate((size_t)2 << 30, 1));
    /* The first array has 65536 bytes. */
    for (unsigned i = 0; i < 300; i++)
        assert_true(bootstrap_owns(bootstrap_allocate(1000, 1)));
    assert_true(bootstrap_owns(bootstrap_allocate(100000, 4096)));
}

/* A jump may leave a record between its two last steps: the cursor is further than what is valid.
 */
static void the_sum_is_of_the_committed_bytes(void **state)
{
    static _Alignas(64) uint8_t bytes[TRACE_CHUNK_SIZE_DEFAULT];
    struct trace_chunk_header *header = (struct trace_chunk_header *)bytes;
    struct chunk chunk = {.base = bytes, .cursor = bytes + TRACE_CHUNK_HEADER_SIZE};
    memset(chunk.cursor, 7, 100);
    chunk_commit(&chunk, chunk.cursor + 90);
    chunk.cursor += 10;
    chunk_seal(&chunk);
    assert_int_equal(header->flags, TRACE_CHUNK_SEALED);
    assert_int_equal(header->commit, TRACE_CHUNK_HEADER_SIZE + 90);
    assert_true(header->sum == trace_sum(bytes + TRACE_CHUNK_HEADER_SIZE, 90));
    assert_false(header->sum == trace_sum(bytes + TRACE_CHUNK_HEADER_SIZE, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_default),
        cmocka_unit_test(options_of_control),
        cmocka_unit_test(options_all),
        cmocka_unit_test(options_min_free),
        cmocka_unit_test(disk_space_is_named),
        cmocka_unit_test(disk_space_is_looked_at),
        cmocka_unit_test(options_refused),
        cmocka_unit_test(symbol_names),
        cmocka_unit_test(names),
        cmocka_unit_test(options_without),
        cmocka_unit_test(descriptors),
        cmocka_unit_test(bootstrap),
        cmocka_unit_test(the_sum_is_of_the_committed_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
