/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/extended.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/replay/blocks.h"
#include "schemas/session_ids.h"

/* ---- arena --------------------------------------------------------------------------------- */

/* Replays the events of custom allocators: arenas and their blocks.
 *
 * A block is identified by its arena and its address, because an arena's first block may have the
 * address of the heap block that it was cut from. A reset frees all blocks of an arena and of the
 * arenas that get their memory from it. It only visits arenas that may have live blocks: an arena
 * is put into its parent's list when it gives out a block, and the parent's reset takes it out.
 * Arenas whose parents form a circle lie in each other. */

/* Parents of an arena whose reset ends its blocks. Each reset takes this many arenas out of the
 * lists at most for each block that was given out since the last one. */
enum { PARENTS_MAX = 1000 };

enum { KIND_ARENA = 11 };

/* Returns the row of the arena, or ARENA_NO_ROW if there is none yet. */
static uint32_t known_arena(const struct replay *replay, uint64_t id, uint64_t hash)
{
    INDEX_MAP_EACH(&replay->arena_by_id, hash, index)
        if (replay->arenas[index].id == id)
            return index;
    return ARENA_NO_ROW;
}

void replay_prefetch_arena(const struct replay *replay, const struct trace_record *record)
{
    if (replay->arena_count == 0 || replay->arenas[replay->last_arena].id != record->block.arena)
        return;
    live_table_prefetch(&replay->arenas[replay->last_arena].blocks, record->address);
    if (record->extended.type == TRACE_EXT_ARENA_ALLOC)
        stacks_prefetch_node(replay->stacks, record->stack);
}

/* Returns the blocks of an arena, or of the heap for 0. NULL if there is no such arena. */
static struct live_table *replay_blocks(struct replay *replay, uint64_t arena)
{
    if (arena == 0)
        return &replay->heap;
    uint32_t index = known_arena(replay, arena, hash_combine(hash_seed(), arena));
    return index == ARENA_NO_ROW ? NULL : &replay->arenas[index].blocks;
}

/* Returns the row of the arena, a new one if there is none: an arena need not have a name.
 * ARENA_NO_ROW if memory is exhausted. */
static uint32_t find_arena(struct replay *replay, uint64_t id)
{
    if (replay->arena_count != 0 && replay->arenas[replay->last_arena].id == id)
        return replay->last_arena;
    uint64_t hash = hash_combine(hash_seed(), id);
    uint32_t index = known_arena(replay, id, hash);
    if (index != ARENA_NO_ROW)
        return replay->last_arena = index;
    index = (uint32_t)replay->arena_count;
    if (index == ARENA_NO_ROW ||
        !ARRAY_RESERVE(replay->arenas, replay->arena_count, replay->arena_capacity) ||
        !index_map_insert(&replay->arena_by_id, hash, index))
        return ARENA_NO_ROW;
    replay->arenas[replay->arena_count++] = (struct arena_row){
        .id = (uint32_t)id, .first_child = ARENA_NO_ROW, .next_sibling = ARENA_NO_ROW};
    return replay->last_arena = index;
}

/* Puts the arena, and the arenas that it lies in, into the lists of their parents. */
static bool list_arena(struct replay *replay, const struct trace_event *event, uint32_t index)
{
    for (int parents = 0; !replay->arenas[index].listed; parents++) {
        if (parents == PARENTS_MAX) {
            replay_problem(replay, event, PROBLEM_RECORD, event->extension->address,
                           "its arena lies in more than 1000 others");
            break;
        }
        struct arena_row *arena = &replay->arenas[index];
        uint32_t parent_id = arena->parent;
        arena->listed = true;
        if (parent_id == 0)
            break;
        uint32_t parent = find_arena(replay, parent_id);
        if (parent == ARENA_NO_ROW)
            return false;
        replay->arenas[index].next_sibling = replay->arenas[parent].first_child;
        replay->arenas[parent].first_child = index;
        index = parent;
    }
    return true;
}

static bool end_block(struct replay *replay, struct arena_row *arena, struct live_block *block,
                      uint32_t thread, uint32_t free_stack, uint64_t *row)
{
    live_table_release(&arena->blocks, block);
    arena->live_count--;
    arena->live_bytes -= block->size;
    *row = replay_put_row(replay, block, replay->now_ns - block->alloc_ns + 1, thread, free_stack);
    block->alloc_ns = replay->now_ns;
    return *row != 0;
}

