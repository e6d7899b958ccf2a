/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways in which C programs receive an allocated block. */
#include "truth.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct point {
    int x, y, z;
};
typedef struct node {
    struct node *next;
    struct point at;
    char *name;
} node_t;
typedef struct {
    double weight;
    long id;
} nameless;
/* Names that programmers use: the typedef of a hidden tag, not that of another file's record. */
typedef struct _object {
    struct _object *next;
    int references;
} Object;
typedef struct tm moment;
struct message {
    size_t length;
    char text[];
};
struct base {
    int kind;
    int flags;
};
struct derived {
    struct base base;
    double value;
    long more[3];
};
struct table {
    node_t **buckets;
    struct point *corners;
    uint64_t *hashes;
    struct {
        nameless *items;
    } inner;
    struct table *sub[4];
};

static void *volatile sink;
struct point *global_point;
static struct table global_table;
static node_t *free_list;

static void keep(void *pointer)
{
    sink = pointer;
}

__attribute__((noinline)) static node_t *new_node(const char *name)
{
    TRUTH("node_t", 1);
    node_t *node = malloc(sizeof *node);
    node->next = NULL;
    node->name = (char *)name;
    return node;
}

__attribute__((noinline)) static struct point *return_point(void)
{
    TRUTH("point", 1);
    return malloc(sizeof(struct point));
}

__attribute__((noinline)) void *xmalloc(size_t size)
{
    void *block = malloc(size);
    if (block == NULL)
        abort();
    return block;
}

__attribute__((noinline)) static void *header_malloc(size_t size)
{
    size_t *header = malloc(size + sizeof(size_t));
    if (header == NULL)
        return NULL;
    *header = size;
    return header + 1;
}

__attribute__((noinline)) static void locals(size_t count)
{
    TRUTH("point", 1);
    struct point *one = malloc(sizeof(struct point));
    one->x = 1;
    keep(one);
    TRUTH("int", count);
    int *numbers = malloc(count * sizeof(int));
    for (size_t i = 0; i < count; i++)
        numbers[i] = (int)i;
    keep(numbers);
    TRUTH("nameless", count);
    nameless *items = calloc(count, sizeof *items);
    items[0].id = 3;
    keep(items);
    TRUTH("buffer", 77);
    char *text = malloc(77);
    text[0] = '\0';
    keep(text);
    TRUTH("uint64_t", count);
    uint64_t *words = malloc(count * sizeof *words);
    memset(words, 0, count * sizeof *words);
    keep(words);
    TRUTH("node_t *", count);
    node_t **pointers = calloc(count, sizeof *pointers);
    pointers[0] = NULL;
    keep(pointers);
}

__attribute__((noinline)) static void members(struct table *table, size_t count, int which)
{
    TRUTH("node_t *", count);
    table->buckets = malloc(count * sizeof *table->buckets);
    TRUTH("point", count);
    table->corners = calloc(count, sizeof *table->corners);
    TRUTH("uint64_t", count);
    table->hashes = malloc(count * sizeof(uint64_t));
    TRUTH("nameless", 1);
    table->inner.items = malloc(sizeof *table->inner.items);
    TRUTH("table", 1);
    table->sub[which] = malloc(sizeof *table->sub[which]);
    TRUTH("node_t", 1);
    table->buckets[which] = xmalloc(sizeof(node_t));
}

__attribute__((noinline)) static void globals(size_t count)
{
    TRUTH("point", 1);
    global_point = malloc(sizeof *global_point);
    TRUTH("node_t *", count);
    global_table.buckets = malloc(count * sizeof *global_table.buckets);
    TRUTH("node_t", 1);
    free_list = xmalloc(sizeof *free_list);
    keep(&global_table);
}

__attribute__((noinline)) static void wrapped(size_t count)
{
    TRUTH("derived", 1);
    struct derived *derived = xmalloc(sizeof *derived);
    derived->value = 1;
    keep(derived);
    TRUTH("nameless", count);
    nameless *items = header_malloc(count * sizeof *items);
    items->id = 1;
    keep(items);
    TRUTH("buffer", 6);
    char *copy = strdup("heap!");
    keep(copy);
}

