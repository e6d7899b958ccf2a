/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replays the events of custom allocators: arenas and their blocks.
 *
 * A block is identified by its arena and its address, because an arena's first block may have the
 * address of the heap block that it was cut from. A reset frees all blocks of an arena and of the
 * arenas that get their memory from it. It only visits arenas that may have live blocks: an arena
 * is put into its parent's list when it gives out a block, and the parent's reset takes it out.
 * Arenas whose parents form a circle lie in each other.
 */
#include "ingest/replay/extended.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/replay/blocks.h"
#include "ingest/replay/earlier.h"
#include "ingest/replay/inherited.h"
#include "ingest/replay/rows.h"
#include "schemas/session_ids.h"

/* Parents of an arena whose reset ends its blocks. Each reset takes this many arenas out of the
 * lists at most for each block that was given out since the last one. */
enum { PARENTS_MAX = 1000 };

enum { KIND_ARENA = 11 };

/* Returns the row of the arena, or ARENA_NO_ROW if there is none yet. */
static uint32_t known_arena(const struct replay *replay, uint64_t id, uint64_t hash)
{
    size_t probe = index_map_begin(&replay->arena_by_id, hash);
    uint32_t index;
    while ((index = index_map_next(&replay->arena_by_id, hash, &probe)) != INDEX_NONE)
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

struct live_table *replay_blocks(struct replay *replay, uint64_t arena)
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
        !array_reserve(&replay->arenas, &replay->arena_capacity, replay->arena_count + 1,
                       sizeof(*replay->arenas)) ||
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

uint32_t replay_kind(struct replay *replay, uint64_t kind)
{
    const char *name = kind ? runtimes_kind(&replay->scan->runtimes, kind) : NULL;
    return name && name[0] ? type_table_kind(replay->types, name) : 0;
}

static bool reset_blocks(struct replay *replay, struct arena_row *arena, uint32_t thread)
{
    bool good = true;
    uint64_t row;
    for (size_t i = 0; good && i < arena->blocks.capacity; i++)
        if (arena->blocks.blocks[i].state == BLOCK_LIVE)
            good = end_block(replay, arena, &arena->blocks.blocks[i], thread, 0, &row);
    /* The next reset must not go through this table again. */
    live_table_clear(&arena->blocks);
    return good;
}

/* Resets an arena and those under it. Arenas that are still to be reset are linked through
 * next_sibling. */
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

bool replay_collected_before(struct replay *replay, uint64_t arena, uint32_t runtime)
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
    if ((arena->collected == 0 && !arena->collected_before) ||
        !collections_last(&replay->collections, arena->runtime, &kept.ns))
        return kept;
    kept.known = true;
    kept.count = kept.bytes = 0;
    for (size_t i = 0; i < arena->blocks.capacity; i++) {
        const struct live_block *block = &arena->blocks.blocks[i];
        if (block->state != BLOCK_LIVE ||
            (int64_t)block->alloc_ns - (int64_t)replay_earlier_ns(replay, block) > kept.ns)
            continue;
        kept.count++;
        kept.bytes += block->size;
    }
    return kept;
}
