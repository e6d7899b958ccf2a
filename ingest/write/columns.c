/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/columns.h"

static int prepare(struct writer_columns *columns, sqlite3 *database)
{
    return sqlite3_prepare_v2(database, "SELECT rows, min, data FROM column_chunk WHERE id = ?", -1,
                              &columns->query, NULL);
}

bool writer_columns_open(struct writer_columns *columns, const char *path)
{
    *columns = (struct writer_columns){.database = NULL};
    return sqlite3_open_v2(path, &columns->database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
           prepare(columns, columns->database) == SQLITE_OK;
}

int writer_columns_begin(struct writer_columns *columns, sqlite3 *database)
{
    *columns = (struct writer_columns){.database = NULL};
    return prepare(columns, database);
}

void writer_columns_close(struct writer_columns *columns)
{
    sqlite3_finalize(columns->query);
    sqlite3_close(columns->database);
}

size_t writer_columns_read(struct writer_columns *columns, uint64_t chunk, unsigned column,
                           const uint64_t *life, uint64_t *values)
{
    sqlite3_stmt *query = columns->query;
    size_t rows = 0;
    sqlite3_bind_int64(query, 1, (int64_t)(chunk * COLUMN_ID_STRIDE + column));
    int result = sqlite3_step(query);
    if (result == SQLITE_ROW) {
        const uint64_t min = (uint64_t)sqlite3_column_int64(query, 1);
        const uint8_t *data = sqlite3_column_blob(query, 2);
        const size_t length = (size_t)sqlite3_column_bytes(query, 2);
        rows = (size_t)sqlite3_column_int64(query, 0);
        for (size_t i = 0; length == 0 && i < rows && i < COLUMN_CHUNK_ROWS; i++)
            values[i] = min;
        if (rows > COLUMN_CHUNK_ROWS ||
            (length > 0 && !column_unpack(data, length, life, rows, values))) {
            rows = 0;
            columns->failed = true;
        }
    } else if (result != SQLITE_DONE) {
        columns->failed = true;
    }
    sqlite3_reset(query);
    return rows;
}

bool writer_columns_read_batch(struct writer_columns *columns, uint64_t chunk,
                               struct row_batch *batch)
{
    const uint64_t *life = batch->column[COLUMN_LIFE_NS];
    batch->first_id = chunk * COLUMN_CHUNK_ROWS + 1;
    batch->rows =
        writer_columns_read(columns, chunk, COLUMN_LIFE_NS, NULL, batch->column[COLUMN_LIFE_NS]);
    bool good = batch->rows != 0;
    for (unsigned i = 0; good && i < COLUMN_TOTAL; i++)
        good = i == COLUMN_LIFE_NS ||
               writer_columns_read(columns, chunk, i, i == COLUMN_ALLOC_NS ? life : NULL,
                                   batch->column[i]) == batch->rows;
    return good;
}
