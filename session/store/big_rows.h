/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads rows with large values straight from the pages of a session's file, past SQLite: a row's
 * chain of overflow pages nearly always lies in one run, which one system call reads. Any number of
 * threads may read at the same time. The format is that of https://sqlite.org/fileformat2.html.
 * The file is opened and closed as page_file.h says.
 *
 * Nothing is taken on trust: a page must be a leaf, hold the row, and each page of the chain must
 * name the next one. If anything does not fit, the reader says so, and the caller asks SQLite.
 *
 * Order of calls: big_rows_open(), big_rows_read() as often as wanted, big_rows_close(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- page file ---- */

/* The pages of an SQLite database as they lie in its file: header, cells, records
 * (https://sqlite.org/fileformat2.html). For a file that nobody writes. Nothing is taken on trust:
 * functions tell whether what they read lies within its page.
 *
 * Closing a file ends all locks that the process holds on it, so open and close it while SQLite
 * holds none. Any number of threads may read. */

/* The first byte of a page. */
enum { PAGE_KEY_INTERIOR = 2, PAGE_TABLE_INTERIOR = 5, PAGE_KEY_LEAF = 10, PAGE_TABLE_LEAF = 13 };

/* The header of a page. The places of its cells follow it. */
enum { PAGE_CELLS = 3, PAGE_LEAF_HEADER = 8, PAGE_RIGHT_CHILD = 8, PAGE_INTERIOR_HEADER = 12 };

/* SQLite's own limit: no tree of 2^32 pages is higher. */
enum { PAGE_LEVELS_MAX = 20 };

struct page_file {
    int descriptor;
    uint32_t page_size;
    uint32_t usable; /* bytes of a page that SQLite uses */
    uint32_t pages;
};

/* Opens a file and reads its header. Returns false if it is not such a file. */
bool page_file_open(struct page_file *file, const char *path);
void page_file_close(struct page_file *file);

/* Reads `count` pages from page `number` (from 1) on. Returns false if they are not in the file. */
bool page_file_read(const struct page_file *file, uint32_t number, uint32_t count, uint8_t *pages);

/* Reads a varint that ends before `end`. Returns the place after it, NULL if there is none. */
const uint8_t *page_long_varint(const uint8_t *at, const uint8_t *end, uint64_t *value);
static inline const uint8_t *page_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    if (at < end && at[0] < 0x80) {
        *value = at[0];
        return at + 1;
    }
    /* Three bytes, as most ids have in a large table. */
    if (end - at >= 3 && at[1] >= 0x80 && at[2] < 0x80) {
        *value = (uint64_t)(at[0] & 0x7f) << 14 | (uint64_t)(at[1] & 0x7f) << 7 | at[2];
        return at + 3;
    }
    return page_long_varint(at, end, value);
}

/* Returns the bytes of a number by its type in the header of a record, -1 if it is not a number. */
static inline int page_number_size(uint64_t type)
{
    static const int8_t sizes[] = {-1, 1, 2, 3, 4, 6, 8, -1, 0, 0};
    return type < sizeof(sizes) ? sizes[type] : -1;
}

static inline int64_t page_number(const uint8_t *at, uint64_t type, int size)
{
    if (size == 0)
        return type == 9;
    if (size == 1)
        return (int8_t)at[0];
    if (size == 2)
        return (int16_t)((uint16_t)at[0] << 8 | at[1]);
    if (size == 3)
        return (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8) >> 8;
    uint64_t value = (at[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (int i = 0; i < size; i++)
        value = value << 8 | at[i];
    return (int64_t)value;
}

static inline uint32_t page_get16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static inline uint32_t page_get32(const uint8_t *at)
{
    return page_get16(at) << 16 | page_get16(at + 2);
}

/* Returns the place of cell `i` of a page, NULL if it is not within the page. */
static inline const uint8_t *page_cell(const struct page_file *file, const uint8_t *page,
                                       size_t header, uint32_t i)
{
    const size_t pointer = header + (size_t)i * 2;
    if (pointer + 2 > file->usable)
        return NULL;
    const uint32_t place = page_get16(page + pointer);
    return place < header || place >= file->usable ? NULL : page + place;
}

struct big_rows;

/* Opens the table whose b-tree has the root page `root`. Reads only the tree's interior pages. NULL
 * if its tree is damaged, or memory is exhausted. */
struct big_rows *big_rows_open(const char *path, uint32_t root);
void big_rows_close(struct big_rows *rows);

/* The columns of a row: NULL, then numbers, then one blob. */
#define BIG_ROW_NUMBERS 4

/* A thread's own page. Rows that follow each other often lie in the same one. */
struct big_rows_leaf {
    uint8_t *page; /* free() */
    uint32_t number;
};

/* Reads the row `id`: its numbers must be `numbers`, and its blob `length` bytes long, which go to
 * `data`. Returns false if the row is another one, or does not lie in the file as expected. Adds to
 * `*bytes` what was read from the file. */
bool big_rows_read(const struct big_rows *rows, struct big_rows_leaf *leaf, uint64_t id,
                   const int64_t numbers[BIG_ROW_NUMBERS], uint8_t *data, size_t length,
                   uint64_t *bytes);
