/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The progress bar: one line with rate and remaining time, if the output is a terminal.
 */
#ifndef MPROF_INGEST_PROGRESS_H
#define MPROF_INGEST_PROGRESS_H

#include "ingest/ingest.h"

struct progress {
    bool shown;         /* on a terminal, without --quiet */
    bool drawn;         /* there is a line to clear */
    double begin, last; /* seconds of a monotonic clock */
};

void progress_init(struct progress *progress, bool quiet);
/* Draws the bar. For ingest_options.progress, with a struct progress as its context. */
void progress_report(void *context, enum ingest_phase phase, uint64_t done, uint64_t total);
/* Clears the line. */
void progress_end(struct progress *progress);

#endif
