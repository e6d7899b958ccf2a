/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/extended.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ingest/replay/blocks.h"
#include "ingest/replay/earlier.h"

static bool add_mark(struct replay *replay, const char *kind, struct trace_text name)
{
    if (!array_reserve(&replay->marks, &replay->mark_capacity, replay->mark_count + 1,
                       sizeof(*replay->marks)))
        return false;
    struct mark_row *mark = &replay->marks[replay->mark_count++];
    *mark = (struct mark_row){.ns = replay->now_ns, .kind = kind};
    if (name.bytes)
        mark->name = strndup(name.bytes, name.length);
    return !name.bytes || mark->name;
}

static bool add_sample(struct replay *replay, const struct trace_event *event)
{
    const uint64_t bytes = event->extension->resident;
    if (bytes > REPLAY_LARGEST_SIZE) {
        replay_problem(replay, event, PROBLEM_RECORD, 0,
                       "a resident size that no process can have: left out");
        return true;
    }
    if (!array_reserve(&replay->samples, &replay->sample_capacity, replay->sample_count + 1,
                       sizeof(*replay->samples)))
        return false;
    replay->samples[replay->sample_count++] = (struct rss_row){replay->now_ns, bytes};
    return true;
}

static bool map_region(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    uint32_t stack = replay_stack(replay, event, extension->stack);
    const struct region_row row = {.address = extension->address,
                                   .size = extension->size,
                                   .map_ns = replay->now_ns,
                                   .protection = (uint32_t)extension->protection,
                                   .flags = (uint32_t)extension->flags,
                                   .offset = extension->offset,
                                   .moved_from = extension->old_address,
                                   .thread = event->thread,
                                   .stack = stack};
    return stack != INDEX_NONE &&
           regions_map(&replay->regions, &row, extension->name.bytes, extension->name.length);
}

static bool unmap_region(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    const struct region_end by = {.ns = replay->now_ns,
                                  .resident = extension->resident,
                                  .thread = event->thread,
                                  .stack = replay_stack(replay, event, extension->stack)};
    return by.stack != INDEX_NONE &&
           regions_unmap(&replay->regions, extension->address, extension->size, &by);
}

static bool protect_region(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    const struct region_row row = {.address = extension->address,
                                   .size = extension->size,
                                   .map_ns = replay->now_ns,
                                   .protection = (uint32_t)extension->protection,
                                   .thread = event->thread,
                                   .stack = replay_stack(replay, event, extension->stack)};
    const uint64_t left_out = replay->regions.left_out;
    if (row.stack == INDEX_NONE || !regions_protect(&replay->regions, &row))
        return false;
    if (replay->regions.left_out != left_out)
        replay_problem(replay, event, PROBLEM_RECORD, row.address,
                       "a change of protection over too many mappings: left out");
    return true;
}

/* Gives a block of the heap the type that the program named. 0: it could not be found, so the rules
 * tell the type as before. */
static bool rename_block(struct replay *replay, struct live_block *block, uint32_t type)
{
    const struct totals_block counted = replay_counted(replay, block);
    block->named = type != 0;
    if (type == 0)
        type = type_table_find(replay->types, block->stack, block->size, block->kind).type;
    block->type = type;
    return totals_rename(replay->totals, &counted, type);
}

/* Sets the type of a block that the program names. Ignores a block that is not live, for example
 * one that was allocated during a pause. */
static bool name_type(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    struct live_table *table = replay_blocks(replay, extension->arena);
    struct live_block *block = !table ? NULL : live_table_find(table, extension->address);
    if (!table || (block && block->state != BLOCK_LIVE))
        return true;
    if (!block)
        return false;
    uint64_t count = extension->count, size = extension->size;
    const uint32_t counted = block->type_by_rules ? 1 : block->count;
    block->type_by_rules = block->unknown_listed = false;
    if (count == 0)
        count = size == 0 || size > block->size ? counted : block->size / size;
    else if (size == 0)
        size = block->size / count;
    block->count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
    if (extension->module > UINT32_MAX)
        return true;
    const struct module_row *module = trace_scan_module(replay->scan, (uint32_t)extension->module);
    const uint32_t type =
        module && module->runtime
            ? replay_kind(replay, extension->symbol)
            : type_table_named(replay->types, (uint32_t)extension->module, extension->symbol, size);
    if (block->arena == 0)
        return rename_block(replay, block, type);
    block->type = type;
    return true;
}

/* Compares the size that an operator delete states with the block's. Skips blocks that are not
 * live, and all blocks if the clock is fast. */
static bool compare_size(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    const struct live_block *block = live_table_find(&replay->heap, extension->address);
    char detail[80];
    if (!block)
        return false;
    if (replay->fast_clock || block->state != BLOCK_LIVE ||
        wrong_sizes_fit(block->size, extension->size, extension->alignment))
        return true;
    const struct wrong_size_row row = {.stack = block->stack,
                                       .free_stack = replay_stack(replay, event, extension->stack),
                                       .size = block->size,
                                       .stated_size = extension->size};
    if (row.free_stack == INDEX_NONE)
        return false;
    snprintf(detail, sizeof(detail), "%" PRIu64 " bytes, deleted as %" PRIu64, row.size,
             row.stated_size);
    replay_problem(replay, event, PROBLEM_WRONG_SIZE, extension->address, detail);
    return wrong_sizes_add(&replay->wrong_sizes, &row);
}

