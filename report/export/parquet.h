/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes rows as a Parquet file, as far as tables need it: flat columns, PLAIN numbers, texts by a
 * dictionary, pages compressed by zstd (https://parquet.apache.org/docs/file-format/). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum parquet_type { PARQUET_INTEGER, PARQUET_REAL, PARQUET_TEXT, PARQUET_TRUTH };

struct parquet_column {
    const char *name; /* lives as long as the file is written */
    enum parquet_type type;
    bool required; /* it has a value in every row */
};

struct parquet;

/* Begins a file of `count` columns. Returns NULL if memory is exhausted. */
struct parquet *parquet_begin(FILE *out, const struct parquet_column *columns, size_t count);
/* Put the value of the next column of the row. A text is written as valid UTF-8, with U+FFFD for
 * each other byte. A text of NULL is null, of a column of any type. A number in a column of texts
 * is its digits. */
void parquet_put_integer(struct parquet *parquet, int64_t number);
void parquet_put_truth(struct parquet *parquet, bool truth);
void parquet_put_real(struct parquet *parquet, double number);
void parquet_put_text(struct parquet *parquet, const char *text);
/* Writes what is left, and frees `parquet`. Returns false if memory is exhausted or a page would be
 * too large. NULL is ignored. */
bool parquet_end(struct parquet *parquet);
