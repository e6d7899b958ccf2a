/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Presses every key of the tables in every view, at 80x24 and at one of three other sizes in turn,
 * and then random keys, sizes and events of the mouse, always the same ones. The session has
 * hostile names. The browser must not fail, each screen must hold only glyphs that a terminal may
 * get, and in the end nothing is waited for. MPROF_SOAK=1 presses every key at every size and makes
 * 100,000 random events, not 250.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "fixture.h"
#include "schemas/printable.h"
#include "tests/soak.h"
#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"

#define PATH "every_key.db"

static struct browser *browser;
static struct grid *grid;

static const struct {
    int width, height;
} sizes[] = {{80, 24}, {120, 40}, {200, 60}, {40, 12}};

/* Looks at the whole screen. */
static void check_screen(void)
{
    bool good = true;
    browser_render(browser, grid);
    for (int y = 0; y < grid_height(grid); y++)
        for (int x = 0; x < grid_width(grid); x++) {
            const struct cell *cell = grid_cell(grid, x, y);
            good = good && !printable_steers(cell->glyph) && cell->width <= 2;
        }
    assert_true(good);
}

/* Copied text may be pasted into a terminal. */
static void check_copy(const char *text)
{
    bool good = true;
    for (unsigned length = 1; text && *text; text += length) {
        if (*text == '\n' || *text == '\t') {
            length = 1;
            continue;
        }
        length = printable_glyph(text);
        good = good && length > 0;
        length = length > 0 ? length : 1;
    }
    assert_true(good);
}

static void send(const struct event *event)
{
    browser_event(browser, event);
    if (!event->more)
        check_screen();
    char *copy = browser_takes_copy(browser);
    check_copy(copy);
    free(copy);
    assert_false(browser_finished(browser));
}

static void press(uint32_t key)
{
    send(&(struct event){.kind = EVENT_KEY, .key = key});
}

static void type(const char *text)
{
    for (uint32_t key; (key = text_next(&text)) != 0;)
        press(key);
}

static void resize(int width, int height)
{
    assert_true(grid_resize(grid, width, height));
    send(&(struct event){.kind = EVENT_RESIZE, .width = width, .height = height});
}

static void go(enum view_number view)
{
    browser->mode = MODE_VIEW;
    browser_go(browser, view, false);
    check_screen();
}

/* Closes prompts, menus and the help, and takes filters back. */
static void calm(void)
{
    struct session_error error;
    browser->mode = MODE_VIEW;
    assert_true(browser_filter(browser, "", &error));
    browser_event(browser, &(struct event){.kind = EVENT_TICK});
    /* Nothing is left to wait for, except for a view that plays. */
    if (browser->browse.wake_ms == 0)
        assert_int_equal(browser_patience(browser), -1);
}

/* Returns true if the n-th key of all views is pressed at a size. */
static bool is_tried(size_t size, size_t n)
{
    return size == 0 || n % (sizeof(sizes) / sizeof(sizes[0]) - 1) + 1 == size ||
           in_soak(true, false);
}

static void each_key_of_each_view(void **state)
{
    int pressed = 0;
    for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++) {
        size_t keys = 0;
        resize(sizes[size].width, sizes[size].height);
        for (int view = 0; view < VIEWS; view++) {
            const struct view_ops *ops = browser_view((enum view_number)view);
            const struct key_binding *binding = NULL;
            while (ops &&
                   (binding = key_binding_next(&ops->keys, (enum view_number)view, binding))) {
                for (size_t k = 0; k < KEYS_MOST && binding->keys[k]; k++) {
                    if (binding->action == ACTION_QUIT || !is_tried(size, keys++))
                        continue;
                    go((enum view_number)view);
                    press(binding->keys[k]);
                    if (sizes[size].width <= 80) {
                        press(binding->keys[k]); /* and back, or once more */
                        press(KEYCODE_DOWN);
                        press(KEYCODE_ENTER);
                    }
                    calm();
                    pressed++;
                }
            }
        }
    }
    assert_true(pressed > 400);
}

static void mouse_everywhere(void **state)
{
    static const enum event_kind kinds[] = {EVENT_CLICK,   EVENT_DOUBLE_CLICK, EVENT_DRAG,
                                            EVENT_RELEASE, EVENT_WHEEL_DOWN,   EVENT_WHEEL_UP};
    resize(80, 24);
    for (int view = 0; view < VIEWS; view++) {
        if (!browser_view((enum view_number)view))
            continue;
        for (int y = -1; y <= 24; y += (int)in_soak(1, 8))
            for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                const int x = (y * 37 + 60) % 82;
                go((enum view_number)view);
                /* A hint of the footer may be the one that quits. */
                if (y >= 23 && kinds[i] == EVENT_CLICK)
                    continue;
                send(&(struct event){.kind = kinds[i], .x = x, .y = y});
            }
        calm();
    }
}

/* ---- random events ---------------------------------------------------------------------- */

static uint64_t seed = 0x2545f4914f6cdd1d;

/* Marsaglia, Xorshift RNGs, Journal of Statistical Software 8(14), 2003. */
static unsigned dice(unsigned sides)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 32) % sides;
}

