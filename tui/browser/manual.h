/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the man page from the tables of options, keys, commands and filters. */
#ifndef MPROF_TUI_BROWSER_MANUAL_H
#define MPROF_TUI_BROWSER_MANUAL_H

#include <stdio.h>

void manual_page(FILE *out); /* in man(7) macros */

#endif
