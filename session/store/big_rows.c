/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/big_rows.h"
#include "schemas/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- page file ---- */

/* Places in the header of the file. */
enum { HEADER_SIZE = 100, HEADER_PAGE_SIZE = 16, HEADER_RESERVED = 20, USABLE_LEAST = 480 };

static bool read_header(struct page_file *file)
{
    uint8_t header[HEADER_SIZE];
    struct stat about;
    if (fstat(file->descriptor, &about) != 0 ||
        pread(file->descriptor, header, sizeof(header), 0) != sizeof(header))
        return false;
    const uint32_t size = page_get16(header + HEADER_PAGE_SIZE);
    file->page_size = size == 1 ? 65536 : size;
    if (file->page_size < 512 || (file->page_size & (file->page_size - 1)) != 0)
        return false;
    file->usable = file->page_size - header[HEADER_RESERVED];
    const uint64_t pages = (uint64_t)about.st_size / file->page_size;
    file->pages = pages > UINT32_MAX ? UINT32_MAX : (uint32_t)pages;
    return file->usable >= USABLE_LEAST;
}

bool page_file_open(struct page_file *file, const char *path)
{
    *file = (struct page_file){.descriptor = open(path, O_RDONLY | O_CLOEXEC)};
    if (file->descriptor >= 0 && read_header(file))
        return true;
    page_file_close(file);
    return false;
}

void page_file_close(struct page_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}

bool page_file_read(const struct page_file *file, uint32_t number, uint32_t count, uint8_t *pages)
{
    const size_t length = (size_t)count * file->page_size;
    ssize_t n;
    if (number == 0 || number > file->pages || count > file->pages - number + 1)
        return false;
    do {
        n = pread(file->descriptor, pages, length, (off_t)(number - 1) * file->page_size);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)length;
}

const uint8_t *page_long_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    uint64_t read = 0;
    for (int i = 0; at < end && i < 9; i++) {
        const uint8_t byte = *at++;
        read = i == 8 ? read << 8 | byte : read << 7 | (byte & 0x7f);
        if (i == 8 || (byte & 0x80) == 0) {
            *value = read;
            return at;
        }
    }
    return NULL;
}

/* Overflow pages read by one system call. Each needs two places: its next pointer, its part. */
enum { RUN_PAGES = 128 };

struct leaf_place {
    uint64_t last; /* id of its last row, or a larger one before the next leaf; UINT64_MAX: none */
    uint32_t page;
};

struct big_rows {
    struct page_file file;
    struct leaf_place *leaves; /* by id */
    size_t count, capacity;
};

/* Adds a page of the level that is read, with the last id that may lie in it. */
static bool add_leaf(struct big_rows *rows, uint32_t page, uint64_t last)
{
    /* Ids ascend and pages are in the file, so a tree that lies in circles comes to an end. */
    if (page == 0 || page > rows->file.pages || rows->count >= rows->file.pages ||
        (rows->count > 0 && last <= rows->leaves[rows->count - 1].last))
        return false;
    if (!ARRAY_GROW(rows->leaves, rows->count, rows->capacity))
        return false;
    rows->leaves[rows->count++] = (struct leaf_place){last, page};
    return true;
}

/* Adds the children of an interior page, whose own last id is `last`. */
static bool add_children(struct big_rows *rows, const uint8_t *page, uint64_t last)
{
    const uint32_t cells = page_get16(page + PAGE_CELLS);
    for (uint32_t i = 0; i < cells; i++) {
        const uint8_t *cell = page_cell(&rows->file, page, PAGE_INTERIOR_HEADER, i);
        uint64_t id;
        if (!cell || cell + 4 >= page + rows->file.usable ||
            !page_varint(cell + 4, page + rows->file.usable, &id) || id >= last ||
            !add_leaf(rows, page_get32(cell), id))
            return false;
    }
    return add_leaf(rows, page_get32(page + PAGE_RIGHT_CHILD), last);
}

