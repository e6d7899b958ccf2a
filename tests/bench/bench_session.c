/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_session SESSION: times each query of the session library and prints one line for each.
 * The first run of a query may read column chunks from the file; the second finds them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "session/session.h"

static double now_ms(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static double wall_started;
static double processor_started;

static void begin(void)
{
    wall_started = now_ms(CLOCK_MONOTONIC);
    processor_started = now_ms(CLOCK_PROCESS_CPUTIME_ID);
}

/* Elapsed, and of it spent on a processor: others may have shared the machine. */
static void report(const char *what)
{
    printf("%9.1f %9.1f  %s\n", now_ms(CLOCK_MONOTONIC) - wall_started,
           now_ms(CLOCK_PROCESS_CPUTIME_ID) - processor_started, what);
}

static struct session *session;
static struct session_error error;

static struct selection *bench_filter(const char *text)
{
    struct selection *selection = NULL;
    for (int run = 0; run < 2; run++) {
        selection_free(selection);
        begin();
        selection = selection_new(session, text, &error);
        if (!selection) {
            fprintf(stderr, "%s: %s\n", text, error.message);
            exit(1);
        }
        report(text);
    }
    return selection;
}

static void bench_views(struct selection *selection)
{
    uint64_t duration = session_duration_ns(session);
    struct session_slot slots[240];
    begin();
    uint64_t peak = selection_peak_bytes(selection);
    report("peak of the selection");
    if (peak != (uint64_t)session_meta_number(session, "peak_bytes"))
        printf("                     (of %llu)\n", (unsigned long long)peak);
    for (int run = 0; run < 2; run++) {
        begin();
        selection_timeline(selection, 0, duration + 1, 240, SESSION_COLOR_FUNCTION, slots, &error);
        report("timeline, 240 slots, by function");
    }
    begin();
    selection_timeline(selection, 0, duration + 1, 240, SESSION_COLOR_LIFETIME, slots, &error);
    report("timeline, first by lifetime");
    begin();
    selection_timeline(selection, duration / 2, duration / 2 + duration / 50, 240,
                       SESSION_COLOR_FUNCTION, slots, &error);
    report("timeline, zoomed to 2 %");
    struct session_share shares[5];
    begin();
    selection_top_functions(selection, duration / 2, duration / 2 + duration / 240, shares, 5);
    report("functions of a slot");
    for (int run = 0; run < 2; run++) {
        struct session_function_row *rows;
        size_t count;
        begin();
        if (selection_functions(selection, &rows, &count, &error))
            free(rows);
        report("functions, self and total");
    }
    struct session_edge *callers;
    struct session_edge *callees;
    size_t caller_count;
    size_t callee_count;
    begin();
    if (selection_edges(selection, 3, &callers, &caller_count, &callees, &callee_count, &error)) {
        free(callers);
        free(callees);
    }
    report("callers and callees");
}

static void bench_grid(struct selection *selection)
{
    uint64_t peak_ns = session_peak_ns(session);
    struct session_region *regions;
    size_t count;
    begin();
    if (!session_regions(session, peak_ns, &regions, &count, &error))
        exit(1);
    report("regions at the peak (builds the live list)");
    static struct session_cell cells[4000];
    uint64_t span = (regions[0].end - regions[0].start) / 4000 + 1;
    begin();
    selection_grid(selection, peak_ns, regions[0].start, span, 4000, SESSION_COLOR_FUNCTION, cells,
                   &error);
    report("grid, 4000 cells over the first region");
    begin();
    selection_grid(selection, peak_ns, regions[0].start, 64, 4000, SESSION_COLOR_FUNCTION, cells,
                   &error);
    report("grid, 4000 cells of 64 bytes");
    begin();
    uint64_t id = session_allocation_at(session, peak_ns, regions[0].start + 1000);
    report("allocation at an address");
    begin();
    session_address_history(session, peak_ns, regions[0].start, NULL);
    report("history of an address");
    begin();
    session_allocation_at(session, peak_ns + id + 1, regions[0].start);
    report("step of the grid's time");
    free(regions);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: bench_session SESSION\n");
        return 2;
    }
    printf("  wall ms    cpu ms\n");
    begin();
    session = session_open(argv[1], &error);
    if (!session) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    report("open");
    printf("                     %llu allocations\n",
           (unsigned long long)session_allocation_count(session));
    struct selection *all = bench_filter("all");
    bench_views(all);
    bench_grid(all);
    selection_free(all);
    selection_free(bench_filter("live at peak"));
    selection_free(bench_filter("all | where lifetime > 10ms and stack has \"main\""));
    selection_free(bench_filter("all | where function ~ \"parse|read\" and size >= 64 and thread "
                                "== 1 and not freed == true"));
    selection_free(bench_filter("all | where size in 32..1K | sort size desc | top 100"));
    selection_free(bench_filter("live at peak - (live at 1s) | color red where size > 4K"));
    struct selection *sorted = bench_filter("all | sort lifetime desc");
    struct session_allocation row;
    begin();
    selection_row(sorted, 0, &row);
    report("first row of the whole session sorted");
    selection_free(sorted);
    session_close(session);
    return 0;
}
