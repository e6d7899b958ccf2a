/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace that grows under the reader. When looked at after every few records, it gives the events
 * in the same order as the merge of the whole file, and never an event that is not committed.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "ingest/replay/scan.h"
#include "tests/ingest/trace_builder.h"

enum { THREADS = 5, RECORDS = 4000, EVENTS_MOST = 3 * RECORDS };

struct seen {
    enum event_kind kind;
    uint32_t thread;
    uint64_t ticks, offset;
};

struct growing {
    struct trace_builder *builder;
    struct lane lanes[THREADS];
    uint64_t now;
    int descriptor;
    char path[64];
    struct seen seen[EVENTS_MOST];
    size_t count;
};

static uint64_t random_state;

static unsigned random_below(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % below;
}

static void begin(struct growing *growing)
{
    *growing = (struct growing){.builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS),
                                .now = 1000,
                                .descriptor = memfd_create("growing", MFD_CLOEXEC)};
    assert_true(growing->descriptor >= 0);
    snprintf(growing->path, sizeof(growing->path), "/proc/self/fd/%d", growing->descriptor);
}

/* Saves the file in its present state. Earlier data is written again unchanged. */
static void save(struct growing *growing)
{
    const struct trace_builder *builder = growing->builder;
    assert_int_equal(pwrite(growing->descriptor, builder->bytes, builder->length, 0),
                     builder->length);
}

static void end(struct growing *growing)
{
    trace_builder_free(growing->builder);
    close(growing->descriptor);
}

static void put_record(struct growing *growing, unsigned number)
{
    unsigned thread = random_below(THREADS);
    struct lane *lane = &growing->lanes[thread];
    growing->now += random_below(3);
    if (!lane->builder) {
        lane_begin(lane, growing->builder, thread + 1, growing->now);
        return;
    }
    switch (random_below(8)) {
    case 0:
        lane_node(lane, number + 1, random_below(number + 1), TRACE_FRAME_RETURN, 0, number);
        break;
    case 1:
        lane_extended(lane, TRACE_EXT_MARK, "ws", growing->now, "a mark");
        break;
    case 2:
        lane_realloc(lane, growing->now, growing->now + 1, 16 * number, 32 * number, 5, 1,
                     TRACE_REALLOC_MOVED);
        growing->now++;
        break;
    case 3:
    case 4:
        lane_free(lane, growing->now, 16 * number);
        break;
    default:
        lane_alloc(lane, growing->now, 16 * number, number, 1);
        break;
    }
}

static void take(struct growing *growing, const struct trace_event *event)
{
    assert_true(growing->count < EVENTS_MOST);
    assert_true(event->ticks <= growing->now);
    growing->seen[growing->count++] =
        (struct seen){event->kind, event->thread, event->ticks, event->offset};
}

static void look(struct growing *growing, struct trace_follow *follow, bool last)
{
    struct ingest_status status = {INGEST_OK, ""};
    struct trace_event event;
    assert_true(trace_follow_poll(follow, &status));
    if (last)
        trace_follow_lift_limit(follow);
    while (trace_follow_next(follow, &event, &status))
        take(growing, &event);
    assert_int_equal(status.code, INGEST_OK);
}

/* Compares the merge of the finished file, event by event, with the events seen. */
static void compare_with_merge(const struct growing *growing)
{
    struct ingest_status status = {INGEST_OK, ""};
    struct trace_file *file = trace_file_open(growing->path, &status);
    struct merge *merge = merge_new(file, &status);
    struct trace_event event;
    size_t n = 0;
    assert_non_null(merge);
    for (; merge_next(merge, &event, &status); n++) {
        const struct seen *seen = &growing->seen[n];
        assert_true(n < growing->count);
        if (seen->kind != event.kind || seen->thread != event.thread ||
            seen->ticks != event.ticks || seen->offset != event.offset)
            fail_msg("event %zu: at byte %llu, not %llu", n, (unsigned long long)seen->offset,
                     (unsigned long long)event.offset);
    }
    assert_int_equal(n, growing->count);
    merge_free(merge);
    trace_file_close(file);
}

static void grow(uint64_t seed, unsigned records_a_look)
{
    static struct growing growing;
    struct ingest_status status = {INGEST_OK, ""};
    struct trace_scan scan = {0}, whole = {0};
    random_state = seed;
    begin(&growing);
    save(&growing);
    struct trace_file *file = trace_file_open(growing.path, &status);
    assert_non_null(file);
    struct trace_follow *follow = trace_follow_new(file, trace_scan_growing(&scan));
    for (unsigned n = 1; n < RECORDS; n++) {
        put_record(&growing, n);
        /* The limit depends on stamps that advance between the looks. */
        if (n % records_a_look == 0) {
            growing.now++;
            save(&growing);
            look(&growing, follow, false);
            if (records_a_look > 10 && n > 10 * records_a_look)
                assert_true(growing.count > 0);
        }
    }
    for (unsigned i = 0; i < THREADS; i++)
        lane_seal(&growing.lanes[i]);
    save(&growing);
    look(&growing, follow, true);
    look(&growing, follow, true);
    compare_with_merge(&growing);

    struct trace_file *again = trace_file_open(growing.path, &status);
    assert_true(trace_scan(&whole, again, &status));
    assert_int_equal(scan.tree.count, whole.tree.count);
    assert_int_equal(scan.events, whole.events);
    assert_int_equal(scan.last_ticks, whole.last_ticks);
    assert_int_equal(scan.threads.count, whole.threads.count);
    assert_true(context_tree_resolve(&scan.tree));
    for (uint32_t id = 0; id < RECORDS; id++) {
        uint32_t one = context_tree_find(&scan.tree, id);
        uint32_t two = context_tree_find(&whole.tree, id);
        assert_true((one == CONTEXT_LOST) == (two == CONTEXT_LOST));
        assert_true(one == CONTEXT_LOST || scan.tree.nodes[one].id == whole.tree.nodes[two].id);
    }
    trace_scan_free(&whole);
    trace_file_close(again);
    trace_follow_free(follow);
    trace_scan_free(&scan);
    trace_file_close(file);
    end(&growing);
}

static void test_looks_of_all_lengths(void **state)
{
    static const unsigned lengths[] = {1, 2, 7, 50, 333, RECORDS};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            grow(seed, lengths[i]);
}

/* An event that another thread stamped earlier and commits later still comes in its order. */
static void test_late_commit(void **state)
{
    struct growing growing;
    struct ingest_status status = {INGEST_OK, ""};
    struct trace_scan scan = {0};
    begin(&growing);
    lane_begin(&growing.lanes[0], growing.builder, 1, 1000);
    lane_begin(&growing.lanes[1], growing.builder, 2, 1000);
    lane_alloc(&growing.lanes[0], 2000, 16, 1, 0);
    growing.now = 2000;
    save(&growing);
    struct trace_file *file = trace_file_open(growing.path, &status);
    struct trace_follow *follow = trace_follow_new(file, trace_scan_growing(&scan));
    look(&growing, follow, false);
    assert_int_equal(growing.count, 0);
    lane_free(&growing.lanes[1], 1999, 32);
    save(&growing);
    look(&growing, follow, false);
    assert_int_equal(growing.count, 2);
    assert_int_equal(growing.seen[0].ticks, 1999);
    assert_int_equal(growing.seen[1].ticks, 2000);
    trace_follow_free(follow);
    trace_scan_free(&scan);
    trace_file_close(file);
    end(&growing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looks_of_all_lengths),
        cmocka_unit_test(test_late_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
