/* SPDX-License-Identifier: BSD-2-Clause */
/* A file is "PAR1", row groups, a footer, the footer's length and "PAR1" again. A row group has for
 * each column a dictionary page, if it has texts, and one data page: for columns that may be null
 * the definition levels, then the values. Page headers and the footer are structs of Thrift's
 * compact protocol: each field is its distance from the one before and its type in one byte, then
 * the value. */
#include "report/export/parquet.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "report/output/names.h"
#include "schemas/array.h"
#include "schemas/hash.h"
#include "schemas/trace_coding.h"

/* A row group ends at this many rows, or bytes of different texts in a column. */
enum { GROUP_ROWS = 1 << 17, GROUP_TEXT = 1 << 26, LEVEL = 3 };

enum thrift { THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8, THRIFT_LIST, THRIFT_STRUCT = 12 };
enum encoding { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DICTIONARY = 8 };
enum page { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6, CONVERTED_UTF8 = 0 };

static const uint8_t physical_types[] = {
    [PARQUET_INTEGER] = 2, [PARQUET_REAL] = 5, [PARQUET_TEXT] = 6, [PARQUET_TRUTH] = 0};

struct buffer {
    uint8_t *bytes;
    size_t size, capacity;
};

struct column {
    struct parquet_column about;
    struct buffer values;  /* PLAIN; of texts: the dictionary; of truths a byte each */
    struct buffer present; /* a byte for each row: 1, or 0 for null */
    struct buffer indexes; /* of texts: the place of each value in the dictionary, as uint32_t */
    struct buffer texts;   /* the different texts as they came, each with its zero */
    struct buffer places;  /* where each begins in `texts`, as size_t */
    struct index_map by_text;
};

struct parquet {
    FILE *out;
    uint64_t written; /* bytes of the file */
    struct column *columns;
    size_t count, next;
    uint64_t rows, group_rows;
    struct buffer groups; /* the footer's part about them */
    size_t group_count;
    struct buffer page, packed, header; /* while a page is written */
    bool failed;
};

/* ---- bytes ---- */

static void *extend(struct parquet *parquet, struct buffer *to, size_t size)
{
    if (!array_grow(&to->bytes, &to->capacity, to->size + size, 1)) {
        parquet->failed = true;
        return NULL;
    }
    to->size += size;
    return to->bytes + to->size - size;
}

static void put(struct parquet *parquet, struct buffer *to, const void *bytes, size_t size)
{
    void *place = size > 0 ? extend(parquet, to, size) : NULL;
    if (place)
        memcpy(place, bytes, size);
}

static void put_byte(struct parquet *parquet, struct buffer *to, unsigned byte)
{
    put(parquet, to, &(uint8_t){(uint8_t)byte}, 1);
}

static void put_varint(struct parquet *parquet, struct buffer *to, uint64_t number)
{
    uint8_t bytes[10];
    put(parquet, to, bytes, (size_t)(trace_put_varint(bytes, number) - bytes));
}

static void put_u32(struct parquet *parquet, struct buffer *to, uint64_t number)
{
    const uint8_t bytes[] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
                             (uint8_t)(number >> 24)};
    put(parquet, to, bytes, sizeof(bytes));
}

/* ---- Thrift ---- */

/* `step`: how far the field is from the one before in its struct. */
static void put_field(struct parquet *parquet, struct buffer *to, unsigned step, enum thrift type)
{
    put_byte(parquet, to, step << 4 | type);
}

static void put_zigzag(struct parquet *parquet, struct buffer *to, uint64_t number)
{
    put_varint(parquet, to, number << 1);
}

static void put_number(struct parquet *parquet, struct buffer *to, unsigned step, enum thrift type,
                       uint64_t number)
{
    put_field(parquet, to, step, type);
    put_zigzag(parquet, to, number);
}

static void put_name(struct parquet *parquet, struct buffer *to, const char *name)
{
    put_varint(parquet, to, strlen(name));
    put(parquet, to, name, strlen(name));
}

static void put_list(struct parquet *parquet, struct buffer *to, unsigned step, enum thrift type,
                     size_t count)
{
    put_field(parquet, to, step, THRIFT_LIST);
    put_byte(parquet, to, (count < 15 ? (unsigned)count << 4 : 0xf0) | type);
    if (count >= 15)
        put_varint(parquet, to, count);
}

