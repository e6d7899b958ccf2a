/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/thread_room.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/record/file.h"
#include "capture/record/process_record.h"
#include "capture/record/state.h"
#include "capture/record/thread_pool.h"
#include "capture/record/triggers.h"
#include "capture/stack/thread_state.h"

/* Ranges of the recorder's memory are written while a chunk has so much room. */
#define OWN_MEMORY_ROOM 1024u

static bool sample_resident;

uint8_t *thread_put_moment(const struct thread *thread, uint8_t *payload, uint64_t *when)
{
    const uint64_t now = thread_clock_before(thread), last = thread->chunk.coding.ticks;
    *when = now > last ? now : last;
    return trace_put_varint(payload, *when - last);
}

uint8_t *thread_put_when(const struct thread *thread, uint8_t *payload)
{
    uint64_t when;
    return thread_put_moment(thread, payload, &when);
}

void thread_extended_end(struct thread *thread, enum trace_extended type, const uint8_t *end)
{
    struct chunk *chunk = &thread->chunk;
    if (!recorder_is_own())
        return;
    chunk_commit(chunk, trace_put_extended(chunk->cursor, type, thread->scratch,
                                           (size_t)(end - thread->scratch)));
}

void thread_read_name(char name[16], const char known[16])
{
    memset(name, 0, 16);
    if (os_call(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0) != 0)
        memcpy(name, known, 16);
}

/* Returns the kernel's id of the calling thread, or 0 if asking for it is forbidden. */
static uint64_t kernel_id(void)
{
    int id = os_thread_id();
    return id > 0 ? (uint64_t)id : 0;
}

void thread_put_name(struct thread *thread)
{
    uint8_t *p = thread_put_when(thread, thread->scratch);
    p = trace_put_varint(p, thread->number);
    p = trace_put_varint(p, kernel_id());
    p = trace_put_string(p, thread->name, strnlen(thread->name, sizeof(thread->name)));
    const struct stack_memory *stack = &thread->stack->memory;
    if (!(thread_flags(thread) & THREAD_NEW_STACK) && stack->own_high > stack->own_low) {
        p = trace_put_varint(p, stack->own_low);
        p = trace_put_varint(p, stack->own_high);
    }
    thread_extended_end(thread, TRACE_EXT_THREAD, p);
}

ARCH_ALIGNS_STACK void thread_put_stack(struct thread *thread)
{
    if (thread->name[0] && thread_make_room(thread, THREAD_NAME_RECORD_MAX))
        thread_put_name(thread);
}

void thread_put_own_memory(struct thread *thread)
{
    uintptr_t start;
    size_t size;
    for (uint32_t at = 0; chunk_space(&thread->chunk) >= OWN_MEMORY_ROOM &&
                          own_ranges_next_news(&at, &start, &size);) {
        uint8_t *p = thread_put_when(thread, thread->scratch);
        p = trace_put_varint(p, at);
        p = trace_put_varint(p, size ? start : 0);
        p = trace_put_varint(p, size);
        thread_extended_end(thread, TRACE_EXT_RECORDER_MEMORY, p);
    }
}

static void thread_put_dropped(struct thread *thread)
{
    uint32_t dropped = atomic_load(&thread_self.dropped);
    if (dropped == 0)
        return;
    uint8_t *p = thread_put_when(thread, thread->scratch);
    p = trace_put_varint(p, dropped);
    p = trace_put_varint(p, TRACE_DROP_REENTRANT);
    thread_extended_end(thread, TRACE_EXT_DROPPED, p);
    atomic_fetch_sub(&thread_self.dropped, dropped);
}

/* Writes a clock pair if it is due. The chunk's limit leads here, so the hot path pays nothing. */
static void thread_put_clock(struct thread *thread)
{
    if (!chunk_clock_is_due(&thread->chunk))
        return;
    struct clock_pair pair = clock_read_pair();
    uint64_t last = thread->chunk.coding.ticks;
    if (pair.ticks >= last) {
        uint8_t *p = trace_put_varint(thread->scratch, pair.ticks - last);
        p = trace_put_varint(p, pair.monotonic_ns);
        thread_extended_end(thread, TRACE_EXT_CLOCK, p);
    }
    chunk_clock_is_done(&thread->chunk);
}

void thread_put_switch(struct thread *thread)
{
    struct chunk *chunk = &thread->chunk;
    uint64_t now = clock_before();
    if (now < chunk->coding.ticks)
        now = chunk->coding.ticks;
    uint8_t *p = trace_put_varint(thread->scratch, thread->number);
    p = trace_put_varint(p, thread->sequence++);
    p = trace_put_varint(p, now);
    thread_extended_end(thread, TRACE_EXT_SWITCH, p);
    trace_coding_reset(&chunk->coding, now);
}