/* Replaces the pages of one level by those of the level below. */
static bool descend(struct big_rows *rows, uint8_t *page)
{
    struct leaf_place *above = rows->leaves;
    const size_t count = rows->count;
    bool good = true;
    rows->leaves = NULL;
    rows->count = rows->capacity = 0;
    for (size_t i = 0; good && i < count; i++)
        good = page_file_read(&rows->file, above[i].page, 1, page) &&
               page[0] == PAGE_TABLE_INTERIOR && add_children(rows, page, above[i].last);
    free(above);
    return good;
}

/* Finds all leaves. They all lie at the same depth, which the first one shows. */
static bool find_leaves(struct big_rows *rows, uint32_t root)
{
    uint8_t *page = malloc(rows->file.page_size);
    bool good = page && add_leaf(rows, root, UINT64_MAX);
    for (int level = 0; good && level < PAGE_LEVELS_MAX; level++) {
        good = rows->leaves && page_file_read(&rows->file, rows->leaves[0].page, 1, page);
        if (!good || page[0] == PAGE_TABLE_LEAF)
            break;
        good = level + 1 < PAGE_LEVELS_MAX && descend(rows, page);
    }
    free(page);
    return good;
}

struct big_rows *big_rows_open(const char *path, uint32_t root)
{
    struct big_rows *rows = calloc(1, sizeof(*rows));
    if (!rows)
        return NULL;
    /* Page 1 begins with the file's header and is the root of another table. */
    if (!page_file_open(&rows->file, path) || root < 2 || !find_leaves(rows, root)) {
        big_rows_close(rows);
        return NULL;
    }
    /* Runs are read as a whole: reading ahead would read other columns. */
    posix_fadvise(rows->file.descriptor, 0, 0, POSIX_FADV_RANDOM);
    return rows;
}

void big_rows_close(struct big_rows *rows)
{
    if (!rows)
        return;
    page_file_close(&rows->file);
    FREE_ALL(rows->leaves, rows);
}

static bool load_leaf(const struct big_rows *rows, struct big_rows_leaf *leaf, uint32_t number,
                      uint64_t *bytes)
{
    if (leaf->number == number)
        return true;
    leaf->number = 0;
    if (!leaf->page)
        leaf->page = malloc(rows->file.page_size);
    if (!leaf->page || !page_file_read(&rows->file, number, 1, leaf->page) ||
        leaf->page[0] != PAGE_TABLE_LEAF)
        return false;
    *bytes += rows->file.page_size;
    leaf->number = number;
    return true;
}

struct cell {
    const uint8_t *record; /* `local` bytes, then the number of the first overflow page if `rest` */
    uint64_t id;
    size_t local, rest;
};

/* Returns the bytes of a record that lie in its leaf. The rest goes to overflow pages. */
static size_t local_length(size_t usable, uint64_t length)
{
    const size_t most = usable - 35, least = (usable - 12) * 32 / 255 - 23;
    if (length <= most)
        return (size_t)length;
    const size_t fitting = least + (size_t)(length - least) % (usable - 4);
    return fitting <= most ? fitting : least;
}

static bool read_cell(const struct big_rows *rows, const uint8_t *page, uint32_t i,
                      struct cell *cell)
{
    const uint8_t *end = page + rows->file.usable;
    const uint8_t *at = page_cell(&rows->file, page, PAGE_LEAF_HEADER, i);
    uint64_t length;
    if (!at || !(at = page_varint(at, end, &length)) || !(at = page_varint(at, end, &cell->id)) ||
        length > INT32_MAX)
        return false;
    cell->record = at;
    cell->local = local_length(rows->file.usable, length);
    cell->rest = (size_t)length - cell->local;
    return cell->local + (cell->rest > 0 ? 4 : 0) <= (size_t)(end - at);
}

