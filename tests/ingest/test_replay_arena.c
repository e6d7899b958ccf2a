/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replay of arenas, compared with simple bookkeeping: arenas that lie inside one another in any
 * way, even in a circle, with blocks at the same addresses.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ingest/replay/extended.h"
#include "tests/ingest/replay_fixture.h"

#define N(number) ((uint64_t)(number))

enum { START = 1000, ARENAS = 12, PLACES = 20, STEPS = 30000 };

static uint64_t state_of_random;

static uint64_t draw(uint64_t below)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return state_of_random % below;
}

/* Each block has its own size: the number of its step, from 1. */
struct expected_block {
    uint64_t arena, count, end_ticks, was; /* end_ticks 0: live; was: size of the one before */
};

struct model {
    uint64_t parent[ARENAS + 1];
    uint64_t at[ARENAS + 1][PLACES]; /* size of the live block, 0: none */
    struct expected_block blocks[STEPS + 1];
    uint64_t overlaps, odd_frees, live_bytes[ARENAS + 1], peak_bytes[ARENAS + 1];
};

static void model_end(struct model *model, uint64_t arena, uint64_t place, uint64_t ticks)
{
    uint64_t size = model->at[arena][place];
    model->blocks[size].end_ticks = ticks;
    model->live_bytes[arena] -= size;
    model->at[arena][place] = 0;
}

static void model_begin(struct model *model, uint64_t arena, uint64_t place, uint64_t size,
                        uint64_t ticks)
{
    if (model->at[arena][place] != 0) {
        model->overlaps++;
        model_end(model, arena, place, ticks);
    }
    model->at[arena][place] = size;
    model->live_bytes[arena] += size;
    if (model->live_bytes[arena] > model->peak_bytes[arena])
        model->peak_bytes[arena] = model->live_bytes[arena];
}

static void model_reset(struct model *model, uint64_t arena, uint64_t ticks, bool *done)
{
    if (done[arena])
        return;
    done[arena] = true;
    for (uint64_t place = 0; place < PLACES; place++)
        if (model->at[arena][place] != 0)
            model_end(model, arena, place, ticks);
    for (uint64_t other = 1; other <= ARENAS; other++)
        if (model->parent[other] == arena)
            model_reset(model, other, ticks, done);
}

static void free_at(struct model *model, uint64_t arena, uint64_t place, uint64_t ticks)
{
    if (model->at[arena][place] != 0)
        model_end(model, arena, place, ticks);
    else
        model->odd_frees++;
}

static void one_step(struct model *model, struct lane *lane, uint64_t step, uint64_t ticks)
{
    uint64_t arena = 1 + draw(ARENAS), place = draw(PLACES), other = draw(PLACES), kind = draw(100);
    bool done[ARENAS + 1] = {false};
    struct expected_block *block = &model->blocks[step];
    if (kind < 50) {
        block->arena = arena;
        block->count = draw(5);
        model_begin(model, arena, place, step, ticks);
        lane_extended(lane, TRACE_EXT_ARENA_ALLOC, "wnnnnn", ticks, arena, N(16) * place + 16, step,
                      block->count, N(0));
    } else if (kind < 70) {
        free_at(model, arena, place, ticks);
        lane_extended(lane, TRACE_EXT_ARENA_FREE, "wnn", ticks, arena, N(16) * place + 16);
    } else if (kind < 98) {
        block->arena = arena;
        block->count = 1;
        block->was = model->at[arena][place];
        free_at(model, arena, place, ticks);
        model_begin(model, arena, other, step, ticks);
        lane_extended(lane, TRACE_EXT_ARENA_REALLOC, "wnnnnnn", ticks, arena, N(16) * place + 16,
                      N(16) * other + 16, step, N(1), N(0));
    } else {
        model_reset(model, arena, ticks, done);
        lane_extended(lane, TRACE_EXT_ARENA_RESET, "wn", ticks, arena);
    }
}

static void compare_rows(const struct model *model, const struct replayed *replayed)
{
    uint64_t seen = 0;
    for (size_t row = 0; row < replayed->row_count; row++) {
        const uint64_t *columns = replayed->rows[row];
        uint64_t size = columns[COLUMN_SIZE], was = columns[COLUMN_REALLOC_OF];
        const struct expected_block *block = &model->blocks[size];
        uint64_t life =
            block->end_ticks ? block->end_ticks - (START + size) + 1 : 0; /* one tick per step */
        assert_int_equal(columns[COLUMN_ARENA], block->arena);
        assert_int_equal(columns[COLUMN_COUNT_OF_OBJECTS], block->count);
        assert_int_equal(columns[COLUMN_LIFE_NS], life);
        assert_int_equal(was ? replayed->rows[was - 1][COLUMN_SIZE] : 0, block->was);
        seen++;
    }
    for (uint64_t step = 1; step <= STEPS; step++)
        seen -= model->blocks[step].arena != 0;
    assert_int_equal(seen, 0);
}

