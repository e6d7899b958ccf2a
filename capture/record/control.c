/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/control.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/c_library.h"
#include "capture/os/clock.h"
#include "capture/os/options.h"
#include "capture/os/os.h"
#include "capture/record/file.h"
#include "capture/record/gate.h"
#include "capture/record/process_record.h"
#include "capture/record/thread_pool.h"
#include "capture/record/thread_room.h"
#include "capture/record/triggers.h"
#include "capture/record/unhooked_modules.h"

bool recorder_put_process(struct thread *thread)
{
    own_ranges_renew();
    uint8_t *p = thread_extended_begin(thread, TRACE_EXTENDED_MAX);
    if (!p)
        return false;
    thread_extended_end(thread, TRACE_EXT_PROCESS, process_record_put(p));
    size_t length;
    const char *label;
    for (size_t i = 0; (label = process_record_label(i, &length)); i++)
        thread_put_record(thread, TRACE_EXT_LABEL, NULL, 0, label, length);
    thread_put_own_memory(thread);
    unhooked_modules_put_known(thread);
    program_suppressions_put(thread);
    return true;
}

void recorder_put_settings(struct thread *thread, bool paused)
{
    if (recorder_inherited.autosave)
        thread_put_numbers(thread, TRACE_EXT_AUTOSAVE, recorder_inherited.autosave);
    if (paused)
        thread_put_numbers(thread, TRACE_EXT_RECORDING, false);
}

static void put_change(struct thread *thread, bool paused)
{
    recorder_inherited.paused = paused;
    recorder_inherited.waiting = false;
    trace_file_set_paused(paused ? TRACE_PAUSED : TRACE_PAUSED_NOT);
    thread_put_numbers(thread, TRACE_EXT_RECORDING, !paused);
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

/* Has an observer read which pages are in memory, before the process gives them up. */
static void put_last_moment(struct thread *thread)
{
    if (thread_make_room(thread, THREAD_OWN_MEMORY_MAX))
        thread_put_own_memory(thread);
    trace_file_ring(TRACE_RESIDENT_END, true);
}

/* ---- references ------------------------------------------------------------------------ */

#define STEP_NS 1000000u                /* of the wait */
#define STALLED_NS UINT64_C(1000000000) /* without progress */
#define LOOKS 64u                       /* steps between two looks at the observer */

static char references_mark[OPTIONS_MARK];

static _Atomic uint32_t *shared(uint32_t *word)
{
    return (_Atomic uint32_t *)word;
}

/* Returns true if the process runs and is not stopped. If it cannot be read, it does not run. */
static bool is_awake(uint32_t process)
{
    char path[32] = "/proc/", text[512];
    const char *number = OS_DECIMAL(process);
    const size_t length = strnlen(number, 10);
    memcpy(path + 6, number, length);
    memcpy(path + 6 + length, "/stat", sizeof("/stat"));
    const int descriptor = os_open_read(path);
    const long size = descriptor < 0 ? 0 : os_read(descriptor, text, sizeof(text));
    if (descriptor >= 0)
        os_close(descriptor);
    /* "PID (NAME) STATE ", where the name may hold anything, but the numbers after it do not */
    for (long i = size - 2; i > 0; i--)
        if (text[i - 1] == ')' && text[i] == ' ')
            return i + 1 < size && (text[i + 1] == 'R' || text[i + 1] == 'S' || text[i + 1] == 'D');
    return false;
}

void references_await(enum trace_references_reason reason)
{
    struct trace_file_header *header = trace_file_header();
    if (!header || header->observer == 0 || header->state != TRACE_STATE_RECORDING ||
        header->paused == TRACE_PAUSED_FROM_START || !is_awake(header->observer))
        return;
    _Atomic uint32_t *take = shared(&header->take);
    uint32_t seen = TRACE_TAKE_NONE, progress = atomic_load(shared(&header->take_progress));
    uint64_t since = clock_nanoseconds(CLOCK_MONOTONIC);
    if (atomic_load(take) == TRACE_TAKE_NONE)
        header->take_reason = reason;
    /* If two threads end the process, one asks, and both wait. */
    atomic_compare_exchange_strong(take, &seen, TRACE_TAKE_ASKED);
    for (unsigned step = 1;
         (seen = atomic_load(take)) == TRACE_TAKE_ASKED || seen == TRACE_TAKE_TAKEN; step++) {
        const struct timespec time = {.tv_nsec = STEP_NS};
        if (os_call(SYS_futex, (long)take, FUTEX_WAIT, (long)seen, (long)&time, 0, 0) == -EPERM)
            os_yield();
        const uint32_t now = atomic_load(shared(&header->take_progress));
        const uint64_t at = clock_nanoseconds(CLOCK_MONOTONIC);
        if (now != progress)
            since = at;
        progress = now;
        if (at - since > STALLED_NS || (step % LOOKS == 0 && !is_awake(header->observer))) {
            atomic_store(take, TRACE_TAKE_NONE);
            return;
        }
    }
    if (reason != TRACE_REFERENCES_AT_END)
        atomic_store(take, TRACE_TAKE_NONE);
}

void references_set_mark(const char *name)
{
    memcpy(references_mark, name, strnlen(name, sizeof(references_mark) - 1));
}

void references_await_mark(const char *name)
{
    if (references_mark[0] && name && strcmp(references_mark, name) == 0 && trace_file_is_open() &&
        trace_file_is_own())
        references_await(TRACE_REFERENCES_MARK);
}

/* Ends the process by the signal as it came: with its default action, once this handler returns. */
static void end_by(int number, siginfo_t *info)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    const int process = os_process_id();
    const int thread = (int)os_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    c_library_sigaction(number, &action, NULL);
    if (os_call(SYS_rt_tgsigqueueinfo, process, thread, number, (long)info, 0, 0) != 0)
        os_call(SYS_tgkill, process, thread, number, 0, 0, 0);
}

static void handle_fault(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    if (trace_file_is_open() && trace_file_is_own())
        references_await(TRACE_REFERENCES_AT_END);
    end_by(number, info);
    errno = error;
}

void references_take_faults(void)
{
    static const int numbers[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        struct sigaction action = {.sa_sigaction = handle_fault,
                                   .sa_flags = SA_SIGINFO | SA_ONSTACK};
        struct sigaction before;
        memset(&action.sa_mask, 0xff, sizeof(uint64_t)); /* as many as the kernel has */
        if (c_library_sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            c_library_sigaction(numbers[i], &action, NULL);
    }
}

ARCH_ALIGNS_STACK void recorder_end(const void *frame, enum trace_end_reason reason)
{
    if (!trace_file_is_open() || !trace_file_is_own())
        return;
    toggle_signal_check();
    if (reason == TRACE_END_EXIT || reason == TRACE_END_QUICK_EXIT)
        references_await(TRACE_REFERENCES_AT_END);
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return;
    if (reason != TRACE_END_STOP)
        put_last_moment(thread);
    thread_update_name(thread);
    if (thread_make_room(thread, THREAD_RESIDENT_RECORD_MAX))
        thread_put_resident(thread);
    thread_put_numbers(thread, TRACE_EXT_END, reason);
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
    thread_put_numbers(thread, TRACE_EXT_AUTOSAVE, recorder_inherited.autosave);
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
