/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/cache/transcript.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ingest/cache/folder.h"

/* Changes whenever the bytes of an entry or of a question do. */
#define FORMAT 1

/* An entry that is larger than TREE_MAX, and than TREE_TIMES the last transcript, keeps only the
 * last transcript. Otherwise programs that never do the same twice would make it grow with each
 * call. */
#define TREE_MAX ((size_t)2 << 20)
#define TREE_TIMES 4

#define NO_PAIR UINT32_MAX

/* A question after the one that is its parent, and its answer. */
struct pair {
    uint32_t parent; /* index + 1; 0: it is the first question */
    bool used;       /* by this call */
    bool read;       /* places are in the entry that was read, otherwise in `bytes` */
    size_t question, question_size, answer, answer_size; /* places and sizes */
};

struct repeater {
    cache_repeat *repeat;
    void *context;
};

struct cache_transcript {
    int folder;
    struct coding key; /* complete at the first question */
    bool begun;        /* the first question was asked */
    bool departed;     /* questions are no longer those of an earlier call */
    bool stopped, changed;
    unsigned inside; /* a question that has no answer yet, or is repeated */
    struct repeater repeaters[CACHE_KINDS];
    struct cache_depends depends; /* of the answers that were read */
    uint8_t *entry;               /* what was read; NULL: nothing */
    struct coding bytes;
    struct pair *pairs;
    size_t count, capacity;
    struct index_map by_question;
    uint32_t *path; /* the pairs of this call's questions, in their order */
    size_t path_count, path_capacity;
};

static uint64_t hash_question(uint32_t parent, const uint8_t *bytes, size_t size)
{
    return hash_bytes(hash_combine(hash_seed(), parent), bytes, size);
}

static const uint8_t *place(const struct cache_transcript *transcript, const struct pair *pair,
                            size_t at)
{
    return (pair->read ? transcript->entry : transcript->bytes.bytes) + at;
}

static bool add_pair(struct cache_transcript *transcript, const struct pair *pair)
{
    const uint8_t *question = place(transcript, pair, pair->question);
    if (transcript->count >= NO_PAIR - 1 ||
        !array_reserve(&transcript->pairs, &transcript->capacity, transcript->count + 1,
                       sizeof(*transcript->pairs)) ||
        !index_map_insert(&transcript->by_question,
                          hash_question(pair->parent, question, pair->question_size),
                          (uint32_t)transcript->count))
        return false;
    transcript->pairs[transcript->count++] = *pair;
    return true;
}

/* Appends a pair to the path of this call's questions. Returns false if memory is exhausted. */
static bool step(struct cache_transcript *transcript, uint32_t pair)
{
    if (!array_reserve(&transcript->path, &transcript->path_capacity, transcript->path_count + 1,
                       sizeof(*transcript->path)))
        return false;
    transcript->pairs[pair].used = true;
    transcript->path[transcript->path_count++] = pair;
    return true;
}

/* ---- entries ---------------------------------------------------------------------------- */

static bool read_pairs(struct cache_transcript *transcript, struct decoding *decoding)
{
    const uint64_t count = decoding_number(decoding);
    for (uint64_t i = 0; i < count && !decoding->failed; i++) {
        const uint64_t parent = decoding_number(decoding);
        struct pair pair = {.read = true, .parent = (uint32_t)parent};
        pair.question_size = decoding_number(decoding);
        const uint8_t *question = decoding_take(decoding, pair.question_size);
        pair.answer_size = decoding_number(decoding);
        const uint8_t *answer = decoding_take(decoding, pair.answer_size);
        /* A question comes after the one before it. */
        if (!question || !answer || pair.question_size == 0 || question[0] >= CACHE_KINDS ||
            parent > i)
            return false;
        pair.question = (size_t)(question - transcript->entry);
        pair.answer = (size_t)(answer - transcript->entry);
        if (!add_pair(transcript, &pair))
            return false;
    }
    return !decoding->failed && decoding->at == decoding->end;
}

static bool read_entry(struct cache_transcript *transcript, size_t size)
{
    struct decoding decoding = {transcript->entry, transcript->entry + size, false};
    const uint64_t key_size = decoding_number(&decoding);
    const uint8_t *key = decoding_take(&decoding, key_size);
    return key && key_size == transcript->key.size &&
           memcmp(key, transcript->key.bytes, key_size) == 0 &&
           cache_depends_read(&transcript->depends, &decoding) &&
           read_pairs(transcript, &decoding) && cache_depends_hold(&transcript->depends);
}

static void forget_entry(struct cache_transcript *transcript)
{
    cache_depends_free(&transcript->depends);
    free(transcript->pairs);
    free(transcript->entry);
    index_map_free(&transcript->by_question);
    transcript->pairs = NULL;
    transcript->entry = NULL;
    transcript->count = transcript->capacity = 0;
}

