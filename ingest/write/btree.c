/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/btree.h"

#include "ingest/base/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- pages --------------------------------------------------------------------------------- */

/* Bytes that are written at once. It is a multiple of each page size. */
enum { BUFFER_SIZE = 1 << 20 };

/* Places in the header of the file, which is the start of page 1. */
enum {
    HEADER_PAGE_SIZE = 16,
    HEADER_CHANGE_COUNTER = 24,
    HEADER_PAGES = 28,
    HEADER_VALID_FOR = 92, /* the change counter that HEADER_PAGES belongs to */
    HEADER_SIZE = 100
};

static bool write_all(struct writer_pages *pages, const uint8_t *bytes, size_t length,
                      uint64_t offset)
{
    const int error = write_whole_at(pages->descriptor, bytes, length, offset);
    return error == 0 || writer_pages_fail(pages, error);
}

static bool read_header(struct writer_pages *pages, uint8_t *header)
{
    return read_whole(pages->descriptor, header, HEADER_SIZE, 0) == HEADER_SIZE ||
           writer_pages_fail(pages, errno != 0 ? errno : EINVAL);
}

/* Returns the number of the page that is appended after page `number`. */
static uint32_t writer_pages_behind(const struct writer_pages *pages, uint32_t number)
{
    return number + 1 == pages->lock_page ? number + 2 : number + 1;
}

bool writer_pages_open(struct writer_pages *pages, int descriptor, uint32_t lock_byte)
{
    uint8_t header[HEADER_SIZE];
    struct stat about;
    *pages = (struct writer_pages){.descriptor = descriptor};
    if (!read_header(pages, header))
        return false;
    pages->page_size = (size_t)header[HEADER_PAGE_SIZE] << 8 | header[HEADER_PAGE_SIZE + 1];
    if (pages->page_size == 1)
        pages->page_size = 65536;
    pages->count = writer_get32(header + HEADER_PAGES);
    if (fstat(descriptor, &about) != 0)
        return writer_pages_fail(pages, errno);
    if (pages->page_size < 512 || (pages->page_size & (pages->page_size - 1)) != 0 ||
        pages->count == 0 || (uint64_t)about.st_size != (uint64_t)pages->count * pages->page_size)
        return writer_pages_fail(pages, EINVAL);
    pages->lock_page = lock_byte / (uint32_t)pages->page_size + 1;
    pages->next = writer_pages_behind(pages, pages->count);
    pages->buffer = malloc(BUFFER_SIZE);
    return pages->buffer || writer_pages_fail(pages, ENOMEM);
}

static bool flush(struct writer_pages *pages)
{
    bool good = write_all(pages, pages->buffer, pages->buffered, pages->buffer_offset);
    pages->buffered = 0;
    return good;
}

/* Appends a page. Returns its number, 0 with `error` set. */
static uint32_t writer_pages_append(struct writer_pages *pages, const uint8_t *page)
{
    uint64_t offset = (uint64_t)(pages->next - 1) * pages->page_size;
    if (pages->error != 0)
        return 0;
    if (pages->next >= UINT32_MAX - 2) {
        writer_pages_fail(pages, EFBIG);
        return 0;
    }
    /* The skipped page of the locks becomes a hole in the file. */
    if ((pages->buffered + pages->page_size > BUFFER_SIZE ||
         pages->buffer_offset + pages->buffered != offset) &&
        !flush(pages))
        return 0;
    if (pages->buffered == 0)
        pages->buffer_offset = offset;
    memcpy(pages->buffer + pages->buffered, page, pages->page_size);
    pages->buffered += pages->page_size;
    pages->count = pages->next;
    pages->next = writer_pages_behind(pages, pages->next);
    return pages->count;
}

/* Replaces a page that existed when the file was opened. */
static bool writer_pages_replace(struct writer_pages *pages, uint32_t number, const uint8_t *page)
{
    return pages->error == 0 &&
           write_all(pages, page, pages->page_size, (uint64_t)(number - 1) * pages->page_size);
}

bool writer_pages_close(struct writer_pages *pages)
{
    uint8_t header[HEADER_SIZE];
    if (pages->buffer && pages->error == 0 && flush(pages) && read_header(pages, header)) {
        uint32_t counter = writer_get32(header + HEADER_CHANGE_COUNTER) + 1;
        writer_put32(header + HEADER_CHANGE_COUNTER, counter);
        writer_put32(header + HEADER_PAGES, pages->count);
        writer_put32(header + HEADER_VALID_FOR, counter);
        write_all(pages, header, HEADER_SIZE, 0);
    }
    free(pages->buffer);
    pages->buffer = NULL;
    return pages->error == 0;
}

uint8_t *writer_put_varint(uint8_t *at, uint64_t value)
{
    uint8_t groups[9];
    unsigned count = 0;
    if (value >> 56 != 0) { /* nine bytes, of which the last one holds eight bits */
        groups[count++] = (uint8_t)value;
        for (value >>= 8; count < 9; value >>= 7)
            groups[count++] = (uint8_t)(value | 0x80);
    } else {
        groups[count++] = (uint8_t)(value & 0x7f);
        for (value >>= 7; value != 0; value >>= 7)
            groups[count++] = (uint8_t)(value | 0x80);
    }
    while (count > 0)
        *at++ = groups[--count];
    return at;
}

/* ---- btree --------------------------------------------------------------------------------- */

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
        writer_pages_fail(tree->pages, EFBIG);
        return NULL;
    }
    struct writer_btree_level *level = &tree->level[at];
    level->page = malloc(tree->pages->page_size);
    if (!level->page) {
        writer_pages_fail(tree->pages, ENOMEM);
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

/* Adds `child`, a complete page of the level below, with the separator after it: the varint of its
 * last row, or the index entry between it and the next page. */
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
        writer_pages_fail(tree->pages, ENOMEM);
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
        return writer_pages_fail(tree->pages, EINVAL);
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
