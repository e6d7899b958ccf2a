/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of mprof-run. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "capture/run/references.h"
#include "capture/run/residency.h"
#include "capture/run/rotate.h"
#include "capture/run/watch.h"
#include "cli/labels.h"

struct run_arguments {
    const char *trace;   /* NULL: the recorder names it */
    const char *session; /* NULL: named after the trace */
    bool force, open, live, quiet, compress;
    bool without_stacks, waits_for_call, suppressions, sized_delete, fast_clock, instrument,
        mappings, python, ecl;
    char settings[3072]; /* for MPROF_OPTIONS */
    struct labels labels;
    const char *budgets;   /* of --check, NULL: none */
    const char *check[16]; /* options for mprof-report that --check passes on */
    size_t check_count;
    struct run_watch watch;
    struct run_rotate_options rotate;
    struct run_residency_options residency;
    struct run_references references;
    pid_t process;  /* that runs already; 0: a program is started */
    char **program; /* and its arguments, NULL at the end */
};

/* Parses the command line into `arguments`, which is zero before. Returns -1 to go on, otherwise
 * the exit status: after a message, --help or --version. */
int run_arguments_parse(int argc, char **argv, struct run_arguments *arguments);

/* Adds "key=value", or "key" without a value, to the library's settings. Returns false, after a
 * message about the option of that name, if the library would reject it. */
bool run_arguments_add(struct run_arguments *arguments, const char *key, const char *value);
