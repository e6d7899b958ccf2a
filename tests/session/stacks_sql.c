/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks_sql.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The parts of a split are columns of the group, 0 if it does not part. Live bytes and blocks after
 * all events of each moment are a window's sum; the first of the largest is the own peak.
 */
static const char text[] =
    "WITH r AS (SELECT a.stack_id AS stack,"
    "  CASE WHEN ?1 & 1 THEN ifnull((SELECT min(o.id) FROM type o, type t"
    "    WHERE t.id = a.type_id AND o.name = t.name), type_id) ELSE 0 END AS type,"
    "  CASE WHEN ?1 & 2 THEN thread_id ELSE 0 END AS thread,"
    "  CASE WHEN ?1 & 4 THEN arena_id ELSE 0 END AS arena,"
    "  CASE WHEN ?1 & 16 THEN (SELECT process_id FROM thread h WHERE h.id = thread_id)"
    "    ELSE 0 END AS process,"
    "  CASE WHEN ?1 & 8 THEN size ELSE 0 END AS bin, size, alloc_ns, free_ns"
    "  FROM allocation a WHERE %s),"
    " e AS (SELECT stack, type, thread, arena, process, bin, alloc_ns AS ns, size AS change,"
    "    1 AS blocks FROM r"
    "  UNION ALL SELECT stack, type, thread, arena, process, bin, free_ns, -size, -1 FROM r"
    "  WHERE free_ns IS NOT NULL),"
    " m AS (SELECT stack, type, thread, arena, process, bin, ns, sum(change) OVER w AS live,"
    "    sum(blocks) OVER w AS blocks FROM e WHERE ?2 WINDOW w AS"
    "  (PARTITION BY stack, type, thread, arena, process, bin ORDER BY ns)),"
    " f AS (SELECT *, row_number() OVER (PARTITION BY stack, type, thread, arena, process, bin"
    "    ORDER BY live DESC, ns) AS place FROM m),"
    " s AS (SELECT stack, type, thread, arena, process, bin, count(*), sum(size),"
    "  count(*) FILTER (WHERE free_ns IS NULL), total(size) FILTER (WHERE free_ns IS NULL),"
    "  count(*) FILTER (WHERE ?3 AND alloc_ns <= ?4 AND ifnull(free_ns > ?4, 1)),"
    "  total(size) FILTER (WHERE ?3 AND alloc_ns <= ?4 AND ifnull(free_ns > ?4, 1)),"
    "  count(*) FILTER (WHERE ?5 AND free_ns - alloc_ns < 1000000),"
    "  count(*) FILTER (WHERE ?6 AND alloc_ns <= ?7 AND ifnull(free_ns > ?7, 1)),"
    "  total(size) FILTER (WHERE ?6 AND alloc_ns <= ?7 AND ifnull(free_ns > ?7, 1)),"
    "  sum(CASE WHEN ?8 THEN max(ifnull(free_ns, ?9) - alloc_ns, 0) ELSE 0 END)"
    "  FROM r GROUP BY 1, 2, 3, 4, 5, 6)"
    " SELECT s.*, ifnull(f.live, 0), ifnull(f.blocks, 0) FROM s LEFT JOIN f ON"
    "  (s.stack, s.type, s.thread, s.arena, s.process, s.bin, 1)"
    "  = (f.stack, f.type, f.thread, f.arena, f.process, f.bin, f.place)"
    " ORDER BY s.stack, s.type, s.thread, s.arena, s.process, s.bin";

enum { COLUMNS = 18 };

static void take_columns(const struct session_stack_sums *row, uint64_t *columns)
{
    const uint64_t all[COLUMNS] = {row->stack,       row->type,           row->thread,
                                   row->arena,       row->process,        row->size,
                                   row->allocations, row->bytes,          row->live_count,
                                   row->live_bytes,  row->at_peak_count,  row->at_peak_bytes,
                                   row->short_count, row->at_count,       row->at_bytes,
                                   row->lifetime_ns, row->own_peak_bytes, row->own_peak_count};
    for (int i = 0; i < COLUMNS; i++)
        columns[i] = all[i];
}

/* Compares a row with that of the statement. */
static size_t compare_row(sqlite3_stmt *statement, const struct session_stack_sums *row, bool print)
{
    uint64_t columns[COLUMNS];
    take_columns(row, columns);
    for (int i = 0; i < COLUMNS; i++) {
        const uint64_t counted = (uint64_t)sqlite3_column_int64(statement, i);
        if (columns[i] == counted)
            continue;
        if (print)
            printf("stack %" PRIu32 ": column %d: computed %" PRIu64 ", SQL %" PRIu64 "\n",
                   row->stack, i, columns[i], counted);
        return 1;
    }
    return 0;
}

static sqlite3_stmt *prepare(sqlite3 *database, struct session *session, const char *condition,
                             const struct session_stacks_options *options)
{
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf(text, condition);
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        printf("%s: %s\n", condition, sqlite3_errmsg(database));
    sqlite3_free(sql);
    const sqlite3_int64 values[] = {options->split,
                                    options->own_peaks,
                                    options->at_peak,
                                    (sqlite3_int64)session_peak_ns(session),
                                    !options->without_short,
                                    options->at,
                                    (sqlite3_int64)options->at_ns,
                                    options->lifetimes,
                                    (sqlite3_int64)session_duration_ns(session)};
    for (int i = 0; statement && i < (int)(sizeof(values) / sizeof(values[0])); i++)
        sqlite3_bind_int64(statement, i + 1, values[i]);
    return statement;
}

size_t stacks_differences(struct session *session, const char *filter, const char *condition,
                          const struct session_stacks_options *options, size_t *count)
{
    struct session_error error;
    struct session_stack_sums *rows = NULL;
    sqlite3 *database = NULL;
    size_t next = 0, differences = 0;
    struct selection *selection = selection_new(session, filter, &error);
    if (!selection || !selection_stacks(selection, options, &rows, count, &error)) {
        printf("%s: %s\n", filter, error.message);
        selection_free(selection);
        return 1;
    }
    sqlite3_stmt *statement = NULL;
    if (sqlite3_open_v2(session_path(session), &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK)
        statement = prepare(database, session, condition, options);
    while (statement && next < *count && sqlite3_step(statement) == SQLITE_ROW) {
        /* Without short_count a row may have it, if it cost nothing. */
        if (options->without_short)
            rows[next].short_count = 0;
        differences += compare_row(statement, &rows[next++], differences < 10);
    }
    if (!statement || next != *count || sqlite3_column_count(statement) != COLUMNS ||
        sqlite3_step(statement) == SQLITE_ROW) {
        printf("%s: %zu rows, SQL has others\n", filter, *count);
        differences++;
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    selection_free(selection);
    free(rows);
    return differences;
}
