/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/shared_names.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ingest/cache/folder.h"
#include "ingest/cache/transcript.h"

/* Bytes of debug information that stay open from trace to trace. With more, all is read again. */
#define BYTES_MAX (UINT64_C(512) << 20)

/*
 * Files that stay open. Files without a build-id are opened for each trace, and the usual limit of
 * a process is 1024 descriptors.
 */
#define FILES_MAX 256

/* Without a transcript all is asked as if there were no earlier calls. */
static void begin_transcript(struct shared_names *names)
{
    if (!names->cached)
        return;
    names->folder = cache_folder_open(names->cache);
    if (names->folder < 0)
        return;
    names->transcript = cache_transcript_new(names->folder);
    if (names->transcript)
        symbols_set_transcript(names->symbols, names->transcript);
    else
        close(names->folder);
}

/* Tells whether the open files have become too many. The answer is one of the questions: it decides
 * about the state of the symbolizer. */
static bool are_too_many(const struct shared_names *names)
{
    struct coding question = {0}, answer = {0};
    struct decoding known;
    bool many = false;
    const bool asked = cache_transcript_listens(names->transcript);
    coding_put_number(&question, CACHE_LIMIT);
    if (asked && cache_transcript_ask(names->transcript, &question, &known)) {
        many = decoding_number(&known) != 0;
    } else {
        many =
            symbols_bytes(names->symbols) > BYTES_MAX || symbols_files(names->symbols) > FILES_MAX;
        coding_put_number(&answer, many);
        if (asked)
            cache_transcript_answer(names->transcript, &question, &answer);
    }
    coding_free(&question);
    coding_free(&answer);
    return many;
}

bool shared_names_begin(struct shared_names *names, const struct symbols_options *options)
{
    if (names->symbols && are_too_many(names))
        shared_names_free(names);
    if (!names->symbols) {
        names->symbols = symbols_new(options);
        if (names->symbols)
            begin_transcript(names);
    }
    if (names->symbols && !names->types)
        names->types = types_new(names->symbols);
    if (!names->types)
        return false;
    symbols_next_trace(names->symbols);
    return true;
}

/* An answer that a limit of this process made is no answer for others. */
static bool is_limited(const struct shared_names *names)
{
    struct rlimit open_files, memory, data;
    /* The files from which the answers come are still open. */
    const int next = fcntl(names->folder, F_DUPFD_CLOEXEC, 0);
    if (next < 0)
        return true;
    close(next);
    return getrlimit(RLIMIT_NOFILE, &open_files) != 0 || open_files.rlim_cur < (rlim_t)next + 64 ||
           getrlimit(RLIMIT_AS, &memory) != 0 || memory.rlim_cur != RLIM_INFINITY ||
           getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != RLIM_INFINITY;
}

void shared_names_free(struct shared_names *names)
{
    if (names->transcript) {
        if (!is_limited(names))
            cache_transcript_save(names->transcript, symbols_depends(names->symbols));
        close(names->folder);
    }
    types_free(names->types);
    symbols_free(names->symbols);
    cache_transcript_free(names->transcript);
    *names = (struct shared_names){.cache = names->cache, .cached = names->cached};
}
