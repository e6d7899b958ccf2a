/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that is made under another name and gets its own when it is whole.
 *
 * Order of calls: output_file_begin(), writing through the descriptor or under the name `part`,
 * output_file_finish(), and always output_file_end(), which removes a file that is not finished.
 *
 * The file is made beside its target as TARGET.part.PID.RANDOM. No file or link of that name exists
 * before. Only its user may read it, and it is locked while it is being made. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ingest/base/status.h"

struct output_file {
    char *target, *part;
    int descriptor; /* open for reading and writing, empty at first */
    bool force;     /* replaces a regular file that has the target's name */
    bool finished;
};

/* Checks the target and makes the empty file, with mode 0600. False with `status` set if the target
 * exists and `force` is not set, if it is not a regular file, or if no file can be made beside it.
 * `file` may hold anything before. */
bool output_file_begin(struct output_file *file, const char *target, bool force,
                       struct ingest_status *status);

/* Checks the target again and gives the file its name. False with `status` set. */
bool output_file_finish(struct output_file *file, struct ingest_status *status);
/* Does the same for a database, and removes the logs beside the file that it replaces: SQLite would
 * use them for the new one. */
bool output_file_finish_database(struct output_file *file, struct ingest_status *status);

/* Removes the file unless it was finished, and frees what the struct holds. */
void output_file_end(struct output_file *file);

/* Returns true if `name` is TARGET.part.PID.RANDOM, for a target whose last component is `base`.
 * `.part.PID.RANDOM` may be there several times. Returns the last PID; 0: it is not such a name. */
pid_t output_file_maker(const char *name, const char *base);

/* Reads and writes that go on until all bytes are done, also after a signal. */

/* Writes `size` bytes, at the offset `place` or where the file stands. Returns 0, or an errno,
 * ENOSPC if the file takes no more. */
int write_whole(int descriptor, const void *bytes, size_t size);
int write_whole_at(int descriptor, const void *bytes, size_t size, uint64_t place);
/* Reads `size` bytes at the offset `place`. Returns how many. If they are fewer, errno tells why, 0
 * if the file ends there. */
size_t read_whole(int descriptor, void *bytes, size_t size, uint64_t place);
