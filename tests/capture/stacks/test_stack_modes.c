/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways to unwind, the depth limit, the module table without the loader's help, the shared
 * table under threads. Each mode runs in its own process, because it is set once.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/os/lockfree_table.h"
#include "capture/stack/modules.h"
#include "schemas/trace_codec.h"
#include "tests/capture/stacks/event.h"
#include "tests/capture/stacks/shapes.h"
#include "tests/capture/stacks/stack_oracle.h"

/* Runs `body` in a child with these options. The result must be 0. */
static void in_child(const struct stack_options *options, int (*body)(void))
{
    int status;
    pid_t child = fork();
    if (!child) {
        stack_oracle_init(options);
        _exit(body());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int shapes_agree(void)
{
    unsigned random = 29;
    for (unsigned i = 0; i < 300; i++)
        shapes_descend(&random, 20);
    struct stack_oracle_counts counts = stack_oracle_counts();
    return counts.differences != 0 || counts.compared < 1000;
}

static void test_tables_only(void **data)
{
    in_child(&(struct stack_options){.unwind = STACK_UNWIND_EH}, shapes_agree);
}

static int nothing_taken(void)
{
    event_compare_every(1000000);
    event();
    return event_last_node() != 0;
}

static void test_off(void **data)
{
    in_child(&(struct stack_options){.unwind = STACK_UNWIND_OFF}, nothing_taken);
}

#define FRAME_POINTER __attribute__((noinline, optimize("no-omit-frame-pointer")))

FRAME_POINTER static void pointer_leaf(void)
{
    event();
    __asm__ volatile("" ::: "memory");
}

FRAME_POINTER static void pointer_recurse(unsigned depth)
{
    if (depth)
        pointer_recurse(depth - 1);
    else
        pointer_leaf();
    __asm__ volatile("" ::: "memory");
}

/* The stack has all of the recursion and the frame that began it. */
static int pointers_followed(void)
{
    uint64_t pcs[64];
    unsigned marker;
    event_compare_every(1000000);
    for (unsigned round = 0; round < 3; round++) {
        pointer_recurse(20 + round);
        size_t count = stack_oracle_expand(event_last_node(), pcs, 64, &marker);
        if (count < 22 + round)
            return 1;
        for (unsigned i = 3; i < 20 + round; i++)
            if (pcs[i] != pcs[2])
                return 2;
    }
    return 0;
}

static void test_frame_pointers(void **data)
{
    in_child(&(struct stack_options){.unwind = STACK_UNWIND_FRAME_POINTERS}, pointers_followed);
}

/* The limit cuts, and a stack that has shrunk is shown completely again. */
static int limit_cuts(void)
{
    uint64_t pcs[64];
    unsigned marker;
    event_compare_every(1000000);
    shapes_recurse(2000, 10);
    size_t count = stack_oracle_expand(event_last_node(), pcs, 64, &marker);
    if (marker != TRACE_FRAME_DEPTH_LIMIT || count < 24 || count > 32)
        return 1;
    event();
    count = stack_oracle_expand(event_last_node(), pcs, 64, &marker);
    return marker != 0 || count < 3 || count > 31;
}

static void test_depth_limit(void **data)
{
    in_child(&(struct stack_options){.depth_limit = 32}, limit_cuts);
}

static int modules_same(void)
{
    void *addresses[] = {(void *)qsort, (void *)event, (void *)cmocka_set_test_filter};
    struct module loader[3], maps;
    for (unsigned i = 0; i < 3; i++)
        if (!modules_find((uint64_t)addresses[i], &loader[i]))
            return 1;
    modules_reset();
    modules_init(true);
    for (unsigned i = 0; i < 3; i++)
        if (!modules_find((uint64_t)addresses[i], &maps) || maps.start != loader[i].start ||
            maps.load_bias != loader[i].load_bias || maps.image.header != loader[i].image.header)
            return 2;
    return modules_find(16, &maps) ? 3 : shapes_agree();
}

static void test_modules_by_maps(void **data)
{
    in_child(&(struct stack_options){.unwind = STACK_UNWIND_AUTO}, modules_same);
}

#define TABLE_KEYS 100000u
#define TABLE_IDENTITY (UINT64_C(0xffffffff) << 32)

static uint64_t table_place(uint64_t key, uint64_t value)
{
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

static struct lockfree_table table = {.identity = TABLE_IDENTITY, .place = table_place};

static uint64_t table_find(uint64_t key, uint64_t identity)
{
    return lockfree_table_find(&table, table_place(key, 0), key, identity << 32, TABLE_IDENTITY);
}

/* Gives each key two values, which differ in the high half. */
static uint64_t table_value(uint64_t key, uint64_t twin)
{
    return (key % 7 + 1 + 10 * twin) << 32 | (uint32_t)(key * 3);
}

static void *table_fill(void *data)
{
    for (uint64_t key = 1; key <= TABLE_KEYS; key++) {
        lockfree_table_insert(&table, key, table_value(key, 0));
        lockfree_table_insert(&table, key, table_value(key, 1));
    }
    return NULL;
}

static void test_lockfree_table(void **data)
{
    pthread_t threads[4];
    unsigned found = 0, wrong = 0;
    for (unsigned i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, table_fill, NULL);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    table_fill(NULL); /* inserts again the entries that were lost in growing */
    for (uint64_t key = 1; key <= TABLE_KEYS; key++) {
        for (uint64_t twin = 0; twin < 2; twin++) {
            uint64_t value = table_find(key, key % 7 + 1 + 10 * twin);
            found += value != 0;
            wrong += value && value != table_value(key, twin);
        }
        wrong += table_find(key, 9) != 0;
    }
    assert_int_equal(found, 2 * TABLE_KEYS);
    assert_int_equal(wrong, 0);
    assert_int_equal(lockfree_table_used(&table), 2 * TABLE_KEYS);
    lockfree_table_forget(&table, 0xfff, 500, 600);
    assert_int_equal(table_find(500, 500 % 7 + 1), 0);
    assert_int_equal(table_find(4096 + 599, (4096 + 599) % 7 + 1), 0);
    assert_int_not_equal(table_find(600, 600 % 7 + 1), 0);
    lockfree_table_reset(&table);
    assert_int_equal(table_find(600, 600 % 7 + 1), 0);
}

/* Entries at random places, up to the load at which the table grows: none may find all taken. */
static void test_full_table(void **data)
{
    const uint64_t count = (UINT64_C(1) << 20) / 10 * 7;
    uint64_t key = 1, found = 0;
    for (uint64_t i = 0; i < count; i++, key = key * UINT64_C(6364136223846793005) + 1)
        lockfree_table_insert(&table, key, table_value(key, 0));
    assert_int_equal(lockfree_table_bytes(&table) >> 24, 1);
    key = 1;
    for (uint64_t i = 0; i < count; i++, key = key * UINT64_C(6364136223846793005) + 1)
        found += table_find(key, key % 7 + 1) != 0;
    assert_int_equal(found, count);
    lockfree_table_reset(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_only),     cmocka_unit_test(test_off),
        cmocka_unit_test(test_frame_pointers),  cmocka_unit_test(test_depth_limit),
        cmocka_unit_test(test_modules_by_maps), cmocka_unit_test(test_lockfree_table),
        cmocka_unit_test(test_full_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
