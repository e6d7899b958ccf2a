/* Replay of what is rare: arenas, marks, samples; and of what is left at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/replay_internal.h"

enum { KIND_ARENA = 11 };

/* NULL where memory is exhausted. An arena that was never named exists all the same. */
static struct arena_row *find_arena(struct replay *replay, uint64_t id)
{
    uint64_t hash = hash_combine(hash_seed(), id);
    size_t probe = index_map_begin(&replay->arena_by_id, hash);
    uint32_t index;
    while ((index = index_map_next(&replay->arena_by_id, hash, &probe)) != INDEX_NONE)
        if (replay->arenas[index].id == id)
            return &replay->arenas[index];
    if (!array_reserve(&replay->arenas, &replay->arena_capacity, replay->arena_count + 1,
                       sizeof *replay->arenas) ||
        !index_map_insert(&replay->arena_by_id, hash, (uint32_t)replay->arena_count))
        return NULL;
    struct arena_row *arena = &replay->arenas[replay->arena_count++];
    *arena = (struct arena_row){.id = (uint32_t)id};
    return arena;
}

static bool end_block(struct replay *replay, struct arena_row *arena, struct live_block *block,
                      uint32_t thread)
{
    live_table_release(&arena->blocks, block);
    return replay_put_row(replay, block, replay->now_ns - block->alloc_ns + 1, thread, 0) != 0;
}

static bool arena_allocate(struct replay *replay, struct arena_row *arena,
                           const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    struct live_block *block = live_table_find(&arena->blocks, extension->address);
    uint32_t stack = replay_stack(replay, event, extension->stack);
    if (block == NULL || stack == INDEX_NONE)
        return false;
    if (block->state == BLOCK_LIVE) {
        replay_problem(replay, event, PROBLEM_OVERLAP, extension->address,
                       "allocated while it was live in its arena");
        if (!end_block(replay, arena, block, 0))
            return false;
    }
    live_table_claim(&arena->blocks, block);
    block->address = extension->address;
    block->size = replay_size(replay, event, extension->size);
    block->alloc_ns = replay->now_ns;
    block->realloc_of = 0;
    block->order = replay->events;
    block->count = extension->count > UINT32_MAX ? UINT32_MAX : (uint32_t)extension->count;
    block->stack = stack;
    block->thread = event->thread;
    block->arena = arena->id;
    block->kind = KIND_ARENA;
    block->alignment = 0;
    return true;
}

static bool arena_release(struct replay *replay, struct arena_row *arena,
                          const struct trace_event *event)
{
    struct live_block *block = live_table_find(&arena->blocks, event->extension->address);
    if (block == NULL)
        return false;
    if (block->state == BLOCK_LIVE)
        return end_block(replay, arena, block, event->thread);
    replay_problem(replay, event,
                   block->state == BLOCK_FREED ? PROBLEM_DOUBLE_FREE : PROBLEM_UNMATCHED_FREE,
                   event->extension->address, "free of what is not live in its arena");
    return true;
}

static bool arena_reset(struct replay *replay, struct arena_row *arena,
                        const struct trace_event *event)
{
    bool good = true;
    for (size_t i = 0; good && i < arena->blocks.capacity; i++)
        if (arena->blocks.blocks[i].state == BLOCK_LIVE)
            good = end_block(replay, arena, &arena->blocks.blocks[i], event->thread);
    /* The next reset must not sweep what this one has emptied. */
    live_table_clear(&arena->blocks);
    return good;
}

