/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the help screen from the tables of keys and commands. */
#ifndef MPROF_TUI_HELP_H
#define MPROF_TUI_HELP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/keys/view_number.h"
#include "tui/screen/cells.h"

struct browser;

struct filter_example {
    const char *text, *meaning;
};
/* Returns the filters that help and man page show; each of them parses. */
const struct filter_example *help_filter_examples(size_t *count);

/* Returns the rows that the help for a view takes in a screen of this width. */
int help_rows(enum view_number view, int width);
/* Shows the help of the current view. */
void help_open(struct browser *browser);
/* Handles a key while it is shown. */
void help_mode_key(struct browser *browser, uint32_t key);
void help_render(const struct area *area, enum view_number view, int scroll);

#endif