static uint32_t random_key(void)
{
    static const uint32_t more[] = {
        KEYCODE_TAB, KEYCODE_ESCAPE, KEYCODE_ENTER, KEYCODE_BACKSPACE, KEYCODE_DELETE,
        'x',         0x200b,         0x10ffff};
    const struct view_ops *ops = browser_view(browser->current);
    const struct key_binding *binding = NULL;
    unsigned count = 0;
    while ((binding = key_binding_next(&ops->keys, browser->current, binding)))
        count++;
    if (dice(8) == 0)
        return more[dice(sizeof(more) / sizeof(more[0]))];
    for (unsigned n = dice(count) + 1; n > 0; n--)
        binding = key_binding_next(&ops->keys, browser->current, binding);
    return binding->action == ACTION_QUIT ? KEYCODE_ESCAPE : binding->keys[0];
}

static void random_prompt(void)
{
    static const char *const texts[] = {":filter all | where size > 100",
                                        ":tree",
                                        ":nonsense",
                                        ":w! random_events.svg",
                                        "/e",
                                        "flive at peak",
                                        "gpeak",
                                        "fall | where type == \"",
                                        ":process all",
                                        "fleaked | color by thread",
                                        "/\t\t"};
    calm();
    type(texts[dice(sizeof(texts) / sizeof(texts[0]))]);
    if (dice(3) == 0)
        press(KEYCODE_TAB);
    press(KEYCODE_ENTER);
}

static void random_event(void)
{
    const unsigned what = dice(100);
    if (what < 80) {
        /* In a prompt any key is text: q and what follows cannot end the browser. */
        press(random_key());
    } else if (what < 84) {
        resize(1 + (int)dice(220), 1 + (int)dice(70));
    } else if (what < 94) {
        const enum event_kind kind = (enum event_kind)(EVENT_CLICK + (int)dice(6));
        const int y = (int)dice(72) - 1;
        if (kind != EVENT_CLICK || y < browser->height - FRAME_BOTTOM)
            send(&(struct event){.kind = kind, .x = (int)dice(230) - 2, .y = y});
    } else if (what < 97) {
        send(&(struct event){.kind = EVENT_TICK});
    } else {
        random_prompt();
    }
}

static void random_events(void **state)
{
    const size_t events = in_soak(100000, 250);
    for (size_t i = 0; i < events; i++) {
        if (i % 10 == 0)
            go((enum view_number)(i / 10 % VIEWS));
        random_event();
    }
    unlink("random_events.svg");
}

/* ---- a session with hostile names ------------------------------------------------------- */

static bool spoil_names(void)
{
    sqlite3 *database;
    /* Escape sequences, line ends, broken UTF-8, wide and combining characters, a very long name.
     */
    static const char sql[] =
        "UPDATE function SET name = char(27) || '[2J' || char(7) || name || char(10) || 'x' "
        "  WHERE id % 5 = 1;"
        "UPDATE function SET name = CAST(x'c3286e80ff' AS TEXT) || name WHERE id % 5 = 2;"
        "UPDATE function SET name = char(0x65e5, 0x672c, 0x301, 0x202e, 0x9b) || name "
        "  WHERE id % 5 = 3;"
        "UPDATE function SET name = replace(hex(zeroblob(3000)), '00', 'a<b, ') || name "
        "  WHERE id = 4;"
        "UPDATE type SET name = char(27) || ']52;c;x' || char(7) || name || '\"\\' WHERE id % 2;"
        "UPDATE thread SET name = char(13, 27) || name;"
        "UPDATE mark SET name = char(27) || '[31m' || name || char(10, 0x85);"
        "UPDATE arena SET name = char(27, 7, 0x202e) || name;"
        "UPDATE owner SET name = char(27) || 'c' || name;"
        "UPDATE module SET name = char(27) || ']0;x' || char(7) || name,"
        "  path = path || char(27, 10);"
        "UPDATE source_file SET path = path || char(9, 27, 0x9b) || '.c';"
        "UPDATE process SET program = char(27) || '[5m' || program, argv = char(10, 27) || argv;"
        "UPDATE meta SET value = char(27) || '[7m' || value || char(10)"
        "  WHERE key IN ('program', 'argv', 'host', 'directory', 'executable', 'trace');"
        "INSERT INTO named_graph VALUES ('odd' || char(27, 10), 'leaked', 1);";
    if (sqlite3_open(PATH, &database) != SQLITE_OK)
        return false;
    const bool good = sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK;
    if (!good)
        print_error("%s\n", sqlite3_errmsg(database));
    return sqlite3_close(database) == SQLITE_OK && good;
}

static int open_browser(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    struct session *session;
    options.allocations = 2000;
    if (!fixture_write(PATH, &options) || !spoil_names() || !(session = session_open(PATH, &error)))
        return 1;
    browser = browser_new(
        session, &(struct browser_options){.width = 80, .height = 24, .wait_ms = -1}, &error);
    grid = grid_new(80, 24, 256, false);
    return browser && grid ? 0 : 1;
}

static int close_browser(void **state)
{
    browser_free(browser);
    grid_free(grid);
    unlink("every_key.supp");
    return unlink(PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_of_each_view),
        cmocka_unit_test(mouse_everywhere),
        cmocka_unit_test(random_events),
    };
    return cmocka_run_group_tests(tests, open_browser, close_browser);
}
