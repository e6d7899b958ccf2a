/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/asked.h"

#include <stdlib.h>

#include "ingest/cache/question.h"

/* More frames than any question has. */
#define FRAMES_MAX 64
/* More names than any question asks for. */
#define NAMES_MAX 64
/* More functions that tell a form than there are. */
#define FORMS_MAX 8

typedef unsigned form_function(const char *linkage);

/* Those that this process asked with. */
static form_function *forms[FORMS_MAX];

static struct cache_transcript *transcript_of(const struct types *types)
{
    return symbols_transcript(types_symbols(types));
}

static bool listens(const struct types *types)
{
    return cache_transcript_listens(transcript_of(types));
}

/* Returns true if the question is asked through the transcript. Stops it if the question does not
 * `fit`. */
static bool listens_to(const struct types *types, bool fit)
{
    if (!fit)
        cache_transcript_stop(transcript_of(types));
    return listens(types);
}

/* A name that comes from the rules or from a transcript is the same pointer. */
static const char *keep(const struct types *types, const char *name)
{
    return !name ? NULL : symbols_keep(types_symbols(types), name);
}

static void put_frames(struct coding *coding, const struct types_frame *frames, size_t count)
{
    coding_put_number(coding, count);
    for (size_t i = 0; i < count; i++) {
        coding_put_number(coding, frames[i].module);
        coding_put_number(coding, frames[i].pc);
    }
}

static size_t take_frames(struct decoding *decoding, struct types_frame frames[FRAMES_MAX])
{
    const uint64_t count = decoding_number(decoding);
    if (count > FRAMES_MAX)
        decoding->failed = true;
    for (uint64_t i = 0; i < count && !decoding->failed; i++) {
        frames[i].module = (uint32_t)decoding_number(decoding);
        frames[i].pc = decoding_number(decoding);
    }
    return decoding->failed ? 0 : count;
}

/* ---- types_infer() ---------------------------------------------------------------------- */

static void put_answer(struct coding *coding, const struct types_answer *answer)
{
    coding_put_text(coding, answer->name);
    coding_put_text(coding, answer->element);
    coding_put_number(coding, answer->size);
    coding_put_number(coding, answer->count);
    coding_put_number(coding, answer->cookie);
    coding_put_number(coding, answer->confidence);
    coding_put_number(coding, answer->rule);
    coding_put_number(coding, answer->any_size);
    coding_put_number(coding, answer->frames);
}

static bool take_answer(const struct types *types, struct decoding *decoding,
                        struct types_answer *answer)
{
    *answer = (struct types_answer){.name = keep(types, decoding_text(decoding))};
    answer->element = keep(types, decoding_text(decoding));
    answer->size = decoding_number(decoding);
    answer->count = decoding_number(decoding);
    answer->cookie = decoding_number(decoding);
    const uint64_t confidence = decoding_number(decoding), rule = decoding_number(decoding);
    answer->confidence = (enum types_confidence)confidence;
    answer->rule = (enum types_rule)rule;
    answer->any_size = decoding_number(decoding) != 0;
    answer->frames = decoding_number(decoding);
    return !decoding->failed && confidence <= TYPES_EXACT && rule <= TYPES_RULE_STATED;
}

static void infer(struct types *types, const struct types_frame *frames, size_t count,
                  uint64_t size, uint8_t kind, struct types_answer *answer)
{
    types_find(types, frames, count, size, kind, answer);
    answer->name = keep(types, answer->name);
    answer->element = keep(types, answer->element);
}

void types_infer(struct types *types, const struct types_frame *frames, size_t count, uint64_t size,
                 uint8_t kind, struct types_answer *answer)
{
    struct cache_question question;
    if (!listens_to(types, count <= FRAMES_MAX)) {
        infer(types, frames, count, size, kind, answer);
        return;
    }
    cache_question_begin(&question, transcript_of(types), CACHE_INFER);
    put_frames(&question.asked, frames, count);
    coding_put_number(&question.asked, size);
    coding_put_number(&question.asked, kind);
    cache_question_ask(&question);
    if (!cache_question_accept(&question, take_answer(types, &question.known, answer))) {
        infer(types, frames, count, size, kind, answer);
        put_answer(&question.found, answer);
    }
    cache_question_end(&question);
}

static void repeat_infer(void *context, struct decoding *question)
{
    struct types_frame frames[FRAMES_MAX];
    struct types_answer answer;
    const size_t count = take_frames(question, frames);
    const uint64_t size = decoding_number(question);
    const uint8_t kind = (uint8_t)decoding_number(question);
    if (!question->failed)
        types_find(context, frames, count, size, kind, &answer);
}

/* ---- types_owner_of() ------------------------------------------------------------------- */