/* Ends the transcript, and releases what it remembers. */
static void forget(struct cache_transcript *transcript)
{
    forget_entry(transcript);
    coding_free(&transcript->bytes);
    free(transcript->path);
    transcript->path = NULL;
    transcript->path_count = transcript->path_capacity = 0;
    transcript->stopped = true;
}

static void begin(struct cache_transcript *transcript)
{
    size_t size;
    transcript->begun = true;
    if (transcript->key.failed) {
        transcript->stopped = true;
        return;
    }
    const struct cache_key key = cache_key_of(transcript->key.bytes, transcript->key.size);
    transcript->entry = cache_folder_read(transcript->folder, &key, &size);
    if (transcript->entry && !read_entry(transcript, size))
        forget_entry(transcript);
    transcript->departed = transcript->count == 0;
}

static void write_entry(const struct cache_transcript *transcript,
                        const struct cache_depends *depends, bool only_used, struct coding *entry)
{
    uint32_t *numbers = calloc(transcript->count + 1, sizeof(*numbers));
    size_t size = transcript->key.size;
    uint32_t count = 0;
    if (!numbers) {
        entry->failed = true;
        return;
    }
    for (size_t i = 0; i < transcript->count; i++)
        if (!only_used || transcript->pairs[i].used) {
            numbers[i + 1] = ++count;
            size += transcript->pairs[i].question_size + transcript->pairs[i].answer_size +
                    3 * sizeof(uint32_t);
        }
    array_grow(&entry->bytes, &entry->capacity, size, 1); /* is right for most */
    coding_put_number(entry, transcript->key.size);
    coding_put(entry, transcript->key.bytes, transcript->key.size);
    cache_depends_write(depends, entry);
    coding_put_number(entry, count);
    for (size_t i = 0; i < transcript->count; i++) {
        const struct pair *pair = &transcript->pairs[i];
        if (numbers[i + 1] == 0)
            continue;
        coding_put_number(entry, numbers[pair->parent]);
        coding_put_number(entry, pair->question_size);
        coding_put(entry, place(transcript, pair, pair->question), pair->question_size);
        coding_put_number(entry, pair->answer_size);
        coding_put(entry, place(transcript, pair, pair->answer), pair->answer_size);
    }
    free(numbers);
}

/* Adds the files on which the answers that were read depend. */
static bool join(struct cache_depends *depends, const struct cache_depends *read)
{
    struct coding coding = {0};
    cache_depends_write(read, &coding);
    struct decoding decoding = {coding.bytes, coding.bytes + coding.size, false};
    const bool good = !coding.failed && cache_depends_read(depends, &decoding);
    coding_free(&coding);
    return good;
}

/* Returns true if an entry with all pairs would be too large. */
static bool is_grown(const struct cache_transcript *transcript)
{
    size_t all = 0, last = 0;
    for (size_t i = 0; i < transcript->count; i++) {
        const struct pair *pair = &transcript->pairs[i];
        const size_t size = pair->question_size + pair->answer_size;
        all += size;
        last += pair->used ? size : 0;
    }
    return all > TREE_MAX && all / TREE_TIMES > last;
}

void cache_transcript_save(struct cache_transcript *transcript, struct cache_depends *depends)
{
    struct coding entry = {0};
    if (!transcript || transcript->stopped || !transcript->changed || depends->unknown ||
        !join(depends, &transcript->depends) || !cache_depends_hold(depends))
        return;
    write_entry(transcript, depends, is_grown(transcript), &entry);
    const struct cache_key key = cache_key_of(transcript->key.bytes, transcript->key.size);
    if (!entry.failed)
        cache_folder_write(transcript->folder, &key, entry.bytes, entry.size, CACHE_FOLDER_LIMIT);
    coding_free(&entry);
    transcript->changed = false;
}

/* ---- questions -------------------------------------------------------------------------- */

struct cache_transcript *cache_transcript_new(int folder)
{
    struct cache_transcript *transcript = calloc(1, sizeof(*transcript));
    if (!transcript)
        return NULL;
    transcript->folder = folder;
    coding_put_number(&transcript->key, FORMAT);
    return transcript;
}

void cache_transcript_free(struct cache_transcript *transcript)
{
    if (!transcript)
        return;
    forget(transcript);
    coding_free(&transcript->key);
    free(transcript);
}

void cache_transcript_repeat_by(struct cache_transcript *transcript, enum cache_kind kind,
                                cache_repeat *repeat, void *context)
{
    transcript->repeaters[kind] = (struct repeater){repeat, context};
}

/* Adds what identifies a loaded library. */
static int add_library(struct dl_phdr_info *library, size_t size, void *context)
{
    (void)size;
    if (library->dlpi_name && library->dlpi_name[0] == '/')
        cache_depends_add(context, library->dlpi_name);
    return 0;
}

