/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes rows of a table as CSV (RFC 4180, with a line of names) or as NDJSON (an object a line).
 * NULL is an empty field, or null. Text is valid UTF-8; in CSV it is quoted, and each byte of what
 * could steer a terminal becomes U+FFFD, in NDJSON this is escaped.
 */
#ifndef MPROF_REPORT_EXPORT_ROW_WRITER_H
#define MPROF_REPORT_EXPORT_ROW_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json;

/* The next value belongs to column `next`. */
struct row_writer {
    FILE *out;
    const char *const *names;
    size_t count, next;
    bool ndjson, failed;
    struct json *json; /* of the present line */
};

/* Begins a table. `names` must live until its end. */
void rows_begin(struct row_writer *rows, FILE *out, bool ndjson, const char *const *names,
                size_t count);
/* Write the next value; the last one of a row ends the line. A text of NULL is null. */
void rows_text(struct row_writer *rows, const char *text);
void rows_number(struct row_writer *rows, uint64_t number);
void rows_signed(struct row_writer *rows, int64_t number);
void rows_real(struct row_writer *rows, double number);
void rows_truth(struct row_writer *rows, bool truth);
void rows_null(struct row_writer *rows);

#endif
