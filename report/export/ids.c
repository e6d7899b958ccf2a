/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/ids.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/text_hash.h"

/* Open addressing with linear probing. A slot holds a number plus 1, 0 is free. */
struct slots {
    uint32_t *slot;
    size_t size; /* a power of two, at least twice the number of things */
};

enum { SLOTS_FIRST = 1024 };
static const uint32_t ids_most = UINT32_MAX - 1;

static size_t place_of(const struct slots *slots, uint64_t hash)
{
    return (size_t)(hash >> 32 ^ hash) & (slots->size - 1);
}

static bool slots_open(struct slots *slots, size_t size)
{
    slots->slot = calloc(size, sizeof(*slots->slot));
    slots->size = size;
    return slots->slot;
}

/* Puts a number at the first free place for its hash. */
static void slots_put(struct slots *slots, uint64_t hash, uint32_t id)
{
    size_t place = place_of(slots, hash);
    while (slots->slot[place] != 0)
        place = (place + 1) & (slots->size - 1);
    slots->slot[place] = id + 1;
}

/* ---- pairs ---- */

struct pair {
    uint64_t first, second;
};

struct pair_ids {
    struct slots slots;
    struct pair *pairs;
    size_t count, capacity;
};

static uint64_t pair_hash(const struct pair *pair)
{
    uint64_t hash = pair->first * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ pair->second) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 31;
}

struct pair_ids *pair_ids_new(void)
{
    struct pair_ids *ids = calloc(1, sizeof(*ids));
    if (ids && !slots_open(&ids->slots, SLOTS_FIRST)) {
        free(ids);
        return NULL;
    }
    return ids;
}

void pair_ids_free(struct pair_ids *ids)
{
    if (!ids)
        return;
    free(ids->slots.slot);
    free(ids->pairs);
    free(ids);
}

static bool pairs_rehash(struct pair_ids *ids)
{
    struct slots larger;
    if (ids->count * 2 < ids->slots.size)
        return true;
    if (!slots_open(&larger, ids->slots.size * 2))
        return false;
    for (size_t i = 0; i < ids->count; i++)
        slots_put(&larger, pair_hash(&ids->pairs[i]), (uint32_t)i);
    free(ids->slots.slot);
    ids->slots = larger;
    return true;
}

bool pair_ids_find(struct pair_ids *ids, uint64_t first, uint64_t second, uint32_t *id,
                   bool *is_new)
{
    const struct pair pair = {first, second};
    const uint64_t hash = pair_hash(&pair);
    size_t place = place_of(&ids->slots, hash);
    *is_new = false;
    for (uint32_t found; (found = ids->slots.slot[place]) != 0;
         place = (place + 1) & (ids->slots.size - 1)) {
        const struct pair *known = &ids->pairs[found - 1];
        *id = found - 1;
        if (known->first == first && known->second == second)
            return true;
    }
    if (ids->count >= ids_most ||
        !array_grow(&ids->pairs, &ids->capacity, ids->count + 1, sizeof(*ids->pairs)) ||
        !pairs_rehash(ids))
        return false;
    *is_new = true;
    *id = (uint32_t)ids->count;
    ids->pairs[ids->count++] = pair;
    slots_put(&ids->slots, hash, *id);
    return true;
}

size_t pair_ids_count(const struct pair_ids *ids)
{
    return ids->count;
}

uint64_t pair_ids_first(const struct pair_ids *ids, uint32_t id)
{
    return ids->pairs[id].first;
}

/* ---- texts ---- */

struct known_text {
    const char *text;
    uint64_t hash;
};

struct text_ids {
    struct slots slots;
    struct known_text *texts;
    size_t count, capacity;
};

struct text_ids *text_ids_new(void)
{
    struct text_ids *ids = calloc(1, sizeof(*ids));
    if (ids && !slots_open(&ids->slots, SLOTS_FIRST)) {
        free(ids);
        return NULL;
    }
    return ids;
}

void text_ids_free(struct text_ids *ids)
{
    if (!ids)
        return;
    free(ids->slots.slot);
    free(ids->texts);
    free(ids);
}

static bool texts_rehash(struct text_ids *ids)
{
    struct slots larger;
    if (ids->count * 2 < ids->slots.size)
        return true;
    if (!slots_open(&larger, ids->slots.size * 2))
        return false;
    for (size_t i = 0; i < ids->count; i++)
        slots_put(&larger, ids->texts[i].hash, (uint32_t)i);
    free(ids->slots.slot);
    ids->slots = larger;
    return true;
}

bool text_ids_find(struct text_ids *ids, const char *text, uint32_t *id, bool *is_new)
{
    const uint64_t hash = text_hash(text);
    size_t place = place_of(&ids->slots, hash);
    *is_new = false;
    for (uint32_t found; (found = ids->slots.slot[place]) != 0;
         place = (place + 1) & (ids->slots.size - 1)) {
        const struct known_text *known = &ids->texts[found - 1];
        *id = found - 1;
        if (known->hash == hash && strcmp(known->text, text) == 0)
            return true;
    }
    if (ids->count >= ids_most ||
        !array_grow(&ids->texts, &ids->capacity, ids->count + 1, sizeof(*ids->texts)) ||
        !texts_rehash(ids))
        return false;
    *is_new = true;
    *id = (uint32_t)ids->count;
    ids->texts[ids->count++] = (struct known_text){text, hash};
    slots_put(&ids->slots, hash, *id);
    return true;
}

size_t text_ids_count(const struct text_ids *ids)
{
    return ids->count;
}

const char *text_ids_text(const struct text_ids *ids, uint32_t id)
{
    return ids->texts[id].text;
}
