/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbolizer and the type rules for all traces of one call. So the files of a program are
 * opened, and their debug information is read, only once for all processes of a run.
 */
#ifndef MPROF_INGEST_REPLAY_SYMBOL_CACHE_H
#define MPROF_INGEST_REPLAY_SYMBOL_CACHE_H

#include <stdbool.h>

#include "ingest/symbols/symbols.h"
#include "ingest/types/types.h"

struct cache_transcript;

struct symbol_cache {
    struct symbols *symbols;
    struct types *types;
    struct cache_transcript *transcript; /* or NULL */
    int folder;                          /* of `transcript` */
    const char *path;                    /* the folder of transcripts; NULL: the user's */
    bool persistent;                     /* answers of earlier calls are used and kept */
};

/*
 * Prepares the cache for a trace. At first it is zero except for `path` and `persistent`, and later
 * as the previous trace left it. Give the same `options` each time. False if memory is exhausted.
 */
bool symbol_cache_begin(struct symbol_cache *cache, const struct symbols_options *options);

/* Releases the names and types. If `persistent` is set, keeps the answers for later calls. */
void symbol_cache_free(struct symbol_cache *cache);

#endif
