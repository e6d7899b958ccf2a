/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the keys of the table `meta`. */
#include <stdio.h>
#include <time.h>

#include "ingest/write/session_tables.h"
#include "schemas/code/user_code.h"

static bool put_value(const struct table_sink *sink, const char *key, struct writer_value value)
{
    return sink->put(sink->context, WRITER_META,
                     (const struct writer_value[]){value_text(key), value}, 2);
}

static bool put_text(const struct table_sink *sink, const char *key, const char *text)
{
    return put_value(sink, key, value_text(text));
}

static bool put_number(const struct table_sink *sink, const char *key, uint64_t number)
{
    return put_value(sink, key, value_number(number));
}

/* Returns the state of the recording when the trace was read. */
static const char *ending(const struct session_facts *facts)
{
    switch (trace_file_header(facts->file)->state) {
    case TRACE_STATE_ENDED:
        return trace_scan_stopped(facts->scan, trace_file_header(facts->file)) ? "stopped"
                                                                               : "ended";
    case TRACE_STATE_DISK_FULL:
        return "disk full";
    case TRACE_STATE_LIMIT:
        return "size limit";
    case TRACE_STATE_ERROR:
        return "error";
    case TRACE_STATE_EXEC:
        return "exec";
    default:
        break;
    }
    if (facts->scan->ended)
        return "ended";
    switch (trace_file_header(facts->file)->outcome) {
    case TRACE_OUTCOME_EXITED:
        return "ended";
    case TRACE_OUTCOME_KILLED:
        return "killed";
    case TRACE_OUTCOME_GONE:
        return "killed or ended";
    default:
        return "killed or running";
    }
}

