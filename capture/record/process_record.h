/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts about this process that its trace has: the PROCESS record, which says what program this
 * is and is written at the beginning of its trace, and samples of the resident set. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/os/options.h"

/* The origin of the process, for the next record: the trace_id of the parent's trace (0 if the
 * process was not forked), and stamps before and after the fork (0 if not known). */
struct process_origin {
    uint64_t trace_id, before, after;
};
void process_record_set_origin(struct process_origin origin);

/* Notes that the program began before its recorder: it may have a title instead of arguments. */
void process_record_comes_late(void);

/* Writes pointers to the arguments that the program was started with, at most `most`, and NULL. */
void process_record_words(const char **words, size_t most);

/* Puts the payload of the record, at most TRACE_EXTENDED_MAX bytes. Returns its end. */
uint8_t *process_record_put(uint8_t *payload);

/* Keeps the labels that the trace gets, and its later ones. */
void process_record_set_labels(const struct options_label *labels, size_t count);
/* Returns one of them, of `*length` bytes, not terminated; NULL: there are no more. */
const char *process_record_label(size_t index, size_t *length);

/* Returns the bytes of the resident set, or 0 if the kernel does not say. Takes a few microseconds,
 * allocates nothing. For programs that mprof-run does not watch from outside. */
uint64_t process_resident_bytes(void);
