/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/base/array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

int compare_uint64(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return ORDER(*a, *b);
}

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

void *array_scattered(size_t size)
{
    const size_t line = 64, large_page = (size_t)2 << 20,
                 page = size < large_page ? line : large_page;
    const size_t whole = (size + page - 1) / page * page;
    void *memory = whole < size ? NULL : aligned_alloc(page, whole);
    if (memory && page == large_page)
        madvise(memory, whole, MADV_HUGEPAGE); /* only speed depends on it */
    return memory;
}

static void insert_pairs(struct number_pair *pairs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct number_pair pair = pairs[i];
        size_t at = i;
        for (; at > 0 && pairs[at - 1].key > pair.key; at--)
            pairs[at] = pairs[at - 1];
        pairs[at] = pair;
    }
}

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* Bits of the keys by which they are sorted at once. */
struct digit {
    unsigned shift, mask;
};

static unsigned digit_of(struct digit digit, uint64_t key)
{
    return (unsigned)(key >> digit.shift) & digit.mask;
}

/* Puts each pair among those with the same digit. ends[] is where these end. */
static void part_pairs(struct number_pair *pairs, struct digit digit, const size_t ends[DIGITS])
{
    size_t next[DIGITS] = {0};
    memcpy(next + 1, ends, digit.mask * sizeof(*next));
    for (unsigned value = 0; value <= digit.mask; value++)
        while (next[value] < ends[value]) {
            struct number_pair pair = pairs[next[value]];
            for (unsigned to; (to = digit_of(digit, pair.key)) != value;) {
                const struct number_pair moved = pairs[next[to]];
                pairs[next[to]++] = pair;
                pair = moved;
            }
            pairs[next[value]++] = pair;
        }
}

/* McIlroy, Bostic, McIlroy: Engineering Radix Sort (1993), "American flag sort", from the highest
 * bit in which keys differ. */
void sort_pairs(struct number_pair *pairs, size_t count)
{
    enum { FEW = 24, FEW_BITS = 3 };
    size_t ends[DIGITS] = {0}, start = 0;
    uint64_t differ = 0;
    bool sorted = true;
    if (count < FEW) {
        insert_pairs(pairs, count);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        differ |= pairs[i].key ^ pairs[0].key;
        sorted = sorted && pairs[i - 1].key <= pairs[i].key;
    }
    if (sorted)
        return;
    const unsigned most = 64u - (unsigned)__builtin_clzll(differ);
    unsigned bits = 64u - (unsigned)__builtin_clzll(count) - FEW_BITS;
    bits = bits > DIGIT_BITS ? DIGIT_BITS : bits;
    bits = bits > most ? most : bits;
    const struct digit digit = {most - bits, (1u << bits) - 1};
    for (size_t i = 0; i < count; i++)
        ends[digit_of(digit, pairs[i].key)]++;
    for (unsigned value = 1; value <= digit.mask; value++)
        ends[value] += ends[value - 1];
    part_pairs(pairs, digit, ends);
    for (unsigned value = 0; digit.shift > 0 && value <= digit.mask; start = ends[value++])
        sort_pairs(pairs + start, ends[value] - start);
}

/* By each digit in which numbers differ, from the lowest. */
void sort_numbers(uint64_t *numbers, uint64_t *room, size_t count)
{
    uint64_t differ = 0, *from = numbers, *to = room;
    for (size_t i = 1; i < count; i++)
        differ |= numbers[i] ^ numbers[0];
    struct digit digit = {differ ? (unsigned)__builtin_ctzll(differ) : 64, DIGITS - 1};
    for (; digit.shift < 64 && differ >> digit.shift; digit.shift += DIGIT_BITS) {
        size_t next[DIGITS] = {0}, sum = 0;
        if (digit_of(digit, differ) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            next[digit_of(digit, from[i])]++;
        for (unsigned value = 0; value < DIGITS; value++) {
            const size_t before = sum;
            sum += next[value];
            next[value] = before;
        }
        for (size_t i = 0; i < count; i++)
            to[next[digit_of(digit, from[i])]++] = from[i];
        uint64_t *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != numbers)
        memcpy(numbers, from, count * sizeof(*numbers));
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
    uint64_t hash = TEXT_HASH_EMPTY;
    for (size_t i = 0; i < length; i++)
        hash = text_hash_byte(hash, (unsigned char)text[i]);
    return hash_number(hash ^ hash_seed());
}

uint64_t hash_text(const char *text)
{
    return hash_characters(text, !text ? 0 : strlen(text));
}

/* ---- generation cache ---------------------------------------------------------------------- */

static void *item_at(const struct generation_cache *cache,
                     const struct cache_generation *generation, size_t index)
{
    return generation->items + index * cache->item_size;
}

static void free_generation(const struct generation_cache *cache,
                            struct cache_generation *generation)
{
    for (size_t i = 0; cache->drop && i < generation->count; i++)
        cache->drop(item_at(cache, generation, i));
    free(generation->items);
    index_map_free(&generation->by_hash);
    *generation = (struct cache_generation){0};
}

static void *find_in(const struct generation_cache *cache,
                     const struct cache_generation *generation, uint64_t hash,
                     bool (*same)(const void *item, const void *key), const void *key)
{
    INDEX_MAP_EACH(&generation->by_hash, hash, index) {
        void *item = item_at(cache, generation, index);
        if (same(item, key))
            return item;
    }
    return NULL;
}

/* Adds a copy. With `move` it clears `item`, which may lie in the older generation. */
static void *put(struct generation_cache *cache, uint64_t hash, void *item, bool move)
{
    struct cache_generation *young = &cache->young, dropped = {0};
    void *place = NULL;
    if (young->count == cache->limit) {
        dropped = cache->old;
        cache->old = *young;
        *young = (struct cache_generation){0};
    }
    if (array_reserve(&young->items, &young->capacity, young->count + 1, cache->item_size) &&
        index_map_insert(&young->by_hash, hash, (uint32_t)young->count)) {
        place = item_at(cache, young, young->count++);
        memcpy(place, item, cache->item_size);
        if (move)
            memset(item, 0, cache->item_size);
    }
    free_generation(cache, &dropped);
    return place;
}

void *generation_cache_find(struct generation_cache *cache, uint64_t hash,
                            bool (*same)(const void *item, const void *key), const void *key)
{
    void *item = find_in(cache, &cache->young, hash, same, key);
    if (item || cache->old.count == 0)
        return item;
    item = find_in(cache, &cache->old, hash, same, key);
    return !item ? NULL : put(cache, hash, item, true);
}

void *generation_cache_add(struct generation_cache *cache, uint64_t hash, void *item)
{
    return put(cache, hash, item, false);
}

void generation_cache_free(struct generation_cache *cache)
{
    free_generation(cache, &cache->young);
    free_generation(cache, &cache->old);
}
