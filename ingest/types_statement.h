/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statement of a source file that stands at a line, as one line of text: comments and
 * strings taken out, blanks made one.
 */
#ifndef MPROF_INGEST_TYPES_STATEMENT_H
#define MPROF_INGEST_TYPES_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define TYPES_STATEMENT_MAX 1024

/* The files that were read last. */
struct types_sources;

/* Files of an absolute path are looked for below `root` first (NULL: there is none), then as they
 * are. NULL where memory is exhausted. */
struct types_sources *types_sources_new(const char *root);
void types_sources_free(struct types_sources *sources);

/* How often a file was read. */
uint64_t types_sources_files_read(const struct types_sources *sources);

/*
 * The statement at `line` and `column`, from 1. Column 0: not known; of several statements of the
 * line it is then the first, unless another could allocate. False where the file cannot be read, is
 * younger than `built`, has no such line, or the statement is longer than TYPES_STATEMENT_MAX.
 */
bool types_statement_read(struct types_sources *sources, const char *file, uint32_t line,
                          uint32_t column, time_t built, char statement[TYPES_STATEMENT_MAX]);

/* The same of the lines of `text`. */
bool types_statement_at(const char *text, uint32_t line, uint32_t column,
                        char statement[TYPES_STATEMENT_MAX]);

#endif
