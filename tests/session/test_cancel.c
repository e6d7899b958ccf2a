/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cancels each kind of question at the first time that it looks for a cancel, at the second one,
 * and so on, until it has its answer before. Each cancel must end it with the error that says so,
 * after few more looks, and the next question must be answered. Looks are counted, so the test does
 * not depend on time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "session/groups.h"
#include "session/rows.h"
#include "session/table/selection_state.h"
#include "session/table/recall.h"
#include "session/store/scan.h"
#include "session/stacks.h"

#define PATH "cancel.db"
/* Looks after a cancel: where one loop ends within another. */
enum { LOOKS_AFTER = 8, CELLS = 500 };

static struct session *session;
static struct session_error error;

static void open_fixture(size_t allocations)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = allocations;
    assert_true(fixture_write(PATH, &options));
    session = session_open(PATH, &error);
    if (!session)
        fail_msg("%s", error.message);
    scan_use_threads(session, 1);
    recall_bytes_most = kept_selections_bytes_most = 0; /* each run does all of its work */
}

typedef bool question(const char *text);

/* Asks for all measures of groups, too. */
static bool run_graph(const char *text)
{
    struct graph_result *result = graph_run(session, text, &error);
    const bool good = result && (graph_result_kind(result) != RESULT_GROUPS ||
                                 session_groups_prepare(graph_result_groups(result),
                                                        (1u << MEASURE_TOTAL) - 1, &error));
    graph_result_free(result);
    return good;
}

static bool with_selection(const char *text, bool (*ask)(struct selection *selection))
{
    struct selection *selection = selection_new(session, text, &error);
    const bool good = selection && ask(selection);
    selection_free(selection);
    return good;
}

static bool find_timeline(struct selection *selection)
{
    struct session_slot slots[50];
    return selection_timeline(selection, 0, session_duration_ns(session) / 3, 50,
                              SESSION_COLOR_TYPE, slots, &error);
}

static bool ask_timeline(const char *text)
{
    return with_selection(text, find_timeline);
}

static bool find_functions(struct selection *selection)
{
    struct session_function_row *rows = NULL;
    size_t count;
    const bool good = selection_functions(selection, &rows, &count, &error);
    free(good ? rows : NULL);
    return good;
}

static bool ask_functions(const char *text)
{
    return with_selection(text, find_functions);
}

static bool find_rows(struct selection *selection)
{
    const struct session_row_order order = {ROWS_BY_TYPE, true};
    uint64_t ids[40];
    size_t count;
    return selection_rows(selection, &order, 2500, 40, ids, &count, &error);
}

static bool ask_rows(const char *text)
{
    return with_selection(text, find_rows);
}

static bool find_grid(struct selection *selection)
{
    static uint64_t ns = 1;
    struct session_region *regions;
    struct session_cell cells[CELLS];
    size_t count;
    /* Another moment each time: the last list is kept. */
    ns += session_duration_ns(session) / 1000;
    if (!session_regions(session, ns, &regions, &count, &error))
        return false;
    const uint64_t start = count > 0 ? regions[0].start : 0;
    free(regions);
    return selection_grid(selection, ns, start, 256, CELLS, SESSION_COLOR_FUNCTION, cells, &error);
}

static bool ask_grid(const char *text)
{
    return with_selection(text, find_grid);
}

static bool find_stacks(struct selection *selection)
{
    const struct session_stacks_options options = {
        .split = STACKS_BY_TYPE | STACKS_BY_SIZE, .own_peaks = true, .lifetimes = true};
    struct session_stack_sums *rows = NULL;
    size_t count;
    const bool good = selection_stacks(selection, &options, &rows, &count, &error);
    free(good ? rows : NULL);
    return good;
}

static bool ask_stacks(const char *text)
{
    return with_selection(text, find_stacks);
}

#define FILTER "all | where size >= 100 and lifetime > 1us"

static const struct {
    question *ask;
    const char *text;
} questions[] = {
    {run_graph, FILTER},
    {run_graph, "all | join stack | sort peak_bytes desc"},
    {run_graph, "all | join function, size"},
    {run_graph, "all | join size, stack, thread"},
    {run_graph, "all | join user | where bytes > 1K | ungroup"},
    {run_graph, "all | join frame 2 | top 3"},
    {run_graph, "all | fold 1K"},
    {run_graph, "all | where stack ~ \"^.*[a-z]1$\""},
    {run_graph, "all | sort type"},
    {run_graph, "live at peak | where pins > 16"},
    {run_graph, FILTER " | peak"},
    {run_graph, FILTER " | sum size"},
    {run_graph, "growth start..peak"},
    {run_graph, "(all | where size > 64) & (live at peak) - (all | where size > 4K)"},
    {ask_timeline, FILTER},
    {ask_functions, FILTER},
    {ask_rows, FILTER},
    {ask_grid, "all"},
    {ask_stacks, FILTER},
};
enum { QUESTIONS = sizeof(questions) / sizeof(*questions) };

/* Cancels a question ever later. Returns how many looks it takes to answer. */
static uint64_t cancel_all_the_way(question *ask, const char *text)
{
    for (uint64_t look = 1;; look += 1 + look / 6) {
        error = (struct session_error){.column = 0};
        scan_cancel_at(session, look);
        const bool answered = ask(text);
        const bool cancelled = scan_cancelled(session);
        const uint64_t looks = scan_cancel_at(session, 0) - 1;
        scan_cancel(session, false);
        if (answered && looks >= look)
            fail_msg("%s: answered although look %llu said not to", text, (unsigned long long)look);
        if (answered)
            return looks;
        if (!cancelled || !strstr(error.message, "cancelled"))
            fail_msg("%s, look %llu: %s", text, (unsigned long long)look, error.message);
        if (looks > look + LOOKS_AFTER)
            fail_msg("%s: %llu looks after the cancel at %llu", text,
                     (unsigned long long)(looks - look), (unsigned long long)look);
    }
}

/* A longer session has more looks: those of its chunks at least. */
static void test_all_kinds(void **state)
{
    uint64_t looks[QUESTIONS];
    open_fixture(3000);
    for (size_t i = 0; i < QUESTIONS; i++) {
        looks[i] = cancel_all_the_way(questions[i].ask, questions[i].text);
        assert_true(looks[i] > 0);
    }
    session_close(session);
    open_fixture(2 * COLUMN_CHUNK_ROWS + 3000);
    for (size_t i = 0; i < QUESTIONS; i += 3)
        assert_true(cancel_all_the_way(questions[i].ask, questions[i].text) >= looks[i] + 2);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