void thread_sample_resident(bool wanted)
{
    sample_resident = wanted;
}

void thread_put_resident(struct thread *thread)
{
    uint64_t bytes = sample_resident ? process_resident_bytes() : 0;
    if (!bytes)
        return;
    uint8_t *p = thread_put_when(thread, thread->scratch);
    p = trace_put_varint(p, bytes);
    thread_extended_end(thread, TRACE_EXT_RSS, p);
}

#define EXTENDED_HEAD_MAX 16u /* kind, type and length of an extended record */

void thread_leave_old_trace(struct thread *thread)
{
    if (!atomic_load_explicit(&thread->left_over, memory_order_relaxed))
        return;
    chunk_leave(&thread->chunk);
    atomic_store(&thread->left_over, false);
    thread->sequence = 0;
    memset(thread->name, 0, sizeof(thread->name));
    thread_self.trace = thread_pool_trace();
}

static bool begin_next_chunk(struct thread *thread)
{
    char name[16];
    chunk_leave(&thread->chunk);
    if (!chunk_begin(&thread->chunk, thread->number, thread->sequence))
        return false;
    thread->sequence++;
    thread_put_dropped(thread);
    thread_read_name(name, thread->name);
    if (memcmp(name, thread->name, sizeof(name)) != 0) {
        memcpy(thread->name, name, sizeof(name));
        thread_put_name(thread);
    }
    thread_put_own_memory(thread);
    thread_put_resident(thread);
    toggle_signal_check();
    return true;
}

/* Looks for requests, which recorder_leave() handles when the event is complete. Returns false if
 * another process has ended the recording. */
static bool look_for_requests(struct thread *thread)
{
    chunk_attention_taken(&thread->chunk);
    if (trace_file_is_asked() || atomic_load_explicit(&toggle_signal_count, memory_order_relaxed))
        thread_self.leave_flags |= THREAD_ASKED;
    if (!trace_file_is_sealed())
        return true;
    recorder_sealed();
    return false;
}

void thread_grow_chunk(struct thread *thread, size_t need)
{
    if (chunk_space(&thread->chunk) >= need)
        return;
    const uint64_t signals = os_block_signals();
    while (chunk_space(&thread->chunk) < need && chunk_grow(&thread->chunk))
        ;
    os_restore_signals(signals);
}

ARCH_ALIGNS_STACK bool thread_make_room(struct thread *thread, size_t need)
{
    struct chunk *chunk = &thread->chunk;
    if (!recorder_is_own() || !look_for_requests(thread))
        return false;
    thread_leave_old_trace(thread);
    chunk_unseal(chunk);
    thread_grow_chunk(thread, need + THREAD_OWED_MAX);
    if (chunk_space(chunk) >= need + THREAD_OWED_MAX) {
        thread_put_clock(thread);
        chunk_open_limit(chunk);
        thread_put_dropped(thread);
        return true;
    }
    uint64_t signals = os_block_signals();
    bool begun = begin_next_chunk(thread);
    os_restore_signals(signals);
    return begun;
}

uint8_t *thread_extended_begin(struct thread *thread, size_t size)
{
    if (size > TRACE_EXTENDED_MAX)
        size = TRACE_EXTENDED_MAX;
    if (!thread_make_room(thread, size + EXTENDED_HEAD_MAX))
        return NULL;
    return thread->scratch;
}

bool thread_put_record(struct thread *thread, enum trace_extended type, const uint64_t *numbers,
                       size_t count, const char *text, size_t length)
{
    uint8_t *p = thread_extended_begin(thread, 10 * (count + 2) + length);
    if (!p)
        return false;
    p = thread_put_when(thread, p);
    for (size_t i = 0; i < count; i++)
        p = trace_put_varint(p, numbers[i]);
    if (text)
        p = trace_put_string(p, text, length);
    thread_extended_end(thread, type, p);
    return true;
}

ARCH_ALIGNS_STACK void thread_update_name(struct thread *thread)
{
    char name[16];
    thread_read_name(name, thread->name);
    if (memcmp(name, thread->name, sizeof(name)) == 0 ||
        !thread_extended_begin(thread, THREAD_NAME_RECORD_MAX))
        return;
    memcpy(thread->name, name, sizeof(name));
    thread_put_name(thread);
}
