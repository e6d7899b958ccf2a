/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/write/derived.h"
#include "ingest/write/inherit.h"
#include "ingest/write/insert.h"
#include "ingest/write/statistics.h"
#include "all_indexes_sql.h"
#include "inherited_begin_sql.h"
#include "inherited_part_sql.h"
#include "merge_first_sql.h"
#include "merge_maps_sql.h"
#include "merge_meta_sql.h"
#include "merge_names_sql.h"
#include "merge_rows_sql.h"

struct writer_merge {
    sqlite3 *database;
    char *path;
    struct ingest_status *status;
    struct writer_options options;
};

static bool fail(struct writer_merge *merge)
{
    if (sqlite3_errcode(merge->database) == SQLITE_INTERRUPT)
        return ingest_fail(merge->status, INGEST_INTERRUPTED, "interrupted");
    return ingest_fail(merge->status, INGEST_BAD_INPUT,
                       "%s: cannot be written: %s (is the disk full?)", merge->path,
                       merge->database ? sqlite3_errmsg(merge->database) : "out of memory");
}

static bool run(struct writer_merge *merge, const char *sql)
{
    return sqlite3_exec(merge->database, sql, NULL, NULL, NULL) == SQLITE_OK || fail(merge);
}

/* Runs `sql` with a text or number for its one parameter. */
static bool run_with(struct writer_merge *merge, const char *sql, const char *text, int64_t number)
{
    sqlite3_stmt *statement = NULL;
    bool good = sqlite3_prepare_v2(merge->database, sql, -1, &statement, NULL) == SQLITE_OK &&
                (text ? sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC)
                      : sqlite3_bind_int64(statement, 1, number)) == SQLITE_OK;
    if (good)
        sqlite3_step(statement);
    return sqlite3_finalize(statement) == SQLITE_OK && good ? true : fail(merge);
}

static int64_t number(struct writer_merge *merge, const char *sql)
{
    sqlite3_stmt *query = NULL;
    int64_t found = 0;
    if (sqlite3_prepare_v2(merge->database, sql, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        found = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return found;
}

static int stop_if_interrupted(void *context)
{
    const volatile sig_atomic_t *interrupted = context;
    return *interrupted != 0;
}

static bool open_database(struct writer_merge *merge)
{
    const volatile sig_atomic_t *interrupted = merge->options.interrupted;
    if (sqlite3_open_v2(merge->path, &merge->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return fail(merge);
    if (interrupted)
        sqlite3_progress_handler(merge->database, 100000, stop_if_interrupted, (void *)interrupted);
    return run(merge, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                      "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;");
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
    merge->status = status;
    merge->options = *options;
    if (open_database(merge) && run(merge, merge_maps_sql) && run(merge, inherited_begin_sql))
        return merge;
    writer_merge_close(merge);
    return NULL;
}

void writer_merge_expect(struct writer_merge *merge)
{
    struct writer_frames *frames = merge->options.draft;
    frames->first_stack = (uint64_t)number(merge, "SELECT ifnull(max(id), 0) FROM stack");
    frames->first_frame = (uint64_t)number(merge, "SELECT ifnull(max(id), 0) FROM frame");
}

bool writer_merge_add(struct writer_merge *merge, const char *path, uint64_t later_ns)
{
    if (!run_with(merge, "ATTACH ? AS part", path, 0))
        return false;
    if (number(merge, "SELECT (SELECT value FROM part.meta WHERE key = 'sample_interval')"
                      " IS NOT (SELECT value FROM main.meta WHERE key = 'sample_interval')") != 0)
        return ingest_fail(merge->status, INGEST_BAD_INPUT,
                           "%s: the processes were sampled differently; make a session of each",
                           merge->path);
    return run(merge, "BEGIN") && run(merge, merge_first_sql) &&
           run_with(merge, "INSERT INTO first VALUES ('later', ?)", NULL, (int64_t)later_ns) &&
           run(merge, merge_names_sql) && run(merge, merge_rows_sql) &&
           run(merge, inherited_part_sql) && run(merge, merge_meta_sql) &&
           run(merge, "COMMIT; DETACH part");
}

bool writer_merge_machine(struct writer_merge *merge, uint32_t machine)
{
    return run_with(merge,
                    "UPDATE process SET machine = ? WHERE id = (SELECT max(id) FROM process)", NULL,
                    (int64_t)machine);
}

bool writer_merge_leave_out(struct writer_merge *merge, const char *why)
{
    return run_with(merge, "INSERT INTO problem(kind, detail) VALUES ('trace left out', ?)", why,
                    0);
}

bool writer_merge_fork(struct writer_merge *merge, uint64_t trace_id, uint64_t begin_ns,
                       uint64_t end_ns)
{
    return writer_inherit_fork(merge->database, trace_id, begin_ns, end_ns) == SQLITE_OK ||
           fail(merge);
}

static bool told_to_stop(const void *context)
{
    const volatile sig_atomic_t *interrupted = context;
    return interrupted && *interrupted != 0;
}

/* Puts the frames of all parts into the file, while SQLite has it closed. */
static bool put_frames(struct writer_merge *merge)
{
    struct writer_frames *frames = merge->options.draft;
    const int64_t root =
        number(merge, "SELECT rootpage FROM sqlite_schema WHERE name = 'stack_frame'");
    sqlite3_close(merge->database);
    merge->database = NULL;
    const int descriptor = open(merge->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        frames->error = errno;
    const bool good =
        descriptor >= 0 && writer_frames_put(frames, descriptor, (uint32_t)root, told_to_stop,
                                             (const void *)merge->options.interrupted);
    if (descriptor >= 0)
        close(descriptor);
    if (good)
        return open_database(merge);
    if (frames->error == EINTR)
        return ingest_fail(merge->status, INGEST_INTERRUPTED, "interrupted");
    return ingest_fail(merge->status, INGEST_BAD_INPUT,
                       "%s: cannot be written: %s (is the disk full?)", merge->path,
                       strerror(frames->error));
}

static bool create_indexes(struct writer_merge *merge)
{
    return (merge->options.index == WRITER_INDEX_NONE ||
            run(merge, "CREATE INDEX allocation_stack ON allocation(stack_id, type_id)")) &&
           (merge->options.index != WRITER_INDEX_ALL || run(merge, all_indexes_sql));
}

bool writer_merge_finish(struct writer_merge *merge)
{
    return run(merge, "BEGIN") &&
           (writer_inherit_put(merge->database) == SQLITE_OK || fail(merge)) &&
           run(merge, "COMMIT") && put_frames(merge) && run(merge, "BEGIN") &&
           writer_derived_put(merge->database, merge->path, merge->status) &&
           create_indexes(merge) &&
           (writer_statistics_put(merge->database) == SQLITE_OK || fail(merge)) &&
           run(merge, "COMMIT");
}

bool writer_merge_select(struct writer_merge *merge, struct run *run, const char *word)
{
    return writer_run_read(merge->database, run, merge->status) &&
           writer_run_select(merge->database, run, word, merge->status);
}

uint64_t writer_merge_fact(struct writer_merge *merge, const char *key)
{
    sqlite3_stmt *query = NULL;
    uint64_t found = 0;
    if (sqlite3_prepare_v2(merge->database, "SELECT value FROM meta WHERE key = ?", -1, &query,
                           NULL) == SQLITE_OK &&
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
    sqlite3_close(merge->database);
    free(merge->path);
    free(merge);
}
