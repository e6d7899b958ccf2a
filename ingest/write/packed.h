/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the table packed_array (schemas/columns.md): the directory of the column chunks, which is
 * gathered while they are written, and what a reader needs of stacks and frames. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#include "ingest/replay/row_batch.h"

/* The directory so far. All bytes 0 is an empty one. */
struct writer_directory {
    uint8_t *data;
    uint64_t rows, capacity; /* capacity: chunks */
};

void writer_directory_free(struct writer_directory *directory);

/* Begins the entry of a batch, which is the last one from now on. False if memory is exhausted. */
bool writer_directory_begin(struct writer_directory *directory, const struct row_batch *batch);
/* Forgets the chunks from one on: their rows are deleted. */
void writer_directory_cut(struct writer_directory *directory, uint64_t chunk);
/* Puts one column of that batch. */
void writer_directory_put(struct writer_directory *directory, const struct row_batch_chunk *chunk);

/* Puts one array. Returns SQLite's code. */
int writer_packed_put_array(sqlite3 *database, int id, const uint8_t *data, uint64_t length);

/* Puts or replaces the arrays of the directory and of the tables `stack` and `frame`, which are
 * complete. Empty arrays are not there: delete old ones before. Returns SQLite's code. */
int writer_packed_put(sqlite3 *database, const struct writer_directory *directory);
