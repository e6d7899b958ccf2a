/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills an empty b-tree of an SQLite database, table or index, with entries in ascending order.
 * Pages are filled from the left and written once, without a search and without reading any page.
 * This is four to ten times as fast as INSERT or CREATE INDEX, which accept any order.
 *
 * Order of calls: writer_btree_open() with the tree's root page, writer_btree_put_row() or
 * writer_btree_put_key() in ascending order, writer_btree_finish(), always writer_btree_close().
 * Several trees may be filled at the same time in one `struct writer_pages`.
 *
 * Every page except the root has at least one entry, as SQLite demands. A full page gives its last
 * separator to the level above, and the next page begins with its own entry. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Appends pages to a database file that SQLite has made and closed, and makes it a valid database
 * again.
 *
 * Order of calls: writer_pages_open(), then writer_pages_append() and writer_pages_replace(),
 * writer_pages_close(). In between the file must not be used as a database.
 *
 * The format of pages and of the file's header is SQLite's (https://sqlite.org/fileformat2.html),
 * which promises to keep it. */

/* The first byte of SQLite's lock range (its PENDING_BYTE). */
#define WRITER_LOCK_BYTE (UINT32_C(1) << 30)

struct writer_pages {
    int descriptor;
    size_t page_size;
    uint32_t count;         /* pages of the file; the first has number 1 */
    uint32_t next;          /* number of the page that will be appended next */
    uint32_t lock_page;     /* number of the page of SQLite's locks, which is never used */
    uint8_t *buffer;        /* pages that are not written yet */
    size_t buffered;        /* bytes */
    uint64_t buffer_offset; /* of the buffer in the file */
    int error;              /* errno of the first failure, 0: none */
};

/* Keeps the first error. Returns false. */
static inline bool writer_pages_fail(struct writer_pages *pages, int error)
{
    if (pages->error == 0)
        pages->error = error;
    return false;
}

/* Begins. The caller keeps `descriptor`. `lock_byte` is WRITER_LOCK_BYTE, except in tests. False
 * with `error` set, also if pages cannot be appended to this kind of file. */
bool writer_pages_open(struct writer_pages *pages, int descriptor, uint32_t lock_byte);

/* Writes the remaining pages and the new size. Frees memory in any case. False with `error` set. */
bool writer_pages_close(struct writer_pages *pages);

/* Big-endian numbers and SQLite's varints, as pages hold them. */
static inline void writer_put16(uint8_t *at, size_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void writer_put32(uint8_t *at, uint32_t value)
{
    writer_put16(at, value >> 16);
    writer_put16(at + 2, value & 0xffff);
}

static inline uint32_t writer_get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Puts a varint of at most 9 bytes. Returns the place after it. */
uint8_t *writer_put_varint(uint8_t *at, uint64_t value);

/* ---- btree --------------------------------------------------------------------------------- */

enum writer_btree_kind { WRITER_BTREE_TABLE, WRITER_BTREE_INDEX };

/* With at least three entries in each page, 2^32 pages have fewer levels. */
#define WRITER_BTREE_LEVELS 24

/* The longest record of an index: twelve numbers. It needs no overflow pages if a page has 1 KiB.
 */
#define WRITER_BTREE_KEY_MAX 112

struct writer_btree {
    struct writer_pages *pages;
    enum writer_btree_kind kind;
    uint32_t root;
    unsigned height; /* levels in use */
    struct writer_btree_level {
        uint8_t *page;                    /* the page that is being filled */
        size_t cells, content, last_cell; /* content: where the last cell begins */
    } level[WRITER_BTREE_LEVELS];         /* [0]: the leaves */
    uint64_t last_row;
};

/* Begins a tree. `pages` must outlive it. */
void writer_btree_open(struct writer_btree *tree, struct writer_pages *pages, uint32_t root,
                       enum writer_btree_kind kind);

/* Puts a row of a table: `record` in SQLite's record format. `row` must be above the last one.
 * False with the error of `pages` set. */
bool writer_btree_put_row(struct writer_btree *tree, uint64_t row, const uint8_t *record,
                          size_t length);

/* Puts an entry of an index, 3 to WRITER_BTREE_KEY_MAX bytes, which must be above the last one. */
bool writer_btree_put_key(struct writer_btree *tree, const uint8_t *record, size_t length);

/* Writes the pages that are not full yet, and the root. */
bool writer_btree_finish(struct writer_btree *tree);
void writer_btree_close(struct writer_btree *tree);

/* SQLite's record format: a header with the serial type of each value, then the values. */

enum { SERIAL_NULL = 0, SERIAL_ZERO = 8, SERIAL_ONE = 9 };

/* Returns the serial type of a blob of `length` bytes. */
static inline uint64_t writer_serial_blob(uint64_t length)
{
    return 12 + 2 * length;
}

/* Puts a number as SQLite stores it, in the fewest bytes: its serial type to *type, its bytes to
 * `data`, which must have room for 8. Returns the place after the number's bytes. */
static inline uint8_t *writer_put_number(uint8_t *type, uint8_t *data, int64_t number)
{
    /* By the number of bits, without the sign. */
    static const uint8_t serials[65] = {
        1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3,
        3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
        5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
    };
    static const uint8_t lengths[7] = {0, 1, 2, 3, 4, 6, 8};
    uint64_t value = (uint64_t)number;
    if (value <= 1) {
        *type = (uint8_t)(SERIAL_ZERO + value);
        return data;
    }
    uint64_t magnitude = number < 0 ? ~value : value;
    *type = serials[magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude)];
    unsigned length = lengths[*type];
    uint64_t bytes = __builtin_bswap64(value << (64 - 8 * length));
    memcpy(data, &bytes, sizeof(bytes));
    return data + length;
}
