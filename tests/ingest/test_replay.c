/* SPDX-License-Identifier: BSD-2-Clause */
/* Merge, replay and totals, compared with computations that are as simple as they are slow. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/ingest/replay_fixture.h"

static uint64_t state_of_random = 88172645463325252u;

static uint64_t draw(void)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    return state_of_random ^= state_of_random << 17;
}

/* The start ticks of built traces, which are nanoseconds there. */
enum { START = 1000 };

static uint64_t cell(const struct replayed *replayed, size_t row, enum column column)
{
    assert_true(row < replayed->row_count);
    return replayed->rows[row][column];
}

static void merge_is_sorted_and_complete(void **state)
{
    enum { LANES = 7, EVENTS = 20000 };
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct ingest_status status = {INGEST_OK, ""};
    struct trace_event event;
    struct lane lanes[LANES];
    uint64_t ticks = START, last = 0, count = 0, seen[LANES + 1] = {0}, put[LANES + 1] = {0};
    char path[] = "merge.bin";
    for (unsigned i = 0; i < LANES; i++)
        lane_begin(&lanes[i], builder, i + 1, START);
    for (uint64_t i = 0; i < EVENTS; i++) {
        /* Lanes take turns of very different lengths, and often share a stamp. */
        unsigned lane = (unsigned)(draw() % 50 ? i / 300 % LANES : draw() % LANES);
        ticks += draw() % 3;
        lane_alloc(&lanes[lane], ticks, 16 * (i + 1), i, 0);
        put[lane + 1]++;
    }
    trace_builder_end(builder, TRACE_STATE_ENDED, ticks);
    trace_builder_save(builder, path);
    trace_builder_free(builder);
    struct trace_file *file = trace_file_open(path, &status);
    struct merge *merge = merge_new(file, &status);
    while (merge_next(merge, &event, &status)) {
        assert_true(event.ticks >= last);
        last = event.ticks;
        seen[event.thread]++;
        count++;
    }
    assert_int_equal(status.code, INGEST_OK);
    assert_int_equal(count, EVENTS);
    assert_memory_equal(seen, put, sizeof(seen));
    /* For each lane one, and the next one, which begins at the stamp at which the last ends. */
    assert_true(merge_most_open(merge) <= 2 * LANES);
    merge_free(merge);
    trace_file_close(file);
    unlink(path);
}

static void realloc_is_a_free_and_an_allocation(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane one, two;
    lane_begin(&one, builder, 1, START);
    lane_begin(&two, builder, 2, START);
    lane_alloc(&one, 2000, 0x1000, 10, 0);
    lane_realloc(&one, 3000, 5000, 0x1000, 0x2000, 20, 0, TRACE_REALLOC_MOVED);
    /* Between the two stamps another thread gets the old address. */
    lane_alloc(&two, 4000, 0x1000, 30, 0);
    lane_free(&two, 4500, 0x1000);
    lane_realloc(&one, 6000, 6100, 0x2000, 0, 99, 0, TRACE_REALLOC_FAILED);
    struct replayed *replayed = replay_built(builder);
    assert_true(replayed->good);
    assert_int_equal(replayed->row_count, 3);
    assert_int_equal(cell(replayed, 0, COLUMN_SIZE), 10);
    assert_int_equal(cell(replayed, 0, COLUMN_LIFE_NS), 1001);
    assert_int_equal(cell(replayed, 1, COLUMN_SIZE), 30);
    assert_int_equal(cell(replayed, 1, COLUMN_FREE_THREAD), 2);
    assert_int_equal(cell(replayed, 2, COLUMN_SIZE), 20);
    assert_int_equal(cell(replayed, 2, COLUMN_ALLOC_NS), 4000);
    assert_int_equal(cell(replayed, 2, COLUMN_LIFE_NS), 0);
    assert_int_equal(cell(replayed, 2, COLUMN_REALLOC_OF), 1);
    assert_int_equal(replayed->totals.allocations, 3);
    assert_int_equal(replayed->totals.frees, 2);
    assert_int_equal(replayed->totals.reallocs, 1);
    for (int kind = 0; kind < PROBLEM_KINDS; kind++)
        assert_int_equal(replayed->problems.counts[kind], 0);
    replayed_free(replayed);
}

