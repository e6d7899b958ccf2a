/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the recorder into a process that runs already, and begins and ends recording there
 * (mprof-run --pid). capture/os/attach.h describes what the recorder does.
 *
 * Another process does the work: it goes on if mprof-run is killed in the middle of it, so that the
 * thread that it holds is always given back. If nobody takes its answer, it ends what it began. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attach {
    pid_t process;
    const char *library;  /* the recorder */
    const char *settings; /* as MPROF_OPTIONS */
    const char *trace;    /* an absolute path as the process sees it */
    double seconds;       /* how long to search for a safe point */
};

struct attach_result {
    bool done;
    bool already;          /* the process records already, into `trace` */
    bool executed;         /* it was not there to end: the process runs another program */
    char why[2048];        /* if it is not done: one line */
    char trace[PATH_MAX];  /* as the process sees it */
    uint64_t before_bytes; /* live before; UINT64_MAX: the allocator does not say */
    uint32_t left;         /* modules that still call another allocator */
    double held_ms;        /* how long one thread was held */
};

/* Loads the recorder and begins the recording. */
void attach_begin(const struct attach *attach, struct attach_result *result);
/* Ends the recording and leaves the process's calls as they were. */
void attach_end(const struct attach *attach, struct attach_result *result);

/* The process that ends a recording. */
struct attach_running {
    pid_t worker;
    int from; /* its answer comes here */
};

/* Begins to do the same, beside others. Call attach_wait() for each. */
void attach_end_beside(const struct attach *attach, struct attach_running *running);
void attach_wait(const struct attach_running *running, struct attach_result *result);
