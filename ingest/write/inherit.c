/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/inherit.h"

#include <stdint.h>
#include "ingest/base/problems.h"
#include "ingest/write/inherit_rows.h"

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

const char writer_inherit_begin_sql[] =
    "CREATE TEMP TABLE inherit_part(process INTEGER PRIMARY KEY, arena INTEGER, rested INTEGER);";

/* Adds a process to inherit_part. `arena`: the session's arena ids are the trace's plus this.
 * `rested`: blocks may be missing. */
const char writer_inherit_first_sql[] =
    "INSERT INTO inherit_part SELECT 1, 0,"
    "  EXISTS (SELECT 1 FROM main.mark WHERE kind IN ('pause', 'resume'));";
const char writer_inherit_part_sql[] =
    "INSERT INTO inherit_part SELECT base.process + 1, base.arena,"
    "  EXISTS (SELECT 1 FROM part.mark WHERE kind IN ('pause', 'resume')) FROM base;"
    "INSERT INTO main.inherited_free SELECT (SELECT ifnull(max(id), 0) FROM main.inherited_free)"
    "    + f.id, process_id + base.process, iif(arena_id = 0, 0, arena_id + base.arena), address,"
    "    free_ns + base.later, free_thread_id + base.thread,"
    "    iif(free_stack_id = 0, 0, free_stack_id + base.stack), realloc_to + base.row, NULL"
    "  FROM base, part.inherited_free f;";

/*
 * line: the ancestors of each forked process, the nearest with depth 1, and the time when the one
 * at the depth before was forked from it. The process itself has depth 0. Processes are in the
 * order of their start, so none is forked from a later one, even if a damaged trace says so.
 */
static const char ancestors_sql[] =
    "UPDATE process SET forked_from = (SELECT min(p.id) FROM process p"
    "    WHERE p.trace_id = process.parent_trace_id AND p.id < process.id"
    "    AND p.machine = process.machine)"
    "  WHERE parent_trace_id <> 0;"
    "UPDATE process SET forked_ns = NULL, forked_until_ns = NULL WHERE forked_from IS NULL;"
    "CREATE TEMP TABLE line(process INTEGER, depth INTEGER, ancestor INTEGER, begin_ns INTEGER,"
    "  end_ns INTEGER, PRIMARY KEY(process, depth)) WITHOUT ROWID;"
    "INSERT INTO line WITH RECURSIVE l(process, depth, ancestor, begin_ns, end_ns) AS ("
    "    SELECT id, 1, forked_from, forked_ns, forked_until_ns FROM process"
    "      WHERE forked_from IS NOT NULL"
    "    UNION ALL SELECT l.process, l.depth + 1, p.forked_from, p.forked_ns, p.forked_until_ns"
    "      FROM l JOIN process p ON p.id = l.ancestor WHERE p.forked_from IS NOT NULL)"
    "  SELECT * FROM l;"
    "INSERT INTO line SELECT id, 0, id, NULL, NULL FROM process WHERE parent_trace_id <> 0;"
    "CREATE INDEX temp.line_ancestor ON line(ancestor);";

/*
 * freed: the frees, with arenas as the trace numbers them. wanted: the places where the block of
 * each may be. found: the blocks that are there.
 */
static const char want_sql[] =
    "CREATE TEMP TABLE freed AS SELECT f.id, f.process_id AS process, f.address, f.free_ns,"
    "    iif(f.arena_id = 0, 0, f.arena_id - p.arena) AS arena"
    "  FROM main.inherited_free f JOIN inherit_part p ON p.process = f.process_id;"
    "CREATE INDEX temp.freed_place ON freed(process, address);"
    "CREATE INDEX temp.freed_id ON freed(id);"
    "CREATE TEMP TABLE wanted AS SELECT l.ancestor, f.address, f.arena, f.id, f.free_ns, l.depth,"
    "    l.begin_ns, l.end_ns FROM freed f JOIN line l ON l.process = f.process;"
    "CREATE INDEX temp.wanted_place ON wanted(ancestor, address, end_ns);"
    "CREATE TEMP TABLE found(id INTEGER, depth INTEGER, allocation INTEGER, alloc_ns INTEGER);"
    "CREATE TEMP TABLE own_live(process INTEGER PRIMARY KEY, count INTEGER, bytes INTEGER);";

static const char choose_sql[] =
    "CREATE INDEX temp.found_id ON found(id, depth, alloc_ns);"
    "DELETE FROM found WHERE depth > 1 AND EXISTS (SELECT 1 FROM freed f"
    "    JOIN line l ON l.process = f.process AND l.depth BETWEEN 1 AND found.depth - 1"
    "    JOIN freed g ON g.process = l.ancestor AND g.address = f.address AND g.arena = f.arena"
    "    WHERE f.id = found.id AND g.free_ns < l.begin_ns);";