static void put_stop(struct parquet *parquet, struct buffer *to)
{
    put_byte(parquet, to, 0);
}

/* ---- pages ---- */

static void write_out(struct parquet *parquet, const struct buffer *from)
{
    fwrite(from->bytes, 1, from->size, parquet->out);
    parquet->written += from->size;
}

/* Writes parquet->page. Returns how many bytes the header and the page would take uncompressed. */
static uint64_t write_page(struct parquet *parquet, enum page kind, size_t values,
                           enum encoding encoding)
{
    struct buffer *header = &parquet->header, *page = &parquet->page, *packed = &parquet->packed;
    header->size = packed->size = 0;
    const size_t most = ZSTD_compressBound(page->size);
    if (page->size > INT_MAX || !extend(parquet, packed, most)) {
        parquet->failed = true;
        return 0;
    }
    const size_t size = ZSTD_compress(packed->bytes, most, page->bytes, page->size, LEVEL);
    parquet->failed |= ZSTD_isError(size) != 0;
    packed->size = ZSTD_isError(size) ? 0 : size;
    put_number(parquet, header, 1, THRIFT_I32, kind);
    put_number(parquet, header, 1, THRIFT_I32, page->size);
    put_number(parquet, header, 1, THRIFT_I32, packed->size);
    put_field(parquet, header, kind == PAGE_DATA ? 2 : 4, THRIFT_STRUCT);
    put_number(parquet, header, 1, THRIFT_I32, values);
    put_number(parquet, header, 1, THRIFT_I32, encoding);
    for (int levels = 0; kind == PAGE_DATA && levels < 2; levels++)
        put_number(parquet, header, 1, THRIFT_I32, ENCODING_RLE);
    put_stop(parquet, header);
    put_stop(parquet, header);
    write_out(parquet, header);
    write_out(parquet, packed);
    return header->size + page->size;
}

/* Puts the definition levels into the page: runs of equal ones. */
static void put_levels(struct parquet *parquet, const struct column *column)
{
    struct buffer *page = &parquet->page;
    const uint8_t *present = column->present.bytes;
    put_u32(parquet, page, 0);
    for (size_t i = 0, end; i < column->present.size; i = end) {
        for (end = i; end < column->present.size && present[end] == present[i];)
            end++;
        put_varint(parquet, page, (end - i) << 1);
        put_byte(parquet, page, present[i]);
    }
    const uint64_t length = page->size - 4;
    for (int i = 0; !parquet->failed && i < 4; i++)
        page->bytes[i] = (uint8_t)(length >> 8 * i);
}

/* Puts the places of texts into the page: their width in bits, then all of them in one run. */
static void put_indexes(struct parquet *parquet, const struct column *column)
{
    const size_t count = column->indexes.size / sizeof(uint32_t), groups = (count + 7) / 8;
    const size_t texts = column->places.size / sizeof(size_t);
    unsigned width = 1, bits = 0;
    uint64_t rest = 0;
    while (texts > (size_t)1 << width)
        width++;
    put_byte(parquet, &parquet->page, width);
    put_varint(parquet, &parquet->page, groups << 1 | 1);
    for (size_t i = 0; i < groups * 8; i++) {
        uint32_t index = 0;
        if (i < count)
            memcpy(&index, column->indexes.bytes + i * sizeof(index), sizeof(index));
        rest |= (uint64_t)index << bits;
        for (bits += width; bits >= 8; bits -= 8, rest >>= 8)
            put_byte(parquet, &parquet->page, (unsigned)rest & 0xff);
    }
}

/* Puts truths into the page, eight in a byte. */
static void put_truths(struct parquet *parquet, const struct column *column)
{
    for (size_t i = 0; i < column->values.size; i += 8) {
        unsigned byte = 0;
        for (size_t k = 0; k < 8 && i + k < column->values.size; k++)
            byte |= (unsigned)column->values.bytes[i + k] << k;
        put_byte(parquet, &parquet->page, byte);
    }
}

