/* SPDX-License-Identifier: BSD-2-Clause */
/* The allocations of a selection by the lines of a source file.
 *
 * The rules of session.h hold: these functions block. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/* The allocations whose stacks pass through a line, inlined frames included. A stack counts once
 * for a line, however often it passes. */
struct session_source_line {
    uint32_t line;
    uint64_t allocations, bytes, live_count, live_bytes, at_peak_bytes;
    uint64_t own_bytes; /* of `bytes`: those whose call site is the line */
    uint32_t function;  /* that the line is part of; 0: several of different names */
};

/* Stores the lines of a file, as the session names it, in ascending order; those without
 * allocations are missing. The caller frees them. Takes a pass over the selected allocations at the
 * selection's first use. Returns false with `error` set. */
bool selection_source(struct selection *selection, const char *path,
                      struct session_source_line **lines, size_t *count,
                      struct session_error *error);

/* A file that stacks of the selection pass through. The sums are those of these stacks. */
struct session_source_file {
    const char *path; /* as long as the session */
    uint64_t bytes, live_bytes, at_peak_bytes;
    bool own; /* a function of the user's own code (user_code.h) has lines of it on stacks */
};
/* Stores all files, in the order of their paths. The caller frees them. False with `error` set. */
bool selection_source_files(struct selection *selection, struct session_source_file **files,
                            size_t *count, struct session_error *error);
