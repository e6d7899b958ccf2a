/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The themes: all roles can be read on the ground that a theme is for, the ten colours of
 * categories differ, neighbours also for people who lack a kind of cones.
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

/* Stores a colour in CIELAB (white D65), as an eye sees it. */
static void cielab(uint32_t color, int eye, double out[3])
{
    static const double to_xyz[3][3] = {
        {0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047},
        {0.2126729, 0.7151522, 0.0721750},
        {0.0193339 / 1.08883, 0.1191920 / 1.08883, 0.9503041 / 1.08883}};
    double light[3], seen[3], f[3];
    linear(color, light);
    for (int i = 0; i < 3; i++) {
        seen[i] =
            eyes[eye][i][0] * light[0] + eyes[eye][i][1] * light[1] + eyes[eye][i][2] * light[2];
        seen[i] = fmin(fmax(seen[i], 0), 1);
    }
    for (int i = 0; i < 3; i++) {
        const double t = to_xyz[i][0] * seen[0] + to_xyz[i][1] * seen[1] + to_xyz[i][2] * seen[2];
        f[i] = t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
    }
    out[0] = 116 * f[1] - 16;
    out[1] = 500 * (f[0] - f[1]);
    out[2] = 200 * (f[1] - f[2]);
}

static double degrees(double y, double x)
{
    const double angle = atan2(y, x) * 180 / M_PI;
    return x == 0 && y == 0 ? 0 : angle < 0 ? angle + 360 : angle;
}

static double cosine(double angle)
{
    return cos(angle * M_PI / 180);
}

/* The difference of two colours in CIELAB by CIEDE2000 (Sharma, Wu and Dalal, 2005). */
static double difference_of(const double a[3], const double b[3])
{
    const double mean = (hypot(a[1], a[2]) + hypot(b[1], b[2])) / 2, mean7 = pow(mean, 7);
    const double g = (1 - sqrt(mean7 / (mean7 + pow(25, 7)))) / 2;
    const double chroma[2] = {hypot(a[1] * (1 + g), a[2]), hypot(b[1] * (1 + g), b[2])};
    const double hue[2] = {degrees(a[2], a[1] * (1 + g)), degrees(b[2], b[1] * (1 + g))};
    const double both = chroma[0] * chroma[1], apart = hue[1] - hue[0];
    const double turn = both == 0      ? 0
                        : apart > 180  ? apart - 360
                        : apart < -180 ? apart + 360
                                       : apart;
    const double middle = both == 0               ? hue[0] + hue[1]
                          : fabs(apart) <= 180    ? (hue[0] + hue[1]) / 2
                          : hue[0] + hue[1] < 360 ? (hue[0] + hue[1] + 360) / 2
                                                  : (hue[0] + hue[1] - 360) / 2;
    const double lightness = (a[0] + b[0]) / 2 - 50, c = (chroma[0] + chroma[1]) / 2;
    const double t = 1 - 0.17 * cosine(middle - 30) + 0.24 * cosine(2 * middle) +
                     0.32 * cosine(3 * middle + 6) - 0.2 * cosine(4 * middle - 63);
    const double l_part =
        (b[0] - a[0]) / (1 + 0.015 * lightness * lightness / sqrt(20 + lightness * lightness));
    const double c_part = (chroma[1] - chroma[0]) / (1 + 0.045 * c);
    const double h_part = 2 * sqrt(both) * sin(turn / 2 * M_PI / 180) / (1 + 0.015 * c * t);
    const double around = (middle - 275) / 25, c7 = pow(c, 7);
    const double turned =
        -sin(60 * exp(-around * around) * M_PI / 180) * 2 * sqrt(c7 / (c7 + pow(25, 7)));
    return sqrt(l_part * l_part + c_part * c_part + h_part * h_part + turned * c_part * h_part);
}

static double difference(uint32_t a, uint32_t b, int eye)
{
    double one[3], other[3];
    cielab(a, eye, one);
    cielab(b, eye, other);
    return difference_of(one, other);
}

