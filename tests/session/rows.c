/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "rows.h"

struct row *rows_load(const char *path, size_t *count)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    size_t capacity = 0;
    struct row *rows = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(database,
                           "SELECT a.id, address, size, alloc_ns, free_ns, stack_id, thread_id,"
                           "type_id, kind, s.function_id, f.module_id FROM allocation a "
                           "LEFT JOIN stack s ON s.id = stack_id "
                           "LEFT JOIN frame f ON f.id = s.call_site_frame_id ORDER BY a.id",
                           -1, &statement, NULL),
        SQLITE_OK);
    *count = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (*count == capacity) {
            capacity = capacity * 2 + 1024;
            rows = realloc(rows, capacity * sizeof(*rows));
            assert_non_null(rows);
        }
        uint64_t value[11];
        for (int i = 0; i < 11; i++)
            value[i] = (uint64_t)sqlite3_column_int64(statement, i);
        if (sqlite3_column_type(statement, 4) == SQLITE_NULL)
            value[4] = UINT64_MAX;
        rows[(*count)++] = (struct row){.id = value[0],
                                        .address = value[1],
                                        .size = value[2],
                                        .alloc_ns = value[3],
                                        .free_ns = value[4],
                                        .stack = (uint32_t)value[5],
                                        .thread = (uint32_t)value[6],
                                        .type = (uint32_t)value[7],
                                        .kind = (uint32_t)value[8],
                                        .function = (uint32_t)value[9],
                                        .module = (uint32_t)value[10]};
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return rows;
}
