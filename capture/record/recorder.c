/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "capture/options/options.h"
#include "capture/os/arch_x86_64.h"
#include "capture/os/message.h"
#include "capture/os/os.h"
#include "capture/os/seccomp/seccomp.h"
#include "capture/record/bypass.h"
#include "capture/record/call_watch.h"
#include "capture/record/event_filter.h"
#include "capture/record/marks.h"
#include "capture/record/process_record.h"
#include "capture/record/program_suppressions.h"
#include "capture/record/real.h"
#include "capture/record/requests.h"
#include "capture/record/stack_records.h"
#include "capture/record/toggle.h"
#include "capture/trace/file.h"

_Static_assert(sizeof(union recorder_page) == ARCH_PAGE_SIZE, "the page is wiped as a whole");

union recorder_page recorder_page __attribute__((aligned(4096)));
bool recorder_fast_clock;
bool recorder_mappings;

/* The part outside the wiped page, which a forked child inherits. */
static struct {
    bool loaded; /* the constructor has run */
    bool started;
    bool off;             /* for this process and its children */
    bool follow;          /* forked children record too */
    _Atomic bool waiting; /* recording has not begun */
    _Atomic bool paused;
    bool halted;             /* off because the program or another process asked for it */
    _Atomic bool restarting; /* a thread is in recorder_restart() */
    uint64_t autosave;
    uint32_t flags; /* enum trace_file_flag */
    /* The stamps around the fork that made this process, until it notices that fork. */
    uint64_t fork_before, fork_after;
} recorder;

static void recorder_set(enum recorder_state state)
{
    if (state == RECORDER_OFF || state == RECORDER_STOPPED)
        recorder.off = true;
    atomic_store(&recorder_page.state, state);
}

/*
 * Runs before the C library's fork. The child may or may not have what other threads allocate and
 * free between this stamp and the child's. A child that has not noticed its own fork keeps the
 * stamp of that fork, because its children own the blocks that its parent had then.
 */
static void recorder_forking(void)
{
    if (atomic_load(&recorder_page.state) != RECORDER_UNKNOWN)
        thread_local_part.fork_ticks = clock_before();
}

/*
 * Runs in the child of the C library's fork. It sets the state because kernels before 4.14 do not
 * wipe the page. If a handler interrupts a record and forks, the child continues inside that
 * record. It must find neither the parent's chunk nor a way to another chunk.
 */
static void recorder_forked(void)
{
    const struct thread_local_part *self = &thread_local_part;
    if (!recorder.fork_after) {
        recorder.fork_before = self->fork_ticks;
        recorder.fork_after = clock_after();
    }
    atomic_store(&recorder_page.state, RECORDER_UNKNOWN);
    atomic_store(&recorder_page.entering, 0);
    os_forked();
    bypass_forked();
    recorder_page.calls_forgotten = true;
    if (self->guard && self->thread) {
        chunk_detach(&self->thread->chunk);
        trace_file_forget();
    }
}

static void recorder_watch_forks(void)
{
    os_call(SYS_madvise, (long)&recorder_page, sizeof(recorder_page), MADV_WIPEONFORK, 0, 0, 0);
    pthread_atfork(recorder_forking, NULL, recorder_forked);
}

/* Notes which system calls filters forbid. Earlier filters cannot be seen: only what mprof-run has
 * found out about them is known. */
static void recorder_confine(const struct options *options)
{
    if (options->without_count) {
        seccomp_filters_add_calls(options->without, options->without_count);
        seccomp_filters_begin();
    }
    if (options->without_count || seccomp_is_on())
        os_avoid_other_memory();
}

static bool recorder_take_options(const struct options *options)
{
    recorder_fast_clock = options->fast_clock;
    recorder_mappings = options->mmap;
    recorder.follow = options->follow_fork;
    trace_file_set_limit(options->max_size);
    trace_file_set_min_free(options->min_free);
    trace_file_set_root(options->root);
    recorder.flags = (options->fast_clock ? TRACE_FILE_CLOCK_FAST : 0u) |
                     (options->free_stacks ? TRACE_FILE_FREE_STACKS : 0u) |
                     (options->sample ? TRACE_FILE_SAMPLED : 0u) |
                     (options->compress ? TRACE_FILE_PACKED : 0u);
    trace_file_set_sampling(options->sample);
    program_suppressions_want(options->suppressions);
    if (!select_process_init(options->sample)) {
        message_line("out of memory for the table of the sample; nothing is recorded", NULL);
        return false;
    }
    return true;
}

