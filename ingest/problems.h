/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What did not fit: counted by kind in full, and kept one by one up to a bound per kind.
 */
#ifndef MPROF_INGEST_PROBLEMS_H
#define MPROF_INGEST_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBLEMS_KEPT_PER_KIND 1000
#define PROBLEM_NONE INT64_MIN /* a number that is not known */

enum problem_kind {
    PROBLEM_DAMAGE,          /* bytes of the trace that could not be read */
    PROBLEM_MISSING_CHUNK,   /* a gap in a thread's sequence, or the file is cut */
    PROBLEM_CLOCK,           /* times are not to be trusted */
    PROBLEM_UNMATCHED_FREE,  /* free of what was not seen to be allocated */
    PROBLEM_DOUBLE_FREE,     /* freed before, and not allocated again in between */
    PROBLEM_MISMATCHED_FREE, /* freed by another function than goes with its allocation */
    PROBLEM_OVERLAP,         /* an address was allocated while it was live */
    PROBLEM_ORPHANED_STACK,  /* the stack was defined in a lost part of the trace */
    PROBLEM_DROPPED,         /* events that the recorder could not record */
    PROBLEM_IMPOSSIBLE_SIZE, /* larger than the address space: counted as 0 bytes */
    PROBLEM_FAILED,          /* the allocator returned NULL */
    PROBLEM_RECORD,          /* a record that says nothing usable */
    PROBLEM_KINDS
};

struct problem {
    enum problem_kind kind;
    int64_t ns, address, thread, byte_offset; /* PROBLEM_NONE: not known */
    char detail[120];
};

struct problems {
    uint64_t counts[PROBLEM_KINDS];
    struct problem *kept;
    size_t kept_count, capacity;
};

/* 'damage', 'unmatched free', … */
const char *problem_name(enum problem_kind kind);

/*
 * Counts one, and returns the kept problem to fill in (all numbers PROBLEM_NONE, detail as
 * given), or NULL where enough of its kind are kept.
 */
struct problem *problems_add(struct problems *problems, enum problem_kind kind, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));
void problems_free(struct problems *problems);

#endif
