/* SPDX-License-Identifier: BSD-2-Clause */
/* The hooks of -finstrument-functions. They do nothing without unwind=instrument. The C library has
 * the same two as empty functions, so such a program also runs without the recorder.
 *
 * They are compiled with a frame pointer, so that the place of the calling function is known. */
#include "capture/entry/names.h"
#include "capture/record/events.h"
#include "capture/record/gate.h"
#include "capture/stack/shadow_stack.h"

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

/* A program that is linked with libmprof.a may have hooks of its own: these count. */
#ifdef MPROF_STATIC
#define HOOK __attribute__((weak)) ENTRY_POINT
#else
#define HOOK ENTRY_POINT
#endif

#define FRAME __builtin_frame_address(0)
/* The call that a hook reports. Its third member is the stack pointer of the caller before the
 * call: saved rbp and return address lie between. */
#define CALL(function, call_site)                                                                  \
    {                                                                                              \
        (uint64_t)(function), (uint64_t)(call_site), (uint64_t)FRAME + 16,                         \
            (uint64_t)__builtin_return_address(0), *(const uint64_t *)FRAME                        \
    }

/* Begins the shadow stack at the first hook of a thread. It also gives the thread a state, so that
 * the thread's end is noticed. */
static __attribute__((noinline)) struct shadow_stack *instrument_begin(const void *frame)
{
    const struct thread_self *self = &thread_self;
    if (self->guard || self->leave_flags & THREAD_FINISHED)
        return NULL;
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return NULL;
    events_stack_ready(thread);
    struct shadow_stack *shadow = shadow_stack_begin(thread->stack);
    recorder_leave();
    return shadow;
}

HOOK void __cyg_profile_func_enter(void *function, void *call_site)
{
    if (__builtin_expect(!shadow_stack_on, 1))
        return;
    struct shadow_stack *shadow = shadow_stack_own;
    if (__builtin_expect(!shadow, 0) && !(shadow = instrument_begin(FRAME)))
        return;
    const struct shadow_call call = CALL(function, call_site);
    shadow_stack_enter(shadow, &call);
}

HOOK void __cyg_profile_func_exit(void *function, void *call_site)
{
    struct shadow_stack *shadow = shadow_stack_own;
    if (__builtin_expect(!shadow, 1))
        return;
    const struct shadow_call call = CALL(function, call_site);
    shadow_stack_leave(shadow, &call);
}
