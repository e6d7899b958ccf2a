/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays, records, and records with bytes after them, as C programs allocate them. */
#include "corpus.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

struct point {
    int x, y, z;
};
struct pair {
    long left, right;
};
typedef struct item {
    struct item *next;
    char *name;
    int number;
} item_t;
struct table {
    item_t **slots;
    struct point *points;
    double *weights;
    size_t count;
};

CASE(one_record)
{
    struct point *point = malloc(sizeof *point);
    point->x = 1;
    KNOWN(point, "point", 1);
}

CASE(one_record_cleared)
{
    struct pair *pair = calloc(1, sizeof *pair);
    pair->right = 3;
    KNOWN(pair, "pair", 1);
}

CASE(records)
{
    size_t count = corpus_few;
    struct point *points = malloc(count * sizeof *points);
    for (size_t i = 0; i < count; i++)
        points[i].y = (int)i;
    KNOWN(points, "point", count);
}

CASE(records_cleared)
{
    size_t count = corpus_few;
    struct pair *pairs = calloc(count, sizeof(struct pair));
    pairs[1].left = 2;
    KNOWN(pairs, "pair", count);
}

CASE(integers)
{
    size_t count = corpus_few;
    int *numbers = malloc(count * sizeof(int));
    for (size_t i = 0; i < count; i++)
        numbers[i] = (int)(i * i);
    KNOWN(numbers, "int", count);
}

CASE(wide_integers)
{
    size_t count = corpus_few;
    uint64_t *numbers = calloc(count, sizeof *numbers);
    numbers[count - 1] = 7;
    KNOWN(numbers, "uint64_t|unsigned long", count);
}

CASE(doubles)
{
    size_t count = corpus_few;
    double *numbers = malloc(sizeof(double) * count);
    numbers[0] = 0.5;
    KNOWN(numbers, "double", count);
}

CASE(characters)
{
    char *text = malloc(40 + corpus_few);
    strcpy(text, "forty and some");
    KNOWN(text, "buffer", 45);
}

CASE(wide_characters)
{
    size_t count = corpus_few;
    wchar_t *text = malloc(count * sizeof *text);
    text[0] = L'x';
    KNOWN(text, "wchar_t|int", count);
}

CASE(unsigned_bytes)
{
    uint8_t *bytes = malloc(100);
    memset(bytes, 3, 100);
    KNOWN(bytes, "buffer|uint8_t|unsigned char", 100);
}

CASE(pointers)
{
    size_t count = corpus_few;
    item_t **items = malloc(count * sizeof *items);
    items[0] = NULL;
    KNOWN(items, "item_t *", count);
}

CASE(pointers_to_pointers)
{
    size_t count = corpus_few;
    int ***rows = calloc(count, sizeof *rows);
    rows[2] = NULL;
    KNOWN(rows, "int **", count);
}

CASE(functions)
{
    size_t count = corpus_few;
    void (**calls)(void) = malloc(count * sizeof *calls);
    calls[0] = NULL;
    IS(calls, "void (*)(void)|void (*)()", count);
}

CASE(matrix_of_rows)
{
    size_t count = corpus_few;
    double **rows = malloc(count * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        rows[i] = malloc(8 * sizeof **rows);
        rows[i][0] = (double)i;
        KNOWN(rows[i], "double", 8);
    }
    KNOWN(rows, "double *", count);
}

CASE(rows_of_fixed_length)
{
    size_t count = corpus_few;
    int(*rows)[4] = malloc(count * sizeof *rows);
    rows[1][2] = 5;
    IS(rows, "int|int[4]|int [4]", ANY_COUNT);
}

CASE(array_of_records_with_arrays)
{
    struct line {
        char text[60];
        int length;
    };
    size_t count = corpus_few;
    struct line *lines = malloc(count * sizeof *lines);
    lines[0].length = 0;
    KNOWN(lines, "line", count);
}

CASE(members_receive)
{
    static struct table table;
    table.count = corpus_few;
    table.slots = calloc(table.count, sizeof *table.slots);
    table.points = malloc(table.count * sizeof *table.points);
    table.weights = malloc(table.count * sizeof *table.weights);
    KNOWN(table.slots, "item_t *", table.count);
    KNOWN(table.points, "point", table.count);
    KNOWN(table.weights, "double", table.count);
}

CASE(members_of_a_new_record)
{
    struct table *table = malloc(sizeof *table);
    table->count = corpus_few;
    table->slots = malloc(table->count * sizeof(item_t *));
    table->points = calloc(table->count, sizeof(struct point));
    KNOWN(table, "table", 1);
    KNOWN(table->slots, "item_t *", corpus_few);
    KNOWN(table->points, "point", corpus_few);
}

