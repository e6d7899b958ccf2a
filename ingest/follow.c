/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/follow.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ingest/base/status.h"
#include "ingest/processes.h"
#include "ingest/replay/blocks.h"
#include "ingest/trace/merge.h"
#include "ingest/write/follow.h"
#include "ingest/write/session_tables.h"
#include "schemas/array.h"
#include "schemas/trace_layout.h"

/* ---- the process ------------------------------------------------------------------------ */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns when the process began, by the real-time clock. UINT64_MAX: unknown. */
static uint64_t begin_of(uint32_t pid)
{
    enum { FIELDS_BEFORE = 20 }; /* of /proc/PID/stat, after the program's name: proc(5) */
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor < 0 ? -1 : read(descriptor, text, sizeof(text) - 1);
    if (descriptor >= 0)
        close(descriptor);
    if (length <= 0)
        return UINT64_MAX;
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i < FIELDS_BEFORE; i++)
        at = strchr(at + 1, ' ');
    if (!at)
        return UINT64_MAX;
    uint64_t ticks = strtoull(at, NULL, 10), boot = clock_ns(CLOCK_BOOTTIME);
    return clock_ns(CLOCK_REALTIME) - boot + ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Returns a descriptor to wait on for the end of process `pid`, which already ran at `since_ns` by
 * the real-time clock. -1: there is no such process here (it has ended, another process has its
 * number now, or it is in another container), or the kernel is older than 5.3. */
static int follow_process_open(uint32_t pid, uint64_t since_ns)
{
    static const uint64_t tolerance_ns = 2000000000; /* the clock may have been set a little */
    int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    uint64_t begin = begin_of(pid);
    if (descriptor >= 0 && (begin == UINT64_MAX || begin > since_ns + tolerance_ns)) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

/* Waits at most `milliseconds` for the end of the process. A signal ends the wait too. `descriptor`
 * may be -1. True: the process has ended. */
static bool follow_process_wait(int descriptor, int milliseconds)
{
    struct pollfd ended = {.fd = descriptor, .events = POLLIN};
    return poll(&ended, 1, milliseconds) > 0;
}

/* ---- the run that is followed ----------------------------------------------------------- */

enum {
    LOOK_MS = 50,
    LOOKS_UNSEEN = 40, /* for the trace of a process that cannot be seen from here */
};

/* The traces of a run, as one look finds them. */
struct run_look {
    int next;        /* number in the list of the trace to follow; -1: none */
    bool same;       /* it is of the process whose trace has ended */
    bool comes;      /* the newest trace of that process ended because it executed a program */
    uint64_t newest; /* start of that trace */
    uint64_t oldest; /* start of the trace to follow */
};

static bool read_header(const char *path, struct trace_file_header *header)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool whole = descriptor >= 0 &&
                       read(descriptor, header, sizeof(*header)) == (ssize_t)sizeof(*header) &&
                       memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return whole;
}

/* Returns true if a process that can be seen records into the trace. */
static bool is_recorded(const struct trace_file_header *header)
{
    if (header->state != TRACE_STATE_RECORDING)
        return false;
    const int process = follow_process_open(header->pid, header->start_realtime_ns);
    if (process >= 0)
        close(process);
    return process >= 0;
}

static void look_at(struct run_look *look, int number, const struct trace_file_header *header,
                    uint32_t pid)
{
    const bool same = header->pid == pid;
    if (same && header->start_realtime_ns >= look->newest) {
        look->newest = header->start_realtime_ns;
        look->comes = header->state == TRACE_STATE_EXEC;
    }
    if (!is_recorded(header) || (look->same && !same) ||
        (look->next >= 0 && look->same == same && header->start_realtime_ns >= look->oldest))
        return;
    look->next = number;
    look->same = same;
    look->oldest = header->start_realtime_ns;
}

/* Looks once. Gives the name of the trace to follow, or NULL. */
static bool look_once(struct run_look *look, const char *first, uint32_t pid, char **path,
                      struct ingest_status *status)
{
    struct trace_file_header header;
    struct trace_list list = {0};
    *look = (struct run_look){.next = -1};
    *path = NULL;
    bool good = trace_list_add(&list, first, status);
    for (size_t i = 0; good && i < list.count; i++)
        if (read_header(list.paths[i], &header))
            look_at(look, (int)i, &header, pid);
    if (good && look->next >= 0 && !(*path = strdup(list.paths[look->next])))
        good = ingest_fail_memory(status, "the list of traces");
    trace_list_free(&list);
    return good;
}

