/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/ingest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "ingest/write/bundle.h"
#include "ingest/write/redact.h"
#include "ingest/write/session_tables.h"
#include "schemas/trace_unrecorded.h"

/* Events between two looks at the progress bar and at Ctrl-C. */
enum { EVENTS_PER_LOOK = 16384 };
/* Events between two counts of the live blocks in all arenas. */
enum { EVENTS_PER_COUNT = 64 * EVENTS_PER_LOOK };

struct pipeline {
    const struct ingest_options *options;
    struct ingest_status *status;
    struct trace_file *file;
    struct symbol_cache *symbol_cache, own_cache;
    struct symbols *symbols; /* owned by `names` */
    struct writer *writer;
    struct trace_scan scan;
    struct stacks stacks;
    struct stack_nodes nodes; /* of their frames, once all stacks are known */
    struct totals totals;
    struct type_table types;
    struct replay replay;
    struct problems problems;    /* of both passes */
    struct suppressions *joined; /* with those that the program carries; NULL: not asked for */
};

double ingest_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void report(const struct pipeline *pipeline, enum ingest_phase phase, uint64_t done)
{
    const struct ingest_options *options = pipeline->options;
    if (options->progress)
        options->progress(options->progress_context, phase, done, trace_file_size(pipeline->file));
}

/* Returns false if more blocks are live than the file may have. */
static bool check_live(const struct pipeline *pipeline)
{
    const struct replay *replay = &pipeline->replay;
    uint64_t live = replay->heap.live;
    struct stat about;
    for (size_t i = 0; i < replay->arena_count; i++)
        live += replay->arenas[i].blocks.live;
    return stat(pipeline->options->trace, &about) != 0 ||
           ingest_check_live(live, (uint64_t)about.st_size, trace_file_path(pipeline->file),
                             pipeline->status);
}

static bool replay_all(struct pipeline *pipeline)
{
    const volatile sig_atomic_t *interrupted = pipeline->options->writer.interrupted;
    const struct writer_run *run = pipeline->options->writer.run;
    struct trace_event event;
    struct merge *merge = merge_new(pipeline->file, pipeline->status);
    bool good = merge != NULL;
    size_t stacks_seen = 0;
    if (good)
        merge_watch(merge, (struct merge_watcher){&pipeline->replay, replay_prefetch_block,
                                                  replay_prefetch_stack});
    for (uint64_t n = 0; good && merge_next(merge, &event, pipeline->status); n++) {
        good = replay_event(&pipeline->replay, &event, pipeline->status);
        /* The lookup of a new stack's names and types may have read files of any size. */
        if (n % EVENTS_PER_LOOK != 0 && pipeline->stacks.count == stacks_seen)
            continue;
        stacks_seen = pipeline->stacks.count;
        if (ingest_is_interrupted(interrupted))
            good = ingest_fail(pipeline->status, INGEST_INTERRUPTED, "interrupted");
        if (good && run && run->log.error != 0)
            good = writer_fail(pipeline->writer, run->log.error);
        if (good && n % EVENTS_PER_COUNT == 0)
            good = check_live(pipeline);
        report(pipeline, INGEST_REPLAY, merge_bytes_done(merge));
    }
    merge_free(merge);
    return good && pipeline->status->code == INGEST_OK;
}

static bool put_redacted(const struct table_sink *sink)
{
    return sink->put(sink->context, WRITER_META,
                     (const struct writer_value[]){value_text("redacted"), value_number(1)}, 2);
}

static bool number_frames(struct pipeline *pipeline)
{
    return stack_nodes_number(&pipeline->nodes, &pipeline->stacks, 0, false) ||
           ingest_fail_memory(pipeline->status, "the frames of the stacks");
}

/* Waits for the second thread, which may still have gigabytes to write. */
static bool finish_rows(struct pipeline *pipeline)
{
    report(pipeline, INGEST_ROWS, writer_bytes(pipeline->writer));
    return writer_rows_done(pipeline->writer) && number_frames(pipeline) &&
           writer_put_frames(pipeline->writer, &pipeline->nodes, &pipeline->stacks) &&
           writer_put_stack_sums(pipeline->writer, &pipeline->nodes, &pipeline->stacks,
                                 &pipeline->totals.stacks) &&
           writer_frames_done(pipeline->writer);
}