static bool take_owner(const struct types *types, struct decoding *decoding,
                       struct types_owner *owner)
{
    owner->name = keep(types, decoding_text(decoding));
    const uint64_t confidence = decoding_number(decoding);
    owner->confidence = (enum types_confidence)confidence;
    owner->farther = decoding_number(decoding) != 0;
    return !decoding->failed && confidence <= TYPES_EXACT;
}

void types_owner_of(struct types *types, const struct types_frame *frames, size_t count,
                    size_t user, size_t level, struct types_owner *owner)
{
    struct cache_question question;
    if (!listens_to(types, count <= FRAMES_MAX)) {
        types_find_owner(types, frames, count, user, level, owner);
        return;
    }
    cache_question_begin(&question, transcript_of(types), CACHE_OWNER);
    put_frames(&question.asked, frames, count);
    coding_put_number(&question.asked, user);
    coding_put_number(&question.asked, level);
    cache_question_ask(&question);
    if (!cache_question_accept(&question, take_owner(types, &question.known, owner))) {
        types_find_owner(types, frames, count, user, level, owner);
        coding_put_text(&question.found, owner->name);
        coding_put_number(&question.found, owner->confidence);
        coding_put_number(&question.found, owner->farther);
    }
    cache_question_end(&question);
}

static void repeat_owner(void *context, struct decoding *question)
{
    struct types_frame frames[FRAMES_MAX];
    struct types_owner owner;
    const size_t count = take_frames(question, frames);
    const uint64_t user = decoding_number(question), level = decoding_number(question);
    if (!question->failed && user < count)
        types_find_owner(context, frames, count, user, level, &owner);
}

/* ---- calls ------------------------------------------------------------------------------ */

const char *types_call_linkage(struct types *types, const struct types_frame *frame)
{
    struct cache_question question;
    if (!listens(types))
        return types_find_linkage(types, frame);
    cache_question_begin(&question, transcript_of(types), CACHE_LINKAGE);
    put_frames(&question.asked, frame, 1);
    cache_question_ask(&question);
    const char *linkage = keep(types, decoding_text(&question.known));
    if (!cache_question_accept(&question, true)) {
        linkage = types_find_linkage(types, frame);
        coding_put_text(&question.found, linkage);
    }
    cache_question_end(&question);
    return linkage;
}

static void repeat_linkage(void *context, struct decoding *question)
{
    struct types_frame frames[FRAMES_MAX];
    if (take_frames(question, frames) == 1)
        types_find_linkage(context, frames);
}

/* A number for the function that is the same whenever this program runs. */
static uint64_t number_of(form_function *form_of)
{
    return (uint64_t)((uintptr_t)form_of - (uintptr_t)types_frame_call_form);
}

static bool know_form(form_function *form_of)
{
    for (size_t i = 0; i < FORMS_MAX; i++) {
        if (!forms[i])
            forms[i] = form_of;
        if (forms[i] == form_of)
            return true;
    }
    return false;
}

unsigned types_frame_call_form(struct types *types, const struct types_frame *frame,
                               unsigned (*form_of)(const char *linkage))
{
    struct cache_question question;
    if (!listens_to(types, know_form(form_of)))
        return types_find_form(types, frame, form_of);
    cache_question_begin(&question, transcript_of(types), CACHE_FORM);
    put_frames(&question.asked, frame, 1);
    coding_put_number(&question.asked, number_of(form_of));
    cache_question_ask(&question);
    unsigned form = (unsigned)decoding_number(&question.known);
    if (!cache_question_accept(&question, true)) {
        form = types_find_form(types, frame, form_of);
        coding_put_number(&question.found, form);
    }
    cache_question_end(&question);
    return form;
}

static void repeat_form(void *context, struct decoding *question)
{
    struct types_frame frames[FRAMES_MAX];
    if (take_frames(question, frames) != 1)
        return;
    const uint64_t number = decoding_number(question);
    for (size_t i = 0; i < FORMS_MAX && forms[i]; i++)
        if (number_of(forms[i]) == number)
            types_find_form(context, frames, forms[i]);
}

/* ---- types_candidates() ----------------------------------------------------------------- */

static bool take_names(const struct types *types, struct decoding *decoding, const char **names,
                       size_t capacity, size_t *count)
{
    const uint64_t found = decoding_number(decoding);
    if (found > capacity)
        return false;
    for (*count = 0; *count < found; ++*count)
        if (!(names[*count] = keep(types, decoding_text(decoding))))
            return false;
    return true;
}

size_t types_candidates(struct types *types, const struct types_frame *frames, size_t count,
                        uint64_t size, const char **names, size_t capacity)
{
    struct cache_question question;
    size_t found = 0;
    if (!listens_to(types, count <= FRAMES_MAX && capacity <= NAMES_MAX))
        return types_find_candidates(types, frames, count, size, names, capacity);
    cache_question_begin(&question, transcript_of(types), CACHE_CANDIDATES);
    put_frames(&question.asked, frames, count);
    coding_put_number(&question.asked, size);
    coding_put_number(&question.asked, capacity);
    cache_question_ask(&question);
    const bool good = take_names(types, &question.known, names, capacity, &found);
    if (!cache_question_accept(&question, good)) {
        found = types_find_candidates(types, frames, count, size, names, capacity);
        coding_put_number(&question.found, found);
        for (size_t i = 0; i < found; i++)
            coding_put_text(&question.found, names[i]);
    }
    cache_question_end(&question);
    return found;
}

