/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of keys: a key has the same meaning everywhere, and names can be read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tui/keys/keys.h"
#include "tui/screen/key_names.h"

static void each_key_means_one_thing(void **state)
{
    (void)state;
    size_t count = 0;
    const struct key_binding *table = key_bindings(&count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++)
            for (size_t a = 0; a < 3 && table[i].keys[a]; a++)
                for (size_t b = 0; b < 3 && table[j].keys[b]; b++)
                    if (table[i].keys[a] == table[j].keys[b]) {
                        assert_int_equal(table[i].action, table[j].action);
                        assert_int_equal(table[i].views & table[j].views, 0);
                    }
        assert_non_null(table[i].description);
        assert_true(table[i].views != 0);
    }
}

static void names_read_back(void **state)
{
    (void)state;
    size_t count = 0;
    const struct key_binding *table = key_bindings(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 3 && table[i].keys[k]; k++) {
            char name[16];
            assert_int_equal(key_from_name(key_spelling(table[i].keys[k], name)), table[i].keys[k]);
        }
    assert_int_equal(key_from_name("nonsense"), 0);
    assert_int_equal(key_from_name(""), 0);
    assert_int_equal(key_from_name("é"), 0xe9);
}

static void bindings_depend_on_the_view(void **state)
{
    (void)state;
    assert_int_equal(key_action('v', IN_TIMELINE), ACTION_RANGE);
    assert_int_equal(key_action('v', IN_GRID), ACTION_NONE);
    assert_int_equal(key_action('q', IN_OVERVIEW), ACTION_QUIT);
    assert_int_equal(key_action('k', IN_FUNCTIONS), ACTION_UP);
    assert_int_equal(key_action(0x1234, IN_ALL), ACTION_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_means_one_thing),
        cmocka_unit_test(names_read_back),
        cmocka_unit_test(bindings_depend_on_the_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
