/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache of items of one size by a hash, in bounded memory. Items are kept in two generations:
 * when the younger one is full, it becomes the older one, and what was in that is dropped. So the
 * `limit` items used last are always there, whatever their hashes are, and at most twice as many
 * are kept.
 *
 * The caller compares items itself, and begins with a struct whose `item_size`, `limit` and `drop`
 * are set and the rest is zero. An item of zeros is one that was moved: `same` must not take it for
 * another, and `drop` does nothing to it.
 */
#ifndef MPROF_INGEST_RECENT_H
#define MPROF_INGEST_RECENT_H

#include "ingest/array.h"

struct recent {
    size_t item_size, limit;
    void (*drop)(void *item); /* frees what an item owns; NULL: it owns nothing */
    struct recent_generation {
        char *items;
        size_t count, capacity;
        struct index_map by_hash;
    } young, old;
};

/*
 * The item for which `same` is true of `key`, among those with that hash; NULL: it is not there.
 * The pointer holds until the next call.
 */
void *recent_find(struct recent *recent, uint64_t hash,
                  bool (*same)(const void *item, const void *key), const void *key);

/*
 * Adds a copy of `item`, which is not there, and returns it. NULL where memory is exhausted: the
 * item then still belongs to the caller.
 */
void *recent_add(struct recent *recent, uint64_t hash, void *item);

void recent_free(struct recent *recent);

#endif
