/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the words of a stopped process that hold an address inside one of its heap mappings
 * (trace-format.md, "References"), and keeps nothing else of its memory.
 *
 * The memory is read in units of half a MiB, by up to four threads, and each unit is searched while
 * it lies in the processor's cache. Only pages that are present are read, by the kernel's page map:
 * no page is made or read in. The words are packed at once, into pieces as the trace has them. The
 * first KEPT_IN_MEMORY bytes of them stay in memory, all others go to a temporary file.
 *
 * Legal order: reference_words_open() and reference_maps_read(), while the process runs;
 * reference_words_measure(), if the speed matters; then, in the stop, reference_maps_read() and
 * reference_words_read(); then reference_words_each(); reference_words_close(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/run/reference_maps.h"
#include "schemas/trace_references.h"

struct reference_words; /* see the .c */

struct reference_sums {
    uint64_t words, bytes;                /* kept, read */
    uint64_t swapped, shared, unreadable; /* bytes that were left out */
};

/* Begins. `folder`: for the temporary file. `trace`: inode of the trace, whose mappings do not
 * count. Returns NULL with errno if the process's page map cannot be read or memory is
 * exhausted. */
struct reference_words *reference_words_open(pid_t process, const char *folder, ino_t trace);
void reference_words_close(struct reference_words *words);

/* Returns the mappings, which the caller reads (reference_maps_read()) before each reading. */
struct reference_maps *reference_words_maps(struct reference_words *words);

/* Reads some MiB and forgets them. Returns the bytes a second, 0 if there are too few to tell. */
double reference_words_measure(struct reference_words *words);

/* Reads all. `deadline`: monotonic seconds (run_steer_now()). `progress` is counted up as it reads.
 */
enum trace_references_outcome reference_words_read(struct reference_words *words, double deadline,
                                                   uint32_t *progress);
struct reference_sums reference_words_sums(const struct reference_words *words);

/* Takes the pairs of one REFERENCES_WORDS record. Returns false to end. */
typedef bool reference_words_piece(void *context, const struct trace_references_words *piece);

/* Calls `each` for all pieces, in ascending order. False if a call returned false, or the temporary
 * file cannot be read. */
bool reference_words_each(struct reference_words *words, reference_words_piece *each,
                          void *context);
