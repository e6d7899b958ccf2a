/* SPDX-License-Identifier: BSD-2-Clause */
/* Names the package that has the debug information of a library, on Debian and what is made of it.
 */
#ifndef MPROF_TUI_VIEW_OVERVIEW_DEBUG_PACKAGE_H
#define MPROF_TUI_VIEW_OVERVIEW_DEBUG_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#define DEBUG_PACKAGE_FOLDER "/var/lib/dpkg/info" /* the files of each installed package */
#define DEBUG_PACKAGE_SIZE 120

/*
 * Writes the name of the package to `out`. Names follow Debian's rule: libfoo.so.2 lies in libfoo2,
 * and its debug information in libfoo2-dbgsym. A package counts only if it is installed and the
 * lists of files in `folder` say that it has the library. Returns false if there is none.
 */
bool debug_package(const char *module, const char *folder, char out[DEBUG_PACKAGE_SIZE]);

#endif
