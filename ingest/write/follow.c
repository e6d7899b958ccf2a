/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/base/output_file.h"
#include "ingest/write/insert.h"
#include "ingest/write/rows.h"
#include "estimate_sql.h"
#include "follow_begin_sql.h"
#include "session_sql.h"

struct writer_follow {
    char *target;
    struct ingest_status *status;
    sqlite3 *database;
    sqlite3_stmt *insert[WRITER_TABLES];
    struct writer_rows rows;
    bool sampled; /* weights were put in this transaction */
};

static bool fail(struct writer_follow *writer)
{
    return ingest_fail(writer->status, INGEST_BAD_INPUT,
                       "%s: cannot be written: %s (is the disk full?); it holds what was loaded "
                       "before",
                       writer->target,
                       writer->database ? sqlite3_errmsg(writer->database) : "out of memory");
}

static bool run(struct writer_follow *writer, const char *sql)
{
    return sqlite3_exec(writer->database, sql, NULL, NULL, NULL) == SQLITE_OK || fail(writer);
}

static bool open_database(struct writer_follow *writer, const char *path)
{
    return sqlite3_open_v2(path, &writer->database,
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                           NULL) == SQLITE_OK ||
           fail(writer);
}

static void close_database(struct writer_follow *writer)
{
    for (int i = 0; i < WRITER_TABLES; i++) {
        sqlite3_finalize(writer->insert[i]);
        writer->insert[i] = NULL;
    }
    writer_rows_close(&writer->rows);
    sqlite3_close(writer->database);
    writer->database = NULL;
}

/* Creates an empty session. It gets the target's name when it has its tables. */
static bool create(struct writer_follow *writer, bool force)
{
    struct output_file file;
    char pragmas[200];
    snprintf(pragmas, sizeof(pragmas),
             "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA application_id = %d;"
             "PRAGMA user_version = %d; BEGIN;",
             SESSION_APPLICATION_ID, SESSION_SCHEMA_VERSION);
    bool good = output_file_begin(&file, writer->target, force, writer->status) &&
                open_database(writer, file.part) && run(writer, pragmas) &&
                run(writer, session_sql) &&
                run(writer, "INSERT INTO meta VALUES ('unfinished', 1); COMMIT");
    close_database(writer);
    good = good && output_file_finish(&file, writer->status);
    output_file_end(&file);
    return good;
}

static bool prepare(struct writer_follow *writer)
{
    for (int i = 0; i < WRITER_TABLES; i++)
        if (writer_insert_prepare(writer->database, (enum writer_table)i, &writer->insert[i]) !=
            SQLITE_OK)
            return fail(writer);
    return writer_rows_open(&writer->rows, writer->database) == SQLITE_OK || fail(writer);
}

struct writer_follow *writer_follow_open(const char *target, bool force,
                                         struct ingest_status *status)
{
    struct writer_follow *writer = calloc(1, sizeof(*writer));
    if (!writer || !(writer->target = strdup(target))) {
        free(writer);
        ingest_fail_memory(status, "the session");
        return NULL;
    }
    writer->status = status;
    /* It waits for readers for a moment only. It does not protect the file from a power cut. */
    if (create(writer, force) && open_database(writer, target) &&
        sqlite3_busy_timeout(writer->database, 3000) == SQLITE_OK &&
        run(writer, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
                    "PRAGMA cache_size = -65536;") &&
        prepare(writer))
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
    return run(writer, follow_begin_sql) && run(writer, rows);
}

bool writer_follow_rows(struct writer_follow *writer, const struct row_batch *batch)
{
    return writer_rows_put(&writer->rows, batch) == SQLITE_OK || fail(writer);
}

static bool put_row(void *context, enum writer_table table, const struct writer_value *values,
                    size_t count)
{
    struct writer_follow *writer = context;
    writer->sampled = writer->sampled || table == WRITER_SAMPLE_WEIGHT;
    return writer_insert_row(writer->insert[table], values, count) == SQLITE_OK || fail(writer);
}

struct table_sink writer_follow_tables(struct writer_follow *writer)
{
    return (struct table_sink){writer, put_row};
}

/*
 * Ends the transaction. SQLite can only restart the log when no reader uses it. If the log is
 * large, it waits for that: when all of the log is copied, a reader that gets the newest state from
 * time to time no longer uses the log.
 */
bool writer_follow_end(struct writer_follow *writer)
{
    enum { LOG_PAGES_MOST = 8192 };
    int pages = 0;
    const bool sampled = writer->sampled;
    writer->sampled = false;
    if ((sampled && !run(writer, estimate_sql)) || !run(writer, "COMMIT"))
        return false;
    sqlite3_wal_checkpoint_v2(writer->database, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, NULL);
    if (pages > LOG_PAGES_MOST)
        sqlite3_wal_checkpoint_v2(writer->database, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
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
