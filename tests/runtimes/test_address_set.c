/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of addresses that grows often keeps each address once, in the place that it first had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtimes/python/objects.h"

#define COUNT ((size_t)50000)

static const void *address(size_t i)
{
    return (const void *)(uintptr_t)(0x7f0000000010 + 48 * i * (i % 3 + 1));
}

static void test_places(void **state)
{
    struct address_set set = {0};
    size_t *places = test_malloc(COUNT * sizeof(*places));
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        const size_t known = set.count;
        places[i] = address_set_add(&set, address(i));
        assert_true(places[i] <= known && set.count == known + (places[i] == known));
        assert_ptr_equal(set.items[places[i]], address(i));
    }
    assert_true(set.count > COUNT / 2 && set.count < COUNT); /* some addresses are the same */
    const size_t count = set.count;
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(address_set_add(&set, address(i)), places[i]);
    assert_int_equal(set.count, count);
    address_set_free(&set);
    assert_int_equal(set.count, 0);
    assert_int_equal(address_set_add(&set, address(1)), 0);
    address_set_free(&set);
    test_free(places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
