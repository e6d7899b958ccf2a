/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/symbol_cache.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ingest/cache/folder.h"
#include "ingest/cache/question.h"

/* Bytes of debug information that stay open from trace to trace. With more, all is read again. */
#define BYTES_MAX (UINT64_C(512) << 20)

/*
 * Files that stay open. Files without a build-id are opened for each trace, and the usual limit of
 * a process is 1024 descriptors.
 */
#define FILES_MAX 256

/* Without a transcript all is asked as if there were no earlier calls. */
static void begin_transcript(struct symbol_cache *cache)
{
    if (!cache->persistent)
        return;
    cache->folder = cache_folder_open(cache->path);
    if (cache->folder < 0)
        return;
    cache->transcript = cache_transcript_new(cache->folder);
    if (cache->transcript)
        symbols_set_transcript(cache->symbols, cache->transcript);
    else
        close(cache->folder);
}

/* Returns true if the open files have become too many. The answer is one of the questions: it
 * decides about the state of the symbolizer. */
static bool are_too_many(const struct symbol_cache *cache)
{
    struct cache_question question;
    bool many =
        symbols_bytes(cache->symbols) > BYTES_MAX || symbols_files(cache->symbols) > FILES_MAX;
    if (!cache_transcript_listens(cache->transcript))
        return many;
    cache_question_begin(&question, cache->transcript, CACHE_LIMIT);
    if (cache_question_ask(&question))
        many = decoding_number(&question.known) != 0;
    else
        coding_put_number(&question.found, many);
    cache_question_end(&question);
    return many;
}

bool symbol_cache_begin(struct symbol_cache *cache, const struct symbols_options *options)
{
    if (cache->symbols && are_too_many(cache))
        symbol_cache_free(cache);
    if (!cache->symbols) {
        cache->symbols = symbols_new(options);
        if (cache->symbols)
            begin_transcript(cache);
    }
    if (cache->symbols && !cache->types)
        cache->types = types_new(cache->symbols);
    if (!cache->types)
        return false;
    symbols_next_trace(cache->symbols);
    return true;
}

/* Returns true if a limit of this process may have changed answers: other processes must not use
 * them. */
static bool is_limited(const struct symbol_cache *cache)
{
    struct rlimit open_files, memory, data;
    /* The files from which the answers come are still open. */
    const int next = fcntl(cache->folder, F_DUPFD_CLOEXEC, 0);
    if (next < 0)
        return true;
    close(next);
    return getrlimit(RLIMIT_NOFILE, &open_files) != 0 || open_files.rlim_cur < (rlim_t)next + 64 ||
           getrlimit(RLIMIT_AS, &memory) != 0 || memory.rlim_cur != RLIM_INFINITY ||
           getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != RLIM_INFINITY;
}

void symbol_cache_free(struct symbol_cache *cache)
{
    if (cache->transcript) {
        if (!is_limited(cache))
            cache_transcript_save(cache->transcript, symbols_depends(cache->symbols));
        close(cache->folder);
    }
    types_free(cache->types);
    symbols_free(cache->symbols);
    cache_transcript_free(cache->transcript);
    *cache = (struct symbol_cache){.path = cache->path, .persistent = cache->persistent};
}
