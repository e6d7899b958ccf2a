/* SPDX-License-Identifier: BSD-2-Clause */
/* Prompts: completion by Tab in each of them, their histories, the commands, and files written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "grid_text.h"
#include "fixture.h"
#include "typing.h"
#include "tui/browser/user_files.h"

#define PATH "prompts.db"

static void a_single_word_is_put_in(void **state)
{
    press('f');
    type("all | whe");
    press(KEYCODE_TAB);
    assert_string_equal(typed(), "all | where");
    assert_int_equal(browser->completion.count, 0);
    type(" conf");
    press(KEYCODE_TAB);
    type(" == inf");
    press(KEYCODE_TAB);
    assert_string_equal(typed(), "all | where confidence == inferred");
    assert_string_equal(browser->filter_error.message, "");
}

static void tab_goes_through_several_words(void **state)
{
    press('f');
    type("all | where function == \"render_m");
    press(KEYCODE_TAB);
    assert_true(browser->completion.count > 1 || strstr(typed(), "render_message\""));
    leave(NULL);
    press('f');
    type("all | where stack has \"ren");
    press(KEYCODE_TAB);
    assert_string_equal(typed(), "all | where stack has \"render_"); /* in common */
    const size_t count = browser->completion.count;
    assert_true(count > 2);
    char first[200];
    press(KEYCODE_TAB);
    snprintf(first, sizeof(first), "%s", typed());
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(first[strlen(first) - 1], '"');
        press(KEYCODE_TAB);
    }
    assert_string_equal(typed(), first); /* round the end */
    press(KEYCODE_ENTER);
    assert_string_equal(browser->browse.filter, first);
    assert_int_equal(browser->completion.count, 0);
}

static void words_are_found_by_a_part(void **state)
{
    press('f');
    type("all | where function == nder_mess");
    press(KEYCODE_TAB);
    assert_string_equal(typed(), "all | where function == \"render_message\"");
    press(KEYCODE_HOME);
    press(KEYCODE_TAB); /* before everything: sets */
    assert_true(browser->completion.count > 3);
    press(KEYCODE_TAB);
    assert_null(strstr(typed(), "\xee"));
}

static void commands_and_their_arguments(void **state)
{
    press(':');
    type("col");
    press(KEYCODE_TAB);
    type(" thr");
    press(KEYCODE_TAB);
    assert_string_equal(typed(), "color thread");
    press(KEYCODE_ENTER);
    assert_int_equal(browser->browse.color_by, SESSION_COLOR_THREAD);
    press(':');
    type("color nothing");
    press(KEYCODE_ENTER);
    for (int by = SESSION_COLOR_FUNCTION; by <= SESSION_COLOR_KIND; by++)
        assert_non_null(strstr(browser->browse.message, color_by_name((enum session_color_by)by)));
    press(':');
    type("view func");
    press(KEYCODE_TAB);
    press(KEYCODE_ENTER);
    assert_int_equal(browser->current, VIEW_FUNCTIONS);
    press(':');
    type("grid"); /* a view by its other name */
    press(KEYCODE_ENTER);
    assert_int_equal(browser->current, VIEW_MEMORY);
    press(':');
    type("nothing of that name");
    press(KEYCODE_ENTER);
    assert_string_equal(browser->browse.message, "no command \"nothing\"; ? lists them");
    press(':');
    type("filter live at p");
    press(KEYCODE_TAB);
    assert_string_equal(typed(), "filter live at peak");
    press(KEYCODE_UP);
    assert_string_equal(typed(), "nothing of that name");
    press(KEYCODE_ESCAPE);
}

/* Types a statement and Tab; the prompt has `wanted` then. */
static void completes_sql(const char *text, const char *wanted)
{
    type(text);
    press(KEYCODE_TAB);
    assert_string_equal(typed(), wanted);
    press(KEYCODE_ESCAPE);
    press('g');
}

static bool offers(const char *word)
{
    for (size_t i = 0; i < browser->completion.count; i++)
        if (strcmp(browser->completion.words[i], word) == 0)
            return true;
    return false;
}

