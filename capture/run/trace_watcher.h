/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notices the traces that the other processes of a run write into its folder.
 *
 * At first the folder is read every few milliseconds. If the run is not over after some seconds,
 * the kernel watches it (inotify). To end a watch takes the kernel 6 to 20 ms, and a short program
 * would wait for that.
 *
 * Legal order: trace_watcher_begin(); trace_watcher_step() each time the descriptor becomes
 * readable, and as often as it asks for; trace_watcher_end().
 */
#ifndef MPROF_CAPTURE_RUN_TRACE_WATCHER_H
#define MPROF_CAPTURE_RUN_TRACE_WATCHER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct trace_watcher {
    const char *trace;     /* absolute path */
    char folder[PATH_MAX]; /* of the other processes' traces */
    time_t started;        /* older files belong to another run */
    int watch;             /* inotify's descriptor; -1: none yet */
    bool may_watch;
    bool changed;                 /* at the last look; it may have changed again just after that */
    struct timespec modified;     /* date of the folder at that look */
    uint64_t watch_at, looked_at; /* monotonic ms */
    void *known;                  /* the traces found by looking: a tree of paths */
};

/* Takes a trace that appeared at `since` (monotonic ms) or later. Rarely, one comes twice. */
typedef void trace_watcher_each(void *context, const char *trace, uint64_t since);

/* `at_once`: notice each trace in the moment it appears. `trace` must stay valid. */
void trace_watcher_begin(struct trace_watcher *watcher, const char *trace, bool at_once,
                         uint64_t now);

/* Looks for new traces. Returns the milliseconds until the next step, or -1 if it comes when the
 * descriptor is readable. `now`: monotonic ms. */
int trace_watcher_step(struct trace_watcher *watcher, uint64_t now, trace_watcher_each *each,
                       void *context);

void trace_watcher_end(struct trace_watcher *watcher);

#endif