/* Writes the pages of a column, and what the footer says of them. */
static void write_column(struct parquet *parquet, struct column *column, uint64_t *bytes)
{
    struct buffer *groups = &parquet->groups;
    const uint64_t begin = parquet->written;
    const bool dictionary = column->indexes.size > 0;
    const enum encoding encoding = dictionary ? ENCODING_DICTIONARY : ENCODING_PLAIN;
    uint64_t size = 0;
    if (dictionary) {
        parquet->page.size = 0;
        put(parquet, &parquet->page, column->values.bytes, column->values.size);
        size += write_page(parquet, PAGE_DICTIONARY, column->places.size / sizeof(size_t),
                           ENCODING_PLAIN);
    }
    const uint64_t data = parquet->written;
    parquet->page.size = 0;
    if (!column->about.required)
        put_levels(parquet, column);
    if (dictionary)
        put_indexes(parquet, column);
    else if (column->about.type == PARQUET_TRUTH)
        put_truths(parquet, column);
    else
        put(parquet, &parquet->page, column->values.bytes, column->values.size);
    size += write_page(parquet, PAGE_DATA, column->present.size, encoding);
    put_number(parquet, groups, 2, THRIFT_I64, begin);
    put_field(parquet, groups, 1, THRIFT_STRUCT);
    put_number(parquet, groups, 1, THRIFT_I32, physical_types[column->about.type]);
    put_list(parquet, groups, 1, THRIFT_I32, 2);
    put_zigzag(parquet, groups, encoding);
    put_zigzag(parquet, groups, ENCODING_RLE);
    put_list(parquet, groups, 1, THRIFT_BINARY, 1);
    put_name(parquet, groups, column->about.name);
    put_number(parquet, groups, 1, THRIFT_I32, CODEC_ZSTD);
    put_number(parquet, groups, 1, THRIFT_I64, column->present.size);
    put_number(parquet, groups, 1, THRIFT_I64, size);
    put_number(parquet, groups, 1, THRIFT_I64, parquet->written - begin);
    put_number(parquet, groups, 2, THRIFT_I64, data);
    if (dictionary)
        put_number(parquet, groups, 2, THRIFT_I64, begin);
    put_stop(parquet, groups);
    put_stop(parquet, groups);
    *bytes += size;
    column->values.size = column->present.size = column->indexes.size = 0;
    column->texts.size = column->places.size = 0;
    index_map_free(&column->by_text);
}

static void write_group(struct parquet *parquet)
{
    uint64_t bytes = 0;
    put_list(parquet, &parquet->groups, 1, THRIFT_STRUCT, parquet->count);
    for (size_t i = 0; i < parquet->count; i++)
        write_column(parquet, &parquet->columns[i], &bytes);
    put_number(parquet, &parquet->groups, 1, THRIFT_I64, bytes);
    put_number(parquet, &parquet->groups, 1, THRIFT_I64, parquet->group_rows);
    put_stop(parquet, &parquet->groups);
    parquet->group_count++;
    parquet->group_rows = 0;
}

/* ---- values ---- */

/* Returns the column of the next value, of which it notes that it is there or null. */
static struct column *begin_value(struct parquet *parquet, bool there)
{
    struct column *column = &parquet->columns[parquet->next];
    put_byte(parquet, &column->present, there);
    return column;
}

static void end_value(struct parquet *parquet)
{
    bool full = parquet->group_rows + 1 == GROUP_ROWS;
    if (++parquet->next < parquet->count)
        return;
    parquet->next = 0;
    parquet->rows++;
    parquet->group_rows++;
    for (size_t i = 0; i < parquet->count; i++)
        full |= parquet->columns[i].texts.size > GROUP_TEXT;
    if (full)
        write_group(parquet);
}

static void put_8(struct parquet *parquet, uint64_t bits)
{
    struct buffer *values = &begin_value(parquet, true)->values;
    put_u32(parquet, values, bits);
    put_u32(parquet, values, bits >> 32);
    end_value(parquet);
}

void parquet_put_integer(struct parquet *parquet, int64_t number)
{
    char digits[24];
    if (parquet->columns[parquet->next].about.type == PARQUET_TEXT) {
        snprintf(digits, sizeof(digits), "%" PRId64, number);
        parquet_put_text(parquet, digits);
    } else {
        put_8(parquet, (uint64_t)number);
    }
}

void parquet_put_truth(struct parquet *parquet, bool truth)
{
    put_byte(parquet, &begin_value(parquet, true)->values, truth);
    end_value(parquet);
}

void parquet_put_real(struct parquet *parquet, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    put_8(parquet, bits);
}