static void statements(void **state)
{
    press(':');
    type("sql");
    press(KEYCODE_ENTER);
    press(KEYCODE_ENTER); /* there are no rows to follow: a statement is typed */
    assert_int_equal(browser->mode, MODE_GOTO);
    completes_sql("select * from function_t", "select * from function_total");
    completes_sql("SELECT 1 FROM function_total WHERE short_",
                  "SELECT 1 FROM function_total WHERE short_lived");
    completes_sql("SELECT 1 FROM function f, function_total AS t WHERE t.short",
                  "SELECT 1 FROM function f, function_total AS t WHERE t.short_lived");
    completes_sql("SELECT 1 FROM graph('all') JOIN function_total t ON t.func",
                  "SELECT 1 FROM graph('all') JOIN function_total t ON t.function_id");
    completes_sql("SELECT 1 FROM function f, function_total t WHERE f.short",
                  "SELECT 1 FROM function f, function_total t WHERE f.short");
    completes_sql("sele", "select");
    completes_sql("SELE", "SELECT");
    completes_sql("SELECT * FROM v_allocation WHERE function = 'render_mes",
                  "SELECT * FROM v_allocation WHERE function = 'render_message");
    completes_sql("SELECT * FROM graph('all | whe", "SELECT * FROM graph('all | where");
    /* A ' in a name is doubled. */
    completes_sql("SELECT 1 FROM function WHERE name = 'it",
                  "SELECT 1 FROM function WHERE name = 'it''s_odd");
    completes_sql("SELECT '', 'a' WHERE 'it''s", "SELECT '', 'a' WHERE 'it''s_odd");
    completes_sql("SELECT * FROM graph('all | where function == it",
                  "SELECT * FROM graph('all | where function == \"it''s_odd\"");
    /* A column before the list of tables is typed. */
    type("SELECT  FROM type_total");
    for (int i = 0; i < 16; i++)
        press(KEYCODE_LEFT);
    press(KEYCODE_TAB);
    assert_true(offers("at_peak_bytes") && offers("type_total"));
    assert_false(offers("short_lived") || offers("WHERE"));
    leave(NULL);
}

static void graphs_and_functions(void **state)
{
    press(':');
    type("graph ");
    press(KEYCODE_TAB);
    assert_true(browser->completion.count > 2); /* those that ship */
    press(KEYCODE_ESCAPE);
    press('5');
    press('/');
    type("render_mes");
    press(KEYCODE_TAB);
    assert_string_equal(typed(), "render_message");
    press(KEYCODE_ENTER);
    assert_int_equal(browser->mode, MODE_VIEW);
}

static void names_of_every_prompt_have_a_row(void **state)
{
    struct grid *grid = grid_new(80, 24, 256, false);
    press('f');
    type("all | where function == \"");
    press(KEYCODE_TAB);
    for (int i = 0; i < 300; i++) {
        browser_render(browser, grid);
        press(KEYCODE_TAB);
    }
    grid_free(grid);
}

static char *screen_text(void)
{
    struct grid *grid = grid_new(80, 24, 256, false);
    browser_render(browser, grid);
    char *text = grid_text(grid);
    grid_free(grid);
    return text;
}

static void the_help_is_searched(void **state)
{
    press('?');
    char *text = screen_text();
    assert_null(strstr(text, "replace the file"));
    free(text);
    press('/');
    type("replace the");
    press(KEYCODE_ENTER);
    text = screen_text();
    assert_non_null(strstr(text, "replace the file"));
    free(text);
    const int found = browser->help_scroll;
    press(KEYCODE_HOME);
    press('n');
    assert_int_equal(browser->help_scroll, found);
    press('/');
    press(KEYCODE_ESCAPE);
    assert_int_equal(browser->mode, MODE_HELP);
    press('/');
    type("zzz");
    press(KEYCODE_ENTER);
    assert_string_equal(browser->browse.message, "the help has no \"zzz\"");
    press('q');
    assert_int_equal(browser->mode, MODE_VIEW);
    assert_false(browser_finished(browser));
}

static void a_hint_fades(void **state)
{
    browser->hint = FRAME_HINT_KEYS;
    for (int i = 0; i < FRAME_HINT_KEYS; i++) {
        char *text = screen_text();
        assert_non_null(strstr(text, "Ask: "));
        free(text);
        press(KEYCODE_DOWN);
    }
    char *text = screen_text();
    assert_null(strstr(text, "Ask: "));
    free(text);
}

static void the_first_run_comes_once(void **state)
{
    char folder[] = "state-XXXXXX", path[600], here[400];
    assert_non_null(mkdtemp(folder));
    assert_non_null(getcwd(here, sizeof(here)));
    snprintf(path, sizeof(path), "%s/%s/deep", here, folder);
    setenv("XDG_STATE_HOME", path, 1);
    assert_true(first_run());
    assert_false(first_run());
    strcat(path, "/mprof/browsed");
    assert_int_equal(unlink(path), 0);
    for (char *slash; (slash = strrchr(path, '/')) && strstr(path, folder);) {
        *slash = 0;
        if (strlen(path) > strlen(here))
            rmdir(path);
    }
    setenv("XDG_STATE_HOME", "/proc/nothing", 1);
    assert_false(first_run());
    unsetenv("XDG_STATE_HOME");
}

