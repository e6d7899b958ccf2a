/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/session_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/status.h"
#include "ingest/replay/extended.h"
#include "ingest/replay/runtime_blocks.h"
#include "ingest/write/function_sum.h"

#define PUT(sink, table, ...)                                                                      \
    (sink)->put((sink)->context, (table), (const struct writer_value[]){__VA_ARGS__},              \
                sizeof((const struct writer_value[]){__VA_ARGS__}) / sizeof(struct writer_value))

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
        const char *slash = strrchr(module->path, '/');
        char *build_id = calloc(module->build_id_length * 2 + 1, 1);
        if (!build_id)
            return false;
        for (size_t k = 0; k < module->build_id_length; k++)
            snprintf(build_id + 2 * k, 3, "%02x", module->build_id[k]);
        good = PUT(sink, WRITER_MODULE, value_number(module->id), value_path(module->path),
                   value_text(slash ? slash + 1 : module->path),
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

/* Adds the stacks without frames and what is the call sites' own. */
static void add_call_site(struct function_sum *sums, const struct stacks *stacks, size_t stack,
                          const struct stack_usage *usage)
{
    if (stacks->rows[stack].function == FRAMES_NONE)
        function_sum_add(&sums[0], usage);
    function_sum_add_self(&sums[stacks_function(stacks, (uint32_t)stack)], usage);
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

/* Sums up the functions on the stacks. */
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
        add_call_site(sums, stacks, i, &usage);
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

/* Returns "rwx", with dashes. Other bits are not shown. */
static const char *protection_name(uint32_t protection)
{
    static const char *const names[] = {"---", "r--", "-w-", "rw-", "--x", "r-x", "-wx", "rwx"};
    return names[protection & 7];
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

/* Returns how many allocations a recorded one of `size` bytes represents (trace-format.md,
 * "Sampling"). */
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
    return (struct session_known){
        frames->source_file_count, frames->function_count, frames->row_count,
        facts->stacks->count,      types->count,           types->unknown_count};
}

bool session_tables_put(const struct table_sink *sink, const struct session_facts *facts)
{
    return put_modules(sink, facts) && put_names(sink, facts) && put_stacks(sink, facts) &&
           (facts->of_run || put_function_totals(sink, facts)) && put_threads(sink, facts) &&
           put_incidents(sink, facts) && put_inherited(sink, facts) && put_earlier(sink, facts) &&
           put_regions(sink, facts) && put_free_calls(sink, facts) &&
           session_timeline_put(sink, facts->totals, 1) && session_sizes_put(sink, facts->totals) &&
           session_slots_put(sink, facts->totals->slot_sums) && session_types_put(sink, facts) &&
           session_meta_put(sink, facts) && put_sample_weights(sink, facts);
}
