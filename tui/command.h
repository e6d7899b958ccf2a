/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands that are typed after a colon. */
#ifndef MPROF_TUI_COMMAND_H
#define MPROF_TUI_COMMAND_H

#include <stddef.h>

struct browser;

struct command {
    const char *name, *argument; /* argument: what it is called, "" for none */
    const char *description;
    void (*run)(struct browser *browser, const char *argument);
};

/* The table, for help and man page. */
const struct command *command_table(size_t *count);
/* Runs a line; a command may be cut short as long as it is the only one that begins so. */
void command_run(struct browser *browser, const char *line);

#endif
