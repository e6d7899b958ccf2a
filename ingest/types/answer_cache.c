/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/answer_cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/generation_cache.h"

/* The numbers of last used items that are certainly kept: answers for a frame and a size, flows for
 * a frame. */
#define ANSWERS 65536
#define FLOWS 16384

struct kept_flow {
    struct types_question question; /* without size and operator */
    void *bytes;                    /* the struct types_flow, up to its last evidence */
};

struct types_answer_cache {
    struct generation_cache answers, flows;
    struct types_frame_answer spare; /* used if memory is exhausted */
    struct types_flow flow;          /* the one asked for last */
};

static void drop_flow(void *item)
{
    const struct kept_flow *kept = item;
    free(kept->bytes);
}

struct types_answer_cache *types_answer_cache_new(void)
{
    struct types_answer_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->answers =
        (struct generation_cache){.item_size = sizeof(struct types_frame_answer), .limit = ANSWERS};
    cache->flows = (struct generation_cache){
        .item_size = sizeof(struct kept_flow), .limit = FLOWS, .drop = drop_flow};
    return cache;
}

void types_answer_cache_free(struct types_answer_cache *cache)
{
    if (!cache)
        return;
    generation_cache_free(&cache->answers);
    generation_cache_free(&cache->flows);
    free(cache);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

static uint64_t hash_of(const struct types_question *question)
{
    uint64_t hash = mix(mix(hash_seed(), question->pc), question->module);
    hash = mix(hash, question->size);
    hash = mix(hash, (uint64_t)question->offset);
    return mix(hash, (uint64_t)question->by << 16 | (uint64_t)question->headed << 8 |
                         (uint64_t)question->opaque << 1 | question->in_memory);
}

/* Compares questions, with which both kinds of item begin. */
static bool same_question(const void *item, const void *key)
{
    return memcmp(item, key, sizeof(struct types_question)) == 0;
}

struct types_frame_answer *types_answer_cache_find(struct types_answer_cache *cache,
                                                   const struct types_question *question)
{
    uint64_t hash = hash_of(question);
    struct types_frame_answer *answer =
        generation_cache_find(&cache->answers, hash, same_question, question);
    if (answer)
        return answer;
    memset(&cache->spare, 0, sizeof(cache->spare));
    cache->spare.question = *question;
    answer = generation_cache_add(&cache->answers, hash, &cache->spare);
    return answer ? answer : &cache->spare;
}

static size_t used_bytes(const struct types_flow *flow)
{
    return offsetof(struct types_flow, evidence) + flow->count * sizeof(flow->evidence[0]);
}

const struct types_flow *types_answer_cache_flow(struct types_answer_cache *cache,
                                                 const struct types_site *site,
                                                 const struct types_question *question)
{
    struct kept_flow key = {.question = *question};
    key.question.size = 0;
    key.question.by = 0;
    key.question.headed = 0;
    uint64_t hash = hash_of(&key.question);
    const struct kept_flow *kept =
        generation_cache_find(&cache->flows, hash, same_question, &key.question);
    if (kept) {
        size_t count;
        memcpy(&cache->flow, kept->bytes, offsetof(struct types_flow, evidence));
        count = used_bytes(&cache->flow);
        memcpy(&cache->flow, kept->bytes, count);
        return &cache->flow;
    }
    if (!types_flow_follow(site, key.question.offset, key.question.in_memory != 0, &cache->flow))
        return NULL;
    key.bytes = malloc(used_bytes(&cache->flow));
    if (key.bytes) {
        memcpy(key.bytes, &cache->flow, used_bytes(&cache->flow));
        if (!generation_cache_add(&cache->flows, hash, &key))
            free(key.bytes);
    }
    return &cache->flow;
}