static struct point *some_points;
CASE(global_receives)
{
    some_points = malloc(3 * sizeof *some_points);
    IS(some_points, "point", 3);
}

CASE(list_of_records)
{
    item_t *first = NULL;
    for (size_t i = 0; i < corpus_few; i++) {
        item_t *item = malloc(sizeof(item_t));
        item->next = first;
        item->number = (int)i;
        first = item;
        KNOWN(item, "item_t", 1);
    }
    KEEP(first);
}

CASE(name_of_an_item)
{
    item_t *item = calloc(1, sizeof(item_t));
    item->name = strdup("a name");
    KNOWN(item, "item_t", 1);
    KNOWN(item->name, "buffer", 7);
}

/* ---- grown ------------------------------------------------------------------------------- */

CASE(grown_records)
{
    size_t count = corpus_few;
    struct pair *pairs = malloc(count * sizeof *pairs);
    pairs[0].left = 1;
    KNOWN(pairs, "pair", count);
    pairs = realloc(pairs, 40 * count * sizeof *pairs);
    KNOWN(pairs, "pair", 40 * count);
}

CASE(grown_from_nothing)
{
    struct table table = {NULL, NULL, NULL, 0};
    for (size_t i = 0; i < corpus_few; i++) {
        table.points = realloc(table.points, (i + 1) * 30 * sizeof *table.points);
        table.points[i].x = 1;
        KNOWN(table.points, "point", (i + 1) * 30);
    }
}

CASE(grown_text)
{
    char *text = malloc(10);
    text[0] = 'x';
    KNOWN(text, "buffer", 10);
    text = realloc(text, 3000);
    text[2999] = 'y';
    KNOWN(text, "buffer", 3000);
}

CASE(grown_by_array)
{
    size_t count = corpus_few;
    struct pair *pairs = reallocarray(NULL, count, sizeof *pairs);
    pairs[0].left = 0;
    KNOWN(pairs, "pair", count);
}

CASE(grown_into_another_variable)
{
    size_t count = corpus_few;
    int *numbers = malloc(count * sizeof *numbers);
    numbers[0] = 3;
    int *more = realloc(numbers, count * 100 * sizeof *numbers);
    if (more == NULL)
        return;
    numbers = more;
    numbers[3] = 1;
    KNOWN(numbers, "int", 100 * count);
}

/* ---- records and what follows them ------------------------------------------------------- */

struct message {
    size_t length;
    char text[];
};
struct vector {
    size_t count;
    struct point points[];
};
struct old_message {
    struct old_message *next;
    int length;
    char text[1];
};
struct header {
    struct header *next;
    size_t size;
};

CASE(flexible_text)
{
    size_t length = 20 + corpus_few;
    struct message *message = malloc(sizeof *message + length);
    message->length = length;
    message->text[0] = '\0';
    KNOWN(message, "message", 1);
}

CASE(flexible_records)
{
    size_t count = corpus_few;
    struct vector *vector = malloc(sizeof *vector + count * sizeof vector->points[0]);
    vector->count = count;
    KNOWN(vector, "vector", 1);
}

CASE(flexible_by_offset)
{
    size_t count = corpus_few;
    struct vector *vector = malloc(offsetof(struct vector, points) + count * sizeof(struct point));
    vector->count = count;
    KNOWN(vector, "vector", 1);
}

CASE(one_character_for_many)
{
    size_t length = 30 + corpus_few;
    struct old_message *message = malloc(sizeof *message + length);
    message->next = NULL;
    message->length = (int)length;
    KNOWN(message, "old_message", 1);
}

CASE(payload_behind_a_record)
{
    size_t length = 100 + corpus_few;
    struct header *header = malloc(sizeof *header + length);
    header->next = NULL;
    header->size = length;
    memset(header + 1, 0, length);
    KNOWN(header, "header", 1);
}

struct hdr {
    unsigned length, room;
    unsigned char flags;
    char buf[];
};
APART static char *text_with_header(size_t n)
{
    struct hdr *h = malloc(sizeof *h + n);
    h->length = (unsigned)n;
    h->room = (unsigned)n;
    h->flags = 1;
    return h->buf;
}
CASE(text_with_header_in_front)
{
    char *text = text_with_header(30 + corpus_few);
    text[0] = 'x';
    KNOWN(text, "hdr", 1);
}

