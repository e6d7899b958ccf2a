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

struct shared_names {
    struct symbols *symbols;
    struct types *types;
};

/*
 * Prepares `names` for a trace. It is zero at first, and later as the previous trace left it. Give
 * the same `options` each time. False if memory is exhausted.
 */
bool shared_names_begin(struct shared_names *names, const struct symbols_options *options);
void shared_names_free(struct shared_names *names);

#endif
