/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/message.h"
#include "capture/os/options.h"
#include "capture/os/os.h"
#include "capture/os/own_variables.h"
#include "capture/os/seccomp/seccomp.h"
#include "capture/record/control.h"
#include "capture/record/event_filter.h"
#include "capture/record/exec_environment.h"
#include "capture/record/file.h"
#include "capture/record/gate.h"
#include "capture/record/process_record.h"
#include "capture/record/real.h"
#include "capture/record/rotate.h"
#include "capture/record/state.h"
#include "capture/record/thread.h"
#include "capture/record/thread_pool.h"
#include "capture/record/thread_room.h"
#include "capture/record/triggers.h"
#include "capture/record/unhooked_modules.h"
#include "capture/stack/stack.h"

#define NAME_MAX_LENGTH 255u

static char marks_start[OPTIONS_MARK], marks_stop[OPTIONS_MARK];

static bool put_name(const void *frame, enum trace_extended type, const char *name)
{
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return false;
    const bool put = thread_put_record(thread, type, NULL, 0, name ? name : "",
                                       name ? strnlen(name, NAME_MAX_LENGTH) : 0);
    recorder_leave();
    return put;
}

/* Sets the names of the marks at which recording begins and ends; "": none. Copies them. */
static void marks_set(const char *start, const char *stop)
{
    memcpy(marks_start, start, strnlen(start, sizeof(marks_start) - 1));
    memcpy(marks_stop, stop, strnlen(stop, sizeof(marks_stop) - 1));
}

static bool is_mark(const char *wanted, const char *name)
{
    return wanted[0] && name && strcmp(wanted, name) == 0;
}

ARCH_ALIGNS_STACK bool marks_put(const void *frame, const char *name)
{
    if (is_mark(marks_start, name) && recorder_set_paused(frame, false))
        marks_start[0] = 0; /* this mark ends no later pause */
    bool put = put_name(frame, TRACE_EXT_MARK, name);
    if (put)
        trace_file_ring(TRACE_RESIDENT_MARK, false);
    if (is_mark(marks_stop, name))
        recorder_stop(frame);
    return put;
}

/* Callback and data belong together. A new pair goes to a place that no thread is reading, and a
 * single store makes it the present one. */
#define PAIRS 64u

static struct {
    struct pair {
        void (*callback)(void *data);
        void *data;
    } pairs[PAIRS];
    _Atomic uint32_t taken; /* place 0 is never written and means no callback */
    _Atomic uint32_t present;
} snapshot;

static __thread bool inside __attribute__((tls_model("initial-exec")));

void marks_on_snapshot(void (*callback)(void *data), void *data)
{
    uint32_t place = callback ? 1 + atomic_fetch_add(&snapshot.taken, 1) % (PAIRS - 1) : 0;
    if (callback)
        snapshot.pairs[place] = (struct pair){callback, data};
    atomic_store(&snapshot.present, place);
}

/* Calls the callback, if there is one and this thread is not inside it. The caller must not hold
 * the guard. errno keeps its value. */
static void call_back(void)
{
    struct pair pair = snapshot.pairs[atomic_load(&snapshot.present)];
    if (!pair.callback || inside)
        return;
    int error = errno;
    inside = true;
    pair.callback(pair.data);
    inside = false;
    errno = error;
}

bool marks_put_snapshot(const void *frame, const char *name)
{
    if (recorder_can_record())
        call_back();
    if (!put_name(frame, TRACE_EXT_SNAPSHOT, name))
        return false;
    trace_file_ring(TRACE_RESIDENT_SNAPSHOT, false);
    return true;
}

/* ---- records of stacks ------------------------------------------------------------------ */

#define PATH_SHARE 1200u
#define BUILD_ID_SHARE 64u
#define NAME_SHARE 256u

static bool put_no_rule(struct thread *thread, const struct stack_node *node)
{
    return thread_put_numbers(thread, TRACE_EXT_BARE_CODE, node->module,
                              node->value - (node->frame == TRACE_FRAME_RETURN));
}

