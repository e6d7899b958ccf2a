/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions that do not block: the answers are those of the blocking functions, with any number of
 * threads, a newer question of a kind cancels the older, and a storm of questions, cancels and
 * frees leaves the answers right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fixture.h"
#include "session/store/session_state.h"
#include "session/jobs.h"
#include "session/store/scan.h"

#define SLOTS 50
#define CELLS 300

static const char path[] = "test_jobs.db";
static struct session_error error;

/* `plain` answers by blocking calls, `session` by jobs. */
static struct session *plain, *session;
static struct session_jobs *jobs;

static int make_session(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 3 * (size_t)COLUMN_CHUNK_ROWS;
    return fixture_write(path, &options) ? 0 : -1;
}

static int remove_session(void **state)
{
    return unlink(path);
}

static int open_both(void **state)
{
    plain = session_open(path, &error);
    session = session_open(path, &error);
    scan_use_threads(plain, 1);
    scan_use_threads(session, 4);
    jobs = session_jobs_start(session, &error);
    return plain && session && jobs ? 0 : -1;
}

static int close_both(void **state)
{
    session_jobs_stop(jobs);
    session_close(session);
    session_close(plain);
    return 0;
}

static struct session_job *ask(const struct session_question *question)
{
    struct session_job *job = session_job_ask(jobs, question, &error);
    assert_non_null(job);
    return job;
}

static const struct session_answer *wait_for(struct session_job *job)
{
    const enum session_job_state state = session_job_wait(job, -1);
    if (state == SESSION_JOB_FAILED)
        fail_msg("%s", session_job_error(job)->message);
    assert_int_equal(state, SESSION_JOB_DONE);
    const struct session_answer *answer = session_job_answer(job);
    assert_non_null(answer);
    assert_false(answer->estimate);
    return answer;
}

static struct selection *select_text(const char *text)
{
    struct session_job *job =
        ask(&(struct session_question){.kind = SESSION_ASK_SELECTION, .text = text});
    struct selection *selection = selection_share(wait_for(job)->selection);
    session_job_free(job);
    return selection;
}

/* Asks a question and keeps the answer in `job`. */
#define ASK(job, ...)                                                                              \
    struct session_job *job = ask(&(struct session_question){__VA_ARGS__});                        \
    const struct session_answer *job##_answer = wait_for(job)

/* ---- calls ---- */

