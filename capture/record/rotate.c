/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/rotate.h"

#include <stdatomic.h>
#include <string.h>

#include "capture/os/clock.h"
#include "capture/os/os.h"
#include "capture/record/control.h"
#include "capture/record/file.h"
#include "capture/record/gate.h"
#include "capture/record/process_record.h"
#include "capture/record/sampling.h"
#include "capture/record/state.h"
#include "capture/record/thread_pool.h"
#include "capture/record/thread_room.h"
#include "capture/stack/stack.h"

/* The low bits of their numbers mark threads; two with one mark both get a record. */
#define MARKS 4096u

void (*_Atomic rotate_introduce)(struct thread *thread, struct live_block *block);

void (*_Atomic rotate_tell)(struct thread *thread, const struct live_block *block);

void (*_Atomic rotate_go_on)(struct thread *thread);

static bool rotate_possible;
static bool rotate_marks[MARKS];

void rotate_prepare(bool possible)
{
    rotate_possible = possible && stack_may_turn();
}

static void put_live(struct thread *thread, const struct live_block *block)
{
    uint8_t *p = thread_extended_begin(thread, 112);
    if (!p)
        return;
    uint64_t now;
    p = thread_put_moment(thread, p, &now);
    p = trace_put_varint(p, block->address);
    p = trace_put_varint(p, block->size);
    p = trace_put_varint(p, block->stack);
    p = trace_put_varint(p, block->thread);
    p = trace_put_varint(p, block->kind);
    p = trace_put_varint(p, block->log2_alignment ? block->log2_alignment + 1u : 0);
    p = trace_put_varint(p, now > block->ticks ? now - block->ticks : 0);
    p = trace_put_varint(p, block->arena);
    p = trace_put_varint(p, block->count);
    p = trace_put_varint(p, block->type);
    thread_extended_end(thread, TRACE_EXT_LIVE, p);
}

/* Names the threads that have live blocks and still run. Others are known by their numbers only. */
static void put_threads(struct thread *thread)
{
    const struct thread *other;
    for (uint32_t at = 0; (other = thread_pool_next(&at));) {
        if (other != thread && rotate_marks[other->number % MARKS])
            thread_put_record(
                thread, TRACE_EXT_THREAD,
                (const uint64_t[]){other->number, (uint64_t)atomic_load(&other->kernel_id)}, 2,
                other->name, strnlen(other->name, sizeof(other->name)));
    }
}

static void put_types(struct thread *thread)
{
    void (*tell)(struct thread *, const struct live_block *) = atomic_load(&rotate_tell);
    const struct live_block *block;
    for (uint32_t at = 0; tell && (block = live_blocks_next(&at));)
        if (block->told.module)
            tell(thread, block);
}

/* Writes the live blocks, before them what they name, and their types after them. */
static void put_blocks(struct thread *thread)
{
    struct live_block *block;
    uint64_t count = 0;
    memset(rotate_marks, 0, sizeof(rotate_marks));
    for (uint32_t at = 0; (block = live_blocks_next(&at)); count++) {
        block->stack = stack_carry(block->stack, thread);
        rotate_marks[block->thread % MARKS] = true;
    }
    put_threads(thread);
    thread_put_numbers(thread, TRACE_EXT_CONTINUED, trace_rotation_number(),
                       trace_rotation_before(), count);
    void (*introduce)(struct thread *, struct live_block *) = atomic_load(&rotate_introduce);
    for (uint32_t at = 0; (block = live_blocks_next(&at));) {
        if (block->arena && introduce)
            introduce(thread, block);
        put_live(thread, block);
    }
    put_types(thread);
}

static void begin_next(struct thread *thread, bool paused)
{
    process_record_set_origin((struct process_origin){0, 0, 0});
    if (!recorder_put_process(thread))
        return;
    put_blocks(thread);
    void (*go_on)(struct thread *) = atomic_load(&rotate_go_on);
    if (go_on)
        go_on(thread);
    recorder_put_settings(thread, paused);
}

/* Ends the present trace and begins the next. No other thread is inside an event. Returns false if
 * nothing has changed. */
static bool turn(struct thread *thread, bool paused)
{
    if (!trace_rotation_take_name() || !stack_turn())
        return false;
    thread_update_name(thread);
    thread_put_numbers(thread, TRACE_EXT_END, TRACE_END_ROTATED);
    thread_pool_leave_chunks();
    trace_file_end(TRACE_STATE_ENDED, clock_read_pair());
    trace_rotation_switch();
    thread_pool_new_trace();
    begin_next(thread, paused);
    stack_turn_end();
    return true;
}

/* Waits until no other thread is inside an event, and begins the next trace. */
static bool rotate_guarded(struct thread *thread, uint32_t state)
{
    if (!trace_rotation_begin())
        return false;
    bool done = false;
    if (recorder_change_state(state, RECORDER_ROTATING)) {
        done = thread_pool_is_settled() && turn(thread, state == RECORDER_PAUSED);
        recorder_change_state(RECORDER_ROTATING, state);
        if (trace_file_is_stopped())
            recorder_out_of_room(0);
    }
    if (done)
        trace_rotation_answer();
    else
        trace_rotation_cancel();
    return done;
}

bool rotate_trace(const void *frame)
{
    struct thread *thread = rotate_possible ? recorder_enter(frame, RECORDER_NOTE) : NULL;
    if (!thread)
        return false;
    const uint64_t signals = os_block_signals();
    const uint32_t state = atomic_load(&recorder_page.state);
    const bool done =
        (state == RECORDER_RECORDING || state == RECORDER_PAUSED) && rotate_guarded(thread, state);
    os_restore_signals(signals);
    recorder_leave();
    return done;
}