static bool put_process(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct trace_file_header *header = trace_file_header(facts->file);
    const struct trace_process *process = &facts->scan->process;
    time_t seconds = (time_t)(header->start_realtime_ns / 1000000000u);
    struct tm utc = {0};
    char start[64], base[40];
    gmtime_r(&seconds, &utc);
    strftime(base, sizeof(base), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(start, sizeof(start), "%s.%03uZ", base,
             (unsigned)(header->start_realtime_ns / 1000000u % 1000u));
    return put_value(sink, "program",
                     value_path(process->found ? process->program : "(unknown)")) &&
           put_value(sink, "executable", value_path(process->found ? process->exe : "(unknown)")) &&
           put_value(sink, "argv", value_private(process->found ? process->arguments : "")) &&
           put_number(sink, "pid", process->found ? process->pid : header->pid) &&
           put_number(sink, "parent_pid", process->parent_pid) &&
           put_value(sink, "directory", value_private(process->found ? process->directory : "")) &&
           put_value(sink, "host", value_private(process->found ? process->host : "")) &&
           put_text(sink, "kernel", process->found ? process->kernel : "") &&
           put_text(sink, "start_time", header->start_realtime_ns != 0 ? start : "") &&
           put_number(sink, "start_monotonic_ns", header->start_monotonic_ns) &&
           put_number(sink, "machines", 1) && put_text(sink, "clock_alignment", "one clock") &&
           put_number(sink, "page_size", header->page_size);
}

/* Writes the row of the table `process`. */
static bool put_process_row(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct trace_process *process = &facts->scan->process;
    const struct totals *totals = facts->totals;
    const uint64_t last = facts->replay->rows, first = facts->replay->before + 1;
    const struct writer_value row[] = {
        value_number(1),
        value_number(process->found ? process->pid : trace_file_header(facts->file)->pid),
        value_number(process->parent_pid),
        value_path(process->found ? process->program : "(unknown)"),
        value_private(process->found ? process->arguments : ""),
        value_number(0),
        value_number(trace_time_ns(&facts->replay->time, facts->scan->last_ticks)),
        value_text(ending(facts)),
        value_path(trace_file_path(facts->file)),
        value_number(totals->allocations),
        value_number(totals->frees),
        value_number(totals->bytes),
        value_number(totals->live_count),
        value_number(totals->live_bytes),
        value_number(totals->peak_bytes),
        value_number(totals->peak_ns),
        value_private(process->found ? process->host : ""),
        value_private(process->found ? process->boot_id : ""),
        value_number(trace_file_header(facts->file)->trace_id),
        value_number(process->parent_trace),
        value_number(facts->replay->inherited_count),
        first <= last ? value_number(first) : value_null(),
        first <= last ? value_number(last) : value_null(),
        value_path(process->found ? process->exe : ""),
    };
    return sink->put(sink->context, WRITER_PROCESS, row, sizeof(row) / sizeof(*row));
}

static bool put_totals(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct totals *totals = facts->totals;
    return put_number(sink, "events", totals->allocations + totals->frees) &&
           put_number(sink, "allocations", totals->allocations) &&
           put_number(sink, "frees", totals->frees) &&
           put_number(sink, "reallocs", totals->reallocs) &&
           put_number(sink, "bytes_allocated", totals->bytes) &&
           put_number(sink, "live_bytes_end", totals->live_bytes) &&
           put_number(sink, "live_count_end", totals->live_count) &&
           put_number(sink, "peak_bytes", totals->peak_bytes) &&
           put_number(sink, "peak_count", totals->peak_count) &&
           put_number(sink, "peak_ns", totals->peak_ns) &&
           put_number(sink, "rows", facts->replay->rows - facts->replay->before) &&
           put_number(sink, "failed_allocations", facts->replay->failed_allocations) &&
           (!facts->replay->before_known ||
            put_number(sink, "before_bytes", facts->replay->before_bytes)) &&
           put_number(sink, "typed_allocations",
                      totals->allocations - type_usages_of(&totals->types, 0).allocations) &&
           put_number(sink, "typed_bytes",
                      totals->bytes - type_usages_of(&totals->types, 0).bytes) &&
           put_number(sink, "threads", facts->scan->threads.count) &&
           put_number(sink, "stacks", facts->stacks->count - 1);
}

/* Writes the sums of arenas, separate from those of the heap, which already count their memory. */
static bool put_arenas(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct replay *replay = facts->replay;
    uint64_t allocations = 0, bytes = 0, live_count = 0, live_bytes = 0;
    for (size_t i = 0; i < replay->arena_count; i++) {
        allocations += replay->arenas[i].allocations;
        bytes += replay->arenas[i].bytes;
        live_count += replay->arenas[i].live_count;
        live_bytes += replay->arenas[i].live_bytes;
    }
    return put_number(sink, "arenas", replay->arena_count) &&
           put_number(sink, "arena_allocations", allocations) &&
           put_number(sink, "arena_bytes", bytes) &&
           put_number(sink, "arena_live_count_end", live_count) &&
           put_number(sink, "arena_live_bytes_end", live_bytes);
}

/* Writes what a rotated recording had at the beginning of this trace. */
static bool put_earlier_sums(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct earlier *earlier = &facts->replay->earlier;
    return facts->scan->continued == 0 ||
           (put_number(sink, "rotation", facts->scan->continued) &&
            put_number(sink, "earlier_blocks", earlier->heap_count) &&
            put_number(sink, "earlier_bytes", earlier->heap_bytes));
}

static bool put_oddities(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct trace_file_header *header = trace_file_header(facts->file);
    const struct trace_scan *scan = facts->scan;
    const uint64_t *counts = facts->problems->counts;
    return put_number(sink, "dropped_events", header->dropped_events + scan->dropped_events) &&
           put_number(sink, "unmatched_frees", counts[PROBLEM_UNMATCHED_FREE]) &&
           put_number(sink, "double_frees", counts[PROBLEM_DOUBLE_FREE]) &&
           put_number(sink, "mismatched_frees", counts[PROBLEM_MISMATCHED_FREE]) &&
           put_number(sink, "wrong_sizes", counts[PROBLEM_WRONG_SIZE]) &&
           put_number(sink, "overlaps", counts[PROBLEM_OVERLAP]) &&
           put_number(sink, "unseen_frees", facts->replay->unseen_frees) &&
           put_number(sink, "inherited_frees", facts->replay->inherited_count) &&
           put_number(sink, "presumed_inherited_frees", facts->replay->inherited_count) &&
           put_number(sink, "ambiguous_pairs", facts->replay->ambiguous_pairs) &&
           put_number(sink, "damaged_bytes", scan->damaged_bytes) &&
           put_number(sink, "missing_chunks", counts[PROBLEM_MISSING_CHUNK]) &&
           put_number(sink, "orphaned_stacks", facts->replay->orphaned_events) &&
           put_number(sink, "unknown_records", scan->unknown_records) &&
           put_number(sink, "sampled", header->sample_interval != 0) &&
           put_number(sink, "sample_interval", header->sample_interval) &&
           put_earlier_sums(sink, facts);
}

/* Writes the programs and modules whose calls are missing, all or those before some moment. */
static bool put_bypassed(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct unrecorded_modules *unrecorded = &facts->scan->unrecorded;
    const struct problems *problems = facts->problems;
    const char *program = NULL;
    for (size_t i = problems->kept_count; i-- > 0;)
        if (problems->kept[i].kind == PROBLEM_UNRECORDED)
            program = problems->kept[i].detail;
    return (!program || put_value(sink, "unrecorded_programs", value_paths(program))) &&
           (!unrecorded->late.text ||
            put_value(sink, "late_modules", value_paths(unrecorded->late.text))) &&
           (!unrecorded->unseen.text ||
            put_value(sink, "unseen_modules", value_paths(unrecorded->unseen.text)));
}

bool session_meta_put(const struct table_sink *sink, const struct session_facts *facts)
{
    return put_process(sink, facts) && put_process_row(sink, facts) && put_totals(sink, facts) &&
           put_arenas(sink, facts) && put_oddities(sink, facts) && put_bypassed(sink, facts) &&
           (!facts->suppressions ||
            put_number(sink, "suppressions", suppressions_count(facts->suppressions))) &&
           (!facts->program_suppressions ||
            put_number(sink, "lost_suppressions", facts->problems->counts[PROBLEM_SUPPRESSIONS])) &&
           (!facts->imported ||
            (put_text(sink, "imported", facts->imported) &&
             put_number(sink, "made_up_addresses", facts->made_up_addresses) &&
             put_number(sink, "imported_temporary", facts->imported_temporary))) &&
           put_number(sink, "duration_ns",
                      trace_time_ns(&facts->replay->time, facts->scan->last_ticks)) &&
           put_number(sink, "timeline_slot_ns", facts->totals->slot_ns) &&
           put_value(sink, "trace", value_path(trace_file_path(facts->file))) &&
           put_number(sink, "trace_bytes", trace_file_size(facts->file)) &&
           put_number(sink, "trace_version", TRACE_VERSION) &&
           put_text(sink, "clock",
                    !facts->replay->time.scaled && !facts->replay->time.unknown ? "nanoseconds"
                    : facts->replay->time.unknown                               ? "tsc, unscaled"
                                                                                : "tsc") &&
           put_text(sink, "ending", ending(facts)) &&
           put_number(sink, "user_code_version", user_code_version()) &&
           put_text(sink, "ingest_version", MPROF_VERSION);
}