/* Looks for a trace of the run of `first` that a process still records, after the trace `ended` is
 * complete. If its process has executed another program, this waits for that program's trace, until
 * it appears, the process ends or *interrupted (may be NULL) is set. Otherwise, and if there is no
 * such trace, the answer is the one that began first. *path gets its name, for free(), or NULL.
 * Returns false with `status` set if the traces cannot be listed. */
static bool follow_run_next(const char *first, const char *ended,
                            const volatile sig_atomic_t *interrupted, char **path,
                            struct ingest_status *status)
{
    struct trace_file_header header;
    struct run_look look;
    *path = NULL;
    if (!read_header(ended, &header))
        return true;
    const int process = follow_process_open(header.pid, header.start_realtime_ns);
    bool good, gone = header.state != TRACE_STATE_EXEC;
    for (int looks = 0;; looks++) {
        good = look_once(&look, first, header.pid, path, status);
        if (!good || gone || look.same || !look.comes || ingest_is_interrupted(interrupted) ||
            (process < 0 && looks == LOOKS_UNSEEN))
            break;
        free(*path);
        gone = follow_process_wait(process, LOOK_MS);
    }
    if (process >= 0)
        close(process);
    return good;
}

enum {
    PERIOD_MS = 400,
    WAIT_FOR_HEADER = 50, /* times FIRST_MS, for a recorder that has only just begun */
    FIRST_MS = 100,
    STILL_POLLS = 4, /* without a process to wait for, a trace that does not grow has ended */
    SETTLED_POLLS = 3,
    PIECES_WHERE_BEHIND = 3, /* pieces are so many times longer: fewer states are shown */
    SETTLE_MS = 100,         /* other writers of the trace see the program's end a little later */
};

