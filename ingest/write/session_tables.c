/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/session_tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ingest/base/status.h"
#include "ingest/replay/extended.h"
#include "ingest/symbols/variables.h"
#include "schemas/code/user_code.h"
#include "schemas/trace_layout.h"

/* Writes the sums by time: slot_sum, tile and a key of meta. */

#define PUT(sink, table, ...)                                                                      \
    (sink)->put((sink)->context, (table), (const struct writer_value[]){__VA_ARGS__},              \
                sizeof((const struct writer_value[]){__VA_ARGS__}) / sizeof(struct writer_value))

static bool put_key(const struct table_sink *sink, const struct slot_sums *sums, enum slot_key key)
{
    struct slot_sums_part part;
    size_t next = 0;
    bool good = true;
    while (good && slot_sums_next(sums, key, &next, &part)) {
        good = PUT(sink, WRITER_SLOT_SUM, value_text(slot_sums_key_name(key)),
                   value_number(slot_level_slots(part.level)), value_number(part.number),
                   value_blob(part.data, part.length));
    }
    return good;
}

bool session_slots_put(const struct table_sink *sink, const struct slot_sums *sums)
{
    const struct slot_sums_tile *tiles;
    struct slot_sums_part part;
    size_t first = 0;
    if (!sums || !slot_sums_next(sums, SLOT_KEY_ALL, &first, &part))
        return true;
    bool good =
        PUT(sink, WRITER_META, value_text("slot_ns"), value_number(slot_sums_slot_ns(sums)));
    for (unsigned key = 0; good && key < SLOT_KEYS; key++)
        good = put_key(sink, sums, (enum slot_key)key);
    const size_t count = slot_sums_tiles(sums, &tiles);
    for (size_t i = 0; good && i < count; i++) {
        good =
            PUT(sink, WRITER_TILE, value_number(i + 1),
                value_number(tiles[i].number << SLOT_TILE_SHIFT), value_number(tiles[i].largest));
    }
    return good;
}

/* Writes the table `type` and those that belong to it, from the results of replay. */

struct member_row {
    const struct table_sink *sink;
    uint64_t type, position;
};

static bool put_member(void *context, const struct types_member *member)
{
    struct member_row *row = context;
    const uint64_t position = row->position++;
    return PUT(row->sink, WRITER_TYPE_MEMBER, value_number(row->type), value_number(position),
               value_text(member->name), value_number(member->offset), value_number(member->size),
               value_text(member->type));
}

/* Writes a member at any depth. */
static bool put_field(void *context, const struct types_member *member)
{
    struct member_row *row = context;
    row->position++;
    return PUT(row->sink, WRITER_TYPE_FIELD, value_number(row->type), value_number(row->position),
               value_number(member->parent), value_text(member->name), value_number(member->offset),
               value_number(member->size), value_number(member->element), value_text(member->type));
}

static bool put_fields(const struct table_sink *sink, const struct type_table *table, size_t id)
{
    const struct type_row *row = &table->rows[id];
    struct member_row fields = {sink, id, 0};
    return types_members(table->types, row->name, row->size, true, put_field, &fields);
}

static bool put_type(const struct table_sink *sink, const struct type_table *table, size_t id)
{
    const struct type_row *row = &table->rows[id];
    struct member_row members = {sink, id, 0};
    return PUT(sink, WRITER_TYPE, value_number(id), value_text(row->name),
               row->size ? value_number(row->size) : value_null(),
               value_text(type_table_confidence_name(row->confidence)), value_text(row->element)) &&
           types_members(table->types, row->name, row->size, false, put_member, &members);
}

static bool put_total(const struct table_sink *sink, const struct type_usages *usages, size_t id)
{
    const struct type_usage usage = type_usages_of(usages, id);
    return usage.allocations == 0 ||
           PUT(sink, WRITER_TYPE_TOTAL, value_number(id), value_number(usage.allocations),
               value_number(usage.bytes), value_number(usage.live_count),
               value_number(usage.live_bytes), value_number(usage.at_peak_count),
               value_number(usage.at_peak_bytes),
               usage.peak_unknown ? value_null() : value_number(usage.peak_bytes));
}

static bool put_candidates(const struct table_sink *sink, struct type_table *table,
                           const struct unknown_block *block)
{
    const char *names[TYPE_TABLE_CANDIDATES];
    size_t count = type_table_candidates(table, block, names);
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        good = PUT(sink, WRITER_TYPE_CANDIDATE, value_number(block->stack),
                   value_number(block->size), value_number(i), value_text(names[i]));
    }
    return good;
}

bool session_type_totals_put(const struct table_sink *sink, const struct type_usages *usages)
{
    bool good = true;
    for (size_t i = 0; good && i < usages->capacity; i++)
        good = put_total(sink, usages, i);
    return good;
}

