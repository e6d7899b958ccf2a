/* SPDX-License-Identifier: BSD-2-Clause */
/* The other programs of ours, which lie beside this one. */
#ifndef MPROF_CAPTURE_RUN_OWN_H
#define MPROF_CAPTURE_RUN_OWN_H

#include <stdbool.h>

/* The folder of this program, without the name, into PATH_MAX bytes. */
bool run_own_folder(char *folder);

/* Becomes the program; ends with status 127 after a message where it cannot. */
_Noreturn void run_own_become(const char *name, char *const argv[]);

/* Runs the program; its exit status, 127 where it cannot. */
int run_own(const char *name, char *const argv[]);

#endif
