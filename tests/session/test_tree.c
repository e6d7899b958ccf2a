/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the ways through calling context trees: searches find what a walk over the whole tree
 * finds, in its order; paths lead back to their nodes; the hottest path is that of the largest
 * children. tree.py compares the sums with SQL.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "session/store/scan.h"
#include "session/session.h"
#include "session/tree.h"
#include "session/user_code.h"

#define PATH "tree.db"

static struct session *session;
static struct session_error error;
static struct selection *all;

static void open_stacks(uint64_t seed, uint32_t stacks, const char *sql)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.seed = seed;
    options.allocations = 4000 > 2 * stacks ? 4000 : 2 * stacks;
    options.stacks = stacks;
    assert_true(fixture_write(PATH, &options));
    assert_true(!sql || fixture_sql(PATH, sql));
    session = session_open(PATH, &error);
    all = session ? selection_new(session, "all", &error) : NULL;
    if (!all)
        fail_msg("%s", error.message);
}

static void open_fixture(uint64_t seed, const char *sql)
{
    open_stacks(seed, 120, sql);
}

static void close_fixture(void)
{
    selection_free(all);
    session_close(session);
}

static struct session_tree *tree_of(struct session_tree_options options)
{
    struct session_tree *tree = session_tree_new(session, all, &options, &error);
    if (!tree)
        fail_msg("%s", error.message);
    return tree;
}

/* All nodes in the order in which a search goes through them. */
struct walk {
    uint32_t *nodes;
    size_t count, capacity;
};

/* NOLINTNEXTLINE(misc-no-recursion) */
static void walk_below(struct session_tree *tree, const struct session_tree_order *order,
                       uint32_t node, struct walk *walk)
{
    uint32_t first, count;
    assert_true(session_tree_expand(tree, node, &error));
    assert_true(session_tree_children(tree, node, &first, &count));
    uint32_t *children = malloc((count + 1) * sizeof(*children));
    for (uint32_t i = 0; i < count; i++)
        children[i] = first + i;
    session_tree_sort(tree, order, children, count);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && order->measure != TREE_NAME && order->measure != TREE_SHORT)
            assert_true(
                session_tree_value(session_tree_node(tree, children[i - 1]), order->measure) >=
                session_tree_value(session_tree_node(tree, children[i]), order->measure));
        if (walk->count == walk->capacity) {
            walk->capacity = walk->capacity * 2 + 100;
            walk->nodes = realloc(walk->nodes, walk->capacity * sizeof(*walk->nodes));
            assert_non_null(walk->nodes);
        }
        walk->nodes[walk->count++] = children[i];
        walk_below(tree, order, children[i], walk);
    }
    free(children);
}

static bool has_text(const struct session_tree *tree, uint32_t node, const char *text)
{
    uint32_t functions[200];
    const size_t count = session_tree_functions(tree, node, functions, 200);
    for (size_t i = 0; i < count; i++)
        if (strcasestr(session_function_name(session, functions[i]), text))
            return true;
    return false;
}

/* Compares nodes of two trees, which have other numbers. */
static void assert_same_path(const struct session_tree *a, uint32_t left,
                             const struct session_tree *b, uint32_t right)
{
    uint32_t of_left[300], of_right[300];
    const size_t count = session_tree_path(a, left, of_left, 300);
    assert_int_equal(count, session_tree_path(b, right, of_right, 300));
    assert_memory_equal(of_left, of_right, count * sizeof(*of_left));
}

/* Searches a tree of which only the root is open, from each match to the next. */
static void check_search(struct session_tree_options options, struct session_tree_order order,
                         const char *text, bool backward)
{
    struct session_tree *whole = tree_of(options), *lazy = tree_of(options);
    struct walk walk = {.count = 0};
    struct session_tree_search search = {.text = text, .backward = backward, .order = order};
    size_t matches = 0;
    uint32_t found;
    walk_below(whole, &order, 0, &walk);
    for (size_t i = 0; i < walk.count; i++) {
        const uint32_t node = walk.nodes[backward ? walk.count - 1 - i : i];
        if (!has_text(whole, node, text))
            continue;
        matches++;
        assert_true(session_tree_find(lazy, &search, &found, &error));
        assert_int_not_equal(found, 0);
        assert_same_path(whole, node, lazy, found);
        search.from = found;
    }
    assert_true(matches > 2);
    /* And from the beginning again. */
    for (size_t i = 0; i < walk.count; i++) {
        const uint32_t node = walk.nodes[backward ? walk.count - 1 - i : i];
        if (!has_text(whole, node, text))
            continue;
        assert_true(session_tree_find(lazy, &search, &found, &error));
        assert_same_path(whole, node, lazy, found);
        break;
    }
    search.text = "no function has this";
    assert_true(session_tree_find(lazy, &search, &found, &error));
    assert_int_equal(found, 0);
    free(walk.nodes);
    session_tree_free(whole);
    session_tree_free(lazy);
}

