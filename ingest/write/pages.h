/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Appends pages to a database file that SQLite has made and closed, and makes it a valid database
 * again.
 *
 * Order of calls: writer_pages_open(), then writer_pages_append() and writer_pages_replace(),
 * writer_pages_close(). In between the file must not be used as a database.
 *
 * The format of pages and of the file's header is SQLite's (https://sqlite.org/fileformat2.html),
 * which promises to keep it.
 */
#ifndef MPROF_INGEST_WRITE_PAGES_H
#define MPROF_INGEST_WRITE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 * Begins. The caller keeps `descriptor`. `lock_byte` is WRITER_LOCK_BYTE, except in tests. False
 * with `error` set, also if pages cannot be appended to this kind of file.
 */
bool writer_pages_open(struct writer_pages *pages, int descriptor, uint32_t lock_byte);

/* Appends a page. Returns its number, 0 with `error` set. */
uint32_t writer_pages_append(struct writer_pages *pages, const uint8_t *page);

/* Returns the number of the page that is appended after page `number`. */
uint32_t writer_pages_behind(const struct writer_pages *pages, uint32_t number);

/* Replaces a page that existed when the file was opened. */
bool writer_pages_replace(struct writer_pages *pages, uint32_t number, const uint8_t *page);

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

#endif
