/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks one trace's recorder to begin, or to stop for good, as often as it takes: what is asked is
 * done in one of the program's heap calls, and until then others (mprof-ctl) must get their turn.
 * Where no heap call comes the recording is ended from here.
 */
#ifndef MPROF_CAPTURE_RUN_STEER_H
#define MPROF_CAPTURE_RUN_STEER_H

#include <stdbool.h>

#include "capture/outside.h"

/* Milliseconds between two turns. */
#define RUN_STEER_INTERVAL 10

/* What is wanted of all processes of a run. */
enum run_wanted {
    RUN_WANTED_NOTHING, /* each is left alone */
    RUN_WANTED_RECORD,  /* who has not begun begins */
    RUN_WANTED_STOP,    /* who records stops for good */
};

/* All zero at first. */
struct run_steer {
    bool asked;
    enum run_wanted asked_for;
    double asked_at, rest_until; /* monotonic seconds */
    double stop_at;              /* since when a stop is wanted; 0: none is */
};

/* One turn, at the time `now`. */
void run_steer_step(struct run_steer *steer, struct outside *outside, enum run_wanted wanted,
                    double now);
/* Takes back what is asked. */
void run_steer_end(struct run_steer *steer, struct outside *outside);

/* Monotonic seconds. */
double run_steer_now(void);

#endif
