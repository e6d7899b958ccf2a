/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/pack/trace_packed.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "schemas/array.h"
#include "schemas/pack/trace_columns.h"
#include "schemas/pack/trace_model.h"
#include "schemas/pack/trace_predicted.h"
#include "schemas/trace_codec.h"

enum packed_method { PACKED_PLAIN = 0, PACKED_COLUMNS = 1, PACKED_PREDICTED = 2 };

/* Higher levels save one percent and take three times as long. */
#define ZSTD_LEVEL 1
/* Method and number of chunks; number of columns; two lengths for each column. */
#define HEAD_MAX (20 + 10 + TRACE_COLUMN_COUNT * 20)

/* The most bytes of columns for `records` bytes of records. */
#define COLUMNS_MAX(records) (2 * (records))

struct trace_packer {
    size_t raw_max, raw; /* bytes of records */
    size_t count, headers_capacity;
    struct trace_chunk_header *headers;
    uint8_t *records;
    uint8_t *columns; /* raw_max bytes for each column: most pages are never touched */
    uint8_t *payload;
    size_t payload_size;
    ZSTD_CCtx *zstd;
    struct trace_model *model; /* NULL if quick */
};

struct trace_packer *trace_packer_new(size_t raw_max, enum trace_packing packing)
{
    struct trace_packer *packer = calloc(1, sizeof(*packer));
    if (!packer)
        return NULL;
    packer->raw_max = raw_max;
    packer->records = malloc(raw_max);
    packer->columns = malloc(raw_max * TRACE_COLUMN_COUNT);
    packer->zstd = ZSTD_createCCtx();
    if (packing == TRACE_PACK_SMALL)
        packer->model = trace_model_new();
    if (packer->records && packer->columns && packer->zstd &&
        (packer->model || packing == TRACE_PACK_QUICK))
        return packer;
    trace_packer_free(packer);
    return NULL;
}

void trace_packer_free(struct trace_packer *packer)
{
    if (!packer)
        return;
    ZSTD_freeCCtx(packer->zstd);
    trace_model_free(packer->model);
    free(packer->headers);
    free(packer->records);
    free(packer->columns);
    free(packer->payload);
    free(packer);
}

bool trace_packer_add(struct trace_packer *packer, const uint8_t *chunk, size_t available)
{
    struct trace_chunk_header header;
    memcpy(&header, chunk, sizeof(header));
    if (header.commit > available)
        header.commit = (uint32_t)available;
    size_t length = header.commit - TRACE_CHUNK_HEADER_SIZE;
    if (length > packer->raw_max - packer->raw ||
        !array_grow(&packer->headers, &packer->headers_capacity, packer->count + 1,
                    sizeof(*packer->headers)))
        return false;
    uint8_t *records = packer->records + packer->raw;
    memcpy(records, chunk + TRACE_CHUNK_HEADER_SIZE, length);
    /* A wrong sum stays wrong, so readers still find damage from before. */
    if (!(header.flags & TRACE_CHUNK_SEALED))
        header.sum = trace_sum(records, length);
    header.flags |= TRACE_CHUNK_SEALED;
    packer->headers[packer->count++] = header;
    packer->raw += length;
    return true;
}

size_t trace_packer_count(const struct trace_packer *packer)
{
    return packer->count;
}

/* Stores one column at `at`. Returns its stored length. */
static size_t packer_store(struct trace_packer *packer, uint8_t *at, const uint8_t *column,
                           size_t length)
{
    /* One byte less than the column: a column that does not get smaller is stored as it is. */
    size_t stored =
        length > 1 ? ZSTD_compressCCtx(packer->zstd, at, length - 1, column, length, ZSTD_LEVEL)
                   : length;
    if (length > 1 && !ZSTD_isError(stored))
        return stored;
    memcpy(at, column, length);
    return length;
}

static void packer_empty(struct trace_packer *packer, struct trace_span *columns)
{
    for (unsigned i = 0; i < TRACE_COLUMN_COUNT; i++) {
        columns[i].at = packer->columns + i * packer->raw_max;
        columns[i].end = columns[i].at + packer->raw_max;
    }
}

