/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/thread_totals.h"

#include <stdlib.h>

#include "ingest/base/array.h"
#include "process_update_sql.h"

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
    size_t low = 0, high = totals->process_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (totals->processes[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < totals->process_count && totals->processes[low].id == id ? low
                                                                          : totals->process_count;
}

/* Finds a thread. Ids are mostly dense from 1. NULL if there is none. */
static struct thread_total *find_thread(struct writer_thread_totals *totals, int64_t id)
{
    size_t low = 0, high = totals->thread_count;
    if (id > 0 && (uint64_t)id <= high && totals->threads[id - 1].id == id)
        return &totals->threads[id - 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (totals->threads[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
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
        if (!array_reserve(&totals->processes, &totals->process_capacity, totals->process_count + 1,
                           sizeof(*totals->processes)))
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
        if (!array_reserve(&totals->threads, &totals->thread_capacity, totals->thread_count + 1,
                           sizeof(*totals->threads)))
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
