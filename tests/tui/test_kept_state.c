/* SPDX-License-Identifier: BSD-2-Clause */
/* The state that the browser keeps of a session comes back in the next run, and damage to it does
 * no harm. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"
#include "session/graphs.h"
#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"
#include "tui/browser/user_files.h"

#define SESSION "kept.db"
#define COPY "kept_copy.db"

static char folder[200];
static char note[KEPT_STATE_NOTE];
static struct browser *browser;

static void press(uint32_t key)
{
    browser_event(browser, &(struct event){.kind = EVENT_KEY, .key = key});
}

static void type(const char *text)
{
    for (; *text; text++)
        press((uint32_t)*text);
}

/* Opens a session as the program does. */
static void open_session(const char *path, const char *filter, const char *view)
{
    struct session_error error = {.message = ""};
    struct session *session = session_open(path, &error);
    struct kept_state state;
    assert_non_null(session);
    kept_state_read(session, &state, note);
    const struct browser_options options = {.width = 80,
                                            .height = 24,
                                            .wait_ms = -1,
                                            .filter = filter,
                                            .view = view,
                                            .state = state.found ? &state : NULL};
    browser = browser_new(session, &options, &error);
    assert_non_null(browser);
    kept_state_clear(&state);
}

static void close_session(void)
{
    assert_true(kept_state_write(browser, note));
    browser_free(browser);
    browser = NULL;
}

/* Returns what must come back, malloc()ed: the filter line, the heads of the columns with the mark
 * of the order, and the selected rows. A list may be scrolled in another way. */
static char *essence(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct grid *grid = grid_new(80, 24, 256, false);
    browser_render(browser, grid);
    for (int y = 1; y < 23; y++) {
        bool selected = false;
        for (int x = 0; x < 80; x++)
            selected = selected || (grid_cell(grid, x, y)->style.attributes & CELL_REVERSE) != 0;
        for (int x = 0; x < 80 && (y < 5 || selected); x++) {
            char glyph[5];
            text_encode(grid_cell(grid, x, y)->glyph, glyph);
            const struct cell_style style = grid_cell(grid, x, y)->style;
            if (y == 1 || style.attributes & (CELL_BOLD | CELL_REVERSE))
                fputs(glyph, out);
        }
    }
    grid_free(grid);
    fclose(out);
    return text;
}

/* Returns the only file of the state, and its name. */
static char *state_text(char *name)
{
    struct session_error error = {.message = ""};
    struct session *session = session_open(SESSION, &error);
    const int place = user_folder_open("state", false, &error);
    assert_true(place >= 0 && session);
    session_close(session);
    char command[300];
    snprintf(command, sizeof(command), "ls %s/mprof/state", folder);
    FILE *list = popen(command, "r");
    assert_non_null(fgets(name, 100, list));
    name[strcspn(name, "\n")] = 0;
    char more[100];
    assert_null(fgets(more, sizeof(more), list));
    pclose(list);
    char *text = user_file_read(place, name, 1 << 20, &error);
    close(place);
    assert_non_null(text);
    return text;
}

static void put_state(const char *name, const char *text)
{
    struct session_error error = {.message = ""};
    const int place = user_folder_open("state", true, &error);
    assert_int_equal(user_file_write(place, name, text, true, &error), USER_FILE_DONE);
    close(place);
}

static void everything_comes_back(void **state)
{
    static const char keys[] = "34567689";
    open_session(SESSION, NULL, NULL);
    assert_int_equal(browser->current, VIEW_OVERVIEW);
    for (size_t i = 0; keys[i]; i++) {
        press((uint32_t)keys[i]);
        type("ss");
        press(KEYCODE_DOWN);
        press(KEYCODE_DOWN);
    }
    type("2");
    press(KEYCODE_LEFT);
    press(KEYCODE_LEFT);
    type(":color type\n");
    const uint64_t moment = browser->browse.moment_ns;
    type("fall | where size > 100\n");
    char *shots[VIEWS] = {NULL};
    static const char views[] = "5678942"; /* the last one of the run: 2 */
    for (size_t i = 0; views[i]; i++) {
        press((uint32_t)views[i]);
        shots[views[i] - '1'] = essence();
    }
    close_session();
    open_session(SESSION, NULL, NULL);
    assert_string_equal(note, "");
    assert_int_equal(browser->current, VIEW_TIMELINE);
    assert_string_equal(browser->browse.filter, "all | where size > 100");
    assert_int_equal(browser->browse.color_by, SESSION_COLOR_TYPE);
    assert_true(browser->browse.moment_ns == moment);
    static const char order[] = "2569"; /* lists of which each row has an identity of its own */
    for (size_t i = 0; order[i]; i++) {
        press((uint32_t)order[i]);
        char *now = essence();
        assert_string_equal(now, shots[order[i] - '1']);
        free(now);
    }
    for (int i = 0; i < VIEWS; i++)
        free(shots[i]);
    /* Esc takes the filter back. */
    press('2');
    press(KEYCODE_ESCAPE);
    assert_string_equal(browser->browse.filter, "");
    close_session();
}

