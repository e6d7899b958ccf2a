/* SPDX-License-Identifier: BSD-2-Clause */
/* mprof-run's child: the recorded program, started with the library preloaded. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "capture/os/options.h"
#include "capture/run/references.h"
#include "capture/run/residency.h"
#include "capture/run/rotate.h"
#include "capture/run/watch.h"

struct run_child {
    const char *library;    /* path of libmprof.so */
    const char *sized;      /* path of libmprof_sized.so, preloaded too; NULL: not preloaded */
    const char *python;     /* path of libmprof_python.so, preloaded too; NULL: not preloaded */
    const char *ecl;        /* path of libmprof_ecl.so, in the same way */
    const char *operators;  /* path of libmprof_operators.so, preloaded too; NULL: not preloaded */
    const char *trace;      /* NULL: mprof.PROGRAM.PID.bin in the working directory */
    const char *settings;   /* for MPROF_OPTIONS, "" for none */
    bool compress;          /* pack the traces while they are recorded */
    char **argv;            /* the program and its arguments, NULL at the end */
    const char *path;       /* of the program */
    const char *log;        /* takes its output, and its input is empty; NULL: it has ours */
    struct run_watch watch; /* when to record */
    struct run_rotate_options rotate;
    struct run_residency_options residency; /* when to read which pages are in memory */
    struct run_references references;
    bool unattended; /* mprof-run executes nothing after the program has begun */

    char recorded[PATH_MAX]; /* out: the trace's absolute path */
    int status;              /* out: as waitpid gives it */
};

/* Runs the program and waits for its end. The terminal sends SIGINT and SIGQUIT to both processes,
 * so these are left to the program. SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are passed on, except a
 * SIGUSR2 that the watch waits for, and the signal that takes references. Returns 0, or the errno
 * of the failure before the program ran; *what then names the step that failed. */
int run_child(struct run_child *child, const char **what);

/* Ends this process as the child ended: with the same exit status or by the same signal. */
_Noreturn void run_child_end_alike(int status);

/* Writes the trace's absolute path (PATH_MAX bytes): `requested`, or if that is NULL the first free
 * mprof.PROGRAM.PID.bin in the working directory. Returns false if it is too long. */
bool trace_place_name(const char *requested, const char *program, pid_t process, char *trace);
