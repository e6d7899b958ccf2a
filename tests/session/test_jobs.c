/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions that do not block: each kind gives the answer of its blocking function, a newer
 * question of a kind cancels the older, and a storm of questions, cancels and frees leaves the
 * answers right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <poll.h>
#include <unistd.h>

#include "fixture.h"
#include "session/data/session_state.h"
#include "session/jobs.h"
#include "session/scan/scan.h"

#define SLOTS 50
#define CELLS 300

static const char path[] = "test_jobs.db";
static struct session_error error;

/* `plain` answers by blocking calls, `session` by jobs. */
static struct session *plain, *session;
static struct session_jobs *jobs;

static int make_session(void **state)
{
    (void)state;
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 5 * (size_t)COLUMN_CHUNK_ROWS;
    return fixture_write(path, &options) ? 0 : -1;
}

static int remove_session(void **state)
{
    (void)state;
    return unlink(path);
}

static int open_both(void **state)
{
    (void)state;
    plain = session_open(path, &error);
    session = session_open(path, &error);
    scan_use_threads(plain, 1);
    scan_use_threads(session, 4);
    jobs = session_jobs_start(session, &error);
    return plain && session && jobs ? 0 : -1;
}

static int close_both(void **state)
{
    (void)state;
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
    struct selection *selection = selection_share(wait_for(job)->selected.selection);
    session_job_free(job);
    return selection;
}

/* Asks a question and keeps the answer in `job`. */
#define ASK(job, ...)                                                                              \
    struct session_job *job = ask(&(struct session_question){__VA_ARGS__});                        \
    const struct session_answer *job##_answer = wait_for(job)

static void check_selection(const char *text)
{
    struct selection *right = selection_new(plain, text, &error);
    ASK(job, .kind = SESSION_ASK_SELECTION, .text = text);
    const struct session_totals *totals = &job_answer->selected.totals;
    assert_int_equal(totals->count, selection_count(right));
    assert_int_equal(totals->chosen_from, selection_chosen_from(right));
    assert_int_equal(totals->allocations, selection_allocations(right));
    assert_int_equal(totals->bytes, selection_bytes(right));
    assert_int_equal(totals->live_bytes, selection_live_bytes(right));
    assert_int_equal(totals->live_count, selection_live_count(right));
    struct selection *selection = job_answer->selected.selection;
    ASK(peak, .kind = SESSION_ASK_PEAK, .selection = selection);
    assert_int_equal(peak_answer->peak.bytes, selection_peak_bytes(right));
    assert_int_equal(peak_answer->peak.ns, selection_peak_ns(right));
    for (int by = SESSION_COLOR_NONE; by <= SESSION_COLOR_KIND; by++) {
        struct session_legend legend;
        selection_legend(right, (enum session_color_by)by, &legend);
        ASK(other, .kind = SESSION_ASK_LEGEND, .selection = selection,
            .by = (enum session_color_by)by);
        assert_int_equal(other_answer->legend.count, legend.count);
        for (size_t i = 0; i < legend.count; i++) {
            assert_string_equal(other_answer->legend.entry[i].label, legend.entry[i].label);
            assert_int_equal(other_answer->legend.entry[i].bytes, legend.entry[i].bytes);
        }
        session_job_free(other);
    }
    session_job_free(job);
    session_job_free(peak);
    selection_free(right);
}

static void selections_equal_blocking_ones(void **state)
{
    (void)state;
    check_selection("all");
    check_selection("live at peak | where size > 64");
    check_selection("all | where lifetime < 1ms | color red where size > 1K | sort size desc");
}

