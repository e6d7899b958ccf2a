/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the program before mprof-run starts it: where it is, and whether the loader will take a
 * preloaded library into it.
 */
#ifndef MPROF_CAPTURE_RUN_PROGRAM_H
#define MPROF_CAPTURE_RUN_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

enum run_program_verdict {
    RUN_PROGRAM_GOOD,
    RUN_PROGRAM_NOT_FOUND,
    RUN_PROGRAM_NOT_IN_PATH, /* a file of the working directory, named without a slash */
    RUN_PROGRAM_NOT_EXECUTABLE,
    RUN_PROGRAM_STATIC,    /* no loader runs, so nothing is preloaded */
    RUN_PROGRAM_SETUID,    /* the loader ignores preloaded libraries */
    RUN_PROGRAM_SANITIZED, /* the shared runtime of a sanitizer must come first */
    RUN_PROGRAM_OTHER_LIBC,
    RUN_PROGRAM_FOREIGN, /* another word size or architecture than the library's */
};

/*
 * Finds `name` as execvp does and writes its path into `path` (PATH_MAX bytes). A script is
 * judged by its interpreter, whose path goes into `binary` (PATH_MAX bytes). For any other program
 * `binary` gets `path`.
 */
enum run_program_verdict run_program_check(const char *name, char *path, char *binary);

/* Explains the verdict to the user, in words that follow "PROGRAM: ". */
const char *run_program_explain(enum run_program_verdict verdict);

#endif
