/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/btree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first byte of a page. */
enum { INDEX_INTERIOR = 2, TABLE_INTERIOR = 5, INDEX_LEAF = 10, TABLE_LEAF = 13 };

/* The header of a page. The places of its cells follow it. */
enum {
    PAGE_CELLS = 3,
    PAGE_CONTENT = 5,
    PAGE_RIGHT_CHILD = 8, /* of interior pages */
    LEAF_HEADER = 8,
    INTERIOR_HEADER = 12
};

enum { CELL_SMALLEST = 4, VARINT_MAX = 9, CHILD_SIZE = 4 };

void writer_btree_open(struct writer_btree *tree, struct writer_pages *pages, uint32_t root,
                       enum writer_btree_kind kind)
{
    *tree = (struct writer_btree){.pages = pages, .root = root, .kind = kind};
}

void writer_btree_close(struct writer_btree *tree)
{
    for (unsigned i = 0; i < WRITER_BTREE_LEVELS; i++)
        free(tree->level[i].page);
    *tree = (struct writer_btree){0};
}

static bool fail(struct writer_btree *tree, int error)
{
    if (tree->pages->error == 0)
        tree->pages->error = error;
    return false;
}

static void empty_page(const struct writer_btree *tree, struct writer_btree_level *level)
{
    memset(level->page, 0, tree->pages->page_size);
    level->cells = 0;
    level->content = tree->pages->page_size;
}

/* Returns a level, whose first page it makes if there is none. NULL with the error set. */
static struct writer_btree_level *open_level(struct writer_btree *tree, unsigned at)
{
    if (at < tree->height)
        return &tree->level[at];
    if (at == WRITER_BTREE_LEVELS) {
        fail(tree, EFBIG);
        return NULL;
    }
    struct writer_btree_level *level = &tree->level[at];
    level->page = malloc(tree->pages->page_size);
    if (!level->page) {
        fail(tree, ENOMEM);
        return NULL;
    }
    empty_page(tree, level);
    tree->height = at + 1;
    return level;
}

/* Makes room for another cell. NULL if the page is full. */
static uint8_t *add_cell(struct writer_btree_level *level, size_t header, size_t size)
{
    if (size < CELL_SMALLEST)
        size = CELL_SMALLEST;
    if (level->content < header + 2 * (level->cells + 1) + size)
        return NULL;
    level->content -= size;
    level->last_cell = size;
    writer_put16(level->page + header + 2 * level->cells, level->content);
    level->cells++;
    return level->page + level->content;
}

/* Moves the last cell from the page to `cell`, which has room for it. */
static void take_cell(struct writer_btree_level *level, size_t header, uint8_t *cell)
{
    memcpy(cell, level->page + level->content, level->last_cell);
    memset(level->page + level->content, 0, level->last_cell);
    level->content += level->last_cell;
    level->cells--;
    writer_put16(level->page + header + 2 * level->cells, 0);
}

/* Completes the level's page. `right_child` 0: it is a leaf. */
static void head_page(const struct writer_btree *tree, struct writer_btree_level *level,
                      uint32_t right_child)
{
    bool table = tree->kind == WRITER_BTREE_TABLE;
    if (right_child != 0) {
        level->page[0] = table ? TABLE_INTERIOR : INDEX_INTERIOR;
        writer_put32(level->page + PAGE_RIGHT_CHILD, right_child);
    } else {
        level->page[0] = table ? TABLE_LEAF : INDEX_LEAF;
    }
    writer_put16(level->page + PAGE_CELLS, level->cells);
    writer_put16(level->page + PAGE_CONTENT, level->content); /* 65536 is written as 0 */
}

/* Appends the level's page and begins another. Returns its number, 0 with the error set. */
static uint32_t end_page(struct writer_btree *tree, struct writer_btree_level *level,
                         uint32_t right_child)
{
    head_page(tree, level, right_child);
    uint32_t number = writer_pages_append(tree->pages, level->page);
    empty_page(tree, level);
    return number;
}

/*
 * Adds `child`, a complete page of the level below, with the separator after it: the varint of its
 * last row, or the index entry between it and the next page.
 */
