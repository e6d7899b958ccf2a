/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "earlier_kept_sql.h"
#include "processes_sql.h"

static bool grow(struct processes *processes)
{
    const size_t needed = processes->count + 1;
    size_t first = processes->capacity, last = first;
    return array_grow(&processes->first, &first, needed, sizeof(*processes->first)) &&
           array_grow(&processes->last, &last, needed, sizeof(*processes->last)) &&
           array_grow(&processes->rows, &processes->capacity, needed, sizeof(*processes->rows));
}

/* Returns the id of an earlier process, 0 if there is none. */
static uint32_t id_of(const struct database_row *row, int column)
{
    const int64_t id = database_number(row, column);
    return id > 0 && id < database_number(row, 0) ? (uint32_t)id : 0;
}

static bool read_process(void *context, const struct database_row *row, struct session_error *error)
{
    struct session *session = context;
    struct processes *processes = &session->processes;
    if (database_number(row, 0) != (int64_t)processes->count + 1)
        return session_fail(error, 0, "%s: table process is damaged; ingest the trace again",
                            database_path(session->database));
    if (!grow(processes))
        return session_fail_memory(error, "the session's processes");
    struct session_process *process = &processes->rows[processes->count];
    uint64_t *first = &processes->first[processes->count];
    uint64_t *last = &processes->last[processes->count];
    *process = (struct session_process){
        .id = (uint32_t)processes->count + 1,
        .pid = database_number(row, 1),
        .program = names_keep(&session->names, database_text(row, 2), error),
        .argv = names_keep(&session->names, database_text(row, 3), error),
        .executable = names_keep(&session->names, database_text(row, 4), error),
        .place = (uint32_t)database_number(row, 14),
        .executed_from = id_of(row, 15),
        .parent = id_of(row, 16),
        .machine = processes->count + 1 < session->names.process.count
                       ? session->names.process_machine[processes->count + 1]
                       : 1,
        .ending = names_keep(&session->names, database_text(row, 19), error),
        .host = names_keep(&session->names, database_text(row, 20), error),
    };
    uint64_t *const numbers[] = {&process->start_ns,   &process->end_ns,     &process->allocations,
                                 &process->frees,      &process->bytes,      &process->live_count,
                                 &process->live_bytes, &process->peak_bytes, &process->peak_ns};
    for (int i = 0; i < 9; i++)
        if (!database_natural(session->database, row, i + 5, "table process", numbers[i], error))
            return false;
    if (!database_natural(session->database, row, 17, "table process", first, error) ||
        !database_natural(session->database, row, 18, "table process", last, error) ||
        !database_natural(session->database, row, 21, "table rss", &process->resident_bytes, error))
        return false;
    if (*last < *first || (*first == 0) != (*last == 0) ||
        *last > column_store_rows(session->columns) || process->end_ns < process->start_ns)
        return session_fail(error, 0, "%s: table process is damaged; ingest the trace again",
                            database_path(session->database));
    processes->count++;
    return process->program && process->argv && process->executable && process->ending &&
           process->host;
}

