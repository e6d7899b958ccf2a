/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows the traces of one run while they are recorded: that of the program, and those that its
 * children and the programs executed in its place write beside it. Each trace gets samples of the
 * resident set, is packed or rotated if that was asked for, and is told when to begin and to stop.
 *
 * Legal order: run_follow_new(); then run_follow_step() each time the descriptor becomes readable
 * or the milliseconds that the last step returned have passed; run_follow_free() after the program
 * has ended. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "capture/run/client.h"
#include "capture/run/residency.h"
#include "capture/run/rotate.h"

struct trace_watcher {
    const char *trace;        /* absolute path */
    char folder[PATH_MAX];    /* of the other processes' traces */
    time_t started;           /* older files belong to another run */
    int watch;                /* inotify's descriptor, or -1 */
    bool tried;               /* to watch */
    bool changed;             /* at the last look; it may have changed again just after that */
    struct timespec modified; /* date of the folder at that look */
    uint64_t looked_at;       /* monotonic ms */
    void *known;              /* the traces found by looking: a tree of paths */
};

/* Takes a trace that appeared at `since` (monotonic ms) or later. Rarely, one comes twice. */
typedef void trace_watcher_each(void *context, const char *trace, uint64_t since);

struct run_follow;

struct run_follow_options {
    bool compress; /* traces that are marked so are packed */
    bool steers;   /* run_follow_steer() will be called */
    pid_t program; /* the process that is not steered */
    struct run_rotate_options rotate;
    struct run_residency_options residency;
};

/* `trace`: absolute path of the program's trace, which need not exist yet; it must stay valid.
 * Returns NULL if memory is exhausted. */
struct run_follow *run_follow_new(const char *trace, const struct run_follow_options *options);
void run_follow_free(struct run_follow *follow);

/* Returns a descriptor that becomes readable when a trace has appeared, or -1 if there is none. */
int run_follow_descriptor(const struct run_follow *follow);

/* Does what is due. Returns the milliseconds until something is due again, or -1 for never. */
int run_follow_step(struct run_follow *follow);

/* Tells the processes of the run, and the programs they execute later, what is wanted. Call it
 * every RUN_STEER_INTERVAL ms. */
void run_follow_steer(struct run_follow *follow, enum run_wanted wanted);
/* Returns true if one of the processes records, or did. */
bool run_follow_records(const struct run_follow *follow);

/* Calls `each` for every trace that is open. */
typedef void run_follow_one(void *context, const struct client *client, const char *path);
void run_follow_each(const struct run_follow *follow, run_follow_one *each, void *context);

/* Returns the bytes that are resident in `process` now, or 0 if not known. */
uint64_t run_resident_now(pid_t process);

/* Notices the traces that the other processes of a run write into its folder.
 *
 * The kernel watches the folder (inotify). If it cannot, the folder is read every few milliseconds.
 *
 * Legal order: trace_watcher_begin(); trace_watcher_step() each time the descriptor becomes
 * readable, and as often as it asks for; trace_watcher_end(). */

/* `trace` must stay valid. */
void trace_watcher_begin(struct trace_watcher *watcher, const char *trace, uint64_t now);

/* Looks for new traces. Returns the milliseconds until the next step, or -1 if it comes when the
 * descriptor is readable. `now`: monotonic ms. */
int trace_watcher_step(struct trace_watcher *watcher, uint64_t now, trace_watcher_each *each,
                       void *context);
void trace_watcher_end(struct trace_watcher *watcher);