static void test_search(void **state)
{
    open_fixture(11, NULL);
    const char *text = "PARSE";
    for (int flags = 0; flags < 8; flags++) {
        const struct session_tree_options options = {.bottom_up = (flags & 1) != 0,
                                                     .fold = (flags & 2) != 0,
                                                     .hide_libraries = (flags & 4) != 0};
        check_search(options, (struct session_tree_order){TREE_AT_PEAK, true}, text, false);
        check_search(options, (struct session_tree_order){TREE_NAME, false}, text, true);
    }
    close_fixture();
}

/* Only below a node: it does not find the node or what lies beside it. */
static void test_search_within(void **state)
{
    open_fixture(12, NULL);
    struct session_tree *tree = tree_of((struct session_tree_options){.fold = false});
    struct walk walk = {.count = 0};
    const struct session_tree_order order = {TREE_BYTES, true};
    walk_below(tree, &order, 0, &walk);
    size_t i = 0, inside = 0;
    while (i < walk.count && session_tree_node(tree, walk.nodes[i])->depth < 4)
        i++;
    const uint32_t within = session_tree_node(tree, walk.nodes[i])->parent;
    struct session_tree_search search = {
        .text = "e", .from = within, .within = within, .order = order};
    for (uint32_t first = 0, found = 0; inside < walk.count; inside++) {
        assert_true(session_tree_find(tree, &search, &found, &error));
        if (found == first)
            break;
        first = first == 0 ? found : first;
        uint32_t above = found;
        while (above != within && above != 0)
            above = session_tree_node(tree, above)->parent;
        assert_int_equal(above, within);
        search.from = found;
    }
    assert_true(inside > 0 && inside < walk.count);
    free(walk.nodes);
    session_tree_free(tree);
    close_fixture();
}

static void test_paths(void **state)
{
    open_fixture(13, NULL);
    struct session_tree *tree = tree_of((struct session_tree_options){.fold = true});
    uint32_t last, functions[300], node, first, count;
    assert_true(session_tree_expand_hottest(tree, 0, TREE_BYTES, &last, &error));
    assert_int_not_equal(last, 0);
    for (node = last; node != 0; node = session_tree_node(tree, node)->parent) {
        const struct session_tree_node *of = session_tree_node(tree, node);
        assert_true(session_tree_children(tree, of->parent, &first, &count));
        for (uint32_t i = 0; i < count; i++)
            assert_true(session_tree_node(tree, first + i)->sums.bytes <= of->sums.bytes);
        assert_true(of->sums.bytes * 2 >= session_tree_node(tree, of->parent)->sums.bytes);
    }
    const size_t depth = session_tree_path(tree, last, functions, 300);
    struct session_tree *other = tree_of((struct session_tree_options){.fold = true});
    assert_true(session_tree_follow(other, functions, depth, &node, &error));
    assert_same_path(tree, last, other, node);
    /* The last one that there is. */
    functions[depth - 1] = UINT32_MAX;
    assert_true(session_tree_follow(other, functions, depth, &node, &error));
    assert_int_equal(session_tree_node(other, node)->depth, depth - 1);
    assert_int_not_equal(session_tree_stack(tree, last), 0);
    session_tree_free(tree);
    session_tree_free(other);
    close_fixture();
}

/* Several threads make the tree that one makes. */
static void test_threads(void **state)
{
    size_t nodes = 0;
    open_stacks(19, 10000, NULL);
    for (int flags = 0; flags < 8; flags++) {
        const struct session_tree_options options = {.bottom_up = (flags & 1) != 0,
                                                     .fold = (flags & 2) != 0,
                                                     .hide_libraries = (flags & 4) != 0};
        const struct session_tree_order order = {TREE_BYTES, true};
        struct walk walks[2] = {{.count = 0}, {.count = 0}};
        struct session_tree *trees[2];
        for (int i = 0; i < 2; i++) {
            scan_use_threads(session, i == 0 ? 1 : 5);
            trees[i] = tree_of(options);
            walk_below(trees[i], &order, 0, &walks[i]);
        }
        nodes += walks[0].count;
        assert_int_equal(walks[0].count, walks[1].count);
        for (size_t i = 0; i < walks[0].count; i++) {
            const uint32_t one = walks[0].nodes[i], several = walks[1].nodes[i];
            assert_same_path(trees[0], one, trees[1], several);
            assert_memory_equal(&session_tree_node(trees[0], one)->sums,
                                &session_tree_node(trees[1], several)->sums,
                                sizeof(struct session_tree_sums));
        }
        for (int i = 0; i < 2; i++) {
            free(walks[i].nodes);
            session_tree_free(trees[i]);
        }
    }
    assert_true(nodes > 3000);
    close_fixture();
}

