/* SPDX-License-Identifier: BSD-2-Clause */
/* The cache of two generations holds the items used last, with any hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/base/array.h"

struct item {
    uint32_t key; /* from 1 */
    int *owned;
};

static int dropped;

static void drop(void *item)
{
    struct item *of_ours = item;
    dropped += of_ours->owned != NULL;
    free(of_ours->owned);
}

static bool same(const void *item, const void *key)
{
    const struct item *of_ours = item;
    const uint32_t *wanted = key;
    return of_ours->key == *wanted;
}

static void add(struct generation_cache *recent, uint64_t hash, uint32_t key)
{
    struct item item = {key, malloc(sizeof(int))};
    *item.owned = (int)key;
    assert_non_null(generation_cache_add(recent, hash, &item));
}

static bool has(struct generation_cache *recent, uint64_t hash, uint32_t key)
{
    const struct item *item = generation_cache_find(recent, hash, same, &key);
    if (item)
        assert_int_equal(*item->owned, key);
    return item != NULL;
}

/* Items up to the limit live side by side, even if all have one hash and are asked in turn without
 * end. */
static void test_collisions_do_not_evict(void **state)
{
    struct generation_cache recent = {.item_size = sizeof(struct item), .limit = 100, .drop = drop};
    for (uint32_t key = 1; key <= 100; key++)
        add(&recent, 7, key);
    for (int round = 0; round < 3; round++)
        for (uint32_t key = 1; key <= 100; key++)
            assert_true(has(&recent, 7, key));
    generation_cache_free(&recent);
}

/* An item that is used again outlives one that is not, and no more than twice the limit are
 * kept. */
static void test_used_again_stays(void **state)
{
    struct generation_cache recent = {.item_size = sizeof(struct item), .limit = 10, .drop = drop};
    dropped = 0;
    add(&recent, 1, 1);
    for (uint32_t key = 2; key <= 1000; key++) {
        add(&recent, key, key);
        assert_true(has(&recent, 1, 1));
        if (key > 4)
            assert_true(has(&recent, key - 3, key - 3));
        assert_true((int)key - dropped <= 20);
    }
    assert_false(has(&recent, 2, 2));
    generation_cache_free(&recent);
    assert_int_equal(dropped, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collisions_do_not_evict),
        cmocka_unit_test(test_used_again_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