/* Starts recording for the first time in this program. */
static bool recorder_start_program(void)
{
    struct options options;
    char bad[64];
    const bool good = options_parse(secure_getenv("MPROF_OPTIONS"), &options, bad, sizeof(bad));
    recorder.started = true;
    recorder_confine(&options);
    message_init();
    clock_init();
    recorder_watch_forks();
    thread_process_init();
    if (!real_is_reached())
        return false;
    if (!good)
        message_line(
            "MPROF_OPTIONS: \"", bad,
            "\" is not understood; nothing is recorded. mprof-run --help lists the options.", NULL);
    if (!good || !recorder_take_options(&options))
        return false;
    const char *output = secure_getenv("MPROF_OUTPUT");
    bool beside = options.root != 0 && options.root != (uint32_t)os_process_id();
    if (!options.follow_exec && (beside || trace_file_is_of_this_process(output)))
        return false;
    enum trace_run run = TRACE_RUN_NOT_YET;
    bool first = options.root == 0 || !trace_file_of_run(output, &run);
    if (!first && run == TRACE_RUN_OVER)
        return false;
    if (first && options.start_of_run)
        trace_file_set_run(TRACE_RUN_NOT_YET);
    stack_process_init(&options.stack, &stack_records);
    thread_sample_resident(options.root == 0);
    recorder.waiting = options.start_waits && (!options.start_of_run || run == TRACE_RUN_NOT_YET);
    select_count(options.start, options.stop);
    select_watch_calls(options.start_call, options.stop_call);
    marks_set(options.start_mark, options.stop_mark);
    toggle_begin(options.toggle);
    thread_process_set_ways((select_is_on ? THREAD_SELECTED : 0u) |
                            (options.free_stacks ? THREAD_FREE_STACKS : 0u) |
                            (options.fast_clock || !clock_is_tsc ? THREAD_OTHER_CLOCK : 0u));
    if (recorder.waiting)
        trace_file_set_paused(TRACE_PAUSED_FROM_START);
    /* Under mprof-run, a taken name means that the program was executed again: no message. */
    return trace_file_create(output, beside, options.root == 0, recorder.flags);
}

/* Returns the origin of a forked child. If no fork handler saw the fork, the last stamp of the
 * child's thread precedes it. */
static struct process_origin recorder_origin(void)
{
    const struct thread *thread = thread_local_part.thread;
    struct process_origin origin = {trace_file_id(), recorder.fork_before, recorder.fork_after};
    if (!origin.after) {
        origin.before = thread ? thread->chunk.coding.ticks : 0;
        origin.after = clock_after();
    }
    recorder.fork_before = recorder.fork_after = 0;
    return origin;
}

static bool recorder_start_child(void)
{
    const struct process_origin origin = recorder_origin();
    recorder.off = recorder.off || trace_file_is_sealed(); /* the parent has not noticed yet */
    if (!recorder_page.calls_forgotten)
        os_forked();
    trace_file_forget();
    thread_process_forked();
    if (recorder.off || !recorder.follow)
        return false;
    stack_process_forked();
    select_process_restarted();
    if (!trace_file_create(NULL, true, false, recorder.flags))
        return false;
    process_record_set_origin(origin);
    return true;
}

static void recorder_put_autosave(struct thread *thread)
{
    thread_put_number(thread, TRACE_EXT_AUTOSAVE, recorder.autosave);
}

static void recorder_put_recording(struct thread *thread, bool on)
{
    thread_put_number(thread, TRACE_EXT_RECORDING, on);
}

