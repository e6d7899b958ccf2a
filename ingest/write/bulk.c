/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/bulk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/write/record.h"

/* Values of a row of `allocation`, its id included, and the bytes of its record's header. */
enum { ROW_VALUES = 15, ROW_HEADER = 1 + ROW_VALUES, ROW_MOST = ROW_HEADER + 8 * ROW_VALUES };

/* Values of a row of `column_chunk`, and room for all of its record but the blob. */
enum { CHUNK_VALUES = 6, CHUNK_HEAD = 64 };

bool writer_bulk_open(struct writer_bulk *bulk, int descriptor, struct writer_roots roots)
{
    *bulk = (struct writer_bulk){.roots = roots};
    if (!writer_pages_open(&bulk->pages, descriptor, WRITER_LOCK_BYTE))
        return false;
    writer_btree_open(&bulk->allocation, &bulk->pages, roots.allocation, WRITER_BTREE_TABLE);
    writer_btree_open(&bulk->column_chunk, &bulk->pages, roots.column_chunk, WRITER_BTREE_TABLE);
    bulk->packed = malloc(CHUNK_HEAD + column_data_length(COLUMN_CHUNK_ROWS, 8));
    if (!bulk->packed)
        bulk->pages.error = ENOMEM;
    return bulk->packed != NULL;
}

void writer_bulk_close(struct writer_bulk *bulk)
{
    writer_btree_close(&bulk->allocation);
    writer_btree_close(&bulk->column_chunk);
    writer_pages_close(&bulk->pages);
    writer_index_free(&bulk->index);
    free(bulk->packed);
    bulk->packed = NULL;
}

const char *writer_bulk_error(const struct writer_bulk *bulk)
{
    return strerror(bulk->pages.error);
}

/* Puts a number, or NULL for 0. */
static uint8_t *put_or_null(uint8_t *type, uint8_t *data, uint64_t value)
{
    if (value != 0)
        return writer_put_number(type, data, (int64_t)value);
    *type = SERIAL_NULL;
    return data;
}

/* Encodes row `i` of the batch as a record of `allocation`. Returns its length. */
static size_t encode_row(const struct row_batch *batch, size_t i, uint8_t *record)
{
    static const enum column plain[] = {
        COLUMN_ADDRESS,   COLUMN_SIZE,     COLUMN_COUNT_OF_OBJECTS, COLUMN_KIND,
        COLUMN_ALIGNMENT, COLUMN_ARENA,    COLUMN_THREAD,           COLUMN_STACK,
        COLUMN_TYPE,      COLUMN_ALLOC_NS,
    };
    uint8_t *type = record, *data = record + ROW_HEADER;
    uint64_t life_ns = batch->column[COLUMN_LIFE_NS][i];
    *type++ = ROW_HEADER;
    *type++ = SERIAL_NULL; /* the id is the row's number */
    for (size_t k = 0; k < sizeof(plain) / sizeof(*plain); k++)
        data = writer_put_number(type++, data, (int64_t)batch->column[plain[k]][i]);
    if (life_ns == 0)
        *type = SERIAL_NULL;
    else
        data = writer_put_number(type, data,
                                 (int64_t)(batch->column[COLUMN_ALLOC_NS][i] + life_ns - 1));
    data = put_or_null(type + 1, data, batch->column[COLUMN_FREE_THREAD][i]);
    data = put_or_null(type + 2, data, batch->column[COLUMN_FREE_STACK][i]);
    data = put_or_null(type + 3, data, batch->column[COLUMN_REALLOC_OF][i]);
    return (size_t)(data - record);
}

/* Puts the record's beginning before the blob at packed + CHUNK_HEAD. Returns the record. */
static uint8_t *head_chunk(struct writer_bulk *bulk, const int64_t *values, size_t blob_length)
{
    uint8_t header[16], data[CHUNK_HEAD], *type = header + 1, *end = data;
    *type++ = SERIAL_NULL;
    for (size_t i = 0; i < CHUNK_VALUES - 2; i++)
        end = writer_put_number(type++, end, values[i]);
    type = writer_put_varint(type, writer_serial_blob(blob_length));
    size_t header_length = (size_t)(type - header), data_length = (size_t)(end - data);
    header[0] = (uint8_t)header_length;
    uint8_t *record = bulk->packed + CHUNK_HEAD - data_length - header_length;
    memcpy(record, header, header_length);
    memcpy(record + header_length, data, data_length);
    return record;
}

static bool put_chunk(struct writer_bulk *bulk, const struct row_batch *batch, unsigned column)
{
    struct row_batch_chunk chunk;
    row_batch_pack(batch, column, bulk->packed + CHUNK_HEAD, &chunk);
    const int64_t row[CHUNK_VALUES - 2] = {(int64_t)batch->rows, chunk.width, (int64_t)chunk.min,
                                           (int64_t)chunk.max};
    uint8_t *record = head_chunk(bulk, row, chunk.length);
    return writer_btree_put_row(&bulk->column_chunk, chunk.id, record,
                                (size_t)(bulk->packed + CHUNK_HEAD - record) + chunk.length);
}

bool writer_bulk_put(struct writer_bulk *bulk, const struct row_batch *batch)
{
    uint8_t record[ROW_MOST];
    bool good = true;
    for (size_t i = 0; good && i < batch->rows; i++) {
        size_t length = encode_row(batch, i, record);
        good = writer_btree_put_row(&bulk->allocation, batch->first_id + i, record, length);
    }
    for (unsigned column = 0; good && bulk->roots.column_chunk != 0 && column < COLUMN_TOTAL;
         column++)
        good = put_chunk(bulk, batch, column);
    if (good && bulk->roots.allocation_stack != 0 && !writer_index_count(&bulk->index, batch)) {
        bulk->pages.error = ENOMEM;
        good = false;
    }
    return good;
}

static bool build_index(struct writer_bulk *bulk, const char *path,
                        bool (*stop)(const void *context), const void *context)
{
    struct writer_btree tree;
    int descriptor = bulk->pages.descriptor;
    if (!writer_pages_open(&bulk->pages, descriptor, WRITER_LOCK_BYTE))
        return false;
    writer_btree_open(&tree, &bulk->pages, bulk->roots.allocation_stack, WRITER_BTREE_INDEX);
    bool good =
        writer_index_build(&bulk->index, path, &tree, stop, context) && writer_btree_finish(&tree);
    writer_btree_close(&tree);
    return writer_pages_close(&bulk->pages) && good;
}

bool writer_bulk_finish(struct writer_bulk *bulk, const char *path,
                        bool (*stop)(const void *context), const void *context)
{
    if (!writer_btree_finish(&bulk->allocation) || !writer_btree_finish(&bulk->column_chunk) ||
        !writer_pages_close(&bulk->pages))
        return false;
    return bulk->roots.allocation_stack == 0 || build_index(bulk, path, stop, context);
}
