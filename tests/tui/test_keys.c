/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of keys: a key has the same meaning everywhere, and names can be read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tui/browser/browser_state.h"
#include "tui/screen/keys.h"

/* Views whose tables are checked; a view that does not exist is left out. */
static const struct view_ops *view_at(int number)
{
    return browser_view((enum view_number)number);
}

static bool share_a_key(const struct key_binding *a, const struct key_binding *b)
{
    for (size_t i = 0; i < KEYS_MOST && a->keys[i]; i++)
        for (size_t j = 0; j < KEYS_MOST && b->keys[j]; j++)
            if (a->keys[i] == b->keys[j])
                return true;
    return false;
}

static void each_key_means_one_thing(const struct key_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        for (size_t j = i + 1; j < table->count; j++)
            assert_false(share_a_key(&table->bindings[i], &table->bindings[j]));
        assert_non_null(table->bindings[i].description);
        assert_true(table->bindings[i].keys[0] != 0);
    }
}

static void keys_mean_one_thing(void **state)
{
    each_key_means_one_thing(&shared_keys);
    for (size_t i = 0; i < shared_keys.count; i++)
        assert_true(shared_keys.bindings[i].views != 0);
    for (int view = 0; view < VIEWS; view++)
        if (view_at(view))
            each_key_means_one_thing(&view_at(view)->keys);
}

/* A view may explain a shared key in its own words. The key then has all its spellings, and does
 * what it does elsewhere. */
static void shared_keys_keep_their_meaning(void **state)
{
    for (int view = 0; view < VIEWS; view++) {
        if (!view_at(view))
            continue;
        const struct key_table *own = &view_at(view)->keys;
        for (size_t i = 0; i < own->count; i++)
            for (size_t j = 0; j < shared_keys.count; j++) {
                const struct key_binding *a = &own->bindings[i], *b = &shared_keys.bindings[j];
                if (!share_a_key(a, b) || !(b->views & IN(view)))
                    continue;
                assert_int_equal(a->action, b->action);
                assert_memory_equal(a->keys, b->keys, sizeof(a->keys));
            }
    }
}

/* The view of the resident set chooses what its groups are about by t, s and u: it has nothing to
 * sort by s, and no filter to undo by u. */
static bool chooses_subject(const struct key_binding *binding)
{
    return binding->action == ACTION_BY_TYPE || binding->action == ACTION_BY_SITE ||
           binding->action == ACTION_BY_USER;
}

/* A key that two views have of their own does the same in both. */
static void views_agree(void **state)
{
    for (int v = 0; v < VIEWS; v++)
        for (int w = v + 1; w < VIEWS; w++) {
            if (!view_at(v) || !view_at(w))
                continue;
            const struct key_table *a = &view_at(v)->keys, *b = &view_at(w)->keys;
            for (size_t i = 0; i < a->count; i++)
                for (size_t j = 0; j < b->count; j++)
                    if (share_a_key(&a->bindings[i], &b->bindings[j]) &&
                        chooses_subject(&a->bindings[i]) == chooses_subject(&b->bindings[j]))
                        assert_int_equal(a->bindings[i].action, b->bindings[j].action);
        }
}

static void names_read_back(void **state)
{
    char name[KEY_NAME_SIZE];
    for (int view = 0; view < VIEWS; view++) {
        const struct key_binding *binding = NULL;
        if (!view_at(view))
            continue;
        while ((binding = key_binding_next(&view_at(view)->keys, (enum view_number)view, binding)))
            for (size_t k = 0; k < KEYS_MOST && binding->keys[k]; k++) {
                assert_int_equal(key_from_name(key_spelling(binding->keys[k], name)),
                                 binding->keys[k]);
            }
    }
    assert_int_equal(key_from_name("F1"), KEYCODE_F1);
    assert_int_equal(key_from_name("F12"), KEYCODE_F12);
    assert_int_equal(key_from_name("F13"), 0);
    assert_int_equal(key_from_name("F5x"), 0);
    assert_string_equal(key_spelling(KEYCODE_F12, name), "F12");
    assert_string_equal(key_spelling(KEYCODE_UNKNOWN, name), "that key");
    assert_int_equal(key_from_name("nonsense"), 0);
    assert_int_equal(key_from_name(""), 0);
    assert_int_equal(key_from_name("é"), 0xe9);
}

static enum action action_in(enum view_number view, uint32_t key)
{
    return key_action(&browser_view(view)->keys, view, key);
}

static void bindings_depend_on_the_view(void **state)
{
    assert_int_equal(action_in(VIEW_TIMELINE, 'v'), ACTION_RANGE);
    assert_int_equal(action_in(VIEW_MEMORY, 'v'), ACTION_NONE);
    assert_int_equal(action_in(VIEW_OVERVIEW, 'q'), ACTION_QUIT);
    assert_int_equal(action_in(VIEW_FUNCTIONS, 'k'), ACTION_UP);
    assert_int_equal(action_in(VIEW_OVERVIEW, 's'), ACTION_NONE);
    assert_int_equal(action_in(VIEW_FUNCTIONS, 0x1234), ACTION_NONE);
}

/* The bindings of a view, one after another, have each of its keys once. */
static void bindings_come_once(void **state)
{
    const struct key_table *own = &browser_view(VIEW_MEMORY)->keys;
    const struct key_binding *binding = NULL;
    size_t enters = 0, count = 0;
    for (; (binding = key_binding_next(own, VIEW_MEMORY, binding)); count++)
        enters += binding->keys[0] == KEYCODE_ENTER;
    assert_int_equal(enters, 1);
    assert_true(count > own->count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_mean_one_thing),
        cmocka_unit_test(shared_keys_keep_their_meaning),
        cmocka_unit_test(views_agree),
        cmocka_unit_test(names_read_back),
        cmocka_unit_test(bindings_depend_on_the_view),
        cmocka_unit_test(bindings_come_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