/* Chooses the block of the nearest ancestor, or the first of two at one address during a fork. */
static const char pair_sql[] =
    "UPDATE main.inherited_free SET allocation_id = (SELECT allocation FROM found"
    "    WHERE found.id = inherited_free.id ORDER BY depth, alloc_ns LIMIT 1)"
    "  WHERE id IN (SELECT id FROM found)"
    "    AND id NOT IN (SELECT id FROM found WHERE depth = 0);"
    /* Frees of no inherited block: 2 freed before, 1 in no process, 0 perhaps not seen. */
    "CREATE TEMP TABLE other AS SELECT id, 2 AS kind FROM found WHERE depth = 0 GROUP BY id;"
    "INSERT INTO other SELECT id, 2 FROM (SELECT id, allocation_id, row_number() OVER"
    "      (PARTITION BY process_id, allocation_id ORDER BY free_ns, id) AS turn"
    "    FROM main.inherited_free WHERE allocation_id IS NOT NULL) WHERE turn > 1;"
    "CREATE TEMP TABLE known AS SELECT l.process, max(ifnull(i.rested, 0)) AS rested FROM line l"
    "    LEFT JOIN inherit_part i ON i.process = l.ancestor GROUP BY l.process"
    "    HAVING max(l.depth) > 0 AND NOT EXISTS (SELECT 1 FROM line m JOIN process p"
    "      ON p.id = m.ancestor WHERE m.process = l.process AND p.parent_trace_id <> 0"
    "      AND p.forked_from IS NULL);"
    "INSERT INTO other SELECT f.id, iif(k.rested, 0, 1) FROM main.inherited_free f"
    "    JOIN known k ON k.process = f.process_id"
    "  WHERE f.allocation_id IS NULL AND f.id NOT IN (SELECT id FROM other);"
    "CREATE TEMP TABLE count_of AS SELECT kind, count(*) AS n FROM other GROUP BY kind;"
    "INSERT INTO main.problem(kind, ns, address, thread_id, detail)"
    "  SELECT iif(o.kind = 2, 'double free', 'unmatched free'), f.free_ns, f.address,"
    "    f.free_thread_id, iif(o.kind = 2, 'freed before, and not allocated in between',"
    "      'not seen to be allocated: neither here nor in the process that forked this one')"
    "  FROM other o JOIN main.inherited_free f ON f.id = o.id WHERE o.kind > 0"
    "  ORDER BY f.id LIMIT " TEXT(
        PROBLEMS_KEPT_PER_KIND) ";"
                                "DELETE FROM main.inherited_free WHERE id IN (SELECT id FROM "
                                "other);"
                                "UPDATE main.meta SET value = value + ifnull((SELECT n FROM "
                                "count_of WHERE kind ="
                                "    CASE key WHEN 'unmatched_frees' THEN 1 WHEN 'double_frees' "
                                "THEN 2 ELSE 0 END), 0)"
                                "  WHERE key IN ('unmatched_frees', 'double_frees', "
                                "'unseen_frees');"
                                "INSERT OR REPLACE INTO main.meta SELECT 'inherited_frees', "
                                "count(*) FROM main.inherited_free;"
                                "INSERT OR REPLACE INTO main.meta SELECT "
                                "'presumed_inherited_frees', count(*)"
                                "  FROM main.inherited_free WHERE allocation_id IS NULL;"
                                "UPDATE process SET inherited_frees = (SELECT count(*) FROM "
                                "main.inherited_free f"
                                "    WHERE f.process_id = process.id) WHERE parent_trace_id <> 0;";

/*
 * Adds the parent's own live blocks at the fork, and those that it had inherited and not freed by
 * then. In the order of ids parents come before their children.
 */
static const char sum_sql[] =
    "UPDATE process SET (inherited_count, inherited_bytes) ="
    "  (SELECT o.count + iif(p.parent_trace_id = 0, 0, p.inherited_count - count(a.id)),"
    "    o.bytes + iif(p.parent_trace_id = 0, 0, p.inherited_bytes - ifnull(sum(a.size), 0))"
    "   FROM own_live o JOIN process p ON p.id = process.forked_from"
    "   LEFT JOIN main.inherited_free f ON f.process_id = p.id AND f.arena_id = 0"
    "     AND f.free_ns <= process.forked_ns"
    "   LEFT JOIN allocation a ON a.id = f.allocation_id WHERE o.process = ?1) WHERE id = ?1";

static const char end_sql[] = "DROP TABLE own_live; DROP TABLE line; DROP TABLE freed; DROP TABLE "
                              "wanted; DROP TABLE found; DROP TABLE other;"
                              "DROP TABLE known; DROP TABLE count_of; DROP TABLE inherit_part;";

static int each_ancestor(sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result =
        sqlite3_prepare_v2(database,
                           "SELECT ancestor FROM wanted UNION SELECT forked_from FROM process"
                           "  WHERE forked_from IS NOT NULL",
                           -1, &query, NULL);
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
    int result = sqlite3_prepare_v2(database, sum_sql, -1, &update, NULL);
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

static int run_all(sqlite3 *database, const char *const *steps, size_t count)
{
    int result = SQLITE_OK;
    for (size_t i = 0; result == SQLITE_OK && i < count; i++)
        result = sqlite3_exec(database, steps[i], NULL, NULL, NULL);
    return result;
}

int writer_inherit_put(sqlite3 *database)
{
    int result = run_all(database, (const char *const[]){ancestors_sql, want_sql}, 2);
    if (result == SQLITE_OK)
        result = each_ancestor(database);
    if (result == SQLITE_OK)
        result = run_all(database, (const char *const[]){choose_sql, pair_sql}, 2);
    if (result == SQLITE_OK)
        result = sum_up(database);
    return result == SQLITE_OK ? run_all(database, (const char *const[]){end_sql}, 1) : result;
}