static bool handle_arena(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    if (extension->arena == 0 || extension->arena > UINT32_MAX) {
        replay_problem(replay, event, PROBLEM_RECORD, extension->address, "no such arena");
        return true;
    }
    struct arena_row *arena = find_arena(replay, extension->arena);
    if (arena == NULL)
        return false;
    replay->events +=
        extension->type == TRACE_EXT_ARENA_ALLOC || extension->type == TRACE_EXT_ARENA_FREE;
    switch (extension->type) {
    case TRACE_EXT_ARENA:
        arena->parent = extension->parent > UINT32_MAX ? 0 : (uint32_t)extension->parent;
        free(arena->name);
        arena->name = strndup(extension->name.bytes, extension->name.length);
        return arena->name != NULL;
    case TRACE_EXT_ARENA_ALLOC:
        return arena_allocate(replay, arena, event);
    case TRACE_EXT_ARENA_FREE:
        return arena_release(replay, arena, event);
    default:
        return arena_reset(replay, arena, event);
    }
}

static bool add_mark(struct replay *replay, const char *kind, struct trace_text name)
{
    if (!array_reserve(&replay->marks, &replay->mark_capacity, replay->mark_count + 1,
                       sizeof *replay->marks))
        return false;
    struct mark_row *mark = &replay->marks[replay->mark_count++];
    *mark = (struct mark_row){.ns = replay->now_ns, .kind = kind};
    if (name.bytes != NULL)
        mark->name = strndup(name.bytes, name.length);
    return name.bytes == NULL || mark->name != NULL;
}

static bool add_sample(struct replay *replay, uint64_t bytes)
{
    if (!array_reserve(&replay->samples, &replay->sample_capacity, replay->sample_count + 1,
                       sizeof *replay->samples))
        return false;
    replay->samples[replay->sample_count++] = (struct rss_row){replay->now_ns, bytes};
    return true;
}

bool replay_extended(struct replay *replay, const struct trace_event *event)
{
    static const struct trace_text unnamed = {NULL, 0};
    const struct trace_extension *extension = event->extension;
    char detail[80];
    switch (extension->type) {
    case TRACE_EXT_ARENA:
    case TRACE_EXT_ARENA_ALLOC:
    case TRACE_EXT_ARENA_FREE:
    case TRACE_EXT_ARENA_RESET:
        return handle_arena(replay, event);
    case TRACE_EXT_MARK:
        return add_mark(replay, "mark", extension->name);
    case TRACE_EXT_SNAPSHOT:
        return add_mark(replay, "snapshot", extension->name);
    case TRACE_EXT_RECORDING:
        return add_mark(replay, extension->resumed ? "resume" : "pause", unnamed);
    case TRACE_EXT_RSS:
        return add_sample(replay, extension->resident);
    case TRACE_EXT_DROPPED:
        snprintf(detail, sizeof detail, "%" PRIu64 " events: %s", extension->count,
                 extension->reason == TRACE_DROP_REENTRANT ? "inside the recorder itself"
                 : extension->reason == TRACE_DROP_NO_THREAD
                     ? "the thread had no state of the recorder"
                     : "for an unknown reason");
        replay_problem(replay, event, PROBLEM_DROPPED, 0, detail);
        return true;
    case TRACE_EXT_FAILED:
        replay->failed_allocations++;
        snprintf(detail, sizeof detail, "%" PRIu64 " bytes were asked for", extension->size);
        replay_problem(replay, event, PROBLEM_FAILED, 0, detail);
        return true;
    default:
        return true; /* type tags are resolved with the program's symbols, not here */
    }
}

struct order_entry {
    uint64_t order;
    const struct live_block *block;
};

static int compare_order(const void *a, const void *b)
{
    const struct order_entry *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

bool replay_put_live(struct replay *replay, const struct live_table *table)
{
    struct order_entry *entries = malloc((table->live + 1) * sizeof *entries);
    size_t count = 0;
    bool good = entries != NULL;
    for (size_t i = 0; good && i < table->capacity; i++)
        if (table->blocks[i].state == BLOCK_LIVE)
            entries[count++] = (struct order_entry){table->blocks[i].order, &table->blocks[i]};
    if (good)
        qsort(entries, count, sizeof *entries, compare_order);
    for (size_t i = 0; good && i < count; i++)
        good = replay_put_row(replay, entries[i].block, 0, 0, 0) != 0;
    free(entries);
    return good;
}
