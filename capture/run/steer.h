/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks one trace's recorder to begin, or to stop for the rest of the run, and repeats the request
 * until it is done. The recorder acts in one of the program's heap calls. Until then others
 * (mprof-ctl) must get their turn too. If no heap call comes, a stop is carried out from here.
 */
#ifndef MPROF_CAPTURE_RUN_STEER_H
#define MPROF_CAPTURE_RUN_STEER_H

#include <stdbool.h>

#include "capture/run/client.h"

/* Milliseconds between two turns. */
#define RUN_STEER_INTERVAL 10

/* The state that is wanted of all processes of a run. */
enum run_wanted {
    RUN_WANTED_NOTHING, /* each is left alone */
    RUN_WANTED_RECORD,  /* those that have not begun begin */
    RUN_WANTED_STOP,    /* those that record stop for the rest of the run */
};

/* The requests to one trace's recorder. All zero at first. */
struct run_steer {
    bool asked;
    enum run_wanted asked_for;
    double asked_at, rest_until; /* monotonic seconds */
    double stop_at;              /* time from which a stop is wanted; 0: none is */
};

/* Takes one turn, at the time `now`. */
void run_steer_step(struct run_steer *steer, struct client *client, enum run_wanted wanted,
                    double now);
/* Withdraws the request. */
void run_steer_end(struct run_steer *steer, struct client *client);

/* Returns monotonic seconds. */
double run_steer_now(void);

#endif