static bool find_cell(const struct big_rows *rows, const uint8_t *page, uint64_t id,
                      struct cell *cell)
{
    uint32_t low = 0, high = page_get16(page + PAGE_CELLS);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (!read_cell(rows, page, middle, cell))
            return false;
        if (cell->id == id)
            return true;
        if (cell->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Checks that the record holds NULL for the id, these numbers, and a blob of `length` bytes.
 * Returns the place of the blob in the record, 0 if it is another record. */
static size_t check_record(const struct cell *cell, const int64_t *numbers, size_t length)
{
    const uint8_t *end = cell->record + cell->local;
    uint64_t header, type;
    const uint8_t *at = page_varint(cell->record, end, &header);
    if (!at || header > cell->local || !(at = page_varint(at, end, &type)) || type != 0)
        return 0;
    const uint8_t *value = cell->record + header;
    for (int i = 0; i < BIG_ROW_NUMBERS; i++) {
        if (!(at = page_varint(at, end, &type)))
            return 0;
        const int size = page_number_size(type);
        if (size < 0 || size > end - value || page_number(value, type, size) != numbers[i])
            return 0;
        value += size;
    }
    const size_t place = (size_t)(value - cell->record);
    if (!page_varint(at, end, &type) || type != (uint64_t)length * 2 + 12 ||
        place + length != cell->local + cell->rest)
        return 0;
    return place;
}

/* Reads `count` pages of a chain, `length` bytes, if they form one run. Stores the next page. */
static bool read_run(const struct big_rows *rows, uint32_t first, uint32_t count, uint8_t *data,
                     size_t length, uint32_t *next)
{
    struct iovec parts[RUN_PAGES * 2];
    uint8_t pointers[RUN_PAGES][4] = {{0}};
    const size_t room = rows->file.usable - 4, unused = rows->file.page_size - rows->file.usable;
    uint8_t reserved[256];
    size_t used = 0, total = 0;
    for (uint32_t i = 0; i < count; i++) {
        const size_t part = length < room ? length : room;
        parts[used++] = (struct iovec){pointers[i], 4};
        parts[used++] = (struct iovec){data, part};
        total += 4 + part;
        data += part;
        length -= part;
        if (unused > 0 && i + 1 < count) {
            parts[used++] = (struct iovec){reserved, unused};
            total += unused;
        }
    }
    ssize_t n;
    do {
        n = preadv(rows->file.descriptor, parts, (int)used,
                   (off_t)(first - 1) * rows->file.page_size);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)total)
        return false;
    for (uint32_t i = 0; i + 1 < count; i++)
        if (page_get32(pointers[i]) != first + i + 1)
            return false;
    *next = page_get32(pointers[count - 1]);
    return true;
}

static bool read_chain(const struct big_rows *rows, uint32_t page, uint8_t *data, size_t length,
                       uint64_t *bytes)
{
    const size_t room = rows->file.usable - 4;
    const uint32_t most = rows->file.usable == rows->file.page_size ? RUN_PAGES : RUN_PAGES / 2;
    while (length > 0) {
        const size_t wanted = (length + room - 1) / room;
        const uint32_t count = wanted < most ? (uint32_t)wanted : most;
        const size_t here = length < count * room ? length : count * room;
        if (page == 0 || page > rows->file.pages || count > rows->file.pages - page + 1 ||
            !read_run(rows, page, count, data, here, &page))
            return false;
        *bytes += here;
        data += here;
        length -= here;
    }
    return page == 0;
}

/* Returns the number of the leaf that may hold the row, 0 if none can. */
static uint32_t find_leaf(const struct big_rows *rows, uint64_t id)
{
    size_t low = 0;
    ARRAY_BISECT(low, rows->count, rows->leaves[middle].last < id);
    return low == rows->count ? 0 : rows->leaves[low].page;
}

bool big_rows_read(const struct big_rows *rows, struct big_rows_leaf *leaf, uint64_t id,
                   const int64_t numbers[BIG_ROW_NUMBERS], uint8_t *data, size_t length,
                   uint64_t *bytes)
{
    struct cell cell;
    const uint32_t number = find_leaf(rows, id);
    if (number == 0 || !load_leaf(rows, leaf, number, bytes) ||
        !find_cell(rows, leaf->page, id, &cell))
        return false;
    const size_t place = check_record(&cell, numbers, length);
    if (place == 0 || place > cell.local)
        return false;
    const size_t local = cell.local - place;
    memcpy(data, cell.record + place, local);
    return cell.rest == 0 ||
           read_chain(rows, page_get32(cell.record + cell.local), data + local, cell.rest, bytes);
}