bool processes_read(struct session *session, struct session_error *error)
{
    return database_each(session->database, processes_sql, read_process, session, error);
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
    FREE_ALL(processes->rows, processes->first, processes->last);
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

uint64_t session_allocation_count(const struct session *session)
{
    const struct processes *processes = &session->processes;
    if (processes->selected == 0)
        return column_store_rows(session->columns);
    const uint64_t first = processes->first[processes->selected - 1];
    return first == 0 ? 0 : processes->last[processes->selected - 1] - first + 1;
}

uint64_t session_start_ns(const struct session *session)
{
    const struct processes *processes = &session->processes;
    return processes->selected == 0 ? 0 : processes->rows[processes->selected - 1].start_ns;
}

uint64_t session_first_allocation(const struct session *session)
{
    const struct processes *processes = &session->processes;
    const uint64_t first = processes->selected == 0 ? 0 : processes->first[processes->selected - 1];
    return first == 0 ? 1 : first;
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

/* ---- collected ---- */

struct reading {
    struct session *session;
    struct collected_arenas *arenas;
};

static bool make_room(struct collected_arenas *arenas, uint32_t count, struct session_error *error)
{
    arenas->other = malloc((size_t)count + 1);
    arenas->kept_before = malloc(((size_t)count + 1) * sizeof(*arenas->kept_before));
    if (!arenas->other || !arenas->kept_before)
        return session_fail_memory(error, "the arenas");
    memset(arenas->other, 1, (size_t)count + 1);
    memset(arenas->kept_before, 0xff, ((size_t)count + 1) * sizeof(*arenas->kept_before));
    return true;
}

static bool read_collected(void *context, const struct database_row *row,
                           struct session_error *error)
{
    struct reading *reading = context;
    struct session *session = reading->session;
    const int64_t id = database_number(row, 0);
    const uint32_t count = session->names.arena.count;
    if (!names_id_check(session->database, "arena", id, count, error) ||
        (!reading->arenas->other && !make_room(reading->arenas, count, error)))
        return false;
    reading->arenas->count++;
    reading->arenas->other[id] = 0;
    if (database_is_null(row, 1))
        return true;
    const int64_t kept_ns = database_number(row, 1);
    reading->arenas->kept_before[id] = kept_ns < 0 ? 0 : (uint64_t)kept_ns + 1;
    return true;
}

static bool read_earlier(void *context, const struct database_row *row, struct session_error *error)
{
    struct collected_arenas *arenas = ((struct reading *)context)->arenas;
    if (!ARRAY_GROW(arenas->earlier, arenas->earlier_count, arenas->earlier_room))
        return session_fail_memory(error, "the blocks of an earlier trace");
    arenas->earlier[arenas->earlier_count++] = (uint64_t)database_number(row, 0);
    return true;
}

/* Reads the blocks that a collection before a rotated trace had left. */
static bool read_all_earlier(struct reading *reading, struct session_error *error)
{
    struct database *database = reading->session->database;
    bool has;
    return database_has_table(database, "earlier_block", &has, error) &&
           (!has || database_each(database, earlier_kept_sql, read_earlier, reading, error));
}

bool collected_arenas_read(struct session *session, struct collected_arenas *arenas,
                           struct session_error *error)
{
    struct reading reading = {session, arenas};
    bool has;
    *arenas = (struct collected_arenas){.count = 0};
    if (!database_has_table(session->database, "collection", &has, error))
        return false;
    if (!has ||
        (database_each(session->database,
                       "SELECT id, kept_ns FROM arena WHERE collected > 0 OR kept_ns NOTNULL",
                       read_collected, &reading, error) &&
         (arenas->count == 0 || read_all_earlier(&reading, error))))
        return true;
    collected_arenas_free(arenas);
    return false;
}

size_t collected_arenas_next_earlier(const struct collected_arenas *arenas, uint64_t id)
{
    size_t low = 0;
    ARRAY_BISECT(low, arenas->earlier_count, arenas->earlier[middle] < id);
    return low;
}

bool session_has_collected(struct session *session, bool *any, struct session_error *error)
{
    struct collected_arenas arenas;
    const bool good = collected_arenas_read(session, &arenas, error);
    *any = good && arenas.count > 0;
    if (good)
        collected_arenas_free(&arenas);
    return good;
}

void collected_arenas_free(struct collected_arenas *arenas)
{
    FREE_ALL(arenas->other, arenas->kept_before, arenas->earlier);
    *arenas = (struct collected_arenas){.count = 0};
}

size_t session_processes(const struct session *session, const struct session_process **processes)
{
    *processes = session->processes.rows;
    return session->processes.count;
}

uint32_t session_selected_process(const struct session *session)
{
    return session->processes.selected;
}
