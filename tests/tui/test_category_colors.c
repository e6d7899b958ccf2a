/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "tui/screen/category_colors.h"

#define SLOTS 4
#define ASSIGN(colors, kind, assigned, ...)                                                        \
    do {                                                                                           \
        const char *const labels[] = {__VA_ARGS__};                                                \
        category_colors_assign(colors, kind, labels, sizeof(labels) / sizeof(*labels), SLOTS,      \
                               assigned);                                                          \
    } while (0)

static void first_come_in_order(void **state)
{
    struct category_colors colors = {.next = 0};
    uint8_t assigned[SLOTS];
    (void)state;
    ASSIGN(&colors, 1, assigned, "a", "b", "c", "d");
    for (uint8_t i = 0; i < SLOTS; i++)
        assert_int_equal(assigned[i], i);
}

static void another_order_changes_no_colour(void **state)
{
    struct category_colors colors = {.next = 0};
    uint8_t assigned[SLOTS];
    (void)state;
    ASSIGN(&colors, 1, assigned, "a", "b", "c", "d");
    ASSIGN(&colors, 1, assigned, "d", "b");
    assert_int_equal(assigned[0], 3);
    assert_int_equal(assigned[1], 1);
    /* A new one takes a free colour, and the others keep theirs. */
    ASSIGN(&colors, 1, assigned, "e", "d", "a");
    assert_int_equal(assigned[1], 3);
    assert_int_equal(assigned[2], 0);
    assert_int_equal(assigned[0], 1);
    /* It had the same colour as b; if both are shown, the first one keeps it. */
    ASSIGN(&colors, 1, assigned, "b", "e");
    assert_int_equal(assigned[0], 1);
    assert_int_not_equal(assigned[1], 1);
}

static void colourings_are_apart(void **state)
{
    struct category_colors colors = {.next = 0};
    uint8_t assigned[SLOTS];
    (void)state;
    ASSIGN(&colors, 1, assigned, "a", "b");
    ASSIGN(&colors, 2, assigned, "b", "a");
    assert_int_equal(assigned[0], 0);
    assert_int_equal(assigned[1], 1);
}

static void more_than_it_knows(void **state)
{
    struct category_colors colors = {.next = 0};
    uint8_t assigned[SLOTS];
    char label[16];
    (void)state;
    for (int i = 0; i < 3 * CATEGORY_COLORS_KNOWN; i++) {
        snprintf(label, sizeof(label), "%d", i);
        ASSIGN(&colors, 1, assigned, "kept", label);
        assert_true(assigned[0] < SLOTS && assigned[1] < SLOTS && assigned[0] != assigned[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_come_in_order),
        cmocka_unit_test(another_order_changes_no_colour),
        cmocka_unit_test(colourings_are_apart),
        cmocka_unit_test(more_than_it_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
