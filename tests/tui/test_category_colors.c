/* SPDX-License-Identifier: BSD-2-Clause */
/* The colours of categories: each name keeps its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "tui/screen/theme.h"

#define SLOTS 4
#define ASSIGN(colors, kind, assigned, ...)                                                        \
    do {                                                                                           \
        const char *const labels[] = {__VA_ARGS__};                                                \
        category_colors_assign(colors, kind, labels, sizeof(labels) / sizeof(*labels), SLOTS,      \
                               assigned);                                                          \
    } while (0)

static void all_differ(void **state)
{
    struct category_colors colors = {.next = 0};
    uint8_t assigned[SLOTS];
    ASSIGN(&colors, 1, assigned, "a", "b", "c", "d");
    for (uint8_t i = 0; i < SLOTS; i++)
        for (uint8_t k = 0; k < i; k++)
            assert_int_not_equal(assigned[i], assigned[k]);
}

/* Another session shows the same names in another order. */
static void names_have_the_same_colours_in_every_session(void **state)
{
    struct category_colors one = {.next = 0}, other = {.next = 0};
    uint8_t first[SLOTS], second[SLOTS], alone[SLOTS];
    ASSIGN(&one, 1, first, "a", "b", "c", "d");
    ASSIGN(&other, 1, second, "c", "d", "b", "a");
    assert_int_equal(first[0], second[3]);
    assert_int_equal(first[1], second[2]);
    assert_int_equal(first[2], second[0]);
    assert_int_equal(first[3], second[1]);
    /* Names that do not clash have the colour that they have alone. */
    struct category_colors fresh = {.next = 0};
    ASSIGN(&fresh, 2, alone, "parse_expr");
    assert_int_equal(category_colors_slot(&one, 1, "parse_expr", SLOTS), alone[0]);
}

static void a_view_of_names_follows_the_legend(void **state)
{
    struct category_colors colors = {.next = 0};
    uint8_t assigned[SLOTS];
    ASSIGN(&colors, 1, assigned, "a", "b", "c", "d");
    static const char *const labels[] = {"a", "b", "c", "d"};
    for (int i = 0; i < SLOTS; i++)
        assert_int_equal(category_colors_slot(&colors, 1, labels[i], SLOTS), assigned[i]);
}

static void another_order_changes_no_colour(void **state)
{
    struct category_colors colors = {.next = 0};
    uint8_t first[SLOTS], assigned[SLOTS];
    ASSIGN(&colors, 1, first, "a", "b", "c", "d");
    ASSIGN(&colors, 1, assigned, "d", "b");
    assert_int_equal(assigned[0], first[3]);
    assert_int_equal(assigned[1], first[1]);
    /* A new one takes a free colour, and the others keep theirs. */
    ASSIGN(&colors, 1, assigned, "e", "d", "a", "b");
    assert_int_equal(assigned[1], first[3]);
    assert_int_equal(assigned[2], first[0]);
    assert_int_equal(assigned[3], first[1]);
    assert_int_equal(assigned[0], first[2]);
    /* It has the same colour as c; if both are shown, the first one keeps it. */
    ASSIGN(&colors, 1, assigned, "c", "e");
    assert_int_equal(assigned[0], first[2]);
    assert_int_not_equal(assigned[1], first[2]);
}

static void colourings_are_apart(void **state)
{
    struct category_colors colors = {.next = 0};
    uint8_t first[SLOTS], second[SLOTS];
    ASSIGN(&colors, 1, first, "a", "b", "c", "d");
    ASSIGN(&colors, 2, second, "e");
    ASSIGN(&colors, 1, second, "d");
    assert_int_equal(second[0], first[3]);
}

static void more_than_it_knows(void **state)
{
    struct category_colors colors = {.next = 0};
    uint8_t assigned[SLOTS];
    char label[16];
    for (int i = 0; i < 3 * CATEGORY_COLORS_KNOWN; i++) {
        snprintf(label, sizeof(label), "%d", i);
        ASSIGN(&colors, 1, assigned, "kept", label);
        assert_true(assigned[0] < SLOTS && assigned[1] < SLOTS && assigned[0] != assigned[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_differ),
        cmocka_unit_test(names_have_the_same_colours_in_every_session),
        cmocka_unit_test(a_view_of_names_follows_the_legend),
        cmocka_unit_test(another_order_changes_no_colour),
        cmocka_unit_test(colourings_are_apart),
        cmocka_unit_test(more_than_it_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
