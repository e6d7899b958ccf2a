/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/memo.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/recent.h"

/* The numbers of last used items that are certainly kept: steps for a frame and a size, flows for a
 * frame. */
#define STEPS 65536
#define FLOWS 16384

struct kept_flow {
    struct types_question question; /* without size and operator */
    void *bytes;                    /* the struct types_flow, up to its last evidence */
};

struct types_memo {
    struct recent steps, flows;
    struct types_step spare; /* used if memory is exhausted */
    struct types_flow flow;  /* the one asked for last */
};

static void drop_flow(void *item)
{
    const struct kept_flow *kept = item;
    free(kept->bytes);
}

struct types_memo *types_memo_new(void)
{
    struct types_memo *memo = calloc(1, sizeof(*memo));
    if (!memo)
        return NULL;
    memo->steps = (struct recent){.item_size = sizeof(struct types_step), .limit = STEPS};
    memo->flows =
        (struct recent){.item_size = sizeof(struct kept_flow), .limit = FLOWS, .drop = drop_flow};
    return memo;
}

void types_memo_free(struct types_memo *memo)
{
    if (!memo)
        return;
    recent_free(&memo->steps);
    recent_free(&memo->flows);
    free(memo);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

static uint64_t hash_of(const struct types_question *question)
{
    uint64_t hash = mix(question->pc ^ hash_seed(), question->module);
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

struct types_step *types_memo_step(struct types_memo *memo, const struct types_question *question)
{
    uint64_t hash = hash_of(question);
    struct types_step *step = recent_find(&memo->steps, hash, same_question, question);
    if (step)
        return step;
    memset(&memo->spare, 0, sizeof(memo->spare));
    memo->spare.question = *question;
    step = recent_add(&memo->steps, hash, &memo->spare);
    return step ? step : &memo->spare;
}

static size_t used_bytes(const struct types_flow *flow)
{
    return offsetof(struct types_flow, evidence) + flow->count * sizeof(flow->evidence[0]);
}

const struct types_flow *types_memo_flow(struct types_memo *memo, const struct types_site *site,
                                         const struct types_question *question)
{
    struct kept_flow key = {.question = *question};
    key.question.size = 0;
    key.question.by = 0;
    key.question.headed = 0;
    uint64_t hash = hash_of(&key.question);
    const struct kept_flow *kept = recent_find(&memo->flows, hash, same_question, &key.question);
    if (kept) {
        size_t count;
        memcpy(&memo->flow, kept->bytes, offsetof(struct types_flow, evidence));
        count = used_bytes(&memo->flow);
        memcpy(&memo->flow, kept->bytes, count);
        return &memo->flow;
    }
    if (!types_flow_follow(site, key.question.offset, key.question.in_memory != 0, &memo->flow))
        return NULL;
    key.bytes = malloc(used_bytes(&memo->flow));
    if (key.bytes) {
        memcpy(key.bytes, &memo->flow, used_bytes(&memo->flow));
        if (!recent_add(&memo->flows, hash, &key))
            free(key.bytes);
    }
    return &memo->flow;
}