struct follow {
    const struct ingest_options *options;
    struct ingest_status *status;
    struct trace_file *file;
    struct trace_follow *trace;
    struct symbols *symbols;
    struct writer_follow *writer;
    struct trace_scan scan;
    struct stacks stacks;
    struct totals totals;
    struct type_table types;
    struct replay replay;
    struct row_batch *full, *shown; /* the batch that replay fills; one for temporary rows */
    uint64_t first_new;             /* row of the first batch that is not whole in the session */
    struct session_known known;     /* rows that the session has already */
    struct stack_nodes nodes;       /* of the frames of the stacks so far */
    bool replays;                   /* replay has begun: the clock's rate is known */
    bool in_transaction;
    int process; /* the one that records, -1: it cannot be seen from here */
    bool ended;  /* the process has */
    struct follow_lag lag;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool interrupted(const struct follow *follow)
{
    const volatile sig_atomic_t *flag = follow->options->writer.interrupted;
    return flag && *flag != 0;
}

/* ---- rows ------------------------------------------------------------------------------- */

static bool begin_transaction(struct follow *follow)
{
    if (follow->in_transaction)
        return true;
    follow->in_transaction = writer_follow_begin(follow->writer, follow->first_new);
    return follow->in_transaction;
}

/* Takes a full batch of replay. Its rows are complete and are written once. */
static struct row_batch *take_batch(void *context, struct row_batch *full)
{
    struct follow *follow = context;
    if (!full)
        return follow->full;
    if (!begin_transaction(follow) || !writer_follow_rows(follow->writer, full))
        return NULL;
    follow->first_new = full->first_id + full->rows;
    return full;
}

/* Writes a batch of rows that the next transaction replaces. */
static struct row_batch *show_batch(void *context, struct row_batch *full)
{
    struct follow *follow = context;
    return writer_follow_rows(follow->writer, full) ? full : NULL;
}

static bool put_fact(const struct table_sink *sink, const char *key, uint64_t value)
{
    return sink->put(sink->context, WRITER_META,
                     (const struct writer_value[]){value_text(key), value_number(value)}, 2);
}

/* Writes how far this state of the session is behind the program. */
static bool put_standing(struct follow *follow, const struct table_sink *sink)
{
    return put_fact(sink, "behind_ns", follow->lag.behind_ns) &&
           put_fact(sink, "program_ended", follow->ended) &&
           put_fact(sink, "skipped_allocations", follow->replay.skipped_rows);
}

static bool put_tables(struct follow *follow, const struct replay *shown, uint64_t end_ticks)
{
    struct problems problems = {0};
    struct suppressions *joined =
        follow->options->program_suppressions
            ? program_suppressions_join(&follow->scan.program_suppressions,
                                        follow->options->suppressions, NULL)
            : NULL;
    struct session_facts facts = {.file = follow->file,
                                  .scan = &follow->scan,
                                  .replay = shown,
                                  .problems = &problems,
                                  .stacks = &follow->stacks,
                                  .nodes = &follow->nodes,
                                  .totals = &follow->totals,
                                  .known = follow->known,
                                  .suppressions = joined ? joined : follow->options->suppressions};
    struct table_sink sink = writer_follow_tables(follow->writer);
    uint64_t last_ticks = follow->scan.last_ticks;
    follow->scan.last_ticks = end_ticks; /* the end of the session so far */
    bool good = stack_nodes_number(&follow->nodes, &follow->stacks, follow->known.stacks, true) &&
                problems_join(&problems, &follow->scan.problems) &&
                problems_join(&problems, &shown->problems) && session_frames_put(&sink, &facts) &&
                session_tables_put(&sink, &facts) && put_standing(follow, &sink);
    follow->scan.last_ticks = last_ticks;
    follow->known = session_tables_known(&facts);
    suppressions_free(joined);
    problems_free(&problems);
    return good;
}

/* Publishes the state of replay at `end_ticks` as a whole session. It works on a copy, so replay
 * itself is unchanged. */
static bool publish(struct follow *follow, uint64_t end_ticks)
{
    struct replay shown = follow->replay;
    bool good = begin_transaction(follow);
    good = replay_earlier_copy(&shown) && good;
    memcpy(follow->shown, follow->replay.batch, sizeof(*follow->shown));
    shown.batch = follow->shown;
    shown.skips_rows = false; /* live blocks always have rows */
    shown.sink = (struct row_sink){follow, show_batch, 0};
    totals_extend(&follow->totals, trace_time_ns(&follow->replay.time, end_ticks));
    totals_finish(&follow->totals);
    good = good && replay_put_live(&shown, &shown.heap);
    for (size_t i = 0; good && i < shown.arena_count; i++)
        good = replay_put_live(&shown, &shown.arenas[i].blocks);
    if (good && shown.batch->rows > 0)
        good = writer_follow_rows(follow->writer, shown.batch);
    good = good && put_tables(follow, &shown, end_ticks) && writer_follow_end(follow->writer);
    follow->in_transaction = false;
    free(shown.earlier.rows);
    return good ||
           (follow->status->code == INGEST_OK && ingest_fail_memory(follow->status, "rows"));
}

/* ---- replay ----------------------------------------------------------------------------- */

static bool tell_program(struct follow *follow)
{
    const struct trace_file_header *header = trace_file_header(follow->file);
    const struct trace_process *process = &follow->scan.process;
    struct symbols_program program = {process->directory, process->pid, header->start_realtime_ns};
    return symbols_set_program(follow->symbols, &program);
}

/* Begins replay as soon as the trace tells which program runs, and how fast its clock ticks. */
static bool begin_replay(struct follow *follow)
{
    struct trace_time time;
    trace_time_init(&time, follow->file, follow->scan.clock_ticks, follow->scan.clock_monotonic_ns);
    if (follow->replays || !follow->scan.process.found || time.unknown)
        return true;
    follow->replays = true;
    if (!tell_program(follow) || !stacks_init(&follow->stacks, &follow->scan, follow->symbols) ||
        !type_table_init(&follow->types, &follow->stacks, follow->symbols, NULL))
        return ingest_fail_memory(follow->status, "the names of the program");
    return replay_init(&follow->replay, follow->file, &follow->scan, &follow->stacks,
                       &follow->totals, &follow->types, (struct row_sink){follow, take_batch, 0},
                       follow->status);
}

/* Replays the events that there are, for about `most_ms` at most. *all: no event is left. */
static bool replay_new(struct follow *follow, uint64_t most_ms, bool *all)
{
    struct trace_event event;
    struct replay *replay = &follow->replay;
    uint64_t begin = now_ms();
    bool good = true;
    *all = true;
    totals_extend(&follow->totals, trace_time_ns(&replay->time, trace_follow_limit(follow->trace)));
    for (uint64_t n = 1; good && trace_follow_next(follow->trace, &event, follow->status); n++) {
        good = replay_event(replay, &event, follow->status);
        if (n % 16384 == 0 && (interrupted(follow) || now_ms() - begin >= most_ms)) {
            *all = false;
            break;
        }
    }
    return good && follow->status->code == INGEST_OK;
}

/* Reads the state of the trace again, because a look at a long trace takes a while. */
static uint32_t state_now(const struct follow *follow)
{
    uint32_t state = TRACE_STATE_RECORDING;
    trace_file_read(follow->file, offsetof(struct trace_file_header, state), &state, sizeof(state));
    return state;
}

/* Returns true if the program has ended. One that has executed another has not. */
static bool program_has_ended(const struct follow *follow)
{
    const uint32_t state = state_now(follow);
    return (state != TRACE_STATE_RECORDING && state != TRACE_STATE_EXEC) ||
           (follow->process >= 0 && follow_process_wait(follow->process, 0));
}

/* Updates the lag, before the state at `end_ticks` is shown. */
static void find_lag(struct follow *follow, uint64_t end_ticks)
{
    const struct trace_time *time = &follow->replay.time;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
                   start_ns = trace_file_header(follow->file)->start_monotonic_ns;
    follow->ended = follow->ended || program_has_ended(follow);
    const struct follow_moment moment = {
        .shown_ns = trace_time_ns(time, end_ticks),
        .newest_ns = trace_time_ns(time, follow->scan.last_ticks),
        .now_ns = now_ns > start_ns ? now_ns - start_ns : 0,
        .ended = follow->ended,
    };
    follow_lag_update(&follow->lag, &moment);
    follow->replay.skips_rows = follow->lag.skips || getenv("MPROF_TEST_LIVE_LAG");
}

static void report(const struct follow *follow)
{
    const struct ingest_options *options = follow->options;
    if (options->progress)
        options->progress(options->progress_context,
                          follow->ended ? INGEST_FOLLOW_ENDED : INGEST_FOLLOW,
                          follow->replay.events, follow->lag.behind_ns);
}

/* Looks at the trace once, and writes a transaction if there is anything to show. It shows a long
 * trace in pieces. Replay of a piece takes a second, or as long as it took to show the last one.
 * When the program has ended and much is left, it stops: making the whole session again takes less
 * time. */
static bool look(struct follow *follow, bool last)
{
    if (!trace_follow_poll(follow->trace, follow->status))
        return false;
    if (last)
        trace_follow_lift_limit(follow->trace);
    if (!begin_replay(follow))
        return false;
    if (!follow->replays)
        return true;
    if (!replay_extend(&follow->replay, follow->file) || !stacks_extend(&follow->stacks))
        return ingest_fail_memory(follow->status, "the stacks");
    uint64_t piece_ms = PERIOD_MS;
    for (bool all = false; !all && !interrupted(follow);) {
        if (!replay_new(follow, piece_ms, &all))
            return false;
        uint64_t begin = now_ms();
        uint64_t end_ticks = all ? trace_follow_limit(follow->trace) : follow->replay.now_ticks;
        find_lag(follow, end_ticks);
        if (!publish(follow, end_ticks))
            return false;
        uint64_t took_ms = now_ms() - begin;
        piece_ms = took_ms > PERIOD_MS ? took_ms : PERIOD_MS;
        if (follow->lag.skips)
            piece_ms *= PIECES_WHERE_BEHIND;
        report(follow);
        if (follow->ended && follow->lag.behind_ns > FOLLOW_LAG_CAUGHT_NS)
            break;
    }
    return true;
}

/* ---- watching --------------------------------------------------------------------------- */

static bool recording(const struct follow *follow)
{
    return trace_file_header(follow->file)->state == TRACE_STATE_RECORDING;
}

/* Opens the trace. Waits for its header if the recorder has only just begun. */
static bool open_trace(struct follow *follow)
{
    for (int i = 0; !follow->file && i < WAIT_FOR_HEADER && !interrupted(follow); i++) {
        if (i > 0)
            follow_process_wait(-1, FIRST_MS);
        *follow->status = (struct ingest_status){INGEST_OK, ""};
        follow->file = trace_file_open(follow->options->trace, follow->status);
        if (!follow->file && access(follow->options->trace, F_OK) != 0)
            return false;
    }
    if (follow->file && recording(follow) &&
        (trace_file_header(follow->file)->flags & TRACE_FILE_PACKED))
        return ingest_fail(follow->status, INGEST_BAD_INPUT,
                           "%s: is being compressed while it is recorded, so it can only be read "
                           "when that has ended; record it without --compress",
                           follow->options->trace);
    return follow->file != NULL;
}

/* Waits until the trace stops growing, and reads the rest. Other processes that write into it, such
 * as mprof-run, end a little later than the program. */
static bool settle(struct follow *follow)
{
    uint64_t before = UINT64_MAX;
    for (int same = 0; same < SETTLED_POLLS && !interrupted(follow);) {
        if (!trace_follow_poll(follow->trace, follow->status))
            return false;
        uint64_t committed = trace_follow_committed(follow->trace);
        same = committed == before ? same + 1 : 0;
        before = committed;
        follow_process_wait(-1, SETTLE_MS);
    }
    /* If it is far behind, making the whole session again takes less time than the rest here. */
    return follow->lag.behind_ns > FOLLOW_LAG_CAUGHT_NS || look(follow, true);
}

/* Returns how long to wait after a look of `took` ms: one look begins each period, but after a long
 * look the pause is half as long as the look. So a look takes at most two thirds of a core. */
static int pause_after(uint64_t took)
{
    const uint64_t half = took / 2;
    return took + half > PERIOD_MS ? (int)half : PERIOD_MS - (int)took;
}

static bool watch(struct follow *follow)
{
    uint64_t before = UINT64_MAX;
    int still = 0;
    while (recording(follow) && !interrupted(follow)) {
        uint64_t begin = now_ms();
        if (!look(follow, false))
            return false;
        uint64_t committed = trace_follow_committed(follow->trace);
        still = committed == before ? still + 1 : 0;
        before = committed;
        if (follow->process < 0 && still >= STILL_POLLS)
            break;
        /* The second look is the first that can show anything. */
        int pause = !follow->replays                               ? FIRST_MS
                    : follow->lag.behind_ns > FOLLOW_LAG_CAUGHT_NS ? 0
                                                                   : pause_after(now_ms() - begin);
        /* The next look shows what this poll sees (trace/merge.h). */
        if (follow_process_wait(follow->process, pause / 2))
            break;
        writer_follow_rest(follow->writer);
        if (!trace_follow_poll(follow->trace, follow->status))
            return false;
        if (follow_process_wait(follow->process, pause - pause / 2))
            break;
    }
    follow->ended =
        follow->ended || (!interrupted(follow) && state_now(follow) != TRACE_STATE_EXEC);
    return interrupted(follow) || settle(follow);
}

static bool run(struct follow *follow)
{
    const struct ingest_options *options = follow->options;
    struct symbols_options symbols_options = {options->debug_dir, options->sysroot,
                                              options->writer.interrupted};
    if (!open_trace(follow))
        return false;
    follow->writer = writer_follow_open(options->session, &options->writer, follow->status);
    if (!follow->writer)
        return false;
    follow->first_new = 1;
    follow->trace = trace_follow_new(follow->file, trace_scan_growing(&follow->scan));
    follow->symbols = symbols_new(&symbols_options);
    follow->full = calloc(1, sizeof(*follow->full));
    follow->shown = calloc(1, sizeof(*follow->shown));
    if (!follow->trace || !follow->symbols || !follow->full || !follow->shown)
        return ingest_fail_memory(follow->status, "the pipeline");
    const struct trace_file_header *header = trace_file_header(follow->file);
    follow->process = follow_process_open(header->pid, header->start_realtime_ns);
    bool good = watch(follow);
    if (follow->process >= 0)
        close(follow->process);
    return good;
}

/* Makes the live session of one trace. */
static bool follow_one(const struct ingest_options *options, struct ingest_status *status)
{
    struct follow *follow = calloc(1, sizeof(*follow));
    if (!follow)
        return ingest_fail_memory(status, "the pipeline");
    follow->options = options;
    follow->status = status;
    bool good = run(follow);
    writer_follow_close(follow->writer);
    replay_free(&follow->replay);
    totals_free_memory(&follow->totals);
    type_table_free(&follow->types);
    stacks_free(&follow->stacks);
    stack_nodes_free(&follow->nodes);
    symbols_free(follow->symbols);
    trace_follow_free(follow->trace);
    trace_scan_free(&follow->scan);
    trace_file_close(follow->file);
    FREE_ALL(follow->full, follow->shown, follow);
    return good;
}

bool ingest_follow(const struct ingest_options *options, struct ingest_status *status)
{
    const volatile sig_atomic_t *flag = options->writer.interrupted;
    struct ingest_options now = *options;
    char *path = NULL, *next = NULL;
    bool good = follow_one(options, status);
    while (good && !(flag && *flag != 0) &&
           (good = follow_run_next(options->trace, now.trace, flag, &next, status)) && next) {
        free(path);
        now.trace = path = next;
        now.writer.force = true; /* the session is this call's own */
        good = follow_one(&now, status);
    }
    free(path);
    return good;
}