/* At one stamp, on two threads: free then reuse, and allocation then free by the other. */
static void equal_stamps_are_read_either_way(void **state)
{
    for (unsigned order = 0; order < 2; order++) {
        struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
        struct lane lanes[2];
        lane_begin(&lanes[order], builder, order + 1, START);
        lane_begin(&lanes[!order], builder, !order + 1, START);
        lane_alloc(&lanes[0], 2000, 0x1000, 10, 0);
        lane_free(&lanes[0], 3000, 0x1000);
        lane_alloc(&lanes[1], 3000, 0x1000, 20, 0);
        lane_alloc(&lanes[0], 4000, 0x2000, 30, 0);
        lane_free(&lanes[1], 4000, 0x2000);
        struct replayed *replayed = replay_built(builder);
        assert_int_equal(replayed->row_count, 3);
        assert_int_equal(replayed->totals.frees, 2);
        assert_int_equal(replayed->totals.live_bytes, 20);
        assert_int_equal(cell(replayed, 1, COLUMN_LIFE_NS), 1);
        assert_int_equal(cell(replayed, 1, COLUMN_FREE_THREAD), 2);
        for (int kind = 0; kind < PROBLEM_KINDS; kind++)
            assert_int_equal(replayed->problems.counts[kind], 0);
        replayed_free(replayed);
    }
}

/*
 * Stamps that are read only now and then. A block goes from thread 1 to thread 2, whose last read
 * is older, and is freed by thread 1, whose last read is older too.
 */
static void old_stamps_are_ordered_by_turn(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane one, two;
    builder->header.flags |= TRACE_FILE_CLOCK_FAST;
    lane_begin(&one, builder, 1, START);
    lane_begin(&two, builder, 2, START);
    lane_alloc(&one, 2000, 0x1000, 10, 0);
    lane_alloc(&two, 2500, 0x1000, 20, 0); /* really after the free at 3000 */
    lane_free(&one, 3000, 0x1000);
    lane_free(&two, 4000, 0x1000);
    lane_free(&one, 5000, 0x2000); /* really after the allocation at 5500 */
    lane_alloc(&two, 5500, 0x2000, 30, 0);
    lane_alloc(&one, 6000, 0x3000, 40, 0);
    lane_alloc(&two, 6500, 0x3000, 50, 0); /* an overlap: no free until 2 reads again */
    lane_alloc(&two, 7000, 0x4000, 60, 0);
    lane_free(&one, 7500, 0x3000);
    lane_free(&one, 8000, 0x5000); /* never allocated */
    struct replayed *replayed = replay_built(builder);
    const uint64_t *problems = replayed->problems.counts;
    assert_true(replayed->good);
    assert_int_equal(replayed->replay.ambiguous_pairs, 2);
    assert_int_equal(problems[PROBLEM_OVERLAP], 1);
    assert_int_equal(problems[PROBLEM_UNMATCHED_FREE], 1);
    assert_int_equal(problems[PROBLEM_DOUBLE_FREE], 0);
    assert_int_equal(replayed->totals.frees, 4);
    assert_int_equal(replayed->totals.live_bytes, 60);
    static const uint64_t rows[][3] = {{10, 1001, 1}, {20, 1501, 2}, {30, 501, 1},
                                       {40, 501, 0},  {50, 1001, 1}, {60, 0, 0}};
    assert_int_equal(replayed->row_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(cell(replayed, i, COLUMN_SIZE), rows[i][0]);
        assert_int_equal(cell(replayed, i, COLUMN_LIFE_NS), rows[i][1]);
        assert_int_equal(cell(replayed, i, COLUMN_FREE_THREAD), rows[i][2]);
    }
    replayed_free(replayed);
}

