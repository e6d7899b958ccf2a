/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/asked.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/cache/question.h"

static void put_frames(struct coding *coding, const struct symbols_frame *frames, size_t count)
{
    coding_put_number(coding, count);
    for (size_t i = 0; i < count; i++) {
        const struct symbols_frame *frame = &frames[i];
        coding_put_text(coding, frame->function);
        coding_put_text(coding, frame->linkage_name);
        coding_put_text(coding, frame->file);
        coding_put_text(coding, frame->decl_file);
        coding_put_number(coding, frame->start);
        coding_put_number(coding, frame->alone);
        coding_put_number(coding, frame->line);
        coding_put_number(coding, frame->decl_line);
        coding_put_number(coding, frame->inlined);
    }
}

static const char *take_text(struct symbols *symbols, struct decoding *decoding)
{
    const char *text = decoding_text(decoding);
    return !text ? NULL : symbols_keep(symbols, text);
}

/* Returns the number of frames. 0: the bytes are damaged. */
static size_t take_frames(struct symbols *symbols, struct decoding *decoding,
                          struct symbols_frame *frames)
{
    const uint64_t count = decoding_number(decoding);
    for (uint64_t i = 0; i < count && i < SYMBOLS_FRAMES_MAX; i++) {
        frames[i] = (struct symbols_frame){.function = take_text(symbols, decoding)};
        frames[i].linkage_name = take_text(symbols, decoding);
        frames[i].file = take_text(symbols, decoding);
        frames[i].decl_file = take_text(symbols, decoding);
        frames[i].start = decoding_number(decoding);
        frames[i].alone = decoding_number(decoding);
        frames[i].line = (uint32_t)decoding_number(decoding);
        frames[i].decl_line = (uint32_t)decoding_number(decoding);
        frames[i].inlined = decoding_number(decoding) != 0;
        if (!frames[i].function)
            return 0;
    }
    return decoding->failed || count > SYMBOLS_FRAMES_MAX ? 0 : count;
}

/* Code outside of modules is named by the trace's own perf map, which is read anyway. */
static bool is_asked(const struct symbols *symbols, uint32_t id)
{
    return cache_transcript_listens(symbols_transcript(symbols)) && symbols_is_known(symbols, id);
}

static void begin_question(struct cache_question *question, struct symbols *symbols,
                           enum cache_kind kind, uint32_t id)
{
    cache_question_begin(question, symbols_transcript(symbols), kind);
    coding_put_number(&question->asked, symbols_file_number(symbols, id));
}

size_t symbols_lookup(struct symbols *symbols, uint32_t id, uint64_t pc,
                      struct symbols_frame *frames)
{
    struct cache_question question;
    if (!is_asked(symbols, id))
        return symbols_find(symbols, id, pc, frames);
    begin_question(&question, symbols, CACHE_LOOKUP, id);
    coding_put_number(&question.asked, pc);
    cache_question_ask(&question);
    size_t count = take_frames(symbols, &question.known, frames);
    if (!cache_question_accept(&question, count > 0)) {
        count = symbols_find(symbols, id, pc, frames);
        put_frames(&question.found, frames, count);
    }
    cache_question_end(&question);
    return count;
}

const char *symbols_status(struct symbols *symbols, uint32_t id)
{
    struct cache_question question;
    if (!is_asked(symbols, id))
        return symbols_find_status(symbols, id);
    begin_question(&question, symbols, CACHE_STATUS, id);
    cache_question_ask(&question);
    const char *status = take_text(symbols, &question.known);
    if (!cache_question_accept(&question, status != NULL)) {
        status = symbols_find_status(symbols, id);
        coding_put_text(&question.found, status);
    }
    cache_question_end(&question);
    return status;
}

static void repeat_lookup(void *context, struct decoding *question)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    const uint32_t number = (uint32_t)decoding_number(question);
    const uint64_t pc = decoding_number(question);
    if (!question->failed)
        symbols_find(context, number, pc, frames);
}

static void repeat_status(void *context, struct decoding *question)
{
    const uint32_t number = (uint32_t)decoding_number(question);
    if (!question->failed)
        symbols_find_status(context, number);
}

/* A list of folders, or a server of debug files: nobody can say which files answers depend on. */
static bool is_unknown_place(const char *folder)
{
    return folder && strchr(folder, ':');
}

void symbols_begin_transcript(struct symbols *symbols, const char *debug_dir, const char *sysroot)
{
    struct cache_transcript *transcript = symbols_transcript(symbols);
    struct coding fact = {0};
    const char *servers = getenv("DEBUGINFOD_URLS");
    cache_transcript_repeat_by(transcript, CACHE_LOOKUP, repeat_lookup, symbols);
    cache_transcript_repeat_by(transcript, CACHE_STATUS, repeat_status, symbols);
    coding_put_text(&fact, debug_dir);
    coding_put_text(&fact, sysroot);
    if (is_unknown_place(debug_dir) || is_unknown_place(sysroot) || (servers && *servers) ||
        !cache_transcript_machine(&fact))
        cache_transcript_stop(transcript);
    cache_transcript_tell(transcript, &fact);
    coding_free(&fact);
}

void symbols_tell_module(struct symbols *symbols, uint32_t id, const char *path,
                         const uint8_t *build_id, size_t build_id_length)
{
    struct cache_transcript *transcript = symbols_transcript(symbols);
    struct coding fact = {0};
    if (!cache_transcript_listens(transcript))
        return;
    /* Another trace may have another folder for it. */
    if (path[0] != '/' && strchr(path, '/')) {
        cache_transcript_stop(transcript);
        return;
    }
    coding_put_number(&fact, id);
    coding_put_text(&fact, path);
    coding_put_number(&fact, build_id_length);
    coding_put(&fact, build_id, build_id_length);
    cache_transcript_tell(transcript, &fact);
    coding_free(&fact);
}

void symbols_tell_trace(struct symbols *symbols)
{
    struct cache_transcript *transcript = symbols_transcript(symbols);
    struct coding fact = {0};
    coding_put_text(&fact, "trace");
    if (cache_transcript_listens(transcript))
        cache_transcript_tell(transcript, &fact);
    coding_free(&fact);
}