/* Returns the text of a number that was given. */
static const char *text_of(const struct column *column, size_t number)
{
    size_t place;
    memcpy(&place, column->places.bytes + number * sizeof(place), sizeof(place));
    return (const char *)column->texts.bytes + place;
}

/* Returns the number of a text in the dictionary, which it may be new to. */
static uint32_t number_of(struct parquet *parquet, struct column *column, const char *text)
{
    const uint64_t hash = text_hash(text);
    const uint32_t count = (uint32_t)(column->places.size / sizeof(size_t));
    uint32_t number;
    for (size_t probe = index_map_begin(&column->by_text, hash);
         (number = index_map_next(&column->by_text, hash, &probe)) != INDEX_NONE;)
        if (strcmp(text_of(column, number), text) == 0)
            return number;
    size_t length = 0;
    char *clean = name_utf8_copy(text, &length);
    parquet->failed |= !clean || !index_map_insert(&column->by_text, hash, count);
    put(parquet, &column->places, &column->texts.size, sizeof(size_t));
    put(parquet, &column->texts, text, strlen(text) + 1);
    put_u32(parquet, &column->values, length);
    put(parquet, &column->values, clean, length);
    free(clean);
    return count;
}

void parquet_put_text(struct parquet *parquet, const char *text)
{
    struct column *column = begin_value(parquet, text != NULL);
    if (text && !parquet->failed) {
        const uint32_t number = number_of(parquet, column, text);
        put(parquet, &column->indexes, &number, sizeof(number));
    }
    end_value(parquet);
}

/* ---- the file ---- */

struct parquet *parquet_begin(FILE *out, const struct parquet_column *columns, size_t count)
{
    struct parquet *parquet = calloc(1, sizeof(*parquet));
    struct column *all = parquet ? calloc(count, sizeof(*all)) : NULL;
    if (!all) {
        free(parquet);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        all[i].about = columns[i];
    *parquet = (struct parquet){.out = out, .columns = all, .count = count, .written = 4};
    fputs("PAR1", out);
    return parquet;
}

static void write_footer(struct parquet *parquet)
{
    struct buffer *page = &parquet->page;
    page->size = 0;
    put_number(parquet, page, 1, THRIFT_I32, 1);
    put_list(parquet, page, 1, THRIFT_STRUCT, parquet->count + 1);
    put_field(parquet, page, 4, THRIFT_BINARY);
    put_name(parquet, page, "schema");
    put_number(parquet, page, 1, THRIFT_I32, parquet->count);
    put_stop(parquet, page);
    for (size_t i = 0; i < parquet->count; i++) {
        const struct parquet_column *column = &parquet->columns[i].about;
        put_number(parquet, page, 1, THRIFT_I32, physical_types[column->type]);
        put_number(parquet, page, 2, THRIFT_I32, column->required ? 0 : 1);
        put_field(parquet, page, 1, THRIFT_BINARY);
        put_name(parquet, page, column->name);
        if (column->type == PARQUET_TEXT)
            put_number(parquet, page, 2, THRIFT_I32, CONVERTED_UTF8);
        put_stop(parquet, page);
    }
    put_number(parquet, page, 1, THRIFT_I64, parquet->rows);
    put_list(parquet, page, 1, THRIFT_STRUCT, parquet->group_count);
    put(parquet, page, parquet->groups.bytes, parquet->groups.size);
    put_field(parquet, page, 2, THRIFT_BINARY);
    put_name(parquet, page, "mprof-export " MPROF_VERSION);
    put_stop(parquet, page);
    put_u32(parquet, page, page->size);
    put(parquet, page, "PAR1", 4);
    write_out(parquet, page);
}

bool parquet_end(struct parquet *parquet)
{
    if (!parquet)
        return true;
    if (parquet->group_rows > 0)
        write_group(parquet);
    write_footer(parquet);
    const bool good = !parquet->failed;
    for (size_t i = 0; i < parquet->count; i++) {
        struct column *column = &parquet->columns[i];
        FREE_ALL(column->values.bytes, column->present.bytes, column->indexes.bytes,
                 column->texts.bytes, column->places.bytes);
        index_map_free(&column->by_text);
    }
    FREE_ALL(parquet->columns, parquet->groups.bytes, parquet->page.bytes, parquet->packed.bytes,
             parquet->header.bytes, parquet);
    return good;
}
