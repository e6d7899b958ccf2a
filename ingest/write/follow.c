/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/output_file.h"
#include "ingest/write/database.h"
#include "ingest/write/rows.h"
#include "estimate_sql.h"
#include "follow_begin_sql.h"
#include "follow_create_sql.h"
#include "follow_open_sql.h"
#include "session_sql.h"

enum { BUSY_MS = 3000 }; /* it waits so long for other writers */

struct writer_follow {
    char *target;
    struct ingest_status *status;
    struct writer_database database;
    struct writer_rows rows;
    bool sampled; /* weights were put in this transaction */
};

static void close_database(struct writer_follow *writer)
{
    writer_rows_close(&writer->rows);
    writer_database_close(&writer->database);
}

/* Creates an empty session. It gets the target's name when it has its tables. */
static bool create(struct writer_follow *writer, const struct writer_options *options)
{
    struct output_file file;
    struct writer_user_rows rows = {0};
    char pragmas[200];
    snprintf(pragmas, sizeof(pragmas), "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             SESSION_APPLICATION_ID, SESSION_SCHEMA_VERSION);
    bool good =
        output_file_begin(&file, writer->target, options->force, writer->status) &&
        writer_database_open(&writer->database, file.part,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) &&
        writer_database_run(&writer->database, follow_create_sql) &&
        writer_database_run(&writer->database, pragmas) &&
        writer_database_run(&writer->database, session_sql) &&
        writer_user_rows_copy(&rows, &writer->database, writer->target, options) &&
        writer_database_run(&writer->database, "INSERT INTO meta VALUES ('unfinished', 1); COMMIT");
    close_database(writer);
    good = good && output_file_finish_database(&file, writer->status);
    writer_user_rows_release(&rows);
    output_file_end(&file);
    return good;
}

struct writer_follow *writer_follow_open(const char *target, const struct writer_options *options,
                                         struct ingest_status *status)
{
    struct writer_follow *writer = calloc(1, sizeof(*writer));
    if (!writer || !(writer->target = strdup(target))) {
        free(writer);
        ingest_fail_memory(status, "the session");
        return NULL;
    }
    writer->status = status;
    writer->database = (struct writer_database){
        .name = writer->target,
        .advice = " (is the disk full?); it holds what was loaded before",
        .status = status,
    };
    /* It waits for readers for a moment only. */
    if (create(writer, options) &&
        writer_database_open(&writer->database, target,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) &&
        sqlite3_busy_timeout(writer->database.sqlite, BUSY_MS) == SQLITE_OK &&
        writer_database_run(&writer->database, follow_open_sql) &&
        writer_database_check(&writer->database,
                              writer_rows_open(&writer->rows, writer->database.sqlite)))
        return writer;
    writer_follow_close(writer);
    return NULL;
}

bool writer_follow_begin(struct writer_follow *writer, uint64_t first_id)
{
    char rows[160];
    uint64_t chunk = (first_id - 1) / COLUMN_CHUNK_ROWS;
    snprintf(rows, sizeof(rows),
             "DELETE FROM allocation WHERE id >= %" PRIu64
             "; DELETE FROM column_chunk WHERE id >= %" PRIu64,
             first_id, chunk * COLUMN_ID_STRIDE);
    writer_directory_cut(&writer->rows.directory, chunk);
    return writer_database_run(&writer->database, follow_begin_sql) &&
           writer_database_run(&writer->database, rows);
}

bool writer_follow_rows(struct writer_follow *writer, const struct row_batch *batch)
{
    return writer_rows_put(&writer->rows, batch) == SQLITE_OK ||
           writer_database_fail(&writer->database, NULL);
}

static bool put_row(void *context, enum writer_table table, const struct writer_value *values,
                    size_t count)
{
    struct writer_follow *writer = context;
    writer->sampled = writer->sampled || table == WRITER_SAMPLE_WEIGHT;
    return writer_database_insert(&writer->database, table, values, count);
}

struct table_sink writer_follow_tables(struct writer_follow *writer)
{
    return (struct table_sink){writer, put_row};
}

static bool put_packed(struct writer_follow *writer)
{
    return (writer_database_run(&writer->database, "DELETE FROM packed_array") &&
            writer_packed_put(writer->database.sqlite, &writer->rows.directory) == SQLITE_OK) ||
           writer_database_fail(&writer->database, NULL);
}

/* Copies the log into the file as far as no reader needs old state. Returns the log's pages. */
static int copy_log(struct writer_follow *writer)
{
    int pages = 0;
    sqlite3_wal_checkpoint_v2(writer->database.sqlite, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages,
                              NULL);
    return pages;
}

void writer_follow_rest(struct writer_follow *writer)
{
    copy_log(writer);
}

/* Ends the transaction. SQLite restarts the log by itself when all of it is copied and no reader
 * uses it. A reader that gets the newest state from time to time no longer does, once
 * writer_follow_rest() has copied the log. Only with a huge log it waits for such a moment: to wait
 * makes the session late. */
bool writer_follow_end(struct writer_follow *writer)
{
    enum { LOG_PAGES_MOST = 65536, LOG_WAIT_MS = 200 };
    const bool sampled = writer->sampled;
    writer->sampled = false;
    if ((sampled && !writer_database_run(&writer->database, estimate_sql)) || !put_packed(writer) ||
        !writer_database_run(&writer->database, "COMMIT"))
        return false;
    if (copy_log(writer) <= LOG_PAGES_MOST)
        return true;
    sqlite3_busy_timeout(writer->database.sqlite, LOG_WAIT_MS);
    sqlite3_wal_checkpoint_v2(writer->database.sqlite, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    sqlite3_busy_timeout(writer->database.sqlite, BUSY_MS);
    return true;
}

void writer_follow_close(struct writer_follow *writer)
{
    if (!writer)
        return;
    close_database(writer);
    free(writer->target);
    free(writer);
}