static bool put_node(void *context, const struct stack_node *node)
{
    struct thread *thread = (struct thread *)context;
    struct chunk *chunk = &thread->chunk;
    if (!(chunk_has_room(chunk) && recorder_is_own()) &&
        !thread_make_room(thread, TRACE_RECORD_MAX))
        return false;
    chunk_commit(chunk,
                 trace_put_node(chunk->cursor, &chunk->coding, node->id, node->parent,
                                (enum trace_node_frame)node->frame, node->module, node->value));
    call_watch_node(thread, node);
    return !node->no_rule || put_no_rule(thread, node);
}

static bool put_module(void *context, const struct stack_module *module)
{
    struct thread *thread = (struct thread *)context;
    uint8_t *p = thread_extended_begin(thread, TRACE_EXTENDED_MAX);
    if (!p)
        return false;
    size_t build_id =
        module->build_id_length < BUILD_ID_SHARE ? module->build_id_length : BUILD_ID_SHARE;
    p = thread_put_when(thread, p);
    p = trace_put_varint(p, module->id);
    p = trace_put_varint(p, module->load_bias);
    p = trace_put_varint(p, module->start);
    p = trace_put_varint(p, module->end);
    p = trace_put_string(p, module->path, strnlen(module->path, PATH_SHARE));
    p = trace_put_string(p, build_id ? (const char *)module->build_id : "", build_id);
    p = trace_put_varint(p, module->segment_count);
    for (size_t i = 0; i < module->segment_count; i++) {
        p = trace_put_varint(p, module->segments[i].address);
        p = trace_put_varint(p, module->segments[i].size);
        p = trace_put_varint(p, module->segments[i].flags);
    }
    thread_extended_end(thread, TRACE_EXT_MODULE, p);
    call_watch_module(module);
    unhooked_modules_look_at(thread, module);
    return true;
}

static void put_module_end(void *context, uint32_t module)
{
    struct thread *thread = (struct thread *)context;
    thread_put_numbers(thread, TRACE_EXT_MODULE_END, module);
}

static bool put_runtime(void *context, const struct stack_runtime *runtime)
{
    return thread_put_record(context, TRACE_EXT_RUNTIME, (const uint64_t[]){runtime->module}, 1,
                             runtime->name, strnlen(runtime->name, NAME_SHARE));
}

static bool put_runtime_name(void *context, const struct stack_runtime_name *name)
{
    struct thread *thread = (struct thread *)context;
    uint8_t *p = thread_extended_begin(thread, TRACE_EXTENDED_MAX);
    if (!p)
        return false;
    p = thread_put_when(thread, p);
    p = trace_put_varint(p, name->module);
    p = trace_put_varint(p, name->number);
    p = trace_put_string(p, name->function, strnlen(name->function, NAME_SHARE));
    p = trace_put_string(p, name->file, strnlen(name->file, PATH_SHARE));
    p = trace_put_varint(p, name->line);
    thread_extended_end(thread, TRACE_EXT_RUNTIME_NAME, p);
    return true;
}

/* Writes what is new to the stack walk: MODULE, MODULE_END, NODE and what runtimes name. The
 * context of each call is the `struct thread` whose chunk takes the record. */
static const struct stack_sink stack_records = {
    .module = put_module,
    .node = put_node,
    .module_end = put_module_end,
    .runtime = put_runtime,
    .runtime_name = put_runtime_name,
};

/* ---- requests --------------------------------------------------------------------------- */

/* Does what others ask of the recorder: another process through the trace file, or the signal of
 * --toggle. The thread that notices the request does it, inside one of the program's heap calls but
 * outside the guard.
 *
 * The handler of the signal only counts, unless the interrupted thread has a state and is not
 * inside an event. Otherwise the next event of that thread, or another thread that records, does
 * what is asked. */

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

/* Handles the signal. It may come to a thread that has no state or is inside an event. A thread
 * without a state passes it on to a thread that has one. A thread inside an event acts on it when
 * the event is complete. */
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

static void requests_take_signal(uint32_t number)
{
    toggle_signal_take(number, handle_signal);
}

/* Does what is asked, unless another thread has taken the request. The calling thread must not hold
 * the guard. errno keeps its value. */
static void requests_handle(void)
{
    int error = errno;
    struct trace_asked asked;
    apply_toggle();
    if (trace_file_take_request(&asked))
        answer_request(&asked);
    errno = error;
}

#define FRAME __builtin_frame_address(0)