static void repeat_candidates(void *context, struct decoding *question)
{
    struct types_frame frames[FRAMES_MAX];
    const char *names[NAMES_MAX];
    const size_t count = take_frames(question, frames);
    const uint64_t size = decoding_number(question), capacity = decoding_number(question);
    if (!question->failed && capacity <= NAMES_MAX)
        types_find_candidates(context, frames, count, size, names, capacity);
}

/* ---- members ---------------------------------------------------------------------------- */

void types_declare(struct types *types, uint32_t module, const char *name, uint64_t size)
{
    struct cache_question question;
    if (!listens(types)) {
        types_find_declared(types, module, name, size);
        return;
    }
    cache_question_begin(&question, transcript_of(types), CACHE_DECLARE);
    coding_put_number(&question.asked, module);
    coding_put_text(&question.asked, name);
    coding_put_number(&question.asked, size);
    if (!cache_question_ask(&question))
        types_find_declared(types, module, name, size);
    cache_question_end(&question);
}

static void repeat_declare(void *context, struct decoding *question)
{
    const uint32_t module = (uint32_t)decoding_number(question);
    const char *name = decoding_text(question);
    const uint64_t size = decoding_number(question);
    if (!question->failed && name)
        types_find_declared(context, module, symbols_keep(types_symbols(context), name), size);
}

static bool put_member(void *context, const struct types_member *member)
{
    struct coding *coding = context;
    coding_put_number(coding, 1); /* one more */
    coding_put_text(coding, member->name);
    coding_put_text(coding, member->type);
    coding_put_number(coding, member->offset);
    coding_put_number(coding, member->size);
    return true;
}

static bool each_member(struct decoding decoding, types_member_function *each, void *context)
{
    while (decoding_number(&decoding) == 1) {
        struct types_member member = {.name = decoding_text(&decoding)};
        member.type = decoding_text(&decoding);
        member.offset = decoding_number(&decoding);
        member.size = decoding_number(&decoding);
        if (!decoding.failed && !each(context, &member))
            return false;
    }
    return true;
}

static bool ignore_member(void *context, const struct types_member *member)
{
    (void)context;
    return member != NULL;
}

static bool are_whole(struct decoding decoding)
{
    while (decoding_number(&decoding) == 1) {
        decoding_text(&decoding);
        decoding_text(&decoding);
        decoding_number(&decoding);
        decoding_number(&decoding);
    }
    return !decoding.failed && decoding.at == decoding.end;
}

bool types_members(struct types *types, const char *name, uint64_t size,
                   types_member_function *each, void *context)
{
    struct cache_question question;
    bool good;
    if (!listens(types))
        return types_find_members(types, name, size, each, context);
    cache_question_begin(&question, transcript_of(types), CACHE_MEMBERS);
    coding_put_text(&question.asked, name);
    coding_put_number(&question.asked, size);
    if (!cache_question_ask(&question)) {
        struct coding *found = &question.found;
        types_find_members(types, name, size, put_member, found);
        coding_put_number(found, 0); /* the end */
        cache_question_answer(&question);
        question.known = (struct decoding){found->bytes, found->bytes + found->size, found->failed};
        question.is_known = true;
    }
    if (cache_question_accept(&question, are_whole(question.known)))
        good = each_member(question.known, each, context);
    else
        good = types_find_members(types, name, size, each, context);
    cache_question_end(&question);
    return good;
}

static void repeat_members(void *context, struct decoding *question)
{
    const char *name = decoding_text(question);
    const uint64_t size = decoding_number(question);
    if (!question->failed && name)
        types_find_members(context, name, size, ignore_member, NULL);
}

void types_begin_transcript(struct types *types)
{
    struct cache_transcript *transcript = transcript_of(types);
    if (!transcript)
        return;
    cache_transcript_repeat_by(transcript, CACHE_INFER, repeat_infer, types);
    cache_transcript_repeat_by(transcript, CACHE_OWNER, repeat_owner, types);
    cache_transcript_repeat_by(transcript, CACHE_LINKAGE, repeat_linkage, types);
    cache_transcript_repeat_by(transcript, CACHE_FORM, repeat_form, types);
    cache_transcript_repeat_by(transcript, CACHE_CANDIDATES, repeat_candidates, types);
    cache_transcript_repeat_by(transcript, CACHE_DECLARE, repeat_declare, types);
    cache_transcript_repeat_by(transcript, CACHE_MEMBERS, repeat_members, types);
}
