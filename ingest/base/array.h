/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Growing arrays and hashing, for the tables of the ingest library.
 */
#ifndef MPROF_INGEST_BASE_ARRAY_H
#define MPROF_INGEST_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/array.h"

/*
 * Makes room for `needed` items of `item_size` bytes in *items (a pointer from malloc), doubling
 * *capacity. New items are zero; array_grow() does not zero them. False if memory is exhausted;
 * then nothing has changed.
 */
bool array_reserve(void *items, size_t *capacity, size_t needed, size_t item_size);

/* Finalizer of MurmurHash3 (public domain, Austin Appleby): every input bit reaches every output
 * bit. */
static inline uint64_t hash_number(uint64_t value)
{
    value ^= value >> 33;
    value *= UINT64_C(0xff51afd7ed558ccd);
    value ^= value >> 33;
    value *= UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

static inline uint64_t hash_combine(uint64_t hash, uint64_t value)
{
    return hash_number(hash ^ (value + UINT64_C(0x9e3779b97f4a7c15)));
}

/* Combines `hash` with the bytes, eight at a time. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

/* Hashes by FNV-1a. */
uint64_t hash_characters(const char *text, size_t length);
/* Hashes up to the terminating null character. NULL has the hash of the empty string. */
uint64_t hash_text(const char *text);

/*
 * An open-addressing map from a hash to the indices of items that a caller keeps in an array.
 * The caller compares items itself:
 *
 *     for (size_t probe = index_map_begin(&map, hash);
 *          (index = index_map_next(&map, hash, &probe)) != INDEX_NONE;)
 *         if (the item at `index` is the one) …
 *
 * A zero-initialized map is empty. Hashes come from traces, so each map mixes in its own seed.
 */
struct index_map {
    struct index_slot {
        uint32_t tag;   /* low half of the hash: gives the place, and is compared */
        uint32_t index; /* item + 1; 0: empty */
    } * slots;
    size_t capacity, count;
};

#define INDEX_NONE UINT32_MAX

/* Returns a random number, the same through the whole run, which hostile input cannot know. */
uint64_t hash_seed(void);

static inline size_t index_map_begin(const struct index_map *map, uint64_t hash)
{
    return map->capacity ? (size_t)hash & (map->capacity - 1) : 0;
}

static inline uint32_t index_map_next(const struct index_map *map, uint64_t hash, size_t *probe)
{
    if (map->capacity == 0)
        return INDEX_NONE;
    for (;;) {
        const struct index_slot *slot = &map->slots[*probe];
        if (slot->index == 0)
            return INDEX_NONE;
        *probe = (*probe + 1) & (map->capacity - 1);
        if (slot->tag == (uint32_t)hash)
            return slot->index - 1;
    }
}

/* Adds `index` under `hash`. False if memory is exhausted. */
bool index_map_insert(struct index_map *map, uint64_t hash, uint32_t index);
void index_map_free(struct index_map *map);

#endif
