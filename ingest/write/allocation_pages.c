/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/allocation_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/write/record.h"

/* Values of a row of `allocation`, its id included, and the bytes of its record's header. */
enum { ROW_VALUES = 15, ROW_HEADER = 1 + ROW_VALUES, ROW_MOST = ROW_HEADER + 8 * ROW_VALUES };

/* Values of a row of `column_chunk`, and room for all of its record but the blob. */
enum { CHUNK_VALUES = 6, CHUNK_HEAD = 64 };

bool writer_allocation_pages_open(struct writer_allocation_pages *tables, int descriptor,
                                  struct writer_roots roots)
{
    *tables = (struct writer_allocation_pages){.roots = roots};
    if (!writer_pages_open(&tables->pages, descriptor, WRITER_LOCK_BYTE))
        return false;
    writer_btree_open(&tables->allocation, &tables->pages, roots.allocation, WRITER_BTREE_TABLE);
    writer_btree_open(&tables->column_chunk, &tables->pages, roots.column_chunk,
                      WRITER_BTREE_TABLE);
    tables->packed = malloc(CHUNK_HEAD + column_data_most(COLUMN_CHUNK_ROWS));
    if (!tables->packed)
        tables->pages.error = ENOMEM;
    return tables->packed != NULL;
}

void writer_allocation_pages_close(struct writer_allocation_pages *tables)
{
    writer_btree_close(&tables->allocation);
    writer_btree_close(&tables->column_chunk);
    writer_pages_close(&tables->pages);
    writer_index_free(&tables->index);
    writer_directory_free(&tables->directory);
    free(tables->packed);
    tables->packed = NULL;
}

const char *writer_allocation_pages_error(const struct writer_allocation_pages *tables)
{
    return strerror(tables->pages.error);
}

/* The columns of `allocation` after its id, in order, and the values that a row may leave out. */
static const struct {
    enum column column;
    bool nullable; /* 0 is NULL */
    uint8_t left_out;
} fields[ROW_VALUES - 1] = {
    {COLUMN_ADDRESS, false, 0},   {COLUMN_SIZE, false, 0},
    {COLUMN_STACK, false, 0},     {COLUMN_ALLOC_NS, false, 0},
    {COLUMN_LIFE_NS, true, 0},    {COLUMN_FREE_THREAD, true, 0},
    {COLUMN_THREAD, false, 1},    {COLUMN_TYPE, false, 0},
    {COLUMN_KIND, false, 0},      {COLUMN_COUNT_OF_OBJECTS, false, 1},
    {COLUMN_REALLOC_OF, true, 0}, {COLUMN_FREE_STACK, true, 0},
    {COLUMN_ARENA, false, 0},     {COLUMN_ALIGNMENT, false, 0},
};
/* Every row has these: they have no default in the schema. */
enum { ROW_FIELDS_LEAST = 4 };

/* Encodes row `i` of the batch as a record of `allocation`. Returns its length. */
static size_t encode_row(const struct row_batch *batch, size_t i, uint8_t *record)
{
    size_t count = ROW_VALUES - 1;
    while (count > ROW_FIELDS_LEAST &&
           batch->column[fields[count - 1].column][i] == fields[count - 1].left_out)
        count--;
    uint8_t *type = record, *data = record + 2 + count;
    *type++ = (uint8_t)(2 + count);
    *type++ = SERIAL_NULL; /* the id is the row's number */
    for (size_t k = 0; k < count; k++, type++) {
        uint64_t value = batch->column[fields[k].column][i];
        *type = SERIAL_NULL;
        if (fields[k].nullable && value == 0)
            continue;
        if (fields[k].column == COLUMN_LIFE_NS)
            value += batch->column[COLUMN_ALLOC_NS][i] - 1;
        data = writer_put_number(type, data, (int64_t)value);
    }
    return (size_t)(data - record);
}

/* Puts the record's beginning before the blob at packed + CHUNK_HEAD. Returns the record. */
static uint8_t *head_chunk(struct writer_allocation_pages *tables, const int64_t *values,
                           size_t blob_length)
{
    uint8_t header[16], data[CHUNK_HEAD], *type = header + 1, *end = data;
    *type++ = SERIAL_NULL;
    for (size_t i = 0; i < CHUNK_VALUES - 2; i++)
        end = writer_put_number(type++, end, values[i]);
    type = writer_put_varint(type, writer_serial_blob(blob_length));
    size_t header_length = (size_t)(type - header), data_length = (size_t)(end - data);
    header[0] = (uint8_t)header_length;
    uint8_t *record = tables->packed + CHUNK_HEAD - data_length - header_length;
    memcpy(record, header, header_length);
    memcpy(record + header_length, data, data_length);
    return record;
}

static bool put_chunk(struct writer_allocation_pages *tables, const struct row_batch *batch,
                      unsigned column)
{
    struct row_batch_chunk chunk;
    row_batch_pack(batch, column, tables->packed + CHUNK_HEAD, &chunk);
    writer_directory_put(&tables->directory, &chunk);
    const int64_t row[CHUNK_VALUES - 2] = {(int64_t)batch->rows, chunk.width, (int64_t)chunk.min,
                                           (int64_t)chunk.max};
    uint8_t *record = head_chunk(tables, row, chunk.length);
    return writer_btree_put_row(&tables->column_chunk, chunk.id, record,
                                (size_t)(tables->packed + CHUNK_HEAD - record) + chunk.length);
}

static bool put_chunks(struct writer_allocation_pages *tables, const struct row_batch *batch)
{
    if (!writer_directory_begin(&tables->directory, batch)) {
        tables->pages.error = ENOMEM;
        return false;
    }
    bool good = true;
    for (unsigned column = 0; good && column < COLUMN_TOTAL; column++)
        good = put_chunk(tables, batch, column);
    return good;
}

bool writer_allocation_pages_put(struct writer_allocation_pages *tables,
                                 const struct row_batch *batch)
{
    uint8_t record[ROW_MOST];
    bool good = true;
    for (size_t i = 0; good && i < batch->rows; i++) {
        size_t length = encode_row(batch, i, record);
        good = writer_btree_put_row(&tables->allocation, batch->first_id + i, record, length);
    }
    if (good && tables->roots.column_chunk != 0)
        good = put_chunks(tables, batch);
    if (good && tables->roots.allocation_stack != 0 && !writer_index_count(&tables->index, batch)) {
        tables->pages.error = ENOMEM;
        good = false;
    }
    return good;
}

static bool build_index(struct writer_allocation_pages *tables, const char *path,
                        bool (*stop)(const void *context), const void *context)
{
    struct writer_btree tree;
    int descriptor = tables->pages.descriptor;
    if (!writer_pages_open(&tables->pages, descriptor, WRITER_LOCK_BYTE))
        return false;
    writer_btree_open(&tree, &tables->pages, tables->roots.allocation_stack, WRITER_BTREE_INDEX);
    bool good = writer_index_build(&tables->index, path, &tree, stop, context) &&
                writer_btree_finish(&tree);
    writer_btree_close(&tree);
    return writer_pages_close(&tables->pages) && good;
}

bool writer_allocation_pages_finish(struct writer_allocation_pages *tables, const char *path,
                                    bool (*stop)(const void *context), const void *context)
{
    if (!writer_btree_finish(&tables->allocation) || !writer_btree_finish(&tables->column_chunk) ||
        !writer_pages_close(&tables->pages))
        return false;
    return tables->roots.allocation_stack == 0 || build_index(tables, path, stop, context);
}
