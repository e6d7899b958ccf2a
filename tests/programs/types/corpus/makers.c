/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that make blocks for others: factories, wrappers, pools, tagged objects, unions. */
#include "corpus.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct point {
    int x, y, z;
};
struct pair {
    long left, right;
};
struct node {
    struct node *next;
    long key;
    double value;
};

/* ---- wrappers ---------------------------------------------------------------------------- */

APART static void *must(size_t size)
{
    void *block = malloc(size);
    if (block == NULL)
        abort();
    return block;
}
static inline void *must_inline(size_t size)
{
    void *block = malloc(size);
    if (block == NULL)
        abort();
    return block;
}
APART static void *must_twice(size_t size)
{
    return must(size + 0 * corpus_one);
}
APART static void *must_clear(size_t size)
{
    return memset(must(size), 0, size);
}
APART static void *must_grow(void *block, size_t size)
{
    void *grown = realloc(block, size);
    if (grown == NULL)
        abort();
    return grown;
}
APART static void *must_array(size_t count, size_t size)
{
    if (count > SIZE_MAX / size)
        abort();
    return must(count * size);
}
APART static void *counting(size_t size)
{
    size_t *header = malloc(size + 2 * sizeof *header);
    if (header == NULL)
        return NULL;
    header[0] = size;
    return header + 2;
}
APART static char *must_copy(const char *text)
{
    size_t length = strlen(text) + 1;
    return memcpy(must(length), text, length);
}

CASE(wrapped)
{
    struct point *point = must(sizeof *point);
    point->x = 1;
    KNOWN(point, "point", 1);
}
CASE(wrapped_inline)
{
    struct node *node = must_inline(sizeof *node);
    node->key = 1;
    KNOWN(node, "node", 1);
}
CASE(wrapped_twice)
{
    struct pair *pair = must_twice(sizeof *pair);
    pair->left = 1;
    KNOWN(pair, "pair", 1);
}
CASE(wrapped_and_cleared)
{
    struct node *node = must_clear(sizeof *node);
    node->key = 2;
    KNOWN(node, "node", 1);
}
CASE(wrapped_and_grown)
{
    struct pair *pairs = must_grow(NULL, corpus_few * sizeof *pairs);
    pairs[0].left = 1;
    pairs = must_grow(pairs, corpus_few * 50 * sizeof *pairs);
    KNOWN(pairs, "pair", 250);
}
CASE(wrapped_array)
{
    struct point *points = must_array(corpus_few, sizeof *points);
    points[0].x = 1;
    KNOWN(points, "point", 5);
}
CASE(wrapped_with_header)
{
    struct point *points = counting(corpus_few * sizeof *points);
    points[0].x = 1;
    KNOWN(points, "point", 5);
}
CASE(wrapped_copy)
{
    KNOWN(must_copy("a text"), "buffer", 7);
}

/* One maker for two types: the caller decides which, not the maker. */
CASE(wrapped_for_two)
{
    struct pair *pair = must(sizeof *pair);
    pair->left = 1;
    long *numbers = must(2 * sizeof *numbers);
    numbers[0] = 1;
    KNOWN(pair, "pair", 1);
    KNOWN(numbers, "long", 2);
}

/* ---- factories --------------------------------------------------------------------------- */

APART static struct node *new_node(struct node *next)
{
    struct node *node = malloc(sizeof *node);
    node->next = next;
    node->key = 3;
    return node;
}
APART static struct node *new_node_plain(void)
{
    return malloc(sizeof(struct node));
}
APART static void *new_handle(void)
{
    struct node *node = malloc(sizeof *node);
    node->next = NULL;
    node->key = 4;
    return node;
}
APART static int new_by_address(struct node **made)
{
    *made = malloc(sizeof **made);
    return *made != NULL;
}
CASE(factory)
{
    KNOWN(new_node(new_node(NULL)), "node", 1);
}
CASE(factory_plain)
{
    KNOWN(new_node_plain(), "node", 1);
}
CASE(factory_of_handles)
{
    KNOWN(new_handle(), "node", 1);
}
CASE(factory_by_address)
{
    struct node *node;
    if (new_by_address(&node))
        KNOWN(node, "node", 1);
}

