/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/run_processes.h"

#include <stdlib.h>

#include "run_processes_sql.h"
#include "run_select_sql.h"

static char *text(sqlite3_stmt *query, int column)
{
    const char *found = (const char *)sqlite3_column_text(query, column);
    return strdup(found ? found : "");
}

/* Makes a place of an id. Ids are dense from 1. */
static size_t place(sqlite3_stmt *query, int column)
{
    return sqlite3_column_type(query, column) == SQLITE_NULL
               ? SIZE_MAX
               : (size_t)sqlite3_column_int64(query, column) - 1;
}

static bool read_row(sqlite3_stmt *query, struct run_process *process)
{
    *process = (struct run_process){
        .program = text(query, 2),
        .arguments = text(query, 3),
        .ending = text(query, 4),
        .allocations = (uint64_t)sqlite3_column_int64(query, 5),
        .peak_bytes = (uint64_t)sqlite3_column_int64(query, 7),
        .parent = place(query, 9),
        .executed = place(query, 10),
    };
    process->choice = (struct process_choice){
        .pid = sqlite3_column_int64(query, 1),
        .place = (unsigned)sqlite3_column_int64(query, 8),
        .program = process->program,
        .bytes = (uint64_t)sqlite3_column_int64(query, 6),
        .resident = (uint64_t)sqlite3_column_int64(query, 11),
    };
    return process->program && process->arguments && process->ending;
}

bool run_processes_read(struct writer_database *database, struct run *run)
{
    sqlite3_stmt *query = NULL;
    int step = SQLITE_ERROR;
    bool good = writer_database_check(
        database, sqlite3_prepare_v2(database->sqlite, run_processes_sql, -1, &query, NULL));
    size_t capacity = 0;
    while (good && (step = sqlite3_step(query)) == SQLITE_ROW) {
        if (run->count == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            struct run_process *larger =
                realloc(run->processes, capacity * sizeof(*run->processes));
            if (larger)
                run->processes = larger;
            good = larger != NULL;
        }
        good = good && read_row(query, &run->processes[run->count++]);
        if (!good)
            ingest_fail_memory(database->status, "the processes of the run");
    }
    sqlite3_finalize(query);
    if (good && step != SQLITE_DONE)
        good = writer_database_fail(database, NULL);
    return good;
}

/* Writes the id of the selected process. 0 is the sum of all. */
static bool write_selected(struct writer_database *database, size_t id)
{
    return writer_database_run_with(database,
                                    "INSERT OR REPLACE INTO meta VALUES ('selected_process', ?)",
                                    NULL, (int64_t)id) &&
           writer_database_run(database, run_select_sql);
}

bool run_processes_select(struct writer_database *database, struct run *run, const char *word)
{
    if (word && strcmp(word, PROCESS_CHOICE_ALL) == 0) {
        run->selected = run->count;
        run->matches = run->count;
        return write_selected(database, 0);
    }
    struct process_choice *rows = calloc(run->count + 1, sizeof(*rows));
    if (!rows)
        return ingest_fail_memory(database->status, "the processes of the run");
    for (size_t i = 0; i < run->count; i++)
        rows[i] = run->processes[i].choice;
    run->selected = process_choose(rows, run->count, word, &run->matches);
    free(rows);
    if (run->matches == 0)
        return ingest_fail(database->status, word ? INGEST_BAD_USAGE : INGEST_BAD_INPUT,
                           word ? "no process of the session is called \"%s\" or has "
                                  "that number; without --process the summary lists them"
                                : "the run has no process%s; record it again",
                           word ? word : "");
    return write_selected(database, run->selected + 1);
}

void run_processes_free(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        free(run->processes[i].program);
        free(run->processes[i].arguments);
        free(run->processes[i].ending);
    }
    free(run->processes);
    *run = (struct run){0};
}
