/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands typed after a colon. */
#ifndef MPROF_TUI_COMMAND_H
#define MPROF_TUI_COMMAND_H

#include <stddef.h>

struct browser;

struct command {
    const char *name, *argument; /* argument: its name in the help, "" for none */
    const char *description;
    void (*run)(struct browser *browser, const char *argument);
};

/* Returns the table, for help and man page. */
const struct command *command_table(size_t *count);
/* Runs a line. A command may be abbreviated if no other command begins in the same way. */
void command_run(struct browser *browser, const char *line);

#endif
