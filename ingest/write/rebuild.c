/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/rebuild.h"

#include "ingest/write/derived.h"
#include "schemas/column_codec.h"

static int stop_if_interrupted(void *context)
{
    const volatile sig_atomic_t *interrupted = context;
    return *interrupted != 0;
}

/* Returns the number that a query gives, or -1 if it gives none. */
static int64_t number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *query = NULL;
    int64_t found = -1;
    if (sqlite3_prepare_v2(database, sql, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        found = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return found;
}

static bool run(sqlite3 *database, const char *sql, const char *path, struct ingest_status *status)
{
    return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK ||
           ingest_fail(status, INGEST_BAD_INPUT, "%s: cannot be written: %s", path,
                       sqlite3_errmsg(database));
}

static bool check(sqlite3 *database, const char *path, struct ingest_status *status)
{
    if (number(database, "PRAGMA application_id") != SESSION_APPLICATION_ID)
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: not a session; --rebuild takes what mprof-ingest made", path);
    if (number(database, "PRAGMA user_version") != SESSION_SCHEMA_VERSION)
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: a session of another version; ingest the trace again", path);
    if (number(database, "SELECT value FROM meta WHERE key = 'unfinished'") > 0)
        return ingest_fail(status, INGEST_BAD_INPUT, "%s: still being recorded; wait for its end",
                           path);
    return true;
}

bool writer_rebuild(const char *path, const volatile sig_atomic_t *interrupted,
                    struct ingest_status *status)
{
    sqlite3 *database = NULL;
    bool done = false;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK) {
        ingest_fail(status, INGEST_BAD_INPUT, "%s: cannot be opened: %s", path,
                    database ? sqlite3_errmsg(database) : "out of memory");
    } else {
        if (interrupted)
            sqlite3_progress_handler(database, 100000, stop_if_interrupted, (void *)interrupted);
        sqlite3_busy_timeout(database, 3000);
        done = check(database, path, status) &&
               run(database, "PRAGMA cache_size = -65536; BEGIN IMMEDIATE", path, status) &&
               writer_derived_put(database, path, status) && run(database, "COMMIT", path, status);
    }
    sqlite3_close(database);
    return done;
}