/* The hottest path of own code is the one of own code, however much lies outside it. */
static void test_hottest_own_code(void **state)
{
    open_fixture(17, "UPDATE function SET name = 'std::' || name WHERE id <> 9");
    struct session_tree *tree = tree_of((struct session_tree_options){.hide_libraries = true});
    uint32_t last, first, count;
    uint64_t most = 0, other = 0;
    const uint64_t whole = session_tree_node(tree, 0)->sums.bytes;
    assert_true(session_tree_expand_hottest(tree, 0, TREE_BYTES, &last, &error));
    assert_true(session_tree_children(tree, 0, &first, &count));
    for (uint32_t i = 0; i < count; i++) {
        const struct session_tree_node *of = session_tree_node(tree, first + i);
        const uint64_t bytes = of->sums.bytes;
        if (of->kind == TREE_NO_OWN_CODE)
            other = bytes;
        else if (bytes > most)
            most = bytes;
    }
    assert_true(other > most && most > 0);
    /* One function has half of what is own code: its node is on the path. */
    assert_true(2 * most >= whole - other);
    while (session_tree_node(tree, last)->depth > 1)
        last = session_tree_node(tree, last)->parent;
    assert_int_equal(session_tree_node(tree, last)->sums.bytes, most);
    session_tree_free(tree);
    close_fixture();
}

/* A shared tree lives on; the sums of a sample are estimates that add up. */
static void test_sampled(void **state)
{
    open_fixture(14, "INSERT OR REPLACE INTO meta VALUES('sample_interval', 700)");
    struct session_tree *tree = session_tree_share(tree_of((struct session_tree_options){
        .growth = true, .from_ns = 0, .to_ns = session_duration_ns(session)}));
    session_tree_free(tree);
    assert_true(session_tree_find_short(tree, &error));
    assert_true(session_tree_short_known(tree));
    const struct session_tree_sums *sums = &session_tree_node(tree, 0)->sums;
    assert_int_equal(sums->bytes, selection_bytes(all));
    assert_int_equal(sums->allocations, selection_allocations(all));
    assert_int_equal(sums->live_bytes, selection_live_bytes(all));
    assert_int_equal(sums->at_peak_bytes, session_peak_bytes(session));
    session_tree_free(tree);
    close_fixture();
}

static void test_nothing(void **state)
{
    open_fixture(15, NULL);
    selection_free(all);
    all = selection_new(session, "all | where size > 100G", &error);
    struct session_tree *tree = tree_of((struct session_tree_options){.fold = true});
    const struct session_tree_search search = {.text = "a"};
    uint32_t first, count, node;
    assert_true(session_tree_children(tree, 0, &first, &count));
    assert_int_equal(count, 0);
    assert_true(session_tree_find(tree, &search, &node, &error));
    assert_true(session_tree_short_known(tree));
    assert_true(session_tree_expand_hottest(tree, 0, TREE_BYTES, &node, &error));
    assert_int_equal(node, 0);
    session_tree_free(tree);
    close_fixture();
}

/* A question that was cancelled can be asked again. */
static void test_cancelled(void **state)
{
    open_fixture(16, NULL);
    const struct session_tree_options options = {.fold = true};
    struct session_tree *tree = tree_of(options);
    uint32_t first, count, node = 0;
    assert_true(session_tree_children(tree, 0, &first, &count));
    scan_cancel(session, true);
    assert_null(session_tree_new(session, all, &options, &error));
    assert_non_null(strstr(error.message, "cancelled"));
    assert_false(session_tree_expand(tree, first, &error));
    assert_false(session_tree_children(tree, first, &node, &count));
    const struct session_tree_search search = {.text = "e"};
    assert_false(session_tree_find(tree, &search, &node, &error));
    scan_cancel(session, false);
    assert_true(session_tree_expand(tree, first, &error));
    assert_true(session_tree_children(tree, first, &node, &count));
    assert_true(session_tree_find(tree, &search, &node, &error));
    session_tree_free(tree);
    close_fixture();
}

