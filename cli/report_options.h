/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-report. */
#ifndef MPROF_CLI_REPORT_OPTIONS_H
#define MPROF_CLI_REPORT_OPTIONS_H

#include "cli/command_line.h"

/* Positions in the table. */
enum report_option {
    REPORT_OPTION_OUTPUT,
    REPORT_OPTION_FORMAT,
    REPORT_OPTION_BY,
    REPORT_OPTION_TOP,
    REPORT_OPTION_FILTER,
    REPORT_OPTION_AT,
    REPORT_OPTION_PROCESS,
    REPORT_OPTION_CHECK,
    REPORT_OPTION_BASE,
    REPORT_OPTION_JUNIT,
    REPORT_OPTION_VERBOSE,
    REPORT_OPTION_NORMAL,
    REPORT_OPTION_TERSE,
    REPORT_OPTION_LEAKTABLE,
    REPORT_OPTION_NOLEAKTABLE,
    REPORT_OPTION_OFFSETS,
    REPORT_OPTION_HELP,
    REPORT_OPTION_VERSION,
};

extern const struct command_line report_command_line;

#endif
