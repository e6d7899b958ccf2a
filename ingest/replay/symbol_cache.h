/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names and types that the traces of one call share. So the files of a program are opened, and
 * their debug information is read, only once for all processes of a run.
 */
#ifndef MPROF_INGEST_REPLAY_SHARED_NAMES_H
#define MPROF_INGEST_REPLAY_SHARED_NAMES_H

#include <stdbool.h>

#include "ingest/symbols/symbols.h"
#include "ingest/types/types.h"

struct cache_transcript;

struct shared_names {
    struct symbols *symbols;
    struct types *types;
    struct cache_transcript *transcript; /* NULL: none */
    int folder;                          /* of `transcript` */
    const char *cache;                   /* the folder of transcripts; NULL: the user's */
    bool cached;                         /* answers of earlier calls are used and kept */
};

/*
 * Prepares `names` for a trace. At first it is zero except for `cache` and `cached`, and later as
 * the previous trace left it. Give
 * the same `options` each time. False if memory is exhausted.
 */
bool shared_names_begin(struct shared_names *names, const struct symbols_options *options);

/* Releases the names and types. If `cached` is set, keeps the answers for later calls. */
void shared_names_free(struct shared_names *names);

#endif
