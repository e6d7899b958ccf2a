/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/process_stacks.h"

#include <stdlib.h>

#include "ingest/base/array.h"
#include "ingest/write/packed.h"
#include "schemas/packed_array.h"

#include "process_ranges_sql.h"

int process_stacks_open(struct process_stacks *stacks, sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, process_ranges_sql, -1, &query, NULL);
    while (result == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
        if (!array_reserve(&stacks->processes, &stacks->capacity, stacks->count + 1,
                           sizeof(*stacks->processes)))
            result = SQLITE_NOMEM;
        else
            stacks->processes[stacks->count++] =
                (struct process_range){.first = (uint64_t)sqlite3_column_int64(query, 0),
                                       .last = (uint64_t)sqlite3_column_int64(query, 1)};
    }
    const int finalized = sqlite3_finalize(query);
    return result == SQLITE_OK ? finalized : result;
}

/* Returns the process of a row, NULL if it has none. Rows of a process follow each other. */
static struct process_range *find(struct process_stacks *stacks, uint64_t id)
{
    for (size_t i = 0; i < stacks->count; i++) {
        struct process_range *process = &stacks->processes[stacks->current];
        if (process->first != 0 && id >= process->first && id <= process->last)
            return process;
        stacks->current = (stacks->current + 1) % stacks->count;
    }
    return NULL;
}

bool process_stacks_add(struct process_stacks *stacks, const struct row_batch *batch)
{
    for (size_t i = 0; stacks->count > 1 && i < batch->rows; i++) {
        const uint64_t stack = batch->column[COLUMN_STACK][i];
        struct process_range *process = find(stacks, batch->first_id + i);
        if (!process || stack == 0 || stack > UINT32_MAX || batch->column[COLUMN_ARENA][i] != 0)
            continue;
        if (!array_reserve(&stacks->seen, &stacks->seen_capacity, (size_t)stack + 1,
                           sizeof(*stacks->seen)))
            return false;
        const uint32_t number = (uint32_t)stacks->current + 1;
        process->stacks += stacks->seen[stack] != number;
        stacks->seen[stack] = number;
    }
    return true;
}

int process_stacks_put(const struct process_stacks *stacks, sqlite3 *database)
{
    if (stacks->count < 2)
        return SQLITE_OK;
    uint8_t *data = calloc(stacks->count, 4);
    if (!data)
        return SQLITE_NOMEM;
    for (size_t i = 0; i < stacks->count; i++)
        packed_put(data + i * 4, stacks->processes[i].stacks, 4);
    const int result =
        writer_packed_put_array(database, PACKED_PROCESS_STACKS, data, stacks->count * 4);
    free(data);
    return result;
}

void process_stacks_free(struct process_stacks *stacks)
{
    free(stacks->processes);
    free(stacks->seen);
    *stacks = (struct process_stacks){.processes = NULL};
}
