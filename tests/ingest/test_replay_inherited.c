/* SPDX-License-Identifier: BSD-2-Clause */
/* A forked process frees blocks that its parent allocated. Each is noted once, and never as
 * unmatched. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/ingest/replay_fixture.h"

#define N(number) ((uint64_t)(number))

enum { START = 1000 };

/* Begins one thread's trace, of a forked process if `parent` is not 0. */
static struct trace_builder *begin(struct lane *lane, uint64_t parent)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    lane_begin(lane, builder, 1, START);
    lane_extended(lane, TRACE_EXT_PROCESS, "nnnssssnnsnns", N(42), N(1), parent, "/bin/x", "/",
                  "host", "6.1", N(0), N(1), "x", N(900), N(950), "boot");
    return builder;
}

static uint64_t count_of(const struct replayed *replayed, enum problem_kind kind)
{
    return replayed->problems.counts[kind];
}

static void expect(const struct replayed *replayed, size_t i, uint64_t address, uint64_t ticks,
                   uint64_t arena, uint64_t realloc_to)
{
    assert_true(i < replayed->replay.inherited_count);
    const struct inherited_free *free = &replayed->replay.inherited[i];
    assert_int_equal(free->address, address);
    assert_int_equal(free->ns, ticks - START);
    assert_int_equal(free->arena, arena);
    assert_int_equal(free->realloc_to, realloc_to);
    assert_int_equal(free->thread, 1);
}

static void put_frees(struct lane *lane)
{
    lane_free(lane, 1100, 0x1000);
    lane_alloc(lane, 1200, 0x1000, 16, 0); /* the memory again, now its own */
    lane_free(lane, 1300, 0x1000);
    lane_free(lane, 1400, 0x1000); /* a double free, no matter who allocated it */
    lane_free(lane, 1500, 0x2000);
    lane_free(lane, 1600, 0x2000); /* the second free of an inherited block */
}

static void a_free_is_inherited_once(void **state)
{
    struct lane lane;
    struct trace_builder *builder = begin(&lane, 77);
    put_frees(&lane);
    struct replayed *replayed = replay_built(builder);
    assert_true(replayed->good);
    assert_int_equal(replayed->replay.inherited_count, 2);
    expect(replayed, 0, 0x1000, 1100, 0, 0);
    expect(replayed, 1, 0x2000, 1500, 0, 0);
    assert_int_equal(count_of(replayed, PROBLEM_UNMATCHED_FREE), 0);
    assert_int_equal(count_of(replayed, PROBLEM_DOUBLE_FREE), 2);
    assert_int_equal(replayed->totals.allocations, 1);
    assert_int_equal(replayed->totals.frees, 1);
    assert_int_equal(replayed->scan.process.parent_trace, 77);
    assert_int_equal(replayed->scan.process.fork_before, 900);
    assert_int_equal(replayed->scan.process.fork_after, 950);
    assert_string_equal(replayed->scan.process.boot_id, "boot");
    replayed_free(replayed);
}

/* The same in a process that was not forked. */
static void others_inherit_nothing(void **state)
{
    struct lane lane;
    struct trace_builder *builder = begin(&lane, 0);
    put_frees(&lane);
    struct replayed *replayed = replay_built(builder);
    assert_int_equal(replayed->replay.inherited_count, 0);
    assert_int_equal(
        count_of(replayed, PROBLEM_UNMATCHED_FREE) + count_of(replayed, PROBLEM_DOUBLE_FREE), 4);
    replayed_free(replayed);
}

