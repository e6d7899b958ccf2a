/* SPDX-License-Identifier: BSD-2-Clause */
/* The line editor: keys in, text and cells out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tui/screen/input.h"
#include "tui/screen/line_editor.h"

static void type(struct line_editor *editor, const char *text)
{
    for (uint32_t glyph; (glyph = text_next(&text)) != 0;)
        assert_int_equal(line_editor_key(editor, glyph), LINE_CHANGED);
}

static void edits_at_the_cursor(void **state)
{
    struct line_editor *editor = line_editor_new();
    type(editor, "where siz > 4K");
    for (int i = 0; i < 5; i++)
        line_editor_key(editor, KEYCODE_LEFT);
    type(editor, "é");
    assert_string_equal(line_editor_text(editor), "where sizé > 4K");
    line_editor_key(editor, KEYCODE_BACKSPACE);
    type(editor, "e");
    assert_string_equal(line_editor_text(editor), "where size > 4K");
    line_editor_key(editor, KEYCODE_CONTROL('W'));
    assert_string_equal(line_editor_text(editor), "where  > 4K");
    line_editor_key(editor, KEYCODE_CONTROL('K'));
    assert_string_equal(line_editor_text(editor), "where ");
    line_editor_key(editor, KEYCODE_HOME);
    assert_int_equal(line_editor_key(editor, KEYCODE_BACKSPACE), LINE_MOVED);
    line_editor_key(editor, KEYCODE_DELETE);
    assert_string_equal(line_editor_text(editor), "here ");
    assert_int_equal(line_editor_key(editor, KEYCODE_ENTER), LINE_DONE);
    assert_int_equal(line_editor_key(editor, KEYCODE_ESCAPE), LINE_CANCELLED);
    assert_int_equal(line_editor_key(editor, KEYCODE_PAGE_UP), LINE_IGNORED);
    line_editor_free(editor);
}

static void history_keeps_what_is_typed(void **state)
{
    struct line_editor *editor = line_editor_new();
    line_editor_remember(editor, "one");
    line_editor_remember(editor, "two");
    line_editor_remember(editor, "two");
    line_editor_set(editor, "");
    type(editor, "thr");
    line_editor_key(editor, KEYCODE_UP);
    assert_string_equal(line_editor_text(editor), "two");
    line_editor_key(editor, KEYCODE_UP);
    assert_string_equal(line_editor_text(editor), "one");
    line_editor_key(editor, KEYCODE_UP);
    assert_string_equal(line_editor_text(editor), "one");
    line_editor_key(editor, KEYCODE_DOWN);
    line_editor_key(editor, KEYCODE_DOWN);
    assert_string_equal(line_editor_text(editor), "thr");
    for (int i = 0; i < 200; i++) {
        char text[8];
        snprintf(text, sizeof(text), "%d", i);
        line_editor_remember(editor, text);
    }
    line_editor_key(editor, KEYCODE_UP);
    assert_string_equal(line_editor_text(editor), "199");
    line_editor_free(editor);
}

static void length_is_bounded(void **state)
{
    struct line_editor *editor = line_editor_new();
    for (int i = 0; i < LINE_MOST; i++)
        assert_int_equal(line_editor_key(editor, 0x1f600), LINE_CHANGED);
    assert_int_equal(line_editor_key(editor, 'x'), LINE_IGNORED);
    assert_int_equal(strlen(line_editor_text(editor)), LINE_MOST * 4);
    line_editor_free(editor);
}

static void scrolls_and_marks_the_error(void **state)
{
    const struct cell_style plain = {CELL_DEFAULT, CELL_DEFAULT, 0};
    const struct cell_style wrong = {1, CELL_DEFAULT, 0};
    struct grid *grid = grid_new(8, 1, 256, false);
    struct area area = area_whole(grid);
    struct line_editor *editor = line_editor_new();
    line_editor_set(editor, "all | wheer");
    assert_int_equal(line_editor_render(editor, &area, 6, plain, wrong), 2);
    assert_int_equal(grid_cell(grid, 0, 0)->glyph, '|');
    assert_int_equal(grid_cell(grid, 1, 0)->style.foreground, CELL_DEFAULT);
    assert_int_equal(grid_cell(grid, 2, 0)->style.foreground, 1);
    assert_true(grid_cell(grid, 7, 0)->style.attributes & CELL_REVERSE);
    assert_int_equal(line_editor_render(editor, &area, -1, plain, wrong), -1);
    line_editor_key(editor, KEYCODE_HOME);
    line_editor_click(editor, 8, 3);
    line_editor_key(editor, 'X');
    assert_string_equal(line_editor_text(editor), "allX | wheer");
    line_editor_free(editor);
    grid_free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_at_the_cursor),
        cmocka_unit_test(history_keeps_what_is_typed),
        cmocka_unit_test(length_is_bounded),
        cmocka_unit_test(scrolls_and_marks_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
