/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/guard.h"

#include <stdio.h>
#include <string.h>
#include "virtual_tables_sql.h"

/* Instructions of SQLite's virtual machine between two looks: about half a millisecond. */
enum { GUARD_STEP = 10000 };

/*
 * A row takes four bytes of the file or more, and a statement of the session library takes fewer
 * than 64 instructions for each row.
 */
enum { STEPS_LEAST = 3000, INSTRUCTIONS_PER_BYTE = 16 };

static int look(void *context)
{
    struct guard *guard = context;
    const uint64_t steps = atomic_fetch_add_explicit(&guard->steps, 1, memory_order_relaxed);
    return steps >= guard->steps_max || (guard->stop && guard->stop(guard->context));
}

static bool is_among(const char *names, const char *table)
{
    char name[80];
    if (names[0] == '*')
        return true;
    snprintf(name, sizeof(name), "/%s/", table);
    return strstr(names, name) != NULL;
}

bool guard_is_virtual(const struct guard *guard, const char *table)
{
    return is_among(guard->virtual_names, table);
}

/* Asked for each column that a statement reads. `view` names the view that reads it. */
static int authorize(void *context, int action, const char *table, const char *column,
                     const char *schema, const char *view)
{
    struct guard *guard = context;
    (void)column, (void)schema;
    if (action != SQLITE_READ || !table)
        return SQLITE_OK;
    const char *refused = view ? view
                          : guard_is_virtual(guard, table) || is_among(guard->view_names, table)
                              ? table
                              : NULL;
    if (!refused)
        return SQLITE_OK;
    snprintf(guard->refused, sizeof(guard->refused), "%s", refused);
    return SQLITE_DENY;
}

/* Collects the names that a statement gives. A session of mprof-ingest has none of them, its user
 * may add some. */
static int find_names(sqlite3 *database, const char *sql, char *names, size_t size)
{
    sqlite3_stmt *query = NULL;
    size_t used = 1;
    int result = sqlite3_prepare_v2(database, sql, -1, &query, NULL);
    names[0] = '/';
    while (result == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(query, 0);
        used += (size_t)snprintf(names + used, size - used, "%s/", name ? name : "");
        if (used >= size) {
            memcpy(names, "*", 2);
            break;
        }
    }
    const int finalized = sqlite3_finalize(query);
    return result == SQLITE_OK ? finalized : result;
}

/* Finds virtual tables and those with computed columns; and views, of which one that reads no table
 * can have rows without end and shows itself by nothing but its name. */
static int find_all_names(struct guard *guard, sqlite3 *database)
{
    const int result = find_names(database, virtual_tables_sql, guard->virtual_names,
                                  sizeof(guard->virtual_names));
    return result != SQLITE_OK
               ? result
               : find_names(database, "SELECT name FROM sqlite_schema WHERE type = 'view'",
                            guard->view_names, sizeof(guard->view_names));
}

int guard_open(struct guard *guard, sqlite3 *database, uint64_t file_size)
{
    guard->steps_max = STEPS_LEAST + file_size * INSTRUCTIONS_PER_BYTE / GUARD_STEP;
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    /* No value is longer than its file. */
    if (file_size < INT32_MAX)
        sqlite3_limit(database, SQLITE_LIMIT_LENGTH, (int)file_size + 1000000);
    sqlite3_progress_handler(database, GUARD_STEP, look, guard);
    int result = sqlite3_exec(database, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = find_all_names(guard, database);
    return result == SQLITE_OK ? sqlite3_set_authorizer(database, authorize, guard) : result;
}

void guard_begin(struct guard *guard)
{
    atomic_store_explicit(&guard->steps, 0, memory_order_relaxed);
    guard->refused[0] = '\0';
}

const char *guard_reason(const struct guard *guard, char *text, size_t size)
{
    if (guard->refused[0] != '\0')
        snprintf(text, size, "%s is not a table", guard->refused);
    else if (atomic_load_explicit(&guard->steps, memory_order_relaxed) > guard->steps_max)
        snprintf(text, size, "a query needs more work than the file's rows explain");
    else
        return NULL;
    return text;
}
