/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the type rules found at the frames asked last, in tables of bounded size: programs allocate
 * by the same few frames again and again, and of many sizes at each.
 */
#ifndef MPROF_INGEST_TYPES_MEMO_H
#define MPROF_INGEST_TYPES_MEMO_H

#include "ingest/types.h"
#include "ingest/types_choose.h"

/* One question on the walk along a stack. All bytes are compared: zero it before it is filled. */
struct types_question {
    uint64_t pc, size;
    int64_t offset; /* of the pointer that the frame before returned */
    uint32_t module;
    uint8_t by;        /* enum types_operator */
    uint8_t in_memory; /* the result is where the first argument pointed */
    uint8_t headed;    /* what came out so far may be only the head of what it is */
    uint8_t opaque;    /* a function without debug information made it, of types it alone knows */
};

struct types_step {
    struct types_question question;
    bool known;    /* the question was asked, and the rest is its answer */
    bool go_on;    /* the caller is to be asked, with `next` */
    bool any_size; /* the same for blocks of other sizes, but for the count of elements */
    struct types_question next;
    struct types_answer answer;
};

struct types_memo;

/* NULL where memory is exhausted. */
struct types_memo *types_memo_new(void);
void types_memo_free(struct types_memo *memo);

/*
 * The step of a question; `known` says whether it is there, and otherwise the caller fills it. It
 * holds until the next call.
 */
struct types_step *types_memo_step(struct types_memo *memo, const struct types_question *question);

/*
 * types_flow_follow() at the site, kept for other sizes. It holds until the next call. NULL where
 * memory is exhausted.
 */
const struct types_flow *types_memo_flow(struct types_memo *memo, const struct types_site *site,
                                         const struct types_question *question);

#endif
