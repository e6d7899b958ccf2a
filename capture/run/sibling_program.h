/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs mprof's other programs, which lie beside this one. */
#ifndef MPROF_CAPTURE_RUN_SIBLING_PROGRAM_H
#define MPROF_CAPTURE_RUN_SIBLING_PROGRAM_H

#include <stdbool.h>

/* Writes this program's folder, without the program's name, into PATH_MAX bytes. */
bool sibling_program_folder(char *folder);

/* Becomes the program. If it cannot, it ends with status 127 after a message. */
_Noreturn void sibling_program_become(const char *name, char *const argv[]);

/* Runs the program. Returns its exit status, or 127 if it cannot be run. */
int sibling_program_run(const char *name, char *const argv[]);

#endif
