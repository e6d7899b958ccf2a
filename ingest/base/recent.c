/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/base/recent.h"

#include <stdlib.h>
#include <string.h>

static void *item_at(const struct recent *recent, const struct recent_generation *generation,
                     size_t index)
{
    return generation->items + index * recent->item_size;
}

static void free_generation(const struct recent *recent, struct recent_generation *generation)
{
    for (size_t i = 0; recent->drop && i < generation->count; i++)
        recent->drop(item_at(recent, generation, i));
    free(generation->items);
    index_map_free(&generation->by_hash);
    *generation = (struct recent_generation){0};
}

static void *find_in(const struct recent *recent, const struct recent_generation *generation,
                     uint64_t hash, bool (*same)(const void *item, const void *key),
                     const void *key)
{
    size_t probe = index_map_begin(&generation->by_hash, hash);
    uint32_t index;
    while ((index = index_map_next(&generation->by_hash, hash, &probe)) != INDEX_NONE) {
        void *item = item_at(recent, generation, index);
        if (same(item, key))
            return item;
    }
    return NULL;
}

/* Adds a copy. With `move` it clears `item`, which may lie in the older generation. */
static void *put(struct recent *recent, uint64_t hash, void *item, bool move)
{
    struct recent_generation *young = &recent->young, dropped = {0};
    void *place = NULL;
    if (young->count == recent->limit) {
        dropped = recent->old;
        recent->old = *young;
        *young = (struct recent_generation){0};
    }
    if (array_reserve(&young->items, &young->capacity, young->count + 1, recent->item_size) &&
        index_map_insert(&young->by_hash, hash, (uint32_t)young->count)) {
        place = item_at(recent, young, young->count++);
        memcpy(place, item, recent->item_size);
        if (move)
            memset(item, 0, recent->item_size);
    }
    free_generation(recent, &dropped);
    return place;
}

void *recent_find(struct recent *recent, uint64_t hash,
                  bool (*same)(const void *item, const void *key), const void *key)
{
    void *item = find_in(recent, &recent->young, hash, same, key);
    if (item || recent->old.count == 0)
        return item;
    item = find_in(recent, &recent->old, hash, same, key);
    return !item ? NULL : put(recent, hash, item, true);
}

void *recent_add(struct recent *recent, uint64_t hash, void *item)
{
    return put(recent, hash, item, false);
}

void recent_free(struct recent *recent)
{
    free_generation(recent, &recent->young);
    free_generation(recent, &recent->old);
}