/* Returns the last line of the screen: what the browser says. */
static void footer(char *out, size_t size)
{
    struct grid *grid = grid_new(80, 24, 256, false);
    FILE *text = fmemopen(out, size, "w");
    browser_render(browser, grid);
    for (int x = 0; x < 80; x++)
        fputc((int)(grid_cell(grid, x, 23)->glyph & 0x7f), text);
    fclose(text);
    grid_free(grid);
}

/* Opens the session again and tells whether the timeline is stacked by a text. */
static bool comes_stacked_by(const char *text)
{
    const struct view_ops *timeline = browser_view(VIEW_TIMELINE);
    char said[100];
    close_session();
    open_session(SESSION, NULL, NULL);
    press('2');
    footer(said, sizeof(said));
    return strcmp(timeline->chosen(browser->views[VIEW_TIMELINE]), text) == 0 &&
           !strstr(said, "stacked by");
}

static void the_stacking_comes_back(void **state)
{
    open_session(SESSION, "", NULL);
    type(":color thread\n:stack caller, size\n");
    assert_true(comes_stacked_by("caller, size"));
    /* Groups need the filter that makes them. */
    type("f");
    press(KEYCODE_CONTROL('U'));
    type("all | join type\n:stack groups\n");
    assert_true(comes_stacked_by("groups"));
    /* Another colouring is wanted then, and no stacking stays. */
    type(":color size\n");
    assert_true(comes_stacked_by(""));
    press('f');
    press(KEYCODE_CONTROL('U'));
    press(KEYCODE_ENTER);
    close_session();
}

/* Returns how many rows the functions view has. */
static size_t functions_shown(void)
{
    char *text = NULL;
    size_t size, lines = 0;
    FILE *out = open_memstream(&text, &size);
    const struct view_ops *view = browser_view(VIEW_FUNCTIONS);
    assert_true(view->table(browser->views[VIEW_FUNCTIONS], &browser->browse, out, TABLE_CSV));
    fclose(out);
    for (const char *at = text; (at = strstr(at, "\r\n")); at++)
        lines++;
    free(text);
    return lines - 1; /* the line of names */
}

/* Functions of libraries are hidden until S, which the session keeps. */
static void the_shown_libraries_come_back(void **state)
{
    open_session(SESSION, "", "functions");
    const size_t count = functions_shown();
    type("S");
    const size_t all = functions_shown();
    char said[100], wanted[100];
    assert_true(count > 0 && count < all);
    type("S");
    snprintf(wanted, sizeof(wanted), "%zu of %zu functions, those of your own code", count, all);
    footer(said, sizeof(said));
    assert_non_null(strstr(said, wanted));
    type("S");
    close_session();
    open_session(SESSION, "", "functions");
    assert_int_equal(functions_shown(), all);
    type("S");
    assert_int_equal(functions_shown(), count);
    close_session();
    open_session(SESSION, "", "functions");
    assert_int_equal(functions_shown(), count);
    close_session();
}

static void what_is_named_comes_first(void **state)
{
    open_session(SESSION, NULL, NULL);
    press('f');
    press(KEYCODE_CONTROL('U'));
    type("leaked\n6");
    close_session();
    open_session(SESSION, "all | where size > 50", "sizes");
    assert_string_equal(browser->browse.filter, "all | where size > 50");
    assert_int_equal(browser->current, VIEW_SIZES);
    browser_free(browser);
    open_session(SESSION, "", NULL);
    assert_string_equal(browser->browse.filter, "");
    assert_int_equal(browser->current, VIEW_TYPES);
    browser_free(browser);
    browser = NULL;
}

