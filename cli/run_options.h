/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-run. */
#ifndef MPROF_CLI_RUN_OPTIONS_H
#define MPROF_CLI_RUN_OPTIONS_H

#include "cli/command_line.h"

/* Positions in the table. */
enum run_option {
    RUN_OPTION_OUTPUT,
    RUN_OPTION_FORCE,
    RUN_OPTION_OPEN,
    RUN_OPTION_LIVE,
    RUN_OPTION_SESSION,
    RUN_OPTION_UNWIND,
    RUN_OPTION_DEPTH,
    RUN_OPTION_CLOCK,
    RUN_OPTION_FREE_STACKS,
    RUN_OPTION_FOLLOW,
    RUN_OPTION_MAX_SIZE,
    RUN_OPTION_MIN_FREE,
    RUN_OPTION_MMAP,
    RUN_OPTION_COMPRESS,
    RUN_OPTION_SAMPLE,
    RUN_OPTION_START_ON,
    RUN_OPTION_START_AFTER,
    RUN_OPTION_STOP_ON,
    RUN_OPTION_DURATION,
    RUN_OPTION_TOGGLE,
    RUN_OPTION_SUPPRESSIONS,
    RUN_OPTION_QUIET,
    RUN_OPTION_HELP,
    RUN_OPTION_VERSION,
};

extern const struct command_line run_command_line;

#endif
