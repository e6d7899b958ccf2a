/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/requests.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "capture/os/os.h"
#include "capture/record/control.h"
#include "capture/record/marks.h"
#include "capture/record/rotate.h"
#include "capture/record/thread_pool.h"
#include "capture/record/toggle_signal.h"
#include "capture/trace/file.h"

#define FRAME __builtin_frame_address(0)

static enum trace_answer answer_of(bool done)
{
    return done ? TRACE_ANSWER_DONE : TRACE_ANSWER_NOT_DONE;
}

static enum trace_answer do_request(const struct trace_asked *asked)
{
    switch (asked->request) {
    case TRACE_REQUEST_PAUSE:
        return recorder_set_paused(FRAME, true) ? TRACE_ANSWER_DONE : TRACE_ANSWER_ALREADY;
    case TRACE_REQUEST_RESUME:
        return recorder_set_paused(FRAME, false) ? TRACE_ANSWER_DONE : TRACE_ANSWER_ALREADY;
    case TRACE_REQUEST_MARK:
        return answer_of(marks_put(FRAME, asked->name));
    case TRACE_REQUEST_SNAPSHOT:
        return answer_of(marks_put_snapshot(FRAME, asked->name));
    case TRACE_REQUEST_STOP:
        recorder_stop(FRAME);
        return TRACE_ANSWER_DONE;
    default:
        return TRACE_ANSWER_NOT_DONE;
    }
}

/* Does the request. A rotation that is done is answered in the trace that it has ended. */
static void answer_request(const struct trace_asked *asked)
{
    if (asked->request != TRACE_REQUEST_ROTATE)
        trace_file_answer(do_request(asked));
    else if (!rotate_trace(FRAME))
        trace_file_answer(TRACE_ANSWER_NOT_DONE);
}

/* Switches recording off or on if an odd number of signals came since the last call. The calling
 * thread must not hold the guard. */
static void apply_toggle(void)
{
    uint32_t asked = atomic_exchange(&toggle_signal_count, 0);
    for (; asked % 2 != 0; asked--)
        if (!recorder_set_paused(FRAME, true))
            recorder_set_paused(FRAME, false);
}

/*
 * Handles the signal. It may come to a thread that has no state or is inside an event. A thread
 * without a state passes it on to a thread that has one. A thread inside an event acts on it when
 * the event is complete.
 */
static void handle_signal(int number)
{
    struct thread_self *self = &thread_self;
    const int error = errno;
    int other = 0;
    atomic_fetch_add(&toggle_signal_count, 1);
    if (self->guard)
        self->leave_flags |= THREAD_ASKED;
    else if (self->thread)
        apply_toggle();
    else if ((other = thread_pool_other_id()) != 0 &&
             os_call(SYS_tgkill, os_process_id(), other, number, 0, 0, 0) == 0)
        atomic_fetch_sub(&toggle_signal_count, 1); /* the other thread counts it */
    errno = error;
}

void requests_take_signal(uint32_t number)
{
    toggle_signal_take(number, handle_signal);
}

void requests_handle(void)
{
    int error = errno;
    struct trace_asked asked;
    apply_toggle();
    if (trace_file_take_request(&asked))
        answer_request(&asked);
    errno = error;
}