static bool mark_collection(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    const uint32_t id = extension->module <= UINT32_MAX ? (uint32_t)extension->module : 0;
    const struct module_row *module = id ? trace_scan_module(replay->scan, id) : NULL;
    if (module && module->runtime && extension->earlier) {
        const int64_t before_ns = (int64_t)replay_before_ns(replay, event, extension->age);
        const bool noted = extension->begins == TRACE_COLLECTION_BEFORE
                               ? collections_before(&replay->collections, id, before_ns)
                               : collections_go_on(&replay->collections, id, before_ns);
        return noted && replay_collected_before(replay, extension->arena, id);
    }
    if (module && module->runtime && extension->begins <= TRACE_COLLECTION_BEGINS)
        return collections_mark(&replay->collections, id,
                                extension->begins == TRACE_COLLECTION_BEGINS, replay->now_ns);
    replay_problem(replay, event, PROBLEM_RECORD, 0,
                   extension->begins > TRACE_COLLECTION_BEFORE
                       ? "a collection in a state that is not known"
                       : "a collection of a runtime that is not known");
    return true;
}

bool replay_autosave(struct replay *replay)
{
    static const struct trace_text name = {"autosave", 8};
    replay->until_autosave = replay->autosave;
    return add_mark(replay, "snapshot", name);
}

/* Begins again to record completely: until now, calls of a module were not recorded. */
static void resume_after_bypass(struct replay *replay)
{
    if (!replay->paused_before || replay->resumed_ns <= replay->now_ns)
        replay->resumed_ns = replay->now_ns;
    replay->paused_before = true;
}

static void note_dropped(struct replay *replay, const struct trace_event *event)
{
    char detail[80];
    snprintf(detail, sizeof(detail), "%" PRIu64 " events: %s", event->extension->count,
             event->extension->reason == TRACE_DROP_REENTRANT
                 ? "inside another event, by the allocator or a handler"
             : event->extension->reason == TRACE_DROP_NO_THREAD
                 ? "the thread had no state of the recorder"
                 : "for an unknown reason");
    replay_problem(replay, event, PROBLEM_DROPPED, 0, detail);
}

static void note_failed(struct replay *replay, const struct trace_event *event)
{
    char detail[80];
    replay->failed_allocations++;
    snprintf(detail, sizeof(detail), "%" PRIu64 " bytes were asked for", event->extension->size);
    replay_problem(replay, event, PROBLEM_FAILED, 0, detail);
}

bool replay_extended(struct replay *replay, const struct trace_event *event)
{
    static const struct trace_text unnamed = {NULL, 0};
    const struct trace_extension *extension = event->extension;
    switch (extension->type) {
    case TRACE_EXT_ARENA:
    case TRACE_EXT_ARENA_ALLOC:
    case TRACE_EXT_ARENA_REALLOC:
    case TRACE_EXT_ARENA_FREE:
    case TRACE_EXT_ARENA_RESET:
        return replay_arena(replay, event);
    case TRACE_EXT_AUTOSAVE:
        replay->autosave = extension->count;
        replay->until_autosave = extension->count;
        return true;
    case TRACE_EXT_MARK:
        return add_mark(replay, "mark", extension->name);
    case TRACE_EXT_SNAPSHOT:
        return add_mark(replay, "snapshot", extension->name);
    case TRACE_EXT_RECORDING:
        replay->paused_before = true;
        replay->resumed_ns = extension->resumed ? replay->now_ns : UINT64_MAX;
        return add_mark(replay, extension->resumed ? "resume" : "pause", unnamed);
    case TRACE_EXT_BYPASS:
        if (extension->reason == TRACE_BYPASS_LATE)
            resume_after_bypass(replay);
        return true;
    case TRACE_EXT_COLLECTION:
        return mark_collection(replay, event);
    case TRACE_EXT_BEFORE:
        replay->before_known = true;
        replay->before_bytes = extension->size;
        return true;
    case TRACE_EXT_RSS:
        return add_sample(replay, event);
    case TRACE_EXT_DROPPED:
        note_dropped(replay, event);
        return true;
    case TRACE_EXT_FAILED:
        note_failed(replay, event);
        return true;
    case TRACE_EXT_MAP:
        return map_region(replay, event);
    case TRACE_EXT_UNMAP:
        return unmap_region(replay, event);
    case TRACE_EXT_PROTECT:
        return protect_region(replay, event);
    case TRACE_EXT_SIZED_DELETE:
        return compare_size(replay, event);
    case TRACE_EXT_TYPE:
        return name_type(replay, event);
    case TRACE_EXT_LIVE:
        return replay_earlier(replay, event);
    default:
        return true;
    }
}
