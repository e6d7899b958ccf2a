/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and types that the traces of one call share: the files of a program are opened, and their
 * debug information is read, once for all processes of a run.
 */
#ifndef MPROF_INGEST_SHARED_NAMES_H
#define MPROF_INGEST_SHARED_NAMES_H

#include <stdbool.h>

#include "ingest/symbols.h"
#include "ingest/types.h"

struct shared_names {
    struct symbols *symbols;
    struct types *types;
};

/*
 * Readies them for a trace: `names` is zero at first, and kept from the trace before. `options` are
 * the same each time. False where memory is exhausted.
 */
bool shared_names_begin(struct shared_names *names, const struct symbols_options *options);
void shared_names_free(struct shared_names *names);

#endif