static bool join_suppressions(struct pipeline *pipeline)
{
    const struct ingest_options *options = pipeline->options;
    if (options->program_suppressions)
        pipeline->joined = program_suppressions_join(&pipeline->scan.program_suppressions,
                                                     options->suppressions, &pipeline->problems);
    return pipeline->joined || !options->program_suppressions ||
           ingest_fail_memory(pipeline->status, "the suppressions");
}

/* Notes the modules whose debug information cannot be read, that of the program first. */
static void note_unreadable(struct pipeline *pipeline)
{
    const struct trace_scan *scan = &pipeline->scan;
    const char *program = scan->process.found ? scan->process.exe : "";
    for (int own = 1; own >= 0; own--)
        for (size_t i = 0; i < scan->module_count; i++) {
            const struct module_row *module = &scan->modules[i];
            const char *slash = strrchr(module->path, '/');
            const char *why =
                module->runtime
                    ? NULL
                    : strstr(symbols_status(pipeline->symbols, module->id), SYMBOLS_UNREADABLE);
            if (why && (strcmp(module->path, program) == 0) == own)
                problems_add(&pipeline->problems, PROBLEM_DEBUG, "%.100s: %s",
                             slash ? slash + 1 : module->path, why);
        }
}

/* Notes that the trace is one of a program that ran without the recorder, or executed such. */
static void note_unrecorded(struct pipeline *pipeline)
{
    const struct trace_file_header *header = trace_file_header(pipeline->file);
    const struct trace_process *process = &pipeline->scan.process;
    const char *program = process->found ? process->program : "(unknown program)";
    if (header->unrecorded)
        problems_add(&pipeline->problems, PROBLEM_UNRECORDED, "%.160s: %s", program,
                     trace_unrecorded_text(header->unrecorded));
    if (header->unnamed)
        problems_add(&pipeline->problems, PROBLEM_UNRECORDED,
                     "%" PRIu32 " programs that %.160s executed: not known which", header->unnamed,
                     program);
}

static bool join_problems(struct pipeline *pipeline)
{
    note_unreadable(pipeline);
    note_unrecorded(pipeline);
    return (problems_join(&pipeline->problems, &pipeline->scan.problems) &&
            problems_join(&pipeline->problems, &pipeline->replay.problems)) ||
           ingest_fail_memory(pipeline->status, "the problems");
}

static bool write_tables(struct pipeline *pipeline)
{
    const struct ingest_options *options = pipeline->options;
    struct session_facts facts = {
        .file = pipeline->file,
        .scan = &pipeline->scan,
        .replay = &pipeline->replay,
        .problems = &pipeline->problems,
        .stacks = &pipeline->stacks,
        .nodes = &pipeline->nodes,
        .totals = &pipeline->totals,
        .suppressions = pipeline->joined ? pipeline->joined : options->suppressions,
        .program_suppressions = options->program_suppressions,
        .imported = options->imported ? options->imported->what : NULL,
        .made_up_addresses = options->imported && options->imported->made_up_addresses,
        .imported_temporary = options->imported ? options->imported->temporary : 0,
        .interrupted = options->writer.interrupted,
        .of_run = options->writer.run != NULL};
    struct table_sink sink = writer_tables(pipeline->writer);
    struct redact *redact = options->redact ? redact_new(options->source_root, &facts) : NULL;
    if (redact)
        sink = redact_sink(redact, sink);
    report(pipeline, INGEST_WRITE, writer_bytes(pipeline->writer));
    bool good = (redact || !options->redact) && session_tables_put(&sink, &facts) &&
                (!options->redact || put_redacted(&sink)) &&
                (!options->bundle || bundle_put(&sink, &facts, options->sysroot));
    redact_free(redact);
    if (good)
        return writer_commit(pipeline->writer);
    if (ingest_is_interrupted(options->writer.interrupted))
        return ingest_fail(pipeline->status, INGEST_INTERRUPTED, "interrupted");
    return pipeline->status->code == INGEST_OK
               ? ingest_fail_memory(pipeline->status, "the tables of the session")
               : false;
}

