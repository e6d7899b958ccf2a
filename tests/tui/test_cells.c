/* SPDX-License-Identifier: BSD-2-Clause */
/* The grid of cells: clipping, wide glyphs, ASCII, and the dumps for golden screens. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "grid_text.h"
#include "tui/screen/cells.h"
#include "tui/screen/theme.h"

static const struct cell_style plain = {CELL_DEFAULT, CELL_DEFAULT, 0};
static const struct cell_style bold = {CELL_DEFAULT, CELL_DEFAULT, CELL_BOLD};

static void expect(const struct grid *grid, const char *expected)
{
    char *text = grid_text(grid);
    assert_string_equal(text, expected);
    free(text);
}

static void clips_at_every_side(void **state)
{
    struct grid *grid = grid_new(5, 3, 256, false);
    struct area whole = area_whole(grid);
    area_text(&whole, -2, 0, plain, "abcdefgh");
    struct area part = area_part(&whole, 3, 1, 10, 10);
    assert_int_equal(part.width, 2);
    assert_int_equal(part.height, 2);
    area_text(&part, 0, 0, plain, "xyz");
    area_text(&part, 0, 5, plain, "xyz");
    struct area none = area_part(&whole, 7, 0, 2, 2);
    area_text(&none, 0, 0, plain, "no");
    expect(grid, "cdefg\n   x…\n\n");
    grid_free(grid);
}

static void wide_glyphs_take_two_cells(void **state)
{
    struct grid *grid = grid_new(5, 2, 256, false);
    struct area whole = area_whole(grid);
    assert_int_equal(area_text(&whole, 0, 0, plain, "日本語"), 6);
    expect(grid, "日本…\n\n"); /* the third does not fit, and is not cut in half */
    area_put(&whole, 1, 0, 'x', plain);
    expect(grid, " x本…\n\n"); /* no half of a glyph remains */
    area_put(&whole, 2, 0, 'y', plain);
    expect(grid, " xy …\n\n");
    grid_free(grid);
}

