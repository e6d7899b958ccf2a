/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One question that is asked through a transcript.
 *
 * Order of calls: cache_question_begin(), put the rest of the question into `asked`,
 * cache_question_ask(), take the answer from `known`. If cache_question_accept() returns false,
 * find the answer without the transcript and put it into `found`. Then cache_question_end().
 */
#ifndef MPROF_INGEST_CACHE_QUESTION_H
#define MPROF_INGEST_CACHE_QUESTION_H

#include "ingest/cache/transcript.h"

struct cache_question {
    struct cache_transcript *transcript;
    struct coding asked;
    struct decoding known; /* gives zeros and NULL, and fails, if the answer is not known */
    struct coding found;
    bool is_known;
};

void cache_question_begin(struct cache_question *question, struct cache_transcript *transcript,
                          enum cache_kind kind);

/* Returns true if the answer is known. */
bool cache_question_ask(struct cache_question *question);

/*
 * Returns true if the answer was known and whole, and `good`: the caller understood it. Stops the
 * transcript if the answer was known but is damaged.
 */
bool cache_question_accept(const struct cache_question *question, bool good);

/* Tells the transcript what was found, if the answer was not known. */
void cache_question_answer(struct cache_question *question);

/* Does the same, and frees the memory. */
void cache_question_end(struct cache_question *question);

#endif
