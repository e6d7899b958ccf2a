/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void progress_init(struct progress *progress, bool quiet)
{
    progress->shown = !quiet && isatty(STDERR_FILENO);
    progress->drawn = false;
    progress->begin = now();
    progress->last = 0;
}

void progress_report(void *context, enum ingest_phase phase, uint64_t done, uint64_t total)
{
    enum { WIDTH = 30 };
    static const char full[] = "##############################",
                      none[] = "..............................";
    struct progress *progress = context;
    double at = now(), elapsed = at - progress->begin;
    if (!progress->shown || (at - progress->last < 0.1 && phase == INGEST_REPLAY))
        return;
    progress->last = at;
    progress->drawn = true;
    if (phase == INGEST_FOLLOW || phase == INGEST_FOLLOW_ENDED) {
        fprintf(stderr, "\r\033[K%s: %" PRIu64 " events, %.1f s behind; Ctrl-C ends",
                phase == INGEST_FOLLOW ? "recording" : "the program has ended", done,
                (double)total / 1e9);
        return;
    }
    if (phase == INGEST_SCAN) {
        fputs("\r\033[Kreading stacks and modules", stderr);
        return;
    }
    if (phase != INGEST_REPLAY) {
        fprintf(stderr, "\r\033[Kwriting %s, %.1f MiB so far",
                phase == INGEST_ROWS ? "rows" : "names and indexes", (double)done / 1048576);
        return;
    }
    double part = total ? (double)done / (double)total : 0;
    if (part > 1)
        part = 1;
    int filled = (int)(part * WIDTH);
    fprintf(stderr, "\r\033[K[%.*s%.*s] %3.0f %%  %.1f MiB/s", filled, full, WIDTH - filled, none,
            part * 100, elapsed > 0 ? (double)done / elapsed / 1048576 : 0);
    if (part > 0.01)
        fprintf(stderr, "  %.0f s left", elapsed / part * (1 - part));
}

void progress_end(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
