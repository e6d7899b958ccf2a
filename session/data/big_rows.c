/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/big_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The file's header, and the header of a page. */
enum { HEADER_SIZE = 100, HEADER_PAGE_SIZE = 16, HEADER_RESERVED = 20 };
enum { PAGE_CELLS = 3, LEAF_HEADER = 8, INTERIOR_HEADER = 12, PAGE_RIGHT_CHILD = 8 };
enum { TABLE_INTERIOR = 5, TABLE_LEAF = 13 };

/* SQLite's own limit: no tree of 2^32 pages is higher. */
enum { LEVELS_MAX = 20 };

/* Overflow pages read by one system call. Each needs two places: its next pointer, its part. */
enum { RUN_PAGES = 128 };

struct leaf_place {
    uint64_t last; /* id of its last row, or a larger one before the next leaf; UINT64_MAX: none */
    uint32_t page;
};

struct big_rows {
    int descriptor;
    uint32_t page_size;
    uint32_t usable; /* bytes of a page that SQLite uses */
    uint32_t pages;
    struct leaf_place *leaves; /* by id */
    size_t count, capacity;
};

static uint32_t get16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t *at)
{
    return get16(at) << 16 | get16(at + 2);
}

/* Reads a varint that ends before `end`. Returns the place after it, NULL if there is none. */
static const uint8_t *get_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
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

static uint64_t page_offset(const struct big_rows *rows, uint32_t page)
{
    return (uint64_t)(page - 1) * rows->page_size;
}

static bool read_page(const struct big_rows *rows, uint32_t number, uint8_t *page)
{
    ssize_t n;
    if (number == 0 || number > rows->pages)
        return false;
    do {
        n = pread(rows->descriptor, page, rows->page_size, (off_t)page_offset(rows, number));
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)rows->page_size;
}

/* Returns the place of cell `i`, NULL if it does not lie in the page. */
static const uint8_t *cell_at(const struct big_rows *rows, const uint8_t *page, size_t header,
                              uint32_t i)
{
    const size_t pointer = header + (size_t)i * 2;
    if (pointer + 2 > rows->usable)
        return NULL;
    const uint32_t place = get16(page + pointer);
    return place < header || place >= rows->usable ? NULL : page + place;
}

/* Adds a page of the level that is read, with the last id that may lie in it. */
static bool add_leaf(struct big_rows *rows, uint32_t page, uint64_t last)
{
    /* Ids ascend and pages are in the file, so a tree that lies in circles comes to an end. */
    if (page == 0 || page > rows->pages || rows->count >= rows->pages ||
        (rows->count > 0 && last <= rows->leaves[rows->count - 1].last))
        return false;
    if (rows->count == rows->capacity) {
        const size_t capacity = rows->capacity == 0 ? 64 : rows->capacity * 2;
        struct leaf_place *leaves = realloc(rows->leaves, capacity * sizeof(*leaves));
        if (!leaves)
            return false;
        rows->leaves = leaves;
        rows->capacity = capacity;
    }
    rows->leaves[rows->count++] = (struct leaf_place){last, page};
    return true;
}

/* Adds the children of an interior page, whose own last id is `last`. */
static bool add_children(struct big_rows *rows, const uint8_t *page, uint64_t last)
{
    const uint32_t cells = get16(page + PAGE_CELLS);
    for (uint32_t i = 0; i < cells; i++) {
        const uint8_t *cell = cell_at(rows, page, INTERIOR_HEADER, i);
        uint64_t id;
        if (!cell || cell + 4 >= page + rows->usable ||
            !get_varint(cell + 4, page + rows->usable, &id) || id >= last ||
            !add_leaf(rows, get32(cell), id))
            return false;
    }
    return add_leaf(rows, get32(page + PAGE_RIGHT_CHILD), last);
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
        good = read_page(rows, above[i].page, page) && page[0] == TABLE_INTERIOR &&
               add_children(rows, page, above[i].last);
    free(above);
    return good;
}

/* Finds all leaves. They all lie at the same depth, which the first one shows. */
static bool find_leaves(struct big_rows *rows, uint32_t root)
{
    uint8_t *page = malloc(rows->page_size);
    bool good = page && add_leaf(rows, root, UINT64_MAX);
    for (int level = 0; good && level < LEVELS_MAX; level++) {
        good = read_page(rows, rows->leaves[0].page, page);
        if (!good || page[0] == TABLE_LEAF)
            break;
        good = level + 1 < LEVELS_MAX && descend(rows, page);
    }
    free(page);
    return good;
}

static bool read_header(struct big_rows *rows)
{
    uint8_t header[HEADER_SIZE];
    struct stat about;
    if (fstat(rows->descriptor, &about) != 0 ||
        pread(rows->descriptor, header, sizeof(header), 0) != sizeof(header))
        return false;
    const uint32_t size = get16(header + HEADER_PAGE_SIZE);
    rows->page_size = size == 1 ? 65536 : size;
    if (rows->page_size < 512 || (rows->page_size & (rows->page_size - 1)) != 0)
        return false;
    rows->usable = rows->page_size - header[HEADER_RESERVED];
    const uint64_t pages = (uint64_t)about.st_size / rows->page_size;
    rows->pages = pages > UINT32_MAX ? UINT32_MAX : (uint32_t)pages;
    return rows->usable >= 480;
}

