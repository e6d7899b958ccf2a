/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suppressions of leaks that a recorded program contains (mprof-run --suppressions), read from
 * the SUPPRESSIONS records of its trace.
 */
#ifndef MPROF_INGEST_REPLAY_PROGRAM_SUPPRESSIONS_H
#define MPROF_INGEST_REPLAY_PROGRAM_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/problems.h"
#include "ingest/trace/extended.h"

struct suppressions;

/* Zero-initialized: the trace has no such record. */
struct program_suppressions {
    bool found;
    bool broken;      /* pieces are missing or do not fit together */
    uint64_t outcome; /* enum trace_suppressions */
    char *text;       /* the part of it that was read */
    size_t length, capacity;
    uint64_t total; /* bytes that the program's function returned */
};

/* Takes a SUPPRESSIONS record. False if memory is exhausted. */
bool program_suppressions_add(struct program_suppressions *program,
                              const struct trace_extension *extension);
void program_suppressions_free(struct program_suppressions *program);

/*
 * Returns the patterns of `file`, which may be NULL, and after them those of the program. Notes in
 * `problems`, unless that is NULL, why some or all of the program's are missing, and each line that
 * is not a suppression. NULL if memory is exhausted. Free it by suppressions_free().
 */
struct suppressions *program_suppressions_join(const struct program_suppressions *program,
                                               const struct suppressions *file,
                                               struct problems *problems);

#endif