static bool packer_predict(struct trace_packer *packer, struct trace_span *columns)
{
    struct trace_span records = {packer->records, packer->records};
    trace_model_reset(packer->model, true);
    for (size_t i = 0; i < packer->count; i++) {
        records.end = records.at + (packer->headers[i].commit - TRACE_CHUNK_HEADER_SIZE);
        if (!trace_predicted_split(packer->model, packer->headers[i].base_ticks, &records, columns))
            return false;
    }
    size_t length = 0;
    for (unsigned i = 0; i < TRACE_COLUMN_COUNT; i++)
        length += (size_t)(columns[i].at - (packer->columns + i * packer->raw_max));
    return length <= COLUMNS_MAX(packer->raw);
}

/*
 * Splits the records into columns and returns the method. Records that trace_codec.h would write
 * in another way are split by their bytes only, and so are records that are hard to predict.
 * Records that do not decode stay as they are.
 */
static enum packed_method packer_split(struct trace_packer *packer, struct trace_span *columns,
                                       unsigned *count)
{
    struct trace_span records = {packer->records, packer->records + packer->raw};
    enum packed_method method = PACKED_PREDICTED;
    packer_empty(packer, columns);
    if (!packer->model || !packer_predict(packer, columns)) {
        method = PACKED_COLUMNS;
        packer_empty(packer, columns);
        if (!trace_columns_split(&records, columns)) {
            *count = 1;
            columns[0] = (struct trace_span){packer->records, packer->records + packer->raw};
            return PACKED_PLAIN;
        }
    }
    *count = TRACE_COLUMN_COUNT;
    for (unsigned i = 0; i < TRACE_COLUMN_COUNT; i++) {
        columns[i].end = columns[i].at;
        columns[i].at = packer->columns + i * packer->raw_max;
    }
    return method;
}

const uint8_t *trace_packer_end(struct trace_packer *packer, size_t *length)
{
    struct trace_span columns[TRACE_COLUMN_COUNT];
    size_t stored[TRACE_COLUMN_COUNT];
    unsigned count;
    size_t headers = packer->count * TRACE_CHUNK_HEADER_SIZE;
    size_t need = HEAD_MAX + headers + COLUMNS_MAX(packer->raw);
    if (packer->count == 0)
        return NULL;
    if (packer->payload_size < need) {
        free(packer->payload);
        packer->payload = malloc(need);
        packer->payload_size = packer->payload ? need : 0;
        if (!packer->payload)
            return NULL;
    }
    enum packed_method method = packer_split(packer, columns, &count);
    /* Stores the columns far enough back for any head, then moves them to just after their
     * lengths. */
    uint8_t *store = packer->payload + HEAD_MAX + headers, *at = store;
    for (unsigned i = 0; i < count; i++) {
        stored[i] =
            packer_store(packer, at, columns[i].at, (size_t)(columns[i].end - columns[i].at));
        at += stored[i];
    }
    uint8_t *p = trace_put_varint(packer->payload, (uint64_t)method);
    p = trace_put_varint(p, packer->count);
    memcpy(p, packer->headers, headers);
    p = trace_put_varint(p + headers, count);
    for (unsigned i = 0; i < count; i++) {
        p = trace_put_varint(p, (uint64_t)(columns[i].end - columns[i].at));
        p = trace_put_varint(p, stored[i]);
    }
    memmove(p, store, (size_t)(at - store));
    *length = (size_t)(p - packer->payload) + (size_t)(at - store);
    packer->count = packer->raw = 0;
    return packer->payload;
}

bool trace_packed_open(struct trace_packed *packed, const uint8_t *payload, size_t length)
{
    const uint8_t *at = payload;
    packed->end = payload + length;
    if (!trace_get_varint(&at, packed->end, &packed->method) ||
        !trace_get_varint(&at, packed->end, &packed->chunks) || packed->method > PACKED_PREDICTED ||
        packed->chunks == 0 ||
        packed->chunks > (uint64_t)(packed->end - at) / TRACE_CHUNK_HEADER_SIZE)
        return false;
    packed->headers = at;
    packed->columns = at + packed->chunks * TRACE_CHUNK_HEADER_SIZE;
    return true;
}

