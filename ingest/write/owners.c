/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/owners.h"

#include <stdlib.h>

#include "ingest/base/array.h"
#include "process_update_sql.h"

struct owner_thread {
    int64_t id;
    size_t process; /* its place among the processes, or their number if it has none */
    uint64_t allocations, frees, bytes;
};

struct owner_process {
    int64_t id;
    uint64_t allocations, frees, bytes, live_count, live_bytes, peak_bytes, peak_ns;
};

static size_t find_process(const struct writer_owners *owners, int64_t id)
{
    size_t low = 0, high = owners->process_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (owners->processes[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < owners->process_count && owners->processes[low].id == id ? low
                                                                          : owners->process_count;
}

/* Finds a thread. Ids are mostly dense from 1. NULL if there is none. */
static struct owner_thread *find_thread(struct writer_owners *owners, int64_t id)
{
    size_t low = 0, high = owners->thread_count;
    if (id > 0 && (uint64_t)id <= high && owners->threads[id - 1].id == id)
        return &owners->threads[id - 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (owners->threads[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < owners->thread_count && owners->threads[low].id == id ? &owners->threads[low]
                                                                       : NULL;
}

static int read_processes(struct writer_owners *owners, sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result =
        sqlite3_prepare_v2(database, "SELECT id FROM process ORDER BY id", -1, &query, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        result = SQLITE_NOMEM;
        if (!array_reserve(&owners->processes, &owners->process_capacity, owners->process_count + 1,
                           sizeof(*owners->processes)))
            break;
        owners->processes[owners->process_count++] =
            (struct owner_process){.id = sqlite3_column_int64(query, 0)};
        result = SQLITE_OK;
    }
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

static int read_threads(struct writer_owners *owners, sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, "SELECT id, process_id FROM thread ORDER BY id", -1,
                                    &query, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        result = SQLITE_NOMEM;
        if (!array_reserve(&owners->threads, &owners->thread_capacity, owners->thread_count + 1,
                           sizeof(*owners->threads)))
            break;
        owners->threads[owners->thread_count++] =
            (struct owner_thread){.id = sqlite3_column_int64(query, 0),
                                  .process = find_process(owners, sqlite3_column_int64(query, 1))};
        result = SQLITE_OK;
    }
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

int writer_owners_read(struct writer_owners *owners, sqlite3 *database)
{
    int result = read_processes(owners, database);
    return result == SQLITE_OK ? read_threads(owners, database) : result;
}

void writer_owners_allocate(struct writer_owners *owners, int64_t thread, uint64_t size,
                            uint64_t ns)
{
    struct owner_thread *owner = find_thread(owners, thread);
    if (!owner)
        return;
    owner->allocations++;
    owner->bytes += size;
    if (owner->process == owners->process_count)
        return;
    struct owner_process *process = &owners->processes[owner->process];
    process->allocations++;
    process->bytes += size;
    process->live_count++;
    process->live_bytes += size;
    if (process->live_bytes > process->peak_bytes) {
        process->peak_bytes = process->live_bytes;
        process->peak_ns = ns;
    }
}

void writer_owners_free(struct writer_owners *owners, int64_t thread, uint64_t size,
                        int64_t freed_by)
{
    const struct owner_thread *owner = find_thread(owners, thread);
    struct owner_thread *freer = freed_by != 0 ? find_thread(owners, freed_by) : NULL;
    if (freer)
        freer->frees++;
    if (!owner || owner->process == owners->process_count)
        return;
    struct owner_process *process = &owners->processes[owner->process];
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

static int put_threads(const struct writer_owners *owners, sqlite3 *database)
{
    sqlite3_stmt *update = NULL;
    int result = sqlite3_prepare_v2(
        database, "UPDATE thread SET allocations = ?2, frees = ?3, bytes = ?4 WHERE id = ?1", -1,
        &update, NULL);
    for (size_t i = 0; result == SQLITE_OK && i < owners->thread_count; i++) {
        const struct owner_thread *thread = &owners->threads[i];
        const uint64_t row[] = {(uint64_t)thread->id, thread->allocations, thread->frees,
                                thread->bytes};
        result = put(update, sizeof(row) / sizeof(*row), row);
    }
    sqlite3_finalize(update);
    return result;
}

static int put_processes(const struct writer_owners *owners, sqlite3 *database)
{
    sqlite3_stmt *update = NULL;
    int result = sqlite3_prepare_v2(database, process_update_sql, -1, &update, NULL);
    for (size_t i = 0; result == SQLITE_OK && i < owners->process_count; i++) {
        const struct owner_process *process = &owners->processes[i];
        const uint64_t row[] = {(uint64_t)process->id, process->allocations, process->frees,
                                process->bytes,        process->live_count,  process->live_bytes,
                                process->peak_bytes,   process->peak_ns};
        result = put(update, sizeof(row) / sizeof(*row), row);
    }
    sqlite3_finalize(update);
    return result;
}

int writer_owners_put(const struct writer_owners *owners, sqlite3 *database, bool processes)
{
    int result = put_threads(owners, database);
    return result == SQLITE_OK && processes ? put_processes(owners, database) : result;
}

void writer_owners_close(struct writer_owners *owners)
{
    free(owners->threads);
    free(owners->processes);
    *owners = (struct writer_owners){0};
}
