/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks and finds what mprof-run needs before it starts the program.
 *
 * Order of calls: run_prepare(), run_prepare_sandbox(), then the others. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "capture/run/arguments.h"

#define RUN_LIBRARY_MAX (PATH_MAX + 32)

struct run_places {
    char library[PATH_MAX];
    char program[PATH_MAX];
    char binary[PATH_MAX];           /* the program, or the interpreter of a script */
    char sized[RUN_LIBRARY_MAX];     /* libmprof_sized.so; empty: not preloaded */
    char python[RUN_LIBRARY_MAX];    /* libmprof_python.so; empty: not preloaded */
    char ecl[RUN_LIBRARY_MAX];       /* libmprof_ecl.so, in the same way */
    char operators[RUN_LIBRARY_MAX]; /* libmprof_operators.so; empty: not preloaded */
};

/* Finds the library and stores its path (PATH_MAX bytes). 0, or an exit status after a message. */
int run_prepare_library(char *library);

/* Makes the trace's name free; with `force` it removes what has it. Returns as above. */
int run_prepare_trace(const char *trace, bool force);

/* Finds the library and the program, and makes the trace's name free: --force removes what has it.
 * Returns 0, or the exit status after a message. */
int run_prepare(const struct run_arguments *arguments, struct run_places *places);

/* Looks at the sandbox and adds to the settings which system calls it forbids. Returns false, after
 * a message, if it lets nothing be recorded. */
bool run_prepare_sandbox(struct run_arguments *arguments);

/* Finds the library for --sized-delete beside the recorder. False after a message. */
bool run_prepare_sized(const struct run_arguments *arguments, struct run_places *places);

/* Does the same for --python and --ecl. */
bool run_prepare_plugins(const struct run_arguments *arguments, struct run_places *places);

/* Finds the library of the C++ operators beside the recorder, if the program needs it. */
void run_prepare_operators(struct run_places *places);

/* Becomes another program of mprof, which lies beside this one: argv[0] is its name. If it cannot,
 * it ends with status 127 after a message. */
_Noreturn void sibling_program_become(const char *const argv[]);

/* Runs such a program. Returns its exit status, or 127 if it cannot be run. */
int sibling_program_run(const char *const argv[]);
/* Waits for the end of a process that was started for one. */
int sibling_program_wait(pid_t process);
