/* SPDX-License-Identifier: BSD-2-Clause */
/* mprof-run --pid: records a process that runs already. */
#ifndef MPROF_CAPTURE_RUN_RUN_ATTACH_H
#define MPROF_CAPTURE_RUN_RUN_ATTACH_H

#include "capture/run/arguments.h"

/* Records until the process ends, --duration is over, or a signal to end comes. Returns the exit
 * status. */
int run_attach(const struct run_arguments *arguments);

#endif
