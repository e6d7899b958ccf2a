/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a file of LeakSanitizer's suppressions for --suppress. */
#ifndef MPROF_REPORT_TABLES_SUPPRESS_H
#define MPROF_REPORT_TABLES_SUPPRESS_H

#include "report/output/output.h"
#include "schemas/code/suppressions.h"

/*
 * Reads the lines leak:PATTERN. Says on standard error which lines of other sanitizers it ignores.
 * Returns NULL with `error` set: the file cannot be read, or a line is not a suppression; `*wrong`
 * tells the latter. The caller suppressions_free()s the list.
 */
struct suppressions *suppress_read(const char *path, bool *wrong, struct session_error *error);

#endif
