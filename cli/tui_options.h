/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-tui. */
#ifndef MPROF_CLI_TUI_OPTIONS_H
#define MPROF_CLI_TUI_OPTIONS_H

#include "cli/command_line.h"

/* Positions in the table. */
enum tui_option {
    TUI_OPTION_FILTER,
    TUI_OPTION_VIEW,
    TUI_OPTION_PROCESS,
    TUI_OPTION_THEME,
    TUI_OPTION_ASCII,
    TUI_OPTION_FRESH,
    TUI_OPTION_LIVE,
    TUI_OPTION_YES,
    TUI_OPTION_SCRIPT,
    TUI_OPTION_SIZE,
    TUI_OPTION_LIST_GRAPHS,
    TUI_OPTION_EXPORT_GRAPH,
    TUI_OPTION_IMPORT_GRAPH,
    TUI_OPTION_DELETE_GRAPH,
    TUI_OPTION_LIST_SETTINGS,
    TUI_OPTION_ADD_SETTING,
    TUI_OPTION_DELETE_SETTING,
    TUI_OPTION_PRINT_CONFIG,
    TUI_OPTION_MAN,
    TUI_OPTION_HELP,
    TUI_OPTION_VERSION,
};

extern const struct command_line tui_command_line;

#endif