/* The recorder of this process. A forked child inherits it. */
static struct {
    bool loaded; /* the constructor has run */
    bool started;
    bool prepared;                /* what a process does only once is done */
    const char *options, *output; /* not of the environment; NULL: of it */
    bool follow;                  /* forked children record too */
    _Atomic bool restarting;      /* a thread is in recorder_restart() */
    uint32_t flags;               /* enum trace_file_flag */
    /* The stamps around the fork that made this process, until it notices that fork. */
    uint64_t fork_before, fork_after;
} recorder;

/* Runs before the C library's fork. The child may or may not have what other threads allocate and
 * free between this stamp and the child's. A child that has not noticed its own fork keeps the
 * stamp of that fork, because its children own the blocks that its parent had then. */
static void before_fork(void)
{
    recorder_wait_for_rotation();
    if (atomic_load(&recorder_page.state) != RECORDER_UNKNOWN)
        thread_self.fork_ticks = clock_before();
}

/* Runs in the child of the C library's fork. It sets the state because kernels before 4.14 do not
 * wipe the page. If a handler interrupts a record and forks, the child continues inside that
 * record. It must find neither the parent's chunk nor a way to another chunk. */
static void after_fork(void)
{
    const struct thread_self *self = &thread_self;
    if (!recorder.fork_after) {
        recorder.fork_before = self->fork_ticks;
        recorder.fork_after = clock_after();
    }
    recorder_set_state(RECORDER_UNKNOWN);
    atomic_store(&recorder_page.entering, 0);
    os_forked();
    unhooked_modules_after_fork();
    recorder_page.calls_forgotten = true;
    if (self->guard && self->thread) {
        chunk_detach(&self->thread->chunk);
        trace_file_forget();
    }
}

static void watch_forks(void)
{
    os_call(SYS_madvise, (long)&recorder_page, sizeof(recorder_page), MADV_WIPEONFORK, 0, 0, 0);
    pthread_atfork(before_fork, NULL, after_fork);
}

/* Notes which system calls filters forbid. Earlier filters cannot be seen: only what mprof-run has
 * found out about them is known. */
static void note_forbidden_calls(const struct options *options)
{
    if (options->without_count) {
        seccomp_filters_add_calls(options->without, options->without_count);
        seccomp_filters_begin();
    }
    if (options->without_count || seccomp_is_on())
        os_avoid_other_memory();
}

static bool take_options(const struct options *options)
{
    recorder_inherited.mappings = options->mmap;
    /* The blocks of a sample make no ledger of memory. */
    recorder_inherited.mapped = !options->mmap && !options->sample;
    recorder.follow = options->follow_fork;
    process_record_set_labels(options->labels, options->label_count);
    trace_file_set_limits(options->max_size, options->min_free);
    trace_file_set_root(options->root);
    given_file_set_socket(*options->files && seccomp_is_on() ? "" : options->files);
    recorder.flags = (options->fast_clock ? TRACE_FILE_CLOCK_FAST : 0u) |
                     (options->free_stacks ? TRACE_FILE_FREE_STACKS : 0u) |
                     (options->sample ? TRACE_FILE_SAMPLED : 0u) |
                     (options->compress ? TRACE_FILE_PACKED : 0u);
    trace_file_set_sampling(options->sample);
    trace_file_set_observer(options->references);
    references_set_mark(options->references_mark);
    if (options->references_end)
        references_take_faults();
    program_suppressions_want(options->suppressions);
    if (!event_filter_init(options->sample)) {
        message_line("out of memory for the table of the sample; nothing is recorded. "
                     "Close other programs, or record without --sample.",
                     NULL);
        return false;
    }
    return true;
}

static void prepare_process(const struct options *options)
{
    if (recorder.prepared)
        return;
    recorder.prepared = true;
    note_forbidden_calls(options);
    message_init();
    clock_init();
    watch_forks();
    thread_life_init();
}

