/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers of the type rules for the frames asked last, in tables of limited size. Programs
 * allocate from the same few frames again and again, with many sizes at each.
 */
#ifndef MPROF_INGEST_TYPES_ANSWER_CACHE_H
#define MPROF_INGEST_TYPES_ANSWER_CACHE_H

#include "ingest/types/flow/flow.h"
#include "ingest/types/types.h"

/*
 * One question while walking along a stack. All bytes are compared, so zero it before you fill it.
 */
struct types_question {
    uint64_t pc, size;
    int64_t offset; /* of the pointer that the inner frame returned */
    uint32_t module;
    uint8_t by;        /* enum types_operator */
    uint8_t in_memory; /* the result is where the first argument pointed to */
    uint8_t headed;    /* the type found so far may be only the head of the real one */
    /* Made by a function without debug information, of a type that it alone knows. */
    uint8_t opaque;
};

struct types_frame_answer {
    struct types_question question;
    bool known;    /* the question was asked, and the rest is its answer */
    bool go_on;    /* ask the caller next, with `next` */
    bool any_size; /* also holds for blocks of other sizes, except for the count of elements */
    struct types_question next;
    struct types_answer answer;
};

struct types_answer_cache;

/* Returns NULL if memory is exhausted. */
struct types_answer_cache *types_answer_cache_new(void);
void types_answer_cache_free(struct types_answer_cache *cache);

/*
 * Returns the answer to a question. If `known` is false, the caller fills it. Valid until the next
 * call.
 */
struct types_frame_answer *types_answer_cache_find(struct types_answer_cache *cache,
                                                   const struct types_question *question);

/*
 * Returns types_flow_follow() at the site, kept for other sizes. Valid until the next call. NULL if
 * memory is exhausted.
 */
const struct types_flow *types_answer_cache_flow(struct types_answer_cache *cache,
                                                 const struct types_site *site,
                                                 const struct types_question *question);

#endif