static bool tell_program(struct pipeline *pipeline)
{
    const struct trace_file_header *header = trace_file_header(pipeline->file);
    const struct trace_process *process = &pipeline->scan.process;
    struct symbols_program program = {process->found ? process->directory : NULL,
                                      process->found ? process->pid : header->pid,
                                      header->start_realtime_ns};
    const struct imported *imported = pipeline->options->imported;
    if (imported && imported->names)
        symbols_set_given(pipeline->symbols, import_names_given(imported->names));
    return symbols_set_program(pipeline->symbols, &program);
}

/* Sums up by time, too. A run does that for all its processes together. */
static bool sum_slots(struct pipeline *pipeline)
{
    const uint64_t duration_ns = trace_time_ns(&pipeline->replay.time, pipeline->scan.last_ticks);
    if (pipeline->options->writer.run) {
        pipeline->totals.log = &pipeline->options->writer.run->log;
        return true;
    }
    return totals_sum_slots(&pipeline->totals, duration_ns, pipeline->scan.events) ||
           ingest_fail_memory(pipeline->status, "the sums by time");
}

/* Ends the process's part of a run. */
static bool end_part(struct pipeline *pipeline)
{
    struct writer_run *run = pipeline->options->writer.run;
    if (run && !totals_log_end_part(&run->log))
        return writer_fail(pipeline->writer, run->log.error);
    return !run || writer_run_rows_end(&run->rows) ||
           ingest_fail_memory(pipeline->status, "the types of the run");
}

static bool run(struct pipeline *pipeline)
{
    const struct ingest_options *options = pipeline->options;
    struct ingest_status *status = pipeline->status;
    struct symbols_options symbols_options = {options->debug_dir, options->sysroot};
    pipeline->file = options->imported
                         ? trace_file_adopt(options->imported->descriptor, options->trace, status)
                         : trace_file_open(options->trace, status);
    if (!pipeline->file)
        return false;
    pipeline->writer = writer_open(options->session, &options->writer, status);
    if (!pipeline->writer)
        return false;
    report(pipeline, INGEST_SCAN, 0);
    pipeline->scan.interrupted = options->writer.interrupted;
    if (!trace_scan(&pipeline->scan, pipeline->file, status))
        return false;
    pipeline->own_cache = (struct symbol_cache){.path = options->cache,
                                                .persistent = options->cached && !options->bundle &&
                                                              !options->imported};
    pipeline->symbol_cache = options->symbol_cache ? options->symbol_cache : &pipeline->own_cache;
    if (!symbol_cache_begin(pipeline->symbol_cache, &symbols_options))
        return ingest_fail_memory(status, "the names of the program");
    pipeline->symbols = pipeline->symbol_cache->symbols;
    if (!tell_program(pipeline) ||
        !stacks_init(&pipeline->stacks, &pipeline->scan, pipeline->symbols) ||
        !type_table_init(&pipeline->types, &pipeline->stacks, pipeline->symbols,
                         pipeline->symbol_cache->types))
        return ingest_fail_memory(status, "the names of the program");
    if (options->writer.run)
        writer_run_rows_begin(&options->writer.run->rows, &pipeline->types);
    return replay_init(&pipeline->replay, pipeline->file, &pipeline->scan, &pipeline->stacks,
                       &pipeline->totals, &pipeline->types, writer_sink(pipeline->writer),
                       status) &&
           sum_slots(pipeline) &&
           writer_sample_rows(pipeline->writer,
                              trace_time_ns(&pipeline->replay.time, pipeline->scan.last_ticks),
                              pipeline->scan.events) &&
           replay_all(pipeline) && replay_finish(&pipeline->replay, status) && end_part(pipeline) &&
           finish_rows(pipeline) && join_problems(pipeline) && join_suppressions(pipeline) &&
           write_tables(pipeline);
}

