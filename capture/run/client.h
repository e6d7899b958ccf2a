/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks a recorder in another process, through its trace file; trace-format.md says how.
 *
 * Legal order: client_open(); then, any number of times, client_ask(), client_look() until it
 * does not return CLIENT_WAITING, or client_withdraw(); then client_close(). client_ask() locks
 * the file until the answer is taken or the request withdrawn, so that two processes do not ask at
 * once. For the project's own programs: errno changes, and stdio is used.
 */
#ifndef MPROF_CAPTURE_RUN_CLIENT_H
#define MPROF_CAPTURE_RUN_CLIENT_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "schemas/trace_layout.h"

struct client {
    int descriptor;
    struct trace_file_header *header; /* mapped, changes while the program runs */
    bool writable;
    dev_t device;
    ino_t inode;
    unsigned looks; /* since the last request */
};

enum client_status {
    CLIENT_GOOD,
    CLIENT_WAITING,   /* not answered yet */
    CLIENT_BUSY,      /* another process is asking just now */
    CLIENT_FINISHED,  /* the trace is complete: nothing is recorded into it any more */
    CLIENT_GONE,      /* the process that recorded it has ended */
    CLIENT_ERROR,     /* see errno */
    CLIENT_NOT_TRACE, /* no trace, or not of this version */
};

/* Opens the trace, for writing if it may be written. CLIENT_GOOD, _ERROR or _NOT_TRACE. */
enum client_status client_open(struct client *client, const char *path);
void client_close(struct client *client);

/*
 * Returns true if a process records into the trace: CLIENT_GOOD, _FINISHED or _GONE. A process that
 * has the same id now but does not map the file does not count, if its mappings may be read.
 */
enum client_status client_recorder(const struct client *client);
/* After CLIENT_GONE: returns the process that records into the trace under another number, as this
 * pid namespace numbers it. 0: none is seen. */
pid_t client_recorder_elsewhere(const struct client *client);

/*
 * Asks. `name` (NULL: "") is for marks and snapshots, and at most TRACE_REQUEST_NAME - 1 bytes of
 * it count. CLIENT_WAITING if it was asked, CLIENT_BUSY, or the result of client_recorder().
 */
enum client_status client_ask(struct client *client, enum trace_request request, const char *name);

/* Looks for the answer. CLIENT_GOOD with the answer in *answer, or CLIENT_WAITING, _FINISHED,
 * _GONE. */
enum client_status client_look(struct client *client, enum trace_answer *answer);

/*
 * Ends the recording if the recorder does not do so, with the clock pair of the end: nothing more
 * is recorded from here on. First takes back a request of our own for it. False if the recorder is
 * doing what was asked; true also if nothing is recorded any more.
 */
bool client_seal(struct client *client, uint64_t end_ticks, uint64_t end_monotonic_ns);

/* Notes in the trace how its process ended: `status` is as waitpid gives it, -1 if nobody saw it.
 * Does nothing if the process went on in another trace, or the trace may not be written. */
void client_note_outcome(struct client *client, int status);

/* Takes the request back. False if the recorder has taken it: it will be done if the program goes
 * on. Unlocks the file in either case. */
bool client_withdraw(struct client *client);

/*
 * Finds the trace that `process` records into by its mappings, and writes its path into `path`
 * (PATH_MAX bytes). CLIENT_GOOD; CLIENT_FINISHED if it does not record any more;
 * CLIENT_NOT_TRACE if it has none; CLIENT_GONE if there is no such process; CLIENT_ERROR if its
 * mappings may not be read.
 */
enum client_status client_find(pid_t process, char *path);

#endif
