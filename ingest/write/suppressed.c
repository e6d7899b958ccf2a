/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/suppressed.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "suppressions_sql.h"

static bool add_row(struct suppressed_list *list, sqlite3_stmt *query)
{
    struct suppressed *more = realloc(list->rows, (list->count + 1) * sizeof(*more));
    const char *pattern = (const char *)sqlite3_column_text(query, 0);
    if (!more)
        return false;
    list->rows = more;
    more[list->count] = (struct suppressed){pattern ? strdup(pattern) : NULL,
                                            (uint64_t)sqlite3_column_int64(query, 1),
                                            (uint64_t)sqlite3_column_int64(query, 2)};
    return more[list->count++].pattern != NULL;
}

static bool read_rows(struct suppressed_list *list, sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, suppressions_sql, -1, &query, NULL);
    bool good = result == SQLITE_OK;
    while (good && (result = sqlite3_step(query)) == SQLITE_ROW)
        good = add_row(list, query);
    sqlite3_finalize(query);
    return good && result == SQLITE_DONE;
}

bool suppressed_list_read(struct suppressed_list *list, const char *session,
                          struct ingest_status *status)
{
    sqlite3 *database = NULL;
    *list = (struct suppressed_list){0};
    bool good = sqlite3_open_v2(session, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
                read_rows(list, database);
    if (!good) {
        ingest_fail(status, INGEST_BAD_INPUT, "%s: what was suppressed cannot be read: %s", session,
                    database ? sqlite3_errmsg(database) : "out of memory");
        suppressed_list_free(list);
    }
    sqlite3_close(database);
    return good;
}

void suppressed_list_free(struct suppressed_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->rows[i].pattern);
    free(list->rows);
    *list = (struct suppressed_list){0};
}
