/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/thread_room.h"

#include <string.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/record/state.h"
#include "capture/record/thread_pool.h"
#include "capture/record/thread_records.h"
#include "capture/record/toggle_signal.h"
#include "capture/trace/file.h"

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

void thread_put_number(struct thread *thread, enum trace_extended type, uint64_t number)
{
    uint8_t *p = thread_extended_begin(thread, 24);
    if (!p)
        return;
    p = thread_put_when(thread, p);
    p = trace_put_varint(p, number);
    thread_extended_end(thread, type, p);
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