static void arenas_are_as_plain_bookkeeping_says(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct model *model = calloc(1, sizeof(*model));
        struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
        struct lane lane;
        state_of_random = seed * 7919;
        lane_begin(&lane, builder, 1, START);
        for (uint64_t arena = 1; arena <= ARENAS; arena++) {
            /* The first seeds make a tree, the others anything. */
            model->parent[arena] = draw(seed <= 3 ? arena : ARENAS + 1);
            lane_extended(&lane, TRACE_EXT_ARENA, "wnns", N(START), arena, model->parent[arena],
                          "arena");
        }
        for (uint64_t step = 1; step <= STEPS; step++)
            one_step(model, &lane, step, START + step);
        struct replayed *replayed = replay_built(builder);
        assert_true(replayed->good);
        compare_rows(model, replayed);
        const uint64_t *counts = replayed->problems.counts;
        assert_int_equal(counts[PROBLEM_OVERLAP], model->overlaps);
        assert_int_equal(counts[PROBLEM_UNMATCHED_FREE] + counts[PROBLEM_DOUBLE_FREE],
                         model->odd_frees);
        assert_int_equal(replayed->totals.allocations, 0);
        for (size_t i = 0; i < replayed->replay.arena_count; i++) {
            const struct arena_row *arena = &replayed->replay.arenas[i];
            assert_int_equal(arena->live_bytes, model->live_bytes[arena->id]);
            assert_int_equal(arena->peak_bytes, model->peak_bytes[arena->id]);
        }
        replayed_free(replayed);
        free(model);
    }
}

/* Every n-th allocation of the heap counts, from the place where the program asks for it. */
static void autosave_counts_allocations_of_the_heap(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, START);
    lane_alloc(&lane, 1100, 0x1000, 1, 0);
    lane_extended(&lane, TRACE_EXT_AUTOSAVE, "wn", N(1150), N(3));
    for (uint64_t i = 0; i < 7; i++)
        lane_alloc(&lane, 1200 + i, 0x2000 + 16 * i, 1, 0);
    lane_extended(&lane, TRACE_EXT_ARENA_ALLOC, "wnnnnn", N(1300), N(1), N(16), N(1), N(1), N(0));
    lane_realloc(&lane, 1400, 1401, 0x2000, 0x3000, 2, 0, TRACE_REALLOC_MOVED);
    lane_alloc(&lane, 1500, 0x4000, 1, 0);
    lane_extended(&lane, TRACE_EXT_AUTOSAVE, "wn", N(1600), N(0));
    lane_alloc(&lane, 1700, 0x5000, 1, 0);
    struct replayed *replayed = replay_built(builder);
    static const uint64_t at[] = {202, 205, 500};
    assert_int_equal(replayed->replay.mark_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(replayed->replay.marks[i].ns, at[i]);
        assert_string_equal(replayed->replay.marks[i].kind, "snapshot");
    }
    replayed_free(replayed);
}

/* A type whose symbol is unknown leaves the type open. Counts and sizes still hold. */
static void types_of_what_is_not_there_are_no_matter(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, START);
    lane_alloc(&lane, 1100, 0x1000, 120, 0);
    lane_extended(&lane, TRACE_EXT_TYPE, "wnnnnnn", N(1110), N(0), N(0x1000), N(1), N(1), N(0),
                  N(8));
    lane_extended(&lane, TRACE_EXT_TYPE, "wnnnnnn", N(1120), N(0), N(0x9000), N(1), N(1), N(1),
                  N(8));
    lane_extended(&lane, TRACE_EXT_TYPE, "wnnnnnn", N(1130), N(77), N(0x1000), N(1), N(1), N(1),
                  N(8));
    lane_extended(&lane, TRACE_EXT_TYPE, "wnnnnnn", N(1140), UINT64_MAX, N(0), UINT64_MAX,
                  UINT64_MAX, UINT64_MAX, UINT64_MAX);
    struct replayed *replayed = replay_built(builder);
    assert_true(replayed->good);
    assert_int_equal(replayed->row_count, 1);
    assert_int_equal(replayed->rows[0][COLUMN_TYPE], 0);
    assert_int_equal(replayed->replay.arena_count, 0);
    for (int kind = 0; kind < PROBLEM_KINDS; kind++)
        assert_int_equal(replayed->problems.counts[kind], 0);
    replayed_free(replayed);
}

