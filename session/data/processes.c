/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"

static bool grow(struct processes *processes)
{
    if (processes->count < processes->capacity)
        return true;
    const size_t capacity = processes->capacity ? processes->capacity * 2 : 16;
    struct session_process *rows = realloc(processes->rows, capacity * sizeof(*rows));
    if (rows)
        processes->rows = rows;
    uint64_t *first = realloc(processes->first, capacity * sizeof(*first));
    if (first)
        processes->first = first;
    uint64_t *last = realloc(processes->last, capacity * sizeof(*last));
    if (last)
        processes->last = last;
    if (!rows || !first || !last)
        return false;
    processes->capacity = capacity;
    return true;
}

static bool read_process(void *context, const struct database_row *row, struct session_error *error)
{
    struct session *session = context;
    struct processes *processes = &session->processes;
    if (database_number(row, 0) != (int64_t)processes->count + 1)
        return session_fail(error, 0, "%s: table process is damaged: ingest the trace again",
                            database_path(session->database));
    if (!grow(processes))
        return session_fail_memory(error, "the session's processes");
    struct session_process *process = &processes->rows[processes->count];
    *process = (struct session_process){
        .id = (uint32_t)processes->count + 1,
        .pid = database_number(row, 1),
        .program = names_keep(&session->names, database_text(row, 2), error),
        .argv = names_keep(&session->names, database_text(row, 3), error),
        .executable = names_keep(&session->names, database_text(row, 4), error),
        .start_ns = (uint64_t)database_number(row, 5),
        .end_ns = (uint64_t)database_number(row, 6),
        .allocations = (uint64_t)database_number(row, 7),
        .frees = (uint64_t)database_number(row, 8),
        .bytes = (uint64_t)database_number(row, 9),
        .live_count = (uint64_t)database_number(row, 10),
        .live_bytes = (uint64_t)database_number(row, 11),
        .peak_bytes = (uint64_t)database_number(row, 12),
        .peak_ns = (uint64_t)database_number(row, 13),
        .place = (uint32_t)database_number(row, 14),
        .executed_from = (uint32_t)database_number(row, 15),
        .parent = (uint32_t)database_number(row, 16),
    };
    processes->first[processes->count] = (uint64_t)database_number(row, 17);
    processes->last[processes->count] = (uint64_t)database_number(row, 18);
    if (processes->last[processes->count] < processes->first[processes->count])
        return session_fail(error, 0, "%s: table process is damaged: ingest the trace again",
                            database_path(session->database));
    processes->count++;
    return process->program && process->argv && process->executable;
}

bool processes_read(struct session *session, struct session_error *error)
{
    static const char sql[] =
        "SELECT v.process_id, v.pid, v.program, v.argv, v.executable, v.start_ns, v.end_ns,"
        "  v.allocations, v.frees, v.bytes, v.live_count, v.live_bytes, v.peak_bytes, v.peak_ns,"
        "  v.place, v.executed_from, v.parent_id, p.first_allocation_id, p.last_allocation_id"
        "  FROM process p JOIN v_process v ON v.process_id = p.id ORDER BY p.id";
    return database_each(session->database, sql, read_process, session, error);
}

void processes_forget_meta(struct processes *processes)
{
    for (size_t i = 0; i < processes->meta_count; i++)
        free(processes->meta[i].value);
    processes->meta_count = 0;
}

void processes_free(struct processes *processes)
{
    processes_forget_meta(processes);
    free(processes->rows);
    free(processes->first);
    free(processes->last);
}

void processes_mask(const struct session *session, uint32_t chunk, uint64_t *words)
{
    const struct processes *processes = &session->processes;
    const uint64_t begin = (uint64_t)chunk * COLUMN_CHUNK_ROWS;
    if (processes->selected == 0)
        return;
    /* Rows count from 0, ids from 1. */
    const uint64_t first = processes->first[processes->selected - 1];
    const uint64_t end = processes->last[processes->selected - 1];
    for (size_t i = 0; i < COLUMN_CHUNK_ROWS / 64; i++) {
        const uint64_t row = begin + i * 64;
        if (first == 0 || row >= end || row + 64 < first)
            words[i] = 0;
        else {
            if (row + 1 < first)
                words[i] &= UINT64_MAX << (first - 1 - row);
            if (row + 64 > end)
                words[i] &= UINT64_MAX >> (row + 64 - end);
        }
    }
}

const char *processes_meta(const struct processes *processes, const char *key)
{
    for (size_t i = 0; i < processes->meta_count; i++)
        if (strcmp(processes->meta[i].key, key) == 0)
            return processes->meta[i].value;
    return NULL;
}

uint64_t processes_rows(const struct session *session)
{
    const struct processes *processes = &session->processes;
    if (processes->selected == 0)
        return column_store_rows(session->columns);
    const uint64_t first = processes->first[processes->selected - 1];
    return first == 0 ? 0 : processes->last[processes->selected - 1] - first + 1;
}

void processes_set_text(struct processes *processes, const char *key, const char *value)
{
    struct process_meta *meta = &processes->meta[processes->meta_count];
    if (processes->meta_count == sizeof(processes->meta) / sizeof(*processes->meta))
        return;
    *meta = (struct process_meta){key, strdup(value)};
    processes->meta_count += meta->value != NULL;
}

void processes_set_number(struct processes *processes, const char *key, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    processes_set_text(processes, key, digits);
}
