/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/toggle_signal.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/os/c_library.h"
#include "capture/os/message.h"
#include "capture/os/os.h"

_Atomic uint32_t toggle_signal_count;

static uint32_t toggle_signal; /* 0 if there is no toggle */
static void (*own_handler)(int number);

/* The kernel's struct of rt_sigaction; its mask has eight bytes. */
struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

static void say_refused(void)
{
    char digits[24];
    digits[sizeof(digits) - 1] = 0;
    message_line("the program has its own handler for signal ",
                 os_decimal(digits + sizeof(digits) - 1, toggle_signal),
                 ": --toggle has no effect, and recording stays as it is. Name another signal.",
                 NULL);
}

/* Reads the signal's handler by a raw call, because the program may replace sigaction. Returns
 * false if the kernel does not say. */
static bool read_handler(void **handler)
{
    struct kernel_action action = {0};
    if (os_call(SYS_rt_sigaction, toggle_signal, 0, (long)&action, sizeof(action.mask), 0, 0) != 0)
        return false;
    *handler = action.handler;
    return true;
}

void toggle_signal_take(uint32_t number, void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
    void *before = NULL;
    if (toggle_signal || number == 0)
        return;
    toggle_signal = number;
    own_handler = handler;
    if (read_handler(&before) && before != (void *)SIG_DFL && before != (void *)SIG_IGN) {
        say_refused();
        toggle_signal = 0;
        return;
    }
    memset(&action.sa_mask, 0xff, sizeof(uint64_t)); /* as many as the kernel has */
    if (c_library_sigaction((int)number, &action, NULL) == 0)
        return;
    toggle_signal = 0;
    message_line(
        "cannot handle the signal of --toggle; recording stays as it is. Name another signal.",
        NULL);
}

void toggle_signal_check(void)
{
    void *handler = NULL;
    if (!toggle_signal || !read_handler(&handler) || handler == (void *)own_handler ||
        handler == (void *)SIG_DFL || handler == (void *)SIG_IGN)
        return;
    say_refused();
    toggle_signal = 0;
}