static void a_realloc_names_what_it_became(void **state)
{
    struct lane lane;
    struct trace_builder *builder = begin(&lane, 77);
    lane_realloc(&lane, 1100, 1150, 0x1000, 0x3000, 50, 0, TRACE_REALLOC_MOVED);
    lane_realloc(&lane, 1200, 1200, 0x2000, 0x2000, 60, 0, TRACE_REALLOC_IN_PLACE);
    lane_free(&lane, 1300, 0x2000);                                              /* row 1 */
    lane_realloc(&lane, 1400, 1450, 0x3000, 0x1000, 70, 0, TRACE_REALLOC_MOVED); /* ends row 2 */
    struct replayed *replayed = replay_built(builder);
    assert_true(replayed->good);
    assert_int_equal(replayed->replay.inherited_count, 2);
    expect(replayed, 0, 0x1000, 1100, 0, 2);
    expect(replayed, 1, 0x2000, 1200, 0, 1);
    assert_int_equal(replayed->row_count, 3);
    assert_int_equal(replayed->rows[0][COLUMN_REALLOC_OF], 0);
    assert_int_equal(replayed->rows[1][COLUMN_REALLOC_OF], 0);
    assert_int_equal(replayed->rows[2][COLUMN_REALLOC_OF], 2);
    assert_int_equal(replayed->totals.reallocs, 3);
    assert_int_equal(count_of(replayed, PROBLEM_UNMATCHED_FREE) +
                         count_of(replayed, PROBLEM_DOUBLE_FREE) +
                         count_of(replayed, PROBLEM_OVERLAP),
                     0);
    replayed_free(replayed);
}

static void arenas_are_inherited_too(void **state)
{
    struct lane lane;
    struct trace_builder *builder = begin(&lane, 77);
    lane_extended(&lane, TRACE_EXT_ARENA, "wnns", N(1050), N(3), N(0), "pool");
    lane_arena_free(&lane, 1100, 3, 0x1000);
    lane_free(&lane, 1200, 0x1000); /* the block of the heap that the arena was cut from */
    lane_arena_free(&lane, 1300, 3, 0x1000);
    lane_extended(&lane, TRACE_EXT_ARENA_REALLOC, "wnnnnnn", N(1400), N(3), N(0x2000), N(0x2000),
                  N(24), N(1), N(0));
    struct replayed *replayed = replay_built(builder);
    assert_true(replayed->good);
    assert_int_equal(replayed->replay.inherited_count, 3);
    expect(replayed, 0, 0x1000, 1100, 3, 0);
    expect(replayed, 1, 0x1000, 1200, 0, 0);
    expect(replayed, 2, 0x2000, 1400, 3, 1);
    assert_int_equal(count_of(replayed, PROBLEM_DOUBLE_FREE), 1);
    assert_int_equal(count_of(replayed, PROBLEM_UNMATCHED_FREE), 0);
    replayed_free(replayed);
}

/* While it is not known what was allocated, it is not known what was inherited either. */
static void a_pause_hides_what_was_allocated(void **state)
{
    struct lane lane;
    struct trace_builder *builder = begin(&lane, 77);
    lane_extended(&lane, TRACE_EXT_RECORDING, "wn", N(1050), N(0));
    lane_free(&lane, 1100, 0x1000);
    struct replayed *replayed = replay_built(builder);
    assert_int_equal(replayed->replay.inherited_count, 0);
    assert_int_equal(replayed->replay.unseen_frees, 1);
    replayed_free(replayed);
}

/* So do the calls of a module up to the record that names it. A second free of what was freed
 * before that may be the free of a block that was never seen; of two later ones the second is
 * double. */
static void a_late_module_hides_what_was_allocated(void **state)
{
    struct lane lane;
    struct trace_builder *builder = begin(&lane, 0);
    lane_extended(&lane, TRACE_EXT_BEFORE, "wn", N(1010), N(4096));
    lane_alloc(&lane, 1100, 0x1000, 16, 0);
    lane_free(&lane, 1200, 0x1000);
    lane_extended(&lane, TRACE_EXT_BYPASS, "wns", N(1300), N(TRACE_BYPASS_LATE), "/plugin");
    lane_free(&lane, 1400, 0x1000);
    lane_alloc(&lane, 1500, 0x2000, 16, 0);
    lane_free(&lane, 1600, 0x2000);
    lane_free(&lane, 1700, 0x2000);
    struct replayed *replayed = replay_built(builder);
    assert_int_equal(replayed->replay.unseen_frees, 1);
    assert_int_equal(count_of(replayed, PROBLEM_DOUBLE_FREE), 1);
    assert_true(replayed->replay.before_known);
    assert_int_equal(replayed->replay.before_bytes, 4096);
    replayed_free(replayed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_is_inherited_once),
        cmocka_unit_test(others_inherit_nothing),
        cmocka_unit_test(a_realloc_names_what_it_became),
        cmocka_unit_test(arenas_are_inherited_too),
        cmocka_unit_test(a_pause_hides_what_was_allocated),
        cmocka_unit_test(a_late_module_hides_what_was_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