static bool start_program(void)
{
    struct options options;
    char bad[64];
    if (!recorder.options)
        own_variables_take();
    const char *text = recorder.options ? recorder.options : own_variables_options();
    const bool good = options_parse(text, &options, bad, sizeof(bad));
    recorder.started = true;
    prepare_process(&options);
    const bool runs_first = options.root == (uint32_t)os_process_id();
    unrecorded_program_want(good && options.root != 0 && options.follow_exec);
    if (!real_is_reached()) {
        unrecorded_program_note_self(own_variables_output(), runs_first);
        return false;
    }
    if (!good)
        message_line(
            "MPROF_OPTIONS: \"", bad,
            "\" is not understood; nothing is recorded. mprof-run --help lists the options.", NULL);
    if (!good || !take_options(&options))
        return false;
    const char *output = recorder.output ? recorder.output : own_variables_output();
    bool beside = options.root != 0 && !runs_first;
    if (!options.follow_exec && (beside || trace_file_is_of_this_process(output)))
        return false;
    enum trace_run run = TRACE_RUN_NOT_YET;
    bool first = options.root == 0 || !trace_file_of_run(output, &run);
    if (!first && run == TRACE_RUN_OVER)
        return false;
    if (first && options.start_of_run)
        trace_file_set_run(TRACE_RUN_NOT_YET);
    stack_init(&options.stack, &stack_records);
    rotate_prepare(options.sample != 0 && !options.mmap);
    thread_sample_resident(options.root == 0);
    recorder_inherited.waiting =
        options.start_waits && (!options.start_of_run || run == TRACE_RUN_NOT_YET);
    event_filter_count(options.start, options.stop);
    event_filter_watch_calls(options.start_call, options.stop_call);
    event_filter_open();
    marks_set(options.start_mark, options.stop_mark);
    requests_take_signal(options.toggle);
    thread_life_set_flags((event_filter_is_on ? THREAD_FILTERED : 0u) |
                          (options.free_stacks ? THREAD_FREE_STACKS : 0u) |
                          (options.fast_clock ? THREAD_FAST_CLOCK : 0u) |
                          (options.fast_clock || !clock_is_tsc ? THREAD_OTHER_CLOCK : 0u));
    if (recorder_inherited.waiting)
        trace_file_set_paused(TRACE_PAUSED_FROM_START);
    /* Under mprof-run, a taken name means that the program was executed again: no message. */
    return trace_file_create(output, beside, options.root == 0, recorder.flags);
}

/* Returns the origin of a forked child. If no fork handler saw the fork, the last stamp of the
 * child's thread precedes it. */
static struct process_origin origin_of_child(void)
{
    const struct thread *thread = thread_self.thread;
    struct process_origin origin = {trace_file_id(), recorder.fork_before, recorder.fork_after};
    if (!origin.after) {
        origin.before = thread ? thread->chunk.coding.ticks : 0;
        origin.after = clock_after();
    }
    recorder.fork_before = recorder.fork_after = 0;
    return origin;
}

static bool start_child(void)
{
    const struct process_origin origin = origin_of_child();
    recorder_inherited.off =
        recorder_inherited.off || trace_file_is_sealed(); /* the parent has not noticed yet */
    if (!recorder_page.calls_forgotten)
        os_forked();
    trace_file_forget();
    thread_life_after_fork();
    if (recorder_inherited.off || !recorder.follow)
        return false;
    stack_after_fork();
    event_filter_forget();
    if (!trace_file_create(NULL, true, false, recorder.flags))
        return false;
    process_record_set_origin(origin);
    return true;
}

static void count_too_early(void)
{
    const uint32_t events = recorder_take_too_early();
    if (events == 0)
        return;
    trace_file_count_dropped(events);
    message_line(OS_DECIMAL(events),
                 " calls of the heap are not recorded: a library made them while the loader was ",
                 "still resolving its indirect functions. They count as dropped.", NULL);
}

static bool begin_trace(void)
{
    struct thread_self *self = &thread_self;
    struct thread *thread = self->thread ? self->thread : thread_acquire();
    if (!thread || !recorder_put_process(thread))
        return false;
    recorder_put_settings(thread, recorder_inherited.paused || recorder_inherited.waiting);
    count_too_early();
    trace_file_set_paused(recorder_inherited.waiting  ? TRACE_PAUSED_FROM_START
                          : recorder_inherited.paused ? TRACE_PAUSED
                                                      : TRACE_PAUSED_NOT);
    return true;
}

