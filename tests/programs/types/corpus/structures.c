/* SPDX-License-Identifier: BSD-2-Clause */
/* Structures that programs build themselves: vectors, tables, trees, lists. */
#include "corpus.h"

#include <stdlib.h>
#include <string.h>

struct point {
    int x, y, z;
};
struct pair {
    long left, right;
};

#define VECTOR(type)                                                                               \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, room;                                                                        \
    }
#define PUSH(vector, item)                                                                         \
    do {                                                                                           \
        if ((vector)->count == (vector)->room) {                                                   \
            (vector)->room = (vector)->room * 2 + 8;                                               \
            (vector)->items = realloc((vector)->items, (vector)->room * sizeof *(vector)->items);  \
        }                                                                                          \
        (vector)->items[(vector)->count++] = (item);                                               \
    } while (0)

CASE(vector_by_macro)
{
    VECTOR(struct pair) pairs = {NULL, 0, 0};
    VECTOR(int) numbers = {NULL, 0, 0};
    for (size_t i = 0; i < 3 * corpus_few; i++) {
        struct pair pair = {1, 2};
        PUSH(&pairs, pair);
        PUSH(&numbers, (int)i);
    }
    KNOWN(pairs.items, "pair", pairs.room);
    KNOWN(numbers.items, "int", numbers.room);
}

struct any_vector {
    void *items;
    size_t count, room, size;
};
APART static void any_reserve(struct any_vector *vector, size_t room)
{
    vector->items = realloc(vector->items, room * vector->size);
    vector->room = room;
}
CASE(vector_of_anything)
{
    struct any_vector vector = {NULL, 0, 0, sizeof(struct point)};
    any_reserve(&vector, corpus_few);
    ((struct point *)vector.items)->x = 1;
    IS(vector.items, "point", 5);
}

struct hash_entry {
    struct hash_entry *next;
    const char *key;
    void *value;
};
struct hash_table {
    struct hash_entry **buckets;
    size_t count, room;
};
APART static struct hash_table *new_hash_table(size_t room)
{
    struct hash_table *table = malloc(sizeof *table);
    if (table == NULL || (table->buckets = calloc(room, sizeof *table->buckets)) == NULL)
        abort();
    table->count = 0;
    table->room = room;
    return table;
}
APART static void hash_add(struct hash_table *table, const char *key, void *value)
{
    size_t at = (unsigned char)*key % table->room;
    struct hash_entry *entry = malloc(sizeof *entry);
    entry->next = table->buckets[at];
    entry->key = strdup(key);
    entry->value = value;
    table->buckets[at] = entry;
    table->count++;
    KNOWN(entry, "hash_entry", 1);
    KNOWN(entry->key, "buffer", ANY_COUNT);
}
CASE(hash_table)
{
    struct hash_table *table = new_hash_table(17);
    hash_add(table, "first", NULL);
    hash_add(table, "second", table);
    KNOWN(table, "hash_table", 1);
    KNOWN(table->buckets, "hash_entry *", 17);
}

struct tree {
    struct tree *left, *right;
    int key;
};
APART static struct tree *tree_add(struct tree *tree, int key)
{
    if (tree == NULL) {
        tree = malloc(sizeof *tree);
        tree->left = tree->right = NULL;
        tree->key = key;
        KNOWN(tree, "tree", 1);
    } else if (key < tree->key) {
        tree->left = tree_add(tree->left, key);
    } else {
        tree->right = tree_add(tree->right, key);
    }
    return tree;
}
CASE(tree_of_records)
{
    struct tree *tree = NULL;
    for (size_t i = 0; i < corpus_few; i++)
        tree = tree_add(tree, (int)(i * 7 % 5));
    KEEP(tree);
}

struct link {
    struct link *next, *previous;
};
struct job {
    struct link link;
    int number;
    char name[20];
};
static struct link jobs = {&jobs, &jobs};
CASE(list_that_lies_in_its_records)
{
    struct job *job = malloc(sizeof *job);
    job->number = 1;
    job->link.next = jobs.next;
    job->link.previous = &jobs;
    jobs.next->previous = &job->link;
    jobs.next = &job->link;
    KNOWN(job, "job", 1);
}
struct late_job {
    int number;
    struct link link;
};
APART static struct link *new_late_job(int number)
{
    struct late_job *job = malloc(sizeof *job);
    job->number = number;
    job->link.next = NULL;
    return &job->link;
}
CASE(factory_of_inner_links)
{
    KNOWN(new_late_job(3), "late_job", 1);
}

struct ring {
    unsigned head, tail, mask;
    int values[];
};
APART static struct ring *new_ring(unsigned room)
{
    struct ring *ring = calloc(1, sizeof *ring + room * sizeof ring->values[0]);
    ring->mask = room - 1;
    return ring;
}
CASE(ring_of_numbers)
{
    KNOWN(new_ring(64), "ring", 1);
}

struct sparse {
    struct pair *pages[8];
};
CASE(table_of_pages)
{
    static struct sparse sparse;
    for (size_t i = 0; i < corpus_few; i++) {
        sparse.pages[i] = calloc(16, sizeof *sparse.pages[i]);
        KNOWN(sparse.pages[i], "pair", 16);
    }
}

/* ---- a record behind room that its users may fill ----------------------------------------- */

struct session {
    struct session *next;
    long number;
    char name[40];
};
struct session_behind_room {
    unsigned char room[8];
    struct session session;
};
static struct session *sessions;
APART static void *take_memory(size_t size, int kind)
{
    void *taken = malloc(size);
    if (taken == NULL)
        abort();
    memset(taken, kind, size);
    return taken;
}
APART static struct session *new_session(long number)
{
    struct session *made;
    // clang-format off
    made = &((struct session_behind_room *)(take_memory(sizeof(struct session_behind_room), 7)))->session;
    // clang-format on
    made->number = number;
    made->next = sessions;
    sessions = made;
    return made;
}
CASE(record_behind_room_from_another_unit)
{
    struct session *made;
    // clang-format off
    made = &((struct session_behind_room *)(corpus_take(sizeof(struct session_behind_room))))->session;
    // clang-format on
    made->number = 3;
    made->next = sessions;
    sessions = made;
    KNOWN(made, "session_behind_room", 1);
}
CASE(record_behind_room)
{
    KNOWN(new_session(1), "session_behind_room", 1);
    KNOWN(new_session(2), "session_behind_room", 1);
}

/* ---- a free list of the program's own ------------------------------------------------------ */

struct free_slot {
    struct free_slot *next;
};
static struct free_slot *free_slots;
static inline void give_back(void *block)
{
    struct free_slot *slot = block;
    slot->next = free_slots;
    free_slots = slot;
}
CASE(given_back_to_a_free_list)
{
    int *numbers = malloc(2 * corpus_one * sizeof *numbers);
    for (unsigned long i = 0; i <= corpus_one; i++)
        numbers[i] = 3;
    KNOWN(numbers, "int", 2);
    give_back(numbers);
    KEEP(free_slots);
}
