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

#include "capture/run/client.h"
#include "capture/run/sandbox.h"

static struct client client;

/* Replaces the real one, because the test has no sandbox around it. */
bool run_sandbox_allows(long number)
{
    return number >= 0;
}

/* Returns the file's bytes on the disk. A file in memory has no blocks besides its contents. */
static uint64_t on_disk(void)
{
    struct stat status;
    assert_int_equal(fstat(client.descriptor, &status), 0);
    assert_int_equal((status.st_size - TRACE_FILE_HEADER_SIZE) % TRACE_CHUNK_SIZE_DEFAULT, 0);
    return (uint64_t)status.st_blocks * 512;
}

static void assert_accounted(void)
{
    assert_int_equal(on_disk(),
                     TRACE_FILE_HEADER_SIZE +
                         (uint64_t)client.header->chunk_count * TRACE_CHUNK_SIZE_DEFAULT -
                         client.header->freed_bytes);
}

static void test_small(void **state)
{
    struct client_chunk chunk;
    const uint8_t payload[8] = {1, 2, 3};
    assert_true(client_chunk_begin(&chunk, &client, TRACE_THREAD_OUTSIDE, 0));
    assert_int_equal(client.header->chunk_count, 1);
    assert_true(client_chunk_reserve(&chunk, &client, sizeof(payload)));
    client_chunk_put(&chunk, TRACE_EXT_RSS, payload, sizeof(payload));
    client_chunk_leave(&chunk);
    assert_int_equal(on_disk(), TRACE_FILE_HEADER_SIZE + 2 * 4096);
    assert_accounted();
}

/* Fills a chunk with records of one length, until no more fits. */
static void fill(size_t length)
{
    static uint8_t payload[TRACE_CHUNK_SIZE_DEFAULT], read_back[TRACE_CHUNK_SIZE_DEFAULT];
    struct client_chunk chunk;
    uint64_t before = on_disk(), most = before + TRACE_CHUNK_SIZE_DEFAULT;
    unsigned count = 0;
    memset(payload, 0xab, length);
    assert_true(client_chunk_begin(&chunk, &client, TRACE_THREAD_OUTSIDE, 0));
    const uint32_t slot = chunk.slot;
    while (client_chunk_reserve(&chunk, &client, length)) {
        assert_accounted();
        client_chunk_put(&chunk, TRACE_EXT_RSS, payload, length);
        count++;
    }
    const uint32_t used = chunk.used;
    assert_true(used + length + 16 > TRACE_CHUNK_SIZE_DEFAULT);
    assert_true(used >= TRACE_CHUNK_HEADER_SIZE + count * length);
    client_chunk_leave(&chunk);
    assert_accounted();
    assert_true(on_disk() <= most);
    assert_int_equal(pread(client.descriptor, read_back, sizeof(read_back),
                           (off_t)client_slot_offset(&client, slot)),
                     sizeof(read_back));
    size_t marks = 0;
    for (size_t i = 0; i < sizeof(read_back); i++)
        marks += read_back[i] == 0xab && i >= TRACE_CHUNK_HEADER_SIZE;
    assert_true(marks >= count * length);
}

static void test_filled(void **state)
{
    fill(48);
    fill(5000);
    fill(4080);
    fill(TRACE_CHUNK_SIZE_DEFAULT - 2 * TRACE_CHUNK_HEADER_SIZE);
}

static void test_no_room(void **state)
{
    struct client_chunk chunk;
    struct rlimit before, limit;
    assert_true(client_chunk_begin(&chunk, &client, TRACE_THREAD_OUTSIDE, 0));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = client_slot_offset(&client, chunk.slot) + UINT64_C(8192);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const uint64_t freed = client.header->freed_bytes;
    assert_true(client_chunk_reserve(&chunk, &client, 5000));
    assert_int_equal(client.header->freed_bytes, freed - 4096);
    assert_false(client_chunk_reserve(&chunk, &client, 10000));
    assert_int_equal(client.header->freed_bytes, freed - 4096);
    client_chunk_leave(&chunk);
    assert_false(client_chunk_begin(&chunk, &client, TRACE_THREAD_OUTSIDE, 1));
    assert_false(client_chunk_reserve(&chunk, &client, 1));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_accounted();
}

static int set_up(void **state)
{
    client.descriptor = memfd_create("trace", MFD_CLOEXEC);
    if (client.descriptor < 0 || fallocate(client.descriptor, 0, 0, TRACE_FILE_HEADER_SIZE) != 0)
        return 1;
    client.header = mmap(NULL, TRACE_FILE_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                         client.descriptor, 0);
    if (client.header == MAP_FAILED)
        return 1;
    client.header->chunk_size = TRACE_CHUNK_SIZE_DEFAULT;
    return 0;
}

static int tear_down(void **state)
{
    munmap(client.header, TRACE_FILE_HEADER_SIZE);
    return close(client.descriptor);
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
