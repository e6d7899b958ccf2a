/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notices the traces that the other processes of a run write into its folder.
 *
 * The folder is looked at every few milliseconds at first, and watched by the kernel (inotify)
 * where the run is not over after some seconds: to end a watch takes the kernel 6 to 20 ms, which a
 * short program would wait for.
 *
 * Legal order: run_beside_begin(); run_beside_step() each time the descriptor becomes readable, and
 * as often as it asks for; run_beside_end().
 */
#ifndef MPROF_CAPTURE_RUN_BESIDE_H
#define MPROF_CAPTURE_RUN_BESIDE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct run_beside {
    const char *trace;     /* absolute path */
    char folder[PATH_MAX]; /* of the other processes' traces */
    time_t started;        /* what was written before is of another run */
    int watch;             /* inotify's descriptor; -1: none yet */
    bool may_watch;
    bool changed;             /* when it was looked at last: perhaps it did so again just after */
    struct timespec modified; /* the folder, by then */
    uint64_t watch_at, looked_at; /* monotonic ms */
    void *known;                  /* what was found by looking: a tree of paths */
};

/* A trace that appeared at `since` (monotonic ms) or later. In rare cases one comes twice. */
typedef void run_beside_each(void *context, const char *trace, uint64_t since);

/* `at_once`: each is to be noticed in the moment it appears. `trace` must stay. */
void run_beside_begin(struct run_beside *beside, const char *trace, bool at_once, uint64_t now);

/* Looks for new ones. Milliseconds until the next step; -1: there is one when the descriptor is
 * readable. `now`: monotonic ms. */
int run_beside_step(struct run_beside *beside, uint64_t now, run_beside_each *each, void *context);

void run_beside_end(struct run_beside *beside);

#endif
