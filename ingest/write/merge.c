/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/write/database.h"
#include "ingest/write/derived.h"
#include "ingest/write/inherited.h"
#include "all_indexes_sql.h"
#include "inherited_begin_sql.h"
#include "inherited_part_sql.h"
#include "merge_begin_sql.h"
#include "merge_first_sql.h"
#include "merge_maps_sql.h"
#include "merge_meta_sql.h"
#include "merge_names_sql.h"
#include "merge_rows_sql.h"
#include "merge_sampling_sql.h"
#include "statistics_sql.h"

struct writer_merge {
    struct writer_database database;
    char *path;
    struct writer_options options;
};

static bool open_database(struct writer_merge *merge)
{
    return writer_database_open(&merge->database, merge->path, SQLITE_OPEN_READWRITE) &&
           writer_database_run(&merge->database, merge_begin_sql);
}

struct writer_merge *writer_merge_open(const char *path, const struct writer_options *options,
                                       struct ingest_status *status)
{
    struct writer_merge *merge = calloc(1, sizeof(*merge));
    if (!merge || !(merge->path = strdup(path))) {
        free(merge);
        ingest_fail_memory(status, "the session of several processes");
        return NULL;
    }
    merge->options = *options;
    merge->database = (struct writer_database){
        .name = options->name ? options->name : merge->path,
        .advice = " (is the disk full?); nothing was left behind",
        .interrupted = options->interrupted,
        .status = status,
    };
    if (open_database(merge) && writer_database_run(&merge->database, merge_maps_sql) &&
        writer_database_run(&merge->database, inherited_begin_sql))
        return merge;
    writer_merge_close(merge);
    return NULL;
}

bool writer_merge_continue_frames(struct writer_merge *merge)
{
    struct writer_frames *frames = merge->options.draft;
    int64_t stack, frame;
    if (!writer_database_number(&merge->database, "SELECT ifnull(max(id), 0) FROM stack", &stack) ||
        !writer_database_number(&merge->database, "SELECT ifnull(max(id), 0) FROM frame", &frame))
        return false;
    frames->first_stack = (uint64_t)stack;
    frames->first_frame = (uint64_t)frame;
    return true;
}

bool writer_merge_add(struct writer_merge *merge, const char *path, uint64_t later_ns)
{
    if (!writer_database_run_with(&merge->database, "ATTACH ? AS part", path, 0))
        return false;
    int64_t differ;
    if (!writer_database_number(&merge->database, merge_sampling_sql, &differ))
        return false;
    if (differ != 0)
        return ingest_fail(merge->database.status, INGEST_BAD_INPUT,
                           "%s: the processes were sampled differently; make a session of each",
                           merge->database.name);
    return writer_database_run(&merge->database, "BEGIN") &&
           writer_database_run(&merge->database, merge_first_sql) &&
           writer_database_run_with(&merge->database, "INSERT INTO first VALUES ('later', ?)", NULL,
                                    (int64_t)later_ns) &&
           writer_database_run(&merge->database, merge_names_sql) &&
           writer_database_run(&merge->database, merge_rows_sql) &&
           writer_database_run(&merge->database, inherited_part_sql) &&
           writer_database_run(&merge->database, merge_meta_sql) &&
           writer_database_run(&merge->database, "COMMIT; DETACH part");
}

bool writer_merge_machine(struct writer_merge *merge, uint32_t machine)
{
    return writer_database_run_with(
        &merge->database, "UPDATE process SET machine = ? WHERE id = (SELECT max(id) FROM process)",
        NULL, (int64_t)machine);
}

bool writer_merge_leave_out(struct writer_merge *merge, const char *why)
{
    return writer_database_run_with(
        &merge->database, "INSERT INTO problem(kind, detail) VALUES ('trace left out', ?)", why, 0);
}

bool writer_merge_fork(struct writer_merge *merge, uint64_t trace_id, uint64_t begin_ns,
                       uint64_t end_ns)
{
    return writer_database_check(
        &merge->database,
        writer_inherited_fork(merge->database.sqlite, trace_id, begin_ns, end_ns));
}

/* Puts the frames of all parts into the file, while SQLite has it closed. */
static bool put_frames(struct writer_merge *merge)
{
    struct writer_frames *frames = merge->options.draft;
    const struct writer_frame_roots roots = {writer_database_root(&merge->database, "stack_piece"),
                                             writer_database_root(&merge->database, "piece_frame")};
    if (roots.stack_piece == 0 || roots.piece_frame == 0)
        return writer_database_fail(&merge->database, NULL);
    writer_database_close(&merge->database);
    const int descriptor = open(merge->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        frames->error = errno;
    const bool good =
        descriptor >= 0 &&
        writer_frames_put(frames, descriptor, roots, writer_database_interrupted, &merge->database);
    if (descriptor >= 0)
        close(descriptor);
    return good ? open_database(merge)
                : writer_database_fail(&merge->database, strerror(frames->error));
}

static bool create_indexes(struct writer_merge *merge)
{
    return (merge->options.index == WRITER_INDEX_NONE ||
            writer_database_run(
                &merge->database,
                "CREATE INDEX allocation_stack ON allocation(stack_id, type_id)")) &&
           (merge->options.index != WRITER_INDEX_ALL ||
            writer_database_run(&merge->database, all_indexes_sql));
}

bool writer_merge_finish(struct writer_merge *merge)
{
    return writer_database_run(&merge->database, "BEGIN") &&
           writer_database_check(&merge->database, writer_inherited_put(merge->database.sqlite)) &&
           writer_database_run(&merge->database, "COMMIT") && put_frames(merge) &&
           writer_database_run(&merge->database, "BEGIN") && writer_derived_put(&merge->database) &&
           create_indexes(merge) && writer_database_run(&merge->database, statistics_sql) &&
           writer_database_run(&merge->database, "COMMIT");
}

bool writer_merge_carry(struct writer_merge *merge, const char *target,
                        struct writer_user_rows *rows)
{
    return writer_user_rows_copy(rows, &merge->database, target, &merge->options);
}

bool writer_merge_select(struct writer_merge *merge, struct run *run, const char *word)
{
    return run_processes_read(&merge->database, run) &&
           run_processes_select(&merge->database, run, word);
}

uint64_t writer_merge_fact(struct writer_merge *merge, const char *key)
{
    sqlite3_stmt *query = NULL;
    uint64_t found = 0;
    if (sqlite3_prepare_v2(merge->database.sqlite, "SELECT value FROM meta WHERE key = ?", -1,
                           &query, NULL) == SQLITE_OK &&
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
    writer_database_close(&merge->database);
    free(merge->path);
    free(merge);
}