static void oddities_are_counted_not_guessed(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, START);
    lane_free(&lane, 1100, 0x9000);
    lane_alloc(&lane, 1200, 0x1000, 10, 0);
    lane_alloc(&lane, 1300, 0x1000, 20, 7); /* overlap, and a stack that is not defined */
    lane_free(&lane, 1400, 0x1000);
    lane_free(&lane, 1500, 0x1000);
    lane_alloc(&lane, 1600, 0x2000, UINT64_MAX, 0);
    lane_realloc(&lane, 1700, 1800, 0x7000, 0x8000, 5, 0, TRACE_REALLOC_MOVED);
    struct replayed *replayed = replay_built(builder);
    const uint64_t *counts = replayed->problems.counts;
    assert_int_equal(counts[PROBLEM_UNMATCHED_FREE], 2);
    assert_int_equal(counts[PROBLEM_DOUBLE_FREE], 1);
    assert_int_equal(counts[PROBLEM_OVERLAP], 1);
    assert_int_equal(counts[PROBLEM_IMPOSSIBLE_SIZE], 1);
    assert_int_equal(counts[PROBLEM_ORPHANED_STACK], 1);
    assert_int_equal(replayed->replay.orphaned_events, 1);
    assert_int_equal(replayed->totals.allocations, 4);
    assert_int_equal(replayed->totals.frees, 1);
    assert_int_equal(replayed->totals.live_count, 2);
    assert_int_equal(cell(replayed, 0, COLUMN_LIFE_NS), 101); /* ended by the overlap */
    assert_int_equal(cell(replayed, 0, COLUMN_FREE_THREAD), 0);
    assert_int_equal(replayed->stacks.rows[cell(replayed, 1, COLUMN_STACK)].state, STACK_LOST);
    replayed_free(replayed);
}

/* A random program, and its expected sums from simple bookkeeping. */
enum { STACKS = 40, PLACES = 300, STEPS = 60000 };

struct expected {
    uint64_t live[STACKS + 1], at_peak[STACKS + 1], own_peak[STACKS + 1], all[STACKS + 1];
    uint64_t sum, peak, peak_ticks, allocations, frees;
};

static void expect_alloc(struct expected *expected, uint32_t stack, uint64_t size, uint64_t ticks)
{
    expected->allocations++;
    expected->all[stack] += size;
    expected->live[stack] += size;
    expected->sum += size;
    if (expected->live[stack] > expected->own_peak[stack])
        expected->own_peak[stack] = expected->live[stack];
    if (expected->sum > expected->peak) {
        expected->peak = expected->sum;
        expected->peak_ticks = ticks;
        memcpy(expected->at_peak, expected->live, sizeof(expected->live));
    }
}

