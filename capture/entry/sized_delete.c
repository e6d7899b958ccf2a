/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes the sizes that operators delete state (sized_delete_call.h). */
#include "capture/entry/sized_delete_call.h"

#include "capture/entry/names.h"
#include "capture/record/event_filter.h"
#include "capture/record/events.h"
#include "capture/record/gate.h"

#define RECORD_MAX 96u

/* Returns true if the block can be one of the trace. */
static bool is_of_trace(const void *block)
{
    const uint32_t state = atomic_load_explicit(&recorder_page.state, memory_order_relaxed);
    return (state == RECORDER_RECORDING || state == RECORDER_PAUSED) &&
           (sample_mean == 0 || event_filter_knows(block));
}

ENTRY_POINT void mprof_sized_delete(const void *frame, const void *block, size_t size,
                                    size_t alignment)
{
    struct thread *thread = is_of_trace(block) ? recorder_enter(frame, RECORDER_NOTE) : NULL;
    if (!thread)
        return;
    /* The stack's nodes are records, too: they come first. */
    const uint32_t stack = events_stack(thread, frame);
    uint8_t *p = thread_extended_begin(thread, RECORD_MAX);
    if (p) {
        p = thread_put_when(thread, p);
        p = trace_put_varint(p, (uintptr_t)block);
        p = trace_put_varint(p, size);
        p = trace_put_varint(p, alignment);
        p = trace_put_varint(p, stack);
        thread_extended_end(thread, TRACE_EXT_SIZED_DELETE, p);
    }
    recorder_leave();
}