__attribute__((noinline)) static void flexible(size_t length)
{
    TRUTH("message", 1);
    struct message *message = malloc(sizeof *message + length);
    message->length = length;
    keep(message);
}

__attribute__((noinline)) static void named(size_t count)
{
    TRUTH("Object", 1);
    struct _object *object = malloc(sizeof *object);
    object->references = 1;
    keep(object);
    TRUTH("Object *", count);
    Object **objects = malloc(count * sizeof *objects);
    objects[0] = object;
    keep(objects);
    TRUTH("tm", 1);
    moment *now = malloc(sizeof *now);
    now->tm_sec = 0;
    keep(now);
}

__attribute__((noinline)) static void inherited(void)
{
    TRUTH("derived", 1);
    struct base *base = malloc(sizeof(struct derived));
    base->kind = 7;
    keep(base);
}

__attribute__((noinline)) static void followed(size_t length)
{
    TRUTH("derived", 1);
    struct derived *derived = malloc(sizeof *derived + sizeof(struct message) + length);
    struct message *message = (struct message *)(derived + 1);
    derived->value = 3;
    message->length = length;
    keep(derived);
    keep(message);
}

/* Objects of several kinds with the same head; "circle" is a multiple of the head's size. */
struct head {
    struct head *next;
    long kind;
};
struct circle {
    struct head *next;
    long kind;
    double x, radius;
};
struct label {
    struct head *next;
    long kind;
    char text[40];
};

__attribute__((noinline)) static struct head *new_object(size_t size, long kind)
{
    struct head *head = xmalloc(size);
    head->next = NULL;
    head->kind = kind;
    return head;
}

__attribute__((noinline)) static void objects(void)
{
    TRUTH("circle", 1);
    struct circle *circle = (struct circle *)new_object(sizeof *circle, 1);
    circle->radius = 3;
    keep(circle);
    TRUTH("label", 1);
    struct label *label = (struct label *)new_object(sizeof *label, 2);
    label->text[0] = 'x';
    keep(label);
}

__attribute__((noinline)) static void grown(size_t count)
{
    TRUTH("point", count);
    struct point *points = malloc(count * sizeof *points);
    points[0].x = 1;
    TRUTH("point", 2 * count);
    points = realloc(points, 2 * count * sizeof *points);
    keep(points);
}

__attribute__((noinline)) static void aligned(void)
{
    struct table *table;
    TRUTH("table", 1);
    if (posix_memalign((void **)&table, 64, sizeof *table) == 0) {
        table->buckets = NULL;
        keep(table);
    }
    TRUTH("double", 16);
    double *numbers = aligned_alloc(64, 16 * sizeof *numbers);
    numbers[3] = 2;
    keep(numbers);
}

__attribute__((noinline)) static void untyped(size_t size)
{
    TRUTH("?", 1);
    keep(malloc(size));
}

/* A block that is given out in pieces: two states, and numbers after them. */
struct state {
    double costs[5];
    long repeats[2];
};
struct workspace {
    void *start, *free, *end;
};
struct coder {
    struct state *previous, *next;
    unsigned *table;
    struct workspace workspace;
};

static inline void *carve(struct workspace *workspace, size_t bytes)
{
    void *piece = workspace->free;
    if ((char *)piece + bytes > (char *)workspace->end)
        return NULL;
    workspace->free = (char *)piece + bytes;
    return piece;
}

__attribute__((noinline)) static void carved(struct coder *coder, size_t size)
{
    TRUTH("?state", 1);
    void *block = malloc(size);
    coder->workspace.start = coder->workspace.free = block;
    coder->workspace.end = (char *)block + size;
    coder->previous = carve(&coder->workspace, sizeof *coder->previous);
    coder->next = carve(&coder->workspace, sizeof *coder->next);
    coder->table = carve(&coder->workspace, 16 * sizeof *coder->table);
    keep(coder);
}

/* Compilers keep only the members of `all_names`, and leave out `names` of the inlined function.
 */