bool cache_transcript_machine(struct coding *fact)
{
    struct cache_depends programs = {0};
    struct utsname kernel;
    memset(&kernel, 0, sizeof(kernel));
    cache_depends_add(&programs, "/proc/self/exe");
    dl_iterate_phdr(add_library, &programs);
    const bool good = uname(&kernel) == 0 && access("/proc/self/exe", F_OK) == 0;
    coding_put_text(fact, MPROF_VERSION);
    cache_depends_write(&programs, fact);
    coding_put(fact, &kernel, sizeof(kernel));
    coding_put_number(fact, geteuid());
    coding_put_number(fact, getegid());
    cache_depends_free(&programs);
    return good && !fact->failed;
}

/* Asks all questions again that were answered from the entry, and goes on without it. */
static void depart(struct cache_transcript *transcript)
{
    if (transcript->departed)
        return;
    transcript->departed = true;
    transcript->inside++;
    for (size_t i = 0; i < transcript->path_count; i++) {
        const struct pair *pair = &transcript->pairs[transcript->path[i]];
        const uint8_t *question = place(transcript, pair, pair->question);
        const struct repeater *repeater = &transcript->repeaters[question[0]];
        struct decoding decoding = {question + 1, question + pair->question_size, false};
        if (repeater->repeat)
            repeater->repeat(repeater->context, &decoding);
    }
    transcript->inside--;
}

void cache_transcript_stop(struct cache_transcript *transcript)
{
    if (!transcript || transcript->stopped)
        return;
    if (transcript->begun)
        depart(transcript);
    forget(transcript);
}

bool cache_transcript_listens(const struct cache_transcript *transcript)
{
    return transcript && !transcript->stopped && transcript->inside == 0;
}

static uint32_t parent_now(const struct cache_transcript *transcript)
{
    return transcript->path_count == 0 ? 0 : transcript->path[transcript->path_count - 1] + 1;
}

/* Returns the question's pair after the questions of this call. NO_PAIR: it is new. */
static uint32_t find(const struct cache_transcript *transcript, const struct coding *question)
{
    const uint32_t parent = parent_now(transcript);
    const uint64_t hash = hash_question(parent, question->bytes, question->size);
    size_t probe = index_map_begin(&transcript->by_question, hash);
    uint32_t index;
    while ((index = index_map_next(&transcript->by_question, hash, &probe)) != INDEX_NONE) {
        const struct pair *pair = &transcript->pairs[index];
        if (pair->parent == parent && pair->question_size == question->size &&
            memcmp(place(transcript, pair, pair->question), question->bytes, question->size) == 0)
            return index;
    }
    return NO_PAIR;
}

bool cache_transcript_ask(struct cache_transcript *transcript, const struct coding *question,
                          struct decoding *answer)
{
    if (!cache_transcript_listens(transcript))
        return false;
    if (!transcript->begun)
        begin(transcript);
    if (question->failed)
        cache_transcript_stop(transcript);
    if (transcript->stopped)
        return false;
    if (!transcript->departed) {
        const uint32_t index = find(transcript, question);
        if (index != NO_PAIR && step(transcript, index)) {
            const struct pair *pair = &transcript->pairs[index];
            const uint8_t *at = place(transcript, pair, pair->answer);
            *answer = (struct decoding){at, at + pair->answer_size, false};
            return true;
        }
        depart(transcript);
    }
    transcript->inside++;
    return false;
}

void cache_transcript_answer(struct cache_transcript *transcript, const struct coding *question,
                             const struct coding *answer)
{
    if (!transcript || transcript->stopped || transcript->inside == 0)
        return;
    if (--transcript->inside > 0)
        return;
    struct pair pair = {.parent = parent_now(transcript), .question = transcript->bytes.size};
    pair.question_size = question->size;
    coding_put(&transcript->bytes, question->bytes, question->size);
    pair.answer = transcript->bytes.size;
    pair.answer_size = answer->size;
    coding_put(&transcript->bytes, answer->bytes, answer->size);
    transcript->changed = true;
    if (answer->failed || transcript->bytes.failed || transcript->bytes.size > CACHE_ENTRY_MAX ||
        !add_pair(transcript, &pair) || !step(transcript, (uint32_t)transcript->count - 1))
        forget(transcript);
}

void cache_transcript_tell(struct cache_transcript *transcript, const struct coding *fact)
{
    struct coding question = {0};
    struct decoding answer;
    if (!cache_transcript_listens(transcript))
        return;
    if (!transcript->begun) {
        coding_put_number(&transcript->key, fact->size);
        coding_put(&transcript->key, fact->bytes, fact->size);
        transcript->key.failed = transcript->key.failed || fact->failed;
        return;
    }
    coding_put_number(&question, CACHE_FACT);
    coding_put(&question, fact->bytes, fact->size);
    question.failed = question.failed || fact->failed;
    if (!cache_transcript_ask(transcript, &question, &answer))
        cache_transcript_answer(transcript, &question, &(struct coding){0});
    coding_free(&question);
}