/* Objects of several kinds with the same first members. */
struct object {
    struct object *next;
    long kind;
};
struct number_object {
    struct object head;
    double value, error;
};
struct text_object {
    struct object head;
    char text[48];
};
APART static struct object *new_object(size_t size, long kind)
{
    struct object *object = malloc(size);
    object->next = NULL;
    object->kind = kind;
    return object;
}
CASE(objects_with_a_head)
{
    struct number_object *number = (struct number_object *)new_object(sizeof *number, 1);
    number->value = 1;
    struct text_object *text = (struct text_object *)new_object(sizeof *text, 2);
    text->text[0] = 'x';
    IS(number, "number_object", 1);
    IS(text, "text_object", 1);
}

/* One call, used for either type. */
struct square {
    long kind;
    double side;
    long marks[2];
};
struct circle {
    long kind;
    double radius, x, y;
};
CASE(one_call_for_two_kinds)
{
    for (unsigned long kind = 0; kind < 2 * corpus_one; kind++) {
        void *shape = malloc(32);
        if (kind == corpus_one) {
            struct square *square = shape;
            square->kind = 1;
            square->marks[1] = 4;
        } else {
            struct circle *circle = shape;
            circle->kind = 2;
            circle->y = 3;
        }
        IS(shape, kind == corpus_one ? "square" : "circle", 1);
    }
}
CASE(one_call_in_two_arms)
{
    for (unsigned long kind = 0; kind < 2 * corpus_one; kind++) {
        void *made;
        if (kind == corpus_one) {
            struct square *square = malloc(sizeof *square);
            square->kind = 1;
            made = square;
        } else {
            struct circle *circle = malloc(sizeof *circle);
            circle->kind = 2;
            made = circle;
        }
        IS(made, kind == corpus_one ? "square" : "circle", 1);
    }
}
CASE(one_call_by_a_choice)
{
    for (unsigned long kind = 0; kind < 2 * corpus_one; kind++) {
        void *made = kind == corpus_one ? (void *)(struct square *)malloc(sizeof(struct square))
                                        : (void *)(struct circle *)malloc(sizeof(struct circle));
        memset(made, 0, 32);
        IS(made, kind == corpus_one ? "square" : "circle", 1);
    }
}

/* ---- functions that compilers fold ------------------------------------------------------- */

struct apple {
    long weight;
    struct apple *next;
};
struct brick {
    long weight;
    struct brick *next;
};
APART static struct apple *new_apple(long weight)
{
    struct apple *made = malloc(sizeof *made);
    made->weight = weight;
    made->next = NULL;
    return made;
}
APART static struct brick *new_brick(long weight)
{
    struct brick *made = malloc(sizeof *made);
    made->weight = weight;
    made->next = NULL;
    return made;
}
CASE(folded_factories)
{
    IS(new_apple(3), "apple", 1);
    IS(new_brick(4), "brick", 1);
}
struct fork {
    struct fork *next;
    int prongs, length;
};
struct knife {
    struct knife *next;
    int edge, length;
};
static struct fork *forks;
static struct knife *knives;
APART static void grow_forks(struct fork **forks_at, size_t count)
{
    *forks_at = realloc(*forks_at, count * sizeof **forks_at);
}
APART static void grow_knives(struct knife **knives_at, size_t count)
{
    *knives_at = realloc(*knives_at, count * sizeof **knives_at);
}
CASE(folded_growth)
{
    grow_forks(&forks, corpus_few);
    grow_knives(&knives, corpus_few);
    IS(forks, "fork", 5);
    IS(knives, "knife", 5);
}

/* ---- pools ------------------------------------------------------------------------------- */

struct pool {
    char *free, *end;
    void *block;
};
static struct pool pool;
APART static void *take(size_t size)
{
    if (pool.block == NULL || pool.free + size > pool.end) {
        pool.block = malloc(65536);
        pool.free = pool.block;
        pool.end = pool.free + 65536;
        MADE_KNOWN("buffer", 65536);
    }
    void *taken = pool.free;
    pool.free += size;
    return taken;
}
CASE(pool_of_bytes)
{
    struct node *node = take(sizeof *node);
    node->key = 1;
    struct point *point = take(sizeof *point);
    point->x = 1;
    KEEP(node);
    KEEP(point);
}

