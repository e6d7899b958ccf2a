/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of stacks as nodes of one tree: each stack's nodes and runs against a walk through it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "ingest/replay/stack_nodes.h"
#include "tests/ingest/replay_fixture.h"

enum { START = 1000, NODES_MOST = 200000, FUNCTIONS = 50 };

struct checking {
    const struct stacks *stacks;
    struct stack_node_row *rows; /* by id - first */
    uint32_t first, count, last;
    uint32_t stack, node; /* of the run before */
    uint32_t depth, runs, runs_most;
};

static struct trace_builder *begin(struct lane *lane)
{
    struct trace_builder *builder = trace_builder_new(8 << 20, TRACE_CLOCK_NANOSECONDS);
    lane_begin(lane, builder, 1, START);
    return builder;
}

static void put_stacks(struct lane *lane, uint32_t first, uint32_t last)
{
    for (uint32_t id = first; id <= last; id++)
        lane_alloc(lane, 2000 + id * 10, 0x10000 + id * 0x100, 16, id);
}

/* A chain with a few allocations in each of its calls: the outermost part of deep recursion. */
static struct replayed *replay_recursion(uint32_t depth, uint32_t calls)
{
    struct lane lane;
    struct trace_builder *builder = begin(&lane);
    for (uint32_t id = 1; id <= depth; id++)
        lane_node(&lane, id, id - 1, TRACE_FRAME_RETURN, 0, 0x1000);
    for (uint32_t i = 0; i < depth * calls; i++)
        lane_node(&lane, depth + 1 + i, 1 + i / calls, TRACE_FRAME_RETURN, 0,
                  0x2000 + i % calls * 16);
    put_stacks(&lane, depth + 1, depth + depth * calls);
    return replay_built(builder);
}

/* Each node is below some node before it, or none. Some of the frames are markers. */
static struct replayed *replay_random(uint32_t nodes)
{
    struct lane lane;
    struct trace_builder *builder = begin(&lane);
    uint32_t state = 7;
    for (uint32_t id = 1; id <= nodes; id++) {
        state = state * 1664525 + 1013904223;
        const uint32_t parent = (state >> 8) % 8 == 0 ? (state >> 12) % id : id - 1;
        if ((state >> 4) % 64 == 0)
            lane_node(&lane, id, parent, TRACE_FRAME_UNWIND_END, 0, 0);
        else
            lane_node(&lane, id, parent, TRACE_FRAME_RETURN, 0, 0x1000 + state % FUNCTIONS * 16);
    }
    put_stacks(&lane, 1, nodes);
    return replay_built(builder);
}

static bool keep_node(void *context, const struct stack_node_row *row)
{
    struct checking *checking = context;
    assert_true(row->id > checking->last);
    assert_true(row->id >= checking->first && row->id - checking->first < NODES_MOST);
    checking->rows[row->id - checking->first] = *row;
    checking->last = row->id;
    checking->count++;
    return true;
}

/* Each node comes after its parent, and all nodes inwards of it directly after it. */
static bool check_order(void *context, const struct stack_node_row *row)
{
    struct checking *checking = context;
    assert_int_equal(row->id, --checking->last);
    assert_int_equal(checking->rows[row->id - checking->first].frame, row->frame);
    const bool last = row->id - checking->first + 1 == checking->count;
    /* The node before this one is its parent, or inwards of it, or this one has none. */
    uint32_t before = last ? 0 : row->id + 1;
    while (before != 0 && before != row->parent)
        before = checking->rows[before - checking->first].parent;
    assert_int_equal(before, row->parent);
    return true;
}

static bool check_run(void *context, const struct stack_run_row *row)
{
    struct checking *checking = context;
    const struct stack_node_row *rows = checking->rows - checking->first;
    const struct stack_row *stack = &checking->stacks->rows[row->stack];
    const bool begins = row->stack != checking->stack;
    checking->runs = begins ? 1 : checking->runs + 1;
    checking->runs_most =
        checking->runs > checking->runs_most ? checking->runs : checking->runs_most;
    assert_int_equal(row->depth, begins ? 0 : checking->depth);
    assert_int_equal(row->node, begins ? row->node : rows[checking->node].parent);
    for (uint32_t i = 1; i < row->frames; i++)
        assert_int_equal(rows[row->node + i - 1].parent, row->node + i);
    checking->stack = row->stack;
    checking->depth = row->depth + row->frames;
    checking->node = row->node + row->frames - 1;
    if (checking->depth == stack->depth)
        assert_int_equal(rows[checking->node].parent, 0);
    return true;
}