/* Puts `type` and the tables that belong to it. session_tables_put() calls it. */
static bool session_types_put(const struct table_sink *sink, const struct session_facts *facts)
{
    struct type_table *table = facts->replay->types;
    bool good = true;
    for (size_t i = 0; good && i < table->count; i++)
        good = i == 0 || i < facts->known.types || put_type(sink, table, i);
    /* Only references ask for them. */
    for (size_t i = 1; good && i < table->count && facts->scan->snapshots.count != 0; i++)
        good = put_fields(sink, table, i);
    good = good && session_type_totals_put(sink, &facts->totals->types);
    for (size_t i = facts->known.unknown_blocks; good && i < table->unknown_count; i++)
        good = !ingest_is_interrupted(facts->interrupted) &&
               put_candidates(sink, table, &table->unknown[i]);
    return good;
}

/* Writes the keys of the table `meta`. */

static bool put_value(const struct table_sink *sink, const char *key, struct writer_value value)
{
    return PUT(sink, WRITER_META, value_text(key), value);
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

static bool put_process_row(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct trace_process *process = &facts->scan->process;
    const struct totals *totals = facts->totals;
    const uint64_t last = facts->replay->rows, first = facts->replay->before + 1;
    return PUT(sink, WRITER_PROCESS, value_number(1),
               value_number(process->found ? process->pid : trace_file_header(facts->file)->pid),
               value_number(process->parent_pid),
               value_path(process->found ? process->program : "(unknown)"),
               value_private(process->found ? process->arguments : ""), value_number(0),
               value_number(trace_time_ns(&facts->replay->time, facts->scan->last_ticks)),
               value_text(ending(facts)), value_path(trace_file_path(facts->file)),
               value_number(totals->allocations), value_number(totals->frees),
               value_number(totals->bytes), value_number(totals->live_count),
               value_number(totals->live_bytes), value_number(totals->peak_bytes),
               value_number(totals->peak_ns), value_private(process->found ? process->host : ""),
               value_private(process->found ? process->boot_id : ""),
               value_number(trace_file_header(facts->file)->trace_id),
               value_number(process->parent_trace), value_number(facts->replay->inherited_count),
               first <= last ? value_number(first) : value_null(),
               first <= last ? value_number(last) : value_null(),
               value_path(process->found ? process->exe : ""));
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

/* Returns true if one of `count` labels has the key of this one. */
static bool has_key(const char *const *labels, size_t count, const char *label)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(labels[i], label, strcspn(label, "=") + 1) == 0)
            return true;
    return false;
}

static bool put_label(const struct table_sink *sink, const char *label)
{
    char key[sizeof("label.") + TRACE_LABEL_MOST];
    const int length = (int)strcspn(label, "=");
    snprintf(key, sizeof(key), "label.%.*s", length, label);
    return put_text(sink, key, label + length + 1);
}

static bool put_labels(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct trace_process *process = &facts->scan->process;
    const char *const *own = (const char *const *)process->labels;
    bool good = true;
    for (size_t i = 0; good && i < facts->label_count; i++)
        good = put_label(sink, facts->labels[i]);
    for (size_t i = 0; good && i < process->label_count; i++)
        if (!has_key(facts->labels, facts->label_count, own[i]) && !has_key(own, i, own[i]))
            good = put_label(sink, own[i]);
    return good;
}

