/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/toggle.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/os/message.h"
#include "capture/os/os.h"
#include "capture/record/recorder.h"
#include "capture/record/thread.h"

#define FRAME __builtin_frame_address(0)

uint32_t toggle_signal;
_Atomic uint32_t toggle_asked;

/* The kernel's struct of rt_sigaction; its mask has eight bytes. */
struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

static void toggle_say_refused(void)
{
    char digits[24];
    digits[sizeof(digits) - 1] = 0;
    message_line("the program has its own handler for signal ",
                 os_decimal(digits + sizeof(digits) - 1, toggle_signal),
                 ": --toggle has no effect, and recording stays as it is", NULL);
}

/* Reads the signal's handler by a raw call, because the program may replace sigaction. Returns
 * false if the kernel does not say. */
static bool toggle_handler(void **handler)
{
    struct kernel_action action = {0};
    if (os_call(SYS_rt_sigaction, toggle_signal, 0, (long)&action, sizeof(action.mask), 0, 0) != 0)
        return false;
    *handler = action.handler;
    return true;
}

/*
 * Handles the signal. It may come to a thread that has no state or is inside an event. A thread
 * without a state passes it on to a thread that has one. A thread inside an event acts on it when
 * the event is complete.
 */
static void toggle_handle(int number)
{
    struct thread_local_part *self = &thread_local_part;
    const int error = errno;
    int other = 0;
    atomic_fetch_add(&toggle_asked, 1);
    if (self->guard)
        self->at_leave |= THREAD_ASKED;
    else if (self->thread)
        toggle_serve();
    else if ((other = thread_other_id()) != 0 &&
             os_call(SYS_tgkill, os_process_id(), other, number, 0, 0, 0) == 0)
        atomic_fetch_sub(&toggle_asked, 1); /* the other thread counts it */
    errno = error;
}

void toggle_begin(uint32_t number)
{
    struct sigaction action = {.sa_handler = toggle_handle, .sa_flags = SA_RESTART | SA_ONSTACK};
    void *handler = NULL;
    if (toggle_signal || number == 0)
        return;
    toggle_signal = number;
    if (toggle_handler(&handler) && handler != (void *)SIG_DFL && handler != (void *)SIG_IGN) {
        toggle_say_refused();
        toggle_signal = 0;
        return;
    }
    sigfillset(&action.sa_mask);
    if (sigaction((int)number, &action, NULL) == 0)
        return;
    toggle_signal = 0;
    message_line("cannot handle the signal of --toggle; recording stays as it is", NULL);
}

void toggle_check(void)
{
    void *handler = NULL;
    if (!toggle_signal || !toggle_handler(&handler) || handler == (void *)toggle_handle ||
        handler == (void *)SIG_DFL || handler == (void *)SIG_IGN)
        return;
    toggle_say_refused();
    toggle_signal = 0;
}

void toggle_serve(void)
{
    uint32_t asked = atomic_exchange(&toggle_asked, 0);
    for (; asked % 2 != 0; asked--)
        if (!recorder_set_paused(FRAME, true))
            recorder_set_paused(FRAME, false);
}
