/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/inherited.h"

#include <stdbool.h>
#include <stdlib.h>

#include "ingest/base/array.h"
#include "ingest/base/problems.h"
#include "inherited_ancestors_sql.h"
#include "inherited_counts_sql.h"
#include "inherited_end_sql.h"
#include "inherited_pairs_sql.h"
#include "inherited_places_sql.h"
#include "inherited_problems_sql.h"
#include "inherited_sums_sql.h"
#include "inherited_wanted_sql.h"
#include "process_rows_sql.h"

struct fork_row {
    int64_t child, ns;
    int64_t count, bytes; /* differences from the previous fork, until they are summed up */
};

/* A free whose block may be among the rows. Frees of one address are adjacent, sorted by `end`. */
struct wanted {
    int64_t id, address, arena;
    int64_t begin, end; /* of the fork; with depth 0 the block is older than `end` */
    int64_t depth;
    bool found;
};

/*
 * One pass over the rows of a process that forked. It finds the blocks that its children freed, and
 * counts how many were live when it forked each child. It reads the temporary table `wanted` and
 * fills `found` and `own_live`.
 */
struct pass {
    sqlite3 *database;
    int64_t process;
    struct fork_row *forks; /* in the order of time */
    size_t fork_count, fork_capacity;
    struct wanted *wanted;
    size_t wanted_count, wanted_capacity;
    int64_t longest;             /* ns of the longest fork */
    struct index_map by_address; /* the first one of each address */
    sqlite3_stmt *insert;
};

/* ---- what was live at each fork ------------------------------------------------------------- */

/* Returns the index of the first fork at or after `ns`. */
static size_t first_fork(const struct pass *pass, int64_t ns)
{
    size_t low = 0, high = pass->fork_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pass->forks[middle].ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts a block that was live from `begin` to `end` (INT64_MAX: to the end) for all forks in
 * between. */
static void count_block(struct pass *pass, int64_t begin, int64_t end, int64_t size)
{
    size_t from = first_fork(pass, begin), to = first_fork(pass, end);
    if (from >= to)
        return;
    pass->forks[from].count++;
    pass->forks[from].bytes += size;
    if (to < pass->fork_count) {
        pass->forks[to].count--;
        pass->forks[to].bytes -= size;
    }
}

static int read_forks(struct pass *pass)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(
        pass->database,
        "SELECT id, forked_ns FROM process WHERE forked_from = ? ORDER BY forked_ns", -1, &query,
        NULL);
    sqlite3_bind_int64(query, 1, pass->process);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        result = SQLITE_NOMEM;
        if (!array_reserve(&pass->forks, &pass->fork_capacity, pass->fork_count + 1,
                           sizeof(*pass->forks)))
            break;
        pass->forks[pass->fork_count++] = (struct fork_row){.child = sqlite3_column_int64(query, 0),
                                                            .ns = sqlite3_column_int64(query, 1)};
        result = SQLITE_OK;
    }
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

static int put_forks(const struct pass *pass)
{
    sqlite3_stmt *insert = NULL;
    struct fork_row sum = {0};
    int result = sqlite3_prepare_v2(pass->database, "INSERT INTO own_live VALUES (?, ?, ?)", -1,
                                    &insert, NULL);
    for (size_t i = 0; result == SQLITE_OK && i < pass->fork_count; i++) {
        sum.count += pass->forks[i].count;
        sum.bytes += pass->forks[i].bytes;
        sqlite3_bind_int64(insert, 1, pass->forks[i].child);
        sqlite3_bind_int64(insert, 2, sum.count);
        sqlite3_bind_int64(insert, 3, sum.bytes);
        sqlite3_step(insert);
        result = sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return result;
}

/* ---- whose block a free ended ---------------------------------------------------------------- */

static uint64_t hash_address(int64_t address)
{
    return hash_combine(hash_seed(), (uint64_t)address);
}

static bool add_wanted(struct pass *pass, sqlite3_stmt *query)
{
    const size_t count = pass->wanted_count;
    if (count >= INDEX_NONE ||
        !array_reserve(&pass->wanted, &pass->wanted_capacity, count + 1, sizeof(*pass->wanted)))
        return false;
    struct wanted *wanted = &pass->wanted[pass->wanted_count++];
    *wanted = (struct wanted){.id = sqlite3_column_int64(query, 0),
                              .address = sqlite3_column_int64(query, 1),
                              .arena = sqlite3_column_int64(query, 2),
                              .begin = sqlite3_column_int64(query, 3),
                              .end = sqlite3_column_int64(query, 4),
                              .depth = sqlite3_column_int64(query, 5)};
    if (wanted->depth != 0 && wanted->end - wanted->begin > pass->longest)
        pass->longest = wanted->end - wanted->begin;
    return (count > 0 && pass->wanted[count - 1].address == wanted->address) ||
           index_map_insert(&pass->by_address, hash_address(wanted->address), (uint32_t)count);
}

static int read_wanted(struct pass *pass)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(pass->database, inherited_places_sql, -1, &query, NULL);
    sqlite3_bind_int64(query, 1, pass->process);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW)
        result = add_wanted(pass, query) ? SQLITE_OK : SQLITE_NOMEM;
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

