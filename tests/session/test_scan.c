/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passes over the chunks of a session: every chunk once, the same sums with any number of threads,
 * threads that work at the same time, errors and cancels that end a pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "fixture.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/store/scan.h"

#define CHUNKS 5

static const char path[] = "test_scan.db";

static struct session *open_session(size_t threads)
{
    struct session_error error;
    struct session *session = session_open(path, &error);
    if (!session)
        fail_msg("%s", error.message);
    scan_use_threads(session, threads);
    return session;
}

static int make_session(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = (CHUNKS - 1) * (size_t)COLUMN_CHUNK_ROWS + 1000;
    return fixture_write(path, &options) ? 0 : -1;
}

static int remove_session(void **state)
{
    return unlink(path);
}

struct sums {
    uint64_t rows, bytes, times;
    uint32_t visits[CHUNKS];
};

static void add(void *context, const struct chunk_rows *rows)
{
    struct sums *sums = context;
    sums->visits[rows->chunk]++;
    ROW_SET_EACH(rows->words, row)
    {
        sums->rows++;
        sums->bytes += column_view_at(&rows->bytes, row);
        sums->times += column_view_at(&rows->views[COLUMN_ALLOC_NS], row) * (row + 1);
    }
}

static struct sums sum_all(struct session *session, const struct row_set *set)
{
    struct sums sums[SCAN_THREADS_MAX];
    void *contexts[SCAN_THREADS_MAX];
    struct session_error error;
    memset(sums, 0, sizeof(sums));
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = &sums[i];
    if (!scan_each_chunk(session, set, COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS), add,
                         contexts, scan_threads(session), &error))
        fail_msg("%s", error.message);
    for (size_t i = 1; i < SCAN_THREADS_MAX; i++) {
        sums[0].rows += sums[i].rows;
        sums[0].bytes += sums[i].bytes;
        sums[0].times += sums[i].times;
        for (size_t chunk = 0; chunk < CHUNKS; chunk++)
            sums[0].visits[chunk] += sums[i].visits[chunk];
    }
    return sums[0];
}

static void any_number_of_threads_gives_the_same_sums(void **state)
{
    struct sums first = {.rows = 0};
    for (size_t threads = 1; threads <= SCAN_THREADS_MAX; threads = threads * 2 + 1) {
        struct session *session = open_session(threads);
        struct row_set set;
        assert_true(row_set_start(&set, session->columns, true, NULL));
        /* A chunk without selected rows is left out. */
        memset(row_set_chunk(&set, 2), 0, ROW_SET_WORDS * sizeof(uint64_t));
        for (int again = 0; again < 20; again++) {
            const struct sums sums = sum_all(session, &set);
            if (first.rows == 0)
                first = sums;
            assert_memory_equal(&sums, &first, sizeof(sums));
        }
        row_set_free(&set);
        session_close(session);
    }
    assert_int_equal(first.rows, (CHUNKS - 2) * COLUMN_CHUNK_ROWS + 1000);
    for (size_t chunk = 0; chunk < CHUNKS; chunk++)
        assert_int_equal(first.visits[chunk], chunk != 2);
}

/* Each thread waits in its first chunk until all others are in one, too. */
struct meeting {
    atomic_uint inside;
    unsigned wanted;
};

static bool meet(void *context, struct scan_worker *worker, uint32_t chunk,
                 struct session_error *error)
{
    struct meeting *meeting = context;
    atomic_fetch_add(&meeting->inside, 1);
    for (unsigned tries = 0; atomic_load(&meeting->inside) < meeting->wanted; tries++) {
        if (tries == 10000)
            return session_fail(error, 0, "the threads do not overlap");
        usleep(1000);
    }
    return true;
}

static void threads_work_at_the_same_time(void **state)
{
    struct session *session = open_session(4);
    struct meeting meeting = {.wanted = 4};
    void *contexts[] = {&meeting, &meeting, &meeting, &meeting};
    struct session_error error;
    if (!scan_chunks(session, 4, meet, contexts, 4, &error))
        fail_msg("%s", error.message);
    assert_int_equal(meeting.inside, 4);
    session_close(session);
}

static bool fail_late(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    usleep(chunk == 1 ? 20000 : 1000);
    return chunk == 0 || session_fail(error, 0, "chunk %u", chunk);
}

static void the_first_chunk_that_fails_is_reported(void **state)
{
    struct session *session = open_session(4);
    void *contexts[4] = {NULL};
    for (int again = 0; again < 5; again++) {
        struct session_error error = {.column = 0};
        assert_false(scan_chunks(session, CHUNKS, fail_late, contexts, 4, &error));
        assert_string_equal(error.message, "chunk 1");
    }
    session_close(session);
}

