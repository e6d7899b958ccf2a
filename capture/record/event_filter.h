/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides which events are recorded if not all are. That is so with sampling, and when events are
 * only counted or watched. The functions need the guard held, but for the last three. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/os/options.h"
#include "capture/record/file.h"
#include "capture/record/real.h"
#include "capture/record/sampling.h"
#include "capture/record/thread.h"

/* True if the functions below must be asked. Set once at the start. */
extern bool event_filter_is_on;

/* Lets the entry points skip events by the functions at the end of this file, if the filter only
 * samples. Call it after the three functions that follow. */
void event_filter_open(void);

/* Begins sampling by `mean` (sampling.h). Returns false if there is no memory for it. */
bool event_filter_init(uint64_t mean);
/* Counts for the limits at which recording begins and ends (triggers.h). */
void event_filter_count(struct options_limit start, struct options_limit stop);
/* Looks for calls of these functions (triggers.h). */
void event_filter_watch_calls(const char *start, const char *stop);
/* Forgets all earlier blocks, in a forked child and when a new trace begins. No other thread may be
 * inside an event. */
void event_filter_forget(void);

/* Returns true if the allocation at `address` is recorded. A sample keeps each failed one (NULL).
 */
bool event_filter_allocation(struct thread *thread, const void *frame, const void *address,
                             uint64_t size);
/* Counts and looks at an allocation of an arena, recorded or not. */
void event_filter_arena(struct thread *thread, const void *frame);
/* Keeps what is known of a block of the heap that a sample has taken. */
void event_filter_describe(const struct live_block *block);
/* Keeps the type that the program tells of such a block. */
void event_filter_tell(const void *address, const struct told_type *type);
/* Returns true if the end of the block is recorded. Call it before the real free. */
bool event_filter_free(struct thread *thread, const void *address);
/* Returns true if the live block may have been recorded. */
bool event_filter_knows(const void *address);

/* Looks for requests at an event that is not recorded. recorder_leave() handles them. */
static inline void event_filter_look_for_requests(void)
{
    if (trace_file_is_asked())
        thread_self.leave_flags |= THREAD_ASKED;
}

/* The decisions of a sample that nearly every event gets, for the entry points of the heap and of
 * arenas: the event is not recorded, and there is nothing to do but the real call, if there is one.
 * They need no guard, and ask for nothing but three words that each event reads. If they return
 * false, go the usual way, by the gate. Ask them only if recorder_page.skipped has the real
 * functions.
 *
 * The first one is for an allocation of `size` bytes that is going to be made. Once it has returned
 * true, the sample has gone past it. */
static inline bool event_filter_skips_allocation(uint64_t size)
{
    return !trace_file_is_asked() && sample_skips(&thread_self.sample, size);
}

static inline bool event_filter_skips_free(const void *address)
{
    return !trace_file_is_asked() && !sampled_blocks_may_have((uintptr_t)address);
}

/* For a block that is going to be resized, or that a new one takes the place of: neither its end
 * nor the beginning of the new one is recorded. */
static inline bool event_filter_skips_resize(const void *old, uint64_t size)
{
    return event_filter_skips_free(old) && sample_skips(&thread_self.sample, size);
}

/* Makes the real call and records the parts of it that are to be recorded. These are the end of the
 * old block, the beginning of the new one, both or neither. */
void *event_filter_resize(struct thread *thread, const void *frame, void *old,
                          const struct resize *resize);
