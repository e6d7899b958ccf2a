/* SPDX-License-Identifier: BSD-2-Clause */
/* The key that suppresses a group of leaks does not wait for the search of what else that takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"
#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"
#include "tui/screen/input.h"

#define PATH "leak_pattern.db"
#define FILE_OF_PATTERNS "leak_pattern.supp"

static struct browser *browser;
static sem_t busy, go_on;

/* Keeps the engine busy until the test lets it go on. */
static bool work(struct session *session, struct selection *selection, void *data,
                 struct session_error *error)
{
    sem_post(&busy);
    while (sem_wait(&go_on) != 0)
        ;
    return true;
}

static void release(void *data)
{
}

static void settle(void)
{
    for (int i = 0; i < 4000 && browse_waits(&browser->browse); i++) {
        usleep(2000);
        browser_event(browser, &(struct event){.kind = EVENT_TICK});
    }
    assert_false(browse_waits(&browser->browse));
}

static void press(uint32_t key)
{
    browser_event(browser, &(struct event){.kind = EVENT_KEY, .key = key});
}

/* Begins a question that the engine works at. */
static struct session_job *occupy_engine(void)
{
    const struct session_question question = {
        .kind = SESSION_ASK_CALL, .place = 1000000, .call = work, .release = release};
    struct session_error error;
    struct session_job *job = session_job_ask(browser->browse.loader.jobs, &question, &error);
    assert_non_null(job);
    while (sem_wait(&busy) != 0)
        ;
    return job;
}

static void the_key_does_not_wait_for_the_search(void **state)
{
    press('7');
    settle();
    struct session_job *job = occupy_engine();
    press('X');
    assert_int_not_equal(access(FILE_OF_PATTERNS, F_OK), 0);
    assert_non_null(strstr(browser->browse.message, "finding what else"));
    press(KEYCODE_DOWN); /* another group, of which the user has said nothing */
    sem_post(&go_on);
    settle();
    session_job_free(job);
    assert_int_equal(access(FILE_OF_PATTERNS, F_OK), 0);
    assert_non_null(strstr(browser->browse.message, "suppressed this group"));
}

/* The session is selected again while the search is on its way: nothing holds what is gone. */
static void a_search_ends_with_its_selection(void **state)
{
    struct session_error error;
    settle();
    struct session_job *job = occupy_engine();
    press('X');
    press(KEYCODE_DOWN);
    assert_true(browser_filter(browser, "all | where size > 10", &error));
    loader_cancel(&browser->browse.loader);
    sem_post(&go_on);
    settle();
    session_job_free(job);
    press('X');
    settle();
}

static int open_browser(void **state)
{
    const struct fixture_options options = {
        .seed = 3, .allocations = 3000, .stacks = 60, .functions = 30, .threads = 2};
    const struct browser_options how = {.width = 120, .height = 40, .wait_ms = 0};
    struct session_error error;
    unlink(FILE_OF_PATTERNS);
    struct session *session = fixture_write(PATH, &options) ? session_open(PATH, &error) : NULL;
    browser = session ? browser_new(session, &how, &error) : NULL;
    if (!browser || sem_init(&busy, 0, 0) != 0 || sem_init(&go_on, 0, 0) != 0)
        return -1;
    settle();
    return 0;
}

static int close_browser(void **state)
{
    browser_free(browser);
    unlink(FILE_OF_PATTERNS);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_key_does_not_wait_for_the_search),
        cmocka_unit_test(a_search_ends_with_its_selection),
    };
    return cmocka_run_group_tests(tests, open_browser, close_browser);
}
