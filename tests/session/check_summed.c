/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_summed SESSION [spans|TIMES]: compares the answers about all allocations, which come from
 * the sums of ingest where it has made them, with those about `all | where size >= 0`, which come
 * from the rows. With `spans` the session must have sums by time, and the answers must not read any
 * column. With TIMES the sample must hold all rows, each for TIMES rows, and estimates are
 * compared, too. Prints each difference; exit status 1 if there is one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/slot_codec.h"
#include "session/store/session_state.h"
#include "session/table/sample_estimate.h"
#include "session/table/selection_state.h"
#include "session/stacks.h"
#include "session/store/summary.h"
#include "session/table.h"

enum { SLOTS_MOST = 400, SHARES_MOST = 50 };

static struct session *session;
static struct selection *summed, *scanned;
static int differences;

static void compare(const char *what, uint64_t which, uint64_t by_sums, uint64_t by_rows)
{
    if (by_sums == by_rows)
        return;
    printf("%s %" PRIu64 ": by sums %" PRIu64 ", by rows %" PRIu64 "\n", what, which, by_sums,
           by_rows);
    differences++;
}

static uint64_t reads(void)
{
    const struct column_reads done = column_store_reads(session->columns);
    return done.direct + done.by_sqlite;
}

static void check_totals(void)
{
    compare("rows", 0, selection_count(summed), selection_count(scanned));
    compare("allocations", 0, selection_allocations(summed), selection_allocations(scanned));
    compare("bytes", 0, selection_bytes(summed), selection_bytes(scanned));
    compare("live bytes", 0, selection_live_bytes(summed), selection_live_bytes(scanned));
    compare("live count", 0, selection_live_count(summed), selection_live_count(scanned));
    compare("peak bytes", 0, selection_peak_bytes(summed), selection_peak_bytes(scanned));
    compare("peak ns", 0, selection_peak_ns(summed), selection_peak_ns(scanned));
}

