/* SPDX-License-Identifier: BSD-2-Clause */
/* The output of a report or an export: standard output, or a file that gets its name when it is
 * whole.
 *
 * Order of calls: output_prepare() once at the start of main(); for each output output_open(),
 * writing to output_stream(), then output_close() or output_discard(). Writers need not check each
 * write: output_close() reports the first failure.
 *
 * The file is made beside its target, as TARGET.part.PID.N, and replaces the target in one step. A
 * signal that ends the program removes it. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "session/session.h"

struct output;

/* Makes writing to a closed pipe an error instead of a signal, and gives descriptors 0 to 2 that
 * are closed a place that cannot be written, so that no file takes their numbers. */
void output_prepare(void);

/* Notes a file that the command reads, at most 8 of them: no output replaces it, under whatever
 * name. NULL and files that do not exist are ignored. */
void output_protect(const char *path);

/* Opens an output. `path` NULL is standard output. Only regular files are replaced, and none that
 * output_protect() noted or that this process has already written. Returns NULL
 * with `error` set: one line that says what, where and what to do. */
struct output *output_open(const char *path, struct session_error *error);

FILE *output_stream(struct output *output);

/* Writes what is left. A file is whole then, and gets its name from output_close(): so several
 * files get their names when all are whole. Returns false with `error` set. */
bool output_finish(struct output *output, struct session_error *error);
/* Ends the output, and gives the file its name. Frees `output`. Returns false with `error` set if
 * anything could not be written; the file is then removed, and what was there before stays. */
bool output_close(struct output *output, struct session_error *error);
/* Removes the file and frees `output`. NULL is ignored. */
void output_discard(struct output *output);

/* Formats a message into `error` and returns false. */
__attribute__((format(printf, 2, 3))) bool report_fail(struct session_error *error,
                                                       const char *format, ...);

/* Does the same for exhausted memory. `what` names the data that needed it. */
bool report_fail_memory(struct session_error *error, const char *what);

/* clang's analyzer sees one file at a time: here it learns that these return false. */
#ifdef __clang_analyzer__
#define report_fail(...) (report_fail(__VA_ARGS__), false)
#define report_fail_memory(error, what) (report_fail_memory(error, what), false)
#endif

/* ---- places in the text of a filter (schemas/filter-language.md) ---- */

/* Returns true if a text has no pipeline: NULL, or only blanks. */
bool filter_text_blank(const char *text);

/* Returns the place after the last definition: its `;` is not part of a string. The beginning of
 * the text if it defines nothing. */
const char *filter_text_pipeline(const char *text);

/* Returns the column of the last step of the pipeline, or of its set if it has no steps. Columns
 * count characters from 1, as in errors. */
int filter_text_last_step(const char *text);
