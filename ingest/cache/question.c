/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/cache/question.h"

void cache_question_begin(struct cache_question *question, struct cache_transcript *transcript,
                          enum cache_kind kind)
{
    *question = (struct cache_question){.transcript = transcript, .known = {.failed = true}};
    coding_put_number(&question->asked, kind);
}

bool cache_question_ask(struct cache_question *question)
{
    question->is_known =
        cache_transcript_ask(question->transcript, &question->asked, &question->known);
    return question->is_known;
}

bool cache_question_accept(const struct cache_question *question, bool good)
{
    const bool accepted = question->is_known && good && !question->known.failed;
    if (question->is_known && !accepted)
        cache_transcript_stop(question->transcript);
    return accepted;
}

void cache_question_answer(struct cache_question *question)
{
    if (!question->is_known)
        cache_transcript_answer(question->transcript, &question->asked, &question->found);
}

void cache_question_end(struct cache_question *question)
{
    cache_question_answer(question);
    coding_free(&question->asked);
    coding_free(&question->found);
}
