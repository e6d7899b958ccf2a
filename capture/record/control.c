/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/control.h"

#include "capture/os/arch_x86_64.h"
#include "capture/os/clock.h"
#include "capture/record/call_watch.h"
#include "capture/record/gate.h"
#include "capture/record/process_record.h"
#include "capture/record/program_suppressions.h"
#include "capture/record/thread_pool.h"
#include "capture/record/thread_room.h"
#include "capture/record/toggle_signal.h"
#include "capture/record/unhooked_modules.h"
#include "capture/trace/file.h"

static void put_autosave(struct thread *thread)
{
    thread_put_number(thread, TRACE_EXT_AUTOSAVE, recorder_inherited.autosave);
}

static void put_recording(struct thread *thread, bool on)
{
    thread_put_number(thread, TRACE_EXT_RECORDING, on);
}

bool recorder_put_process(struct thread *thread)
{
    uint8_t *p = thread_extended_begin(thread, TRACE_EXTENDED_MAX);
    if (!p)
        return false;
    thread_extended_end(thread, TRACE_EXT_PROCESS, process_record_put(p));
    unhooked_modules_put_known(thread);
    program_suppressions_put(thread);
    return true;
}

void recorder_put_settings(struct thread *thread, bool paused)
{
    if (recorder_inherited.autosave)
        put_autosave(thread);
    if (paused)
        put_recording(thread, false);
}

static void put_change(struct thread *thread, bool paused)
{
    recorder_inherited.paused = paused;
    recorder_inherited.waiting = false;
    trace_file_set_paused(paused ? TRACE_PAUSED : TRACE_PAUSED_NOT);
    put_recording(thread, !paused);
}

/* Makes the nodes from before count as new, so that the call at which recording ends is seen. */
static void renew_nodes(void)
{
    if (call_watch_stops)
        stack_contexts_renew();
}

void recorder_begin(struct thread *thread)
{
    if (!recorder_change_state(RECORDER_WAITING, RECORDER_RECORDING))
        return;
    put_change(thread, false);
    renew_nodes();
}

bool recorder_set_paused(const void *frame, bool paused)
{
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return false;
    bool begun = !paused && recorder_change_state(RECORDER_WAITING, RECORDER_RECORDING);
    bool changed = begun || (paused ? recorder_change_state(RECORDER_RECORDING, RECORDER_PAUSED)
                                    : recorder_change_state(RECORDER_PAUSED, RECORDER_RECORDING));
    if (changed)
        put_change(thread, paused);
    if (begun)
        renew_nodes();
    recorder_leave();
    return changed;
}

ARCH_ALIGNS_STACK void recorder_end(const void *frame, enum trace_end_reason reason)
{
    if (!trace_file_is_open() || !trace_file_is_own())
        return;
    toggle_signal_check();
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return;
    thread_update_name(thread);
    if (thread_make_room(thread, THREAD_RESIDENT_RECORD_MAX))
        thread_put_resident(thread);
    thread_put_number(thread, TRACE_EXT_END, reason);
    thread_pool_seal();
    chunk_seal(&thread->chunk);
    trace_file_end(reason == TRACE_END_EXEC ? TRACE_STATE_EXEC : TRACE_STATE_ENDED,
                   clock_read_pair());
    recorder_leave();
}

void recorder_end_undone(void)
{
    if (!recorder_inherited.halted && trace_file_is_open() && trace_file_is_own())
        trace_file_end(TRACE_STATE_RECORDING, (struct clock_pair){0, 0});
}

void recorder_set_autosave(const void *frame, uint64_t count)
{
    recorder_inherited.autosave = count;
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return;
    put_autosave(thread);
    recorder_leave();
}

ARCH_ALIGNS_STACK void recorder_stop(const void *frame)
{
    uint32_t state = recorder_wait_for_rotation();
    if ((state != RECORDER_RECORDING && state != RECORDER_PAUSED && state != RECORDER_WAITING) ||
        !trace_file_is_own())
        return;
    recorder_end(frame, TRACE_END_STOP);
    recorder_inherited.halted = true;
    recorder_set_state(RECORDER_OFF);
}
