/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/event_filter.h"

#include "capture/record/call_watch.h"
#include "capture/record/events.h"
#include "capture/record/recorder.h"
#include "capture/record/sampled_blocks.h"
#include "capture/record/sampling.h"
#include "capture/trace/file.h"

bool select_is_on;
/* True if events are neither counted nor watched for. */
static bool select_only_samples;

bool select_process_init(uint64_t mean)
{
    if (mean == 0)
        return true;
    sample_process_init(mean);
    if (!sampled_blocks_init())
        return false;
    select_is_on = select_only_samples = true;
    return true;
}

void select_count(struct options_limit start, struct options_limit stop)
{
    threshold_process_init(start, stop);
    select_only_samples = select_only_samples && !atomic_load(&threshold_counts);
    select_is_on = select_is_on || atomic_load(&threshold_counts);
}

void select_watch_calls(const char *start, const char *stop)
{
    call_watch_process_init(start, stop);
    select_only_samples = select_only_samples && !call_watch_starts && !call_watch_stops;
    select_is_on = select_is_on || call_watch_starts || call_watch_stops;
}

void select_process_restarted(void)
{
    if (sample_mean)
        sampled_blocks_reset();
}

/* Notes a block that is to be recorded. If the table is full, the block is not recorded and counts
 * as dropped. Its free is not recorded either. */
static bool select_note(const void *address)
{
    if (sampled_blocks_add((uintptr_t)address))
        return true;
    trace_file_count_dropped(1);
    return false;
}

static uint32_t select_state(void)
{
    return atomic_load_explicit(&recorder_page.state, memory_order_relaxed);
}

/* Counts one event. If a limit is passed, recorder_leave() acts on it. */
static void select_count_one(struct thread *thread, const void *address,
                             bool (*count)(struct threshold_part *, const void *))
{
    if (atomic_load_explicit(&threshold_counts, memory_order_relaxed) &&
        count(&thread->counted, address))
        thread_local_part.at_leave |= THREAD_PASSED;
}

static inline void select_watch(struct thread *thread, const void *frame)
{
    if (call_watch_starts || call_watch_stops)
        call_watch_allocation(thread, frame);
}

/* Tells whether the sample takes an allocation. If not, this looks for requests, which otherwise
 * happens when a thread makes room. */
static inline bool select_samples(struct thread *thread, const void *address, uint64_t size)
{
    if (sample_takes(&thread->sample, size))
        return select_note(address);
    select_look_outside();
    return false;
}

static inline bool select_ends_sampled(const void *address)
{
    if (sampled_blocks_remove((uintptr_t)address))
        return true;
    select_look_outside();
    return false;
}

static __attribute__((noinline)) bool select_allocation_watched(struct thread *thread,
                                                                const void *frame,
                                                                const void *address, uint64_t size)
{
    select_watch(thread, frame);
    if (address)
        select_count_one(thread, address, threshold_count_allocation);
    if (select_state() != RECORDER_RECORDING)
        return false;
    return !address || sample_mean == 0 || select_samples(thread, address, size);
}

bool select_allocation(struct thread *thread, const void *frame, const void *address, uint64_t size)
{
    if (__builtin_expect(!select_only_samples, 0))
        return select_allocation_watched(thread, frame, address, size);
    if (__builtin_expect(select_state() != RECORDER_RECORDING, 0))
        return false;
    return __builtin_expect(!address, 0) || select_samples(thread, address, size);
}

static __attribute__((noinline)) bool select_free_watched(struct thread *thread,
                                                          const void *address)
{
    select_count_one(thread, address, threshold_count_free);
    return sample_mean ? select_ends_sampled(address) : select_state() != RECORDER_WAITING;
}

bool select_free(struct thread *thread, const void *address)
{
    return __builtin_expect(select_only_samples, 1) ? select_ends_sampled(address)
                                                    : select_free_watched(thread, address);
}

bool select_knows(const void *address)
{
    return sample_mean == 0 || sampled_blocks_has((uintptr_t)address);
}

static void select_put_free(struct thread *thread, uint64_t ticks, const void *address)
{
    struct chunk *chunk = &thread->chunk;
    chunk_commit(chunk, trace_put_free(chunk->cursor, &chunk->coding, ticks, (uintptr_t)address));
}

struct select_outcome {
    void *old, *address;
    uint64_t before, after;
    uint32_t stack;
    bool ends, begins; /* the old block was recorded; the new one is to be recorded */
};

/* Puts the records of a resize. The caller has made room for them. */
static void select_put_resize(struct thread *thread, const struct entry_resize *resize,
                              const struct select_outcome *outcome)
{
    struct chunk *chunk = &thread->chunk;
    enum trace_realloc_outcome how = !outcome->address                  ? TRACE_REALLOC_FAILED
                                     : outcome->address == outcome->old ? TRACE_REALLOC_IN_PLACE
                                                                        : TRACE_REALLOC_MOVED;
    if (outcome->ends && (outcome->begins || how == TRACE_REALLOC_FAILED))
        chunk_commit(chunk, trace_put_realloc(chunk->cursor, &chunk->coding, outcome->before,
                                              outcome->after, (uintptr_t)outcome->old,
                                              (uintptr_t)outcome->address, resize->size,
                                              outcome->stack, how, resize->array));
    else if (outcome->ends)
        select_put_free(thread, outcome->before, outcome->old);
    else if (outcome->begins)
        chunk_commit(chunk, trace_put_alloc(
                                chunk->cursor, &chunk->coding, outcome->after,
                                (uintptr_t)outcome->address, resize->size, outcome->stack,
                                resize->array ? TRACE_KIND_REALLOCARRAY : TRACE_KIND_REALLOC, 0));
}

/* Counts the block that lives after the call. The old block was counted as freed before it. */
static void select_count_resized(struct thread *thread, const struct select_outcome *outcome,
                                 const struct entry_resize *resize)
{
    const void *now = outcome->address ? outcome->address : resize->size != 0 ? outcome->old : NULL;
    if (now)
        select_count_one(thread, now, threshold_count_allocation);
}

/*
 * The old block leaves the table before the real call, because after it another thread may get the
 * same address. If the call fails, the block goes back, because it still belongs to the program.
 */
void *select_resize(struct thread *thread, const void *frame, void *old,
                    const struct entry_resize *resize)
{
    select_watch(thread, frame);
    bool recording = select_state() == RECORDER_RECORDING;
    struct select_outcome outcome = {.old = old, .ends = select_free(thread, old)};
    outcome.begins = recording && (sample_mean == 0 || sample_takes(&thread->sample, resize->size));
    if (outcome.begins)
        outcome.stack = events_stack(thread, frame);
    if (!outcome.begins && !outcome.ends) {
        select_look_outside();
        outcome.address = entry_real_resize(old, resize);
        select_count_resized(thread, &outcome, resize);
        return outcome.address;
    }
    bool room = events_room(thread, 1);
    outcome.before = events_now(thread);
    outcome.address = entry_real_resize(old, resize);
    outcome.after = events_now(thread);
    select_count_resized(thread, &outcome, resize);
    bool freed = !outcome.address && resize->size == 0; /* by this C library */
    if (outcome.address)
        outcome.begins = outcome.begins && (sample_mean == 0 || select_note(outcome.address));
    else if (!freed && outcome.ends && sample_mean)
        select_note(old);
    if (!room)
        return outcome.address;
    if (freed && outcome.ends)
        select_put_free(thread, outcome.before, old);
    else if (outcome.address || (outcome.ends && recording))
        select_put_resize(thread, resize, &outcome);
    return outcome.address;
}
