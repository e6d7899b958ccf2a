/* SPDX-License-Identifier: BSD-2-Clause */
/* The table widget: selection by key, order, search, mouse, columns on narrow screens, text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "grid_text.h"
#include "tui/screen/table.h"

/* Towns with a number each; a row is an index of `order`. */
static const struct {
    const char *name;
    uint64_t number;
} towns[] = {{"Delft", 4}, {"Athens", 30}, {"Cork", 12}, {"Basel", 9}, {"Ephesus, \"old\"", 1}};
enum { TOWNS = 5, TOWN = 0, NUMBER = 1, NOTE = 2, EXTRA = 3 };

struct world {
    size_t order[1000];
};

static void cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    const struct world *world = context;
    const size_t town = world->order[row] % TOWNS;
    if (column == TOWN) {
        out->name = towns[town].name;
    } else if (column == NUMBER) {
        snprintf(out->text, sizeof(out->text), "%zu.0K", (size_t)towns[town].number);
        out->number = towns[town].number * 1024;
        out->is_number = true;
        out->part = towns[town].number;
        out->whole = 30;
    } else {
        snprintf(out->text, sizeof(out->text), column == NOTE ? "note" : "extra");
    }
}

static uint64_t key(void *context, size_t row)
{
    return ((const struct world *)context)->order[row] + 100;
}

static const struct table_column columns[] = {
    [TOWN] = {.title = "town", .text = true, .keep = true},
    [NUMBER] =
        {.title = "number", .width = 7, .keep = true, .meaning = "of people", .file = "people"},
    [NOTE] = {.title = "a long title", .width = 6, .text = true, .unsorted = true},
    [EXTRA] = {.title = "extra", .width = 8, .least_width = 100},
};

static struct world world;
static struct table_source source;
static struct table table;
static const struct table_place place = {.x = 2, .y = 3, .width = 50, .height = 4};

static int begin(void **state)
{
    for (size_t i = 0; i < 1000; i++)
        world.order[i] = i;
    source = (struct table_source){.context = &world,
                                   .columns = columns,
                                   .column_count = 4,
                                   .rows = TOWNS,
                                   .cell = cell,
                                   .key = key};
    table = (struct table){.sort = NUMBER, .descending = true};
    return 0;
}

static enum table_answer act(enum action action)
{
    return table_update(&table, &source, &(struct view_input){.action = action}, &place);
}

static enum table_answer search(const char *text)
{
    return table_update(&table, &source,
                        &(struct view_input){.action = ACTION_SEARCH, .text = text}, &place);
}

static enum table_answer mouse(enum action action, int x, int y, bool twice)
{
    return table_update(&table, &source,
                        &(struct view_input){.action = action, .x = x, .y = y, .twice = twice},
                        &place);
}

static void moves_and_scrolls(void **state)
{
    assert_int_equal(act(ACTION_REFRESH), TABLE_USED);
    assert_int_equal(act(ACTION_DOWN), TABLE_USED);
    assert_int_equal(table.selected, 1);
    assert_int_equal(act(ACTION_PAGE_DOWN), TABLE_USED); /* three rows are visible */
    assert_int_equal(table.selected, 4);
    assert_int_equal(table.first, 2);
    act(ACTION_DOWN);
    assert_int_equal(table.selected, 4);
    act(ACTION_HOME);
    assert_int_equal(table.selected, 0);
    assert_int_equal(table.first, 0);
    act(ACTION_UP);
    assert_int_equal(table.selected, 0);
    act(ACTION_END);
    assert_int_equal(table.selected, 4);
    assert_int_equal(act(ACTION_FOLLOW), TABLE_IGNORED);
    assert_int_equal(act(ACTION_BACK), TABLE_IGNORED);
}

static void keeps_the_selected_thing(void **state)
{
    act(ACTION_DOWN);
    act(ACTION_DOWN); /* Cork */
    for (size_t i = 0; i < TOWNS; i++)
        world.order[i] = TOWNS - 1 - i; /* sorted the other way round */
    world.order[0] = 2;
    world.order[2] = 4;
    table_settle(&table, &source, &place);
    assert_int_equal(table.selected, 0);
    assert_int_equal(table.key, 102);
    /* The row is filtered out: the place stays. It comes back: so does the selection. */
    world.order[0] = 700;
    source.rows = 2;
    table_settle(&table, &source, &place);
    assert_int_equal(table.selected, 0);
    assert_int_equal(table.key, 800);
    source.rows = 0;
    table_settle(&table, &source, &place);
    assert_int_equal(act(ACTION_DOWN), TABLE_USED);
    assert_int_equal(act(ACTION_FOLLOW), TABLE_IGNORED);
    source.rows = 5;
    world.order[4] = 700;
    world.order[0] = 3;
    table_settle(&table, &source, &place);
    assert_int_equal(table.selected, 4);
    /* A smaller place scrolls to it, a larger one shows as many rows as there are. */
    const struct table_place small = {.height = 2}, large = {.height = 20};
    table_settle(&table, &source, &small);
    assert_int_equal(table.first, 4);
    table_settle(&table, &source, &large);
    assert_int_equal(table.first, 0);
}

