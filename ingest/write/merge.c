/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/write/database.h"
#include "ingest/write/inherited.h"
#include "ingest/write/packed.h"
#include "ingest/write/run_sums.h"
#include "schemas/packed_array.h"
#include "estimate_sql.h"
#include "merge_begin_sql.h"
#include "merge_first_sql.h"
#include "merge_maps_sql.h"
#include "merge_meta_sql.h"
#include "merge_names_sql.h"
#include "merge_rows_sql.h"
#include "merge_sampling_sql.h"
#include "merge_tables_sql.h"
#include "process_stack_count_sql.h"

struct writer_merge {
    struct writer_database tables; /* of all processes so far */
    char *path;                    /* of that file */
    struct writer *session;
    struct writer_run *run;
    struct writer_run_part *parts; /* of each process */
    uint64_t first_free;           /* of the present process */
    uint32_t *stacks;              /* that it allocated by */
    size_t count, capacity, stack_capacity;
};

struct writer_merge *writer_merge_open(const char *target, const char *tables,
                                       const struct writer_options *options,
                                       struct ingest_status *status)
{
    struct writer_options whole = *options;
    struct writer_merge *merge = calloc(1, sizeof(*merge));
    if (!merge || !(merge->path = strdup(tables))) {
        free(merge);
        ingest_fail_memory(status, "the session of several processes");
        return NULL;
    }
    whole.run = NULL;
    merge->run = options->run;
    merge->tables = (struct writer_database){
        .name = options->name ? options->name : target,
        .advice = " (is the disk full?); nothing was left behind",
        .interrupted = options->interrupted,
        .status = status,
    };
    merge->session = writer_open(target, &whole, status);
    if (merge->session) {
        merge->run->rows.sink = writer_sink(merge->session);
        return merge;
    }
    writer_merge_close(merge);
    return NULL;
}

/* Stores the largest id of a table, 0 if it has no rows. */
static bool last_id(struct writer_merge *merge, const char *sql, uint64_t *id)
{
    int64_t found = 0;
    const bool good = writer_database_number(&merge->tables, sql, &found);
    *id = (uint64_t)found;
    return good;
}

bool writer_merge_begin(struct writer_merge *merge, uint64_t later_ns)
{
    struct writer_run *run = merge->run;
    run->rows.later_ns = later_ns;
    merge->first_free = writer_records_count(&run->frees);
    if (merge->count != 0 &&
        (!last_id(merge, "SELECT max(id) FROM stack", &run->rows.first_stack) ||
         !last_id(merge, "SELECT max(id) FROM thread", &run->rows.first_thread) ||
         !last_id(merge, "SELECT max(id) FROM arena", &run->rows.first_arena) ||
         !last_id(merge, "SELECT max(id) FROM frame", &run->frames.first_frame)))
        return false;
    run->frames.first_stack = run->rows.first_stack;
    run->frames.first_node = run->frames.nodes;
    return true;
}

