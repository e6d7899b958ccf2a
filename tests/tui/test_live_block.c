/* SPDX-License-Identifier: BSD-2-Clause */
/* A block that the user looks at stays selected in newer states of a session that is recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"
#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"
#include "tui/screen/input.h"

#define PATH "live_block.db"

static struct browser *browser;

static void press(uint32_t key)
{
    browser_event(browser, &(struct event){.kind = EVENT_KEY, .key = key});
}

static struct session_allocation selected(void)
{
    struct session_allocation block;
    struct session_error error;
    assert_int_not_equal(browser->browse.allocation, 0);
    assert_true(
        session_allocation(browser->browse.session, browser->browse.allocation, &block, &error));
    return block;
}

/* Writes a newer state, and lets the browser find it. */
static void renew(const char *change)
{
    const uint64_t before = browser->browse.renewals;
    assert_true(fixture_sql(PATH, change));
    for (int i = 0; i < 4000 && browser->browse.renewals == before; i++) {
        browser_event(browser, &(struct event){.kind = EVENT_TICK});
        usleep(1000);
    }
    assert_true(browser->browse.renewals > before);
}

static void the_block_stays(void **state)
{
    press('8');
    press(KEYCODE_DOWN);
    press(KEYCODE_DOWN);
    press(KEYCODE_ENTER);
    assert_int_equal(browser->current, VIEW_DETAIL);
    const struct session_allocation before = selected();
    for (int i = 0; i < 3; i++) {
        renew("UPDATE meta SET value = value + 1 WHERE key = 'unfinished'");
        const struct session_allocation after = selected();
        assert_int_equal(after.address, before.address);
        assert_int_equal(after.alloc_ns, before.alloc_ns);
    }
    press('8');
    assert_int_equal(selected().address, before.address);
}

static int open_browser(void **state)
{
    const struct fixture_options options = {
        .seed = 3, .allocations = 3000, .stacks = 60, .functions = 30, .threads = 2};
    const struct browser_options how = {.width = 120, .height = 40, .wait_ms = -1};
    struct session_error error;
    if (!fixture_write(PATH, &options) ||
        !fixture_sql(PATH, "PRAGMA journal_mode = WAL;"
                           "INSERT OR REPLACE INTO meta VALUES ('unfinished', 1)"))
        return -1;
    struct session *session = session_open(PATH, &error);
    browser = session ? browser_new(session, &how, &error) : NULL;
    return browser ? 0 : -1;
}

static int close_browser(void **state)
{
    browser_free(browser);
    unlink(PATH "-wal");
    unlink(PATH "-shm");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_block_stays)};
    return cmocka_run_group_tests(tests, open_browser, close_browser);
}
