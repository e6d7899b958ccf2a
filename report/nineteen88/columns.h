/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of the tables: columns of a least width that never touch. */
#ifndef MPROF_REPORT_NINETEEN88_COLUMNS_H
#define MPROF_REPORT_NINETEEN88_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The classes of sizes: s ≤ 32 < m ≤ 256 < l ≤ 2048 < x. */
#define SIZE_CLASSES 4

struct line {
    FILE *out;
    bool estimated; /* numbers are estimates */
    bool touches;   /* the last character is not blank */
};

/* Writes a text as it is. Only its last byte counts for the next column. */
void line_put(struct line *line, const char *text);
/* Writes a name from outside, without a blank before it. */
void line_name(struct line *line, const char *name);
void line_end(struct line *line);

/* Write a column, padded on the left or on the right. */
void line_right(struct line *line, int width, const char *text);
void line_left(struct line *line, int width, const char *text);
void line_number(struct line *line, int width, uint64_t number);

/* Stores a percentage with one decimal, truncated. */
void line_decimal(char text[16], uint64_t part, uint64_t whole);
/* Writes the share of a part in brackets, padded on the right: blank 0, "(.)" under 1, "(**)" 100.
 */
void line_share(struct line *line, int width, uint64_t part, uint64_t whole);
/* Writes four times a blank and two columns with the share of a class in `whole`; blanks if that is
 * 0. */
void line_breakdown(struct line *line, const uint64_t parts[SIZE_CLASSES], uint64_t whole);

#endif
