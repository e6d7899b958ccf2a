/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a table to a new file: .csv (RFC 4180, with a line of names) or .json (an array of
 * objects). Order of calls: table_file_open(), for each row the values of all columns in order,
 * table_file_close(). The file has its name only when it is complete.
 */
#ifndef MPROF_SESSION_RUN_TABLE_FILE_H
#define MPROF_SESSION_RUN_TABLE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct table_file;

/* Begins a file. The names stay the caller's and valid until the close. Returns NULL with `error`
 * set: there is such a file already, or it cannot be written. */
struct table_file *table_file_open(const char *path, const char *const *names, size_t count,
                                   struct session_error *error);
/* Write the next value of the row. A text of NULL is null. */
void table_file_text(struct table_file *file, const char *text);
void table_file_number(struct table_file *file, uint64_t number);
void table_file_truth(struct table_file *file, bool truth);
void table_file_null(struct table_file *file);
/* Ends the file. With `keep` false, or if something could not be written, nothing stays. Returns
 * false with `error` set then, unless `keep` is false. */
bool table_file_close(struct table_file *file, bool keep, struct session_error *error);

#endif
