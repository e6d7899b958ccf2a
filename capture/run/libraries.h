/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the libraries with which a program would be loaded. */
#ifndef MPROF_CAPTURE_RUN_LIBRARIES_H
#define MPROF_CAPTURE_RUN_LIBRARIES_H

#include <stdbool.h>

/*
 * Asks the loader which libraries, linked or preloaded, the ELF file `binary` would run with, and
 * calls note() with the path of each. Runs no code of theirs. Returns false if that cannot be found
 * out.
 */
bool run_libraries(const char *binary, void (*note)(void *context, const char *path),
                   void *context);

/* Returns true if the name of the file at `path` begins with a text. */
bool run_library_is(const char *path, const char *beginning);

/* Returns true if the ELF file `binary` exports the function, or is linked with a library whose
 * name begins so. Not if it loads the library while it runs. */
bool run_is_linked(const char *binary, const char *function, const char *library);

#endif