/* Puts the keys of `meta`. session_tables_put() calls it. */
static bool session_meta_put(const struct table_sink *sink, const struct session_facts *facts)
{
    return put_process(sink, facts) && put_labels(sink, facts) && put_process_row(sink, facts) &&
           put_totals(sink, facts) && put_arenas(sink, facts) && put_oddities(sink, facts) &&
           put_bypassed(sink, facts) &&
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

/* ---- session tables ------------------------------------------------------------------------ */

/* Makes an id of an index: the session numbers rows from 1. */
static struct writer_value value_index(uint32_t index)
{
    return index == FRAMES_NONE ? value_null() : value_number((uint64_t)index + 1);
}

/* Makes a value of a line number, where 0 is "unknown". */
static struct writer_value value_line(uint32_t line)
{
    return line ? value_number(line) : value_null();
}

static struct writer_value value_time(const struct session_facts *facts, uint64_t ticks)
{
    return ticks == THREAD_TIME_NONE ? value_null()
                                     : value_number(trace_time_ns(&facts->replay->time, ticks));
}

static struct writer_value value_known(int64_t number)
{
    return number == PROBLEM_NONE ? value_null() : value_number((uint64_t)number);
}

static bool put_modules(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct trace_scan *scan = facts->scan;
    bool good = true;
    for (size_t i = 0; good && i < scan->module_count; i++) {
        const struct module_row *module = &scan->modules[i];
        char *build_id = calloc(module->build_id_length * 2 + 1, 1);
        if (!build_id)
            return false;
        for (size_t k = 0; k < module->build_id_length; k++)
            snprintf(build_id + 2 * k, 3, "%02x", module->build_id[k]);
        good = PUT(sink, WRITER_MODULE, value_number(module->id), value_path(module->path),
                   value_text(basename(module->path)),
                   value_text(module->build_id_length ? build_id : NULL),
                   value_number(module->load_bias), value_number(module->start),
                   value_number(module->end), value_time(facts, module->loaded_ticks),
                   value_time(facts, module->unloaded_ticks),
                   value_text(module->runtime
                                  ? "runtime"
                                  : symbols_status(facts->stacks->frames.symbols, module->id)));
        free(build_id);
    }
    return good;
}

static bool put_names(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct frames *frames = &facts->stacks->frames;
    bool good = true;
    for (size_t i = facts->known.source_files; good && i < frames->source_file_count; i++)
        good =
            PUT(sink, WRITER_SOURCE_FILE, value_number(i + 1), value_path(frames->source_files[i]));
    for (size_t i = facts->known.functions; good && i < frames->function_count; i++) {
        const struct function_row *function = &frames->functions[i];
        good = PUT(sink, WRITER_FUNCTION, value_number(i + 1), value_text(function->name),
                   value_text(function->linkage_name), value_number(function->module),
                   value_index(function->source_file), value_line(function->line),
                   value_text(call_site_role_name(function->role)),
                   function->start ? value_number(function->start) : value_null());
    }
    for (size_t i = facts->known.frames; good && i < frames->row_count; i++) {
        const struct frame_row *frame = &frames->rows[i];
        good = PUT(sink, WRITER_FRAME, value_number(i + 1), value_number(frame->module),
                   value_number(frame->pc), value_index(frame->function),
                   value_index(frame->source_file), value_line(frame->line),
                   value_number(frame->inlined), value_number(frame->bare));
    }
    return good;
}

static bool put_node(void *context, const struct stack_node_row *row)
{
    return PUT((const struct table_sink *)context, WRITER_STACK_NODE, value_number(row->id),
               value_number(row->parent), value_number(row->frame));
}

static bool put_run(void *context, const struct stack_run_row *row)
{
    return PUT((const struct table_sink *)context, WRITER_STACK_RUN, value_number(row->stack),
               value_number(row->depth), value_number(row->node), value_number(row->frames));
}

bool session_frames_put(const struct table_sink *sink, const struct session_facts *facts)
{
    struct table_sink to = *sink;
    return stack_nodes_each(facts->nodes, facts->stacks, put_node, &to) &&
           stack_nodes_runs(facts->nodes, facts->stacks, facts->known.stacks, put_run, &to);
}

/* Puts the reason why blocks of a stack are not leaks. Blocks of the runtime get no pattern. */
static bool put_runtime_stack(const struct table_sink *sink, const struct runtime_blocks *blocks,
                              const struct suppressor *suppressor, size_t stack,
                              uint64_t allocations)
{
    const char *kind = runtime_blocks_of(blocks, stack, allocations);
    const char *pattern = !kind && suppressor ? suppressor_of(suppressor, stack) : NULL;
    if (pattern)
        kind = "suppressed";
    return !kind || PUT(sink, WRITER_RUNTIME_STACK, value_number(stack), value_text(kind),
                        value_text(pattern));
}

static bool put_stacks(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct stacks *stacks = facts->stacks;
    struct runtime_blocks *blocks = runtime_blocks_new(stacks);
    struct suppressor *suppressor =
        facts->suppressions ? suppressor_new(facts->suppressions, stacks) : NULL;
    struct type_table *types = facts->replay->types;
    bool good = blocks && (suppressor || !facts->suppressions);
    for (size_t i = 0; good && i < stacks->count; i++) {
        const struct stack_row *row = &stacks->rows[i];
        const struct stack_usage usage = stack_usages_of(&facts->totals->stacks, i);
        const uint32_t node = stack_nodes_of(facts->nodes, row);
        const uint32_t owner = usage.allocations == 0
                                   ? 0
                                   : owners_find(&types->owners, types->types, stacks, (uint32_t)i);
        good = PUT(sink, WRITER_STACK, value_number(i), value_number(row->depth),
                   value_index(row->call_site_frame), value_index(row->function),
                   value_index(row->user_frame), owner ? value_number(owner) : value_null(),
                   value_text(stack_state_name(row->state)), value_number(usage.allocations),
                   value_number(usage.bytes), value_number(usage.live_count),
                   value_number(usage.live_bytes), value_number(usage.at_peak_count),
                   value_number(usage.at_peak_bytes), value_number(usage.peak_bytes),
                   value_number(usage.peak_ns), value_number(usage.lifetime_ns),
                   node ? value_number(node) : value_null());
        if (usage.allocations != 0)
            good = good && put_runtime_stack(sink, blocks, suppressor, i, usage.allocations);
    }
    for (size_t i = 0; good && i < types->owners.count; i++)
        good = PUT(sink, WRITER_OWNER, value_number(i + 1), value_text(types->owners.rows[i].name),
                   value_text(type_table_confidence_name(types->owners.rows[i].confidence)));
    suppressor_free(suppressor);
    runtime_blocks_free(blocks);
    return good;
}

struct summing {
    struct function_path path;
    const struct session_facts *facts;
};

static bool sum_node(void *context, const struct stack_node_row *row)
{
    struct summing *summing = context;
    const struct session_facts *facts = summing->facts;
    const struct stack_usage usage = stack_usages_of(&facts->totals->stacks, row->stack);
    const uint32_t function = facts->stacks->frames.rows[row->frame - 1].function + 1;
    return function_path_enter(&summing->path, row->id, row->parent, function,
                               row->stack ? &usage : NULL) &&
           !ingest_is_interrupted(facts->interrupted);
}

/* Sums up the functions on the stacks of a session that goes on: the nodes of earlier calls are not
 * visited again, so each stack is walked. */
static void sum_known(const struct session_facts *facts, struct function_sum *sums)
{
    const struct stacks *stacks = facts->stacks;
    for (size_t i = 0; i < stacks->count; i++) {
        const struct stack_usage usage = stack_usages_of(&facts->totals->stacks, i);
        struct stack_walk walk = stacks_walk(&stacks->rows[i]);
        for (uint32_t frame; (frame = stacks_walk_next(stacks, &walk)) != FRAMES_NONE;) {
            struct function_sum *sum = &sums[stacks->frames.rows[frame].function + 1];
            if (sum->open != i + 1)
                function_sum_add(sum, &usage);
            sum->open = (uint32_t)i + 1; /* here: the last stack that it was on, and one */
        }
    }
}

static bool sum_functions(const struct session_facts *facts, struct function_sum *sums)
{
    if (facts->known.stacks > 0) {
        sum_known(facts, sums);
        return true;
    }
    struct summing summing = {.path = {.sums = sums}, .facts = facts};
    const bool good = stack_nodes_inwards(facts->nodes, facts->stacks, sum_node, &summing);
    function_path_finish(&summing.path);
    return good;
}

bool session_functions_put(const struct table_sink *sink, const struct function_sum *sums,
                           size_t count, const struct totals *totals)
{
    bool good = true;
    for (size_t i = sums[0].count == 0; good && i < count; i++) {
        const struct stack_usage *self = &sums[i].self;
        const struct function_usage usage =
            i < totals->function_capacity ? totals->functions[i] : (struct function_usage){0};
        good = PUT(sink, WRITER_FUNCTION_TOTAL, value_number(i), value_number(self->bytes),
                   value_number(self->allocations), value_number(sums[i].bytes),
                   value_number(sums[i].count), value_number(self->live_bytes),
                   value_number(self->live_count), value_number(self->at_peak_bytes),
                   value_number(usage.peak_bytes), value_number(usage.short_lived));
    }
    return good;
}

static bool put_function_totals(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct stacks *stacks = facts->stacks;
    const struct totals *totals = facts->totals;
    size_t count = stacks->frames.function_count + 1;
    struct function_sum *sums = calloc(count, sizeof(*sums));
    bool good = sums && sum_functions(facts, sums);
    for (size_t i = 0; good && i < stacks->count; i++) {
        const struct stack_usage usage = stack_usages_of(&totals->stacks, i);
        function_sum_add_stack(sums, stacks_function(stacks, (uint32_t)i), &usage);
    }
    good = good && session_functions_put(sink, sums, count, totals);
    free(sums);
    return good;
}

static bool put_threads(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct threads *threads = &facts->scan->threads;
    bool good = true;
    for (size_t i = 0; good && i < threads->count; i++) {
        const struct thread_row *thread = &threads->rows[i];
        const struct thread_counts *counts = &facts->replay->threads[i];
        good = PUT(sink, WRITER_THREAD, value_number(thread->number),
                   thread->named ? value_number(thread->tid) : value_null(),
                   value_text(thread->named ? thread->name : NULL),
                   value_time(facts, thread->start_ticks), value_time(facts, thread->end_ticks),
                   value_number(counts->allocations), value_number(counts->frees),
                   value_number(counts->bytes));
    }
    return good;
}

static bool put_incidents(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct replay *replay = facts->replay;
    const struct problems *problems = facts->problems;
    bool good = true;
    for (size_t i = 0; good && i < replay->arena_count; i++) {
        const struct arena_row *arena = &replay->arenas[i];
        const struct kept_blocks kept = replay_kept(replay, arena);
        good = PUT(sink, WRITER_ARENA, value_number(arena->id), value_number(arena->parent),
                   value_text(arena->name), value_number(arena->allocations),
                   value_number(arena->objects), value_number(arena->bytes),
                   value_number(arena->live_count), value_number(arena->live_bytes),
                   value_number(arena->peak_bytes), value_number(arena->peak_ns),
                   value_number(arena->collected),
                   arena->runtime ? value_number(arena->runtime) : value_null(),
                   kept.known ? value_number((uint64_t)kept.ns) : value_null(),
                   value_number(kept.count), value_number(kept.bytes));
    }
    for (size_t i = 0; good && i < replay->collections.count; i++) {
        const struct collection_row *row = &replay->collections.rows[i];
        good =
            PUT(sink, WRITER_COLLECTION, value_number(i + 1), value_number(row->runtime),
                value_number(row->begin_ns), row->ended ? value_number(row->end_ns) : value_null(),
                value_number(row->count), value_number(row->bytes));
    }
    for (size_t i = 0; good && i < replay->mark_count; i++)
        good = PUT(sink, WRITER_MARK, value_number(i + 1), value_number(replay->marks[i].ns),
                   value_text(replay->marks[i].kind), value_text(replay->marks[i].name));
    for (size_t i = 0; good && i < replay->sample_count; i++)
        good = PUT(sink, WRITER_RSS, value_number(replay->samples[i].ns),
                   value_number(replay->samples[i].bytes));
    for (size_t i = 0; good && i < problems->kept_count; i++) {
        const struct problem *problem = &problems->kept[i];
        good = PUT(sink, WRITER_PROBLEM, value_number(i + 1),
                   value_text(problem_name(problem->kind)), value_known(problem->ns),
                   value_known(problem->address), value_known(problem->thread),
                   value_known(problem->byte_offset), value_text(problem->detail));
    }
    return good;
}

/* Returns "rwx", with dashes. Other bits are not shown. */
static const char *protection_name(uint32_t protection)
{
    static const char *const names[] = {"---", "r--", "-w-", "rw-", "--x", "r-x", "-wx", "rwx"};
    return names[protection & 7];
}

static bool put_heap_thread(const struct table_sink *sink, uint64_t id,
                            const struct trace_references_thread *thread)
{
    bool good = PUT(sink, WRITER_HEAP_THREAD, value_number(id), value_number(thread->tid),
                    value_number(thread->stack_pointer), value_number(thread->thread_pointer));
    for (size_t i = 0; good && i < thread->count; i++)
        good = PUT(sink, WRITER_HEAP_REGISTER, value_number(id), value_number(thread->tid),
                   value_number(i), value_number(thread->registers[i].number),
                   value_number(thread->registers[i].value));
    return good;
}

/* Returns the module that lay at the address when the snapshot was taken, or NULL. */
static const struct module_row *module_at(const struct session_facts *facts, uint64_t address,
                                          uint64_t ticks)
{
    for (size_t i = 0; i < facts->scan->module_count; i++) {
        const struct module_row *module = &facts->scan->modules[i];
        if (!module->runtime && address >= module->start && address < module->end &&
            module->loaded_ticks <= ticks &&
            (module->unloaded_ticks == THREAD_TIME_NONE || module->unloaded_ticks > ticks))
            return module;
    }
    return NULL;
}

/* A variable that a thread has for itself. */
struct local_variable {
    uint64_t start, end, tid;
    const char *name;
};

struct local_variables {
    struct local_variable *rows; /* by address */
    size_t count, capacity;
    size_t next; /* that may hold the next word */
};

/* Finds the variables of all threads. Only the program's own have a place that is known. */
static bool find_locals(const struct session_facts *facts, const struct heap_snapshot *snapshot,
                        struct symbols_variables *variables, struct local_variables *locals)
{
    const struct module_row *program = NULL;
    for (size_t i = 0; i < facts->scan->module_count; i++)
        if (strcmp(facts->scan->modules[i].path, facts->scan->process.exe) == 0)
            program = &facts->scan->modules[i];
    for (size_t i = 0; program && i < snapshot->thread_count; i++) {
        const struct trace_references_thread *thread = &snapshot->threads[i];
        struct symbols_place place;
        size_t at = 0;
        while (symbols_variables_local(variables, program->id, &at, &place)) {
            if (!ARRAY_RESERVE(locals->rows, locals->count, locals->capacity))
                return false;
            locals->rows[locals->count++] = (struct local_variable){
                thread->thread_pointer + place.start, thread->thread_pointer + place.end,
                thread->tid, place.name};
        }
    }
    if (locals->count != 0)
        qsort(locals->rows, locals->count, sizeof(*locals->rows), compare_uint64);
    return true;
}

/* Puts the variable of a thread in which the word lies, once. Words come in ascending order. */
static bool put_local(const struct table_sink *sink, uint64_t id, struct local_variables *locals,
                      uint64_t where)
{
    while (locals->next < locals->count && locals->rows[locals->next].end <= where)
        locals->next++;
    if (locals->next == locals->count || locals->rows[locals->next].start > where)
        return true;
    const struct local_variable *row = &locals->rows[locals->next++];
    return PUT(sink, WRITER_HEAP_VARIABLE, value_number(id), value_number(row->start),
               value_number(row->end - row->start), value_text(row->name), value_number(row->tid));
}

/* Puts the variables that words of the snapshot lie in, one after another. */
static bool put_heap_variables(const struct table_sink *sink, const struct session_facts *facts,
                               uint64_t id, const struct heap_snapshot *snapshot)
{
    struct symbols_variables *variables = symbols_variables_new(facts->stacks->frames.symbols);
    uint64_t until = 0; /* the end of the last one, or of where there is none */
    const struct module_row *module = NULL;
    struct local_variables locals = {.count = 0};
    bool good = variables != NULL && find_locals(facts, snapshot, variables, &locals);
    for (size_t i = 0, range = 0; good && i < snapshot->piece_count; i++) {
        const uint8_t *at = snapshot->pieces[i].bytes, *end = at + snapshot->pieces[i].length;
        struct trace_references_word word = {0};
        uint64_t count = 0;
        trace_get_varint(&at, end, &count);
        for (; good && count > 0 && trace_references_next(&at, end, &word); count--) {
            struct symbols_place place;
            good = put_local(sink, id, &locals, word.where);
            if (!good || word.where < until)
                continue;
            while (range < snapshot->mapping_count && snapshot->mappings[range].end <= word.where)
                range++;
            if (range == snapshot->mapping_count)
                break;
            const struct heap_snapshot_mapping *mapping = &snapshot->mappings[range];
            if (mapping->kind != TRACE_REFERENCES_DATA || mapping->start > word.where) {
                until = mapping->start > word.where ? mapping->start : mapping->end;
                continue;
            }
            if (!module || word.where < module->start || word.where >= module->end)
                module = module_at(facts, word.where, snapshot->ticks);
            if (!module)
                until = mapping->end;
            if (!module || !symbols_variables_find(variables, module->id,
                                                   word.where - module->load_bias, &place))
                continue;
            until = place.end + module->load_bias;
            good = PUT(sink, WRITER_HEAP_VARIABLE, value_number(id),
                       value_number(place.start + module->load_bias),
                       value_number(place.end - place.start), value_text(place.name), value_null());
        }
    }
    free(locals.rows);
    symbols_variables_free(variables);
    return good;
}

static bool put_heap_snapshot(const struct table_sink *sink, const struct session_facts *facts,
                              uint64_t id, const struct heap_snapshot *snapshot)
{
    static const char *const reasons[] = {
        [TRACE_REFERENCES_ASKED] = "asked",   [TRACE_REFERENCES_AT_END] = "end",
        [TRACE_REFERENCES_SIGNAL] = "signal", [TRACE_REFERENCES_MARK] = "mark",
        [TRACE_REFERENCES_TIME] = "time",
    };
    static const char *const kinds[] = {
        [TRACE_REFERENCES_HEAP] = "heap", [TRACE_REFERENCES_ANONYMOUS] = "anonymous",
        [TRACE_REFERENCES_DATA] = "data", [TRACE_REFERENCES_STACK] = "stack",
        [TRACE_REFERENCES_FILE] = "file",
    };
    const struct trace_references *begin = &snapshot->begin;
    bool good = PUT(
        sink, WRITER_HEAP_SNAPSHOT, value_number(id), value_time(facts, snapshot->ticks),
        value_text(reasons[begin->reason < sizeof(reasons) / sizeof(*reasons) ? begin->reason : 0]),
        value_text(*snapshot->name ? snapshot->name : NULL),
        value_number((begin->flags & TRACE_REFERENCES_PARTIAL) != 0),
        value_number(snapshot->end.threads), value_number(snapshot->end.stopped_ns),
        value_number(snapshot->end.bytes),
        value_number(begin->swapped + begin->shared + begin->unreadable),
        value_number(snapshot->words), value_text(heap_snapshot_why(snapshot)));
    for (size_t i = 0; good && i < snapshot->mapping_count; i++) {
        const struct heap_snapshot_mapping *mapping = &snapshot->mappings[i];
        const char *kind =
            mapping->kind < sizeof(kinds) / sizeof(*kinds) ? kinds[mapping->kind] : NULL;
        good = PUT(sink, WRITER_HEAP_RANGE, value_number(id), value_number(mapping->start),
                   value_number(mapping->end - mapping->start),
                   value_text(protection_name((uint32_t)mapping->protection)),
                   value_text(kind ? kind : "anonymous"), value_path(mapping->path),
                   value_number(mapping->offset));
    }
    for (size_t i = 0; good && i < snapshot->thread_count; i++)
        good = put_heap_thread(sink, id, &snapshot->threads[i]);
    for (size_t i = 0; good && i < snapshot->piece_count; i++)
        good = PUT(sink, WRITER_HEAP_WORDS, value_number(id), value_number(i),
                   value_blob(snapshot->pieces[i].bytes, snapshot->pieces[i].length));
    return good && put_heap_variables(sink, facts, id, snapshot);
}

static bool put_heap_snapshots(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct heap_snapshots *snapshots = &facts->scan->snapshots;
    bool good = true;
    for (size_t i = 0; good && i < snapshots->count; i++)
        good = put_heap_snapshot(sink, facts, i + 1, &snapshots->rows[i]);
    return good;
}

static bool put_inherited(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct replay *replay = facts->replay;
    bool good = true;
    for (size_t i = 0; good && i < replay->inherited_count; i++) {
        const struct inherited_free *row = &replay->inherited[i];
        good = PUT(sink, WRITER_INHERITED_FREE, value_number(i + 1), value_number(row->arena),
                   value_number(row->address), value_number(row->ns), value_number(row->thread),
                   value_number(row->stack),
                   row->realloc_to ? value_number(row->realloc_to) : value_null());
    }
    return good;
}

struct region_sink {
    const struct table_sink *sink;
    const struct regions *regions;
};

static bool put_region(void *context, const struct region_row *row, size_t position, bool live)
{
    const struct region_sink *to = context;
    return PUT(to->sink, WRITER_REGION, value_number(position + 1), value_number(row->mapping),
               value_number(row->address), value_number(row->size),
               value_text(protection_name(row->protection)),
               value_number((row->flags & REGION_SHARED) != 0),
               value_path(regions_file(to->regions, row)), value_number(row->offset),
               value_number(row->thread), value_number(row->stack), value_number(row->map_ns),
               live ? value_null() : value_number(row->unmap_ns),
               live ? value_null() : value_number(row->unmap_thread),
               row->moved_from ? value_number(row->moved_from) : value_null(),
               row->changed_from ? value_number(row->changed_from) : value_null(),
               live ? value_null() : value_number(row->unmap_stack),
               live || !row->resident ? value_null() : value_number(row->resident - 1));
}

static bool put_regions(const struct table_sink *sink, const struct session_facts *facts)
{
    struct region_sink to = {sink, &facts->replay->regions};
    return regions_each(to.regions, put_region, &to);
}

/* A number that is stored plus 1. */
static struct writer_value value_plus_1(uint64_t number)
{
    return number ? value_number(number - 1) : value_null();
}

static bool put_moment(const struct table_sink *sink, const struct residency_moment *moment,
                       uint64_t id, bool sums)
{
    bool good = PUT(sink, WRITER_RESIDENCY, value_number(id), value_number(moment->ns),
                    value_number(moment->begin_ns), value_number(moment->end_ns),
                    value_text(residency_reason_name(moment->reason)), value_text(moment->mark),
                    value_number(moment->rss_before), value_number(moment->rss_after),
                    value_number(moment->present), value_number(moment->swapped),
                    value_number(moment->zero_known), value_number(moment->coarse),
                    value_text(heap_allocator_name(moment->allocator)), value_number(moment->huge),
                    value_number(moment->live_huge), value_plus_1(moment->pss),
                    value_plus_1(moment->lazy_free), value_plus_1(moment->cgroup),
                    value_plus_1(moment->cgroup_limit));
    for (size_t i = 0; good && i < moment->row_count; i++) {
        const struct residency_row *row = &moment->rows[i];
        good =
            PUT(sink, WRITER_RESIDENCY_CLASS, value_number(id),
                value_text(residency_class_name(row->class)),
                row->class == RESIDENCY_FILES ? value_path(row->detail) : value_text(row->detail),
                value_number(row->bytes),
                row->blocks == RESIDENCY_NO_BLOCKS ? value_null() : value_number(row->blocks),
                value_number(row->class < RESIDENCY_IN_RSS));
    }
    for (size_t i = 0; good && sums && i < moment->sum_count; i++) {
        uint64_t numbers[RESIDENCY_SUM_VALUES];
        struct writer_value row[RESIDENCY_SUM_VALUES];
        residency_sum_values(&moment->sums[i], id, numbers);
        for (size_t k = 0; k < RESIDENCY_SUM_VALUES; k++)
            row[k] = value_number(numbers[k]);
        good = sink->put(sink->context, WRITER_RESIDENCY_STACK, row, RESIDENCY_SUM_VALUES);
    }
    for (size_t i = 0; good && i < moment->piece_count; i++)
        good = PUT(sink, WRITER_RESIDENCY_RUN, value_number(id), value_number(i),
                   value_blob(moment->coded + moment->pieces[i].start, moment->pieces[i].length));
    return good;
}

/* Returns why there is no moment of the process, or NULL. It may be written into `out`. */
static const char *no_moment(const struct session_facts *facts, char *out, size_t size)
{
    static const char *const reasons[] = {
        [TRACE_NO_RESIDENT_OFF] = "it was recorded with --residency=off",
        [TRACE_NO_RESIDENT_RIGHTS] = "mprof-run had no right to look at the process",
        [TRACE_NO_RESIDENT_PROC] = "the kernel does not tell (/proc/PID/pagemap)",
        [TRACE_NO_RESIDENT_CONFINED] = "mprof-run ran under a filter of system calls",
    };
    const struct trace_scan *scan = facts->scan;
    const struct residency *residency = facts->replay->residency;
    if (residency && residency->moment_count > 0)
        return NULL;
    if (facts->imported)
        return "it is the recording of another profiler";
    if (scan->moments > 0 && facts->replay->sampled)
        return "the recording is a sample: blocks that it left out would look like holes";
    if (scan->moments > 0)
        return "the records of its pages are damaged";
    if (scan->no_resident > 0 && scan->no_resident < sizeof(reasons) / sizeof(*reasons))
        return reasons[scan->no_resident];
    const uint32_t unrecorded = trace_file_header(facts->file)->unrecorded;
    if (unrecorded) {
        snprintf(out, size, "the program is not recorded: %s", trace_unrecorded_text(unrecorded));
        return out;
    }
    return "nobody looked from outside: it was recorded without mprof-run, or was too short";
}

static bool put_residency(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct residency *residency = facts->replay->residency;
    char left_out[128], reason[128];
    const char *why = no_moment(facts, reason, sizeof(reason));
    bool good = !why || PUT(sink, WRITER_RESIDENCY_MISSING, value_text(why));
    if (good && residency && residency->left_out != 0) {
        snprintf(left_out, sizeof(left_out),
                 "%" PRIu64 " of its moments have no ledger: nobody asked for them, and all would "
                 "take too long",
                 residency->left_out);
        good = PUT(sink, WRITER_RESIDENCY_MISSING, value_text(left_out));
    }
    for (size_t i = facts->known.moments; good && residency && i < residency->moment_count; i++)
        good = put_moment(sink, &residency->moments[i], i + 1, !facts->moment_sums_put);
    return good;
}

static bool put_free_calls(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct free_calls *calls = &facts->replay->free_calls;
    bool good = true;
    for (size_t i = 0; good && i < facts->stacks->count; i++) {
        const char *name = free_calls_name(calls, (uint32_t)i);
        if (name)
            good = PUT(sink, WRITER_FREE_CALL, value_number(i), value_text(name));
    }
    for (size_t i = 0; good && i < calls->count; i++) {
        const struct mismatch_row *row = &calls->rows[i];
        good = PUT(sink, WRITER_MISMATCH, value_number(row->stack), value_number(row->kind),
                   value_number(row->free_stack), value_text(row->function),
                   value_number(row->allocations), value_number(row->bytes));
    }
    const struct wrong_sizes *sizes = &facts->replay->wrong_sizes;
    for (size_t i = 0; good && i < sizes->count; i++) {
        const struct wrong_size_row *row = &sizes->rows[i];
        good = PUT(sink, WRITER_WRONG_SIZE, value_number(row->stack), value_number(row->free_stack),
                   value_number(row->size), value_number(row->stated_size),
                   value_number(row->allocations));
    }
    return good;
}

static bool put_earlier(const struct table_sink *sink, const struct session_facts *facts)
{
    const struct earlier *earlier = &facts->replay->earlier;
    bool good = true;
    for (size_t i = 0; good && i < earlier->row_count; i++)
        good = PUT(sink, WRITER_EARLIER_BLOCK, value_number(earlier->rows[i].row),
                   value_number(earlier->rows[i].before_ns));
    return good;
}

bool session_timeline_put(const struct table_sink *sink, const struct totals *totals,
                          uint32_t machine)
{
    bool good = true;
    for (size_t i = 0; good && i < totals->slot_count; i++) {
        const struct timeline_slot *slot = &totals->slots[i];
        good = PUT(sink, WRITER_TIMELINE, value_number(machine), value_number(i),
                   value_number(slot->live_bytes), value_number(slot->live_count),
                   value_number(slot->peak_bytes), value_number(slot->allocated_bytes),
                   value_number(slot->allocated_count), value_number(slot->freed_bytes),
                   value_number(slot->freed_count));
    }
    return good;
}

bool session_sizes_put(const struct table_sink *sink, const struct totals *totals)
{
    bool good = true;
    for (size_t i = 0; good && i < totals->size_count; i++) {
        const struct size_row *row = &totals->sizes[i];
        if (row->allocations == 0)
            continue; /* a size of arenas only */
        good = PUT(sink, WRITER_SIZE_BIN, value_number(row->size), value_number(row->allocations),
                   value_number(row->frees), value_number(row->allocations - row->frees),
                   value_number(row->at_peak_count));
    }
    return good;
}

/* Returns how many allocations a recorded one represents (trace-format.md, "Sampling"). */
static double sample_weight(uint64_t size, uint64_t interval)
{
    return -1.0 / expm1(-(double)(size ? size : 1) / (double)interval);
}

static bool put_sample_weights(const struct table_sink *sink, const struct session_facts *facts)
{
    const uint64_t interval = trace_file_header(facts->file)->sample_interval;
    bool good = true;
    for (size_t i = 0; good && interval != 0 && i < facts->totals->size_count; i++) {
        const uint64_t size = facts->totals->sizes[i].size;
        good = PUT(sink, WRITER_SAMPLE_WEIGHT, value_number(size),
                   value_real(sample_weight(size, interval)));
    }
    return good;
}

struct session_known session_tables_known(const struct session_facts *facts)
{
    const struct frames *frames = &facts->stacks->frames;
    const struct type_table *types = facts->replay->types;
    return (struct session_known){frames->source_file_count,
                                  frames->function_count,
                                  frames->row_count,
                                  facts->stacks->count,
                                  types->count,
                                  types->unknown_count,
                                  facts->replay->residency ? facts->replay->residency->moment_count
                                                           : 0};
}

bool session_tables_put(const struct table_sink *sink, const struct session_facts *facts)
{
    return put_modules(sink, facts) && put_names(sink, facts) && put_stacks(sink, facts) &&
           (facts->of_run || put_function_totals(sink, facts)) && put_threads(sink, facts) &&
           put_incidents(sink, facts) && put_heap_snapshots(sink, facts) &&
           put_inherited(sink, facts) && put_earlier(sink, facts) && put_regions(sink, facts) &&
           put_residency(sink, facts) && put_free_calls(sink, facts) &&
           session_timeline_put(sink, facts->totals, 1) && session_sizes_put(sink, facts->totals) &&
           session_slots_put(sink, facts->totals->slot_sums) && session_types_put(sink, facts) &&
           session_meta_put(sink, facts) && put_sample_weights(sink, facts);
}
