/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/functions.h"

#include "ingest/write/session_tables.h"
#include "function_count_sql.h"
#include "process_update_sql.h"
#include "tree_nodes_sql.h"

static bool fail_gaps(struct writer_database *database)
{
    return ingest_fail(database->status, INGEST_BAD_INPUT,
                       "%s: tables function and frame: the ids have gaps; ingest the trace again",
                       database->name);
}

static bool fail_memory(struct writer_database *database)
{
    return ingest_fail_memory(database->status, "the sums of functions");
}

/* The sums of all stacks, on their way to the functions on them and to the tree. */
struct adding {
    struct writer_database *database;
    struct stack_tree *to;
    int64_t functions;
    const struct stack_usages *stacks;
};

static bool add_node(void *context, sqlite3_stmt *query)
{
    const struct adding *adding = context;
    const int64_t function = sqlite3_column_int64(query, 3);
    const struct call_tree_step step = {.node = (uint32_t)sqlite3_column_int64(query, 0),
                                        .frame = (uint32_t)sqlite3_column_int64(query, 2),
                                        .function = (uint32_t)function};
    const bool ends = sqlite3_column_type(query, 4) != SQLITE_NULL;
    const struct stack_usage usage =
        stack_usages_of(adding->stacks, ends ? (size_t)sqlite3_column_int64(query, 4) : SIZE_MAX);
    if (function <= 0 || function > adding->functions)
        return fail_gaps(adding->database);
    return stack_tree_enter(adding->to, &step, (uint32_t)sqlite3_column_int64(query, 1),
                            ends ? &usage : NULL, (uint32_t)sqlite3_column_int64(query, 5)) ||
           fail_memory(adding->database);
}

static bool add_bare_stack(void *context, sqlite3_stmt *query)
{
    const struct adding *adding = context;
    const struct stack_usage usage =
        stack_usages_of(adding->stacks, (size_t)sqlite3_column_int64(query, 0));
    return call_tree_add_bare(adding->to->tree, &usage) || fail_memory(adding->database);
}

static bool insert_node(void *context, const struct call_tree_row *row)
{
    sqlite3_stmt *insert = context;
    sqlite3_bind_int64(insert, 1, row->id);
    if (row->parent != 0)
        sqlite3_bind_int64(insert, 2, row->parent);
    else
        sqlite3_bind_null(insert, 2);
    sqlite3_bind_int64(insert, 3, row->function);
    for (int i = 0; i < CALL_TREE_SUMS; i++) {
        sqlite3_bind_int64(insert, 4 + i, (int64_t)row->total[i]);
        sqlite3_bind_int64(insert, 4 + CALL_TREE_SUMS + i, (int64_t)row->self[i]);
    }
    sqlite3_step(insert);
    return sqlite3_reset(insert) == SQLITE_OK;
}

static bool put_tree(struct writer_database *database, const struct call_tree *tree)
{
    sqlite3_stmt *insert = NULL;
    const bool good =
        sqlite3_prepare_v2(database->sqlite,
                           "INSERT INTO call_node VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", -1,
                           &insert, NULL) == SQLITE_OK &&
        call_tree_each(tree, insert_node, insert);
    sqlite3_finalize(insert);
    return good || writer_database_fail(database, NULL);
}

bool writer_functions_put(struct writer_database *database, const uint32_t *call_sites,
                          size_t stack_count, const struct totals *totals)
{
    const struct table_sink sink = writer_database_sink(database);
    struct call_tree tree = {.count = 0};
    int64_t functions;
    if (!writer_database_number(database, function_count_sql, &functions))
        return false;
    if (functions < 0 || functions >= INDEX_NONE)
        return fail_gaps(database);
    struct function_sum *sums = calloc((size_t)functions + 1, sizeof(*sums));
    struct stack_tree to = {.path.sums = sums, .tree = &tree};
    if (!sums)
        return fail_memory(database);
    struct adding adding = {database, &to, functions, &totals->stacks};
    bool good = writer_database_each(database, tree_nodes_sql, add_node, &adding);
    stack_tree_leave(&to);
    for (size_t i = 0; good && i < stack_count; i++)
        if (call_sites[i] <= functions) {
            const struct stack_usage usage = stack_usages_of(&totals->stacks, i);
            function_sum_add_stack(sums, call_sites[i], &usage);
        }
    good = good && session_functions_put(&sink, sums, (size_t)functions + 1, totals) &&
           writer_database_each(database, "SELECT id FROM stack WHERE node_id IS NULL ORDER BY id",
                                add_bare_stack, &adding) &&
           (call_tree_finish(&tree) || fail_memory(database)) && put_tree(database, &tree);
    call_tree_free(&tree);
    free(sums);
    return good;
}

/* ---- thread totals ------------------------------------------------------------------------- */

struct thread_total {
    int64_t id;
    size_t process; /* its place among the processes, or their number if it has none */
    uint64_t allocations, frees, bytes;
};

struct process_total {
    int64_t id;
    uint64_t allocations, frees, bytes, live_count, live_bytes, peak_bytes, peak_ns;
};

static size_t find_process(const struct writer_thread_totals *totals, int64_t id)
{
    size_t low = 0;
    ARRAY_BISECT(low, totals->process_count, totals->processes[middle].id < id);
    return low < totals->process_count && totals->processes[low].id == id ? low
                                                                          : totals->process_count;
}

