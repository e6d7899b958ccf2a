/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The errors of the ingest library: one status, which is passed up to main().
 *
 * A function that can fail takes a `struct ingest_status *` and returns false or NULL after
 * ingest_fail(). The message is one line for a person: what, where, what to do next. Names in it
 * are printable (schemas/printable.h).
 */
#ifndef MPROF_INGEST_BASE_STATUS_H
#define MPROF_INGEST_BASE_STATUS_H

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

/*
 * Returns false, after ingest_fail(), if far more blocks are live at once than a file has bytes.
 * Live blocks take memory, and a few packed bytes can stand for any number of blocks that are
 * alike; mprof-run packs an allocation into half a byte or more.
 */
bool ingest_check_live(uint64_t live, uint64_t size, const char *path,
                       struct ingest_status *status);

/* Calls ingest_fail() for exhausted memory. `what` names what the memory was for. */
bool ingest_fail_memory(struct ingest_status *status, const char *what);

#endif