/* Three of the pairs that Sharma, Wu and Dalal publish with their differences. */
static void differences_are_right(void **state)
{
    static const double pairs[][7] = {{50, 2.6772, -79.7751, 50, 0, -82.7485, 2.0425},
                                      {50, 2.5, 0, 73, 25, -18, 27.1492},
                                      {2.0776, 0.0795, -1.1350, 0.9033, -0.0636, -0.5514, 0.9082}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        assert_true(fabs(difference_of(pairs[i], pairs[i] + 3) - pairs[i][6]) < 0.0001);
}

/* Ten muted hues of one lightness, in 256 colours and, from the same table, in true colours. */
static void categories_differ(void **state)
{
    static const enum theme_kind kinds[] = {THEME_DARK, THEME_LIGHT};
    for (size_t theme = 0; theme < 2; theme++) {
        const enum theme_kind kind = kinds[theme];
        double darkest = 100, lightest = 0, lab[3];
        for (size_t i = 0; i <= THEME_CATEGORIES; i++) { /* the last one is the rest's grey */
            const uint32_t color = category(kind, 256, i);
            for (int ground = 0; ground < 2; ground++) {
                theme_use(kinds[ground]);
                assert_true(contrast(color, theme_paper()) >= 3);
            }
            theme_use(kind);
            cielab(color, 0, lab);
            darkest = fmin(darkest, lab[0]);
            lightest = fmax(lightest, lab[0]);
            for (size_t k = 0; k < i; k++)
                assert_true(difference(color, category(kind, 256, k), 0) >= 8);
            for (int eye = 0; i > 0 && i < THEME_CATEGORIES && eye < EYES; eye++)
                assert_true(difference(color, category(kind, 256, i - 1), eye) >=
                            (eye == 0 ? 18 : 8));
            theme_use(kind);
            assert_true(i == THEME_CATEGORIES || hypot(lab[1], lab[2]) < 60);
            assert_true(difference(color, xterm_color(theme_style(THEME_CHOSEN).foreground), 0) >=
                        8);
        }
        assert_true(lightest - darkest <= 12);
    }
}

/* The colours of the colour-blind theme are as far apart for each eye. */
static void categories_differ_for_all_eyes(void **state)
{
    for (size_t i = 0; i <= THEME_CATEGORIES; i++) {
        const uint32_t color = category(THEME_COLOR_BLIND, 256, i);
        assert_true(contrast(color, theme_paper()) >= 3);
        for (size_t k = 0; k < i; k++)
            for (int eye = 0; eye < EYES; eye++)
                assert_true(distance(color, category(THEME_COLOR_BLIND, 256, k), eye) >= 0.1);
    }
}

/* The line of the resident set lies over any of the colours. */
static void a_line_is_seen_on_every_layer(void **state)
{
    for (int kind = THEME_DARK; kind <= THEME_COLOR_BLIND; kind++) {
        theme_use((enum theme_kind)kind);
        const uint32_t line = xterm_color(theme_style(THEME_LINE).foreground);
        for (size_t i = 0; i <= THEME_CATEGORIES; i++)
            assert_true(contrast(line, category((enum theme_kind)kind, 256, i)) >= 3);
    }
}

/* A selected box looks like none of the others, and their names can be read. */
static void boxes_are_warm(void **state)
{
    for (int kind = THEME_DARK; kind <= THEME_COLOR_BLIND; kind++) {
        struct grid *grid = grid_new(1, 1, 256, false);
        theme_use((enum theme_kind)kind);
        uint32_t before = 0;
        for (int share = 0; share <= 100; share++) {
            const struct cell_style style = theme_heat(grid, share / 100.0);
            const uint32_t color = xterm_color(style.foreground);
            assert_true(style.attributes == CELL_REVERSE);
            assert_true((color >> 16) > (color & 255)); /* more red than blue */
            assert_true(contrast(color, theme_paper()) >= 3);
            assert_true(difference(color, xterm_color(theme_style(THEME_PATH).foreground), 0) >=
                        18);
            assert_true(share == 0 || color == before || difference(color, before, 0) >= 8);
            before = color;
        }
        grid_free(grid);
    }
}

static void sixteen_colours_are_ten_categories(void **state)
{
    for (int kind = THEME_DARK; kind <= THEME_COLOR_BLIND; kind++)
        for (size_t i = 0; i <= THEME_CATEGORIES; i++)
            for (size_t k = 0; k < i; k++)
                assert_int_not_equal(category((enum theme_kind)kind, 16, i),
                                     category((enum theme_kind)kind, 16, k));
}

static void roles_can_be_read(void **state)
{
    for (int kind = THEME_DARK; kind <= THEME_COLOR_BLIND; kind++) {
        theme_use((enum theme_kind)kind);
        for (int role = 0; role < THEME_ROLES; role++) {
            const struct cell_style style = theme_style((enum theme_role)role);
            const uint32_t ink =
                style.foreground == CELL_DEFAULT ? theme_ink() : xterm_color(style.foreground);
            const uint32_t paper =
                style.background == CELL_DEFAULT ? theme_paper() : xterm_color(style.background);
            /* The cursor's dot has the colour of its cell. Memory that is filtered out is faint. */
            const bool text = role != THEME_POINT && role != THEME_TRANSIENT &&
                              role != THEME_FILTERED && role != THEME_LINE;
            if (contrast(ink, paper) < (text ? 4.0 : 1.2))
                fail_msg("theme %s, role %d: contrast %.1f", theme_name((enum theme_kind)kind),
                         role, contrast(ink, paper));
        }
    }
}

static void mono_has_no_colour(void **state)
{
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
        cmocka_unit_test(differences_are_right),
        cmocka_unit_test(categories_differ),
        cmocka_unit_test(categories_differ_for_all_eyes),
        cmocka_unit_test(a_line_is_seen_on_every_layer),
        cmocka_unit_test(boxes_are_warm),
        cmocka_unit_test(sixteen_colours_are_ten_categories),
        cmocka_unit_test(roles_can_be_read),
        cmocka_unit_test(mono_has_no_colour),
        cmocka_unit_test(themes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
