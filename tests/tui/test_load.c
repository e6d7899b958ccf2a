/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads whose engine ends: no load may keep a question of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "tui/view/common/load.h"

#define PATH "test_load.db"

struct data {
    uint64_t request, answer;
};

static bool run(struct session *session, struct selection *selection, void *argument,
                struct session_error *error)
{
    struct data *data = argument;
    data->answer = data->request + 1;
    return true;
}

static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct data), run, NULL};
static struct session *session;

static struct loader start(void)
{
    struct session_error error = {.message = ""};
    struct loader loader = {.jobs = session_jobs_start(session, &error), .deadline_ms = -1};
    assert_non_null(loader.jobs);
    return loader;
}

/* The answer has come, and the view that asked is gone: loader_sweep() stops the wait for it. */
static void an_answer_that_nobody_takes_ends_with_its_engine(void **state)
{
    struct load load = {.place = 0};
    const uint64_t wanted[] = {1, 2};
    struct loader loader = start();
    loader.deadline_ms = 0;
    while (!load.job && !load.shown)
        load_get(&loader, &load, &kind, NULL, &wanted[0]);
    if (load.job)
        session_job_wait(load.job, -1);
    loader_sweep(&loader);
    assert_null(loader.waiting);
    loader_cancel(&loader);
    assert_null(load.job);
    session_jobs_stop(loader.jobs);

    struct session_error error = {.message = ""};
    loader.jobs = session_jobs_start(session, &error);
    loader.deadline_ms = -1;
    const struct data *data = load_get(&loader, &load, &kind, NULL, &wanted[1]);
    assert_non_null(data);
    assert_int_equal(data->answer, 3);
    load_clear(&loader, &load);
    session_jobs_stop(loader.jobs);
}

/* The view comes back before the engine ends: it gets the answer. */
static void an_answer_waits_for_its_view(void **state)
{
    struct load load = {.place = 0};
    const uint64_t wanted = 7;
    struct loader loader = start();
    loader.deadline_ms = 0;
    load_get(&loader, &load, &kind, NULL, &wanted);
    if (load.job)
        session_job_wait(load.job, -1);
    loader_sweep(&loader);
    const struct data *data = load_get(&loader, &load, &kind, NULL, &wanted);
    assert_non_null(data);
    assert_int_equal(data->answer, 8);
    assert_null(loader.swept);
    load_clear(&loader, &load);
    session_jobs_stop(loader.jobs);
}

static int open_session(void **state)
{
    const struct fixture_options options = {
        .seed = 1, .allocations = 100, .stacks = 10, .functions = 10, .threads = 1};
    struct session_error error = {.message = ""};
    if (fixture_write(PATH, &options))
        session = session_open(PATH, &error);
    return session ? 0 : -1;
}

static int close_session(void **state)
{
    session_close(session);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_nobody_takes_ends_with_its_engine),
        cmocka_unit_test(an_answer_waits_for_its_view),
    };
    return cmocka_run_group_tests(tests, open_session, close_session);
}
