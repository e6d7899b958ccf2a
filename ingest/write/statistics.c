/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Without statistics the planner presumes that all tables have the same size, and does not use both
 * columns of the index allocation_stack. The true numbers are known without a scan.
 *
 * One number is not the true one: how many rows of `allocation` a stack has. The planner does not
 * know which share of the rows a condition selects. With the true number it answers a condition on
 * sizes or times, which have no index, stack by stack through the index. That reads every row in
 * random order, and takes seven times as long as reading the table in its order (measured with 10 M
 * rows). With a large number it also reads the whole table for a condition on functions or files,
 * although their rows are found by stack at once. In between, in a narrow range, it chooses right
 * for both. The range depends on the numbers of rows and stacks, so the planner itself is asked.
 *
 * The shape of the view v_allocation cannot say it: the planner gives `function LIKE …` and
 * `size > …` the same weight, and a LIKE does not turn a left join into an inner one. With NOT
 * INDEXED, conditions on functions take 30 times as long (measured with 1 M rows).
 */
#include "ingest/write/statistics.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "statistics_factor_sql.h"
#include "statistics_sql.h"

/* Sets the factor, in hundredths, and lets SQLite read the statistics again. */
static int set_factor(sqlite3 *database, int factor)
{
    sqlite3_stmt *update = NULL;
    int result = sqlite3_prepare_v2(database, statistics_factor_sql, -1, &update, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int(update, 1, factor);
    if (result == SQLITE_OK)
        sqlite3_step(update);
    int finalized = sqlite3_finalize(update);
    if (result != SQLITE_OK || finalized != SQLITE_OK)
        return result != SQLITE_OK ? result : finalized;
    return sqlite3_exec(database, "ANALYZE sqlite_schema", NULL, NULL, NULL); /* reads them again */
}

/* Copies the words for the first step of a plan to *step; free() them. NULL: the plan has no step.
 */
static int first_step(sqlite3 *database, const char *explain, char **step)
{
    sqlite3_stmt *plan = NULL;
    int result = sqlite3_prepare_v2(database, explain, -1, &plan, NULL);
    *step = NULL;
    if (result == SQLITE_OK && sqlite3_step(plan) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(plan, 3);
        *step = detail ? strdup(detail) : NULL;
        result = *step ? SQLITE_OK : SQLITE_NOMEM;
    }
    int finalized = sqlite3_finalize(plan);
    return result != SQLITE_OK ? result : finalized;
}

/* Tells whether `step` is a step of the plan for a condition that no index helps. */
static int ask_planner(sqlite3 *database, const char *step, bool *found)
{
    sqlite3_stmt *plan = NULL;
    int result = sqlite3_prepare_v2(database,
                                    "EXPLAIN QUERY PLAN SELECT count(*), max(function)"
                                    " FROM v_allocation WHERE size > 1",
                                    -1, &plan, NULL);
    *found = false;
    while (result == SQLITE_OK && sqlite3_step(plan) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(plan, 3);
        *found = *found || (detail && strcmp(detail, step) == 0);
    }
    int finalized = sqlite3_finalize(plan);
    return result != SQLITE_OK ? result : finalized;
}

/* Sets the lowest factor with which the plan has the step `scan`, found by bisection to 2 in 100.
 */
static int bisect_factor(sqlite3 *database, const char *scan)
{
    enum { MOST = 10000 };
    int result = SQLITE_OK, low = 100, high = MOST;
    bool scans = false;
    while (result == SQLITE_OK && high - low > low / 50 + 1) {
        int middle = low + (high - low) / 2;
        result = set_factor(database, middle);
        if (result == SQLITE_OK)
            result = ask_planner(database, scan, &scans);
        if (scans)
            high = middle;
        else
            low = middle;
    }
    return result == SQLITE_OK ? set_factor(database, high) : result;
}

/*
 * Sets the lowest factor with which the planner reads the whole table for a condition that no index
 * helps. Versions of SQLite may say that in other words. So it takes the words from a query that
 * has no other plan, with the view's name for the table.
 */
static int find_factor(sqlite3 *database)
{
    char *scan = NULL;
    int result = first_step(
        database, "EXPLAIN QUERY PLAN SELECT sum(size) FROM allocation a NOT INDEXED", &scan);
    if (result == SQLITE_OK && scan)
        result = bisect_factor(database, scan);
    free(scan);
    return result;
}

int writer_statistics_put(sqlite3 *database)
{
    int result = sqlite3_exec(database, statistics_sql, NULL, NULL, NULL);
    if (result != SQLITE_OK || sqlite3_changes(database) == 0)
        return result; /* no index, or no rows */
    return find_factor(database);
}