/* Mixes bytes into a number (Fowler, Noll and Vo). */
static void mix(uint64_t *number, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *number = (*number ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
}

static void mix_number(uint64_t *number, uint64_t value)
{
    mix(number, &value, sizeof(value));
}

/* Fails the question instead of the test: cmocka fails only in the test's own thread. */
#define NEED(good)                                                                                 \
    if (!(good))                                                                                   \
    return false

static bool mix_sums(struct session *of, struct selection *selection, uint64_t *number,
                     struct session_error *problem)
{
    const uint64_t end = session_duration_ns(of) + 1;
    struct session_slot slots[SLOTS];
    NEED(selection_timeline(selection, 0, end, SLOTS, SESSION_COLOR_FUNCTION, slots, problem));
    mix(number, slots, sizeof(slots));
    NEED(
        selection_timeline(selection, end / 3, end / 2, SLOTS, SESSION_COLOR_SIZE, slots, problem));
    mix(number, slots, sizeof(slots));
    mix_number(number, selection_peak_bytes(selection));
    mix_number(number, selection_peak_ns(selection));
    for (int by = SESSION_COLOR_NONE; by <= SESSION_COLOR_KIND; by++) {
        struct session_legend legend;
        selection_legend(selection, (enum session_color_by)by, &legend);
        for (size_t i = 0; i < legend.count; i++) {
            mix(number, legend.entry[i].label, strlen(legend.entry[i].label));
            mix_number(number, legend.entry[i].bytes);
            mix_number(number, legend.entry[i].allocations);
        }
    }
    return true;
}

static bool mix_functions(struct session *of, struct selection *selection, uint64_t *number,
                          struct session_error *problem)
{
    const uint64_t end = session_duration_ns(of) + 1;
    struct session_share shares[5];
    const size_t found = selection_top_functions(selection, end / 4, end / 2, shares, 5);
    mix(number, shares, found * sizeof(*shares));
    struct session_function_row *rows;
    struct session_edge *callers, *callees;
    size_t count, caller_count, callee_count;
    NEED(selection_functions(selection, &rows, &count, problem));
    mix(number, rows, count * sizeof(*rows));
    const uint32_t function = count > 0 ? rows[count / 2].function : 0;
    free(rows);
    NEED(selection_edges(selection, function, &callers, &caller_count, &callees, &callee_count,
                         problem));
    mix(number, callers, caller_count * sizeof(*callers));
    mix(number, callees, callee_count * sizeof(*callees));
    free(callers);
    free(callees);
    return true;
}

static bool mix_addresses(struct session *of, struct selection *selection, uint64_t *number,
                          struct session_error *problem)
{
    const uint64_t ns = session_peak_ns(of);
    struct session_region *regions;
    struct session_cell cells[CELLS];
    size_t count;
    NEED(session_regions(of, ns, &regions, &count, problem));
    mix(number, regions, count * sizeof(*regions));
    const uint64_t start = count > 0 ? regions[0].start : 0;
    free(regions);
    NEED(selection_grid(selection, ns, start, 128, CELLS, SESSION_COLOR_SIZE, cells, problem));
    for (size_t i = 0; i < CELLS; i++) {
        mix_number(number, cells[i].used);
        mix_number(number, cells[i].id);
        mix_number(number, cells[i].color);
    }
    for (uint64_t address = start; address < start + 20000; address += 1000) {
        uint64_t below, above, last;
        session_neighbours(of, ns, address, &below, &above);
        mix_number(number, below);
        mix_number(number, above);
        mix_number(number, session_allocation_at(of, ns, address));
        mix_number(number, session_address_history(of, ns, address, &last));
        mix_number(number, last);
    }
    return true;
}

static bool mix_rows(struct session *of, struct selection *selection, uint64_t *number)
{
    struct session_allocation row;
    struct session_frame frames[64];
    for (uint64_t i = 0; i < 20 && selection_row(selection, i * 7, &row); i++) {
        mix_number(number, row.id);
        const size_t known = session_stack(of, row.stack, frames, 64);
        for (size_t frame = 0; frame < known && frame < 64; frame++)
            mix_number(number, frames[frame].pc);
        mix_number(number, session_stack_call_site(of, row.stack));
    }
    return true;
}

/* Mixes the answers of all blocking functions into one number, the data of the call. */
static bool ask_everything(struct session *of, struct selection *selection, void *data,
                           struct session_error *problem)
{
    uint64_t *number = data;
    *number = 7;
    return mix_sums(of, selection, number, problem) &&
           mix_functions(of, selection, number, problem) &&
           mix_addresses(of, selection, number, problem) && mix_rows(of, selection, number);
}

static void check_selection(const char *text)
{
    struct selection *right = selection_new(plain, text, &error);
    assert_non_null(right);
    ASK(job, .kind = SESSION_ASK_SELECTION, .text = text);
    const struct session_totals *totals = &job_answer->totals;
    assert_int_equal(totals->count, selection_count(right));
    assert_int_equal(totals->chosen_from, selection_chosen_from(right));
    assert_int_equal(totals->allocations, selection_allocations(right));
    assert_int_equal(totals->bytes, selection_bytes(right));
    assert_int_equal(totals->live_bytes, selection_live_bytes(right));
    assert_int_equal(totals->live_count, selection_live_count(right));
    uint64_t expected, *number = malloc(sizeof(*number));
    assert_non_null(number);
    assert_true(ask_everything(plain, right, &expected, &error));
    struct session_job *call = ask(&(struct session_question){.kind = SESSION_ASK_CALL,
                                                              .selection = job_answer->selection,
                                                              .call = ask_everything,
                                                              .data = number,
                                                              .release = free});
    /* The call has a share of the selection. */
    session_job_free(job);
    wait_for(call);
    assert_int_equal(*number, expected);
    session_job_free(call);
    selection_free(right);
}

static void answers_equal_blocking_ones(void **state)
{
    check_selection("all");
    check_selection("live at peak | where size > 64");
    check_selection("all | where lifetime < 1ms | color red where size > 1K | sort size desc");
    check_selection("all | where size < 0");
    ASK(newer, .kind = SESSION_ASK_NEWER);
    assert_null(newer_answer->newer);
    session_job_free(newer);
}

/* Each row of a sample represents a number of blocks, and its sums go another way. */
static void estimates_of_a_sample_equal_blocking_ones(void **state)
{
    close_both(NULL);
    assert_true(fixture_sql(path, "INSERT OR REPLACE INTO meta VALUES('sample_interval', 700)"));
    assert_int_equal(open_both(NULL), 0);
    assert_true(session_sampled(session));
    check_selection("all");
    check_selection("all | where lifetime < 1ms");
    assert_true(fixture_sql(path, "DELETE FROM meta WHERE key = 'sample_interval'"));
}

static void an_estimate_comes_first(void **state)
{
    static const char text[] = "all | where size in 40..2K and lifetime > 1us";
    const struct session_answer *estimate = NULL;
    close_both(NULL);
    assert_true(fixture_sample_all(path));
    assert_int_equal(open_both(NULL), 0);
    struct selection *right = selection_new(plain, text, &error);
    /* The exact answer may follow before this thread looks: then it asks again. */
    for (int i = 0; i < 1000 && !estimate; i++) {
        struct session_job *job =
            ask(&(struct session_question){.kind = SESSION_ASK_SELECTION, .text = text});
        while (session_job_poll(job, NULL) <= SESSION_JOB_RUNNING && !estimate)
            estimate = session_job_answer(job);
        if (estimate && !estimate->estimate)
            estimate = NULL;
        if (estimate) {
            assert_null(estimate->selection);
            assert_int_equal(estimate->totals.count, selection_count(right));
            assert_int_equal(estimate->totals.bytes, selection_bytes(right));
            assert_int_equal(estimate->totals.live_bytes, selection_live_bytes(right));
            assert_int_equal(estimate->standard_errors.bytes, 0);
        }
        const struct session_answer *exact = wait_for(job);
        assert_int_equal(exact->totals.bytes, selection_bytes(right));
        session_job_free(job);
    }
    assert_non_null(estimate);
    selection_free(right);
    assert_true(fixture_sql(path, "DELETE FROM sample_chunk"));
}

/* Each answer makes the descriptor readable, and nothing else does. */
static void the_descriptor_wakes(void **state)
{
    struct pollfd waits = {.fd = session_jobs_descriptor(), .events = POLLIN};
    eventfd_t count;
    assert_true(waits.fd >= 0);
    eventfd_read(waits.fd, &count); /* what earlier tests have left */
    assert_int_equal(poll(&waits, 1, 0), 0);
    for (int i = 0; i < 3; i++) {
        struct session_job *job =
            ask(&(struct session_question){.kind = SESSION_ASK_SELECTION, .text = "all"});
        do {
            assert_int_equal(poll(&waits, 1, -1), 1);
            assert_int_equal(eventfd_read(waits.fd, &count), 0);
        } while (session_job_poll(job, NULL) == SESSION_JOB_RUNNING); /* an estimate */
        assert_int_equal(session_job_poll(job, NULL), SESSION_JOB_DONE);
        eventfd_read(waits.fd, &count); /* it may have ended after an estimate was read */
        assert_int_equal(poll(&waits, 1, 0), 0);
        session_job_free(job);
    }
}

static void errors_are_those_of_blocking_calls(void **state)
{
    struct session_job *job =
        ask(&(struct session_question){.kind = SESSION_ASK_SELECTION, .text = "all | where sise"});
    assert_int_equal(session_job_wait(job, -1), SESSION_JOB_FAILED);
    assert_null(session_job_answer(job));
    assert_null(selection_new(plain, "all | where sise", &error));
    assert_string_equal(session_job_error(job)->message, error.message);
    assert_int_equal(session_job_error(job)->column, error.column);
    session_job_free(job);
    job = ask(&(struct session_question){.kind = SESSION_ASK_PROCESS, .process = 77});
    assert_int_equal(session_job_wait(job, -1), SESSION_JOB_FAILED);
    session_job_free(job);
}

static void a_newer_question_of_a_kind_cancels_the_older(void **state)
{
    const struct session_question long_one = {.kind = SESSION_ASK_SELECTION,
                                              .text = "all | sort type desc | top 100000"};
    const struct session_question elsewhere = {
        .kind = SESSION_ASK_SELECTION, .text = "all | where size > 100", .place = 1};
    for (int again = 0; again < 10; again++) {
        struct session_job *first = ask(&long_one);
        struct session_job *other = ask(&elsewhere);
        while (again % 2 != 0 && session_job_poll(first, NULL) == SESSION_JOB_WAITING)
            usleep(100);
        struct session_job *second = ask(&(struct session_question){
            .kind = SESSION_ASK_SELECTION, .text = "all | where size > 1K"});
        const enum session_job_state state_of_first = session_job_poll(first, NULL);
        assert_true(state_of_first == SESSION_JOB_CANCELLED || state_of_first == SESSION_JOB_DONE);
        wait_for(second);
        wait_for(other);
        session_job_free(first);
        session_job_free(second);
        session_job_free(other);
    }
}

/* ---- the storm ---- */

enum { FILTERS = 6, STORM = 1500, HELD = 12 };

static const char *const filters[FILTERS] = {
    "all",
    "live at peak",
    "all | where size > 100 and lifetime < 1ms",
    "all | where stack has \"main\" or size in 10..20",
    "all | sort lifetime desc | top 5000",
    "(all | where thread == 1) + (live at end) - (all | where size < 30)",
};

/* The questions about a selection, beside the selection itself. */
enum topic { PEAK, TIMELINE, FUNCTIONS, TOPICS };

/* The data of a call. */
struct topic_data {
    enum topic topic;
    uint64_t number; /* stands for the whole answer */
};

static atomic_int living; /* data of calls */

static struct topic_data *topic_new(enum topic topic)
{
    struct topic_data *data = calloc(1, sizeof(*data));
    assert_non_null(data);
    data->topic = topic;
    atomic_fetch_add(&living, 1);
    return data;
}

static void topic_free(void *data)
{
    free(data);
    atomic_fetch_sub(&living, 1);
}

static bool answer_topic(struct session *of, struct selection *selection, void *data,
                         struct session_error *problem)
{
    struct topic_data *topic = data;
    struct session_slot slots[SLOTS];
    struct session_function_row *rows;
    size_t count;
    switch (topic->topic) {
    case PEAK:
        mix_number(&topic->number, selection_peak_bytes(selection));
        return true;
    case TIMELINE:
        NEED(selection_timeline(selection, 0, session_duration_ns(of) + 1, SLOTS,
                                SESSION_COLOR_TYPE, slots, problem));
        mix(&topic->number, slots, sizeof(slots));
        return true;
    default:
        NEED(selection_functions(selection, &rows, &count, problem));
        mix(&topic->number, rows, count * sizeof(*rows));
        free(rows);
        return true;
    }
}

struct expected {
    struct session_totals totals;
    uint64_t number[TOPICS];
};

struct held {
    struct session_job *job;
    struct topic_data *data; /* NULL: a selection was asked for */
    size_t filter;
};

static void expect(struct expected *expected, const char *text)
{
    struct selection *right = selection_new(plain, text, &error);
    assert_non_null(right);
    expected->totals.count = selection_count(right);
    expected->totals.bytes = selection_bytes(right);
    for (int topic = 0; topic < TOPICS; topic++) {
        struct topic_data data = {.topic = (enum topic)topic};
        assert_true(answer_topic(plain, right, &data, &error));
        expected->number[topic] = data.number;
    }
    selection_free(right);
}

static void check_held(const struct held *held, const struct expected *expected)
{
    const struct session_answer *answer = session_job_answer(held->job);
    assert_non_null(answer);
    if (held->data) {
        assert_int_equal(held->data->number, expected->number[held->data->topic]);
        return;
    }
    assert_int_equal(answer->totals.count, expected->totals.count);
    assert_int_equal(answer->totals.bytes, expected->totals.bytes);
}

static unsigned random_below(unsigned bound)
{
    static uint64_t random = 11;
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)((random >> 33) % bound);
}

