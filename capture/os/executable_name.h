/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of the running program.
 */
#ifndef MPROF_CAPTURE_OS_EXECUTABLE_NAME_H
#define MPROF_CAPTURE_OS_EXECUTABLE_NAME_H

#include <stddef.h>

/*
 * Writes the absolute path of the executable, NUL-terminated and cut to size - 1 bytes. If no /proc
 * is mounted, this is the name that the program was executed by (AT_EXECFN), if the file of this
 * name has the entry and the number of program headers that the kernel found. Returns the length;
 * 0, with "" in `path`, if the path is not known.
 */
size_t executable_name(char *path, size_t size);

#endif