static bool find(void *context, uint64_t wanted, size_t *row)
{
    *row = 3;
    return wanted == 101;
}

static void asks_the_source_for_a_row(void **state)
{
    act(ACTION_DOWN);
    source.find = find;
    world.order[1] = 60;
    table_settle(&table, &source, &place);
    assert_int_equal(table.selected, 3);
}

static void sorts(void **state)
{
    char text[TABLE_MESSAGE_SIZE];
    assert_int_equal(act(ACTION_SORT), TABLE_SORTED); /* over what cannot be sorted or seen */
    assert_int_equal(table.sort, TOWN);
    assert_false(table.descending);
    assert_string_equal(table_message(&table, &source, TABLE_SORTED, text),
                        "sorted by town, A first");
    assert_int_equal(act(ACTION_SORT_LEFT), TABLE_SORTED);
    assert_int_equal(table.sort, NUMBER);
    assert_true(table.descending);
    assert_int_equal(act(ACTION_SORT_REVERSE), TABLE_SORTED);
    assert_false(table.descending);
    assert_string_equal(table_message(&table, &source, TABLE_SORTED, text),
                        "sorted by number, smallest first · of people");
    assert_string_equal(table_message(&table, &source, TABLE_USED, text), "");
}

static void searches(void **state)
{
    char text[TABLE_MESSAGE_SIZE];
    assert_int_equal(act(ACTION_NEXT), TABLE_NO_SEARCH);
    assert_int_equal(search("E"), TABLE_USED); /* Delft, in any case of letters */
    assert_int_equal(table.selected, 0);
    assert_int_equal(act(ACTION_NEXT), TABLE_USED);
    assert_int_equal(table.selected, 1);
    act(ACTION_NEXT);
    assert_int_equal(table.selected, 2); /* by its note */
    act(ACTION_PREVIOUS);
    act(ACTION_PREVIOUS);
    act(ACTION_PREVIOUS);
    assert_int_equal(table.selected, 4); /* round the end */
    assert_int_equal(search("nowhere"), TABLE_NOT_FOUND);
    assert_int_equal(table.selected, 4);
    assert_string_equal(table_message(&table, &source, TABLE_NOT_FOUND, text),
                        "no row has \"nowhere\"");
    assert_int_equal(search("extra"), TABLE_NOT_FOUND); /* not a column of text */
}

static size_t looked_at;
static size_t wanted_row;

static bool matches(void *context, size_t row, const char *text)
{
    looked_at++;
    return row == wanted_row;
}

static uint64_t row_key(void *context, size_t row)
{
    return row;
}

static void a_long_search_goes_on(void **state)
{
    source.rows = (size_t)10 * TABLE_SEARCH_MOST;
    source.key = row_key;
    source.matches = matches;
    wanted_row = 2 * TABLE_SEARCH_MOST + 7;
    looked_at = 0;
    assert_int_equal(search("x"), TABLE_GAVE_UP);
    assert_int_equal(looked_at, TABLE_SEARCH_MOST);
    assert_int_equal(act(ACTION_NEXT), TABLE_GAVE_UP);
    assert_int_equal(act(ACTION_NEXT), TABLE_USED);
    assert_int_equal(table.selected, wanted_row);
    assert_in_range(looked_at, wanted_row, wanted_row + 2);
}