/* Writes the first records of a trace. */
static bool recorder_begin_trace(void)
{
    struct thread_local_part *self = &thread_local_part;
    struct thread *thread = self->thread ? self->thread : thread_acquire();
    if (!thread || !process_record_write(thread))
        return false;
    bypass_put_known(thread);
    program_suppressions_put(thread);
    if (recorder.autosave)
        recorder_put_autosave(thread);
    if (recorder.paused || recorder.waiting)
        recorder_put_recording(thread, false);
    trace_file_set_paused(recorder.waiting  ? TRACE_PAUSED_FROM_START
                          : recorder.paused ? TRACE_PAUSED
                                            : TRACE_PAUSED_NOT);
    return true;
}

static void recorder_start_guarded(void)
{
    uint32_t unknown = RECORDER_UNKNOWN;
    if (!atomic_compare_exchange_strong(&recorder_page.state, &unknown, RECORDER_STARTING))
        return;
    bool good = recorder.started ? recorder_start_child() : recorder_start_program();
    if (!good) {
        recorder_set(RECORDER_OFF);
        return;
    }
    /* The wipe was requested before this store, so from here on it holds in every child. */
    if (!recorder_begin_trace()) {
        recorder_set(RECORDER_STOPPED);
        return;
    }
    recorder_set(recorder.waiting  ? RECORDER_WAITING
                 : recorder.paused ? RECORDER_PAUSED
                                   : RECORDER_RECORDING);
}

void recorder_loaded(void)
{
    recorder.loaded = true;
}

void recorder_start(void)
{
    struct thread_local_part *self = &thread_local_part;
    if (self->guard)
        return;
    recorder_take_guard(self, __builtin_frame_address(0));
    recorder_start_guarded();
    atomic_signal_fence(memory_order_seq_cst);
    self->guard = NULL;
}

/*
 * Tells whether the guard is stale. A handler that left an entry point by longjmp leaves the guard
 * held. The guard is stale when its frame is gone: the frame's return address has changed, or an
 * entry point is called from as far out or further on the same stack. On a signal stack the two
 * addresses tell nothing.
 */
static bool recorder_guard_is_stale(const void *frame)
{
    const struct thread_local_part *self = &thread_local_part;
    const uintptr_t guard = (uintptr_t)self->guard, now = (uintptr_t)frame;
    const uintptr_t span = 8u << 20; /* two stacks of one thread lie further apart */
    stack_t alternate = {.ss_flags = SS_DISABLE};
    const void *still;
    if (os_copy_memory(guard + sizeof(still), &still, sizeof(still)) != sizeof(still) ||
        still != self->guard_return)
        return true;
    return now >= guard && now - guard < span &&
           os_call(SYS_sigaltstack, 0, (long)&alternate, 0, 0, 0, 0) == 0 &&
           !(alternate.ss_flags & SS_ONSTACK);
}

/* Gives up the interrupted record. It is not committed, but the coding state may have half of it
 * already. */
static void recorder_recover(struct thread_local_part *self)
{
    struct thread *thread = self->thread;
    if (!thread)
        return;
    thread->chunk.coding.ticks = clock_before();
    thread_release(false);
}

/*
 * Tells whether recording may start. In a static program the C library allocates during its own
 * start, before it is ready for the stack walk. There recording begins with the constructor.
 */
static bool recorder_may_start(void)
{
#ifdef MPROF_STATIC
    return recorder.loaded;
#else
    return true;
#endif
}

/* Tells whether such an event is recorded, or at least counted (threshold.h). */
static bool recorder_takes(uint32_t state, enum recorder_event event)
{
    bool counted = (event == RECORDER_ALLOCATION || event == RECORDER_END_OF_BLOCK) &&
                   (atomic_load_explicit(&threshold_counts, memory_order_relaxed) ||
                    (call_watch_starts && state == RECORDER_WAITING));
    switch (state) {
    case RECORDER_RECORDING:
        return true;
    case RECORDER_PAUSED:
        return counted || (event != RECORDER_ALLOCATION && event != RECORDER_ARENA_ALLOCATION);
    case RECORDER_WAITING:
        return counted || event == RECORDER_NOTE;
    default:
        return false;
    }
}

/* Tells whether nothing is to be recorded now, so that an event that is left out is no loss. */
static bool recorder_rests(uint32_t state)
{
    return state == RECORDER_PAUSED || state == RECORDER_WAITING;
}

