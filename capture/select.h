/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the heap's events are recorded where not all are: sampling, and events that are only
 * counted or looked at. All functions need the guard held.
 */
#ifndef MPROF_CAPTURE_SELECT_H
#define MPROF_CAPTURE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/entry_resize.h"
#include "capture/thread.h"
#include "capture/trace_file.h"

/* Set once at the start: the functions below are to be asked. */
extern bool select_is_on;

/* `mean`: see sample.h. False where there is no memory for it. */
bool select_process_init(uint64_t mean);
/* Counts for the limits at which recording begins and ends, see threshold.h. */
void select_count(struct threshold_limit start, struct threshold_limit stop);
/* Looks for calls of these functions, see call_watch.h. */
void select_watch_calls(const char *start, const char *stop);
/* Blocks from before are forgotten: in a forked child, and when a new trace begins. No other thread
 * may be inside an event. */
void select_process_restarted(void);

/* Whether the allocation at `address` (NULL: it failed, which is always recorded) is recorded. */
bool select_allocation(struct thread *thread, const void *frame, const void *address,
                       uint64_t size);
/* Whether the end of the block is recorded; before the real free. */
bool select_free(struct thread *thread, const void *address);
/* Whether the live block may have been recorded. */
bool select_knows(const void *address);

/* For what is not recorded: what is asked from outside is done when the guard is given back. */
static inline void select_look_outside(void)
{
    if (trace_file_is_asked())
        thread_local_part.at_leave |= THREAD_ASKED;
}

/* Makes the real call and records of it what is to be recorded: of the two halves, the end of the
 * old block and the beginning of the new one, each is or is not. */
void *select_resize(struct thread *thread, const void *frame, void *old,
                    const struct entry_resize *resize);

#endif
