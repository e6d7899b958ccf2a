/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks a recorder in another process, through its trace file; trace-format.md says how.
 *
 * Legal order: outside_open(); then, any number of times, outside_ask(), outside_look() until it
 * does not return OUTSIDE_WAITING, or outside_withdraw(); then outside_close(). outside_ask() locks
 * the file until the answer is taken or the request withdrawn, so that two processes do not ask at
 * once. For the project's own programs: errno changes, and stdio is used.
 */
#ifndef MPROF_CAPTURE_RUN_CLIENT_H
#define MPROF_CAPTURE_RUN_CLIENT_H

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
    unsigned looks; /* since the last request */
};

enum outside_status {
    OUTSIDE_GOOD,
    OUTSIDE_WAITING,   /* not answered yet */
    OUTSIDE_BUSY,      /* another process is asking just now */
    OUTSIDE_FINISHED,  /* the trace is complete: nothing is recorded into it any more */
    OUTSIDE_GONE,      /* the process that recorded it has ended */
    OUTSIDE_ERROR,     /* see errno */
    OUTSIDE_NOT_TRACE, /* no trace, or not of this version */
};

/* Opens the trace, for writing if it may be written. OUTSIDE_GOOD, _ERROR or _NOT_TRACE. */
enum outside_status outside_open(struct outside *outside, const char *path);
void outside_close(struct outside *outside);

/*
 * Tells whether a process records into the trace: OUTSIDE_GOOD, _FINISHED or _GONE. A process that
 * has the same id now but does not map the file does not count, if its mappings may be read.
 */
enum outside_status outside_recorder(const struct outside *outside);

/*
 * Asks. `name` (NULL: "") is for marks and snapshots, and at most TRACE_REQUEST_NAME - 1 bytes of
 * it count. OUTSIDE_WAITING if it was asked, OUTSIDE_BUSY, or the result of outside_recorder().
 */
enum outside_status outside_ask(struct outside *outside, enum trace_request request,
                                const char *name);

/* Looks for the answer. OUTSIDE_GOOD with the answer in *answer, or OUTSIDE_WAITING, _FINISHED,
 * _GONE. */
enum outside_status outside_look(struct outside *outside, enum trace_answer *answer);

/*
 * Ends the recording if the recorder does not do so, with the clock pair of the end: nothing more
 * is recorded from here on. First takes back a request of our own for it. False if the recorder is
 * doing what was asked; true also if nothing is recorded any more.
 */
bool outside_seal(struct outside *outside, uint64_t end_ticks, uint64_t end_monotonic_ns);

/* Takes the request back. False if the recorder has taken it: it will be done if the program goes
 * on. Unlocks the file in either case. */
bool outside_withdraw(struct outside *outside);

/*
 * Finds the trace that `process` records into by its mappings, and writes its path into `path`
 * (PATH_MAX bytes). OUTSIDE_GOOD; OUTSIDE_FINISHED if it does not record any more;
 * OUTSIDE_NOT_TRACE if it has none; OUTSIDE_GONE if there is no such process; OUTSIDE_ERROR if its
 * mappings may not be read.
 */
enum outside_status outside_find(pid_t process, char *path);

#endif
