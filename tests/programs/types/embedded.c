/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks that are more than the type of their pointer: records around it, and bytes after it. */
#include "truth.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct global {
    long ticks;
    void *names[6];
};
struct state {
    struct state *next;
    struct global *global;
    int status;
};
struct preceded {
    char extra[8];
    struct state state;
};
struct joined {
    struct state state;
    struct global global;
};
/* Ends in an array that is longer than declared, or shorter than the padding after it. */
struct text {
    struct text *next;
    unsigned length;
    char contents[1];
};
typedef union closure {
    struct {
        struct state *owner;
        void (*function)(void);
        long values[1];
    } native;
    struct {
        struct state *owner;
        struct text *cells[1];
    } script;
} closure;
struct value {
    union {
        double number;
        void *pointer;
    } as;
    int tag;
};
struct key {
    struct value value;
    struct key *next;
};
union slot {
    struct {
        double number;
        int tag;
        short key_tag;
        int next;
        void *key;
    } parts;
    struct value value;
};
#define HEAD                                                                                       \
    struct object *next;                                                                           \
    char kind;                                                                                     \
    char mark
struct object {
    HEAD;
};
struct pair {
    HEAD;
    struct object *left, *right;
};
struct boxed {
    HEAD;
    struct value value;
};
struct number {
    HEAD;
    double value;
};
struct chunk {
    char *start;
    size_t size;
};
#define NEW(count, type) ((type *)allocate((count) * sizeof(type)))

static void *volatile sink;

static void keep(void *pointer)
{
    sink = pointer;
}

__attribute__((noinline)) static void *allocate(size_t size)
{
    void *block = malloc(size);
    if (block == NULL)
        abort();
    return block;
}

__attribute__((noinline)) static struct state *inside(struct global *global)
{
    TRUTH("preceded", 1);
    struct state *state = &((struct preceded *)allocate(sizeof(struct preceded)))->state;
    state->next = NULL;
    state->global = global;
    return state;
}

__attribute__((noinline)) static struct state *first(size_t extra)
{
    TRUTH("joined", 1);
    void *block = allocate(sizeof(struct joined) + extra);
    struct state *state = block;
    struct global *global = &((struct joined *)block)->global;
    state->global = global;
    global->ticks = 0;
    keep(state);
    return state;
}

__attribute__((noinline)) static void texts(size_t length)
{
    TRUTH("text", 1);
    struct text *longer = allocate(offsetof(struct text, contents) + length + 1);
    memset(longer->contents, 'x', length);
    keep(longer);
    TRUTH("text", 1);
    struct text *shorter = allocate(offsetof(struct text, contents) + length % 3 + 1);
    shorter->contents[0] = '\0';
    keep(shorter);
}

__attribute__((noinline)) static void closures(size_t count)
{
    TRUTH("closure", 1);
    closure *script = allocate(offsetof(closure, script.cells) + count * sizeof(struct text *));
    script->script.cells[0] = NULL;
    keep(script);
    TRUTH("closure", 1);
    closure *native = allocate(offsetof(closure, native.values) + (2 * count + 1) * sizeof(long));
    native->native.function = NULL;
    keep(native);
}

struct slots {
    union slot *slots;
    struct value *values;
    size_t count;
};

__attribute__((noinline)) static void table(struct slots *slots, size_t count)
{
    TRUTH("slot", 2 * count);
    union slot *made = allocate(2 * count * sizeof(union slot));
    struct value *value = &made[0].value;
    value->tag = 0;
    slots->slots = made;
    for (size_t i = 1; i < 2 * count; i++) {
        union slot *slot = &slots->slots[i];
        slot->parts.next = 0;
        slot->value.tag = 0;
    }
    TRUTH("value", 3 * count);
    slots->values = NEW(3 * count, struct value);
    keep(slots->values);
}

__attribute__((noinline)) static struct object *make(size_t size, char kind)
{
    struct object *object = allocate(size);
    object->next = NULL;
    object->kind = kind;
    return object;
}

__attribute__((noinline)) static void objects(void)
{
    TRUTH("pair", 1);
    struct object *made = make(sizeof(struct pair), 1);
    struct pair *pair = (struct pair *)made;
    pair->left = pair->right = NULL;
    keep(pair);
    TRUTH("boxed", 1);
    struct boxed *boxed = (struct boxed *)make(sizeof(struct boxed), 2);
    boxed->value.tag = 3;
    keep(boxed);
}

__attribute__((noinline)) static void headers(size_t count)
{
    TRUTH("key", 1);
    struct key *key = allocate((count + 1) * sizeof(char) + sizeof(struct key));
    key->next = NULL;
    memset(key + 1, 'k', count + 1);
    keep(key);
    TRUTH("chunk", 1);
    struct chunk *chunk = malloc(sizeof(struct chunk) + count * sizeof(void *));
    chunk->start = (char *)(chunk + 1);
    chunk->size = count;
    keep(chunk);
}

/* Wrappers that the compiler inlines, and lengths that no sizeof in the statement states. */
static inline void *zeroed(size_t size)
{
    void *block = allocate(size);
    memset(block, 0, size);
    return block;
}

struct entry {
    struct entry *next;
    unsigned char kind;
    unsigned size;
};

__attribute__((noinline)) static void lengths(struct slots *slots, size_t length)
{
    TRUTH("value", length);
    slots->values = zeroed(length * sizeof(struct value));
    keep(slots->values);
    size_t size = sizeof(struct entry) + length + 1;
    TRUTH("entry", 1);
    struct entry *entry = (struct entry *)zeroed(size);
    unsigned char *bytes = (unsigned char *)entry;
    bytes[size - 1] = 'x';
    entry->size = (unsigned)size;
    keep(entry);
    TRUTH("key", 1);
    struct key *key = zeroed(length + sizeof(struct entry) + sizeof(struct key));
    key->next = NULL;
    keep(key);
    TRUTH("value *", length);
    struct value **values = zeroed(length * sizeof(struct value **));
    values[0] = NULL;
    keep(values);
}

/* The union's other member points to another type than the allocated one. */
struct either {
    union {
        struct value *value;
        struct text **texts;
        long number;
    } as;
    union {
        long number;
        struct text *text;
    } one;
    union {
        struct {
            union {
                struct value *value;
                struct text **texts;
            } list;
        } inner;
        char *bytes;
    } nested;
};

__attribute__((noinline)) static void unions(struct either *either, size_t count)
{
    TRUTH("text *", count);
    either->as.texts = allocate(count * sizeof(struct text *));
    TRUTH("text *", count);
    either->nested.inner.list.texts = allocate(count * sizeof(struct text *));
    TRUTH("text", 1);
    either->one.text = allocate(sizeof(struct text));
    keep(either);
}

int main(int argc, char **argv)
{
    static struct global global;
    static struct slots slots;
    static struct either either;
    struct number number = {.value = 1};
    (void)argv;
    size_t count = 3 + (size_t)argc;
    keep(inside(&global));
    keep(first(0));
    texts(20 + count);
    closures(count);
    table(&slots, count);
    objects();
    headers(10 + count);
    lengths(&slots, 20 + count);
    unions(&either, 20 + count);
    keep(&number);
    return 0;
}
