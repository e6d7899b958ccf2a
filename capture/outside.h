/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks a recorder, from another process, through its trace file; trace-format.md says how.
 *
 * Legal order: outside_open(); then any number of times outside_ask(), outside_look() until it does
 * not return OUTSIDE_WAITING, or outside_withdraw(); then outside_close(). outside_ask() holds a
 * lock on the file until the answer is taken or the request withdrawn, so that two that ask do not
 * meet. For programs of our own: errno changes, and stdio is used.
 */
#ifndef MPROF_CAPTURE_OUTSIDE_H
#define MPROF_CAPTURE_OUTSIDE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "schemas/trace_layout.h"

struct outside {
    int descriptor;
    struct trace_file_header *header; /* mapped, changes while the program runs */
    bool writable;
    dev_t device;
    ino_t inode;
    unsigned looks; /* since it was asked */
};

enum outside_status {
    OUTSIDE_GOOD,
    OUTSIDE_WAITING,   /* not answered yet */
    OUTSIDE_BUSY,      /* another process is asking just now */
    OUTSIDE_FINISHED,  /* the trace is complete: nothing is recorded into it any more */
    OUTSIDE_GONE,      /* the process that recorded it is no more */
    OUTSIDE_ERROR,     /* see errno */
    OUTSIDE_NOT_TRACE, /* no trace, or not of this version */
};

/* Opens the trace, for writing where it may be written. OUTSIDE_GOOD, _ERROR or _NOT_TRACE. */
enum outside_status outside_open(struct outside *outside, const char *path);
void outside_close(struct outside *outside);

/*
 * Whether somebody records into the trace: OUTSIDE_GOOD, _FINISHED or _GONE. A process that has the
 * number now, but another file mapped, does not count, where its mappings may be read.
 */
enum outside_status outside_recorder(const struct outside *outside);

/*
 * Asks; `name` (NULL: "") is for marks and snapshots and at most TRACE_REQUEST_NAME - 1 bytes of it
 * are taken. OUTSIDE_WAITING where it was asked, OUTSIDE_BUSY, or what outside_recorder() says.
 */
enum outside_status outside_ask(struct outside *outside, enum trace_request request,
                                const char *name);

/* OUTSIDE_GOOD with the answer in *answer, or OUTSIDE_WAITING, _FINISHED, _GONE. */
enum outside_status outside_look(struct outside *outside, enum trace_answer *answer);

/*
 * Ends the recording where the recorder does not do it, with the clock pair of the end: nothing
 * more is recorded from here on. A request for it of our own is taken back first. False where the
 * recorder is doing what was asked; true also where nothing is recorded any more.
 */
bool outside_seal(struct outside *outside, uint64_t end_ticks, uint64_t end_monotonic_ns);

/* Takes the request back. False where the recorder has taken it: it will be done, if the program
 * goes on. The lock is given back either way. */
bool outside_withdraw(struct outside *outside);

/*
 * The trace that `process` records into, by what it has mapped: its path into `path` (PATH_MAX
 * bytes). OUTSIDE_GOOD, or OUTSIDE_FINISHED where it does so no more; OUTSIDE_NOT_TRACE: none;
 * OUTSIDE_GONE where there is no such process; OUTSIDE_ERROR where its mappings may not be read.
 */
enum outside_status outside_find(pid_t process, char *path);

#endif
