/* Usage, help and man page, made from the tables of options, keys, commands and filters. */
#ifndef MPROF_TUI_MANUAL_H
#define MPROF_TUI_MANUAL_H

#include <stdio.h>

void manual_usage(FILE *out); /* one line and where to find more */
void manual_help(FILE *out);  /* usage and options */
void manual_page(FILE *out);  /* man page in man(7) macros */

#endif