struct names {
    const char **list;
    size_t count;
};

static inline void add_name(struct names *names, const char *name)
{
    names->list = realloc(names->list, (names->count + 2) * sizeof(const char *));
    names->list[names->count++] = name;
}

static struct names all_names;

__attribute__((noinline)) static void inlined(const char *name)
{
    TRUTH("const char *", 2);
    add_name(&all_names, name);
    keep(all_names.list);
}

/* The memory that keeps account of the blocks does not leave the function that hands them on.
 */
struct pool {
    void *next;
    size_t left;
    void **blocks;
    size_t count;
};

static inline void *take(struct pool *pool, size_t size)
{
    if (pool->left == 0) {
        TRUTH("?node_t", 64);
        pool->next = xmalloc(64 * size);
        pool->left = 64;
        TRUTH("void *", 24);
        pool->blocks = realloc(pool->blocks, 24 * sizeof(void *));
        pool->blocks[pool->count++] = pool->next;
    }
    void *taken = pool->next;
    pool->next = (char *)taken + size;
    pool->left--;
    return taken;
}

__attribute__((noinline)) static node_t *pooled(struct pool *pool)
{
    node_t *node = take(pool, sizeof(node_t));
    node->name = NULL;
    return node;
}

/* A sum that a function makes. */
struct piece {
    struct piece *next;
    char *free, *end;
};

static inline size_t sum(size_t left, size_t right)
{
    if (left + right < left)
        abort();
    return left + right;
}

__attribute__((noinline)) static struct piece *new_piece(size_t size)
{
    TRUTH("?piece", 1);
    struct piece *piece = xmalloc(sum(sizeof(struct piece), size));
    piece->free = (char *)(piece + 1);
    piece->end = piece->free + size;
    piece->next = NULL;
    return piece;
}

__attribute__((noinline)) static void *from_piece(size_t size)
{
    return new_piece(size)->free;
}

/* With every compiler, a record without any name is named after its place in the source. */
#define TEXT_OF(line) #line
#define PLACE_OF(line) "(struct at plain.c:" TEXT_OF(line) ")"
#define NAMELESS_RECORDS(name, pointer)                                                            \
    const char *name = PLACE_OF(__LINE__);                                                         \
    struct {                                                                                       \
        double weight;                                                                             \
        char mark;                                                                                 \
    } * pointer

__attribute__((noinline)) static void without_name(size_t count)
{
    NAMELESS_RECORDS(name, records);
    TRUTH(name, count);
    records = malloc(count * sizeof *records);
    records[0].weight = 3;
    keep(records);
}

/* A function without debug information: only it knows its records; the program knows their head. */
__asm__(".text\n"
        ".type foreign_new, @function\n"
        "foreign_new:\n"
        ".cfi_startproc\n"
        "subq $8, %rsp\n"
        ".cfi_def_cfa_offset 16\n"
        "movl $472, %edi\n"
        "call malloc@plt\n"
        "addq $8, %rsp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size foreign_new, . - foreign_new\n");
struct foreign {
    struct foreign *next;
    long kind;
};
struct foreign *foreign_new(void);

__attribute__((noinline)) static void foreign(void)
{
    TRUTH("?", 1);
    struct foreign *made = foreign_new();
    made->next = NULL;
    keep(made);
}

int main(int argc, char **argv)
{
    static struct table table;
    size_t count = 10 + (size_t)argc;
    locals(count);
    members(&table, count, argc);
    globals(count);
    wrapped(count);
    flexible(100 + count);
    inherited();
    named(count);
    objects();
    followed(30 + count);
    grown(count);
    aligned();
    untyped(count * 7 + 1);
    keep(new_node("one"));
    keep(return_point());
    struct coder coder;
    carved(&coder, 500 + 4 * count);
    inlined(argv[0]);
    foreign();
    without_name(count);
    struct pool pool = {NULL, 0, NULL, 0};
    keep(&pool);
    keep(pooled(&pool));
    struct derived *last = from_piece(2000);
    last->value = 3;
    keep(last);
    return 0;
}