static bool push(struct writer_btree *tree, unsigned at, uint32_t child, const uint8_t *separator,
                 size_t length)
{
    struct writer_btree_level *level = child == 0 ? NULL : open_level(tree, at);
    if (!level)
        return false;
    uint8_t *cell = add_cell(level, INTERIOR_HEADER, CHILD_SIZE + length);
    if (!cell) {
        uint8_t last[CHILD_SIZE + VARINT_MAX + WRITER_BTREE_KEY_MAX];
        size_t size = level->last_cell;
        take_cell(level, INTERIOR_HEADER, last);
        uint32_t number = end_page(tree, level, writer_get32(last));
        if (!push(tree, at + 1, number, last + CHILD_SIZE, size - CHILD_SIZE))
            return false;
        cell = add_cell(level, INTERIOR_HEADER, CHILD_SIZE + length);
    }
    writer_put32(cell, child);
    memcpy(cell + CHILD_SIZE, separator, length);
    return true;
}

/* Returns the bytes of a row's record that lie in its leaf. The rest goes to overflow pages. */
static size_t local_length(size_t page_size, size_t length)
{
    size_t most = page_size - 35, least = (page_size - 12) * 32 / 255 - 23;
    if (length <= most)
        return length;
    size_t fitting = least + (length - least) % (page_size - 4);
    return fitting <= most ? fitting : least;
}

/* Writes a chain of pages, each with the number of the next one. Returns the first page's number, 0
 * with the error set. */
static uint32_t put_overflow(struct writer_btree *tree, const uint8_t *bytes, size_t length)
{
    struct writer_pages *pages = tree->pages;
    size_t room = pages->page_size - 4;
    uint32_t first = pages->next, number = first;
    uint8_t *page = malloc(pages->page_size);
    if (!page)
        fail(tree, ENOMEM);
    while (page && number != 0 && length > 0) {
        size_t part = length < room ? length : room;
        uint32_t next = writer_pages_behind(pages, pages->next);
        writer_put32(page, part == length ? 0 : next);
        memcpy(page + 4, bytes, part);
        memset(page + 4 + part, 0, room - part);
        number = writer_pages_append(pages, page);
        bytes += part;
        length -= part;
    }
    free(page);
    return !page || number == 0 ? 0 : first;
}

bool writer_btree_put_row(struct writer_btree *tree, uint64_t row, const uint8_t *record,
                          size_t length)
{
    uint8_t head[2 * VARINT_MAX];
    struct writer_btree_level *leaf = open_level(tree, 0);
    if (!leaf)
        return false;
    size_t head_length = (size_t)(writer_put_varint(writer_put_varint(head, length), row) - head);
    size_t local = local_length(tree->pages->page_size, length);
    size_t tail = local < length ? CHILD_SIZE : 0;
    uint8_t *cell = add_cell(leaf, LEAF_HEADER, head_length + local + tail);
    if (!cell) {
        uint8_t last[VARINT_MAX];
        size_t last_length = (size_t)(writer_put_varint(last, tree->last_row) - last);
        if (!push(tree, 1, end_page(tree, leaf, 0), last, last_length))
            return false;
        cell = add_cell(leaf, LEAF_HEADER, head_length + local + tail);
    }
    memcpy(cell, head, head_length);
    memcpy(cell + head_length, record, local);
    tree->last_row = row;
    if (tail == 0)
        return true;
    uint32_t overflow = put_overflow(tree, record + local, length - local);
    writer_put32(cell + head_length + local, overflow);
    return overflow != 0;
}

bool writer_btree_put_key(struct writer_btree *tree, const uint8_t *record, size_t length)
{
    uint8_t last[VARINT_MAX + WRITER_BTREE_KEY_MAX];
    struct writer_btree_level *leaf = open_level(tree, 0);
    if (!leaf)
        return false;
    if (length < CELL_SMALLEST - 1 || length > WRITER_BTREE_KEY_MAX)
        return fail(tree, EINVAL);
    uint8_t *cell = add_cell(leaf, LEAF_HEADER, length + 1);
    if (!cell) {
        size_t size = leaf->last_cell;
        take_cell(leaf, LEAF_HEADER, last);
        if (!push(tree, 1, end_page(tree, leaf, 0), last, size))
            return false;
        cell = add_cell(leaf, LEAF_HEADER, length + 1);
    }
    cell[0] = (uint8_t)length;
    memcpy(cell + 1, record, length);
    return true;
}

bool writer_btree_finish(struct writer_btree *tree)
{
    uint32_t child = 0;
    if (tree->pages->error != 0)
        return false;
    for (unsigned at = 0; at + 1 < tree->height; at++)
        if ((child = end_page(tree, &tree->level[at], child)) == 0)
            return false;
    if (tree->height == 0)
        return true; /* the root stays an empty leaf */
    struct writer_btree_level *top = &tree->level[tree->height - 1];
    head_page(tree, top, child);
    return writer_pages_replace(tree->pages, tree->root, top->page);
}