static void sums_equal_blocking_ones(void **state)
{
    (void)state;
    const char text[] = "all | where size >= 32";
    const uint64_t end = session_duration_ns(plain) + 1;
    struct selection *right = selection_new(plain, text, &error);
    struct selection *selection = select_text(text);
    struct session_slot slots[SLOTS];
    assert_true(selection_timeline(right, 0, end, SLOTS, SESSION_COLOR_FUNCTION, slots, &error));
    ASK(timeline, .kind = SESSION_ASK_TIMELINE, .selection = selection, .to_ns = end,
        .count = SLOTS, .by = SESSION_COLOR_FUNCTION);
    assert_int_equal(timeline_answer->timeline.count, SLOTS);
    assert_memory_equal(timeline_answer->timeline.slots, slots, sizeof(slots));
    struct session_share shares[5];
    const size_t found = selection_top_functions(right, end / 4, end / 2, shares, 5);
    ASK(top, .kind = SESSION_ASK_TOP_FUNCTIONS, .selection = selection, .from_ns = end / 4,
        .to_ns = end / 2, .count = 5);
    assert_int_equal(top_answer->top.count, found);
    assert_memory_equal(top_answer->top.shares, shares, found * sizeof(*shares));
    struct session_function_row *rows;
    size_t count;
    assert_true(selection_functions(right, &rows, &count, &error));
    ASK(functions, .kind = SESSION_ASK_FUNCTIONS, .selection = selection);
    assert_int_equal(functions_answer->functions.count, count);
    assert_memory_equal(functions_answer->functions.rows, rows, count * sizeof(*rows));
    struct session_edge *callers, *callees;
    size_t caller_count, callee_count;
    assert_true(selection_edges(right, rows[3].function, &callers, &caller_count, &callees,
                                &callee_count, &error));
    ASK(edges, .kind = SESSION_ASK_EDGES, .selection = selection, .id = rows[3].function);
    assert_int_equal(edges_answer->edges.caller_count, caller_count);
    assert_int_equal(edges_answer->edges.callee_count, callee_count);
    assert_memory_equal(edges_answer->edges.callers, callers, caller_count * sizeof(*callers));
    assert_memory_equal(edges_answer->edges.callees, callees, callee_count * sizeof(*callees));
    free(rows);
    free(callers);
    free(callees);
    selection_free(right);
    selection_free(selection);
    session_job_free(timeline);
    session_job_free(top);
    session_job_free(functions);
    session_job_free(edges);
}

static void check_addresses(uint64_t ns, uint64_t address)
{
    uint64_t below, above, last;
    session_neighbours(plain, ns, address, &below, &above);
    ASK(at, .kind = SESSION_ASK_ALLOCATION_AT, .ns = ns, .address = address);
    assert_int_equal(at_answer->allocation_at, session_allocation_at(plain, ns, address));
    ASK(neighbours, .kind = SESSION_ASK_NEIGHBOURS, .ns = ns, .address = address);
    assert_int_equal(neighbours_answer->neighbours.below, below);
    assert_int_equal(neighbours_answer->neighbours.above, above);
    ASK(history, .kind = SESSION_ASK_ADDRESS_HISTORY, .ns = ns, .address = address);
    assert_int_equal(history_answer->history.freed,
                     session_address_history(plain, ns, address, &last));
    assert_int_equal(history_answer->history.last_free_ns, last);
    session_job_free(at);
    session_job_free(neighbours);
    session_job_free(history);
}

static void addresses_equal_blocking_ones(void **state)
{
    (void)state;
    const uint64_t ns = session_peak_ns(plain);
    struct session_region *regions;
    size_t count;
    struct session_cell cells[CELLS];
    struct selection *right = selection_new(plain, "all | where size > 64", &error);
    struct selection *selection = select_text("all | where size > 64");
    assert_true(session_regions(plain, ns, &regions, &count, &error));
    ASK(other, .kind = SESSION_ASK_REGIONS, .ns = ns);
    assert_int_equal(other_answer->regions.count, count);
    assert_memory_equal(other_answer->regions.regions, regions, count * sizeof(*regions));
    assert_true(
        selection_grid(right, ns, regions[0].start, 128, CELLS, SESSION_COLOR_SIZE, cells, &error));
    ASK(grid, .kind = SESSION_ASK_GRID, .selection = selection, .ns = ns,
        .address = regions[0].start, .bytes_per_cell = 128, .count = CELLS,
        .by = SESSION_COLOR_SIZE);
    for (size_t i = 0; i < CELLS; i++) {
        assert_int_equal(grid_answer->grid.cells[i].used, cells[i].used);
        assert_int_equal(grid_answer->grid.cells[i].id, cells[i].id);
        assert_int_equal(grid_answer->grid.cells[i].color, cells[i].color);
    }
    for (uint64_t step = 0; step < 20; step++)
        check_addresses(ns, regions[0].start + step * 1000);
    free(regions);
    selection_free(right);
    selection_free(selection);
    session_job_free(other);
    session_job_free(grid);
}

