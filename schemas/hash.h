/* SPDX-License-Identifier: BSD-2-Clause */
/* Hashes of numbers and texts, and hash tables, for all programs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Finalizer of MurmurHash3 (public domain, Austin Appleby): each bit reaches all others. */
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

/* FNV-1a with 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */

/* The hash of no text. */
#define TEXT_HASH_EMPTY UINT64_C(0xcbf29ce484222325)

/* Returns the hash of a text that goes on with a byte, or with `text`. */
static inline uint64_t text_hash_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t text_hash_add(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = text_hash_byte(hash, (unsigned char)*text);
    return hash;
}

/* Returns the hash of a text. */
static inline uint64_t text_hash(const char *text)
{
    return text_hash_add(TEXT_HASH_EMPTY, text);
}

/* An open-addressing map from a hash to the indices of items that a caller keeps in an array.
 * The caller compares items itself:
 *
 *     INDEX_MAP_EACH(&map, hash, index)
 *         if (the item at `index` is the one) …
 *
 * A zero-initialized map is empty. Hashes of what comes from traces begin with hash_seed(). */
struct index_map {
    struct index_slot {
        uint32_t tag;   /* low half of the hash: gives the place, and is compared */
        uint32_t index; /* item + 1; 0: empty */
    } * slots;
    size_t capacity, count;
};

#define INDEX_NONE UINT32_MAX

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

/* Runs the next statement for each `index` that the map may have under `hash`. */
/* NOLINTBEGIN(bugprone-macro-parentheses): `index` is declared here */
#define INDEX_MAP_EACH(map, hash, index)                                                           \
    for (size_t probe_ = index_map_begin(map, hash), once_ = 1; once_ != 0; once_ = 0)             \
        for (uint32_t index; (index = index_map_next(map, hash, &probe_)) != INDEX_NONE;)
/* NOLINTEND(bugprone-macro-parentheses) */

static inline void index_map_place(struct index_map *map, struct index_slot slot)
{
    size_t at = slot.tag & (map->capacity - 1);
    while (map->slots[at].index != 0)
        at = (at + 1) & (map->capacity - 1);
    map->slots[at] = slot;
}

static inline bool index_map_grow(struct index_map *map)
{
    struct index_map larger = {.capacity = map->capacity ? map->capacity * 2 : 64};
    larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].index != 0)
            index_map_place(&larger, map->slots[i]);
    free(map->slots);
    map->slots = larger.slots;
    map->capacity = larger.capacity;
    return true;
}

/* Adds `index` under `hash`. False if memory is exhausted. */
static inline bool index_map_insert(struct index_map *map, uint64_t hash, uint32_t index)
{
    if (2 * (map->count + 1) > map->capacity && !index_map_grow(map))
        return false;
    index_map_place(map, (struct index_slot){(uint32_t)hash, index + 1});
    map->count++;
    return true;
}

static inline void index_map_free(struct index_map *map)
{
    free(map->slots);
    *map = (struct index_map){0};
}
