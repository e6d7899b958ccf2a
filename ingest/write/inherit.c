/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/inherit.h"

#include "ingest/base/problems.h"
#include "ingest/write/inherit_rows.h"
#include "inherited_ancestors_sql.h"
#include "inherited_counts_sql.h"
#include "inherited_end_sql.h"
#include "inherited_pairs_sql.h"
#include "inherited_problems_sql.h"
#include "inherited_sums_sql.h"
#include "inherited_wanted_sql.h"

static int each_ancestor(sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, inherited_ancestors_sql, -1, &query, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW)
        result = writer_inherit_rows(database, sqlite3_column_int64(query, 0));
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

int writer_inherit_fork(sqlite3 *database, uint64_t trace_id, uint64_t begin_ns, uint64_t end_ns)
{
    sqlite3_stmt *update = NULL;
    int result = sqlite3_prepare_v2(
        database, "UPDATE process SET forked_ns = ?2, forked_until_ns = ?3 WHERE trace_id = ?1", -1,
        &update, NULL);
    if (result != SQLITE_OK)
        return result;
    sqlite3_bind_int64(update, 1, (int64_t)trace_id);
    sqlite3_bind_int64(update, 2, (int64_t)begin_ns);
    sqlite3_bind_int64(update, 3, (int64_t)end_ns);
    sqlite3_step(update);
    return sqlite3_finalize(update);
}

static int sum_up(sqlite3 *database)
{
    sqlite3_stmt *query = NULL, *update = NULL;
    int result = sqlite3_prepare_v2(database, inherited_sums_sql, -1, &update, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(database, "SELECT process FROM own_live ORDER BY process", -1,
                                    &query, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        sqlite3_bind_int64(update, 1, sqlite3_column_int64(query, 0));
        sqlite3_step(update);
        result = sqlite3_reset(update);
    }
    sqlite3_finalize(query);
    sqlite3_finalize(update);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

static int report_problems(sqlite3 *database)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(database, inherited_problems_sql, -1, &insert, NULL);
    if (result != SQLITE_OK)
        return result;
    sqlite3_bind_int(insert, 1, PROBLEMS_KEPT_PER_KIND);
    sqlite3_step(insert);
    return sqlite3_finalize(insert);
}

static int run(sqlite3 *database, const char *sql)
{
    return sqlite3_exec(database, sql, NULL, NULL, NULL);
}

int writer_inherit_put(sqlite3 *database)
{
    int result = run(database, inherited_wanted_sql);
    if (result == SQLITE_OK)
        result = each_ancestor(database);
    if (result == SQLITE_OK)
        result = run(database, inherited_pairs_sql);
    if (result == SQLITE_OK)
        result = report_problems(database);
    if (result == SQLITE_OK)
        result = run(database, inherited_counts_sql);
    if (result == SQLITE_OK)
        result = sum_up(database);
    return result == SQLITE_OK ? run(database, inherited_end_sql) : result;
}