static void peaks_are_those_of_brute_force(void **state)
{
    static struct expected expected;
    static struct {
        uint64_t size;
        uint32_t stack;
    } place[PLACES];
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lanes[3];
    uint64_t ticks = START;
    for (unsigned i = 0; i < 3; i++)
        lane_begin(&lanes[i], builder, i + 1, START);
    for (uint32_t id = 1; id <= STACKS; id++) /* ids count down: children before parents */
        lane_node(&lanes[0], id, id % 4 ? id + 1 : 0, TRACE_FRAME_RETURN, 0, 0x1000 + id);
    for (int i = 0; i < STEPS; i++) {
        unsigned at = (unsigned)(draw() % PLACES);
        /* Goes up, down and up again, so that old peaks are passed more than once. */
        uint64_t scale = 1 + (uint64_t)(i / 5000 % 4) * 40;
        struct lane *lane = &lanes[draw() % 3];
        ticks += 1 + draw() % 20;
        if (place[at].size != 0) {
            lane_free(lane, ticks, 0x10000 + at * 64);
            expected.live[place[at].stack] -= place[at].size;
            expected.sum -= place[at].size;
            expected.frees++;
            place[at].size = 0;
        } else {
            place[at].size = 1 + draw() % (1000 * scale);
            place[at].stack = 1 + (uint32_t)(draw() % STACKS);
            lane_alloc(lane, ticks, 0x10000 + at * 64, place[at].size, place[at].stack);
            expect_alloc(&expected, place[at].stack, place[at].size, ticks);
        }
    }
    struct replayed *replayed = replay_built(builder);
    assert_true(replayed->good);
    const struct totals *totals = &replayed->totals;
    assert_int_equal(totals->allocations, expected.allocations);
    assert_int_equal(totals->frees, expected.frees);
    assert_int_equal(totals->live_bytes, expected.sum);
    assert_int_equal(totals->peak_bytes, expected.peak);
    assert_int_equal(totals->peak_ns, expected.peak_ticks - START);
    for (uint32_t id = 1; id <= STACKS; id++) {
        const uint32_t stack = stacks_find(&replayed->stacks, id);
        const struct stack_usage usage = stack_usages_of(&totals->stacks, stack);
        assert_int_equal(usage.bytes, expected.all[id]);
        assert_int_equal(usage.live_bytes, expected.live[id]);
        assert_int_equal(usage.peak_bytes, expected.own_peak[id]);
        assert_int_equal(usage.at_peak_bytes, expected.at_peak[id]);
        assert_int_equal(totals->functions[stacks_function(&replayed->stacks, stack)].peak_bytes,
                         expected.own_peak[id]);
    }
    /* The timeline's slots are the same facts, divided by time. */
    uint64_t allocated = 0, freed = 0, highest = 0;
    for (size_t i = 0; i < totals->slot_count; i++) {
        allocated += totals->slots[i].allocated_bytes;
        freed += totals->slots[i].freed_bytes;
        assert_int_equal(totals->slots[i].live_bytes, allocated - freed);
        if (totals->slots[i].peak_bytes > highest)
            highest = totals->slots[i].peak_bytes;
    }
    assert_int_equal(allocated, totals->bytes);
    assert_int_equal(highest, expected.peak);
    assert_int_equal(replayed->row_count, expected.allocations);
    replayed_free(replayed);
}

static void equal_contexts_are_one_stack(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, START);
    lane_node(&lane, 1, 0, TRACE_FRAME_RETURN, 0, 0x100);
    lane_node(&lane, 2, 0, TRACE_FRAME_RETURN, 0, 0x100);
    lane_node(&lane, 3, 1, TRACE_FRAME_RETURN, 0, 0x200);
    lane_node(&lane, 4, 2, TRACE_FRAME_RETURN, 0, 0x200);
    lane_node(&lane, 5, 2, TRACE_FRAME_EXACT, 0, 0x200);
    lane_node(&lane, 6, 7, TRACE_FRAME_RETURN, 0, 0x300); /* a cycle */
    lane_node(&lane, 7, 6, TRACE_FRAME_RETURN, 0, 0x300);
    lane_alloc(&lane, 2000, 0x1000, 1, 3);
    lane_alloc(&lane, 2001, 0x2000, 1, 4);
    lane_alloc(&lane, 2002, 0x3000, 1, 5);
    lane_alloc(&lane, 2003, 0x4000, 1, 6);
    struct replayed *replayed = replay_built(builder);
    assert_int_equal(cell(replayed, 0, COLUMN_STACK), cell(replayed, 1, COLUMN_STACK));
    assert_int_not_equal(cell(replayed, 0, COLUMN_STACK), cell(replayed, 2, COLUMN_STACK));
    const uint32_t first = (uint32_t)cell(replayed, 0, COLUMN_STACK);
    assert_int_equal(replayed->stacks.rows[first].depth, 2);
    assert_int_equal(stack_usages_of(&replayed->totals.stacks, first).allocations, 2);
    assert_int_equal(replayed->stacks.rows[cell(replayed, 3, COLUMN_STACK)].state, STACK_LOST);
    replayed_free(replayed);
}

