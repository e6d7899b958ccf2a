/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of trace files: the base that was asked for, and the names for the other processes of a
 * run, which lie in one folder beside it. Also the space on their disk. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/trace_layout.h"

/* The space that must stay free on the disk (--min-free): this many bytes or this part of the whole
 * disk, the smaller one. 0 bytes: none. */
struct disk_space_limit {
    uint64_t bytes;
    uint32_t percent;
};

#define DISK_SPACE_LIMIT_DEFAULT                                                                   \
    {                                                                                              \
        .bytes = UINT64_C(1) << 30, .percent = 5                                                   \
    }

struct disk_space {
    uint64_t available;      /* bytes that a user may still write */
    uint64_t must_stay_free; /* bytes, part of `available` */
};

#define TRACE_NAME_SIZE 4096u

/* Makes `path` absolute in `name` (TRACE_NAME_SIZE bytes), because the program may change its
 * directory. NULL or "" gives mprof.PROGRAM.PID.bin in the working directory. Returns false if the
 * name is too long or the directory is unknown. */
bool trace_name_base(const char *path, char *name);

/* Names the folder of the other processes' traces. Returns false if the name does not fit. */
bool trace_name_folder(const char *base, char *name);

/* Names the file for one attempt: 0 is the base itself, 1 is BASE.d/PID, 2 and up BASE.d/PID.2, ….
 * Without `in_folder`, if the folder cannot be made: BASE.PID, BASE.PID.2, …. Returns false if the
 * name does not fit. */
bool trace_name_attempt(const char *base, int pid, unsigned attempt, bool in_folder, char *name);

/* Writes the absolute path of the executable, NUL-terminated and cut to size - 1 bytes. If no /proc
 * is mounted, this is the name that the program was executed by (AT_EXECFN), if the file of this
 * name has the entry and the number of program headers that the kernel found. Returns the length;
 * 0, with "" in `path`, if the path is not known. */
size_t executable_name(char *path, size_t size);

/* Looks at the disk of an open file. False if there is no limit or the kernel does not answer; then
 * nothing must stay free. */
bool disk_space_look(int descriptor, struct disk_space_limit limit, struct disk_space *space);

#define DISK_SPACE_TEXT 32u
/* Writes the bytes in KiB, MiB, GiB or TiB, rounded down. Returns where the text begins. */
const char *disk_space_text(uint64_t bytes, char text[DISK_SPACE_TEXT]);

struct unrecorded {
    const char *base; /* absolute path of the run's first trace */
    bool first; /* this is the run's first program: its trace takes that name, if it is free */
    int process, parent;
    const char *path;         /* of the program */
    const char *const *words; /* its arguments, NULL at the end; NULL: not known */
    enum trace_unrecorded reason;
};

/* Writes the trace, and its path into `name` (TRACE_NAME_SIZE bytes). Returns false if it cannot be
 * made; then no file is left. */
bool unrecorded_make(const struct unrecorded *program, char *name);
