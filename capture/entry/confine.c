/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry points by which a program confines itself: prctl() and syscall(), the two ways to seccomp.
 * Calls that execute a program or close descriptors also come by syscall().
 *
 * The filter is kept before it is set (seccomp.h). If it will not let the trace grow, the recorder
 * first takes room for a while. When that is used up, recording ends and the program goes on. */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/entry/names.h"
#include "capture/entry/startup.h"
#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/os/seccomp/seccomp.h"
#include "capture/record/file.h"
#include "capture/record/gate.h"
#include "capture/record/real.h"
#include "capture/record/recorder.h"
#include "capture/record/thread_room.h"

#define FRAME __builtin_frame_address(0)

NEXT_FUNCTION(prctl)
NEXT_FUNCTION(syscall)

__attribute__((used, visibility("hidden"))) _Atomic(__typeof__(syscall) *) entry_confine_syscall;

long entry_confine_special(long number, long a, long b, long c, long d, long e, long f);

#ifdef MPROF_STATIC
ARCH_DEFINE_SYSCALL("__wrap_syscall", "entry_confine_syscall", "entry_confine_special");
#else
ARCH_DEFINE_SYSCALL("syscall", "entry_confine_syscall", "entry_confine_special");
#endif

void entry_confine_resolve(void)
{
    next_prctl();
    atomic_store(&entry_confine_syscall, next_syscall());
}

/* Returns true if vfork made this process, which then shares its parent's memory. */
static bool is_borrowed(void)
{
    return trace_file_is_open() && !trace_file_is_own();
}

/* After either of these a read of the time-stamp counter faults, and all clocks read it. */
static const char without_clock[] =
    "the program disables its clock by seccomp's strict mode or PR_SET_TSC";

/* Prepares for a filter or strict mode. Returns the argument of seccomp_filters_remove(). */
static ARCH_ALIGNS_STACK uint32_t prepare_for_filter(bool strict, const struct sock_fprog *program)
{
    int error = errno;
    uint32_t kept = SECCOMP_FILTERS_NONE;
    /* In a forked child recording begins with the first event, which would be too late now. */
    recorder_start();
    if (!is_borrowed()) {
        if (strict)
            recorder_stop_for(without_clock);
        kept = strict ? seccomp_filters_add_strict() : seccomp_filters_add(program);
        if (!trace_file_may_grow(seccomp_filters_allow))
            trace_file_reserve_ahead();
        seccomp_filters_begin();
    }
    errno = error;
    return kept;
}

static void note_name(const void *frame)
{
    if (is_borrowed())
        return;
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return;
    thread_update_name(thread);
    recorder_leave();
}

ENTRY_POINT int ENTRY(prctl)(int option, ...)
{
    unsigned long argument[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        argument[i] = va_arg(list, unsigned long);
    va_end(list);
    __typeof__(prctl) *next = next_prctl();
    const bool confines = option == PR_SET_SECCOMP && (argument[0] == SECCOMP_MODE_STRICT ||
                                                       argument[0] == SECCOMP_MODE_FILTER);
    uint32_t kept = SECCOMP_FILTERS_NONE;
    if (confines)
        kept = prepare_for_filter(argument[0] == SECCOMP_MODE_STRICT,
                                  (const struct sock_fprog *)argument[1]);
    if (option == PR_SET_TSC && argument[0] == PR_TSC_SIGSEGV && !is_borrowed())
        recorder_stop_for(without_clock);
    int result = next(option, argument[0], argument[1], argument[2], argument[3]);
    if (confines && result != 0)
        seccomp_filters_remove(kept);
    if (option == PR_SET_NAME && result == 0)
        note_name(FRAME);
    return result;
}

__attribute__((used, visibility("hidden"))) long
entry_confine_special(long number, long a, long b, long c, long d, long e, long f)
{
    __typeof__(syscall) *next = next_syscall();
    if (!atomic_load(&entry_confine_syscall))
        entry_confine_resolve();
    if (number == SYS_prctl)
        return ENTRY(prctl)((int)a, b, c, d, e);
    if (number == SYS_execve)
        return ENTRY(execve)((const char *)a, (char *const *)b, (char *const *)c);
    if (number == SYS_execveat)
        return ENTRY(execveat)((int)a, (const char *)b, (char *const *)c, (char *const *)d, (int)e);
#ifndef MPROF_STATIC
    if (number == SYS_close)
        return close((int)a);
    if (number == SYS_close_range)
        return close_range((unsigned)a, (unsigned)b, (int)c);
    if (number == SYS_dup2)
        return dup2((int)a, (int)b);
    if (number == SYS_dup3)
        return dup3((int)a, (int)b, (int)c);
#endif
    /* The kernel refuses strict mode with flags or a filter. */
    const bool strict = a == SECCOMP_SET_MODE_STRICT && b == 0 && c == 0;
    if (number != SYS_seccomp || (!strict && a != SECCOMP_SET_MODE_FILTER))
        return next(number, a, b, c, d, e, f);
    uint32_t kept = prepare_for_filter(strict, (const struct sock_fprog *)c);
    long result = next(number, a, b, c, d, e, f);
    if (result < 0)
        seccomp_filters_remove(kept);
    return result;
}
