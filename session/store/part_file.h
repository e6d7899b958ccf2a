/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the file of a session that has some of the allocations of another one, and all of its
 * other tables. The tables that `mprof-ingest --rebuild` makes stay empty.
 *
 * Order of calls: part_file_open(), part_file_put() for the allocations in their order,
 * part_file_finish(), part_file_close(). After a failure only part_file_close() is left. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schemas/column_codec.h"
#include "session/session.h"

struct part_file;

/* The allocations of the part. In its file they have the ids 1, 2, and so on. */
struct part_rows {
    /* Returns how many of them have an id of the whole session up to `id`. */
    uint64_t (*up_to)(const void *context, uint64_t id);
    /* Returns true if one of them has this id of the whole session. 0 is not an id. */
    bool (*has)(const void *context, uint64_t id);
    const void *context;
};

/* Begins to write to the empty file `draft`. Both outlive the result. NULL with `error` set. */
struct part_file *part_file_open(struct session *whole, const struct part_rows *rows,
                                 const char *draft, struct session_error *error);
/* Writes an allocation by its id in the whole session and the values of its columns. Returns false
 * with `error` set. */
bool part_file_put(struct part_file *file, uint64_t id, const uint64_t *values,
                   struct session_error *error);
/* Writes all other tables. `graph` selected the allocations. False with `error` set. */
bool part_file_finish(struct part_file *file, const char *graph, struct session_error *error);
/* NULL is ignored. */
void part_file_close(struct part_file *file);
