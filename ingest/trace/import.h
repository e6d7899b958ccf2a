/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the recordings of other profilers: a file of heaptrack becomes a trace, which the other
 * rooms read as if mprof-run had written it.
 *
 * Memory grows with the modules. For interpreted data it also holds the names, the different pairs
 * of size and stack, and the live blocks. The trace is a file without a name beside the session. */
#pragma once

#include <signal.h>
#include <stdint.h>

#include "ingest/base/status.h"
#include "ingest/trace/import_modules.h"

struct imported {
    int descriptor;             /* of the trace; -1: the file is not one to import */
    const char *what;           /* the source, and what it lacks; one line */
    struct import_names *names; /* NULL: the symbolizer reads the modules */
    bool made_up_addresses;     /* the file has none */
    uint64_t temporary; /* blocks that were freed before anything else was allocated or freed */
};

/* Imports the file at `path` if its beginning is that of another profiler's recording, plain or
 * compressed by gzip or zstd. It leaves other files, and files that cannot be opened, alone:
 * `descriptor` is then -1. False with `status` set if the file is cut or damaged, or has only sums.
 * Stops when `*interrupted` is not 0 (NULL: never). Call imported_free() in the end. */
bool import_file(const char *path, const char *session, const volatile sig_atomic_t *interrupted,
                 struct imported *imported, struct ingest_status *status);
void imported_free(struct imported *imported);