static inline char *text_with_header_inline(size_t n)
{
    struct hdr *h = malloc(sizeof *h + n);
    h->length = (unsigned)n;
    h->flags = 2;
    return h->buf;
}
CASE(text_with_header_in_front_inline)
{
    char *text = text_with_header_inline(40 + corpus_few);
    text[0] = 'y';
    KNOWN(text, "hdr", 1);
}

struct counted {
    long references;
    size_t length;
};
APART static void *counted_bytes(size_t length)
{
    struct counted *counted = malloc(sizeof *counted + length);
    counted->references = 1;
    counted->length = length;
    return counted + 1;
}
CASE(bytes_with_count_in_front)
{
    char *bytes = counted_bytes(50 + corpus_few);
    bytes[0] = 'x';
    /* A wrapper that puts a count first, or a counted record with bytes: both look like this. */
    IS(bytes, "counted|buffer", ANY_COUNT);
}

struct string {
    unsigned hash;
    unsigned length;
    char text[];
};
APART static const char *interned(const char *text)
{
    size_t length = strlen(text);
    struct string *string = malloc(sizeof(struct string) + length + 1);
    string->hash = 17;
    string->length = (unsigned)length;
    memcpy(string->text, text, length + 1);
    return string->text;
}
CASE(interned_text)
{
    KNOWN(interned("some text to keep"), "string", 1);
}

CASE(two_records_in_one_block)
{
    struct table *table = malloc(sizeof *table + corpus_few * sizeof(struct point));
    table->points = (struct point *)(table + 1);
    table->count = corpus_few;
    KNOWN(table, "table", 1);
}

CASE(text_behind_a_record)
{
    const char *name = "and its name";
    item_t *item = malloc(sizeof *item + strlen(name) + 1);
    item->name = (char *)(item + 1);
    strcpy(item->name, name);
    KNOWN(item, "item_t", 1);
}

/* ---- aligned ----------------------------------------------------------------------------- */

CASE(aligned_records)
{
    struct pair *pairs = aligned_alloc(64, 8 * sizeof *pairs);
    pairs[0].left = 1;
    KNOWN(pairs, "pair", 8);
}

CASE(aligned_through_memory)
{
    struct table *table;
    if (posix_memalign((void **)&table, 64, sizeof *table) != 0)
        return;
    table->count = 0;
    KNOWN(table, "table", 1);
}

/* ---- where it stands in the text --------------------------------------------------------- */

CASE(on_one_line)
{
    // clang-format off
    struct point *a = malloc(sizeof *a), *b = malloc(2 * sizeof *b); struct pair *c = malloc(sizeof *c);
    // clang-format on
    a->x = 1;
    b[1].x = 2;
    c->left = 3;
    KNOWN(a, "point", 1);
    KNOWN(b, "point", 2);
    KNOWN(c, "pair", 1);
}

CASE(on_many_lines)
{
    // clang-format off
    struct pair
        *pairs
        = malloc(
            corpus_few
            * sizeof
            *pairs
        );
    // clang-format on
    pairs[0].left = 1;
    KNOWN(pairs, "pair", 5);
}

static struct {
    struct pair *pair;
    struct point *point;
} both;
CASE(two_in_one_line_to_members)
{
    // clang-format off
    both.pair = malloc(sizeof *both.pair); both.point = malloc(sizeof *both.point);
    // clang-format on
    both.pair->left = 1;
    both.point->x = 1;
    KNOWN(both.pair, "pair", 1);
    KNOWN(both.point, "point", 1);
}

CASE(in_a_condition)
{
    struct pair *pair;
    if ((pair = malloc(sizeof *pair)) == NULL)
        return;
    pair->left = 1;
    KNOWN(pair, "pair", 1);
}

CASE(cast_to_its_type)
{
    item_t *item = (item_t *)malloc(32 - corpus_one + 1 - 8);
    item->number = 1;
    KNOWN(item, "item_t", 1);
}

#define NEW(type) ((type *)malloc(sizeof(type)))
#define NEW_ARRAY(type, count) ((type *)calloc(count, sizeof(type)))
CASE(by_macros)
{
    struct point *point = NEW(struct point);
    struct pair *pairs = NEW_ARRAY(struct pair, corpus_few);
    point->x = 1;
    pairs[0].left = 1;
    KNOWN(point, "point", 1);
    KNOWN(pairs, "pair", 5);
}

CASE(by_number_alone)
{
    struct pair *pair = malloc(16);
    pair->left = 3;
    pair->right = 4;
    KNOWN(pair, "pair", 1);
}

CASE(nothing_known)
{
    KEEP(malloc(100 + corpus_few));
    MADE("?", ANY_COUNT);
}
