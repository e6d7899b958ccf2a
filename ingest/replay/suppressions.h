/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads files of suppressions (schemas/code/suppressions.h) and finds the stacks that they name.
 *
 * Order of calls: suppressions_read() once; for each trace suppressor_new(), suppressor_of() for
 * its stacks, suppressor_free(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ingest/base/status.h"
#include "ingest/trace/cursor.h"
#include "schemas/code/suppressions.h"

/* Reads a file. Lines of other sanitizers, with another kind than `leak:`, are left out, and a note
 * about each, with its line, is printed on `notes`. NULL with `status` set if the file cannot be
 * read or a line is of no kind. Free it by suppressions_free(). */
struct suppressions *suppressions_read(const char *path, FILE *notes, struct ingest_status *status);

struct suppressor;
struct stacks;

/* Looks at the stacks' names once. Both arguments outlive the result. NULL without memory. */
struct suppressor *suppressor_new(const struct suppressions *suppressions,
                                  const struct stacks *stacks);
void suppressor_free(struct suppressor *suppressor);

/* Returns the pattern that LeakSanitizer would choose, or NULL; the suppressions own it. */
const char *suppressor_of(const struct suppressor *suppressor, size_t stack);

/* The suppressions of leaks that a recorded program contains (mprof-run --suppressions), read from
 * the SUPPRESSIONS records of its trace. */

/* Zero-initialized: the trace has no such record. */
struct program_suppressions {
    bool found;
    bool broken;      /* pieces are missing or do not fit together */
    uint64_t outcome; /* enum trace_suppressions */
    char *text;       /* the part of it that was read */
    size_t length, capacity;
    uint64_t total; /* bytes that the program's function returned */
};

/* Takes a SUPPRESSIONS record. False if memory is exhausted. */
bool program_suppressions_add(struct program_suppressions *program,
                              const struct trace_extension *extension);
void program_suppressions_free(struct program_suppressions *program);

/* Returns the patterns of `file`, which may be NULL, and after them those of the program. Notes in
 * `problems`, unless that is NULL, why some or all of the program's are missing, and each line that
 * is not a suppression. NULL if memory is exhausted. Free it by suppressions_free(). */
struct suppressions *program_suppressions_join(const struct program_suppressions *program,
                                               const struct suppressions *file,
                                               struct problems *problems);

/* Recognizes blocks that the language's runtime allocates once and keeps until the program ends, by
 * the stacks that allocate them. They are not leaks of the program.
 *
 *  - "C++ exceptions": libstdc++'s emergency pool, from which an exception is made when memory is
 *    exhausted. Its size differs between releases (72,704 bytes in most).
 *  - "stdio": the buffers of streams.
 *  - "loader": the dynamic linker's data on modules and threads.
 *  - "locale": the data of setlocale() and the tables of messages.
 *
 * Only the names of functions and modules decide, by the table in suppressions.c. If names are
 * missing, as in a program without symbols that contains libstdc++, no block is recognized. */

struct runtime_blocks;

/* Looks at the functions of the stacks once. NULL if memory is exhausted. */
struct runtime_blocks *runtime_blocks_new(const struct stacks *stacks);
void runtime_blocks_free(struct runtime_blocks *blocks);

/* Returns the schema's word for the blocks of a stack that allocated so many times, or NULL if they
 * are the program's own. */
const char *runtime_blocks_of(const struct runtime_blocks *blocks, size_t stack,
                              uint64_t allocations);