/* Ids far above the count of nodes are found another way than the others. */
static void ids_may_lie_far_apart(void **state)
{
    enum { NODES = 4000, FAR = 5000 };
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    const uint32_t outer = UINT32_MAX - 1, inner = UINT32_C(1) << 30;
    struct lane lane;
    lane_begin(&lane, builder, 1, START);
    lane_node(&lane, outer, 0, TRACE_FRAME_RETURN, 0, 0x100);
    lane_node(&lane, inner, outer, TRACE_FRAME_RETURN, 0, 0x200);
    lane_node(&lane, FAR, inner, TRACE_FRAME_RETURN, 0, 0x300);
    for (uint32_t id = 1; id <= NODES; id++)
        lane_node(&lane, id, id == 1 ? FAR : id - 1, TRACE_FRAME_RETURN, 0, 0x1000 + id);
    lane_node(&lane, FAR, inner, TRACE_FRAME_RETURN, 0, 0x300); /* near by now, and known */
    lane_node(&lane, FAR + 1, inner, TRACE_FRAME_RETURN, 0, 0x400);
    lane_alloc(&lane, START + 1, 0x10000, 16, NODES);
    struct replayed *replayed = replay_built(builder);
    assert_true(replayed->good);
    const uint32_t ids[] = {outer, inner, FAR, FAR + 1, 1, NODES};
    const uint32_t depths[] = {1, 2, 3, 3, 4, NODES + 3};
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
        const uint32_t stack = stacks_find(&replayed->stacks, ids[i]);
        assert_int_equal(replayed->stacks.rows[stack].state, STACK_COMPLETE);
        assert_int_equal(replayed->stacks.rows[stack].depth, depths[i]);
    }
    assert_int_equal(replayed->scan.tree.count, NODES + 4);
    const uint32_t unknown = stacks_find(&replayed->stacks, inner + 1);
    assert_int_equal(replayed->stacks.rows[unknown].state, STACK_LOST);
    replayed_free(replayed);
}

static void ticks_become_nanoseconds_exactly(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_TSC);
    struct ingest_status status = {INGEST_OK, ""};
    struct trace_time time;
    struct lane lane;
    lane_begin(&lane, builder, 1, START);
    trace_builder_end(builder, TRACE_STATE_ENDED, START + 3000000);
    const uint64_t ns = 999983, ticks = 2800003; /* a line of awkward slope */
    memcpy(builder->bytes + offsetof(struct trace_file_header, end_ticks),
           &(uint64_t){START + ticks}, 8);
    memcpy(builder->bytes + offsetof(struct trace_file_header, end_monotonic_ns),
           &(uint64_t){5000000 + ns}, 8);
    trace_builder_save(builder, "clock.bin");
    trace_builder_free(builder);
    struct trace_file *file = trace_file_open("clock.bin", &status);
    assert_non_null(file);
    trace_time_init(&time, file, 0, 0);
    assert_int_equal(trace_time_ns(&time, 0), 0);
    assert_int_equal(trace_time_ns(&time, START + ticks), ns);
    for (int i = 0; i < 100000; i++) {
        uint64_t delta = draw() >> (draw() % 60 + 2);
        unsigned __int128 exact = (unsigned __int128)delta * ns / ticks;
        uint64_t wanted = exact > INT64_MAX ? INT64_MAX : (uint64_t)exact;
        assert_true(trace_time_ns(&time, START + delta) == wanted);
    }
    trace_file_close(file);
    unlink("clock.bin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merge_is_sorted_and_complete),
        cmocka_unit_test(realloc_is_a_free_and_an_allocation),
        cmocka_unit_test(equal_stamps_are_read_either_way),
        cmocka_unit_test(old_stamps_are_ordered_by_turn),
        cmocka_unit_test(oddities_are_counted_not_guessed),
        cmocka_unit_test(peaks_are_those_of_brute_force),
        cmocka_unit_test(equal_contexts_are_one_stack),
        cmocka_unit_test(ids_may_lie_far_apart),
        cmocka_unit_test(ticks_become_nanoseconds_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
