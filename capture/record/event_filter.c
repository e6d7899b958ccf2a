/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/event_filter.h"

#include "capture/os/arch_x86_64.h"
#include "capture/record/control.h"
#include "capture/record/event_steps.h"
#include "capture/record/triggers.h"

bool event_filter_is_on;
/* Events are neither counted nor watched for. Set once at the start. */
static bool only_samples;

bool event_filter_init(uint64_t mean)
{
    if (mean == 0)
        return true;
    sample_init(mean);
    if (!sampled_blocks_init())
        return false;
    event_filter_is_on = only_samples = true;
    return true;
}

void event_filter_count(struct options_limit start, struct options_limit stop)
{
    threshold_init(start, stop);
    only_samples = only_samples && !atomic_load(&threshold_counts);
    event_filter_is_on = event_filter_is_on || atomic_load(&threshold_counts);
}

void event_filter_watch_calls(const char *start, const char *stop)
{
    call_watch_init(start, stop);
    only_samples = only_samples && !call_watch_starts && !call_watch_stops;
    event_filter_is_on = event_filter_is_on || call_watch_starts || call_watch_stops;
}

/* The allocator's own mappings are told from the program's by the guard, so events go by the gate
 * if mappings are recorded. */
void event_filter_open(void)
{
    if (only_samples && !recorder_inherited.mappings)
        real_add_detour(REAL_SAMPLED);
}

void event_filter_forget(void)
{
    if (sample_mean)
        sampled_blocks_reset();
}

/* Notes a block that is to be recorded. If the table is full, the block is not recorded and counts
 * as dropped. Its free is not recorded either. */
static bool note(const void *address)
{
    if (sampled_blocks_add((uintptr_t)address))
        return true;
    trace_file_count_dropped(1);
    return false;
}

void event_filter_describe(const struct live_block *block)
{
    if (sample_mean)
        sampled_blocks_describe(block->address, block);
}

void event_filter_tell(const void *address, const struct told_type *type)
{
    if (sample_mean)
        sampled_blocks_tell((uintptr_t)address, type);
}

static uint32_t current_state(void)
{
    return atomic_load_explicit(&recorder_page.state, memory_order_relaxed);
}

static bool is_counting(void)
{
    return atomic_load_explicit(&threshold_counts, memory_order_relaxed);
}

/* Counts one event. If a limit is passed, recorder_leave() acts on it. */
static void count_one(struct thread *thread, const void *address,
                      bool (*count)(struct threshold_part *, const void *))
{
    if (is_counting() && count(&thread->counted, address))
        thread_self.leave_flags |= THREAD_PASSED;
}

/* Looks at an allocation, recorded or not, that may be the first in a function that triggers.h
 * waits for. Begins recording if it is. Recording ends only after the event. */
static void look_at_calls(struct thread *thread, const void *frame)
{
    const uint32_t state = current_state();
    if (state == RECORDER_WAITING && call_watch_starts) {
        events_stack(thread, frame);
        if (thread->called)
            recorder_begin(thread);
    } else if (state == RECORDER_RECORDING && call_watch_stops && sample_mean)
        events_stack(thread, frame); /* allocations that are recorded take it anyway */
}

/* Returns true if the sample takes an allocation. If not, this looks for requests, which otherwise
 * happens when a thread makes room. */
static inline bool sample_takes_block(const void *address, uint64_t size)
{
    if (sample_takes(&thread_self.sample, size))
        return note(address);
    event_filter_look_for_requests();
    return false;
}

static inline bool sampled_block_ends(const void *address)
{
    if (sampled_blocks_remove((uintptr_t)address))
        return true;
    event_filter_look_for_requests();
    return false;
}

static ARCH_ALIGNS_STACK bool allocation_slow(struct thread *thread, const void *frame,
                                              const void *address, uint64_t size)
{
    look_at_calls(thread, frame);
    if (address)
        count_one(thread, address, threshold_count_allocation);
    if (!recorder_is_recording())
        return false;
    return !address || sample_mean == 0 || sample_takes_block(address, size);
}

bool event_filter_allocation(struct thread *thread, const void *frame, const void *address,
                             uint64_t size)
{
    if (__builtin_expect(!only_samples, 0))
        return allocation_slow(thread, frame, address, size);
    if (__builtin_expect(!recorder_is_recording(), 0))
        return false;
    return __builtin_expect(!address, 0) || sample_takes_block(address, size);
}