struct big_rows *big_rows_open(const char *path, uint32_t root)
{
    struct big_rows *rows = calloc(1, sizeof(*rows));
    if (!rows)
        return NULL;
    rows->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    /* Page 1 begins with the file's header and is the root of another table. */
    if (rows->descriptor < 0 || root < 2 || !read_header(rows) || !find_leaves(rows, root)) {
        big_rows_close(rows);
        return NULL;
    }
    /* Runs are read as a whole: reading ahead would read other columns. */
    posix_fadvise(rows->descriptor, 0, 0, POSIX_FADV_RANDOM);
    return rows;
}

void big_rows_close(struct big_rows *rows)
{
    if (!rows)
        return;
    if (rows->descriptor >= 0)
        close(rows->descriptor);
    free(rows->leaves);
    free(rows);
}

static bool load_leaf(const struct big_rows *rows, struct big_rows_leaf *leaf, uint32_t number,
                      uint64_t *bytes)
{
    if (leaf->number == number)
        return true;
    leaf->number = 0;
    if (!leaf->page)
        leaf->page = malloc(rows->page_size);
    if (!leaf->page || !read_page(rows, number, leaf->page) || leaf->page[0] != TABLE_LEAF)
        return false;
    *bytes += rows->page_size;
    leaf->number = number;
    return true;
}

/* A row in its leaf. */
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
    const uint8_t *end = page + rows->usable;
    const uint8_t *at = cell_at(rows, page, LEAF_HEADER, i);
    uint64_t length;
    if (!at || !(at = get_varint(at, end, &length)) || !(at = get_varint(at, end, &cell->id)) ||
        length > INT32_MAX)
        return false;
    cell->record = at;
    cell->local = local_length(rows->usable, length);
    cell->rest = (size_t)length - cell->local;
    return cell->local + (cell->rest > 0 ? 4 : 0) <= (size_t)(end - at);
}

static bool find_cell(const struct big_rows *rows, const uint8_t *page, uint64_t id,
                      struct cell *cell)
{
    uint32_t low = 0, high = get16(page + PAGE_CELLS);
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

/* Returns the bytes of a number in a record, -1 if it is none. */
static int number_size(uint64_t type)
{
    static const int sizes[] = {-1, 1, 2, 3, 4, 6, 8, -1, 0, 0};
    return type < sizeof(sizes) / sizeof(*sizes) ? sizes[type] : -1;
}

static int64_t get_number(const uint8_t *at, uint64_t type, int size)
{
    if (size == 0)
        return type == 9;
    uint64_t value = (at[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (int i = 0; i < size; i++)
        value = value << 8 | at[i];
    return (int64_t)value;
}

/*
 * Checks that the record holds NULL for the id, these numbers, and a blob of `length` bytes.
 * Returns the place of the blob in the record, 0 if it is another record.
 */
static size_t check_record(const struct cell *cell, const int64_t *numbers, size_t length)
{
    const uint8_t *end = cell->record + cell->local;
    uint64_t header, type;
    const uint8_t *at = get_varint(cell->record, end, &header);
    if (!at || header > cell->local || !(at = get_varint(at, end, &type)) || type != 0)
        return 0;
    const uint8_t *value = cell->record + header;
    for (int i = 0; i < BIG_ROW_NUMBERS; i++) {
        if (!(at = get_varint(at, end, &type)))
            return 0;
        const int size = number_size(type);
        if (size < 0 || size > end - value || get_number(value, type, size) != numbers[i])
            return 0;
        value += size;
    }
    const size_t place = (size_t)(value - cell->record);
    if (!get_varint(at, end, &type) || type != (uint64_t)length * 2 + 12 ||
        place + length != cell->local + cell->rest)
        return 0;
    return place;
}

/* Reads `count` pages of a chain, `length` bytes, if they form one run. Stores the next page. */
static bool read_run(const struct big_rows *rows, uint32_t first, uint32_t count, uint8_t *data,
                     size_t length, uint32_t *next)
{
    struct iovec parts[RUN_PAGES * 2];
    uint8_t pointers[RUN_PAGES][4];
    const size_t room = rows->usable - 4, unused = rows->page_size - rows->usable;
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
        n = preadv(rows->descriptor, parts, (int)used, (off_t)page_offset(rows, first));
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)total)
        return false;
    for (uint32_t i = 0; i + 1 < count; i++)
        if (get32(pointers[i]) != first + i + 1)
            return false;
    *next = get32(pointers[count - 1]);
    return true;
}

static bool read_chain(const struct big_rows *rows, uint32_t page, uint8_t *data, size_t length,
                       uint64_t *bytes)
{
    const size_t room = rows->usable - 4;
    const uint32_t most = rows->usable == rows->page_size ? RUN_PAGES : RUN_PAGES / 2;
    while (length > 0) {
        const size_t wanted = (length + room - 1) / room;
        const uint32_t count = wanted < most ? (uint32_t)wanted : most;
        const size_t here = length < count * room ? length : count * room;
        if (page == 0 || page > rows->pages || count > rows->pages - page + 1 ||
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
    size_t low = 0, high = rows->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rows->leaves[middle].last < id)
            low = middle + 1;
        else
            high = middle;
    }
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
           read_chain(rows, get32(cell.record + cell.local), data + local, cell.rest, bytes);
}

bool big_rows_last(const struct big_rows *rows, uint64_t *id)
{
    struct big_rows_leaf leaf = {.page = NULL};
    struct cell cell;
    uint64_t bytes = 0;
    bool good = load_leaf(rows, &leaf, rows->leaves[rows->count - 1].page, &bytes);
    const uint32_t cells = good ? get16(leaf.page + PAGE_CELLS) : 0;
    *id = 0;
    if (cells > 0 && (good = read_cell(rows, leaf.page, cells - 1, &cell)))
        *id = cell.id;
    free(leaf.page);
    return good;
}