/* Finds a thread. Ids are mostly dense from 1. NULL if there is none. */
static struct thread_total *find_thread(struct writer_thread_totals *totals, int64_t id)
{
    size_t low = 0;
    if (id > 0 && (uint64_t)id <= totals->thread_count && totals->threads[id - 1].id == id)
        return &totals->threads[id - 1];
    ARRAY_BISECT(low, totals->thread_count, totals->threads[middle].id < id);
    return low < totals->thread_count && totals->threads[low].id == id ? &totals->threads[low]
                                                                       : NULL;
}

static int read_processes(struct writer_thread_totals *totals, sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result =
        sqlite3_prepare_v2(database, "SELECT id FROM process ORDER BY id", -1, &query, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        result = SQLITE_NOMEM;
        if (!ARRAY_RESERVE(totals->processes, totals->process_count, totals->process_capacity))
            break;
        totals->processes[totals->process_count++] =
            (struct process_total){.id = sqlite3_column_int64(query, 0)};
        result = SQLITE_OK;
    }
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

static int read_threads(struct writer_thread_totals *totals, sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, "SELECT id, process_id FROM thread ORDER BY id", -1,
                                    &query, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        result = SQLITE_NOMEM;
        if (!ARRAY_RESERVE(totals->threads, totals->thread_count, totals->thread_capacity))
            break;
        totals->threads[totals->thread_count++] =
            (struct thread_total){.id = sqlite3_column_int64(query, 0),
                                  .process = find_process(totals, sqlite3_column_int64(query, 1))};
        result = SQLITE_OK;
    }
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

int writer_thread_totals_read(struct writer_thread_totals *totals, sqlite3 *database)
{
    int result = read_processes(totals, database);
    return result == SQLITE_OK ? read_threads(totals, database) : result;
}

void writer_thread_totals_allocate(struct writer_thread_totals *totals, int64_t thread,
                                   uint64_t size, uint64_t ns)
{
    struct thread_total *allocator = find_thread(totals, thread);
    if (!allocator)
        return;
    allocator->allocations++;
    allocator->bytes += size;
    if (allocator->process == totals->process_count)
        return;
    struct process_total *process = &totals->processes[allocator->process];
    process->allocations++;
    process->bytes += size;
    process->live_count++;
    process->live_bytes += size;
    if (process->live_bytes > process->peak_bytes) {
        process->peak_bytes = process->live_bytes;
        process->peak_ns = ns;
    }
}

void writer_thread_totals_free(struct writer_thread_totals *totals, int64_t thread, uint64_t size,
                               int64_t freed_by)
{
    const struct thread_total *allocator = find_thread(totals, thread);
    struct thread_total *freer = freed_by != 0 ? find_thread(totals, freed_by) : NULL;
    if (freer)
        freer->frees++;
    if (!allocator || allocator->process == totals->process_count)
        return;
    struct process_total *process = &totals->processes[allocator->process];
    process->frees += freed_by != 0;
    process->live_count--;
    process->live_bytes -= size;
}

/* Runs a statement with numbers for its parameters. */
static int put(sqlite3_stmt *statement, size_t count, const uint64_t *numbers)
{
    for (size_t i = 0; i < count; i++)
        sqlite3_bind_int64(statement, (int)i + 1, (int64_t)numbers[i]);
    sqlite3_step(statement);
    return sqlite3_reset(statement);
}

static int put_threads(const struct writer_thread_totals *totals, sqlite3 *database)
{
    sqlite3_stmt *update = NULL;
    int result = sqlite3_prepare_v2(
        database, "UPDATE thread SET allocations = ?2, frees = ?3, bytes = ?4 WHERE id = ?1", -1,
        &update, NULL);
    for (size_t i = 0; result == SQLITE_OK && i < totals->thread_count; i++) {
        const struct thread_total *thread = &totals->threads[i];
        const uint64_t row[] = {(uint64_t)thread->id, thread->allocations, thread->frees,
                                thread->bytes};
        result = put(update, sizeof(row) / sizeof(*row), row);
    }
    sqlite3_finalize(update);
    return result;
}

static int put_processes(const struct writer_thread_totals *totals, sqlite3 *database)
{
    sqlite3_stmt *update = NULL;
    int result = sqlite3_prepare_v2(database, process_update_sql, -1, &update, NULL);
    for (size_t i = 0; result == SQLITE_OK && i < totals->process_count; i++) {
        const struct process_total *process = &totals->processes[i];
        const uint64_t row[] = {(uint64_t)process->id, process->allocations, process->frees,
                                process->bytes,        process->live_count,  process->live_bytes,
                                process->peak_bytes,   process->peak_ns};
        result = put(update, sizeof(row) / sizeof(*row), row);
    }
    sqlite3_finalize(update);
    return result;
}

int writer_thread_totals_put(const struct writer_thread_totals *totals, sqlite3 *database,
                             bool processes)
{
    int result = put_threads(totals, database);
    return result == SQLITE_OK && processes ? put_processes(totals, database) : result;
}

void writer_thread_totals_close(struct writer_thread_totals *totals)
{
    free(totals->threads);
    free(totals->processes);
    *totals = (struct writer_thread_totals){0};
}