/* Fills type_map: the session's type ids by those of the draft. */
static bool map_types(struct writer_merge *merge)
{
    const struct writer_run_rows *rows = &merge->run->rows;
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(merge->tables.sqlite, "INSERT INTO type_map VALUES (?, ?)", -1,
                                    &insert, NULL);
    for (size_t i = rows->first_id; result == SQLITE_OK && i < rows->id_count; i++) {
        sqlite3_bind_int64(insert, 1, (int64_t)(i - rows->first_id));
        sqlite3_bind_int64(insert, 2, rows->ids[i]);
        sqlite3_step(insert);
        result = sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return writer_database_check(&merge->tables, result);
}

/* Adds a draft to the tables of all. */
static bool add_tables(struct writer_merge *merge, const char *path)
{
    struct writer_database *tables = &merge->tables;
    int64_t differ;
    if (!writer_database_run_with(tables, "ATTACH ? AS part", path, 0) ||
        !writer_database_number(tables, merge_sampling_sql, &differ))
        return false;
    if (differ != 0)
        return ingest_fail(tables->status, INGEST_BAD_INPUT,
                           "%s: the processes were sampled differently; make a session of each",
                           tables->name);
    return writer_database_run(tables, "BEGIN; DELETE FROM type_map") && map_types(merge) &&
           writer_database_run(tables, merge_first_sql) &&
           writer_database_run_with(tables, "INSERT INTO first VALUES ('later', ?)", NULL,
                                    (int64_t)merge->run->rows.later_ns) &&
           writer_database_run_with(tables, "INSERT INTO first VALUES ('node', ?)", NULL,
                                    (int64_t)merge->run->frames.first_node) &&
           writer_database_run(tables, merge_names_sql) &&
           writer_database_run(tables, merge_rows_sql) &&
           writer_database_run(tables, merge_meta_sql) &&
           writer_database_run(tables, "COMMIT; DETACH part");
}

/* Makes the draft of the first process the tables of all. */
static bool open_tables(struct writer_merge *merge)
{
    return writer_database_open(&merge->tables, merge->path, SQLITE_OPEN_READWRITE) &&
           writer_database_run(&merge->tables, merge_begin_sql) &&
           writer_database_run(&merge->tables, merge_maps_sql);
}

bool writer_merge_add(struct writer_merge *merge, const char *path, uint32_t machine)
{
    struct writer_run *run = merge->run;
    const size_t count = merge->count;
    int64_t stacks = 0;
    if (!array_reserve(&merge->parts, &merge->capacity, count + 1, sizeof(*merge->parts)) ||
        !array_reserve(&merge->stacks, &merge->stack_capacity, count + 1, sizeof(*merge->stacks)))
        return ingest_fail_memory(merge->tables.status, "the processes of the run");
    if (!(count == 0 ? open_tables(merge) : add_tables(merge, path)) ||
        !writer_database_run_with(
            &merge->tables,
            "UPDATE process SET machine = ? WHERE id = (SELECT max(id) FROM process)", NULL,
            (int64_t)machine) ||
        !writer_database_run_with(&merge->tables, "INSERT OR REPLACE INTO first VALUES ('part', ?)",
                                  NULL, (int64_t)run->rows.first_stack) ||
        !writer_database_number(&merge->tables, process_stack_count_sql, &stacks))
        return false;
    merge->stacks[count] = (uint32_t)stacks;
    merge->parts[merge->count++] = (struct writer_run_part){
        run->rows.later_ns, machine,          run->rows.first_stack, run->rows.first_arena,
        run->rows.first_id, merge->first_free};
    return true;
}

bool writer_merge_leave_out(struct writer_merge *merge, const char *why)
{
    return writer_database_run_with(
        &merge->tables, "INSERT INTO problem(kind, detail) VALUES ('trace left out', ?)", why, 0);
}

bool writer_merge_fork(struct writer_merge *merge, uint64_t trace_id, uint64_t begin_ns,
                       uint64_t end_ns)
{
    return writer_database_check(
        &merge->tables, writer_inherited_fork(merge->tables.sqlite, trace_id, begin_ns, end_ns));
}

/* Copies all tables of the processes into the session, whose tables of these names are empty. */
static bool copy_tables(struct writer_merge *merge)
{
    struct writer_database *session = writer_database(merge->session);
    sqlite3_stmt *query = NULL;
    char sql[256];
    int result = SQLITE_ERROR;
    /* All that follows is written in the order of ids, so a few pages do. */
    if (!writer_database_run(session, "COMMIT; PRAGMA cache_size = -4096") ||
        !writer_database_run_with(session, "ATTACH ? AS tables", merge->path, 0) ||
        !writer_database_run(session, "BEGIN"))
        return false;
    bool good = writer_database_check(
        session, sqlite3_prepare_v2(session->sqlite, merge_tables_sql, -1, &query, NULL));
    while (good && (result = sqlite3_step(query)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(query, 0);
        snprintf(sql, sizeof(sql), "INSERT INTO main.%s SELECT * FROM tables.%s", name, name);
        good = writer_database_run(session, sql);
    }
    sqlite3_finalize(query);
    return good && (result == SQLITE_DONE || writer_database_fail(session, NULL));
}

/* Writes how many stacks each process allocated by. A process alone has no such array. */
static bool put_process_stacks(struct writer_merge *merge)
{
    struct writer_database *session = writer_database(merge->session);
    uint8_t *data = malloc(merge->count * 4);
    if (!data)
        return ingest_fail_memory(session->status, "the processes of the run");
    for (size_t i = 0; i < merge->count; i++)
        packed_put(data + i * 4, merge->stacks[i], 4);
    const int result = merge->count < 2
                           ? SQLITE_OK
                           : writer_packed_put_array(session->sqlite, PACKED_PROCESS_STACKS, data,
                                                     merge->count * 4);
    free(data);
    return writer_database_check(session, result);
}

static bool put_estimate(struct writer_merge *merge)
{
    struct writer_database *session = writer_database(merge->session);
    int64_t sampled;
    return writer_database_number(session, "SELECT EXISTS (SELECT 1 FROM sample_weight)",
                                  &sampled) &&
           (sampled == 0 || writer_database_run(session, estimate_sql));
}

bool writer_merge_finish(struct writer_merge *merge, uint32_t machines)
{
    struct writer_run *run = merge->run;
    if (!writer_run_rows_finish(&run->rows) || !writer_rows_done(merge->session) ||
        !writer_database_run(&merge->tables, "BEGIN") ||
        !writer_run_sums_put(&merge->tables, merge->session, run, merge->parts, machines) ||
        !writer_database_run(&merge->tables, "COMMIT"))
        return false;
    writer_database_close(&merge->tables);
    struct writer_database *session = writer_database(merge->session);
    return copy_tables(merge) && put_process_stacks(merge) &&
           writer_inherited_put(session, &run->frees, merge->parts, merge->count) &&
           put_estimate(merge);
}

bool writer_merge_commit(struct writer_merge *merge)
{
    return writer_commit(merge->session);
}

bool writer_merge_select(struct writer_merge *merge, struct run *run, const char *word)
{
    struct writer_database *session = writer_database(merge->session);
    return run_processes_read(session, run) && run_processes_select(session, run, word);
}

uint64_t writer_merge_fact(struct writer_merge *merge, const char *key)
{
    sqlite3_stmt *query = NULL;
    uint64_t found = 0;
    if (sqlite3_prepare_v2(writer_database(merge->session)->sqlite,
                           "SELECT value FROM meta WHERE key = ?", -1, &query, NULL) == SQLITE_OK &&
        sqlite3_bind_text(query, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        found = (uint64_t)sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return found;
}

void writer_merge_close(struct writer_merge *merge)
{
    if (!merge)
        return;
    writer_database_close(&merge->tables);
    writer_close(merge->session);
    free(merge->parts);
    free(merge->stacks);
    free(merge->path);
    free(merge);
}