/* ---- :w --------------------------------------------------------------------------------- */

static void command(const char *line)
{
    press(':');
    type(line);
    press(KEYCODE_ENTER);
}

/* Returns the file's text, which the caller frees; NULL: there is no such file. */
static char *file_text(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (file && getdelim(&text, &size, 0, file) < 0) {
        free(text);
        text = strdup("");
    }
    if (file)
        fclose(file);
    return text;
}

static void assert_says(const char *text)
{
    if (!strstr(browser->browse.message, text))
        fail_msg("\"%s\" is not in \"%s\"", text, browser->browse.message);
}

static void the_screen_is_written(void **state)
{
    unlink("screen.txt");
    press('5');
    command("w screen.txt");
    assert_says("screen.txt written");
    char *text = file_text("screen.txt");
    assert_non_null(strstr(text, "Functions"));
    assert_non_null(strstr(text, "render_message"));
    free(text);
    command("w screen.txt");
    assert_says("is there already; :w! replaces it");
    press('2');
    command("w! screen.txt");
    assert_says("written");
    text = file_text("screen.txt");
    assert_non_null(strstr(text, "Timeline"));
    assert_null(strstr(text, "render_messages"));
    free(text);
    unlink("screen.svg");
    command("w screen.svg");
    text = file_text("screen.svg");
    assert_non_null(strstr(text, "<svg "));
    assert_non_null(strstr(text, "</svg>\n"));
    free(text);
    unlink("screen.txt");
    unlink("screen.svg");
}

static void only_regular_files_are_replaced(void **state)
{
    unlink("link.txt");
    assert_int_equal(symlink("target.txt", "link.txt"), 0);
    command("w! link.txt");
    assert_says("not a regular file");
    assert_null(file_text("target.txt"));
    unlink("link.txt");
    command("w! /dev/null.txt/x.txt");
    assert_true(browser->browse.message_is_error);
    command("w nowhere/x.txt");
    assert_says("No such file");
    command("w x.pdf");
    assert_says("end the name in .csv, .json, .txt, .svg or .db");
    command("w");
    assert_says("name a file");
}

/* Without mprof-ingest, which makes the sums, nothing stays. command_line.sh has it. */
static void sessions_need_ingest(void **state)
{
    char *path = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    command("w part.db");
    assert_says("mprof-ingest, which makes the sums, cannot be run");
    assert_true(browser->browse.message_is_error);
    assert_int_equal(access("part.db", F_OK), -1);
    command("w " PATH);
    assert_says("is there already");
    command("w! " PATH);
    assert_says("write never replaces one");
    /* One that nobody waits for is given up by Esc, and a process stays what it is until then. */
    browser->wait_ms = 0;
    mkdir("slow", 0777);
    FILE *slow = fopen("slow/mprof-ingest", "w");
    assert_non_null(slow);
    fputs("#!/bin/sh\nexec /bin/sleep 600\n", slow);
    assert_int_equal(fchmod(fileno(slow), 0777), 0);
    assert_int_equal(fclose(slow), 0);
    assert_int_equal(setenv("PATH", "slow", 1), 0);
    command("w part.db");
    assert_says("writing part.db: ");
    command("w other.db");
    assert_says("another session is being written");
    struct session_error error = {.column = 0};
    assert_false(browser_select_process(browser, "all", &error));
    assert_non_null(strstr(error.message, "a session is being written"));
    press(KEYCODE_ESCAPE);
    assert_says("part.db is not written");
    browser->wait_ms = -1;
    assert_int_equal(access("part.db", F_OK), -1);
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
}

static void rows_are_written(void **state)
{
    if (!browser_view(VIEW_ALLOCATIONS) || !browser_view(VIEW_ALLOCATIONS)->table)
        skip();
    unlink("rows.csv");
    command("filter all | where id <= 3");
    press('8');
    command("w rows.csv");
    assert_says("rows.csv written");
    char *text = file_text("rows.csv");
    int lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 4); /* titles and three rows */
    free(text);
    unlink("rows.csv");
    /* The columns are called the same, whichever functions are shown. */
    press('5');
    type("S");
    command("w rows.csv");
    text = file_text("rows.csv");
    assert_non_null(strstr(text, ",function,"));
    free(text);
    type("S");
    unlink("rows.csv");
}