static bool recorder_is_on(enum recorder_event event)
{
    if (atomic_load(&recorder_page.state) == RECORDER_UNKNOWN && recorder_may_start())
        recorder_start_guarded();
    return recorder_takes(atomic_load(&recorder_page.state), event);
}

static struct thread *recorder_enter_counted(const void *frame, enum recorder_event event)
{
    struct thread_local_part *self = &thread_local_part;
    if (self->guard)
        recorder_recover(self);
    recorder_take_guard(self, frame);
    if (recorder_is_on(event) && (self->thread || thread_acquire()))
        return self->thread;
    uint32_t state = atomic_load(&recorder_page.state);
    if (event != RECORDER_NOTE && state != RECORDER_OFF &&
        (recorder_takes(state, event) || !recorder_rests(state)))
        trace_file_count_dropped(1);
    atomic_signal_fence(memory_order_seq_cst);
    self->guard = NULL;
    return NULL;
}

static struct thread *recorder_enter_blocked(const void *frame, enum recorder_event event)
{
    atomic_fetch_add(&recorder_page.entering, 1);
    struct thread *thread = recorder_enter_counted(frame, event);
    atomic_fetch_sub(&recorder_page.entering, 1);
    return thread;
}

/* Does the work of recorder_enter() while recording is paused or has not begun. */
static struct thread *recorder_enter_resting(const void *frame, enum recorder_event event)
{
    struct thread_local_part *self = &thread_local_part;
    if (self->guard || !self->thread)
        return NULL;
    recorder_take_guard(self, frame);
    if (recorder_takes(atomic_load(&recorder_page.state), event))
        return self->thread;
    self->guard = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    return NULL;
}

struct thread *recorder_enter_slow(const void *frame, enum recorder_event event)
{
    struct thread_local_part *self = &thread_local_part;
    if (self->guard && !recorder_guard_is_stale(frame)) {
        if (event != RECORDER_NOTE)
            atomic_fetch_add_explicit(&self->dropped, 1, memory_order_relaxed);
        if (self->thread)
            self->thread->chunk.limit = NULL;
        return NULL;
    }
    /* Events that are never recorded all come this way, so it must stay cheap. */
    uint32_t state = atomic_load_explicit(&recorder_page.state, memory_order_relaxed);
    if (recorder_rests(state) && (trace_file_is_asked() || atomic_load(&toggle_asked))) {
        requests_serve();
        state = atomic_load_explicit(&recorder_page.state, memory_order_relaxed);
    }
    if (state == RECORDER_OFF || (recorder_rests(state) && !recorder_takes(state, event)))
        return NULL;
    if (state == RECORDER_STOPPED) {
        if (event != RECORDER_NOTE)
            trace_file_count_dropped(1);
        return NULL;
    }
    struct thread *resting = recorder_rests(state) ? recorder_enter_resting(frame, event) : NULL;
    if (resting)
        return resting;
    /* The first event of a thread or process calls the C library: dlsym, pthread_setspecific. */
    int error = errno;
    uint64_t signals = os_block_signals();
    struct thread *thread = recorder_enter_blocked(frame, event);
    os_restore_signals(signals);
    errno = error;
    return thread;
}

void recorder_leave_slow(void)
{
    struct thread_local_part *self = &thread_local_part;
    uint32_t once = self->at_leave & (THREAD_ASKED | THREAD_PASSED);
    self->at_leave &= THREAD_FINISHED;
    if (self->at_leave & THREAD_FINISHED)
        thread_release(false);
    atomic_signal_fence(memory_order_seq_cst);
    self->guard = NULL;
    if (once & THREAD_PASSED) {
        threshold_act();
        call_watch_act();
    }
    if (once & THREAD_ASKED)
        requests_serve();
}

bool recorder_is_at_work(void)
{
    uint32_t state = atomic_load(&recorder_page.state);
    return state != RECORDER_OFF && state != RECORDER_STOPPED;
}

void recorder_out_of_room(uint64_t events)
{
    uint32_t now = atomic_load(&recorder_page.state);
    if ((now == RECORDER_RECORDING || now == RECORDER_PAUSED || now == RECORDER_WAITING) &&
        trace_file_is_stopped())
        recorder_set(RECORDER_STOPPED);
    if (now != RECORDER_UNKNOWN && now != RECORDER_OFF)
        trace_file_count_dropped(events);
}

