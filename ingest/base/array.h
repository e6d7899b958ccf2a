/* SPDX-License-Identifier: BSD-2-Clause */
/* Growing arrays and hashing, for the tables of the ingest library. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/array.h"
#include "schemas/hash.h"

/* Makes room for `needed` items of `item_size` bytes in *items (a pointer from malloc), doubling
 * *capacity. New items are zero; array_grow() does not zero them. False if memory is exhausted;
 * then nothing has changed. */
bool array_reserve(void *items, size_t *capacity, size_t needed, size_t item_size);

/* Makes room for one more item behind the first `count`. */
#define ARRAY_RESERVE(items, count, capacity)                                                      \
    array_reserve(&(items), &(capacity), (size_t)(count) + 1, sizeof(*(items)))

/* Returns memory for free(), not zeroed, that is read in a random order: in large pages if there is
 * much of it, because most of those are in the processor's TLB. NULL if memory is exhausted. */
void *array_scattered(size_t size);

/* Compares numbers, or items that begin with one, for qsort() and bsearch(). */
int compare_uint64(const void *left, const void *right);

struct number_pair {
    uint64_t key, value;
};

/* Sorts by the keys, in place: there may be millions. */
void sort_pairs(struct number_pair *pairs, size_t count);
/* Sorts, three times as fast. `room` takes as many numbers; its content is lost. */
void sort_numbers(uint64_t *numbers, uint64_t *room, size_t count);

/* Combines `hash` with the bytes, eight at a time. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

/* Hashes by FNV-1a. */
uint64_t hash_characters(const char *text, size_t length);
/* Hashes up to the terminating null character. NULL has the hash of the empty string. */
uint64_t hash_text(const char *text);

/* Returns a random number, the same through the whole run, which hostile input cannot know. */
uint64_t hash_seed(void);

/* ---- generation cache ---------------------------------------------------------------------- */

/* A cache of items of one size by a hash, in bounded memory. It keeps items in two generations.
 * When the younger one is full, it becomes the older one, and the items of the old one are dropped.
 * So the `limit` items used last are always there, for any hashes, and at most twice as many are
 * kept.
 *
 * The caller compares items itself. It begins with a struct in which `item_size`, `limit` and
 * `drop` are set and the rest is zero. An item of zeros was moved away: `same` must not take it for
 * another one, and `drop` must do nothing to it. */

struct generation_cache {
    size_t item_size, limit;
    void (*drop)(void *item); /* frees what an item owns; NULL: it owns nothing */
    struct cache_generation {
        char *items;
        size_t count, capacity;
        struct index_map by_hash;
    } young, old;
};

/* Returns the item with that hash for which same(item, key) is true, or NULL if it is not there.
 * The pointer is valid until the next call. */
void *generation_cache_find(struct generation_cache *cache, uint64_t hash,
                            bool (*same)(const void *item, const void *key), const void *key);

/* Adds a copy of `item`, which must not be there yet, and returns the copy. NULL if memory is
 * exhausted; the item then still belongs to the caller. */
void *generation_cache_add(struct generation_cache *cache, uint64_t hash, void *item);

void generation_cache_free(struct generation_cache *cache);