static void single_rows_equal_blocking_ones(void **state)
{
    (void)state;
    const char text[] = "all | sort size desc";
    struct selection *right = selection_new(plain, text, &error);
    struct selection *selection = select_text(text);
    struct session_allocation row;
    struct session_frame frames[64];
    ASK(rows, .kind = SESSION_ASK_ROWS, .selection = selection, .first = 1000, .count = 20);
    assert_int_equal(rows_answer->rows.count, 20);
    for (size_t i = 0; i < 20; i++) {
        assert_true(selection_row(right, 1000 + i, &row));
        assert_int_equal(rows_answer->rows.rows[i].id, row.id);
    }
    ASK(end, .kind = SESSION_ASK_ROWS, .selection = selection, .first = selection_count(right) - 3,
        .count = 20);
    assert_int_equal(end_answer->rows.count, 3);
    ASK(one, .kind = SESSION_ASK_ALLOCATION, .id = row.id);
    assert_memory_equal(&one_answer->allocation, &row, sizeof(row));
    ASK(stack, .kind = SESSION_ASK_STACK, .id = row.stack, .count = 64);
    const size_t known = session_stack(plain, row.stack, frames, 64);
    assert_int_equal(stack_answer->stack.known, known);
    for (size_t i = 0; i < known && i < 64; i++)
        assert_int_equal(stack_answer->stack.frames[i].pc, frames[i].pc);
    assert_int_equal(stack_answer->stack.call_site, session_stack_call_site(plain, row.stack));
    struct session_mismatch worst;
    assert_true(session_worst_mismatch(plain, &worst, &error));
    ASK(mismatch, .kind = SESSION_ASK_WORST_MISMATCH);
    assert_int_equal(mismatch_answer->mismatch.allocations, worst.allocations);
    struct session_member member[10];
    size_t count;
    uint64_t size;
    assert_true(session_type_members(plain, row.type, member, 10, &count, &size, &error));
    ASK(members, .kind = SESSION_ASK_TYPE_MEMBERS, .id = row.type, .count = 10);
    assert_int_equal(members_answer->type.known, count);
    assert_int_equal(members_answer->type.size, size);
    ASK(newer, .kind = SESSION_ASK_NEWER);
    assert_null(newer_answer->newer);
    session_job_free(rows);
    session_job_free(end);
    session_job_free(one);
    session_job_free(stack);
    session_job_free(mismatch);
    session_job_free(members);
    session_job_free(newer);
    selection_free(right);
    selection_free(selection);
}

static void errors_are_those_of_blocking_calls(void **state)
{
    (void)state;
    struct session_job *job =
        ask(&(struct session_question){.kind = SESSION_ASK_SELECTION, .text = "all | where sise"});
    assert_int_equal(session_job_wait(job, -1), SESSION_JOB_FAILED);
    assert_null(session_job_answer(job));
    assert_null(selection_new(plain, "all | where sise", &error));
    assert_string_equal(session_job_error(job)->message, error.message);
    assert_int_equal(session_job_error(job)->column, error.column);
    session_job_free(job);
    job = ask(&(struct session_question){.kind = SESSION_ASK_ALLOCATION, .id = 1u << 30});
    assert_int_equal(session_job_wait(job, -1), SESSION_JOB_FAILED);
    session_job_free(job);
    job = ask(&(struct session_question){.kind = SESSION_ASK_PROCESS, .id = 77});
    assert_int_equal(session_job_wait(job, -1), SESSION_JOB_FAILED);
    session_job_free(job);
    job = ask(&(struct session_question){.kind = SESSION_ASK_PEAK});
    assert_int_equal(session_job_wait(job, -1), SESSION_JOB_FAILED);
    session_job_free(job);
}

static void a_newer_question_of_a_kind_cancels_the_older(void **state)
{
    (void)state;
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

static void the_descriptor_tells_of_an_end(void **state)
{
    (void)state;
    struct pollfd change = {.fd = session_jobs_descriptor(jobs), .events = POLLIN};
    session_jobs_clear(jobs);
    assert_int_equal(poll(&change, 1, 0), 0);
    struct session_job *job =
        ask(&(struct session_question){.kind = SESSION_ASK_SELECTION, .text = "live"});
    while (session_job_poll(job, NULL) != SESSION_JOB_DONE) {
        assert_int_equal(poll(&change, 1, 60000), 1);
        session_jobs_clear(jobs);
    }
    session_job_free(job);
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

/* Numbers that represent the whole answer. */
struct expected {
    struct session_totals totals;
    uint64_t peak_bytes, timeline, functions;
};

struct held {
    struct session_job *job;
    enum session_question_kind kind;
    size_t filter;
};

static uint64_t timeline_number(const struct session_slot *slots, size_t count)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++)
        number = number * 31 + slots[i].live_bytes + slots[i].peak_bytes * 7 +
                 slots[i].color_bytes[1] * 3 + slots[i].freed_count;
    return number;
}

