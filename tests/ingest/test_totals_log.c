/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of several processes come back in the order of time, with the last types of blocks.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "ingest/replay/totals_log.h"

enum { PARTS = 3, BLOCKS = 20000 };

/* Block `i` of a process: its allocation is at 3 * i, its free at 3 * i + 10. */
static struct totals_block block_of(size_t part, uint64_t i)
{
    return (struct totals_block){
        .address = (part << 40) + (i % 2 ? UINT64_MAX - i * 16 : i * 4096),
        .size = i * i,
        .order = i + 1,
        .alloc_ns = 3 * i,
        .stack = (uint32_t)(i % 300),
        .type = (uint32_t)(i % 5),
    };
}

/* Half of the blocks of the second process are named late, some of them much later. */
static bool is_named(size_t part, uint64_t i)
{
    return part == 1 && i % 2 == 0;
}

static void put_part(struct totals_log *log, size_t part)
{
    for (uint64_t i = 0; i < BLOCKS + 3; i++) {
        struct totals_block block = block_of(part, i);
        if (i < BLOCKS)
            totals_log_allocate(log, &block);
        if (i < BLOCKS && is_named(part, i) && i % 100 != 0)
            totals_log_rename(log, i + 1, 77);
        if (i < 3)
            continue;
        block = block_of(part, i - 3);
        block.type = is_named(part, i - 3) ? 77 : block.type;
        totals_log_free(log, &block, block.alloc_ns + 10, 10, i % 4 != 0);
    }
    for (uint64_t i = 0; i < BLOCKS; i += 100)
        if (is_named(part, i))
            totals_log_rename(log, i + 1, 77);
    assert_true(totals_log_end_part(log));
}

static void check_event(const struct totals_log_event *event, uint64_t later_ns, uint64_t i)
{
    const struct totals_block block = block_of(event->part, i);
    assert_int_equal(event->ns, block.alloc_ns + later_ns + (event->is_free ? 10 : 0));
    assert_int_equal(event->block.address, block.address);
    assert_int_equal(event->block.size, block.size);
    assert_int_equal(event->block.stack, block.stack);
    assert_int_equal(event->block.type, is_named(event->part, i) ? 77 : block.type);
    assert_int_equal(event->lifetime_ns, event->is_free ? 10 : 0);
    if (event->is_free)
        assert_int_equal(event->counted, (i + 3) % 4 != 0);
}

/* Reads the wanted parts. Returns the number of events. */
static size_t read_parts(struct totals_log *log, const bool *wanted)
{
    static const uint64_t later_ns[PARTS] = {0, 10, 25000};
    uint64_t allocated[PARTS] = {0}, freed[PARTS] = {0}, last_ns = 0;
    struct totals_log_event event;
    size_t count = 0;
    assert_true(totals_log_rewind(log, wanted, later_ns));
    for (; totals_log_next(log, &event); count++) {
        assert_true(wanted[event.part]);
        assert_true(event.ns >= last_ns);
        last_ns = event.ns;
        check_event(&event, later_ns[event.part],
                    event.is_free ? freed[event.part]++ : allocated[event.part]++);
    }
    assert_int_equal(log->error, 0);
    return count;
}

static void test_order(void **state)
{
    FILE *events = tmpfile(), *names = tmpfile();
    struct totals_log log;
    assert_non_null(events);
    assert_non_null(names);
    assert_true(totals_log_begin(&log, fileno(events), fileno(names)));
    for (size_t part = 0; part < PARTS; part++)
        put_part(&log, part);
    assert_true(totals_log_end_part(&log)); /* a process without events */
    assert_int_equal(read_parts(&log, (const bool[PARTS + 1]){true, true, true, false}),
                     2 * PARTS * BLOCKS);
    assert_int_equal(read_parts(&log, (const bool[PARTS + 1]){false, true, false, false}),
                     2 * BLOCKS);
    totals_log_free_memory(&log);
    fclose(events);
    fclose(names);
}

/* A file that cannot be written is an error, and not an event that is missing. */
static void test_no_file(void **state)
{
    struct totals_log log;
    const struct totals_block block = block_of(0, 1);
    assert_true(totals_log_begin(&log, -1, -1));
    for (int i = 0; i < 1000000 && log.error == 0; i++)
        totals_log_allocate(&log, &block);
    assert_int_not_equal(log.error, 0);
    assert_false(totals_log_end_part(&log));
    totals_log_free_memory(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
