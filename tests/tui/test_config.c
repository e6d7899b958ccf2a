/* SPDX-License-Identifier: BSD-2-Clause */
/* The user's configuration: what each line does, what is said of wrong ones, and the default one.
 */
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
#include "schemas/code/user_code.h"
#include "session/graphs.h"
#include "session/user_code.h"
#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"
#include "tui/browser/user_files.h"
#include "tui/screen/keys.h"
#include "tui/screen/theme.h"

#define SESSION "config.db"

static char folder[200], path[260], error[CONFIG_ERROR_SIZE];
static struct browser *browser;
static bool themed;

static void write_config(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static bool load(const char *text)
{
    user_keys_clear();
    theme_use(THEME_DARK);
    themed = false;
    write_config(text);
    return config_load(&themed, error);
}

static enum action action_in(enum view_number view, uint32_t key)
{
    return key_action(&browser_view(view)->keys, view, key);
}

/* Returns the screen as text, malloc()ed. */
static char *screen(void)
{
    struct grid *grid = grid_new(80, 24, 256, false);
    browser_render(browser, grid);
    char *text = grid_text(grid);
    grid_free(grid);
    return text;
}

static void press(uint32_t key)
{
    browser_event(browser, &(struct event){.kind = EVENT_KEY, .key = key});
}

static bool screen_has(const char *part)
{
    char *text = screen();
    const bool has = strstr(text, part) != NULL;
    free(text);
    return has;
}

static void lines_hold(void **state)
{
    assert_true(load("# a comment\n\n  # another\ntheme light\r\nkey J page-down\n"
                     "key Ctrl-J page-up memory\nkey q none\n\tkey  Space   deeper  \n"));
    assert_string_equal(error, "");
    assert_true(themed);
    assert_int_equal(theme_in_use(), THEME_LIGHT);
    assert_int_equal(action_in(VIEW_TREE, 'J'), ACTION_PAGE_DOWN);
    assert_int_equal(action_in(VIEW_MEMORY, KEYCODE_CONTROL('J')), ACTION_PAGE_UP);
    assert_int_not_equal(action_in(VIEW_TREE, KEYCODE_CONTROL('J')), ACTION_PAGE_UP);
    assert_int_equal(action_in(VIEW_TREE, 'q'), ACTION_NONE);
    assert_int_equal(action_in(VIEW_TREE, ' '), ACTION_FOLLOW);
    assert_int_equal(action_in(VIEW_TREE, KEYCODE_PAGE_DOWN), ACTION_PAGE_DOWN);
    press('J');
    assert_string_equal(browser->browse.message, "");
    press('q');
    assert_false(browser_finished(browser));
}

/* A key of all views keeps its meaning in a view that does not know the action. */
static void a_view_that_lacks_the_action_keeps_its_key(void **state)
{
    const enum action before = action_in(VIEW_TREE, '+');
    assert_true(load("key s zoom-in\nkey + flame\n"));
    assert_int_equal(action_in(VIEW_TIMELINE, '+'), ACTION_ZOOM_IN);
    assert_int_equal(action_in(VIEW_TREE, '+'), ACTION_FLAME);
    assert_int_equal(action_in(VIEW_TIMELINE, 's'), ACTION_ZOOM_IN);
    assert_int_equal(action_in(VIEW_FUNCTIONS, 's'), ACTION_SORT);
    assert_true(load(""));
    assert_int_equal(action_in(VIEW_TREE, '+'), before);
}

static void footer_and_help_show_the_keys(void **state)
{
    assert_true(load(""));
    press(KEYCODE_DOWN);
    assert_true(screen_has("f filter"));
    press(':');
    for (const char *at = "keys\n"; *at; at++)
        press((uint32_t)*at);
    assert_non_null(strstr(browser->browse.message, "bound no keys"));
    assert_true(load("key F filter overview\nkey f none\nkey K redraw tree\n"));
    press(KEYCODE_DOWN);
    assert_true(screen_has("F filter"));
    assert_false(screen_has(" f filter"));
    press(':');
    for (const char *at = "keys\n"; *at; at++)
        press((uint32_t)*at);
    assert_int_equal(browser->mode, MODE_HELP);
    assert_true(screen_has("Your keys, from tui.conf"));
    assert_true(screen_has("redraw in tree"));
    press('f');
    assert_int_equal(browser->mode, MODE_VIEW);
    press('F');
    assert_int_equal(browser->mode, MODE_FILTER);
    press(KEYCODE_ESCAPE);
}

static void a_wrong_line_is_named_and_the_others_hold(void **state)
{
    static const struct {
        const char *line, *expected;
    } wrong[] = {
        {"theme pink", "tui.conf:2: expected theme dark, light, colour-blind or mono"},
        {"theme", "tui.conf:2: expected theme dark"},
        {"colour dark", "tui.conf:2: expected theme, hide or key, not \"colour\""},
        {"key", "tui.conf:2: expected key, its name, an action"},
        {"key J", "tui.conf:2: expected key, its name, an action"},
        {"key Hyper-J up", "tui.conf:2: expected a key such as J, Ctrl-J, PgDn or Space, not"},
        {"key J fly", "tui.conf:2: expected an action of those that --print-config lists, not"},
        {"key J up garden", "tui.conf:2: expected a view of overview, timeline,"},
        {"key J up tree x", "tui.conf:2: expected key, its name, an action"},
        {"hide", "tui.conf:2: expected hide and a namespace"},
        {"key \033[31m up", "not \"\\x1b[31m\""},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[200];
        snprintf(text, sizeof(text), "theme light\n%s\nkey Z zoom-all\nnonsense", wrong[i].line);
        assert_false(load(text));
        assert_non_null(strstr(error, wrong[i].expected));
        assert_null(strchr(error, '\033'));
        assert_int_equal(theme_in_use(), THEME_LIGHT);
        assert_int_equal(action_in(VIEW_TIMELINE, 'Z'), ACTION_ZOOM_ALL);
    }
}

static void files_that_cannot_be_read(void **state)
{
    unlink(path);
    assert_true(config_load(&themed, error));
    assert_string_equal(error, "");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(config_load(&themed, error));
    assert_non_null(strstr(error, "tui.conf: is not a regular file"));
    rmdir(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(config_load(&themed, error)); /* and does not wait */
    unlink(path);
    char *large = malloc(70001);
    memset(large, '#', 70000);
    large[70000] = 0;
    assert_false(load(large));
    free(large);
    assert_non_null(strstr(error, "longer than 64 KiB"));
}

/* With the comments taken away, the default configuration is right and changes nothing. */
static void the_default_one_changes_nothing(void **state)
{
    enum { CODES = 128 };
    static enum action usual[VIEWS][CODES + KEYCODE_BACKTAB - KEYCODE_FIRST + 1];
    const size_t codes = sizeof(usual[0]) / sizeof(usual[0][0]);
    char *text = NULL, *plain = NULL;
    size_t size = 0, lines = 0;
    user_keys_clear();
    for (int view = 0; view < VIEWS; view++)
        for (size_t i = 0; i < codes; i++)
            usual[view][i] = action_in((enum view_number)view,
                                       (uint32_t)(i < CODES ? i : KEYCODE_FIRST + i - CODES));
    FILE *out = open_memstream(&text, &size);
    config_print(out);
    fclose(out);
    for (char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(*line == '#' || *line == '\n');
    out = open_memstream(&plain, &size);
    for (char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const bool setting = line[0] == '#' && line[1] != ' ';
        fprintf(out, "%.*s\n", setting ? (int)strcspn(line, "\n") - 1 : 0, line + 1);
        lines += setting;
    }
    fclose(out);
    assert_true(lines > 100);
    assert_true(load(plain));
    for (int view = 0; view < VIEWS; view++)
        for (size_t i = 0; i < codes; i++)
            assert_int_equal(action_in((enum view_number)view,
                                       (uint32_t)(i < CODES ? i : KEYCODE_FIRST + i - CODES)),
                             usual[view][i]);
    free(text);
    free(plain);
}

static void actions_have_names(void **state)
{
    enum action found;
    for (int view = 0; view < VIEWS; view++) {
        const struct key_table *own = &browser_view((enum view_number)view)->keys;
        const struct key_binding *binding = NULL;
        while ((binding = key_binding_next(own, (enum view_number)view, binding))) {
            assert_non_null(action_name(binding->action));
            assert_true(action_from_name(action_name(binding->action), &found));
            assert_int_equal(found, binding->action);
        }
    }
    assert_null(action_name(ACTION_CLICK));
    assert_null(action_name(ACTION_REFRESH));
}

static bool is_hidden(const char *word)
{
    struct session_error problem;
    struct session *session = session_open(SESSION, &problem);
    assert_non_null(session);
    const struct user_code_words *words = &session_user_code(session)->lists[USER_CODE_HIDE];
    bool found = false;
    for (size_t i = 0; i < words->count; i++)
        found = found || strcmp(words->words[i], word) == 0;
    session_close(session);
    return found;
}

/* Runs last: the words stay hidden in this process. */
static void words_are_hidden_in_all_sessions(void **state)
{
    struct session_error problem;
    struct session_storing storing = {.place = SESSION_PLACE_SESSION};
    assert_false(is_hidden("acme::core"));
    assert_true(load("hide acme::core\nhide libacme\n"));
    assert_true(is_hidden("acme::core"));
    assert_true(is_hidden("libacme"));
    struct session *session = session_open(SESSION, &problem);
    assert_non_null(session);
    assert_true(session_setting_store(session, SESSION_SHOW, "libacme", &storing, &problem));
    session_close(session);
    assert_false(is_hidden("libacme"));
    assert_true(is_hidden("acme::core"));
}

static int begin(void **state)
{
    const struct fixture_options options = {
        .seed = 5, .allocations = 200, .stacks = 20, .functions = 20, .threads = 1};
    struct session_error problem;
    snprintf(folder, sizeof(folder), "config.%d", (int)getpid());
    char *here = getcwd(NULL, 0);
    char above[4096];
    snprintf(above, sizeof(above), "%s/%s", here, folder);
    free(here);
    snprintf(path, sizeof(path), "%s/mprof", folder);
    if (mkdir(folder, 0700) != 0 || mkdir(path, 0700) != 0 ||
        setenv("XDG_CONFIG_HOME", above, 1) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/mprof/tui.conf", folder);
    unlink(SESSION);
    struct session *session =
        fixture_write(SESSION, &options) ? session_open(SESSION, &problem) : NULL;
    const struct browser_options about = {.width = 80, .height = 24, .wait_ms = -1};
    browser = session ? browser_new(session, &about, &problem) : NULL;
    return browser ? 0 : -1;
}

static int end(void **state)
{
    browser_free(browser);
    unlink(path);
    unlink(SESSION);
    path[strlen(path) - strlen("/tui.conf")] = 0;
    return rmdir(path) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_hold),
        cmocka_unit_test(a_view_that_lacks_the_action_keeps_its_key),
        cmocka_unit_test(footer_and_help_show_the_keys),
        cmocka_unit_test(a_wrong_line_is_named_and_the_others_hold),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(the_default_one_changes_nothing),
        cmocka_unit_test(actions_have_names),
        cmocka_unit_test(words_are_hidden_in_all_sessions),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
