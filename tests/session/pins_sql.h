/* SPDX-License-Identifier: BSD-2-Clause */
/* The gaps of which nobody knows what lies there (schemas/filter-language.md, "Pins") in SQL, of
 * blocks that do not overlap. The arguments are names of columns. */
#ifndef MPROF_TESTS_SESSION_PINS_SQL_H
#define MPROF_TESTS_SESSION_PINS_SQL_H

#define MAPPED_ADDRESS_SQL(start, end)                                                             \
    "((" start " & 4095) = 16 AND " end " - " start " >= 131049 OR (" start                        \
    " & 4095) = 0 AND " end " - " start " + (" start " & -" start ") >= pages OR (" start          \
    " & 4095) >= 32 AND (" start " & 4095 & ((" start " & 4095) - 1)) = 0 AND " end " - " start    \
    " + (" start " & 4095) >= 131049)"
#define MAPPED_ALONE_SQL(start, end, below, above)                                                 \
    "(" MAPPED_ADDRESS_SQL(start, end) " AND ifnull(" below ", 0) <= ((" start                     \
                                       " - 16) & ~4095) AND ifnull((" above                        \
                                       " - 16) >> 12 <> (" end " - 1) >> 12, 1))"
/* The gap between two blocks of the heap: first and last end of the one below, start and end of the
 * one above; and what lies beside these two. */
#define GAP_UNKNOWN_SQL(below_below, below_start, below_end, above_start, above_end, above_above)  \
    "((" below_end " - 1) >> 26 <> " above_start " >> 26 OR " MAPPED_ALONE_SQL(                    \
        below_start, below_end, below_below,                                                       \
        above_start) " OR " MAPPED_ALONE_SQL(above_start, above_end, below_end, above_above) ")"

/* The bytes that a block pins: of a query with the columns of PINS_COLUMNS_SQL. */
#define PINS_SQL                                                                                   \
    "(CASE WHEN a - p BETWEEN 1 AND 16777215 AND NOT (heap AND " GAP_UNKNOWN_SQL(                  \
        "pp", "pa", "p", "a", "e",                                                                 \
        "n") ") THEN a - p ELSE 0 END + CASE WHEN n - e BETWEEN 1 "                                \
             "AND 16777215 AND NOT (heap AND " GAP_UNKNOWN_SQL("p", "a", "e", "n", "ne",           \
                                                               "nn") ") THEN n - e ELSE 0 END)"
/* The least size of a mapped block that begins with a page, by the blocks live at the peak. */
#define PINS_PAGES_SQL                                                                             \
    "(SELECT coalesce(1024 * (max(k) + 1), 0) FROM (SELECT k, sum(n) OVER w AS n, sum(m) OVER w "  \
    "AS m FROM (SELECT max(size, 1) / 1024 AS k, count(*) AS n, sum(o >= 16 AND (o & (o - 1)) = "  \
    "0) AS m FROM (SELECT size, address & 4095 AS o FROM v_allocation, (SELECT CAST(value AS "     \
    "INTEGER) AS peak FROM meta WHERE key = 'peak_ns') WHERE alloc_ns <= peak AND "                \
    "coalesce(free_ns, 1e18) > peak AND size < 130048) WHERE o > 0 GROUP BY 1) WINDOW w AS "       \
    "(ORDER BY k DESC)) WHERE n - m >= 4 AND 2 * m <= n)"
#define PINS_COLUMNS_SQL                                                                           \
    PINS_PAGES_SQL                                                                                 \
    " AS pages, "                                                                                  \
    "address AS a, address + max(size, 1) AS e, arena_id = 0 AS heap, lag(address) OVER w AS pa, " \
    "lag(address + max(size, 1)) OVER w AS p, lag(address + max(size, 1), 2) OVER w AS pp, "       \
    "lead(address) OVER w AS n, lead(address + max(size, 1)) OVER w AS ne, "                       \
    "lead(address, 2) OVER w AS nn"
#define PINS_WINDOW_SQL " WINDOW w AS (PARTITION BY process_id, arena_id ORDER BY address)"

#endif