static void count_block(struct replay *replay, struct arena_row *arena,
                        const struct live_block *block)
{
    arena->allocations++;
    arena->objects += block->count;
    arena->bytes += block->size;
    arena->live_count++;
    arena->live_bytes += block->size;
    if (arena->live_bytes > arena->peak_bytes) {
        arena->peak_bytes = arena->live_bytes;
        arena->peak_ns = replay->now_ns;
    }
}

/* Allocates a block. `realloc_of` is the row of the block that this one was, 0: none. `type` is the
 * type of that one. */
static bool allocate_block(struct replay *replay, uint32_t index, const struct trace_event *event,
                           uint64_t realloc_of, uint32_t type)
{
    const struct trace_extension *extension = event->extension;
    if (!list_arena(replay, event, index))
        return false;
    struct arena_row *arena = &replay->arenas[index];
    uint32_t stack = replay_stack(replay, event, extension->stack);
    struct live_block *block = live_table_find(&arena->blocks, extension->address);
    uint64_t row;
    if (!block || stack == INDEX_NONE)
        return false;
    if (block->state == BLOCK_LIVE) {
        replay_problem(replay, event, PROBLEM_OVERLAP, extension->address,
                       "allocated while it was live in its arena");
        if (!end_block(replay, arena, block, 0, 0, &row))
            return false;
    }
    live_table_claim(&arena->blocks, block);
    block->address = extension->address;
    block->size = replay_size(replay, event, extension->size);
    block->alloc_ns = replay->now_ns;
    block->realloc_of = realloc_of;
    block->order = replay->events;
    block->count = extension->count > UINT32_MAX ? UINT32_MAX : (uint32_t)extension->count;
    block->stack = stack;
    block->thread = event->thread;
    block->arena = arena->id;
    block->kind = KIND_ARENA;
    block->type = type;
    block->alignment = 0;
    count_block(replay, arena, block);
    /* A sampled block's weight depends on its size. */
    if (replay->sampled && !totals_know_size(replay->totals, block->size))
        return false;
    return true;
}

static bool is_collected(const struct trace_extension *extension)
{
    return extension->type == TRACE_EXT_ARENA_FREE && extension->reason == TRACE_FREED_BY_COLLECTOR;
}

/* Notes that a garbage collector took a block of the arena. Returns the stack of its free, or
 * INDEX_NONE if memory is exhausted. */
static uint32_t note_collected(struct replay *replay, struct arena_row *arena, uint64_t size)
{
    const uint32_t runtime = collections_take(&replay->collections, arena->runtime, size);
    arena->collected++;
    if (runtime)
        arena->runtime = runtime;
    return stacks_collector(replay->stacks);
}

/* Frees a block. *row is the row of the block that was ended, 0 if there was none. */
static bool release_block(struct replay *replay, uint32_t index, const struct trace_event *event,
                          uint64_t address, uint64_t *row)
{
    struct arena_row *arena = &replay->arenas[index];
    struct live_block *block = live_table_find(&arena->blocks, address);
    uint32_t free_stack = 0;
    *row = 0;
    if (!block)
        return false;
    const bool inherited = replay->forked && block->state == BLOCK_EMPTY;
    if (block->state != BLOCK_LIVE && replay_may_be_unseen(replay, block)) {
        replay->unseen_frees++;
        return true;
    }
    if ((block->state == BLOCK_LIVE || inherited) && is_collected(event->extension))
        free_stack = note_collected(replay, arena, inherited ? 0 : block->size);
    if (free_stack == INDEX_NONE)
        return false;
    if (block->state == BLOCK_LIVE)
        return end_block(replay, arena, block, event->thread, free_stack, row);
    if (inherited) {
        const struct inherited_free noted = {.address = address,
                                             .ns = replay->now_ns,
                                             .arena = arena->id,
                                             .thread = event->thread,
                                             .stack = free_stack};
        *row = replay_inherit(replay, &arena->blocks, block, &noted);
        return *row != 0;
    }
    replay_problem(replay, event,
                   block->state == BLOCK_FREED ? PROBLEM_DOUBLE_FREE : PROBLEM_UNMATCHED_FREE,
                   address, "free of a block that is not live in its arena");
    return true;
}

