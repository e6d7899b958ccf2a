/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads rows with large values straight from the pages of a session's file, past SQLite: a row's
 * chain of overflow pages nearly always lies in one run, which one system call reads. Any number of
 * threads may read at the same time. The format is that of https://sqlite.org/fileformat2.html.
 * The file is opened and closed as page_file.h says.
 *
 * Nothing is taken on trust: a page must be a leaf, hold the row, and each page of the chain must
 * name the next one. If anything does not fit, the reader says so, and the caller asks SQLite.
 *
 * Order of calls: big_rows_open(), big_rows_read() as often as wanted, big_rows_close().
 */
#ifndef MPROF_SESSION_DATA_BIG_ROWS_H
#define MPROF_SESSION_DATA_BIG_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct big_rows;

/*
 * Opens the table whose b-tree has the root page `root`. Reads only the tree's interior pages.
 * Returns NULL if the table cannot be read this way: its tree is damaged, or memory is exhausted.
 */
struct big_rows *big_rows_open(const char *path, uint32_t root);
void big_rows_close(struct big_rows *rows);

/* The columns of a row: NULL, then numbers, then one blob. */
#define BIG_ROW_NUMBERS 4

/* A thread's own page. Rows that follow each other often lie in the same one. */
struct big_rows_leaf {
    uint8_t *page; /* free() */
    uint32_t number;
};

/*
 * Reads the row `id`: its numbers must be `numbers`, and its blob `length` bytes long, which go to
 * `data`. Returns false if the row is another one, or does not lie in the file as expected. Adds to
 * `*bytes` what was read from the file.
 */
bool big_rows_read(const struct big_rows *rows, struct big_rows_leaf *leaf, uint64_t id,
                   const int64_t numbers[BIG_ROW_NUMBERS], uint8_t *data, size_t length,
                   uint64_t *bytes);

#endif