void trace_packed_header(const struct trace_packed *packed, uint64_t index,
                         struct trace_chunk_header *header)
{
    memcpy(header, packed->headers + index * TRACE_CHUNK_HEADER_SIZE, sizeof(*header));
}

size_t trace_packed_size(const struct trace_packed *packed)
{
    uint64_t size = 0;
    for (uint64_t i = 0; i < packed->chunks; i++) {
        struct trace_chunk_header header;
        trace_packed_header(packed, i, &header);
        if (header.commit < TRACE_CHUNK_HEADER_SIZE)
            return SIZE_MAX;
        size += header.commit - TRACE_CHUNK_HEADER_SIZE;
        if (size > TRACE_PACKED_MAX)
            return SIZE_MAX;
    }
    return (size_t)size;
}

/* Reads the columns' lengths and unpacks one after another into `raw`, `size` bytes at most. */
static bool packed_columns(const struct trace_packed *packed, uint8_t *raw, size_t size,
                           struct trace_span columns[TRACE_COLUMN_COUNT])
{
    const uint64_t wanted = packed->method != PACKED_PLAIN ? TRACE_COLUMN_COUNT : 1;
    uint64_t count, length[TRACE_COLUMN_COUNT], stored[TRACE_COLUMN_COUNT];
    const uint8_t *at = packed->columns;
    if (!trace_get_varint(&at, packed->end, &count) || count != wanted)
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!trace_get_varint(&at, packed->end, &length[i]) ||
            !trace_get_varint(&at, packed->end, &stored[i]))
            return false;
    for (uint64_t i = 0; i < count; i++) {
        if (stored[i] > (uint64_t)(packed->end - at) || length[i] > size)
            return false;
        if (stored[i] == length[i])
            memcpy(raw, at, length[i]);
        else if (ZSTD_decompress(raw, length[i], at, stored[i]) != length[i])
            return false;
        columns[i] = (struct trace_span){raw, raw + length[i]};
        raw += length[i];
        size -= length[i];
        at += stored[i];
    }
    return true;
}

static bool packed_predicted(const struct trace_packed *packed, struct trace_span *records,
                             struct trace_span columns[TRACE_COLUMN_COUNT])
{
    struct trace_model *model = trace_model_new();
    struct trace_chunk_header header;
    bool good = model != NULL;
    if (good)
        trace_model_reset(model, false);
    for (uint64_t i = 0; good && i < packed->chunks; i++) {
        trace_packed_header(packed, i, &header);
        struct trace_span chunk = {records->at,
                                   records->at + (header.commit - TRACE_CHUNK_HEADER_SIZE)};
        good = trace_predicted_join(model, header.base_ticks, &chunk, columns);
        records->at = chunk.at;
    }
    trace_model_free(model);
    return good;
}

bool trace_packed_records(const struct trace_packed *packed, uint8_t *records)
{
    struct trace_span columns[TRACE_COLUMN_COUNT];
    size_t size = trace_packed_size(packed);
    if (size == SIZE_MAX)
        return false;
    if (packed->method == PACKED_PLAIN)
        return packed_columns(packed, records, size, columns) && columns[0].end == records + size;
    const size_t most = packed->method == PACKED_COLUMNS ? size : COLUMNS_MAX(size);
    uint8_t *raw = malloc(most + 1);
    struct trace_span room = {records, records + size};
    bool good = raw && packed_columns(packed, raw, most, columns);
    if (good && packed->method == PACKED_COLUMNS)
        good = trace_columns_join(&room, columns);
    else if (good)
        good = packed_predicted(packed, &room, columns);
    for (unsigned i = 0; i < TRACE_COLUMN_COUNT; i++)
        good = good && columns[i].at == columns[i].end;
    good = good && room.at == room.end;
    free(raw);
    return good;
}
