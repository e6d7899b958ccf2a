/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/thread_records.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "capture/os/os.h"
#include "capture/record/process_record.h"
#include "capture/record/state.h"

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
    thread_extended_end(thread, TRACE_EXT_THREAD, p);
}

void thread_put_dropped(struct thread *thread)
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

void thread_put_clock(struct thread *thread)
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
