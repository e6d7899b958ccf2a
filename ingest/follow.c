/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/follow.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ingest/follow_lag.h"
#include "ingest/follow_process.h"
#include "ingest/trace/follow.h"
#include "ingest/write/live.h"
#include "ingest/write/session_tables.h"

enum {
    PERIOD_MS = 1000,
    WAIT_FOR_HEADER = 50, /* times FIRST_MS, for a recorder that has only just begun */
    FIRST_MS = 100,
    STILL_POLLS = 4, /* without a process to wait for, a trace that does not grow has ended */
    SETTLED_POLLS = 3,
    PIECES_WHERE_BEHIND = 3, /* pieces are so many times longer: fewer states are shown */
    SETTLE_MS = 100,         /* other writers of the trace see the program's end a little later */
};

struct live {
    const struct ingest_options *options;
    struct ingest_status *status;
    struct trace_file *file;
    struct trace_follow *trace;
    struct symbols *symbols;
    struct writer_live *writer;
    struct trace_scan scan;
    struct stacks stacks;
    struct totals totals;
    struct type_table types;
    struct replay replay;
    struct row_batch *full, *shown; /* the batch that replay fills; one for temporary rows */
    uint64_t first_new;             /* row of the first batch that is not whole in the session */
    struct session_known known;     /* rows that the session has already */
    bool replays;                   /* replay has begun: the clock's rate is known */
    bool in_transaction;
    int process; /* the one that records, -1: it cannot be seen from here */
    bool ended;  /* the process has */
    struct live_lag lag;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool interrupted(const struct live *live)
{
    const volatile sig_atomic_t *flag = live->options->writer.interrupted;
    return flag && *flag != 0;
}

/* ---- rows ------------------------------------------------------------------------------- */

static bool begin_transaction(struct live *live)
{
    if (live->in_transaction)
        return true;
    live->in_transaction = writer_live_begin(live->writer, live->first_new);
    return live->in_transaction;
}

/* Takes a full batch of replay. Its rows are complete and are written once. */
static struct row_batch *take_batch(void *context, struct row_batch *full)
{
    struct live *live = context;
    if (!full)
        return live->full;
    if (!begin_transaction(live) || !writer_live_rows(live->writer, full))
        return NULL;
    live->first_new = full->first_id + full->rows;
    return full;
}

/* Writes a batch of rows that the next transaction replaces. */
static struct row_batch *show_batch(void *context, struct row_batch *full)
{
    struct live *live = context;
    return writer_live_rows(live->writer, full) ? full : NULL;
}

struct type_sums {
    uint64_t allocations, bytes, live_count, live_bytes;
};

/* Saves the sums of types, which count written rows. Rows of live blocks will be written again. */
static struct type_sums *keep_sums(const struct type_table *types)
{
    struct type_sums *kept = malloc((types->count + 1) * sizeof(*kept));
    for (size_t i = 0; kept && i < types->count; i++)
        kept[i] = (struct type_sums){types->rows[i].allocations, types->rows[i].bytes,
                                     types->rows[i].live_count, types->rows[i].live_bytes};
    return kept;
}

static void restore_sums(struct type_table *types, const struct type_sums *kept, size_t count)
{
    for (size_t i = 0; i < types->count; i++) {
        const struct type_sums sums = i < count ? kept[i] : (struct type_sums){0};
        types->rows[i].allocations = sums.allocations;
        types->rows[i].bytes = sums.bytes;
        types->rows[i].live_count = sums.live_count;
        types->rows[i].live_bytes = sums.live_bytes;
    }
}

static bool put_fact(const struct table_sink *sink, const char *key, uint64_t value)
{
    return sink->put(sink->context, WRITER_META,
                     (const struct writer_value[]){value_text(key), value_number(value)}, 2);
}

/* Writes how far this state of the session is behind the program. */
static bool put_standing(struct live *live, const struct table_sink *sink)
{
    return put_fact(sink, "behind_ns", live->lag.behind_ns) &&
           put_fact(sink, "program_ended", live->ended) &&
           put_fact(sink, "skipped_allocations", live->replay.skipped_rows);
}

static bool put_tables(struct live *live, const struct replay *shown, uint64_t end_ticks)
{
    struct suppressions *joined =
        live->options->carried_suppressions
            ? carried_join(&live->scan.carried, live->options->suppressions, NULL)
            : NULL;
    struct session_facts facts = {.file = live->file,
                                  .scan = &live->scan,
                                  .replay = shown,
                                  .stacks = &live->stacks,
                                  .totals = &live->totals,
                                  .known = live->known,
                                  .suppressions = joined ? joined : live->options->suppressions};
    struct table_sink sink = writer_live_tables(live->writer);
    uint64_t last_ticks = live->scan.last_ticks;
    live->scan.last_ticks = end_ticks; /* the end of the session so far */
    bool good = session_frames_put(&sink, &facts) && session_tables_put(&sink, &facts) &&
                put_standing(live, &sink);
    live->scan.last_ticks = last_ticks;
    live->known = session_tables_known(&facts);
    suppressions_free(joined);
    return good;
}

/*
 * Publishes the state of replay at `end_ticks` as a whole session. It works on a copy, so replay
 * itself is unchanged.
 */
static bool publish(struct live *live, uint64_t end_ticks)
{
    struct replay shown = live->replay;
    size_t types = live->types.count;
    struct type_sums *kept = keep_sums(&live->types);
    bool good = kept && begin_transaction(live);
    memcpy(live->shown, live->replay.batch, sizeof(*live->shown));
    shown.batch = live->shown;
    shown.skips_rows = false; /* live blocks always have rows */
    shown.sink = (struct row_sink){live, show_batch};
    totals_extend(&live->totals, trace_time_ns(&live->replay.time, end_ticks));
    totals_finish(&live->totals, &live->stacks);
    good = good && replay_put_live(&shown, &shown.heap);
    for (size_t i = 0; good && i < shown.arena_count; i++)
        good = replay_put_live(&shown, &shown.arenas[i].blocks);
    if (good && shown.batch->rows > 0)
        good = writer_live_rows(live->writer, shown.batch);
    good = good && put_tables(live, &shown, end_ticks) && writer_live_end(live->writer);
    live->in_transaction = false;
    if (kept)
        restore_sums(&live->types, kept, types);
    free(kept);
    return good || (live->status->code == INGEST_OK && ingest_fail_memory(live->status, "rows"));
}

/* ---- replay ----------------------------------------------------------------------------- */

static bool tell_program(struct live *live)
{
    const struct trace_file_header *header = trace_file_header(live->file);
    const struct trace_process *process = &live->scan.process;
    struct symbols_program program = {process->directory, process->pid, header->start_realtime_ns};
    return symbols_set_program(live->symbols, &program);
}

/* Begins replay as soon as the trace tells which program runs, and how fast its clock ticks. */
static bool begin_replay(struct live *live)
{
    struct trace_time time;
    trace_time_init(&time, live->file, live->scan.clock_ticks, live->scan.clock_monotonic_ns);
    if (live->replays || !live->scan.process.found || time.unknown)
        return true;
    live->replays = true;
    if (!tell_program(live) || !stacks_init(&live->stacks, &live->scan, live->symbols) ||
        !type_table_init(&live->types, &live->stacks, live->symbols, NULL))
        return ingest_fail_memory(live->status, "the names of the program");
    return replay_init(&live->replay, live->file, &live->scan, &live->stacks, &live->totals,
                       &live->types, (struct row_sink){live, take_batch}, live->status);
}

/* Replays the events that there are, for about `most_ms` at most. *all: no event is left. */
static bool replay_new(struct live *live, uint64_t most_ms, bool *all)
{
    struct trace_event event;
    struct replay *replay = &live->replay;
    uint64_t begin = now_ms();
    bool good = true;
    *all = true;
    totals_extend(&live->totals, trace_time_ns(&replay->time, trace_follow_limit(live->trace)));
    for (uint64_t n = 1; good && trace_follow_next(live->trace, &event, live->status); n++) {
        good = replay_event(replay, &event, live->status);
        if (n % 16384 == 0 && (interrupted(live) || now_ms() - begin >= most_ms)) {
            *all = false;
            break;
        }
    }
    return good && live->status->code == INGEST_OK;
}

static bool look_again(struct live *live)
{
    struct replay *replay = &live->replay;
    trace_time_init(&replay->time, live->file, live->scan.clock_ticks,
                    live->scan.clock_monotonic_ns);
    replay->thread = NULL; /* the scan may have moved the threads */
    return stacks_extend(&live->stacks) || ingest_fail_memory(live->status, "the stacks");
}

/* Reads the state of the trace again, because a look at a long trace takes a while. */
static bool program_has_ended(const struct live *live)
{
    uint32_t state = TRACE_STATE_RECORDING;
    trace_file_read(live->file, offsetof(struct trace_file_header, state), &state, sizeof(state));
    return state != TRACE_STATE_RECORDING ||
           (live->process >= 0 && live_process_wait(live->process, 0));
}

/* Updates the lag, before the state at `end_ticks` is shown. */
static void find_lag(struct live *live, uint64_t end_ticks)
{
    const struct trace_time *time = &live->replay.time;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
                   start_ns = trace_file_header(live->file)->start_monotonic_ns;
    live->ended = live->ended || program_has_ended(live);
    const struct live_moment moment = {
        .shown_ns = trace_time_ns(time, end_ticks),
        .newest_ns = trace_time_ns(time, live->scan.last_ticks),
        .now_ns = now_ns > start_ns ? now_ns - start_ns : 0,
        .ended = live->ended,
    };
    live_lag_update(&live->lag, &moment);
    live->replay.skips_rows = live->lag.skips || getenv("MPROF_TEST_LIVE_LAG");
}

static void report(const struct live *live)
{
    const struct ingest_options *options = live->options;
    if (options->progress)
        options->progress(options->progress_context, live->ended ? INGEST_LIVE_ENDED : INGEST_LIVE,
                          live->replay.events, live->lag.behind_ns);
}

/*
 * Looks at the trace once, and writes a transaction if there is anything to show. It shows a long
 * trace in pieces. Replay of a piece takes a second, or as long as it took to show the last one.
 * When the program has ended and much is left, it stops: making the whole session again takes less
 * time.
 */
static bool look(struct live *live, bool last)
{
    if (!trace_follow_poll(live->trace, live->status))
        return false;
    if (last)
        trace_follow_lift_limit(live->trace);
    if (!begin_replay(live))
        return false;
    if (!live->replays)
        return true;
    if (!look_again(live))
        return false;
    uint64_t piece_ms = PERIOD_MS;
    for (bool all = false; !all && !interrupted(live);) {
        if (!replay_new(live, piece_ms, &all))
            return false;
        uint64_t begin = now_ms();
        uint64_t end_ticks = all ? trace_follow_limit(live->trace) : live->replay.now_ticks;
        find_lag(live, end_ticks);
        if (!publish(live, end_ticks))
            return false;
        uint64_t took_ms = now_ms() - begin;
        piece_ms = took_ms > PERIOD_MS ? took_ms : PERIOD_MS;
        if (live->lag.skips)
            piece_ms *= PIECES_WHERE_BEHIND;
        report(live);
        if (live->ended && live->lag.behind_ns > LIVE_LAG_CAUGHT_NS)
            break;
    }
    return true;
}

/* ---- watching --------------------------------------------------------------------------- */

static bool recording(const struct live *live)
{
    return trace_file_header(live->file)->state == TRACE_STATE_RECORDING;
}

/* Opens the trace. Waits for its header if the recorder has only just begun. */
static bool open_trace(struct live *live)
{
    for (int i = 0; !live->file && i < WAIT_FOR_HEADER && !interrupted(live); i++) {
        if (i > 0)
            live_process_wait(-1, FIRST_MS);
        *live->status = (struct ingest_status){INGEST_OK, ""};
        live->file = trace_file_open(live->options->trace, live->status);
        if (!live->file && access(live->options->trace, F_OK) != 0)
            return false;
    }
    if (live->file && recording(live) && (trace_file_header(live->file)->flags & TRACE_FILE_PACKED))
        return ingest_fail(live->status, INGEST_BAD_INPUT,
                           "%s: is being compressed while it is recorded, so it can only be read "
                           "when that has ended; record it without --compress",
                           live->options->trace);
    return live->file != NULL;
}

/* Waits until the trace stops growing, and reads the rest. Other processes that write into it, such
 * as mprof-run, end a little later than the program. */
static bool settle(struct live *live)
{
    uint64_t before = UINT64_MAX;
    for (int same = 0; same < SETTLED_POLLS && !interrupted(live);) {
        if (!trace_follow_poll(live->trace, live->status))
            return false;
        uint64_t committed = trace_follow_committed(live->trace);
        same = committed == before ? same + 1 : 0;
        before = committed;
        live_process_wait(-1, SETTLE_MS);
    }
    /* If it is far behind, making the whole session again takes less time than the rest here. */
    return live->lag.behind_ns > LIVE_LAG_CAUGHT_NS || look(live, true);
}

/* Returns how long to wait after a look of `took` ms: one look begins each second, but after a long
 * look the pause is as long as the look. */
static int pause_after(uint64_t took)
{
    return took * 2 > PERIOD_MS ? (int)took : PERIOD_MS - (int)took;
}

static bool watch(struct live *live)
{
    uint64_t before = UINT64_MAX;
    int still = 0;
    while (recording(live) && !interrupted(live)) {
        uint64_t begin = now_ms();
        if (!look(live, false))
            return false;
        uint64_t committed = trace_follow_committed(live->trace);
        still = committed == before ? still + 1 : 0;
        before = committed;
        if (live->process < 0 && still >= STILL_POLLS)
            break;
        /* The second look is the first that can show anything. */
        int pause = !live->replays                             ? FIRST_MS
                    : live->lag.behind_ns > LIVE_LAG_CAUGHT_NS ? 0
                                                               : pause_after(now_ms() - begin);
        if (live_process_wait(live->process, pause))
            break;
    }
    live->ended = live->ended || !interrupted(live);
    return interrupted(live) || settle(live);
}

static bool run(struct live *live)
{
    const struct ingest_options *options = live->options;
    struct symbols_options symbols_options = {options->debug_dir, options->sysroot};
    if (!open_trace(live))
        return false;
    live->writer = writer_live_open(options->session, options->writer.force, live->status);
    if (!live->writer)
        return false;
    live->first_new = 1;
    live->trace = trace_follow_new(live->file, trace_scan_growing(&live->scan));
    live->symbols = symbols_new(&symbols_options);
    live->full = calloc(1, sizeof(*live->full));
    live->shown = calloc(1, sizeof(*live->shown));
    if (!live->trace || !live->symbols || !live->full || !live->shown)
        return ingest_fail_memory(live->status, "the pipeline");
    const struct trace_file_header *header = trace_file_header(live->file);
    live->process = live_process_open(header->pid, header->start_realtime_ns);
    bool good = watch(live);
    if (live->process >= 0)
        close(live->process);
    return good;
}

bool ingest_live(const struct ingest_options *options, struct ingest_status *status)
{
    struct live *live = calloc(1, sizeof(*live));
    if (!live)
        return ingest_fail_memory(status, "the pipeline");
    live->options = options;
    live->status = status;
    bool good = run(live);
    writer_live_close(live->writer);
    replay_free(&live->replay);
    totals_free_memory(&live->totals);
    type_table_free(&live->types);
    stacks_free(&live->stacks);
    symbols_free(live->symbols);
    trace_follow_free(live->trace);
    trace_scan_free(&live->scan);
    trace_file_close(live->file);
    free(live->full);
    free(live->shown);
    free(live);
    return good;
}
