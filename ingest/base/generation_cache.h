/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache of items of one size by a hash, in bounded memory. It keeps items in two generations.
 * When the younger one is full, it becomes the older one, and the items of the old one are dropped.
 * So the `limit` items used last are always there, for any hashes, and at most twice as many are
 * kept.
 *
 * The caller compares items itself. It begins with a struct in which `item_size`, `limit` and
 * `drop` are set and the rest is zero. An item of zeros was moved away: `same` must not take it for
 * another one, and `drop` must do nothing to it.
 */
#ifndef MPROF_INGEST_BASE_GENERATION_CACHE_H
#define MPROF_INGEST_BASE_GENERATION_CACHE_H

#include "ingest/base/array.h"

struct generation_cache {
    size_t item_size, limit;
    void (*drop)(void *item); /* frees what an item owns; NULL: it owns nothing */
    struct cache_generation {
        char *items;
        size_t count, capacity;
        struct index_map by_hash;
    } young, old;
};

/*
 * Returns the item with that hash for which same(item, key) is true, or NULL if it is not there.
 * The pointer is valid until the next call.
 */
void *generation_cache_find(struct generation_cache *cache, uint64_t hash,
                            bool (*same)(const void *item, const void *key), const void *key);

/*
 * Adds a copy of `item`, which must not be there yet, and returns the copy. NULL if memory is
 * exhausted; the item then still belongs to the caller.
 */
void *generation_cache_add(struct generation_cache *cache, uint64_t hash, void *item);

void generation_cache_free(struct generation_cache *cache);

#endif
