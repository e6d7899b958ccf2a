/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/functions.h"

#include <stdlib.h>

#include "ingest/base/array.h"
#include "ingest/write/function_sum.h"

#include "tree_nodes_sql.h"

struct sums {
    sqlite3 *database;
    struct function_sum *functions; /* by id, 0: no call site */
    size_t count;
};

static int count_functions(struct sums *sums)
{
    static const char sql[] =
        "SELECT count(*), ifnull(max(id), 0), ifnull(min(id), 1) FROM function";
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(sums->database, sql, -1, &query, NULL);
    if (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        const int64_t count = sqlite3_column_int64(query, 0);
        result = SQLITE_DONE;
        if (sqlite3_column_int64(query, 1) != count || sqlite3_column_int64(query, 2) != 1 ||
            count >= (int64_t)INDEX_NONE)
            result = SQLITE_CORRUPT;
        sums->count = (size_t)count;
    }
    sqlite3_finalize(query);
    if (result != SQLITE_DONE)
        return result;
    sums->functions = calloc(sums->count + 1, sizeof(*sums->functions));
    return sums->functions ? SQLITE_OK : SQLITE_NOMEM;
}

/* Adds the sums of each stack to the functions on it. */
static int add_totals(struct sums *sums, const struct stack_usages *stacks)
{
    struct function_path path = {.sums = sums->functions};
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(sums->database, tree_nodes_sql, -1, &query, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        const uint64_t function = (uint64_t)sqlite3_column_int64(query, 3);
        const bool ends = sqlite3_column_type(query, 4) != SQLITE_NULL;
        const struct stack_usage usage =
            stack_usages_of(stacks, ends ? (size_t)sqlite3_column_int64(query, 4) : SIZE_MAX);
        result = function == 0 || function > sums->count ? SQLITE_CORRUPT : SQLITE_OK;
        if (result == SQLITE_OK &&
            !function_path_enter(&path, (uint32_t)sqlite3_column_int64(query, 0),
                                 (uint32_t)sqlite3_column_int64(query, 1), (uint32_t)function,
                                 ends ? &usage : NULL))
            result = SQLITE_NOMEM;
    }
    sqlite3_finalize(query);
    function_path_finish(&path);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

static void add_selves(struct sums *sums, const uint32_t *call_sites, size_t stack_count,
                       const struct stack_usages *stacks)
{
    for (size_t i = 0; i < stack_count; i++) {
        const struct stack_usage usage = stack_usages_of(stacks, i);
        const uint32_t function = call_sites[i];
        if (function > sums->count)
            continue;
        if (function == 0)
            function_sum_add(&sums->functions[0], &usage);
        function_sum_add_self(&sums->functions[function], &usage);
    }
}

static int put_rows(const struct sums *sums, const struct totals *totals)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(sums->database,
                                    "INSERT INTO function_total VALUES (?,?,?,?,?,?,?,?,?,?)", -1,
                                    &insert, NULL);
    for (size_t i = sums->functions[0].count == 0; result == SQLITE_OK && i <= sums->count; i++) {
        const struct function_sum *sum = &sums->functions[i];
        const struct function_usage usage =
            i < totals->function_capacity ? totals->functions[i] : (struct function_usage){0};
        const uint64_t row[] = {i,
                                sum->self.bytes,
                                sum->self.allocations,
                                sum->bytes,
                                sum->count,
                                sum->self.live_bytes,
                                sum->self.live_count,
                                sum->self.at_peak_bytes,
                                usage.peak_bytes,
                                usage.short_lived};
        for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++)
            sqlite3_bind_int64(insert, (int)k + 1, (int64_t)row[k]);
        sqlite3_step(insert);
        result = sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return result;
}

int writer_functions_put(sqlite3 *database, const uint32_t *call_sites, size_t stack_count,
                         const struct totals *totals)
{
    struct sums sums = {.database = database};
    int result = count_functions(&sums);
    if (result == SQLITE_OK && !sums.functions)
        result = SQLITE_NOMEM;
    if (result == SQLITE_OK)
        result = add_totals(&sums, &totals->stacks);
    if (result == SQLITE_OK) {
        add_selves(&sums, call_sites, stack_count, &totals->stacks);
        result = put_rows(&sums, totals);
    }
    free(sums.functions);
    return result;
}