/* Returns the type of the block at `address`. 0: it is not known, or there is no block. */
static uint32_t type_at(struct replay *replay, uint32_t index, uint64_t address)
{
    const struct live_block *block = live_table_find(&replay->arenas[index].blocks, address);
    return block && block->state == BLOCK_LIVE ? block->type : 0;
}

/* Returns the type that a kind of a runtime names. 0: none. */
static uint32_t replay_kind(struct replay *replay, uint64_t kind)
{
    const char *name = kind ? runtimes_kind(&replay->scan->runtimes, kind) : NULL;
    return name && name[0] ? type_table_kind(replay->types, name) : 0;
}

static bool reset_blocks(struct replay *replay, struct arena_row *arena, uint32_t thread)
{
    const struct live_block *block;
    bool good = true;
    uint64_t row;
    for (size_t at = 0; good && (block = live_table_next(&arena->blocks, &at));) {
        struct live_block ended = *block; /* not in the table, which goes */
        good = end_block(replay, arena, &ended, thread, 0, &row);
    }
    /* The next reset must not go through this table again. */
    live_table_clear(&arena->blocks);
    return good;
}

/* Resets an arena and those under it. next_sibling links arenas still to be reset. */
static bool reset_arena(struct replay *replay, uint32_t index, uint32_t thread)
{
    uint32_t todo = ARENA_NO_ROW;
    bool good = true;
    for (;;) {
        struct arena_row *arena = &replay->arenas[index];
        uint32_t child = arena->first_child;
        good = good && reset_blocks(replay, arena, thread);
        arena->first_child = ARENA_NO_ROW;
        while (child != ARENA_NO_ROW) {
            struct arena_row *below = &replay->arenas[child];
            uint32_t next = below->next_sibling;
            below->listed = false;
            below->next_sibling = todo;
            todo = child;
            child = next;
        }
        if (todo == ARENA_NO_ROW)
            return good;
        index = todo;
        todo = replay->arenas[index].next_sibling;
        replay->arenas[index].next_sibling = ARENA_NO_ROW;
    }
}

/* Returns true if there can be an arena `id`, given the known ones. If not, the record is damaged.
 */
static bool possible(const struct replay *replay, uint64_t id)
{
    return session_id_possible(id, replay->arena_count + 1);
}

static bool name_arena(const struct replay *replay, struct arena_row *arena,
                       const struct trace_extension *extension)
{
    /* If it is named twice, it keeps its first parent. Without a parent it is in no list. */
    if (arena->parent == 0) {
        arena->parent = possible(replay, extension->parent) ? (uint32_t)extension->parent : 0;
        arena->listed = false;
    }
    free(arena->name);
    arena->name = strndup(extension->name.bytes, extension->name.length);
    return arena->name != NULL;
}

bool replay_arena(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    uint64_t row = 0;
    uint32_t type;
    if (extension->arena == 0 || !possible(replay, extension->arena)) {
        replay_problem(replay, event, PROBLEM_RECORD, extension->address, "no such arena");
        return true;
    }
    uint32_t index = find_arena(replay, extension->arena);
    if (index == ARENA_NO_ROW)
        return false;
    replay->events +=
        extension->type != TRACE_EXT_ARENA && extension->type != TRACE_EXT_ARENA_RESET;
    switch (extension->type) {
    case TRACE_EXT_ARENA:
        return name_arena(replay, &replay->arenas[index], extension);
    case TRACE_EXT_ARENA_ALLOC:
        return allocate_block(replay, index, event, 0, replay_kind(replay, extension->block_kind));
    case TRACE_EXT_ARENA_REALLOC:
        /* The block keeps its contents, and so its type. */
        type = type_at(replay, index, extension->old_address);
        return release_block(replay, index, event, extension->old_address, &row) &&
               allocate_block(replay, index, event, row, type);
    case TRACE_EXT_ARENA_FREE:
        return release_block(replay, index, event, extension->address, &row);
    default:
        return reset_arena(replay, index, event->thread);
    }
}

/* Notes that collections of the runtime took blocks of the arena before the trace began. False if
 * memory is exhausted. */
static bool replay_collected_before(struct replay *replay, uint64_t arena, uint32_t runtime)
{
    if (arena == 0 || !possible(replay, arena))
        return true;
    const uint32_t index = find_arena(replay, arena);
    if (index == ARENA_NO_ROW)
        return false;
    replay->arenas[index].collected_before = true;
    replay->arenas[index].runtime = runtime;
    return true;
}

