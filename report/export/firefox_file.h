/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of code of a Firefox profile: libraries, functions, frames, stacks, and its strings.
 */
#ifndef MPROF_REPORT_EXPORT_FIREFOX_FILE_H
#define MPROF_REPORT_EXPORT_FIREFOX_FILE_H

#include "report/export/export.h"

struct firefox_file;
struct json;

/* Returns NULL if memory is exhausted. */
struct firefox_file *firefox_file_new(const struct export *export);
void firefox_file_free(struct firefox_file *file);

/* Stores the number of a stack in the table of stacks. Returns false with the error set. */
bool firefox_add_stack(struct firefox_file *file, uint32_t stack, uint32_t *number);

/* Write parts of the profile. Those that return bool return false with the error set. */
void firefox_put_meta(struct json *json, const char *program, int64_t start_ns);
bool firefox_put_libraries(struct firefox_file *file, struct json *json);
void firefox_put_marks(struct firefox_file *file, struct json *json,
                       const struct session_mark *marks, size_t count);
/* The tables of the thread. Comes after all that use strings. */
bool firefox_put_code(struct firefox_file *file, struct json *json);

#endif
