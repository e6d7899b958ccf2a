/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes a snapshot of the references of a recorded process into its trace (trace-format.md,
 * "References"): stops all its threads, reads the words that lead into its heap, lets the threads
 * go, and writes the words. The process runs no code for it. A thread that waits in the kernel goes
 * on waiting, also in a call that returns EINTR to others after a stop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/run/client.h"
#include "capture/run/follow.h"

#define REFERENCES_STOP 2.0 /* seconds that a program may stand still, unless others are set */
#define REFERENCES_WHY 512u

struct references_request {
    const char *path; /* of the trace */
    const char *name; /* NULL: "references" and its number */
    enum trace_references_reason reason;
    bool partial;       /* also if the recording began later than the program */
    double stop;        /* the longest stop, in seconds */
    double wait;        /* for threads that cannot be stopped at once, and other requests */
    uint32_t *progress; /* counted up while it works; NULL: nobody waits */
};

struct references_result {
    uint64_t words, bytes, left_out; /* bytes that could not be read */
    uint64_t threads;
    double stopped; /* seconds */
    char name[TRACE_REQUEST_NAME];
    char why[REFERENCES_WHY]; /* if it was refused, without a full stop */
};

/* Returns false if it was refused, and the process goes on as before. `process`: that of the trace,
 * as this pid namespace numbers it. */
bool references_take(const struct client *client, pid_t process,
                     const struct references_request *request, struct references_result *result);

/* Says in one line what was taken. */
void references_say(const char *program, pid_t process, const struct references_result *result);

/* The snapshots of mprof-run --references. All zero at first, except `stop`; then
 * run_references_parse() for each value of the option. */
struct run_references {
    bool at_end;
    int signal;       /* of mprof-run; 0: none */
    const char *mark; /* NULL: none */
    double after;     /* seconds from the program's start; 0: never */
    bool partial, quiet;
    double stop;
    double began_at; /* monotonic seconds; 0: not yet */
    unsigned signals_used;
    unsigned said; /* lines, of which there are not too many */
    bool taken_after;
};

/* Parses "end", SIGUSR1, SIGUSR2, "mark:NAME", or a time such as 10s. False for anything else. */
bool run_references_parse(struct run_references *references, const char *text);
/* Returns true if there is anything to do. */
bool run_references_wanted(const struct run_references *references);
/* Takes what is due in the traces that are followed. `signals`: how often the signal came so far.
 * Returns the milliseconds until the next call, or -1 for never. */
int run_references_step(struct run_references *references, struct run_follow *follow,
                        unsigned signals);

/* Does the same for the one trace of mprof-run --pid. run_references_end_attached() is for the end
 * of the recording, which the process survives. */
int run_references_step_attached(struct run_references *references, const struct client *client,
                                 const char *path);
void run_references_end_attached(struct run_references *references, const struct client *client,
                                 const char *path);