static uint64_t functions_number(const struct session_function_row *rows, size_t count)
{
    uint64_t number = count;
    for (size_t i = 0; i < count; i++)
        number = number * 31 + rows[i].self_bytes + rows[i].total_count * 5 + rows[i].short_lived;
    return number;
}

static void expect(struct expected *expected, const char *text)
{
    struct selection *right = selection_new(plain, text, &error);
    struct session_slot slots[SLOTS];
    struct session_function_row *rows;
    size_t count;
    assert_non_null(right);
    expected->totals.count = selection_count(right);
    expected->totals.bytes = selection_bytes(right);
    expected->peak_bytes = selection_peak_bytes(right);
    assert_true(selection_timeline(right, 0, session_duration_ns(plain) + 1, SLOTS,
                                   SESSION_COLOR_TYPE, slots, &error));
    expected->timeline = timeline_number(slots, SLOTS);
    assert_true(selection_functions(right, &rows, &count, &error));
    expected->functions = functions_number(rows, count);
    free(rows);
    selection_free(right);
}

static void check_held(const struct held *held, const struct expected *expected)
{
    const struct session_answer *answer = session_job_answer(held->job);
    assert_non_null(answer);
    assert_int_equal(answer->kind, held->kind);
    switch (held->kind) {
    case SESSION_ASK_SELECTION:
        assert_int_equal(answer->selected.totals.count, expected->totals.count);
        assert_int_equal(answer->selected.totals.bytes, expected->totals.bytes);
        break;
    case SESSION_ASK_PEAK:
        assert_int_equal(answer->peak.bytes, expected->peak_bytes);
        break;
    case SESSION_ASK_TIMELINE:
        assert_int_equal(timeline_number(answer->timeline.slots, answer->timeline.count),
                         expected->timeline);
        break;
    default:
        assert_int_equal(functions_number(answer->functions.rows, answer->functions.count),
                         expected->functions);
        break;
    }
}

static unsigned random_below(unsigned bound)
{
    static uint64_t random = 11;
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)((random >> 33) % bound);
}

static void ask_any(struct held *held, struct selection *const *selections)
{
    static const enum session_question_kind kinds[] = {SESSION_ASK_SELECTION, SESSION_ASK_PEAK,
                                                       SESSION_ASK_TIMELINE, SESSION_ASK_FUNCTIONS};
    held->kind = kinds[random_below(4)];
    held->filter = random_below(FILTERS);
    held->job = ask(&(struct session_question){.kind = held->kind,
                                               .place = random_below(3),
                                               .text = filters[held->filter],
                                               .selection = selections[held->filter],
                                               .to_ns = session_duration_ns(plain) + 1,
                                               .count = SLOTS,
                                               .by = SESSION_COLOR_TYPE});
}

static void a_storm_of_questions_is_answered_right(void **state)
{
    (void)state;
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
            if (random_below(2) == 0)
                session_job_cancel(one->job);
            session_job_free(one->job);
        }
        ask_any(one, selections);
        /* A selection that is asked for again takes the place of the old one: jobs hold a share. */
        if (random_below(40) == 0) {
            const size_t filter = random_below(FILTERS);
            selection_free(selections[filter]);
            selections[filter] = NULL;
            struct session_job *job = ask(&(struct session_question){
                .kind = SESSION_ASK_SELECTION, .place = 9, .text = filters[filter]});
            selections[filter] = selection_share(wait_for(job)->selected.selection);
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(selections_equal_blocking_ones, open_both, close_both),
        cmocka_unit_test_setup_teardown(sums_equal_blocking_ones, open_both, close_both),
        cmocka_unit_test_setup_teardown(addresses_equal_blocking_ones, open_both, close_both),
        cmocka_unit_test_setup_teardown(single_rows_equal_blocking_ones, open_both, close_both),
        cmocka_unit_test_setup_teardown(errors_are_those_of_blocking_calls, open_both, close_both),
        cmocka_unit_test_setup_teardown(a_newer_question_of_a_kind_cancels_the_older, open_both,
                                        close_both),
        cmocka_unit_test_setup_teardown(the_descriptor_tells_of_an_end, open_both, close_both),
        cmocka_unit_test_setup_teardown(a_storm_of_questions_is_answered_right, open_both,
                                        close_both),
    };
    return cmocka_run_group_tests(tests, make_session, remove_session);
}