static void check_functions(void)
{
    struct session_function_row *a, *b;
    struct session_error error;
    size_t count, other;
    if (!selection_functions(summed, &a, &count, &error) ||
        !selection_functions(scanned, &b, &other, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    compare("functions", 0, count, other);
    for (size_t i = 0; i < count && i < other; i++) {
        const uint64_t id = b[i].function;
        compare("function", i, a[i].function, id);
        compare("self bytes", id, a[i].self_bytes, b[i].self_bytes);
        compare("self count", id, a[i].self_count, b[i].self_count);
        compare("total bytes", id, a[i].total_bytes, b[i].total_bytes);
        compare("total count", id, a[i].total_count, b[i].total_count);
        compare("live bytes", id, a[i].live_bytes, b[i].live_bytes);
        compare("live count", id, a[i].live_count, b[i].live_count);
        compare("kept bytes", id, a[i].kept_bytes, b[i].kept_bytes);
        compare("kept count", id, a[i].kept_count, b[i].kept_count);
        compare("at peak bytes", id, a[i].at_peak_bytes, b[i].at_peak_bytes);
        compare("short-lived", id, a[i].short_lived, b[i].short_lived);
    }
    free(a);
    free(b);
}

static void check_stacks(bool at_peak)
{
    const struct session_stacks_options options = {.at_peak = at_peak, .without_short = true};
    struct session_stack_sums *a, *b;
    struct session_error error;
    size_t count, other;
    if (!selection_stacks(summed, &options, &a, &count, &error) ||
        !selection_stacks(scanned, &options, &b, &other, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    compare("stacks", at_peak, count, other);
    for (size_t i = 0; i < count && i < other; i++) {
        const uint64_t id = b[i].stack;
        compare("stack", i, a[i].stack, id);
        compare("allocations of stack", id, a[i].allocations, b[i].allocations);
        compare("bytes of stack", id, a[i].bytes, b[i].bytes);
        compare("live count of stack", id, a[i].live_count, b[i].live_count);
        compare("live bytes of stack", id, a[i].live_bytes, b[i].live_bytes);
        compare("at peak count of stack", id, a[i].at_peak_count, b[i].at_peak_count);
        compare("at peak bytes of stack", id, a[i].at_peak_bytes, b[i].at_peak_bytes);
    }
    free(a);
    free(b);
}

/* Compares a table of sums with one of rows, and each row with what its filter step selects. */
static void check_table(const char *keys)
{
    static uint64_t moments[2];
    const struct selection_table_query query = {
        .keys = keys,
        .measures = 1u << MEASURE_ALLOCATIONS | 1u << MEASURE_BYTES | 1u << MEASURE_LIVE_BYTES |
                    1u << MEASURE_AT_PEAK_BYTES | 1u << MEASURE_AT_PEAK_COUNT,
        .order = MEASURE_BYTES,
        .moments = moments,
        .moment_count = 2};
    struct session_error error;
    moments[0] = session_duration_ns(session) / 3;
    moments[1] = session_peak_ns(session);
    struct selection_table *a = selection_table(summed, &query, &error);
    struct selection_table *b = a ? selection_table(scanned, &query, &error) : NULL;
    for (size_t row = 0; b && row < b->count; row++) {
        for (size_t i = 0; row < a->count && i < b->column_count; i++)
            compare(keys, row, selection_table_values(a, row)[i],
                    selection_table_values(b, row)[i]);
        if (row % (1 + b->count / 8) != 0)
            continue;
        char *step = selection_table_step(b, row);
        struct graph_result *result = step ? selection_graph(scanned, step, &error) : NULL;
        if (!result) {
            fprintf(stderr, "%s: %s\n", step, error.message);
            exit(1);
        }
        compare(step, row, selection_allocations(graph_result_selection(result)),
                selection_table_values(b, row)[0]);
        compare(step, row, selection_bytes(graph_result_selection(result)),
                selection_table_values(b, row)[1]);
        graph_result_free(result);
        free(step);
    }
    if (!b) {
        fprintf(stderr, "%s: %s\n", keys, error.message);
        exit(1);
    }
    compare(keys, 0, a->count, b->count);
    selection_table_free(a);
    selection_table_free(b);
}

static void check_legend(enum session_color_by by)
{
    struct session_legend a, b;
    selection_legend(summed, by, &a);
    selection_legend(scanned, by, &b);
    compare("categories of colouring", by, a.count, b.count);
    for (size_t i = 0; i < a.count && i < b.count; i++) {
        compare("label of colouring", by, (uint64_t)strcmp(a.entry[i].label, b.entry[i].label), 0);
        compare("bytes of colouring", by, a.entry[i].bytes, b.entry[i].bytes);
        compare("allocations of colouring", by, a.entry[i].allocations, b.entry[i].allocations);
    }
}

static void check_timeline(uint64_t from, uint64_t to, size_t count, enum session_color_by by)
{
    static struct session_slot a[SLOTS_MOST], b[SLOTS_MOST];
    struct session_error error;
    if (!selection_timeline(summed, from, to, count, by, a, &error) ||
        !selection_timeline(scanned, from, to, count, by, b, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        compare("live bytes of slot", i, a[i].live_bytes, b[i].live_bytes);
        compare("live count of slot", i, a[i].live_count, b[i].live_count);
        compare("allocated bytes of slot", i, a[i].allocated_bytes, b[i].allocated_bytes);
        compare("allocated count of slot", i, a[i].allocated_count, b[i].allocated_count);
        compare("freed bytes of slot", i, a[i].freed_bytes, b[i].freed_bytes);
        compare("freed count of slot", i, a[i].freed_count, b[i].freed_count);
        /* By rows the peak is the largest of 17 moments, by sums the largest of all. */
        if (a[i].peak_bytes < b[i].peak_bytes || a[i].peak_bytes > selection_peak_bytes(scanned))
            compare("peak of slot", i, a[i].peak_bytes, b[i].peak_bytes);
        for (size_t color = 0; color < SESSION_COLORS; color++)
            compare("colour of slot", i, a[i].color_bytes[color], b[i].color_bytes[color]);
    }
}

static void check_shares(uint64_t from, uint64_t to)
{
    struct session_share a[SHARES_MOST], b[SHARES_MOST];
    size_t count = selection_top_functions(summed, from, to, a, SHARES_MOST);
    compare("functions of a span", 0, count,
            selection_top_functions(scanned, from, to, b, SHARES_MOST));
    for (size_t i = 0; i < count; i++) {
        compare("function of a span", i, a[i].function, b[i].function);
        compare("bytes of a span", i, a[i].bytes, b[i].bytes);
        compare("count of a span", i, a[i].count, b[i].count);
    }
}

/* Colours that steps gave are not in the sums. */
static void check_colors(void)
{
    static const char small[] = "all | where size <= 100";
    static const char colored[] = "all | color red where size <= 100 | color blue where size > 100";
    struct session_error error;
    struct session_legend legend;
    struct selection *selection = selection_new(session, colored, &error);
    struct selection *red = selection_new(session, small, &error);
    if (!selection || !red) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    const uint64_t count = selection_allocations(red);
    selection_legend(selection, SESSION_COLOR_NONE, &legend);
    const uint64_t all = selection_allocations(scanned);
    const uint64_t colors = all == 0 ? 0 : count > 0 && count < all ? 2 : 1;
    compare("colours", 0, legend.count, colors);
    for (size_t i = 0; i < legend.count; i++)
        if (strstr(legend.entry[i].label, "<="))
            compare("red allocations", i, legend.entry[i].allocations, count);
    selection_free(selection);
    selection_free(red);
}

/* Checks spans that begin and end with ingest's slots, long and short, and others. */
static void check_spans(uint64_t slot_ns, enum session_color_by by)
{
    const uint64_t end = session_duration_ns(session);
    check_timeline(0, slot_ns * SLOT_FINEST, 32, by);
    check_timeline(slot_ns * 256 * 64, slot_ns * 256 * 192, 16, by);
    check_timeline(slot_ns * 16 * 100, slot_ns * 16 * 900, 100, by);
    check_timeline(slot_ns * 20011, slot_ns * 20811, 100, by);
    check_timeline(end / 3 + 17, end / 3 + 17 + 5 * slot_ns + 3, 7, by);
    check_timeline(end / 2, end / 2 + 40, 9, by);
    check_timeline(end - end / 1000, end + 1, 399, by);
}

/* Compares estimates with the exact sums. Each row of the sample stands for `times` rows of the
 * session, all of which are in it. */
static void check_estimates(uint64_t times)
{
    static const char *const texts[] = {"all",
                                        "all | where size > 20",
                                        "live",
                                        "(all | where lifetime < 1ms) + live at peak",
                                        "all | where size in 10..200 and thread == 1",
                                        "all | where freed == true and not (kind == calloc)"};
    static const char *const other[] = {"all | top 5", "all | where id > 5", "all | join type"};
    struct session_error error;
    struct selection_estimate estimate;
    bool known;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct selection *exact = selection_new(session, texts[i], &error);
        if (!exact || !selection_estimate(session, texts[i], &estimate, &known, &error)) {
            fprintf(stderr, "%s: %s\n", texts[i], error.message);
            exit(1);
        }
        compare("an estimate is known", i, known, 1);
        compare("estimated allocations", i, estimate.allocations,
                times * selection_allocations(exact));
        compare("estimated bytes", i, estimate.bytes, times * selection_bytes(exact));
        compare("estimated live count", i, estimate.live_count,
                times * selection_live_count(exact));
        compare("estimated live bytes", i, estimate.live_bytes,
                times * selection_live_bytes(exact));
        compare("an error is known", i, estimate.allocations_error > 0,
                times > 1 && estimate.allocations > 0);
        selection_free(exact);
    }
    for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
        compare("an estimate is refused", i,
                selection_estimate(session, other[i], &estimate, &known, &error) && !known, 1);
    compare("a bad filter is refused", 0,
            selection_estimate(session, "all | wher", &estimate, &known, &error), 0);
}

int main(int argc, char **argv)
{
    static const enum session_color_by all[] = {
        SESSION_COLOR_NONE, SESSION_COLOR_FUNCTION, SESSION_COLOR_TYPE,     SESSION_COLOR_SIZE,
        SESSION_COLOR_AGE,  SESSION_COLOR_THREAD,   SESSION_COLOR_LIFETIME, SESSION_COLOR_MODULE};
    static const char *const keys[] = {"type",
                                       "size",
                                       "function, file",
                                       "stack",
                                       "frame 1",
                                       "user, owner",
                                       "thread, free_thread",
                                       "process, arena, freed",
                                       "line, module, kind, count",
                                       "type, confidence, size"};
    struct session_error error;
    session = argc > 1 ? session_open(argv[1], &error) : NULL;
    summed = session ? selection_new(session, NULL, &error) : NULL;
    scanned = summed ? selection_new(session, "all | where size >= 0", &error) : NULL;
    if (!scanned) {
        fprintf(stderr, "%s\n",
                argc > 1 ? error.message : "usage: check_summed SESSION [spans|TIMES]");
        return argc > 1 ? 1 : 2;
    }
    /* A filter that leaves out nothing is answered by sums as well, unless this forbids it. */
    compare("sums answer a filter", 0, scanned->everything, summary_answers(session));
    scanned->everything = false;
    uint64_t slot_ns = (uint64_t)session_meta_number(session, "slot_ns");
    if (argc > 2 && atoi(argv[2]) > 0) {
        check_estimates(strtoull(argv[2], NULL, 10));
    } else if (argc > 2) {
        struct session_slot slots[16];
        struct session_share share;
        struct session_legend legend;
        struct session_function_row *rows = NULL;
        size_t count;
        const uint64_t before = reads();
        for (int i = 0; i < 4; i++)
            selection_timeline(summed, 0, session_duration_ns(session), 16, all[i], slots, &error);
        selection_top_functions(summed, 0, session_duration_ns(session), &share, 1);
        selection_functions(summed, &rows, &count, &error);
        selection_legend(summed, SESSION_COLOR_TYPE, &legend);
        free(rows);
        compare("columns read", 0, reads(), before);
        compare("sums by time", 0, slot_ns != 0, 1);
    }
    if (slot_ns == 0)
        slot_ns = session_duration_ns(session) / SLOT_FINEST + 1;
    check_totals();
    check_stacks(true);
    check_stacks(false);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        check_table(keys[i]);
    check_colors();
    check_functions();
    check_shares(slot_ns * 256 * 32, slot_ns * 256 * 200);
    check_shares(session_duration_ns(session) / 2, session_duration_ns(session) / 2 + slot_ns);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        check_legend(all[i]);
        check_spans(slot_ns, all[i]);
    }
    printf("%" PRIu64 " allocations, %d differences\n", selection_count(summed), differences);
    selection_free(summed);
    selection_free(scanned);
    session_close(session);
    return differences == 0 ? 0 : 1;
}
