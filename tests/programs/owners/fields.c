/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members and variables of a C program that get a block, each in a function of its own. `owner
 * FUNCTION: NAME` says who owns what that function allocates; a - stands for nobody. The script
 * owners.sh reads these lines.
 */
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

struct row {
    int first, second;
};
struct buffer {
    char *bytes;
    size_t used, room;
};
struct page {
    struct row *rows;
    char *title;
    unsigned count;
    struct {
        char *data;
        size_t length;
    } raw;
    struct page *next;
};
struct book {
    struct buffer in, out;
    struct page *pages[4];
    struct page *first;
    void *private_data;
};

struct page *current_page;
char *current_name;
static struct book library;
static struct buffer buffers[4];
volatile unsigned long one = 1;

static NOINLINE void *take(size_t size)
{
    void *block = malloc(size);
    if (!block)
        exit(1);
    return block;
}
static NOINLINE void *take_more(void *old, size_t size)
{
    void *block = realloc(old, size);
    if (!block)
        exit(1);
    return block;
}
static NOINLINE void grow_rows(struct page *page) /* owner grow_rows: page::rows */
{
    page->rows = realloc(page->rows, 100 * sizeof *page->rows);
}
static NOINLINE void grow_or_leave(struct page *page) /* owner grow_or_leave: page::rows */
{
    struct row *rows = realloc(page->rows, 200 * sizeof *rows);
    if (!rows)
        return;
    page->rows = rows;
    page->count = 200;
}
static NOINLINE void set_title(struct page *page) /* owner set_title: page::title */
{
    free(page->title);
    page->title = strdup("a title");
}
static NOINLINE void set_title_late(struct page *page) /* owner set_title_late: page::title */
{
    char *title = malloc(30 * one);
    if (!title)
        return;
    strcpy(title, "x");
    free(page->title);
    page->title = title;
}
static NOINLINE void make_current(void) /* owner make_current: current_page */
{
    current_page = calloc(one, sizeof *current_page);
}
static NOINLINE void name_current(void) /* owner name_current: current_name */
{
    current_name = malloc(33 * one);
}
static NOINLINE void open_in(struct book *book) /* owner open_in: buffer::bytes */
{
    book->in.bytes = malloc(64 * one);
    book->in.room = 64;
}
static NOINLINE void open_out(struct book *book) /* owner open_out: buffer::bytes */
{
    book->out.bytes = take(65 * one);
}
static NOINLINE void append(struct buffer *buffer) /* owner append: buffer::bytes */
{
    if (buffer->used + 50 > buffer->room) {
        buffer->room = buffer->room ? 2 * buffer->room : 64;
        buffer->bytes = take_more(buffer->bytes, buffer->room);
    }
    buffer->used += 50;
}
static NOINLINE void open_one_of(unsigned long i) /* owner open_one_of: buffer::bytes */
{
    buffers[i].bytes = malloc(78 * one);
    buffers[i].used = 0;
}
static NOINLINE void read_raw(struct page *page) /* owner read_raw: page::raw */
{
    page->raw.data = malloc(99 * one);
    page->raw.length = 99;
}
static NOINLINE void add_private(struct book *book) /* owner add_private: book::private_data */
{
    book->private_data = malloc(81 * one);
}
static NOINLINE void open_library(void) /* owner open_library: buffer::bytes */
{
    library.in.bytes = malloc(77 * one);
}
static NOINLINE char *cached(void) /* owner cached: cache */
{
    static char *cache;
    if (!cache)
        cache = malloc(80 * one);
    return cache;
}
static NOINLINE struct page *new_page(void)
{
    struct page *page = take(sizeof *page);
    memset(page, 0, sizeof *page);
    return page;
}
static NOINLINE void add_page(struct book *book) /* owner add_page: book::first */
{
    struct page *page = new_page();
    page->next = book->first;
    book->first = page;
}
static NOINLINE int work_apart(void) /* owner work_apart: - */
{
    volatile char *work = malloc(82 * one);
    work[0] = 1;
    const int result = work[0];
    free((void *)work);
    return result;
}
static NOINLINE void give(struct page **page) /* owner give: - */
{
    *page = malloc(sizeof **page * one);
}

/* Numbers in front of an index, a union, the end of a list, and records that the compiler may
 * divide, one of them without a name. */
struct list {
    struct list *next;
    long number;
};
struct desk {
    struct list *head, **tail;
    struct {
        char *key;
        int *values;
    } table[8];
    union {
        char *text;
        long number;
    } either;
};
static struct {
    struct list *unused;
    int *ids;
} pool;
static struct desk desk, only_text;

static NOINLINE void set_key(struct desk *at, int i) /* owner set_key: desk::table */
{
    at->table[i].key = malloc(34 * one);
}
static NOINLINE void set_values(struct desk *at, int i) /* owner set_values: desk::table */
{
    at->table[i].values = malloc(7 * sizeof(int) * one);
}
static NOINLINE void set_either(struct desk *at) /* owner set_either: desk::either */
{
    at->either.text = strdup("either");
}
static NOINLINE void at_end(struct desk *at) /* owner at_end: - */
{
    struct list *made = malloc(sizeof *made);
    if (!made)
        return;
    made->next = NULL;
    *at->tail = made;
    at->tail = &made->next;
}
static NOINLINE void give_back(void) /* owner give_back: pool */
{
    struct list *made = malloc(sizeof *made);
    made->next = pool.unused;
    pool.unused = made;
}
static NOINLINE void make_ids(void) /* owner make_ids: pool */
{
    if (!pool.ids)
        pool.ids = calloc(30 * one, sizeof *pool.ids);
}
static NOINLINE void set_only_text(void) /* owner set_only_text: desk::either */
{
    only_text.either.text = strdup("only");
}

int main(void)
{
    struct page page = {0}, *given;
    struct buffer buffer = {0};
    struct book *book = take(sizeof *book);
    memset(book, 0, sizeof *book);
    grow_rows(&page);
    grow_or_leave(&page);
    set_title(&page);
    set_title_late(&page);
    make_current();
    name_current();
    open_in(book);
    open_out(book);
    append(&buffer);
    append(&buffer);
    open_one_of(one);
    read_raw(&page);
    add_private(book);
    open_library();
    cached()[0] = 1;
    add_page(book);
    work_apart();
    give(&given);
    desk.tail = &desk.head;
    set_key(&desk, (int)one % 8);
    set_values(&desk, (int)one % 8);
    set_either(&desk);
    at_end(&desk);
    give_back();
    make_ids();
    set_only_text();
    one = (unsigned long)(library.in.bytes + (size_t)buffers[1].bytes) +
          (unsigned long)pool.ids[0] + (pool.unused != desk.head) +
          (unsigned long)only_text.either.text[0];
    free(given);
    return 0;
}
