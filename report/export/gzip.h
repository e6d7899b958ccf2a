/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a stream in the gzip format to a file, by zlib. */
#ifndef MPROF_REPORT_EXPORT_GZIP_H
#define MPROF_REPORT_EXPORT_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct gzip;

/* Returns NULL if memory is exhausted. Errors of writing stay in `out`. */
struct gzip *gzip_begin(FILE *out);
void gzip_write(struct gzip *gzip, const void *data, size_t size);
/* Writes what is left and frees `gzip`. NULL is ignored. */
void gzip_end(struct gzip *gzip);

#endif