static int open_browser(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    struct session *session;
    if (!fixture_write(PATH, &options) ||
        !fixture_sql(PATH, "INSERT INTO function(name, module_id) VALUES ('it''s_odd', 0)") ||
        !(session = session_open(PATH, &error)))
        return 1;
    browser = browser_new(
        session, &(struct browser_options){.width = 80, .height = 24, .wait_ms = -1}, &error);
    return browser ? 0 : 1;
}

static int close_browser(void **state)
{
    browser_free(browser);
    return unlink(PATH);
}

/* Every view gives its rows in both formats, and the screen in both. */
static void every_view_writes_every_format(void **state)
{
    static const struct {
        const char *name, *begins, *ends;
    } formats[] = {{"all.csv", "", "\r\n"},
                   {"all.json", "[\n {\"", "}\n]\n"},
                   {"all.txt", " fixture-server", "\n"},
                   {"all.svg", "<?xml", "</svg>\n"}};
    for (int view = 0; view < VIEWS; view++) {
        leave(NULL);
        if (view == VIEW_ALLOCATIONS) /* a long list is not written from here */
            command("filter all | where id <= 50");
        press('8');
        press(KEYCODE_ENTER); /* an allocation, for its own view */
        command(browser_view((enum view_number)view)->name);
        assert_int_equal(browser->current, view);
        if (view == VIEW_SQL) {
            press('g');
            type("SELECT id, size FROM allocation LIMIT 3\n");
        }
        for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
            char line[40];
            snprintf(line, sizeof(line), "w! %s", formats[i].name);
            command(line);
            if (!strstr(browser->browse.message, " written, "))
                fail_msg("%s, %s: %s", browser_view((enum view_number)view)->name, formats[i].name,
                         browser->browse.message);
            char *text = file_text(formats[i].name);
            assert_non_null(text);
            const size_t length = strlen(text), end = strlen(formats[i].ends);
            /* The session has no arenas, no resident set and no references. */
            const bool empty = (view == VIEW_ARENAS || view == VIEW_RSS || view == VIEW_RETAINED) &&
                               strcmp(text, "[\n]\n") == 0;
            if (!empty && strncmp(text, formats[i].begins, strlen(formats[i].begins)) != 0)
                fail_msg("%s, %s: %.60s", browser_view((enum view_number)view)->name,
                         formats[i].name, text);
            assert_true(empty || length > end);
            if (!empty)
                assert_string_equal(text + length - end, formats[i].ends);
            free(text);
            unlink(formats[i].name);
        }
    }
}

/* The session is damaged while it is open, before anything has read all of its rows. */
static void rows_that_cannot_be_read_are_named(void **state)
{
    static const char path[] = "damaged.db";
    const struct fixture_options options = {
        .seed = 3, .allocations = 500, .stacks = 20, .functions = 15, .threads = 1};
    struct browser *whole = browser;
    struct session_error error = {.message = ""};
    assert_true(fixture_write(path, &options));
    struct session *session = session_open(path, &error);
    assert_non_null(session);
    browser = browser_new(
        session, &(struct browser_options){.width = 80, .height = 24, .wait_ms = -1}, &error);
    assert_non_null(browser);
    assert_true(fixture_sql(path, "UPDATE column_chunk SET data = x''"));
    press('8');
    for (int i = 0; i < 2; i++) {
        command("w! rows.csv");
        assert_says("damaged");
    }
    assert_int_equal(access("rows.csv", F_OK), -1);
    browser_free(browser);
    browser = whole;
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_single_word_is_put_in, leave),
        cmocka_unit_test_setup(tab_goes_through_several_words, leave),
        cmocka_unit_test_setup(words_are_found_by_a_part, leave),
        cmocka_unit_test_setup(commands_and_their_arguments, leave),
        cmocka_unit_test_setup(statements, leave),
        cmocka_unit_test_setup(graphs_and_functions, leave),
        cmocka_unit_test_setup(names_of_every_prompt_have_a_row, leave),
        cmocka_unit_test_setup(the_help_is_searched, leave),
        cmocka_unit_test_setup(a_hint_fades, leave),
        cmocka_unit_test_setup(the_first_run_comes_once, leave),
        cmocka_unit_test_setup(the_screen_is_written, leave),
        cmocka_unit_test_setup(only_regular_files_are_replaced, leave),
        cmocka_unit_test_setup(rows_are_written, leave),
        cmocka_unit_test_setup(sessions_need_ingest, leave),
        cmocka_unit_test_setup(every_view_writes_every_format, leave),
        cmocka_unit_test_setup(rows_that_cannot_be_read_are_named, leave),
    };
    return cmocka_run_group_tests(tests, open_browser, close_browser);
}