static char *chunk, *chunk_end;
static inline void *take_inline(size_t size)
{
    if (chunk == NULL || chunk + size > chunk_end) {
        chunk = malloc(4096);
        chunk_end = chunk + 4096;
        MADE_KNOWN("buffer", 4096);
    }
    void *taken = chunk;
    chunk += size;
    return taken;
}
CASE(pool_of_bytes_inline)
{
    struct node *node = take_inline(sizeof *node);
    node->key = 1;
    node->next = NULL;
    KEEP(node);
}

/* The function that makes the block also places the first object. */
struct region {
    void *block;
    size_t used, size;
};
static struct region region;
APART static struct pair *first_of_region(void)
{
    void *block = malloc(65536);
    region.block = block;
    region.size = 65536;
    region.used = sizeof(struct pair);
    struct pair *pair = block;
    pair->left = 1;
    pair->right = 2;
    return pair;
}
CASE(pool_with_its_first_object)
{
    KNOWN(first_of_region(), "buffer", 65536);
}

APART static struct pair *first_of_bytes(void)
{
    unsigned char *block = malloc(8192);
    region.block = block;
    struct pair *pair = (struct pair *)block;
    pair->left = 1;
    return pair;
}
CASE(bytes_with_a_first_object)
{
    KNOWN(first_of_bytes(), "buffer|unsigned char", 8192);
}

/* A pool of one kind is an array of that kind. */
struct node_pool {
    struct node *free;
    struct node *blocks[8];
    size_t count;
};
static struct node_pool nodes;
APART static struct node *take_node(void)
{
    if (nodes.free == NULL) {
        struct node *block = malloc(64 * sizeof *block);
        for (int i = 0; i < 63; i++)
            block[i].next = &block[i + 1];
        block[63].next = NULL;
        nodes.blocks[nodes.count++] = block;
        nodes.free = block;
        KNOWN(block, "node", 64);
    }
    struct node *taken = nodes.free;
    nodes.free = taken->next;
    return taken;
}
CASE(pool_of_one_kind)
{
    KEEP(take_node());
    KEEP(take_node());
}

/* A chunk that begins with its own header. */
struct chunk_header {
    struct chunk_header *next;
    char *free, *end;
};
static struct chunk_header *chunks;
APART static void *from_chunk(size_t size)
{
    if (chunks == NULL || chunks->free + size > chunks->end) {
        struct chunk_header *made = malloc(sizeof *made + 4000);
        made->next = chunks;
        made->free = (char *)(made + 1);
        made->end = made->free + 4000;
        chunks = made;
        KNOWN(made, "chunk_header", 1);
    }
    void *taken = chunks->free;
    chunks->free += size;
    return taken;
}
CASE(chunk_with_a_header)
{
    struct pair *pair = from_chunk(sizeof *pair);
    pair->left = 1;
    KEEP(pair);
}

/* ---- unions ------------------------------------------------------------------------------ */

union value {
    long integer;
    double number;
    char text[24];
};
union place {
    struct point *points;
    struct pair *pairs;
    char *text;
};
struct tagged {
    int kind;
    union place at;
};
CASE(array_of_unions)
{
    union value *values = malloc(corpus_few * sizeof *values);
    values[0].integer = 1;
    KNOWN(values, "value", 5);
}
CASE(member_of_a_union)
{
    struct tagged tagged[3];
    tagged[0].at.points = malloc(4 * sizeof *tagged[0].at.points);
    tagged[1].at.pairs = malloc(3 * sizeof *tagged[1].at.pairs);
    tagged[2].at.text = malloc(48);
    tagged[0].at.points[0].x = 1;
    tagged[1].at.pairs[0].left = 1;
    tagged[2].at.text[0] = 'x';
    KEEP(tagged);
    IS(tagged[0].at.points, "point", 4);
    IS(tagged[1].at.pairs, "pair", 3);
    IS(tagged[2].at.text, "buffer", 48);
}
CASE(record_with_a_union)
{
    struct tagged *tagged = calloc(corpus_few, sizeof *tagged);
    tagged[1].kind = 2;
    KNOWN(tagged, "tagged", 5);
}
