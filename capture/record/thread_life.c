/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread's first event and its end (thread.h). */
#include "capture/record/thread.h"

#include <pthread.h>
#include <string.h>

#include "capture/os/c_library.h"
#include "capture/os/os.h"
#include "capture/record/file.h"
#include "capture/record/state.h"
#include "capture/record/thread_pool.h"
#include "capture/record/thread_room.h"
#include "capture/stack/shadow_stack.h"

/* Key destructors run in rounds. The last round is the one that the fewest events follow. (Not
 * under ThreadSanitizer, which does not know a thread in that round any more.) */
#ifndef DESTRUCTOR_ROUNDS
#define DESTRUCTOR_ROUNDS 4u
#endif

static struct {
    _Atomic uint32_t numbers; /* thread numbers given out */
    uint32_t flags;
    pthread_key_t key;
    bool has_key;
    struct thread *first; /* state of the process's first thread */
} life;

static void end_thread(void *value)
{
    struct thread_self *self = &thread_self;
    uintptr_t round = (uintptr_t)value;
    if (round < DESTRUCTOR_ROUNDS) {
        c_library_set_specific(life.key, (void *)(round + 1));
        return;
    }
    shadow_stack_end();
    if (!self->thread || self->guard)
        return;
    thread_take_guard(self, __builtin_frame_address(0));
    atomic_fetch_add(&recorder_page.entering, 1);
    /* A thread that begins another trace waits for this one, or this one waits for it. */
    while (atomic_load(&recorder_page.state) == RECORDER_ROTATING) {
        atomic_fetch_sub(&recorder_page.entering, 1);
        thread_give_guard(self);
        const bool late = recorder_wait_for_rotation() == RECORDER_ROTATING;
        thread_take_guard(self, __builtin_frame_address(0));
        atomic_fetch_add(&recorder_page.entering, 1);
        if (late)
            break;
    }
    if (atomic_load(&recorder_page.state) != RECORDER_ROTATING)
        thread_release(recorder_can_record());
    atomic_fetch_sub(&recorder_page.entering, 1);
    self->leave_flags |= THREAD_FINISHED;
    thread_give_guard(self);
}

void thread_life_init(void)
{
    life.has_key = c_library_key_create(&life.key, end_thread) == 0;
    thread_pool_init();
}

void thread_life_set_flags(uint32_t flags)
{
    life.flags = flags;
}

void thread_life_after_fork(void)
{
    atomic_store(&life.numbers, 0);
    life.first = NULL;
    thread_pool_after_fork();
    thread_self.thread = NULL;
    thread_self.number = 0;
    thread_self.leave_flags = 0;
    thread_self.sample = (struct sample){0, 0}; /* does not repeat the parent's draws */
    atomic_store(&thread_self.dropped, 0);
}

static void begin_records(struct thread *thread)
{
    static const char unnamed[16];
    const size_t need = 64 + THREAD_NAME_RECORD_MAX + THREAD_OWED_MAX + TRACE_RECORD_MAX;
    memset(thread->name, 0, sizeof(thread->name));
    thread_grow_chunk(thread, need);
    if (chunk_space(&thread->chunk) < need) {
        thread_read_name(thread->name, unnamed);
        if (thread_make_room(thread, need))
            thread_put_name(thread);
        return;
    }
    chunk_unseal(&thread->chunk);
    chunk_open_limit(&thread->chunk);
    thread_put_switch(thread);
    thread_read_name(thread->name, unnamed);
    if (!(thread_self.leave_flags & THREAD_FINISHED))
        thread_put_name(thread);
}

/* Gives the first thread its state again. The loader sets thread-local variables to zero after it
 * has resolved the indirect functions of the program, whose resolvers may have allocated. */
static struct thread *acquire_again(struct thread_self *self)
{
    struct thread *thread = life.first;
    if (self->number || !thread || thread->owner != self ||
        atomic_load(&thread->kernel_id) != os_thread_id())
        return NULL;
    self->trace = thread_pool_trace();
    self->number = thread->number;
    self->thread = thread;
    return thread;
}

struct thread *thread_acquire(void)
{
    struct thread_self *self = &thread_self;
    if (trace_file_is_sealed()) {
        recorder_sealed();
        return NULL;
    }
    struct thread *thread = acquire_again(self);
    if (thread)
        return thread;
    thread = thread_pool_take();
    if (!thread)
        return NULL;
    if (self->trace != thread_pool_trace())
        self->number = 0;
    thread_leave_old_trace(thread);
    self->trace = thread_pool_trace();
    if (self->number == 0) {
        self->number = atomic_fetch_add(&life.numbers, 1) + 1;
        self->sequence = 0;
    }
    if (self->number == 1)
        life.first = thread;
    thread->owner = self;
    atomic_store(&thread->kernel_id, os_thread_id());
    thread->number = self->number;
    thread->sequence = self->sequence;
    thread->clock_countdown = 0;
    atomic_fetch_and(&thread->flags, THREAD_SHARED);
    atomic_fetch_or(&thread->flags, life.flags | THREAD_NEW_STACK);
    begin_records(thread);
    self->thread = thread;
    if (life.has_key && !(self->leave_flags & THREAD_FINISHED))
        c_library_set_specific(life.key, (void *)1);
    return thread;
}

void thread_release(bool ended)
{
    struct thread_self *self = &thread_self;
    struct thread *thread = self->thread;
    if (!thread)
        return;
    if (ended) {
        thread_update_name(thread);
        thread_put_numbers(thread, TRACE_EXT_THREAD_END, thread->number);
    }
    self->sequence = thread->sequence;
    self->thread = NULL;
    thread_pool_give(thread);
}
