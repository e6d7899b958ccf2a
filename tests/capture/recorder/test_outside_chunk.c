/* SPDX-License-Identifier: BSD-2-Clause */
/* A chunk from outside: the space that it takes on the disk, and the counts in the header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/run/client_chunk.h"
#include "capture/run/sandbox.h"

static struct outside outside;

/* Replaces the real one, because the test has no sandbox around it. */
bool run_sandbox_allows(long number)
{
    return number >= 0;
}

/* Returns the file's bytes on the disk. A file in memory has no blocks besides its contents. */
static uint64_t on_disk(void)
{
    struct stat status;
    assert_int_equal(fstat(outside.descriptor, &status), 0);
    assert_int_equal((status.st_size - TRACE_FILE_HEADER_SIZE) % TRACE_CHUNK_SIZE_DEFAULT, 0);
    return (uint64_t)status.st_blocks * 512;
}

static void assert_accounted(void)
{
    assert_int_equal(on_disk(),
                     TRACE_FILE_HEADER_SIZE +
                         (uint64_t)outside.header->chunk_count * TRACE_CHUNK_SIZE_DEFAULT -
                         outside.header->freed_bytes);
}

static void test_small(void **state)
{
    struct outside_chunk chunk;
    const uint8_t payload[8] = {1, 2, 3};
    (void)state;
    assert_true(outside_chunk_begin(&chunk, &outside, TRACE_THREAD_OUTSIDE, 0));
    assert_int_equal(outside.header->chunk_count, 1);
    assert_true(outside_chunk_reserve(&chunk, &outside, sizeof(payload)));
    outside_chunk_put(&chunk, TRACE_EXT_RSS, payload, sizeof(payload));
    outside_chunk_leave(&chunk);
    assert_int_equal(on_disk(), TRACE_FILE_HEADER_SIZE + 2 * 4096);
    assert_accounted();
}

/* Fills a chunk with records of one length, until no more fits. */
static void fill(size_t length)
{
    static uint8_t payload[TRACE_CHUNK_SIZE_DEFAULT], read_back[TRACE_CHUNK_SIZE_DEFAULT];
    struct outside_chunk chunk;
    uint64_t before = on_disk(), most = before + TRACE_CHUNK_SIZE_DEFAULT;
    unsigned count = 0;
    memset(payload, 0xab, length);
    assert_true(outside_chunk_begin(&chunk, &outside, TRACE_THREAD_OUTSIDE, 0));
    const uint32_t slot = chunk.slot;
    while (outside_chunk_reserve(&chunk, &outside, length)) {
        assert_accounted();
        outside_chunk_put(&chunk, TRACE_EXT_RSS, payload, length);
        count++;
    }
    const uint32_t used = chunk.used;
    assert_true(used + length + 16 > TRACE_CHUNK_SIZE_DEFAULT);
    assert_true(used >= TRACE_CHUNK_HEADER_SIZE + count * length);
    outside_chunk_leave(&chunk);
    assert_accounted();
    assert_true(on_disk() <= most);
    assert_int_equal(pread(outside.descriptor, read_back, sizeof(read_back),
                           (off_t)outside_slot_offset(&outside, slot)),
                     sizeof(read_back));
    size_t marks = 0;
    for (size_t i = 0; i < sizeof(read_back); i++)
        marks += read_back[i] == 0xab && i >= TRACE_CHUNK_HEADER_SIZE;
    assert_true(marks >= count * length);
}

static void test_filled(void **state)
{
    (void)state;
    fill(48);
    fill(5000);
    fill(4080);
    fill(TRACE_CHUNK_SIZE_DEFAULT - 2 * TRACE_CHUNK_HEADER_SIZE);
}

static void test_no_room(void **state)
{
    struct outside_chunk chunk;
    struct rlimit before, limit;
    (void)state;
    assert_true(outside_chunk_begin(&chunk, &outside, TRACE_THREAD_OUTSIDE, 0));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = outside_slot_offset(&outside, chunk.slot) + UINT64_C(8192);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const uint64_t freed = outside.header->freed_bytes;
    assert_true(outside_chunk_reserve(&chunk, &outside, 5000));
    assert_int_equal(outside.header->freed_bytes, freed - 4096);
    assert_false(outside_chunk_reserve(&chunk, &outside, 10000));
    assert_int_equal(outside.header->freed_bytes, freed - 4096);
    outside_chunk_leave(&chunk);
    assert_false(outside_chunk_begin(&chunk, &outside, TRACE_THREAD_OUTSIDE, 1));
    assert_false(outside_chunk_reserve(&chunk, &outside, 1));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_accounted();
}

static int set_up(void **state)
{
    (void)state;
    outside.descriptor = memfd_create("trace", MFD_CLOEXEC);
    if (outside.descriptor < 0 || fallocate(outside.descriptor, 0, 0, TRACE_FILE_HEADER_SIZE) != 0)
        return 1;
    outside.header = mmap(NULL, TRACE_FILE_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                          outside.descriptor, 0);
    if (outside.header == MAP_FAILED)
        return 1;
    outside.header->chunk_size = TRACE_CHUNK_SIZE_DEFAULT;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    munmap(outside.header, TRACE_FILE_HEADER_SIZE);
    return close(outside.descriptor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_filled),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
