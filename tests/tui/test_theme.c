/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The themes: all roles can be read on the ground that a theme is for, the ten colours of
 * categories differ, and those of the colour-blind theme also for people who lack a kind of cones.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tui/screen/theme.h"

/* Light as the eye adds it, red, green and blue from 0 to 1 (sRGB, IEC 61966-2-1). */
static void linear(uint32_t color, double out[3])
{
    for (int i = 0; i < 3; i++) {
        const double part = (double)(color >> (16 - 8 * i) & 255) / 255;
        out[i] = part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
    }
}

/* The contrast of two colours, 1 to 21 (WCAG 2.2). */
static double contrast(uint32_t a, uint32_t b)
{
    double one[3], other[3];
    linear(a, one);
    linear(b, other);
    const double first = 0.2126 * one[0] + 0.7152 * one[1] + 0.0722 * one[2] + 0.05;
    const double second = 0.2126 * other[0] + 0.7152 * other[1] + 0.0722 * other[2] + 0.05;
    return first > second ? first / second : second / first;
}

/* A colour seen with all cones, and without the long, the middle, the short ones (Machado, Oliveira
 * and Fernandes, 2009, severity 1). */
enum { EYES = 4 };
static const double eyes[EYES][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779},
     {-0.078411, 0.930809, 0.147602},
     {0.004733, 0.691367, 0.303900}},
};

/* Stores a colour in Oklab (Ottosson, 2020), as an eye sees it. */
static void oklab(uint32_t color, int eye, double out[3])
{
    static const double to_cones[3][3] = {{0.4122214708, 0.5363325363, 0.0514459929},
                                          {0.2119034982, 0.6806995451, 0.1073969566},
                                          {0.0883024619, 0.2817188376, 0.6299787005}};
    static const double to_lab[3][3] = {{0.2104542553, 0.7936177850, -0.0040720468},
                                        {1.9779984951, -2.4285922050, 0.4505937099},
                                        {0.0259040371, 0.7827717662, -0.8086757660}};
    double light[3], seen[3], cones[3];
    linear(color, light);
    for (int i = 0; i < 3; i++) {
        seen[i] =
            eyes[eye][i][0] * light[0] + eyes[eye][i][1] * light[1] + eyes[eye][i][2] * light[2];
        seen[i] = fmin(fmax(seen[i], 0), 1);
    }
    for (int i = 0; i < 3; i++)
        cones[i] =
            cbrt(to_cones[i][0] * seen[0] + to_cones[i][1] * seen[1] + to_cones[i][2] * seen[2]);
    for (int i = 0; i < 3; i++)
        out[i] = to_lab[i][0] * cones[0] + to_lab[i][1] * cones[1] + to_lab[i][2] * cones[2];
}

static double distance(uint32_t a, uint32_t b, int eye)
{
    double one[3], other[3], sum = 0;
    oklab(a, eye, one);
    oklab(b, eye, other);
    for (int i = 0; i < 3; i++)
        sum += (one[i] - other[i]) * (one[i] - other[i]);
    return sqrt(sum);
}

static uint32_t category(enum theme_kind kind, int colors, size_t i)
{
    struct grid *grid = grid_new(1, 1, colors, false);
    theme_use(kind);
    const int color = theme_category(grid, i, THEME_CATEGORIES, -1).foreground;
    grid_free(grid);
    assert_true(color >= 0);
    return xterm_color(color);
}

static void categories_differ(void **state)
{
    (void)state;
    static const double least[] = {
        [THEME_DARK] = 0.17, [THEME_LIGHT] = 0.17, [THEME_COLOR_BLIND] = 0.1};
    for (int kind = THEME_DARK; kind <= THEME_COLOR_BLIND; kind++)
        for (size_t i = 0; i <= THEME_CATEGORIES; i++) { /* the last one is the rest's grey */
            const uint32_t color = category((enum theme_kind)kind, 256, i);
            assert_true(contrast(color, theme_paper()) >= 3);
            for (size_t k = 0; k < i; k++)
                for (int eye = 0; eye < (kind == THEME_COLOR_BLIND ? EYES : 1); eye++)
                    assert_true(distance(color, category((enum theme_kind)kind, 256, k), eye) >=
                                least[kind]);
        }
}

static void sixteen_colours_are_ten_categories(void **state)
{
    (void)state;
    for (int kind = THEME_DARK; kind <= THEME_COLOR_BLIND; kind++)
        for (size_t i = 0; i <= THEME_CATEGORIES; i++)
            for (size_t k = 0; k < i; k++)
                assert_int_not_equal(category((enum theme_kind)kind, 16, i),
                                     category((enum theme_kind)kind, 16, k));
}

static void roles_can_be_read(void **state)
{
    (void)state;
    for (int kind = THEME_DARK; kind <= THEME_COLOR_BLIND; kind++) {
        theme_use((enum theme_kind)kind);
        for (int role = 0; role < THEME_ROLES; role++) {
            const struct cell_style style = theme_style((enum theme_role)role);
            const uint32_t ink =
                style.foreground == CELL_DEFAULT ? theme_ink() : xterm_color(style.foreground);
            const uint32_t paper =
                style.background == CELL_DEFAULT ? theme_paper() : xterm_color(style.background);
            /* The cursor's dot has the colour of its cell. Memory that is filtered out is faint. */
            const bool text =
                role != THEME_POINT && role != THEME_TRANSIENT && role != THEME_FILTERED;
            if (contrast(ink, paper) < (text ? 4.0 : 1.2))
                fail_msg("theme %s, role %d: contrast %.1f", theme_name((enum theme_kind)kind),
                         role, contrast(ink, paper));
        }
    }
}

static void mono_has_no_colour(void **state)
{
    (void)state;
    struct grid *grid = grid_new(1, 1, 256, false);
    theme_use(THEME_MONO);
    for (int role = 0; role < THEME_ROLES; role++) {
        const struct cell_style style = theme_style((enum theme_role)role);
        assert_int_equal(style.foreground, CELL_DEFAULT);
        assert_int_equal(style.background, CELL_DEFAULT);
    }
    for (size_t i = 0; i <= THEME_CATEGORIES; i++) {
        assert_int_equal(theme_category(grid, i, THEME_CATEGORIES, 9).foreground, CELL_DEFAULT);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(theme_pattern(i), theme_pattern(k));
    }
    grid_free(grid);
}

static void themes_have_names(void **state)
{
    enum theme_kind found;
    (void)state;
    for (int kind = 0; kind < THEME_KINDS; kind++) {
        assert_true(theme_from_name(theme_name((enum theme_kind)kind), &found));
        assert_int_equal(found, kind);
    }
    assert_true(theme_from_name("color-blind", &found));
    assert_int_equal(found, THEME_COLOR_BLIND);
    assert_false(theme_from_name("pink", &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(categories_differ), cmocka_unit_test(sixteen_colours_are_ten_categories),
        cmocka_unit_test(roles_can_be_read), cmocka_unit_test(mono_has_no_colour),
        cmocka_unit_test(themes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