struct kept_blocks replay_kept(const struct replay *replay, const struct arena_row *arena)
{
    struct kept_blocks kept = {.count = arena->live_count, .bytes = arena->live_bytes};
    const struct live_block *block;
    if ((arena->collected == 0 && !arena->collected_before) ||
        !collections_last(&replay->collections, arena->runtime, &kept.ns))
        return kept;
    kept.known = true;
    kept.count = kept.bytes = 0;
    for (size_t at = 0; (block = live_table_next(&arena->blocks, &at));) {
        if ((int64_t)block->alloc_ns - (int64_t)replay_earlier_ns(replay, block) > kept.ns)
            continue;
        kept.count++;
        kept.bytes += block->size;
    }
    return kept;
}

/* ---- extended ------------------------------------------------------------------------------ */

static bool add_mark(struct replay *replay, const char *kind, struct trace_text name)
{
    if (!ARRAY_RESERVE(replay->marks, replay->mark_count, replay->mark_capacity))
        return false;
    struct mark_row *mark = &replay->marks[replay->mark_count++];
    *mark = (struct mark_row){.ns = replay->now_ns, .kind = kind};
    if (name.bytes)
        mark->name = strndup(name.bytes, name.length);
    return !name.bytes || mark->name;
}

bool replay_reference_marks(struct replay *replay)
{
    const struct heap_snapshots *snapshots = &replay->scan->snapshots;
    for (size_t i = 0; i < snapshots->count; i++) {
        const struct heap_snapshot *snapshot = &snapshots->rows[i];
        const struct trace_text name = {*snapshot->name ? snapshot->name : NULL,
                                        strlen(snapshot->name)};
        if (!add_mark(replay, "references", name))
            return false;
        /* Marks are in the order of time. */
        size_t at = replay->mark_count - 1;
        struct mark_row mark = replay->marks[at];
        mark.ns = trace_time_ns(&replay->time, snapshot->ticks);
        for (; at > 0 && replay->marks[at - 1].ns > mark.ns; at--)
            replay->marks[at] = replay->marks[at - 1];
        replay->marks[at] = mark;
    }
    return true;
}

