/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/base/array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

bool array_reserve(void *items, size_t *capacity, size_t needed, size_t item_size)
{
    const size_t before = *capacity;
    char *first;
    if (needed <= before)
        return true;
    if (!array_grow(items, capacity, needed, item_size))
        return false;
    memcpy(&first, items, sizeof(first)); /* `items` is the address of a pointer of any type */
    memset(first + before * item_size, 0, (*capacity - before) * item_size);
    return true;
}

uint64_t hash_seed(void)
{
    static uint64_t seed;
    if (seed == 0 && (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed) || seed == 0))
        seed = UINT64_C(0x2545f4914f6cdd1d);
    return seed;
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t word;
    for (; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        hash = hash_combine(hash, word);
    }
    word = size;
    for (size_t i = 0; i < size; i++)
        word = word << 8 | at[i];
    return hash_combine(hash, word);
}

uint64_t hash_characters(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return hash_number(hash ^ hash_seed());
}

uint64_t hash_text(const char *text)
{
    return hash_characters(text, !text ? 0 : strlen(text));
}

static void place(struct index_map *map, struct index_slot slot)
{
    size_t at = slot.tag & (map->capacity - 1);
    while (map->slots[at].index != 0)
        at = (at + 1) & (map->capacity - 1);
    map->slots[at] = slot;
}

static bool grow(struct index_map *map)
{
    struct index_map larger = {.capacity = map->capacity ? map->capacity * 2 : 64};
    larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].index != 0)
            place(&larger, map->slots[i]);
    free(map->slots);
    map->slots = larger.slots;
    map->capacity = larger.capacity;
    return true;
}

bool index_map_insert(struct index_map *map, uint64_t hash, uint32_t index)
{
    if (2 * (map->count + 1) > map->capacity && !grow(map))
        return false;
    place(map, (struct index_slot){(uint32_t)hash, index + 1});
    map->count++;
    return true;
}

void index_map_free(struct index_map *map)
{
    free(map->slots);
    *map = (struct index_map){0};
}