static void obeys_the_mouse(void **state)
{
    assert_int_equal(mouse(ACTION_CLICK, 5, 5, false), TABLE_USED);
    assert_int_equal(table.selected, 1);
    assert_int_equal(mouse(ACTION_CLICK, 5, 5, true), TABLE_FOLLOW);
    assert_int_equal(mouse(ACTION_CLICK, 1, 5, false), TABLE_IGNORED);
    assert_int_equal(mouse(ACTION_CLICK, 5, 7, false), TABLE_IGNORED);
    assert_int_equal(mouse(ACTION_WHEEL_DOWN, 5, 2, false), TABLE_IGNORED);
    assert_int_equal(mouse(ACTION_WHEEL_DOWN, 5, 6, false), TABLE_USED);
    assert_int_equal(table.selected, 4);
    assert_int_equal(mouse(ACTION_CLICK, 5, 3, false), TABLE_SORTED);
    assert_int_equal(table.sort, TOWN);
    source.rows = 1;
    assert_int_equal(mouse(ACTION_CLICK, 5, 6, false), TABLE_USED);
    assert_int_equal(table.selected, 0);
}

/* ---- screens ---------------------------------------------------------------------------- */

/* Renders in a grid of this width. Returns its text, which the caller frees. */
static char *rendered(int width, int height)
{
    struct grid *grid = grid_new(width, height, 256, false);
    const struct area area = area_whole(grid);
    table_render(&table, &source, &area);
    char *text = grid_text(grid);
    grid_free(grid);
    return text;
}

static void assert_renders(int width, int height, const char *expected)
{
    char *text = rendered(width, height);
    assert_string_equal(text, expected);
    free(text);
}

static void columns_never_run_together(void **state)
{
    assert_renders(50, 3,
                   " town                        number▼ a long title\n"
                   " Delft                         4.0K  note\n"
                   " Athens                       30.0K  note\n");
    assert_renders(34, 2,
                   " town                      number▼\n"
                   " Delft                       4.0K\n");
    assert_renders(12, 2, " …   number▼\n …     4.0K\n");
    /* All columns that are shown have a gap between them, at every width. */
    for (int width = 1; width < 200; width++) {
        char *text = rendered(width, 2);
        assert_null(strstr(text, "numbera"));
        assert_null(strstr(text, "titleextra"));
        assert_null(strstr(text, "townnumber"));
        assert_int_equal(strstr(text, "extra") != NULL, width >= 100);
        free(text);
    }
}

static void cell_beside_empty_ones(void *context, size_t row, size_t column, struct table_cell *out)
{
    static char last[40]; /* a name is valid until the next call */
    memset(last, '#', sizeof(last) - 1);
    out->name = last;
    if (column == 0)
        snprintf(last, sizeof(last), "runs into the gap and behind");
    else
        snprintf(last, sizeof(last), "%s", row == 1 && column == 1 ? "taken" : "");
}

static void a_long_text_runs_into_empty_columns(void **state)
{
    static const struct table_column texts[] = {
        {.title = "a", .width = 12, .text = true},
        {.title = "b", .width = 6, .text = true},
        {.title = "c", .text = true},
    };
    source.columns = texts;
    source.column_count = 3;
    source.rows = 2;
    source.cell = cell_beside_empty_ones;
    table.sort = 0;
    assert_renders(50, 3,
                   " a▼            b       c\n"
                   " runs into the gap and behind\n"
                   " runs into t…  taken\n");
}

static const char *const branches[] = {
    "main \u21ba",
    "  \u25be shop::parse_list \u21c4 shop::parse_expr",
    "12   \u25b8 shop::Registry<shop::Order>::add \u21ba",
    "    \u2192 map<string, string>::operator[]",
    "    \u25be shop::parse_list \u21c4 3 more",
};

static void branch_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    snprintf(cell->text, sizeof(cell->text), "%s", branches[row]);
}

/* The text before and after a name stays, and the end of the name. */
static void rows_of_a_tree_keep_their_functions(void **state)
{
    static const struct table_column names[] = {
        {.title = "function", .text = true, .keep = true, .cut = TABLE_CUT_BRANCH}};
    source.columns = names;
    source.column_count = 1;
    source.cell = branch_cell;
    source.rows = sizeof(branches) / sizeof(branches[0]);
    table.sort = 1;
    assert_renders(28, 6,
                   " function\n"
                   " main ↺\n"
                   "   ▾ parse…ist ⇄ parse_expr\n"
                   " 12   ▸ Registry::add ↺\n"
                   "     → map::operator[]\n"
                   "     ▾ …parse_list ⇄ 3 more\n");
    assert_renders(36, 6,
                   " function\n"
                   " main ↺\n"
                   "   ▾ …parse_list ⇄ …parse_expr\n"
                   " 12   ▸ Registry<shop::Ord…>::add ↺\n"
                   "     → map<string, st…>::operator[]\n"
                   "     ▾ shop::parse_list ⇄ 3 more\n");
}

