/* SPDX-License-Identifier: BSD-2-Clause */
/* Begins and ends recording when mprof-run decides about it. It watches the conditions from outside
 * and asks the recorder as mprof-ctl does. Here only the program itself is asked, in any trace that
 * it writes. follow.h asks the other processes of the run.
 *
 * Legal order: fill in the conditions and set all else to zero; run_watch_begin(); run_watch_step()
 * as often as it asks for; run_watch_end(). The recorder does what is asked in one of the program's
 * heap calls; until then the request stays. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/run/client.h"

enum run_condition_kind {
    RUN_CONDITION_NONE,
    RUN_CONDITION_SIGNAL, /* SIGUSR2 came; if both wait for one, the first is for the start */
    RUN_CONDITION_FILE,   /* a file of that name exists */
    RUN_CONDITION_RSS,    /* more bytes are resident */
    RUN_CONDITION_INSIDE, /* the recorder knows, and decides itself */
    RUN_CONDITION_CALL,   /* the program says so by mprof.h, or somebody by mprof-ctl */
};

struct run_condition {
    enum run_condition_kind kind;
    const char *path;
    uint64_t bytes;
};

struct run_watch {
    struct run_condition start_on, stop_on;
    double start_after; /* seconds from the program's start; 0: at once */
    double duration;    /* seconds from the beginning of recording; 0: to the end */

    pid_t process;
    unsigned signals; /* SIGUSR2 so far; the first `signals_used` have had their effect */
    unsigned signals_used;
    double began_at;    /* start of the program, in monotonic seconds */
    double recorded_at; /* start of recording, in monotonic seconds; 0: not yet */
    bool start, stop;   /* each is wanted */
    bool is_open;
    struct client client;
    struct run_steer steer;
};

/* Parses "signal", "file:PATH", "rss>SIZE", "live>SIZE", "allocs>N", "mark:NAME", "call:SYMBOL" or
 * "call". Returns false for anything else. */
bool run_condition_parse(const char *text, struct run_condition *condition);
/* Parses seconds, also fractions. Returns false if the text is not a positive number. */
bool run_watch_seconds(const char *text, double *seconds);

/* Returns true if the program begins without recording. */
bool run_watch_starts_late(const struct run_watch *watch);
/* Returns true if SIGUSR2 is for the watch and not for the program. */
bool run_watch_takes_signal(const struct run_watch *watch);

void run_watch_begin(struct run_watch *watch, pid_t process);
/* Takes one step. `signals`: how often SIGUSR2 came so far. `resident`: bytes, 0 if not known.
 * `recording`: another process of the run has begun to record. Returns the milliseconds until the
 * next step, or -1 if nothing is left to do. */
int run_watch_step(struct run_watch *watch, unsigned signals, uint64_t resident, bool recording);
/* Returns what the conditions demand so far, for all processes of the run. */
enum run_wanted run_watch_wanted(const struct run_watch *watch);
/* Returns true if a condition is watched here and not in the recorder. */
bool run_watch_has_to_look(const struct run_watch *watch);
/* Returns true if this decides when recording begins. Programs executed before wait for it too. */
bool run_watch_decides_start(const struct run_watch *watch);
void run_watch_end(struct run_watch *watch);
