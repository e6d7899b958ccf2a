/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ingest that is interrupted at the beginning of a phase does not come to the next one: the long
 * loops of the phase look at the flag. Each test sets it there, without a signal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "ingest/ingest.h"
#include "ingest/replay/call_tree.h"
#include "ingest/write/session_tables.h"
#include "tests/ingest/replay_fixture.h"

#define TRACE "interrupt.bin"
#define SESSION "interrupt.db"

enum { START = 1000, BLOCKS = 100 };

static volatile sig_atomic_t interrupted;

static struct trace_builder *build(void)
{
    struct trace_builder *builder = trace_builder_new(1 << 16, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, START);
    for (uint32_t id = 1; id <= BLOCKS; id++) {
        lane_node(&lane, id, id / 2, TRACE_FRAME_RETURN, 0, 0x1000 + id * 16);
        lane_alloc(&lane, START + id * 10, 0x10000 + id * 0x100, id, id);
    }
    return builder;
}

/* ---- the phases ---- */

struct phases {
    enum ingest_phase stop_in;
    unsigned seen; /* one bit for each */
};

static void note_phase(void *context, enum ingest_phase phase, uint64_t done, uint64_t total)
{
    struct phases *phases = context;
    phases->seen |= 1u << phase;
    if (phase == phases->stop_in)
        interrupted = SIGTERM;
}

static unsigned phases_until(enum ingest_phase stop_in)
{
    struct phases phases = {.stop_in = stop_in};
    struct trace_builder *builder = build();
    struct ingest_summary summary = {.program = NULL};
    struct ingest_status status = {INGEST_OK, ""};
    const struct ingest_options options = {.trace = TRACE,
                                           .session = SESSION,
                                           .writer = {.interrupted = &interrupted},
                                           .progress = note_phase,
                                           .progress_context = &phases};
    interrupted = 0;
    trace_builder_end(builder, TRACE_STATE_ENDED, UINT64_C(1) << 40);
    trace_builder_save(builder, TRACE);
    trace_builder_free(builder);
    assert_false(ingest_run(&options, &summary, &status));
    assert_int_equal(status.code, INGEST_INTERRUPTED);
    assert_int_not_equal(access(SESSION, F_OK), 0);
    unlink(TRACE);
    return phases.seen;
}

static void test_no_phase_follows(void **state)
{
    assert_int_equal(phases_until(INGEST_SCAN), 1u << INGEST_SCAN);
    assert_int_equal(phases_until(INGEST_REPLAY), 1u << INGEST_SCAN | 1u << INGEST_REPLAY);
    assert_int_equal(phases_until(INGEST_ROWS),
                     1u << INGEST_SCAN | 1u << INGEST_REPLAY | 1u << INGEST_ROWS);
    phases_until(INGEST_WRITE);
}

/* ---- the parts of the last phases ---- */

static bool count_row(void *context, const struct call_tree_row *row)
{
    ++*(size_t *)context;
    return true;
}

static void test_call_tree(void **state)
{
    struct replayed *replayed = replay_built(build());
    struct call_tree tree = {.interrupted = &interrupted};
    struct stack_nodes nodes = {.node = NULL};
    size_t rows = 0;
    interrupted = SIGTERM;
    assert_true(replayed->good);
    assert_true(stack_nodes_number(&nodes, &replayed->stacks, 0, false));
    assert_false(call_tree_stacks(&tree, &nodes, &replayed->stacks, &replayed->totals.stacks));
    assert_int_equal(tree.count, 0);
    interrupted = 0;
    assert_true(call_tree_stacks(&tree, &nodes, &replayed->stacks, &replayed->totals.stacks));
    assert_true(call_tree_finish(&tree));
    interrupted = SIGTERM;
    assert_false(call_tree_each(&tree, count_row, &rows));
    assert_int_equal(rows, 0);
    stack_nodes_free(&nodes);
    call_tree_free(&tree);
    replayed_free(replayed);
}

/* Rows of tables that follow a loop over all stacks. */
static bool count_totals(void *context, enum writer_table table, const struct writer_value *values,
                         size_t count)
{
    *(size_t *)context += table == WRITER_FUNCTION_TOTAL || table == WRITER_TYPE_CANDIDATE;
    return true;
}

static void test_tables(void **state)
{
    struct replayed *replayed = replay_built(build());
    struct stack_nodes nodes = {.node = NULL};
    size_t rows = 0;
    assert_true(stack_nodes_number(&nodes, &replayed->stacks, 0, false));
    const struct table_sink sink = {&rows, count_totals};
    const struct session_facts facts = {.file = replayed->file,
                                        .scan = &replayed->scan,
                                        .replay = &replayed->replay,
                                        .problems = &replayed->problems,
                                        .stacks = &replayed->stacks,
                                        .nodes = &nodes,
                                        .totals = &replayed->totals,
                                        .interrupted = &interrupted};
    interrupted = 0;
    assert_true(session_tables_put(&sink, &facts));
    assert_true(rows > 0);
    rows = 0;
    interrupted = SIGTERM;
    assert_false(session_tables_put(&sink, &facts));
    assert_int_equal(rows, 0);
    stack_nodes_free(&nodes);
    replayed_free(replayed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_phase_follows),
        cmocka_unit_test(test_call_tree),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
