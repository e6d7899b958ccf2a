/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks mprof-run for the file of a trace that this process has no right to make: a program that
 * root starts may drop its rights, or change its root folder, and its children have traces too.
 *
 * mprof-run listens on a socket whose random name only the processes of the run are told. It makes
 * files for these alone, and the descriptor comes with the name as the only message. The socket is
 * trusted only if root has bound it.
 */
#ifndef MPROF_CAPTURE_TRACE_GIVEN_FILE_H
#define MPROF_CAPTURE_TRACE_GIVEN_FILE_H

#include <stdbool.h>

#include "capture/options/trace_name.h"

/* Sets the socket's name, as the option `files` has it. "": there is none, or a filter of system
 * calls is on. */
void given_file_set_socket(const char *name);

/*
 * Returns the descriptor of a new, empty file and stores its path, or returns a negative errno:
 * -ENOTSUP if there is no socket to ask or a filter of system calls is on, -ECONNREFUSED if
 * mprof-run has ended. Waits at most two seconds. Uses raw system calls only.
 */
int given_file_ask(char path[TRACE_NAME_SIZE]);

#endif