static void text_without_room_ends_after_a_word(void **state)
{
    static const char *const texts[][2] = {
        {"16 blocks of it", "16 blocks of it"},
        {"16 blocks of them", "16 blocks of …"},
        {"16 blocks of 1234 rows", "16 blocks of …"},
        {"at most 836 KiB", "at most 836 KiB"},
        {"at most of 836 KiB", "at most of …"},
        {"in a_long_function_name", "in a_long_func…"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char line[40];
        struct grid *grid = grid_new(15, 1, 256, false);
        const struct area whole = area_whole(grid);
        assert_int_equal(area_text(&whole, 0, 0, plain, texts[i][0]), text_width(texts[i][0]));
        snprintf(line, sizeof(line), "%s\n", texts[i][1]);
        expect(grid, line);
        grid_free(grid);
    }
}

static void malformed_text_shows_as_marks(void **state)
{
    struct grid *grid = grid_new(12, 1, 256, false);
    struct area whole = area_whole(grid);
    area_text(&whole, 0, 0, plain,
              "a\xc3(\xe2\x82\xff\xc0\xaf\xed\xa0\x80"
              "z");
    expect(grid, "a?(?????\?\?\?z\n");
    assert_int_equal(text_width("e\xcc\x81"), 1); /* a combining accent takes no column */
    grid_free(grid);
}

static void fields_cut_and_pad(void **state)
{
    struct grid *grid = grid_new(10, 4, 256, false);
    struct area whole = area_whole(grid);
    area_fill(&whole, 0, 0, 10, 4, '.', plain);
    area_field(&whole, 1, 0, 6, plain, "dictAddRaw");
    area_field(&whole, 1, 1, 6, plain, "main");
    area_field_right(&whole, 1, 2, 6, plain, "12K");
    area_field_right(&whole, 1, 3, 6, plain, "1234567890");
    expect(grid, ".dictA…...\n.main  ...\n.   12K...\n.12345…...\n");
    grid_free(grid);
}

static void names_keep_their_offset(void **state)
{
    struct grid *grid = grid_new(16, 3, 256, false);
    struct area whole = area_whole(grid);
    area_name(&whole, 0, 0, 14, plain, "_json.cpython-311.so+0x4fd0");
    area_name(&whole, 0, 1, 14, plain, "store::merge_node<2>");
    area_name(&whole, 0, 2, 14, plain, "a+0x4fd0");
    expect(grid, "_json.…+0x4fd0\n…merge_node<2>\na+0x4fd0\n");
    grid_free(grid);
}

static void categories_lose_scopes_first(void **state)
{
    struct grid *grid = grid_new(16, 4, 256, false);
    struct area whole = area_whole(grid);
    area_category(&whole, 0, 0, 16, plain, "db::Block");
    area_category(&whole, 0, 1, 12, plain, "db::(anonymous namespace)::Iterator *");
    area_category(&whole, 0, 2, 14, plain, "std::vector<db::Entry>");
    area_category(&whole, 0, 3, 9, plain, "db::Table::OpenFiles(db::Env *)");
    expect(grid, "db::Block\n…Iterator *\nvector<db::En…\nOpenFiles\n");
    assert_int_equal(area_name_width("db::Table::OpenFiles(db::Env *)", 40), 20);
    assert_int_equal(area_name_width("db::Table::OpenFiles(db::Env *)", 7), 7);
    grid_free(grid);
}

static void ascii_terminals_get_ascii(void **state)
{
    struct grid *grid = grid_new(12, 1, 0, true);
    struct area whole = area_whole(grid);
    area_text(&whole, 0, 0, plain, "←→│█▁…é日");
    char *text = grid_text(grid);
    for (const char *byte = text; *byte; byte++)
        assert_true((unsigned char)*byte < 0x80);
    assert_memory_equal(text, "<>|#.~??", 8);
    free(text);
    grid_free(grid);
}

/* The marks of a tree differ from each other, and no glyph of the views becomes a question mark. */
static void ascii_marks_are_distinct(void **state)
{
    struct grid *grid = grid_new(6, 1, 0, true);
    struct area whole = area_whole(grid);
    area_text(&whole, 0, 0, plain, "▾▸⇄↺→?");
    for (int x = 0; x < 6; x++)
        for (int other = 0; other < x; other++)
            assert_int_not_equal(grid_cell(grid, x, 0)->glyph, grid_cell(grid, other, 0)->glyph);
    static const char used[] = "←↑→↓↺⇄−≈≤─│┆┊═▀▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐░▒▓■□▲▶▸▼▾●✓×·–…µΔ";
    for (const char *at = used; *at;) {
        area_put(&whole, 0, 0, text_next(&at), plain);
        assert_int_not_equal(grid_cell(grid, 0, 0)->glyph, '?');
    }
    grid_free(grid);
}

static void styles_are_dumped_with_a_legend(void **state)
{
    struct grid *grid = grid_new(4, 1, 256, false);
    struct area whole = area_whole(grid);
    area_text(&whole, 1, 0, bold, "x");
    area_text(&whole, 2, 0, (struct cell_style){74, 25, 0}, "y");
    area_text(&whole, 3, 0, theme_category(grid, 3, THEME_CATEGORIES, -1), "z");
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    theme_dump(grid, out);
    fclose(out);
    assert_string_equal(text,
                        ".Sa3\nS: strong, title\n3: category 3\na: foreground 74 background 25\n");
    free(text);
    grid_free(grid);
}

static void a_picture_has_all_that_cells_have(void **state)
{
    char *text = NULL;
    size_t size = 0;
    struct grid *grid = grid_new(4, 1, 256, false);
    const struct area area = area_whole(grid);
    FILE *out = open_memstream(&text, &size);
    area_text(&area, 0, 0, (struct cell_style){196, 21, CELL_BOLD}, "<&");
    area_text(&area, 3, 0, (struct cell_style){CELL_DEFAULT, CELL_DEFAULT, CELL_REVERSE}, "x");
    grid_dump_svg(grid, out);
    fclose(out);
    assert_non_null(strstr(text, "<style>text{white-space:pre}</style>\n"));
    assert_string_equal(
        strchr(strstr(text, "100%"), '\n') + 1,
        "<rect x=\"0\" y=\"0\" width=\"18\" height=\"18\" fill=\"#0000ff\"/>\n"
        "<text x=\"0\" y=\"14\" textLength=\"18\" lengthAdjust=\"spacingAndGlyphs\" "
        "fill=\"#ff0000\" font-weight=\"bold\">&lt;&amp;</text>\n"
        "<rect x=\"27\" y=\"0\" width=\"9\" height=\"18\" fill=\"#d0d0d0\"/>\n"
        "<text x=\"27\" y=\"14\" textLength=\"9\" lengthAdjust=\"spacingAndGlyphs\" "
        "fill=\"#1c1c1c\">x</text>\n"
        "</svg>\n");
    free(text);
    grid_free(grid);
}

int main(void)
{
    setenv("LC_ALL", "C.UTF-8", 1);
    setlocale(LC_ALL, "");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clips_at_every_side),
        cmocka_unit_test(wide_glyphs_take_two_cells),
        cmocka_unit_test(text_without_room_ends_after_a_word),
        cmocka_unit_test(malformed_text_shows_as_marks),
        cmocka_unit_test(fields_cut_and_pad),
        cmocka_unit_test(names_keep_their_offset),
        cmocka_unit_test(categories_lose_scopes_first),
        cmocka_unit_test(ascii_terminals_get_ascii),
        cmocka_unit_test(ascii_marks_are_distinct),
        cmocka_unit_test(styles_are_dumped_with_a_legend),
        cmocka_unit_test(a_picture_has_all_that_cells_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