struct endless {
    struct session *session;
    atomic_uint calls;
};

static bool cancel_at_third(void *context, struct scan_worker *worker, uint32_t chunk,
                            struct session_error *error)
{
    struct endless *endless = context;
    if (atomic_fetch_add(&endless->calls, 1) == 2)
        scan_cancel(endless->session, true);
    return true;
}

static void a_cancel_ends_a_pass(void **state)
{
    struct session *session = open_session(2);
    struct endless endless = {.session = session};
    void *contexts[] = {&endless, &endless};
    struct session_error error = {.column = 0};
    assert_false(scan_chunks(session, 1000000, cancel_at_third, contexts, 2, &error));
    assert_string_equal(error.message, "the question was cancelled");
    assert_in_range(endless.calls, 3, 4);
    struct selection *selection = selection_new(session, "all", &error);
    assert_null(selection);
    scan_cancel(session, false);
    selection = selection_new(session, "all", &error);
    assert_non_null(selection);
    selection_free(selection);
    struct session *follower = open_session(1);
    scan_obey(follower, session);
    assert_false(scan_cancelled(follower));
    scan_cancel(session, true);
    assert_true(scan_cancelled(follower));
    session_close(follower);
    session_close(session);
}

struct asking {
    pthread_t by;
    unsigned calls;
    bool answer;
};

static bool count_asks(void *context)
{
    struct asking *asking = context;
    assert_true(pthread_equal(asking->by, pthread_self()));
    asking->calls++;
    return asking->answer;
}

static bool do_nothing(void *context, struct scan_worker *worker, uint32_t chunk,
                       struct session_error *error)
{
    return true;
}

static void the_thread_that_asks_cancels(void **state)
{
    struct session *session = open_session(2), *follower = open_session(1);
    struct asking asking = {.by = pthread_self()};
    void *contexts[] = {NULL, NULL};
    struct session_error error = {.column = 0};
    scan_obey(follower, session);
    scan_ask(session, count_asks, &asking);
    assert_true(scan_chunks(session, 1000, do_nothing, contexts, 2, &error));
    assert_true(asking.calls > 0);
    asking.answer = true;
    scan_ask(session, count_asks, &asking);
    assert_true(scan_cancelled(follower));
    assert_false(scan_chunks(session, 1000, do_nothing, contexts, 2, &error));
    assert_string_equal(error.message, "the question was cancelled");
    scan_ask(session, NULL, NULL);
    scan_cancel(session, false);
    assert_false(scan_cancelled(session));
    session_close(follower);
    session_close(session);
}

/* A pass gets the memory of the one before, cleared, if it needs about as much. */
static void memory_is_used_again(void **state)
{
    const size_t size = (size_t)1 << 20;
    struct session *session = open_session(2);
    struct scan_contexts contexts;
    void *first[2];
    assert_true(scan_contexts_open(session, &contexts, size, SIZE_MAX, NULL));
    assert_int_equal(contexts.threads, 2);
    for (size_t i = 0; i < 2; i++)
        memset(first[i] = contexts.each[i], 1, size);
    scan_contexts_close(&contexts);
    assert_true(scan_contexts_open(session, &contexts, size / 2, SIZE_MAX, NULL));
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *memory = contexts.each[i];
        assert_true(memory == first[0] || memory == first[1]);
        for (size_t at = 0; at < size / 2; at++)
            assert_int_equal(memory[at], 0);
    }
    assert_ptr_not_equal(contexts.each[0], contexts.each[1]);
    scan_contexts_close(&contexts);
    /* Much less, or more than there is, is other memory. */
    static const size_t others[] = {(size_t)1 << 12, (size_t)2 << 20};
    for (size_t k = 0; k < 2; k++) {
        assert_true(scan_contexts_open(session, &contexts, others[k], SIZE_MAX, NULL));
        for (size_t i = 0; i < 2; i++)
            assert_true(contexts.each[i] != first[0] && contexts.each[i] != first[1]);
        scan_contexts_close(&contexts);
    }
    assert_non_null(session->spare);
    scan_rest(session);
    assert_null(session->spare);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_same_sums),
        cmocka_unit_test(threads_work_at_the_same_time),
        cmocka_unit_test(the_first_chunk_that_fails_is_reported),
        cmocka_unit_test(a_cancel_ends_a_pass),
        cmocka_unit_test(memory_is_used_again),
        cmocka_unit_test(the_thread_that_asks_cancels),
    };
    return cmocka_run_group_tests(tests, make_session, remove_session);
}
