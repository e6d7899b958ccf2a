/* SPDX-License-Identifier: BSD-2-Clause */
/* The errors of the ingest library: one status, which is passed up to main().
 *
 * A function that can fail takes a `struct ingest_status *` and returns false or NULL after
 * ingest_fail(). The message is one line for a person: what, where, what to do next. Names in it
 * are printable (schemas/printable.h). */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ingest_code {
    INGEST_OK = 0,
    INGEST_BAD_INPUT,   /* in the trace or the target file: exit status 1 */
    INGEST_BAD_USAGE,   /* in the command line: exit status 2 */
    INGEST_INTERRUPTED, /* the user asked to stop */
};

struct ingest_status {
    enum ingest_code code;
    char message[1024];
};

/* Fills `status`. Returns false, so that a caller can `return ingest_fail(...)`. */
bool ingest_fail(struct ingest_status *status, enum ingest_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns true if a flag that a signal sets is set. NULL: there is none. Loops over all that a
 * trace has look at it: a trace may be large. */
static inline bool ingest_is_interrupted(const volatile sig_atomic_t *interrupted)
{
    return interrupted != NULL && *interrupted != 0;
}

/* Returns false, after ingest_fail(), if the live blocks take far more `bytes` of memory than the
 * file has. A few packed bytes can stand for any number of blocks that are alike; mprof-run packs
 * an allocation into a third of a byte or more. */
bool ingest_check_live(uint64_t live, uint64_t bytes, uint64_t size, const char *path,
                       struct ingest_status *status);

/* Bytes that a live block takes in the end: packed, with its place in the order of allocation. */
enum { INGEST_LIVE_BYTES = 48 };

/* Calls ingest_fail() for exhausted memory. `what` names what the memory was for. */
bool ingest_fail_memory(struct ingest_status *status, const char *what);

/* ---- problems ------------------------------------------------------------------------------ */

/* The problems of a trace, counted by kind. Each kind keeps a bounded number of its first. */

#define PROBLEMS_KEPT_PER_KIND 1000
#define PROBLEM_NONE INT64_MIN /* a number that is not known */

enum problem_kind {
    PROBLEM_DAMAGE,          /* bytes of the trace that could not be read */
    PROBLEM_MISSING_CHUNK,   /* a gap in a thread's sequence, or the file is cut */
    PROBLEM_CLOCK,           /* times cannot be trusted */
    PROBLEM_UNMATCHED_FREE,  /* free of a block whose allocation was not seen */
    PROBLEM_DOUBLE_FREE,     /* freed before, and not allocated again in between */
    PROBLEM_MISMATCHED_FREE, /* freed by a function that does not match its allocation */
    PROBLEM_WRONG_SIZE,      /* an operator delete stated a wrong size */
    PROBLEM_OVERLAP,         /* an address was allocated while it was live */
    PROBLEM_ORPHANED_STACK,  /* the stack was defined in a lost part of the trace */
    PROBLEM_DROPPED,         /* events that the recorder could not record */
    PROBLEM_IMPOSSIBLE_SIZE, /* larger than the address space: counted as 0 bytes */
    PROBLEM_FAILED,          /* the allocator returned NULL */
    PROBLEM_RECORD,          /* a record that is not usable */
    PROBLEM_SUPPRESSIONS,    /* the suppressions inside the program are missing or damaged */
    PROBLEM_DEBUG,           /* debug information of a module cannot be read */
    PROBLEM_UNRECORDED,      /* a program of the run that ran without the recorder */
    PROBLEM_KINDS
};

struct problem {
    enum problem_kind kind;
    int64_t ns, address, thread, byte_offset; /* PROBLEM_NONE: not known */
    char detail[256];
};

struct problems {
    uint64_t counts[PROBLEM_KINDS];
    struct problem *kept;
    size_t kept_count, capacity;
};

/* Returns 'damage', 'unmatched free', … */
const char *problem_name(enum problem_kind kind);

/* Counts a problem. Returns the kept one to fill in (all numbers PROBLEM_NONE, detail as given), or
 * NULL if it is not kept. */
struct problem *problems_add(struct problems *problems, enum problem_kind kind, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

/* Adds a later pass's problems as if one by one. False if memory is exhausted. */
bool problems_join(struct problems *sum, const struct problems *later);
void problems_free(struct problems *problems);
