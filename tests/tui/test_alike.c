/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that look alike in a table: functions with one short name, and of one name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "grid_text.h"
#include "tui/screen/alike.h"
#include "tui/screen/table.h"

static const struct table table = {.sort = 1}; /* by no column that is shown */
static struct table_source source;

/* Renders in a grid of this size, and compares its text. */
static void assert_renders(int width, int height, const char *expected)
{
    struct grid *grid = grid_new(width, height, 256, false);
    const struct area area = area_whole(grid);
    table_render(&table, &source, &area);
    char *text = grid_text(grid);
    grid_free(grid);
    assert_string_equal(text, expected);
    free(text);
}

static const char *const calls[] = {
    "main",
    "void std::__cxx11::basic_string<char>::_M_construct<char*>(char*, char*)",
    "void std::__cxx11::basic_string<char>::_M_construct<char const*>(char const*, char const*)",
    "std::_Sp_counted_ptr_inplace<app::FirstWidget, std::allocator<void> >::_M_dispose()",
    "std::_Sp_counted_ptr_inplace<app::OtherWidget, std::allocator<void> >::_M_dispose()",
    "parse_one_record_of_many(int)",
    "parse_one_record_of_many(int)",
};

static void call_cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    out->name = calls[row];
}

/* Functions of one name: in two files, in two modules, and one without a file. */
static void place_cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    static const struct alike_name functions[] = {
        {"make(int)", "first.cpp:4", "shop", ""},
        {"make(int)", "second.cpp:4", "shop", ""},
        {"app::List<int>::push(int)", "list.h:30", "liba.so", ""},
        {"app::List<int>::push(int)", "list.h:30", "libb.so", ""},
        {"close()", "file.c:9", "shop", ""},
        {"close()", "", "libz.so.1", ""},
        {"main", "main.c:3", "shop", ""},
        {"main", "main.c:3", "shop", ""},
    };
    out->name = functions[row].name;
    out->apart = functions[row];
}

static void functions_of_one_name_differ(void **state)
{
    static const struct table_column names[] = {
        {.title = "function", .text = true, .keep = true, .cut = TABLE_CUT_NAME}};
    source =
        (struct table_source){.columns = names, .column_count = 1, .rows = 8, .cell = place_cell};
    assert_renders(32, 9,
                   " function\n"
                   " make (first.cpp:4)\n"
                   " make (second.cpp:4)\n"
                   " app::List<int>::push (liba.so)\n"
                   " app::List<int>::push (libb.so)\n"
                   " close (file.c:9)\n"
                   " close (libz.so.1)\n"
                   " main\n"
                   " main\n");
    assert_renders(24, 9,
                   " function\n"
                   " make (first.cpp:4)\n"
                   " make (second.cpp:4)\n"
                   " List::push (liba.so)\n"
                   " List::push (libb.so)\n"
                   " close (file.c:9)\n"
                   " close (libz.so.1)\n"
                   " main\n"
                   " main\n");
    assert_renders(14, 9,
                   " function\n"
                   " …first.cpp:…\n"
                   " …second.cpp…\n"
                   " …liba.so)\n"
                   " …libb.so)\n"
                   " …file.c:9)\n"
                   " …libz.so.1)\n"
                   " main\n"
                   " main\n");
}

static void names_that_look_alike_differ(void **state)
{
    static const struct table_column names[] = {
        {.title = "function", .text = true, .keep = true, .cut = TABLE_CUT_NAME}};
    source = (struct table_source){.columns = names,
                                   .column_count = 1,
                                   .rows = sizeof(calls) / sizeof(calls[0]),
                                   .cell = call_cell};
    assert_renders(28, 8,
                   " function\n"
                   " main\n"
                   " …construct<char*>(char*, …\n"
                   " …construct<char const*>(c…\n"
                   " …FirstWidget>::_M_dispose\n"
                   " …OtherWidget>::_M_dispose\n"
                   " parse_one_record_of_many\n"
                   " parse_one_record_of_many\n");
    assert_renders(62, 8,
                   " function\n"
                   " main\n"
                   " string::_M_construct<char*>(char*, char*)\n"
                   " string::_M_construct<char const*>(char const*, char const*)\n"
                   " _Sp_counted_ptr_inplace<app::FirstWidget>::_M_dispose\n"
                   " _Sp_counted_ptr_inplace<app::OtherWidget>::_M_dispose\n"
                   " parse_one_record_of_many\n"
                   " parse_one_record_of_many\n");
}

/* Rows of a tree: siblings and others of one name, one that calls itself, one function twice, and
 * what is not a function. */
static void branch_cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    static const struct {
        const char *text;
        struct alike_name name;
    } rows[] = {
        {"\u25be main", {"main", "main.c:3", "shop", "function 1"}},
        {"  \u25be make", {"make(int)", "first.cpp:4", "shop", "function 2"}},
        {"      push", {"push(int)", "list.h:3", "liba.so", "function 3"}},
        {"    \u25b8 make", {"make(int)", "second.cpp:4", "shop", "function 4"}},
        {"    \u2192 push", {"push(int)", "list.h:3", "libb.so", "function 5"}},
        {"  \u25b8 walk \u21ba", {"app::walk(Node*)", "", "shop", "function 6"}},
        {"  \u25b8 walk \u21ba", {"app::walk(Node*)", "", "shop", "function 7"}},
        {"  \u25b8 main", {"main", "main.c:3", "shop", "function 1"}},
        {"  \u25b8 (no own code)", {NULL, NULL, NULL, ""}},
        {"  \u25b8 (no own code)", {NULL, NULL, NULL, ""}},
    };
    snprintf(out->text, sizeof(out->text), "%s", rows[row].text);
    out->apart = rows[row].name;
}

static void rows_of_a_tree_differ(void **state)
{
    static const struct table_column names[] = {
        {.title = "function", .text = true, .keep = true, .cut = TABLE_CUT_BRANCH}};
    source =
        (struct table_source){.columns = names, .column_count = 1, .rows = 10, .cell = branch_cell};
    assert_renders(32, 11,
                   " function\n"
                   " ▾ main\n"
                   "   ▾ make (first.cpp:4)\n"
                   "       push (liba.so)\n"
                   "     ▸ make (second.cpp:4)\n"
                   "     → push (libb.so)\n"
                   "   ▸ app::walk (function 6) ↺\n"
                   "   ▸ app::walk (function 7) ↺\n"
                   "   ▸ main\n"
                   "   ▸ (no own code)\n"
                   "   ▸ (no own code)\n");
    assert_renders(22, 11,
                   " function\n"
                   " ▾ main\n"
                   "   ▾ …first.cpp:4)\n"
                   "       push (liba.so)\n"
                   "     ▸ …second.cpp:4)\n"
                   "     → push (libb.so)\n"
                   "   ▸ …function 6) ↺\n"
                   "   ▸ …function 7) ↺\n"
                   "   ▸ main\n"
                   "   ▸ (no own code)\n"
                   "   ▸ (no own code)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_look_alike_differ),
        cmocka_unit_test(functions_of_one_name_differ),
        cmocka_unit_test(rows_of_a_tree_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
