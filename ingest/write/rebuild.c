/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/rebuild.h"

#include "ingest/write/derived.h"
#include "schemas/column_codec.h"

static bool check(struct writer_database *database)
{
    int64_t number;
    if (!writer_database_number(database, "PRAGMA application_id", &number) ||
        number != SESSION_APPLICATION_ID)
        return ingest_fail(database->status, INGEST_BAD_INPUT,
                           "%s: not a session; --rebuild takes what mprof-ingest made",
                           database->name);
    if (!writer_database_number(database, "PRAGMA user_version", &number) ||
        number != SESSION_SCHEMA_VERSION)
        return ingest_fail(database->status, INGEST_BAD_INPUT,
                           "%s: a session of another version; ingest the trace again",
                           database->name);
    if (!writer_database_number(database, "SELECT value FROM meta WHERE key = 'unfinished'",
                                &number))
        return false;
    return number <= 0 || ingest_fail(database->status, INGEST_BAD_INPUT,
                                      "%s: still being recorded; wait for its end", database->name);
}

bool writer_rebuild(const char *path, const volatile sig_atomic_t *interrupted,
                    struct ingest_status *status)
{
    struct writer_database database = {.name = path, .interrupted = interrupted, .status = status};
    bool done = false;
    if (!writer_database_open(&database, path, SQLITE_OPEN_READWRITE)) {
        ingest_fail(status, INGEST_BAD_INPUT, "%s: cannot be opened: %s", path,
                    database.sqlite ? sqlite3_errmsg(database.sqlite) : "out of memory");
    } else {
        sqlite3_busy_timeout(database.sqlite, 3000);
        done = check(&database) &&
               writer_database_run(&database, "PRAGMA cache_size = -65536; BEGIN IMMEDIATE") &&
               writer_derived_put(&database) && writer_database_run(&database, "COMMIT");
    }
    writer_database_close(&database);
    return done;
}