static bool add_sample(struct replay *replay, const struct trace_event *event)
{
    const uint64_t bytes = event->extension->resident;
    if (bytes > REPLAY_LARGEST_SIZE) {
        replay_problem(replay, event, PROBLEM_RECORD, 0,
                       "a resident size that no process can have: left out");
        return true;
    }
    if (!ARRAY_RESERVE(replay->samples, replay->sample_count, replay->sample_capacity))
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

static bool note_mapped(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    const struct region_row row = {.address = extension->address,
                                   .size = extension->size,
                                   .map_ns = replay->now_ns,
                                   .thread = event->thread,
                                   .stack = replay_stack(replay, event, extension->stack)};
    const struct region_end by = {.ns = replay->now_ns};
    return row.stack != INDEX_NONE &&
           (extension->stack ? regions_map(&replay->mapped, &row, NULL, 0)
                             : regions_unmap(&replay->mapped, row.address, row.size, &by));
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
    if (replay->residency && !residency_changed(replay->residency, block))
        return false;
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

/* ---- pages in memory ----------------------------------------------------------------------- */

/* The work of unasked ledgers, in blocks and runs: so much, and so much an event. */
enum { LEDGER_WORK = 4 << 20, LEDGER_WORK_PER_EVENT = 2 };

/* Returns true for addresses that Go's runtime asks for in order to get its heap: the first or a
 * later one of the places 0xc000000000 + n * 2^40, and what follows it. */
static bool is_heap_of_go(uint64_t address)
{
    return address >> 40 < 0x7f && (address >> 36 & 0xf) == 0xc;
}

/* Names the call site that mapped the address. */
static const char *mapper_of(const void *context, uint64_t address, uint64_t *end)
{
    const struct replay *replay = context;
    const struct region_row *region = regions_at(&replay->regions, address);
    if (!region)
        region = regions_at(&replay->mapped, address);
    if (!region)
        return NULL;
    if (region->address + region->size < *end)
        *end = region->address + region->size;
    while (region->changed_from) /* by mprotect, which mapped nothing */
        region = &replay->regions.rows[region->changed_from - 1];
    const uint32_t function = stacks_function(replay->stacks, region->stack);
    const char *name = function ? replay->stacks->frames.functions[function - 1].name : NULL;
    if (name && strcmp(name, "x_cgo_mmap") == 0) /* all memory of Go's runtime */
        return is_heap_of_go(address) ? "x_cgo_mmap: Go's heap" : "x_cgo_mmap: Go's runtime";
    return name;
}

static bool begin_residency(struct replay *replay)
{
    if (!replay->residency && !replay->sampled)
        replay->residency = residency_new(replay->scan);
    if (replay->residency) {
        replay->residency->mapper = mapper_of;
        replay->residency->mapper_context = replay;
    }
    return replay->sampled || replay->residency;
}

/* Makes the ledger of the moment that has been read. */
static bool make_ledger(struct replay *replay)
{
    struct residency *residency = replay->residency;
    const enum trace_resident_reason reason = residency->next.reason;
    const struct live_block *block;
    size_t most = replay->heap.live + 1;
    for (size_t k = 0; k < replay->arena_count; k++)
        most += replay->arenas[k].blocks.live;
    if ((reason == TRACE_RESIDENT_MAXIMUM || reason == TRACE_RESIDENT_PARTED ||
         reason == TRACE_RESIDENT_INTERVAL) &&
        residency->work + most > LEDGER_WORK + LEDGER_WORK_PER_EVENT * replay->events) {
        residency_leave_out(residency);
        return true;
    }
    residency->forked = replay->forked;
    residency->late = replay->before_known || replay->paused_before
                          ? "heap: free, or in use before the recording"
                          : NULL;
    for (size_t k = 0; k < replay->arena_count; k++)
        for (size_t at = 0; (block = live_table_next(&replay->arenas[k].blocks, &at));)
            residency_arena_block(residency, block->address,
                                  replay->arenas[k].name ? replay->arenas[k].name : "");
    return residency_ledger(residency, &replay->heap, replay->allocations, replay->now_ticks,
                            replay->now_ns);
}

/* Returns the name of the mark or snapshot that was the reason. NULL: it was another reason. */
static const char *last_mark(const struct replay *replay, uint64_t reason)
{
    const char *kind = reason == TRACE_RESIDENT_MARK       ? "mark"
                       : reason == TRACE_RESIDENT_SNAPSHOT ? "snapshot"
                                                           : NULL;
    for (size_t i = replay->mark_count; kind && i-- > 0;)
        if (strcmp(replay->marks[i].kind, kind) == 0)
            return replay->marks[i].name;
    return NULL;
}

static bool read_resident(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    const struct trace_time *time = &replay->time;
    if (!begin_residency(replay))
        return false;
    struct residency *residency = replay->residency;
    if (!residency)
        return true;
    if (extension->type == TRACE_EXT_MAPPING) {
        const struct region_end by = {.ns = replay->now_ns};
        return residency_mapping(residency, extension) &&
               (!(extension->flags & TRACE_MAPPING_NONE) ||
                regions_unmap(&replay->mapped, extension->address, extension->size, &by));
    }
    if (extension->type == TRACE_EXT_PAGES) {
        if (!residency_pages(residency, extension))
            return false;
        return !residency_is_whole(residency) || make_ledger(replay);
    }
    const uint64_t when = extension->when;
    const uint64_t begin = when > extension->earlier_ticks ? when - extension->earlier_ticks : 0;
    const uint64_t later = extension->later_ticks;
    const char *mark = last_mark(replay, extension->reason);
    if (!residency_begin(residency, extension,
                         trace_time_ns(time, begin > time->start_ticks ? begin : time->start_ticks),
                         trace_time_ns(time, when + later >= when ? when + later : when), mark))
        return false;
    return !residency_is_whole(residency) || make_ledger(replay);
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
    case TRACE_EXT_MAPPED:
        return note_mapped(replay, event);
    case TRACE_EXT_PROTECT:
        return protect_region(replay, event);
    case TRACE_EXT_SIZED_DELETE:
        return compare_size(replay, event);
    case TRACE_EXT_TYPE:
        return name_type(replay, event);
    case TRACE_EXT_LIVE:
        return replay_earlier(replay, event);
    case TRACE_EXT_RESIDENT:
    case TRACE_EXT_PAGES:
    case TRACE_EXT_MAPPING:
        return read_resident(replay, event);
    default:
        return true;
    }
}