static void start_guarded(void)
{
    uint32_t unknown = RECORDER_UNKNOWN;
    if (!atomic_compare_exchange_strong(&recorder_page.state, &unknown, RECORDER_STARTING))
        return;
    bool good = recorder.started ? start_child() : start_program();
    if (!good) {
        recorder_set_state(RECORDER_OFF);
        return;
    }
    /* The wipe was requested before this store, so from here on it holds in every child. */
    if (!begin_trace()) {
        recorder_set_state(RECORDER_STOPPED);
        return;
    }
    recorder_set_state(recorder_inherited.waiting  ? RECORDER_WAITING
                       : recorder_inherited.paused ? RECORDER_PAUSED
                                                   : RECORDER_RECORDING);
}

void recorder_loaded(void)
{
    recorder.loaded = true;
}

/* Returns true if recording may start. In a static program the C library allocates during its own
 * start, before it is ready for the stack walk. There recording begins with the constructor. */
static bool may_start(void)
{
#ifdef MPROF_STATIC
    return recorder.loaded;
#else
    return true;
#endif
}

void recorder_start_at_gate(void)
{
    if (may_start())
        start_guarded();
}

void recorder_start(void)
{
    struct thread_self *self = &thread_self;
    if (self->guard)
        return;
    thread_take_guard(self, __builtin_frame_address(0));
    start_guarded();
    thread_give_guard(self);
}

/* Begins a new trace while nothing is recorded and no thread is inside an event. The kernel may
 * have stopped a thread after it read the state and before it wrote its record. That thread may
 * still write into the old trace, so its memory stays mapped until each thread has left it. */
static void start_again(const char *path, bool wait)
{
    thread_pool_settle();
    trace_file_leave();
    stack_new_trace();
    event_filter_forget();
    thread_pool_new_trace();
    if (!trace_file_create(path, false, true, recorder.flags))
        return;
    process_record_set_origin((struct process_origin){0, 0, 0});
    recorder_inherited.off = false;
    recorder_inherited.halted = false;
    recorder_inherited.paused = false;
    recorder_inherited.waiting = wait;
    recorder_set_state(!begin_trace() ? RECORDER_STOPPED
                       : wait         ? RECORDER_WAITING
                                      : RECORDER_RECORDING);
}

/* Does the work of recorder_restart(). With `wait` the new trace begins without recording. */
static void restart(const void *frame, const char *path, bool wait)
{
    struct thread_self *self = &thread_self;
    if (!recorder_inherited.halted || atomic_exchange(&recorder.restarting, true))
        return;
    uint64_t signals = os_block_signals();
    thread_take_guard(self, frame);
    start_again(path, wait);
    thread_give_guard(self);
    os_restore_signals(signals);
    atomic_store(&recorder.restarting, false);
}

ARCH_ALIGNS_STACK void recorder_restart(const void *frame, const char *path)
{
    if (thread_self.guard)
        return;
    if (atomic_load(&recorder_page.state) == RECORDER_UNKNOWN)
        recorder_start();
    recorder_stop(frame);
    restart(frame, path, false);
}

bool recorder_start_apart(const void *frame, const char *options, const char *output)
{
    const uint32_t state = atomic_load(&recorder_page.state);
    if (thread_self.guard || (recorder.started && state != RECORDER_OFF))
        return false;
    process_record_comes_late();
    if (recorder_inherited.halted) {
        restart(frame, output, true);
    } else {
        recorder.options = options;
        recorder.output = output;
        recorder.started = false;
        recorder_inherited.off = false;
        recorder_set_state(RECORDER_UNKNOWN);
        recorder_start();
    }
    return atomic_load(&recorder_page.state) == RECORDER_WAITING;
}

void recorder_after_event(uint32_t flags)
{
    const int error = errno;
    if (flags & THREAD_PASSED) {
        const enum threshold_due due = threshold_take_due();
        if (due == THRESHOLD_BEGIN)
            recorder_set_paused(FRAME, false);
        else if (due == THRESHOLD_END)
            recorder_stop(FRAME);
        if (call_watch_take_start() && atomic_load(&recorder_page.state) == RECORDER_WAITING)
            recorder_set_paused(FRAME, false);
        if (call_watch_take_stop())
            recorder_stop(FRAME);
    }
    if (flags & THREAD_ASKED)
        requests_handle();
    errno = error;
}
