/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling context tree of stacks that are deep, share contexts, or have no frames, against a
 * sum over the walk of each stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/replay/call_tree.h"
#include "tests/ingest/replay_fixture.h"

enum { START = 1000, DEPTH = 20000 };

/* Node ids: a chain from 1 (outermost) to DEPTH, then branches that leave it. */
static struct replayed *replay_chain(void)
{
    struct trace_builder *builder = trace_builder_new(1 << 20, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    uint64_t ticks = 2000, address = 0x10000;
    lane_begin(&lane, builder, 1, START);
    for (uint32_t id = 1; id <= DEPTH; id++)
        lane_node(&lane, id, id - 1, TRACE_FRAME_RETURN, 0, 0x1000 + id % 7 * 16);
    /* The same frame below 5, twice; a frame below it; the end of what could be unwound. */
    lane_node(&lane, DEPTH + 1, 5, TRACE_FRAME_RETURN, 0, 0x9000);
    lane_node(&lane, DEPTH + 2, 5, TRACE_FRAME_RETURN, 0, 0x9000);
    lane_node(&lane, DEPTH + 3, DEPTH + 2, TRACE_FRAME_RETURN, 0, 0x9100);
    lane_node(&lane, DEPTH + 4, 0, TRACE_FRAME_UNWIND_END, 0, 0);
    lane_node(&lane, DEPTH + 5, DEPTH + 4, TRACE_FRAME_RETURN, 0, 0x1000 + 16);
    static const uint32_t stacks[] = {DEPTH,     DEPTH - 1, DEPTH / 2, 5,         1,
                                      DEPTH + 1, DEPTH + 2, DEPTH + 3, DEPTH + 5, 0,
                                      DEPTH + 4, DEPTH,     999999 /* there is no such node */};
    for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++, ticks += 10, address += 0x100) {
        lane_alloc(&lane, ticks, address, 1 + i * 10, stacks[i]);
        if (i % 3 == 0)
            lane_free(&lane, ticks + 5, address);
    }
    return replay_built(builder);
}

struct checking {
    struct call_tree_row *rows;
    size_t count;
};

static bool keep_row(void *context, const struct call_tree_row *row)
{
    struct checking *checking = context;
    checking->rows[checking->count++] = *row;
    assert_int_equal(row->id, checking->count);
    assert_true(row->parent < row->id);
    if (checking->count > 1)
        assert_true(row->parent >= checking->rows[checking->count - 2].parent);
    return true;
}

/* Returns the row of a function below another one; fails if there is none. Rows come by parent. */
static size_t child_row(const struct checking *checking, uint32_t parent, uint32_t function)
{
    size_t low = 0, high = checking->count, found = 0, children = 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (checking->rows[middle].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < checking->count && checking->rows[low].parent == parent; low++)
        if (checking->rows[low].function == function) {
            found = low;
            children++;
        }
    assert_int_equal(children, 1);
    return found;
}

/* Takes the sums of each stack away from all rows on its path: nothing is left in the end. */
static void subtract_stacks(const struct stacks *stacks, const struct stack_usages *usages,
                            struct checking *checking)
{
    uint32_t *functions = malloc((DEPTH + 1) * sizeof(*functions));
    assert_non_null(functions);
    for (size_t i = 0; i < stacks->count; i++) {
        const struct stack_row *row = &stacks->rows[i];
        const struct stack_usage usage = stack_usages_of(usages, i);
        struct stack_walk walk = stacks_walk(row);
        size_t count = 0;
        uint32_t frame, parent = 0;
        while ((frame = stacks_walk_next(stacks, &walk)) != FRAMES_NONE)
            functions[count++] = stacks->frames.rows[frame].function + 1;
        assert_int_equal(row->depth, count);
        if (usage.allocations == 0)
            continue;
        if (count == 0)
            functions[count++] = 0;
        for (size_t k = count; k-- > 0;) {
            struct call_tree_row *node = &checking->rows[child_row(checking, parent, functions[k])];
            node->total[CALL_TREE_BYTES] -= usage.bytes;
            node->total[CALL_TREE_COUNT] -= usage.allocations;
            node->total[CALL_TREE_LIVE_BYTES] -= usage.live_bytes;
            node->self[CALL_TREE_BYTES] -= k == 0 ? usage.bytes : 0;
            node->self[CALL_TREE_LIVE_COUNT] -= k == 0 ? usage.live_count : 0;
            parent = node->id;
        }
    }
    free(functions);
}

static void tree_has_every_path(void **state)
{
    struct replayed *replayed = replay_chain();
    struct call_tree tree = {.count = 0};
    assert_true(replayed->good);
    struct stack_nodes nodes = {.node = NULL};
    assert_true(stack_nodes_number(&nodes, &replayed->stacks, 0, false));
    assert_true(call_tree_stacks(&tree, &nodes, &replayed->stacks, &replayed->totals.stacks));
    assert_true(call_tree_finish(&tree));
    struct checking checking = {.rows = calloc(tree.count, sizeof(*checking.rows))};
    assert_non_null(checking.rows);
    assert_true(call_tree_each(&tree, keep_row, &checking));
    assert_int_equal(checking.count, tree.count - 1);
    subtract_stacks(&replayed->stacks, &replayed->totals.stacks, &checking);
    for (size_t i = 0; i < checking.count; i++) {
        assert_int_equal(checking.rows[i].total[CALL_TREE_BYTES], 0);
        assert_int_equal(checking.rows[i].total[CALL_TREE_COUNT], 0);
        assert_int_equal(checking.rows[i].total[CALL_TREE_LIVE_BYTES], 0);
        assert_int_equal(checking.rows[i].self[CALL_TREE_BYTES], 0);
        assert_int_equal(checking.rows[i].self[CALL_TREE_LIVE_COUNT], 0);
    }
    free(checking.rows);
    stack_nodes_free(&nodes);
    call_tree_free(&tree);
    replayed_free(replayed);
}

static void no_stacks_give_no_tree(void **state)
{
    struct call_tree tree = {.count = 0};
    struct checking checking = {.count = 0};
    assert_true(call_tree_finish(&tree));
    assert_true(call_tree_each(&tree, keep_row, &checking));
    assert_int_equal(checking.count, 0);
    call_tree_free(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_has_every_path),
        cmocka_unit_test(no_stacks_give_no_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
