/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_session SESSION: compares the results that the session library computes from the columns
 * with the counts of ingest from its replay of the trace: meta, function_total and timeline. The
 * two share no code. Prints each difference; exit status 1 if there is one.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "session/session.h"
#include "stacks_sql.h"

static struct session *session;
static sqlite3 *database;
static int differences;

static void compare(const char *what, int64_t which, uint64_t computed, uint64_t counted)
{
    if (computed == counted)
        return;
    printf("%s %" PRId64 ": computed %" PRIu64 ", counted %" PRIu64 "\n", what, which, computed,
           counted);
    differences++;
}

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(database));
        exit(1);
    }
    return statement;
}

static uint64_t number(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}

static uint64_t meta(const char *key)
{
    return (uint64_t)session_meta_number(session, key);
}

static void check_totals(const struct selection *all)
{
    compare("rows", 0, selection_count(all), meta("rows"));
    compare("bytes_allocated", 0, selection_bytes(all), meta("bytes_allocated"));
    compare("live_bytes_end", 0, selection_live_bytes(all), meta("live_bytes_end"));
    compare("live_count_end", 0, selection_live_count(all), meta("live_count_end"));
    compare("peak_bytes", 0, selection_peak_bytes(all), meta("peak_bytes"));
    compare("peak_ns", 0, selection_peak_ns(all), meta("peak_ns"));
}