/* The identity is what was recorded, not the path. */
static void a_copy_goes_on(void **state)
{
    open_session(COPY, NULL, NULL);
    assert_string_equal(browser->browse.filter, "leaked");
    assert_int_equal(browser->current, VIEW_TYPES);
    browser_free(browser);
    assert_true(fixture_sql(COPY, "UPDATE meta SET value = '2001-02-03' WHERE key = 'start_time'"));
    open_session(COPY, NULL, NULL);
    assert_string_equal(browser->browse.filter, "");
    assert_int_equal(browser->current, VIEW_OVERVIEW);
    browser_free(browser);
    browser = NULL;
}

static void damage_is_one_line(void **state)
{
    static const char *const wrong[] = {
        "",
        "x",
        "mprof-tui state 2\nend 1\n",
        "mprof-tui state 1\n",
        "mprof-tui state 1\nend 2\n",
        "mprof-tui state 1\nview garden\nend 2\n",
        "mprof-tui state 1\nlist types 99999999999999999999999\nend 2\n",
        "mprof-tui state 1\nlist types 1 sideways\nend 2\n",
        "mprof-tui state 1\nmoment -5\nend 2\n",
        "mprof-tui state 1\nrange 5 2\nend 2\n",
        "mprof-tui state 1\ncolor pink\nend 2\n",
        "mprof-tui state 1\nallocation 1x\nend 2\n",
        "mprof-tui state 1\nchoice timeline\nend 2\n",
    };
    char name[100];
    char *whole = state_text(name);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        put_state(name, wrong[i]);
        open_session(SESSION, NULL, NULL);
        assert_non_null(strstr(note, "the state of the last run is not used: mprof/state/"));
        assert_non_null(strstr(note, "is damaged"));
        assert_int_equal(browser->current, VIEW_OVERVIEW);
        browser_free(browser);
    }
    /* Cut anywhere, it is damaged. */
    const size_t length = strlen(whole);
    for (size_t i = 0; i + 1 < length; i += 41) {
        const char kept = whole[i];
        whole[i] = 0;
        put_state(name, whole);
        open_session(SESSION, NULL, NULL);
        assert_true(note[0] != 0);
        browser_free(browser);
        whole[i] = kept;
    }
    browser = NULL;
    put_state(name, whole);
    free(whole);
}

/* Columns and moments that the session does not have are left out, a filter that no longer parses
 * is named, a word of a later version means nothing. */
static void what_does_not_fit_is_left_out(void **state)
{
    char name[100];
    char *whole = state_text(name);
    put_state(name, "mprof-tui state 1\nview types\nlist types 4000 down 3\nlist functions 99 up\n"
                    "list detail 1 up\nmoment 999999999999999\nrange 1 999999999999999\n"
                    "allocation 999999999\nfilter gone_graph\nlater 1\n"
                    "choice timeline garden\nchoice types x\nend 12\n");
    open_session(SESSION, NULL, NULL);
    assert_non_null(strstr(note, "the filter of the last run is not used: "));
    assert_int_equal(browser->current, VIEW_TYPES);
    assert_false(browser->browse.has_range);
    assert_true(browser->browse.allocation == 0);
    type("5s");
    press(KEYCODE_DOWN);
    browser_free(browser);
    browser = NULL;
    put_state(name, whole);
    free(whole);
}

static int begin(void **state)
{
    const struct fixture_options options = {
        .seed = 7, .allocations = 3000, .stacks = 100, .functions = 60, .threads = 2};
    char *here = getcwd(NULL, 0), path[4096];
    snprintf(folder, sizeof(folder), "kept.%d", (int)getpid());
    snprintf(path, sizeof(path), "%s/%s", here, folder);
    free(here);
    unlink(SESSION);
    unlink(COPY);
    return mkdir(folder, 0700) == 0 && setenv("XDG_CONFIG_HOME", path, 1) == 0 &&
                   fixture_write(SESSION, &options) && fixture_write(COPY, &options)
               ? 0
               : -1;
}

static int end(void **state)
{
    char command[300];
    unlink(SESSION);
    unlink(COPY);
    snprintf(command, sizeof(command), "rm -r -- %s", folder);
    return system(command) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(the_stacking_comes_back),
        cmocka_unit_test(the_shown_libraries_come_back),
        cmocka_unit_test(what_is_named_comes_first),
        cmocka_unit_test(a_copy_goes_on),
        cmocka_unit_test(damage_is_one_line),
        cmocka_unit_test(what_does_not_fit_is_left_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