/* Compares the frames of each stack with those of its nodes. Returns the number of all frames. */
static uint64_t check_walks(const struct stack_nodes *nodes, const struct checking *checking,
                            size_t step)
{
    const struct stacks *stacks = checking->stacks;
    const struct stack_node_row *rows = checking->rows - checking->first;
    uint64_t frames = 0;
    for (size_t i = 0; i < stacks->count; i++) {
        struct stack_walk walk = stacks_walk(&stacks->rows[i]);
        uint32_t node = stack_nodes_of(nodes, &stacks->rows[i]), frame;
        frames += stacks->rows[i].depth;
        if (i % step != 0)
            continue;
        while ((frame = stacks_walk_next(stacks, &walk)) != FRAMES_NONE) {
            assert_int_equal(rows[node].frame, frame + 1);
            node = rows[node].parent;
        }
        assert_int_equal(node, 0);
    }
    return frames;
}

static struct checking begin_check(struct replayed *replayed, uint32_t first)
{
    struct checking checking = {.stacks = &replayed->stacks, .first = first};
    assert_true(replayed->good);
    checking.rows = calloc(NODES_MOST, sizeof(*checking.rows));
    assert_non_null(checking.rows);
    return checking;
}

/* Numbers all stacks at once. Returns the number of all frames. */
static uint64_t check(struct replayed *replayed, size_t step, struct checking *result)
{
    struct stack_nodes nodes = {.node = NULL};
    struct checking checking = begin_check(replayed, 1);
    assert_true(stack_nodes_number(&nodes, &replayed->stacks, 0, false));
    assert_true(stack_nodes_each(&nodes, &replayed->stacks, keep_node, &checking));
    assert_int_equal(checking.last, checking.count); /* dense from 1 */
    checking.last = checking.count + 1;
    assert_true(stack_nodes_inwards(&nodes, &replayed->stacks, check_order, &checking));
    assert_int_equal(checking.last, 1);
    assert_true(stack_nodes_runs(&nodes, &replayed->stacks, 0, check_run, &checking));
    const uint64_t frames = check_walks(&nodes, &checking, step);
    *result = checking;
    free(checking.rows);
    stack_nodes_free(&nodes);
    return frames;
}

/* 160 million frames of 40,000 stacks, all kept: 44,000 nodes. */
static void deep_stacks_are_complete(void **state)
{
    struct replayed *replayed = replay_recursion(8000, 5);
    struct checking checking;
    const uint64_t frames = check(replayed, 997, &checking);
    assert_int_equal(frames, 5 * (8000ull * 8001 / 2 + 8000));
    assert_int_equal(checking.count, 8000 + 8000 * 5);
    assert_int_equal(checking.runs_most, 2);
    for (size_t i = 1; i < replayed->stacks.count; i++) {
        assert_int_equal(replayed->stacks.rows[i].state, STACK_COMPLETE);
        assert_int_equal(replayed->stacks.rows[i].depth, 2 + (i - 1) / 5);
    }
    replayed_free(replayed);
}

static void random_trees_have_few_runs(void **state)
{
    struct replayed *replayed = replay_random(20000);
    struct checking checking;
    check(replayed, 1, &checking);
    assert_true(checking.runs_most > 1 && checking.runs_most <= 15); /* log2(20,000) + 1 */
    replayed_free(replayed);
}

/* As a session that is written while the program runs: the stacks come in parts. */
static void parts_continue_downwards(void **state)
{
    struct replayed *replayed = replay_random(20000);
    struct stack_nodes nodes = {.node = NULL};
    struct checking checking = begin_check(replayed, UINT32_MAX - NODES_MOST);
    const size_t count = replayed->stacks.count;
    for (size_t part = 0; part < 4; part++) {
        const size_t first = count * part / 4;
        replayed->stacks.count = count * (part + 1) / 4;
        checking.last = 0;
        assert_true(stack_nodes_number(&nodes, &replayed->stacks, first, true));
        assert_true(stack_nodes_each(&nodes, &replayed->stacks, keep_node, &checking));
        assert_true(stack_nodes_runs(&nodes, &replayed->stacks, first, check_run, &checking));
        assert_int_equal(checking.count, UINT32_MAX - nodes.lowest);
    }
    check_walks(&nodes, &checking, 1);
    free(checking.rows);
    stack_nodes_free(&nodes);
    replayed_free(replayed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_stacks_are_complete),
        cmocka_unit_test(random_trees_have_few_runs),
        cmocka_unit_test(parts_continue_downwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