void event_filter_arena(struct thread *thread, const void *frame)
{
    look_at_calls(thread, frame);
    if (is_counting() && threshold_count_arena(&thread->counted))
        thread_self.leave_flags |= THREAD_PASSED;
}

static __attribute__((noinline)) bool free_slow(struct thread *thread, const void *address)
{
    count_one(thread, address, threshold_count_free);
    return sample_mean ? sampled_block_ends(address) : current_state() != RECORDER_WAITING;
}

bool event_filter_free(struct thread *thread, const void *address)
{
    return __builtin_expect(only_samples, 1) ? sampled_block_ends(address)
                                             : free_slow(thread, address);
}

bool event_filter_knows(const void *address)
{
    return sample_mean == 0 || sampled_blocks_has((uintptr_t)address);
}

static void put_free(struct thread *thread, uint64_t ticks, const void *address)
{
    struct chunk *chunk = &thread->chunk;
    chunk_commit(chunk, trace_put_free(chunk->cursor, &chunk->coding, ticks, (uintptr_t)address));
}

struct resize_outcome {
    void *old, *address;
    uint64_t before, after;
    uint32_t stack;
    bool ends, begins; /* the old block was recorded; the new one is to be recorded */
};

/* Puts the records of a resize. The caller has made room for them. */
static void put_resize(struct thread *thread, const struct resize *resize,
                       const struct resize_outcome *outcome)
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
        put_free(thread, outcome->before, outcome->old);
    else if (outcome->begins)
        chunk_commit(chunk, trace_put_alloc(
                                chunk->cursor, &chunk->coding, outcome->after,
                                (uintptr_t)outcome->address, resize->size, outcome->stack,
                                resize->array ? TRACE_KIND_REALLOCARRAY : TRACE_KIND_REALLOC, 0));
}

/* Counts the block that lives after the call. The old block was counted as freed before it. */
static void count_resized(struct thread *thread, const struct resize_outcome *outcome,
                          const struct resize *resize)
{
    const void *now = outcome->address ? outcome->address : resize->size != 0 ? outcome->old : NULL;
    if (now)
        count_one(thread, now, threshold_count_allocation);
}

/* The old block leaves the table before the real call, because after it another thread may get the
 * same address. If the call fails, the block goes back, because it still belongs to the program. */
void *event_filter_resize(struct thread *thread, const void *frame, void *old,
                          const struct resize *resize)
{
    look_at_calls(thread, frame);
    bool recording = recorder_is_recording();
    struct live_block before;
    const bool known = sample_mean && sampled_blocks_known((uintptr_t)old, &before);
    struct resize_outcome outcome = {.old = old, .ends = event_filter_free(thread, old)};
    outcome.begins =
        recording && (sample_mean == 0 || sample_takes(&thread_self.sample, resize->size));
    if (outcome.begins)
        outcome.stack = events_stack(thread, frame);
    if (!outcome.begins && !outcome.ends) {
        event_filter_look_for_requests();
        outcome.address = real_resize(old, resize);
        count_resized(thread, &outcome, resize);
        return outcome.address;
    }
    bool room = events_room(thread, 1);
    outcome.before = events_now(thread);
    outcome.address = real_resize(old, resize);
    outcome.after = events_now(thread);
    count_resized(thread, &outcome, resize);
    bool freed = !outcome.address && resize->size == 0; /* by this C library */
    if (outcome.address)
        outcome.begins = outcome.begins && (sample_mean == 0 || note(outcome.address));
    else if (!freed && outcome.ends && sample_mean && note(old) && known)
        event_filter_describe(&before);
    if (outcome.address && outcome.begins)
        event_filter_describe(&(struct live_block){.address = (uintptr_t)outcome.address,
                                                   .size = resize->size,
                                                   .ticks = outcome.after,
                                                   .count = 1,
                                                   .stack = outcome.stack,
                                                   .thread = thread->number,
                                                   .kind = resize->array ? TRACE_KIND_REALLOCARRAY
                                                                         : TRACE_KIND_REALLOC});
    if (!room)
        return outcome.address;
    if (freed && outcome.ends)
        put_free(thread, outcome.before, old);
    else if (outcome.address || (outcome.ends && recording))
        put_resize(thread, resize, &outcome);
    return outcome.address;
}
