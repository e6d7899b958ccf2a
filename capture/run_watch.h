/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When recording begins and ends, where mprof-run decides it: watched from outside, and asked of
 * the recorder as mprof-ctl does it: here of the program itself, in whatever trace it is;
 * run_follow.h asks the other processes of the run.
 *
 * Legal order: the conditions are filled in, all else is zero; run_watch_begin(), then
 * run_watch_step() as often as it asks for, until run_watch_end(). What is asked is done in one of
 * the program's heap calls; until then it stays asked.
 */
#ifndef MPROF_CAPTURE_RUN_WATCH_H
#define MPROF_CAPTURE_RUN_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/outside.h"
#include "capture/run_steer.h"

enum run_condition_kind {
    RUN_CONDITION_NONE,
    RUN_CONDITION_SIGNAL, /* SIGUSR2 came; the first is the start's where both wait for one */
    RUN_CONDITION_FILE,   /* there is a file of that name */
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
    unsigned signals; /* SIGUSR2 so far; those before `signals_used` have had their effect */
    unsigned signals_used;
    double began_at;    /* monotonic seconds: the program; */
    double recorded_at; /* recording, 0: not yet */
    bool start, stop;   /* is wanted */
    bool is_open;
    struct outside outside;
    struct run_steer steer;
};

/* "signal", "file:PATH", "rss>SIZE", "live>SIZE", "allocs>N", "mark:NAME", "call:SYMBOL" or "call";
 * false where it is none. */
bool run_condition_parse(const char *text, struct run_condition *condition);
/* Seconds, fractions are taken; false where it is no positive number. */
bool run_watch_seconds(const char *text, double *seconds);

/* Whether the program is to begin without recording. */
bool run_watch_starts_late(const struct run_watch *watch);
/* Whether SIGUSR2 is for the watch and not for the program. */
bool run_watch_takes_signal(const struct run_watch *watch);

void run_watch_begin(struct run_watch *watch, pid_t process);
/* `signals`: how often SIGUSR2 came so far; `resident`: bytes, 0: not known; `recording`: whether
 * another process of the run has begun. Milliseconds until the next step, -1: nothing is left to
 * do.
 */
int run_watch_step(struct run_watch *watch, unsigned signals, uint64_t resident, bool recording);
/* What the conditions say so far, for all processes of the run. */
enum run_wanted run_watch_wanted(const struct run_watch *watch);
/* Whether there is a condition that is looked for here and not in the recorder. */
bool run_watch_has_to_look(const struct run_watch *watch);
/* Whether this decides when recording begins: what is executed before waits for it, too. */
bool run_watch_decides_start(const struct run_watch *watch);
void run_watch_end(struct run_watch *watch);

#endif
