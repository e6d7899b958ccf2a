/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills an empty b-tree of an SQLite database, table or index, with entries in ascending order.
 * Pages are filled from the left and written once, without a search and without reading any page.
 * This is four to ten times as fast as INSERT or CREATE INDEX, which accept any order.
 *
 * Order of calls: writer_btree_open() with the tree's root page, writer_btree_put_row() or
 * writer_btree_put_key() in ascending order, writer_btree_finish(), always writer_btree_close().
 * Several trees may be filled at the same time in one `struct writer_pages`.
 *
 * Every page except the root has at least one entry, as SQLite demands. A full page gives its last
 * separator to the level above, and the next page begins with its own entry.
 */
#ifndef MPROF_INGEST_WRITE_BTREE_H
#define MPROF_INGEST_WRITE_BTREE_H

#include "ingest/write/pages.h"

enum writer_btree_kind { WRITER_BTREE_TABLE, WRITER_BTREE_INDEX };

/* With at least three entries in each page, 2^32 pages have fewer levels. */
#define WRITER_BTREE_LEVELS 24

/* The longest record of an index. Longer ones would need overflow pages if pages are small. */
#define WRITER_BTREE_KEY_MAX 64

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

/*
 * Puts a row of a table: `record` in SQLite's record format. `row` must be above the last one.
 * False with the error of `pages` set.
 */
bool writer_btree_put_row(struct writer_btree *tree, uint64_t row, const uint8_t *record,
                          size_t length);

/* Puts an entry of an index, 3 to WRITER_BTREE_KEY_MAX bytes, which must be above the last one. */
bool writer_btree_put_key(struct writer_btree *tree, const uint8_t *record, size_t length);

/* Writes the pages that are not full yet, and the root. */
bool writer_btree_finish(struct writer_btree *tree);
void writer_btree_close(struct writer_btree *tree);

#endif
