/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-ctl. */
#ifndef MPROF_CLI_CTL_OPTIONS_H
#define MPROF_CLI_CTL_OPTIONS_H

#include "cli/command_line.h"

/* Positions in the table. */
enum ctl_option { CTL_OPTION_WAIT, CTL_OPTION_QUIET, CTL_OPTION_HELP, CTL_OPTION_VERSION };

extern const struct command_line ctl_command_line;

#endif