static void ask_any(struct held *held, struct selection *const *selections)
{
    const unsigned topic = random_below(TOPICS + 1);
    held->filter = random_below(FILTERS);
    held->data = topic < TOPICS ? topic_new((enum topic)topic) : NULL;
    held->job = ask(
        &(struct session_question){.kind = held->data ? SESSION_ASK_CALL : SESSION_ASK_SELECTION,
                                   .place = topic * 3 + random_below(3),
                                   .text = filters[held->filter],
                                   .selection = selections[held->filter],
                                   .call = answer_topic,
                                   .data = held->data,
                                   .release = topic_free});
}

static void a_storm_of_questions_is_answered_right(void **state)
{
    struct expected expected[FILTERS];
    struct selection *selections[FILTERS];
    struct held held[HELD] = {{.job = NULL}};
    size_t done = 0, stopped = 0;
    for (size_t i = 0; i < FILTERS; i++) {
        expect(&expected[i], filters[i]);
        selections[i] = select_text(filters[i]);
    }
    for (int i = 0; i < STORM; i++) {
        struct held *one = &held[random_below(HELD)];
        if (one->job) {
            const bool patient = random_below(3) == 0;
            if (patient)
                session_job_wait(one->job, -1);
            const enum session_job_state before = session_job_poll(one->job, NULL);
            assert_true(before != SESSION_JOB_FAILED);
            if (before == SESSION_JOB_DONE)
                check_held(one, &expected[one->filter]);
            done += before == SESSION_JOB_DONE;
            stopped += before == SESSION_JOB_RUNNING;
            if (random_below(2) == 0) {
                session_job_cancel(one->job);
                /* The engine notices it before the job is freed, or in the middle of that. */
                if (random_below(2) == 0)
                    usleep((useconds_t)random_below(300));
            }
            session_job_free(one->job);
        }
        ask_any(one, selections);
        /* A selection that is asked for again takes the place of the old one: jobs hold a share. */
        if (random_below(40) == 0) {
            const size_t filter = random_below(FILTERS);
            selection_free(selections[filter]);
            selections[filter] = NULL;
            struct session_job *job = ask(&(struct session_question){
                .kind = SESSION_ASK_SELECTION, .place = 99, .text = filters[filter]});
            selections[filter] = selection_share(wait_for(job)->selection);
            session_job_free(job);
        }
    }
    /* Some were answered, and some were stopped while the engine worked on them. */
    assert_in_range(done, 50, STORM);
    assert_in_range(stopped, 5, STORM);
    for (size_t i = 0; i < FILTERS; i++)
        selection_free(selections[i]);
    for (size_t i = 0; i < HELD; i += 2)
        session_job_free(held[i].job);
    /* Stopping frees the others, and the data of all calls. */
    session_jobs_stop(jobs);
    jobs = NULL;
    assert_int_equal(living, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_equal_blocking_ones, open_both, close_both),
        cmocka_unit_test_setup_teardown(estimates_of_a_sample_equal_blocking_ones, open_both,
                                        close_both),
        cmocka_unit_test_setup_teardown(an_estimate_comes_first, open_both, close_both),
        cmocka_unit_test_setup_teardown(the_descriptor_wakes, open_both, close_both),
        cmocka_unit_test_setup_teardown(errors_are_those_of_blocking_calls, open_both, close_both),
        cmocka_unit_test_setup_teardown(a_newer_question_of_a_kind_cancels_the_older, open_both,
                                        close_both),
        cmocka_unit_test_setup_teardown(a_storm_of_questions_is_answered_right, open_both,
                                        close_both),
    };
    return cmocka_run_group_tests(tests, make_session, remove_session);
}