static void check_functions(struct selection *all)
{
    struct session_function_row *rows;
    struct session_error error;
    size_t count;
    size_t next = 0;
    if (!selection_functions(all, &rows, &count, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    sqlite3_stmt *statement =
        prepare("SELECT function_id, self_bytes, self_count, total_bytes, total_count, live_bytes,"
                "live_count, at_peak_bytes, short_lived FROM function_total WHERE total_count > 0 "
                "ORDER BY function_id");
    while (sqlite3_step(statement) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(statement, 0);
        if (next == count || rows[next].function != id) {
            compare("function", id, 0, 1);
            continue;
        }
        const struct session_function_row *row = &rows[next++];
        compare("self_bytes of function", id, row->self_bytes, number(statement, 1));
        compare("self_count of function", id, row->self_count, number(statement, 2));
        compare("total_bytes of function", id, row->total_bytes, number(statement, 3));
        compare("total_count of function", id, row->total_count, number(statement, 4));
        compare("live_bytes of function", id, row->live_bytes, number(statement, 5));
        compare("live_count of function", id, row->live_count, number(statement, 6));
        compare("at_peak_bytes of function", id, row->at_peak_bytes, number(statement, 7));
        compare("short_lived of function", id, row->short_lived, number(statement, 8));
    }
    compare("functions", 0, count, next);
    sqlite3_finalize(statement);
    free(rows);
}

/* The bytes at the peak of all stacks that a function is on. */
static void check_functions_at_peak(struct selection *all)
{
    struct session_error error;
    uint64_t *bytes;
    size_t count, found = 0;
    if (!selection_functions_at_peak(all, &bytes, &count, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    sqlite3_stmt *statement = prepare(
        "SELECT o.function_id, sum(s.at_peak_bytes) FROM stack s JOIN (SELECT DISTINCT stack_id,"
        " function_id FROM stack_frame JOIN frame f ON f.id = frame_id) o ON o.stack_id = s.id"
        " GROUP BY 1 HAVING sum(s.at_peak_bytes) > 0");
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const uint64_t id = number(statement, 0);
        compare("bytes at the peak of function", (int64_t)id, id < count ? bytes[id] : 0,
                number(statement, 1));
        found++;
    }
    for (size_t id = 1; id < count; id++)
        found -= bytes[id] > 0;
    compare("functions at the peak", 0, found, 0);
    sqlite3_finalize(statement);
    free(bytes);
}

static void check_timeline(struct selection *all)
{
    struct session_error error;
    uint64_t width = meta("timeline_slot_ns");
    sqlite3_stmt *statement = prepare("SELECT COALESCE(max(slot) + 1, 0) FROM timeline");
    sqlite3_step(statement);
    size_t count = (size_t)number(statement, 0);
    sqlite3_finalize(statement);
    struct session_slot *slots = calloc(count + 1, sizeof(*slots));
    if (!slots ||
        !selection_timeline(all, 0, width * count, count, SESSION_COLOR_FUNCTION, slots, &error)) {
        fprintf(stderr, "no timeline\n");
        exit(1);
    }
    statement = prepare("SELECT slot, live_bytes, live_count, peak_bytes, allocated_bytes,"
                        "allocated_count, freed_bytes, freed_count FROM timeline ORDER BY slot");
    while (sqlite3_step(statement) == SQLITE_ROW) {
        int64_t slot = sqlite3_column_int64(statement, 0);
        const struct session_slot *computed = &slots[slot];
        compare("live_bytes of slot", slot, computed->live_bytes, number(statement, 1));
        compare("live_count of slot", slot, computed->live_count, number(statement, 2));
        compare("allocated_bytes of slot", slot, computed->allocated_bytes, number(statement, 4));
        compare("allocated_count of slot", slot, computed->allocated_count, number(statement, 5));
        compare("freed_bytes of slot", slot, computed->freed_bytes, number(statement, 6));
        compare("freed_count of slot", slot, computed->freed_count, number(statement, 7));
        uint64_t colors = 0;
        for (size_t i = 0; i < SESSION_COLORS; i++)
            colors += computed->color_bytes[i];
        compare("bytes of all colours of slot", slot, colors, number(statement, 1));
        if (computed->peak_bytes > number(statement, 3))
            compare("peak_bytes of slot", slot, computed->peak_bytes, number(statement, 3));
    }
    sqlite3_finalize(statement);
    free(slots);
}

/* `leaked` is the same as v_leak. With the runtime's blocks it gives all live blocks. */
static void check_leaks(void)
{
    struct session_error error;
    struct selection *leaked = selection_new(session, "leaked", &error);
    struct selection *kept = selection_new(session, "live at end - leaked", &error);
    sqlite3_stmt *statement = prepare("SELECT total(live_count), total(live_bytes) FROM v_leak");
    sqlite3_stmt *runtime = prepare("SELECT total(live_count) FROM v_runtime");
    if (!leaked || !kept) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    sqlite3_step(statement);
    sqlite3_step(runtime);
    compare("leaked blocks", 0, selection_count(leaked), number(statement, 0));
    compare("leaked bytes", 0, selection_live_bytes(leaked), number(statement, 1));
    compare("blocks of the runtime", 0, selection_count(kept), number(runtime, 0));
    sqlite3_finalize(statement);
    sqlite3_finalize(runtime);
    selection_free(leaked);
    selection_free(kept);
}

/* Compares the sums by stack with SQL, and those that need no pass with those that do. */
static void check_stacks(void)
{
    const struct session_stacks_options all[] = {
        {.at_peak = true, .without_short = true},
        {.at_peak = true},
        {.own_peaks = true, .lifetimes = true, .at_peak = true},
        {.split = STACKS_BY_TYPE | STACKS_BY_THREAD | STACKS_BY_SIZE,
         .own_peaks = true,
         .at = true,
         .at_ns = session_duration_ns(session) / 3},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        size_t rows;
        differences += (int)stacks_differences(session, "all", "arena_id = 0", &all[i], &rows);
    }
}

int main(int argc, char **argv)
{
    struct session_error error;
    if (argc != 2) {
        fprintf(stderr, "usage: check_session SESSION\n");
        return 2;
    }
    session = session_open(argv[1], &error);
    struct selection *all =
        session ? selection_new(session, "all | where size >= 0", &error) : NULL;
    if (!all || sqlite3_open(argv[1], &database) != SQLITE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    check_leaks();
    check_totals(all);
    check_functions(all);
    check_functions_at_peak(all);
    check_timeline(all);
    check_stacks();
    printf("%" PRIu64 " allocations, %d differences\n", session_allocation_count(session),
           differences);
    selection_free(all);
    session_close(session);
    sqlite3_close(database);
    return differences == 0 ? 0 : 1;
}
