/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a trace again as a dense one, whose chunks are all packed (schemas/trace-format.md,
 * "Packed chunks"). */
#pragma once

#include <signal.h>

#include "ingest/trace/file.h"

struct trace_compress_result {
    uint64_t bytes; /* of the new file */
};

/* Writes `target`, which may be the trace itself. With `force` a file of that name is replaced when
 * the new one is whole and has been read back. The caller makes sure that a trace that is replaced
 * is not being recorded. False with `status` set, and nothing changed, if the trace is damaged or
 * the file cannot be written. */
bool trace_compress(const struct trace_file *file, const char *target, bool force,
                    const volatile sig_atomic_t *interrupted, struct trace_compress_result *result,
                    struct ingest_status *status);
