/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the lines of a text file: plain, or compressed by gzip or zstd.
 *
 * Order of calls: lines_open(), lines_next() until it does not return LINES_LINE, lines_close().
 */
#ifndef MPROF_INGEST_IMPORT_LINES_H
#define MPROF_INGEST_IMPORT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "ingest/base/status.h"

/* A longer line is damage. */
#define LINES_LONGEST (1u << 20)

struct lines;

enum lines_next { LINES_LINE, LINES_END, LINES_FAILED };

/* Opens a regular file. NULL with `status` set. */
struct lines *lines_open(const char *path, struct ingest_status *status);
void lines_close(struct lines *lines);

/* Gives up to `size` first bytes of the text, without reading past them. Call it before
 * lines_next(). Returns how many there are; bytes that cannot be unpacked are missing. */
size_t lines_peek(struct lines *lines, const char **text, size_t size);

/* Gives the next line, ended by a zero byte in place of its newline. It is valid until the next
 * call. LINES_FAILED with `status` set: the file is cut or damaged here. */
enum lines_next lines_next(struct lines *lines, char **line, size_t *length,
                           struct ingest_status *status);

/* Returns the number of the line that was given last, from 1. */
uint64_t lines_number(const struct lines *lines);

/* Returns the size of the file. */
uint64_t lines_size(const struct lines *lines);
/* Returns the file's path in printable form. */
const char *lines_path(const struct lines *lines);

#endif