static void summarize(const struct pipeline *pipeline, struct ingest_summary *summary)
{
    const struct trace_file_header *header = trace_file_header(pipeline->file);
    const struct trace_scan *scan = &pipeline->scan;
    const struct totals *totals = &pipeline->totals;
    const struct problems *problems = &pipeline->problems;
    *summary = (struct ingest_summary){
        .program = strdup(scan->process.found ? scan->process.program : "(unknown program)"),
        .allocations = totals->allocations,
        .frees = totals->frees,
        .reallocs = totals->reallocs,
        .bytes = totals->bytes,
        .peak_bytes = totals->peak_bytes,
        .peak_count = totals->peak_count,
        .peak_ns = totals->peak_ns,
        .live_bytes = totals->live_bytes,
        .live_count = totals->live_count,
        .duration_ns = trace_time_ns(&pipeline->replay.time, scan->last_ticks),
        .threads = scan->threads.count,
        .stacks = pipeline->stacks.count - 1,
        .events = pipeline->replay.events,
        .dropped = header->dropped_events + scan->dropped_events,
        .sample_interval = header->sample_interval,
        .unmatched_frees = problems->counts[PROBLEM_UNMATCHED_FREE],
        .double_frees = problems->counts[PROBLEM_DOUBLE_FREE],
        .mismatched_frees = problems->counts[PROBLEM_MISMATCHED_FREE],
        .wrong_sizes = problems->counts[PROBLEM_WRONG_SIZE],
        .overlaps = problems->counts[PROBLEM_OVERLAP],
        .orphaned_events = pipeline->replay.orphaned_events,
        .damaged_bytes = scan->damaged_bytes,
        .unseen_modules = scan->unrecorded.unseen.count,
        .late_modules = scan->unrecorded.late.count,
        .lost_suppressions = problems->counts[PROBLEM_SUPPRESSIONS],
        .unrecorded = problems->counts[PROBLEM_UNRECORDED],
        .unreadable_debug = problems->counts[PROBLEM_DEBUG],
        .missing_chunks = problems->counts[PROBLEM_MISSING_CHUNK],
        .ended = scan->ended || header->state != TRACE_STATE_RECORDING ||
                 header->outcome == TRACE_OUTCOME_EXITED,
        .stopped = trace_scan_stopped(scan, header),
        .unknown_clock = pipeline->replay.time.unknown,
        .state = header->state,
        .outcome = header->outcome,
        .outcome_number = header->outcome_number,
        .machines = 1,
        .inherited_frees = pipeline->replay.inherited_count,
        .presumed_inherited_frees = pipeline->replay.inherited_count,
        .origin = {.trace_id = header->trace_id,
                   .parent_trace = scan->process.parent_trace,
                   .fork_before = scan->process.fork_before,
                   .fork_after = scan->process.fork_after,
                   .start_ticks = header->start_ticks,
                   .time = pipeline->replay.time},
    };
    const char *unseen = scan->unrecorded.unseen.text;
    if (unseen)
        snprintf(summary->why_unseen, sizeof(summary->why_unseen), "%.*s",
                 (int)strcspn(unseen, "\n"), unseen);
    for (size_t i = problems->kept_count; i-- > 0;)
        if (problems->kept[i].kind == PROBLEM_SUPPRESSIONS)
            memcpy(summary->why_suppressions, problems->kept[i].detail,
                   sizeof(summary->why_suppressions));
        else if (problems->kept[i].kind == PROBLEM_UNRECORDED)
            memcpy(summary->why_unrecorded, problems->kept[i].detail,
                   sizeof(summary->why_unrecorded));
        else if (problems->kept[i].kind == PROBLEM_DEBUG)
            memcpy(summary->why_debug, problems->kept[i].detail, sizeof(summary->why_debug));
}

bool ingest_run(const struct ingest_options *options, struct ingest_summary *summary,
                struct ingest_status *status)
{
    double begin = ingest_seconds();
    struct pipeline *pipeline = calloc(1, sizeof(*pipeline));
    if (!pipeline)
        return ingest_fail_memory(status, "the pipeline");
    pipeline->options = options;
    pipeline->status = status;
    bool good = run(pipeline);
    if (good) {
        summarize(pipeline, summary);
        summary->seconds = ingest_seconds() - begin;
    }
    writer_close(pipeline->writer);
    suppressions_free(pipeline->joined);
    replay_free(&pipeline->replay);
    problems_free(&pipeline->problems);
    totals_free_memory(&pipeline->totals);
    type_table_free(&pipeline->types);
    stack_nodes_free(&pipeline->nodes);
    stacks_free(&pipeline->stacks);
    symbol_cache_free(&pipeline->own_cache);
    trace_scan_free(&pipeline->scan);
    trace_file_close(pipeline->file);
    free(pipeline);
    return good;
}