static void shows_shares_and_the_selected_row(void **state)
{
    struct grid *grid = grid_new(50, 4, 256, false), *plain = grid_new(50, 4, 0, true);
    struct area area = area_whole(grid), mono = area_whole(plain);
    table_render(&table, &source, &area);
    table_render(&table, &source, &mono);
    int wide = 0, lines = 0;
    for (int x = 0; x < 50; x++) {
        assert_true(grid_cell(grid, x, 1)->style.attributes & CELL_REVERSE);
        assert_false(grid_cell(grid, x, 2)->style.attributes & CELL_REVERSE);
        wide += grid_cell(grid, x, 2)->style.background != CELL_DEFAULT;
        lines += (grid_cell(plain, x, 2)->style.attributes & CELL_UNDERLINE) != 0;
    }
    assert_int_equal(wide, 7); /* 30 of 30 */
    assert_int_equal(lines, 7);
    grid_free(grid);
    grid_free(plain);
}

static void about_stands_before_numbers(void **state)
{
    source.about = "~";
    source.rows = 0;
    assert_renders(50, 2, " town                       ~number▼ a long title\n\n");
}

static char *written(enum table_format format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    table_write(&source, out, format);
    fclose(out);
    return text;
}

static void hostile_cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    out->name = "a\033[2J\"b\"\xc2\x9b\xe2\x80\xae\n\xff";
}

/* Files may be shown in a terminal: no byte of a name steers it. */
static void writes_no_control_characters(void **state)
{
    source.rows = source.column_count = 1;
    source.cell = hostile_cell;
    char *csv = written(TABLE_CSV), *json = written(TABLE_JSON);
    assert_string_equal(csv, "town\r\n\"a\uFFFD[2J\"\"b\"\"\uFFFD\uFFFD\uFFFD?\"\r\n");
    assert_string_equal(json,
                        "[\n {\"town\": \"a\\u001b[2J\\\"b\\\"\\u009b\\u202e\\u000a?\"}\n]\n");
    free(csv);
    free(json);
    char *clean = text_clean_lines("a\tb\n\033[2J\xc2\x9b \xe2\x80\xae\xff \\x \u00e9");
    assert_string_equal(clean, "a\tb\n\\x1b[2J\\xc2\\x9b \\xe2\\x80\\xae\\xff \\x \u00e9");
    free(clean);
    assert_int_equal(text_width("a\xe2\x80\xae"
                                "b\xc2\x9b"),
                     2);
}

static void writes_all_rows(void **state)
{
    world.order[1] = 4;
    source.rows = 2;
    char *csv = written(TABLE_CSV), *json = written(TABLE_JSON);
    assert_string_equal(csv, "town,people,a long title,extra\r\n"
                             "Delft,4096,note,extra\r\n"
                             "\"Ephesus, \"\"old\"\"\",1024,note,extra\r\n");
    assert_string_equal(
        json, "[\n {\"town\": \"Delft\", \"people\": 4096, \"a long title\": \"note\", "
              "\"extra\": \"extra\"},\n"
              " {\"town\": \"Ephesus, \\\"old\\\"\", \"people\": 1024, \"a long title\": \"note\", "
              "\"extra\": \"extra\"}\n]\n");
    free(csv);
    free(json);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    table_copy(&source, 1, out);
    fclose(out);
    assert_string_equal(text, "town          Ephesus, \"old\"\n"
                              "number        1.0K\n"
                              "a long title  note\n"
                              "extra         extra\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(moves_and_scrolls, begin),
        cmocka_unit_test_setup(keeps_the_selected_thing, begin),
        cmocka_unit_test_setup(asks_the_source_for_a_row, begin),
        cmocka_unit_test_setup(sorts, begin),
        cmocka_unit_test_setup(searches, begin),
        cmocka_unit_test_setup(a_long_search_goes_on, begin),
        cmocka_unit_test_setup(obeys_the_mouse, begin),
        cmocka_unit_test_setup(columns_never_run_together, begin),
        cmocka_unit_test_setup(a_long_text_runs_into_empty_columns, begin),
        cmocka_unit_test_setup(rows_of_a_tree_keep_their_functions, begin),
        cmocka_unit_test_setup(shows_shares_and_the_selected_row, begin),
        cmocka_unit_test_setup(about_stands_before_numbers, begin),
        cmocka_unit_test_setup(writes_all_rows, begin),
        cmocka_unit_test_setup(writes_no_control_characters, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