static int put_found(struct pass *pass, const struct wanted *wanted, int64_t allocation,
                     int64_t alloc_ns)
{
    sqlite3_bind_int64(pass->insert, 1, wanted->id);
    sqlite3_bind_int64(pass->insert, 2, wanted->depth);
    sqlite3_bind_int64(pass->insert, 3, allocation);
    sqlite3_bind_int64(pass->insert, 4, alloc_ns);
    sqlite3_step(pass->insert);
    return sqlite3_reset(pass->insert);
}

/* Returns the index of the first one of `address` with an end at or after `ns`, or the number of
 * all if `address` is not there. */
static size_t first_wanted(const struct pass *pass, int64_t address, int64_t ns)
{
    uint64_t hash = hash_address(address);
    size_t probe = index_map_begin(&pass->by_address, hash);
    uint32_t index;
    while ((index = index_map_next(&pass->by_address, hash, &probe)) != INDEX_NONE)
        if (pass->wanted[index].address == address)
            break;
    if (index == INDEX_NONE)
        return pass->wanted_count;
    size_t low = index, high = pass->wanted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pass->wanted[middle].address == address && pass->wanted[middle].end < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Finds the frees of the row's block, which was live from `begin` to `end` (INT64_MAX: to the end).
 * Rows of one address are in the order of time. If two had the address during a fork, the first one
 * was live when the fork began.
 */
static int match_row(struct pass *pass, sqlite3_stmt *row, int64_t begin, int64_t end)
{
    const int64_t address = sqlite3_column_int64(row, 3), arena = sqlite3_column_int64(row, 4);
    int result = SQLITE_OK;
    for (size_t i = first_wanted(pass, address, begin);
         result == SQLITE_OK && i < pass->wanted_count && pass->wanted[i].address == address; i++) {
        struct wanted *wanted = &pass->wanted[i];
        if (end != INT64_MAX && wanted->depth != 0 && wanted->end - pass->longest > end)
            break;
        if (wanted->arena != arena || wanted->found ||
            (wanted->depth == 0 ? begin >= wanted->end : end < wanted->begin))
            continue;
        wanted->found = true;
        result = put_found(pass, wanted, sqlite3_column_int64(row, 5), begin);
    }
    return result;
}

/* ---- the rows -------------------------------------------------------------------------------- */

static int read_rows(struct pass *pass)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(pass->database, process_rows_sql, -1, &query, NULL);
    sqlite3_bind_int64(query, 1, pass->process);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        int64_t begin = sqlite3_column_int64(query, 0), end = INT64_MAX;
        if (sqlite3_column_type(query, 1) != SQLITE_NULL)
            end = sqlite3_column_int64(query, 1);
        if (sqlite3_column_int64(query, 4) == 0)
            count_block(pass, begin, end, sqlite3_column_int64(query, 2));
        result = match_row(pass, query, begin, end);
    }
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

/* Reads the rows of `process`. Returns SQLite's code. */
static int pair_rows(sqlite3 *database, int64_t process)
{
    struct pass pass = {.database = database, .process = process};
    int result = sqlite3_prepare_v2(database, "INSERT INTO found VALUES (?, ?, ?, ?)", -1,
                                    &pass.insert, NULL);
    if (result == SQLITE_OK)
        result = read_forks(&pass);
    if (result == SQLITE_OK)
        result = read_wanted(&pass);
    if (result == SQLITE_OK)
        result = read_rows(&pass);
    if (result == SQLITE_OK)
        result = put_forks(&pass);
    sqlite3_finalize(pass.insert);
    index_map_free(&pass.by_address);
    free(pass.wanted);
    free(pass.forks);
    return result;
}

/* ---- all processes --------------------------------------------------------------------------- */

static int each_ancestor(sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, inherited_ancestors_sql, -1, &query, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW)
        result = pair_rows(database, sqlite3_column_int64(query, 0));
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

int writer_inherited_fork(sqlite3 *database, uint64_t trace_id, uint64_t begin_ns, uint64_t end_ns)
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

int writer_inherited_put(sqlite3 *database)
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
