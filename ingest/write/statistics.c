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
 */
#include "ingest/write/statistics.h"

#include <stdbool.h>
#include <string.h>

static const char known_sql[] =
    "ANALYZE sqlite_schema;"
    "INSERT INTO sqlite_stat1 SELECT 'stack', 'stack_function', count(*) || ' 2' FROM stack;"
    "INSERT INTO sqlite_stat1 SELECT 'function', 'function_name', count(*) || ' 1' FROM function;"
    "INSERT INTO sqlite_stat1 SELECT 'type', 'type_name', (count(*) + 1) || ' 1' FROM type;"
    /* max(id) with a condition would be a scan. */
    "INSERT INTO sqlite_stat1 SELECT 'allocation', NULL, n"
    "  FROM (SELECT id AS n FROM allocation ORDER BY id DESC LIMIT 1);";

static const char index_sql[] =
    "INSERT INTO sqlite_stat1 SELECT 'allocation', 'allocation_stack',"
    "  stat || ' ' || (stat / s.n + 1) || ' ' || (stat / s.n + 1)"
    "  FROM sqlite_stat1, (SELECT count(*) AS n FROM stack) s"
    "  WHERE tbl = 'allocation' AND idx IS NULL"
    "  AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'allocation_stack');";

/* Sets the rows of a stack to ?1 hundredths of the true number. */
static const char factor_sql[] =
    "UPDATE sqlite_stat1 SET stat = s.rows || ' ' || (s.rows * ?1 / 100 / s.stacks + 1) || ' ' ||"
    "    (s.rows / s.stacks + 1)"
    "  FROM (SELECT a.stat AS rows, (SELECT count(*) FROM stack) AS stacks"
    "        FROM sqlite_stat1 a WHERE a.tbl = 'allocation' AND a.idx IS NULL) s"
    "  WHERE idx = 'allocation_stack'";

/* Sets the factor, in hundredths, and lets SQLite read the statistics again. */
static int set_factor(sqlite3 *database, int factor)
{
    sqlite3_stmt *update = NULL;
    int result = sqlite3_prepare_v2(database, factor_sql, -1, &update, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int(update, 1, factor);
    if (result == SQLITE_OK)
        sqlite3_step(update);
    int finalized = sqlite3_finalize(update);
    if (result != SQLITE_OK || finalized != SQLITE_OK)
        return result != SQLITE_OK ? result : finalized;
    return sqlite3_exec(database, "ANALYZE sqlite_schema", NULL, NULL, NULL); /* reads them again */
}

/* Asks the planner whether it reads the whole table for a condition that no index helps. */
static int ask_planner(sqlite3 *database, bool *scans)
{
    sqlite3_stmt *plan = NULL;
    int result = sqlite3_prepare_v2(database,
                                    "EXPLAIN QUERY PLAN SELECT count(*), max(function)"
                                    " FROM v_allocation WHERE size > 1",
                                    -1, &plan, NULL);
    *scans = false;
    while (result == SQLITE_OK && sqlite3_step(plan) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(plan, 3);
        *scans = *scans || (detail && strcmp(detail, "SCAN a") == 0);
    }
    int finalized = sqlite3_finalize(plan);
    return result != SQLITE_OK ? result : finalized;
}

/* Sets the lowest factor with which it does so, found by bisection to 2 in 100. */
static int find_factor(sqlite3 *database)
{
    enum { MOST = 10000 };
    int result = SQLITE_OK, low = 100, high = MOST;
    bool scans = false;
    while (result == SQLITE_OK && high - low > low / 50 + 1) {
        int middle = low + (high - low) / 2;
        result = set_factor(database, middle);
        if (result == SQLITE_OK)
            result = ask_planner(database, &scans);
        if (scans)
            high = middle;
        else
            low = middle;
    }
    return result == SQLITE_OK ? set_factor(database, high) : result;
}

int writer_statistics_put(sqlite3 *database)
{
    int result = sqlite3_exec(database, known_sql, NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(database, index_sql, NULL, NULL, NULL);
    if (result != SQLITE_OK || sqlite3_changes(database) == 0)
        return result; /* no index, or no rows */
    return find_factor(database);
}