static void collection(struct lane *lane, uint64_t ticks, uint64_t runtime, bool begins)
{
    lane_extended(lane, TRACE_EXT_COLLECTION, "wnn", ticks, runtime, N(begins));
}

/* Two runtimes collect, at first one in the other's time. A collection that never ended says
 * nothing of what is kept, nor does an end without a beginning. */
static void collections_tell_what_is_kept(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, START);
    lane_extended(&lane, TRACE_EXT_RUNTIME, "wns", N(START), N(1), "one");
    lane_extended(&lane, TRACE_EXT_RUNTIME, "wns", N(START), N(2), "two");
    for (uint32_t arena = 1; arena <= 3; arena++)
        for (uint64_t block = 0; block < 4; block++)
            lane_arena_alloc(&lane, 1010 + block, arena, 16 * block, UINT64_C(10) * arena, 1, 0);
    collection(&lane, 1100, 2, false);
    collection(&lane, 1110, 1, true);
    collection(&lane, 1120, 2, true);
    lane_arena_collected(&lane, 1130, 1, 0); /* by whom is not known */
    collection(&lane, 1140, 1, false);
    lane_arena_collected(&lane, 1150, 2, 0); /* only two collects */
    collection(&lane, 1160, 1, true);
    lane_arena_collected(&lane, 1170, 2, 16); /* two took the arena's blocks before */
    collection(&lane, 1180, 2, false);
    lane_arena_collected(&lane, 1190, 1, 16); /* now only one collects */
    collection(&lane, 1200, 1, false);
    lane_arena_alloc(&lane, 1210, 1, 0, 7, 1, 0);
    lane_arena_alloc(&lane, 1210, 2, 0, 7, 1, 0);
    lane_arena_free(&lane, 1220, 2, 32);
    collection(&lane, 1230, 1, true);
    collection(&lane, 1240, 1, true);
    lane_arena_collected(&lane, 1250, 3, 0x9000); /* there is no such block */
    struct replayed *replayed = replay_built(builder);
    const struct replay *replay = &replayed->replay;
    const struct kept_blocks one = replay_kept(replay, &replay->arenas[0]),
                             two = replay_kept(replay, &replay->arenas[1]),
                             none = replay_kept(replay, &replay->arenas[2]);
    assert_int_equal(replay->arenas[0].collected, 2);
    assert_int_equal(replay->arenas[0].runtime, 1);
    assert_true(one.known);
    assert_int_equal(one.ns, 160);
    assert_int_equal(one.count, 2);
    assert_int_equal(one.bytes, 20);
    assert_int_equal(replay->arenas[1].collected, 2);
    assert_int_equal(replay->arenas[1].runtime, 2);
    assert_int_equal(two.ns, 120);
    assert_int_equal(two.count, 1);
    assert_false(none.known);
    assert_int_equal(replay->arenas[2].collected, 0);
    assert_int_equal(none.count, 4);
    assert_int_equal(replayed->problems.counts[PROBLEM_UNMATCHED_FREE], 1);
    static const struct collection_row rows[] = {
        {1, true, 110, 140, 0, 0}, {2, true, 120, 180, 2, 40}, {1, true, 160, 200, 1, 10},
        {1, false, 230, 0, 0, 0},  {1, false, 240, 0, 0, 0},
    };
    assert_int_equal(replay->collections.count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct collection_row *row = &replay->collections.rows[i];
        assert_int_equal(row->runtime, rows[i].runtime);
        assert_int_equal(row->ended, rows[i].ended);
        assert_int_equal(row->begin_ns, rows[i].begin_ns);
        assert_int_equal(row->end_ns, rows[i].end_ns);
        assert_int_equal(row->count, rows[i].count);
        assert_int_equal(row->bytes, rows[i].bytes);
    }
    size_t taken = 0;
    for (size_t i = 0; i < replayed->row_count; i++)
        taken += replayed->rows[i][COLUMN_FREE_STACK] == replayed->stacks.collector;
    assert_int_equal(taken, 4);
    replayed_free(replayed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arenas_are_as_plain_bookkeeping_says),
        cmocka_unit_test(autosave_counts_allocations_of_the_heap),
        cmocka_unit_test(collections_tell_what_is_kept),
        cmocka_unit_test(types_of_what_is_not_there_are_no_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