/* The stack and function of each node lead to it, or to one of the same function on that stack. */
static void follows_stacks(void **state)
{
    open_fixture(12, NULL);
    const struct session_tree_order order = {TREE_BYTES, true};
    struct session_tree_options options = {.fold = false};
    struct walk walk = {.count = 0};
    struct session_tree *whole = tree_of(options), *lazy = tree_of(options);
    uint32_t found;
    walk_below(whole, &order, 0, &walk);
    assert_true(walk.count > 100);
    for (size_t i = 0; i < walk.count; i++) {
        const struct session_tree_node *of = session_tree_node(whole, walk.nodes[i]);
        uint32_t nth = 0;
        if (of->kind != TREE_FUNCTION)
            continue;
        for (uint32_t at = walk.nodes[i]; at != 0; at = session_tree_node(whole, at)->parent)
            nth += session_tree_node(whole, at)->function == of->function;
        const uint32_t stack = session_tree_stack(whole, walk.nodes[i]);
        assert_true(session_tree_follow_stack(lazy, stack, of->function, nth, &found, &error));
        assert_same_path(whole, walk.nodes[i], lazy, found);
        /* More often than the stack has it: the last time. */
        assert_true(session_tree_follow_stack(lazy, stack, of->function, 1000, &found, &error));
        assert_int_equal(session_tree_node(lazy, found)->function, of->function);
    }
    assert_true(session_tree_follow_stack(lazy, 1, UINT32_MAX, 1, &found, &error));
    assert_int_equal(found, 0);
    assert_true(session_tree_follow_stack(lazy, UINT32_MAX, 1, 1, &found, &error));
    assert_int_equal(found, 0);
    free(walk.nodes);
    session_tree_free(whole);
    session_tree_free(lazy);
    close_fixture();
}

static void assert_line(struct session_tree_line line, const struct session_frame *frame)
{
    const bool known = frame && frame->line != 0 && *frame->file;
    assert_int_equal(line.line, known ? frame->line : 0);
    assert_string_equal(line.file, known ? frame->file : "");
}

/* The lines of a node are those of its frames on the stack that holds most. */
static void tells_lines(void **state)
{
    open_fixture(14, NULL);
    const struct session_tree_order order = {TREE_BYTES, true};
    struct session_frame frames[300];
    bool *own;
    size_t functions, callers = 0, outwards = 0;
    assert_true(session_own_functions(session, &own, &functions, &error));
    for (int bottom_up = 0; bottom_up < 2; bottom_up++) {
        struct session_tree *tree =
            tree_of((struct session_tree_options){.bottom_up = bottom_up != 0});
        struct walk walk = {.count = 0};
        walk_below(tree, &order, 0, &walk);
        for (size_t i = 0; i < walk.count; i++) {
            const uint32_t node = walk.nodes[i];
            const struct session_tree_node *of = session_tree_node(tree, node);
            if (of->kind != TREE_FUNCTION)
                continue;
            const uint32_t stack = session_tree_stack(tree, node);
            const size_t count = session_stack(session, stack, frames, 300);
            size_t at = bottom_up ? session_stack_call_site(session, stack) + of->depth - 1
                                  : count - of->depth;
            assert_true(count <= 300 && at < count);
            assert_int_equal(frames[at].function, of->function);
            if (bottom_up)
                assert_line(session_tree_call(tree, node), &frames[at]);
            else
                assert_line(session_tree_call(tree, node), of->depth > 1 ? &frames[at + 1] : NULL);
            callers += session_tree_call(tree, node).line != 0;
            size_t mine = at;
            while (mine < count && (!own[frames[mine].function] || frames[mine].line == 0))
                mine++;
            outwards += mine != at && mine < count;
            assert_line(session_tree_own_line(tree, node), &frames[mine < count ? mine : at]);
        }
        free(walk.nodes);
        session_tree_free(tree);
    }
    assert_true(callers > 100 && outwards > 10);
    free(own);
    close_fixture();
}

/* The own part of a node is not known before its children are there; a leaf has all. */
static void tells_what_is_self(void **state)
{
    open_fixture(11, NULL);
    const struct session_tree_options options = {.fold = false};
    struct session_tree *tree = tree_of(options);
    struct session_tree_sums self;
    uint32_t first, count, leaves = 0, both = 0;
    assert_true(session_tree_self(tree, 0, &self));
    assert_true(session_tree_children(tree, 0, &first, &count));
    for (uint32_t node = first; node < first + count; node++) {
        const struct session_tree_node *of = session_tree_node(tree, node);
        uint32_t child, children;
        assert_int_equal(session_tree_self(tree, node, &self), of->leaf);
        if (of->leaf) {
            leaves++;
            assert_int_equal(self.bytes, of->sums.bytes);
            assert_int_equal(self.allocations, of->sums.allocations);
            continue;
        }
        assert_true(session_tree_expand(tree, node, &error));
        assert_true(session_tree_self(tree, node, &self));
        assert_true(session_tree_children(tree, node, &child, &children));
        for (uint32_t i = 0; i < children; i++)
            self.bytes += session_tree_node(tree, child + i)->sums.bytes;
        assert_int_equal(self.bytes, of->sums.bytes);
        both += children > 0;
    }
    assert_true(leaves + both > 0);
    session_tree_free(tree);
    close_fixture();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_search_within),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_hottest_own_code),
        cmocka_unit_test(test_sampled),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(tells_lines),
        cmocka_unit_test(tells_what_is_self),
        cmocka_unit_test(follows_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
