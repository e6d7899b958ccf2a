/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The questions that were asked of the symbolizer and of the type rules, in their order, with the
 * answers: from earlier calls, in the user's folder, and from this one.
 *
 * An answer may depend on all that was asked before, so it is used only after the same questions in
 * the same order. As long as the questions are those of an earlier call, no work is done. The first
 * other question makes the transcript ask all earlier questions again, without looking at the
 * answers. Then the symbolizer and the type rules are in the same state as without a transcript.
 *
 * The transcripts of a program are a tree, because they begin alike. They belong to one key: facts
 * that are told before the first question. And they are used only while all files that the answers
 * depend on (depends.h) are as they were.
 */
#ifndef MPROF_INGEST_CACHE_TRANSCRIPT_H
#define MPROF_INGEST_CACHE_TRANSCRIPT_H

#include "ingest/cache/coding.h"
#include "ingest/cache/depends.h"

struct cache_transcript;

/* The first byte of a question. */
enum cache_kind {
    CACHE_FACT, /* is told, and has no answer */
    CACHE_LOOKUP,
    CACHE_STATUS,
    CACHE_INFER,
    CACHE_LINKAGE,
    CACHE_FORM,
    CACHE_CANDIDATES,
    CACHE_DECLARE,
    CACHE_MEMBERS,
    CACHE_OWNER,
    CACHE_LIMIT,
    CACHE_KINDS
};

/* Asks a question again whose bytes after the kind are `question`. The answer is not needed. */
typedef void cache_repeat(void *context, struct decoding *question);

/*
 * Begins a transcript. `folder` is cache_folder_open()'s. It is used, not closed. Returns NULL if
 * memory is exhausted.
 */
struct cache_transcript *cache_transcript_new(int folder);
void cache_transcript_free(struct cache_transcript *transcript);

/* Says who repeats questions of a kind. */
void cache_transcript_repeat_by(struct cache_transcript *transcript, enum cache_kind kind,
                                cache_repeat *repeat, void *context);

/*
 * Appends to a fact what every answer depends on: the programs and libraries of this process, its
 * user and the kernel. Returns false if they cannot be known.
 */
bool cache_transcript_machine(struct coding *fact);

/* Tells a fact. Before the first question it belongs to the key. */
void cache_transcript_tell(struct cache_transcript *transcript, const struct coding *fact);

/*
 * Asks. Returns true and the answer's bytes, valid until the next call, if it is known. Otherwise
 * the caller finds the answer and calls cache_transcript_answer(). Questions that are asked between
 * these two calls belong to that answer and are not written down. Accepts NULL: nothing is known.
 */
bool cache_transcript_ask(struct cache_transcript *transcript, const struct coding *question,
                          struct decoding *answer);
void cache_transcript_answer(struct cache_transcript *transcript, const struct coding *question,
                             const struct coding *answer);

/* Returns true if questions are to be asked through the transcript now. False for NULL. */
bool cache_transcript_listens(const struct cache_transcript *transcript);

/* Ends it: from now on everything is asked, and nothing will be saved. */
void cache_transcript_stop(struct cache_transcript *transcript);

/* Writes the entry if there are new answers. `depends` lists the files on which they depend. */
void cache_transcript_save(struct cache_transcript *transcript, struct cache_depends *depends);

#endif
