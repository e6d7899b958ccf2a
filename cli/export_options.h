/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-export. */
#ifndef MPROF_CLI_EXPORT_OPTIONS_H
#define MPROF_CLI_EXPORT_OPTIONS_H

#include "cli/command_line.h"

/* Positions in the table. */
enum export_option {
    EXPORT_OPTION_FORMAT,
    EXPORT_OPTION_OUTPUT,
    EXPORT_OPTION_FILTER,
    EXPORT_OPTION_PROCESS,
    EXPORT_OPTION_AT,
    EXPORT_OPTION_BASE,
    EXPORT_OPTION_FRAMES,
    EXPORT_OPTION_VALUE,
    EXPORT_OPTION_PCS,
    EXPORT_OPTION_TABLES,
    EXPORT_OPTION_WINDOW,
    EXPORT_OPTION_LABEL,
    EXPORT_OPTION_EVENTS,
    EXPORT_OPTION_MAX_EVENTS,
    EXPORT_OPTION_QUIET,
    EXPORT_OPTION_HELP,
    EXPORT_OPTION_VERSION,
};

extern const struct command_line export_command_line;

#endif