void recorder_stop_for(const char *why)
{
    trace_file_stop(why);
    recorder_out_of_room(0);
}

/* Moves from the first state to the second. Returns false if the state was not the first one. */
static bool recorder_change(uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&recorder_page.state, &from, to);
}

static void recorder_put_change(struct thread *thread, bool paused)
{
    recorder.paused = paused;
    recorder.waiting = false;
    trace_file_set_paused(paused ? TRACE_PAUSED : TRACE_PAUSED_NOT);
    recorder_put_recording(thread, !paused);
}

void recorder_begin(struct thread *thread)
{
    if (!recorder_change(RECORDER_WAITING, RECORDER_RECORDING))
        return;
    recorder_put_change(thread, false);
    call_watch_begun();
}

bool recorder_set_paused(const void *frame, bool paused)
{
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return false;
    bool begun = !paused && recorder_change(RECORDER_WAITING, RECORDER_RECORDING);
    bool changed = begun || (paused ? recorder_change(RECORDER_RECORDING, RECORDER_PAUSED)
                                    : recorder_change(RECORDER_PAUSED, RECORDER_RECORDING));
    if (changed)
        recorder_put_change(thread, paused);
    if (begun)
        call_watch_begun();
    recorder_leave();
    return changed;
}

void recorder_end(const void *frame, enum trace_end_reason reason)
{
    if (!trace_file_is_open() || !trace_file_is_own())
        return;
    toggle_check();
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return;
    thread_update_name(thread);
    thread_put_resident(thread);
    thread_put_number(thread, TRACE_EXT_END, reason);
    thread_seal_idle(thread);
    trace_file_end(reason == TRACE_END_EXEC ? TRACE_STATE_EXEC : TRACE_STATE_ENDED,
                   clock_read_pair());
    recorder_leave();
}

void recorder_end_undone(void)
{
    if (!recorder.halted && trace_file_is_open() && trace_file_is_own())
        trace_file_end(TRACE_STATE_RECORDING, (struct clock_pair){0, 0});
}

void recorder_set_autosave(const void *frame, uint64_t count)
{
    recorder.autosave = count;
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return;
    recorder_put_autosave(thread);
    recorder_leave();
}

void recorder_stop(const void *frame)
{
    uint32_t state = atomic_load(&recorder_page.state);
    if ((state != RECORDER_RECORDING && state != RECORDER_PAUSED && state != RECORDER_WAITING) ||
        !trace_file_is_own())
        return;
    recorder_end(frame, TRACE_END_STOP);
    recorder.halted = true;
    recorder_set(RECORDER_OFF);
}

void recorder_sealed(void)
{
    recorder.halted = true;
    recorder_set(RECORDER_OFF);
}

/*
 * Begins a new trace while nothing is recorded and no thread is inside an event. The kernel may
 * have stopped a thread after it read the state and before it wrote its record. That thread may
 * still write into the old trace, so its memory stays mapped until each thread has left it.
 */
static void recorder_start_again(const char *path)
{
    thread_process_settle();
    trace_file_leave();
    stack_process_restarted();
    select_process_restarted();
    thread_process_restarted();
    if (!trace_file_create(path, false, true, recorder.flags))
        return;
    process_record_set_origin((struct process_origin){0, 0, 0});
    recorder.off = false;
    recorder.halted = false;
    recorder.paused = recorder.waiting = false;
    recorder_set(recorder_begin_trace() ? RECORDER_RECORDING : RECORDER_STOPPED);
}

void recorder_restart(const void *frame, const char *path)
{
    struct thread_local_part *self = &thread_local_part;
    if (self->guard)
        return;
    if (atomic_load(&recorder_page.state) == RECORDER_UNKNOWN)
        recorder_start();
    recorder_stop(frame);
    if (!recorder.halted || atomic_exchange(&recorder.restarting, true))
        return;
    uint64_t signals = os_block_signals();
    recorder_take_guard(self, frame);
    recorder_start_again(path);
    atomic_signal_fence(memory_order_seq_cst);
    self->guard = NULL;
    os_restore_signals(signals);
    atomic_store(&recorder.restarting, false);
}
