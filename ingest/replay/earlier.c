/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/earlier.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/replay/blocks.h"
#include "ingest/replay/extended.h"
#include "ingest/replay/replay.h"

/* Replays a block of an arena as if it were allocated now. */
static bool of_arena(struct replay *replay, const struct trace_event *event)
{
    struct trace_extension extension = *event->extension;
    struct trace_event allocation = *event;
    extension.type = TRACE_EXT_ARENA_ALLOC;
    allocation.extension = &extension;
    allocation.thread = (uint32_t)extension.thread;
    return replay_arena(replay, &allocation);
}

/* Replays a block of the heap as if it were allocated now. */
static bool of_heap(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    const uint64_t log2 = extension->alignment;
    const struct trace_record record = {
        .kind = TRACE_ALLOC_ATTR,
        .address = extension->address,
        .size = extension->size,
        .stack = (uint32_t)(extension->stack <= UINT32_MAX ? extension->stack : UINT32_MAX),
        .alloc_kind = extension->kind < TRACE_KIND_COUNT ? (enum trace_alloc_kind)extension->kind
                                                         : TRACE_KIND_MALLOC,
        .alignment = log2 > 0 && log2 <= 63 ? UINT64_C(1) << (log2 - 1) : 0,
    };
    struct trace_event allocation = *event;
    allocation.kind = EVENT_ALLOCATE;
    allocation.record = &record;
    allocation.thread = (uint32_t)extension->thread;
    allocation.of_realloc = false;
    return replay_allocate(replay, &allocation);
}

uint64_t replay_before_ns(const struct replay *replay, const struct trace_event *event,
                          uint64_t age)
{
    const struct trace_time *time = &replay->time;
    const uint64_t inside = event->ticks > time->start_ticks ? event->ticks - time->start_ticks : 0;
    unsigned __int128 before = age > inside ? age - inside : 0;
    if (time->scaled)
        before = before * time->ns / time->ticks;
    return before > INT64_MAX ? INT64_MAX : (uint64_t)before;
}

static bool remember(struct replay *replay, const struct trace_event *event, bool of_heap)
{
    const struct trace_extension *extension = event->extension;
    struct earlier *earlier = &replay->earlier;
    if (!array_reserve(&earlier->before_ns, &earlier->capacity, earlier->count + 1,
                       sizeof(*earlier->before_ns)) ||
        !array_reserve(&earlier->heap, &earlier->heap_capacity, earlier->heap_count + 1,
                       sizeof(*earlier->heap)))
        return false;
    earlier->before_ns[earlier->count++] = replay_before_ns(replay, event, extension->age);
    if (of_heap) {
        earlier->heap[earlier->heap_count++] = earlier->count;
        earlier->heap_bytes += extension->size <= REPLAY_LARGEST_SIZE ? extension->size : 0;
    }
    return true;
}

bool replay_earlier(struct replay *replay, const struct trace_event *event)
{
    const struct trace_extension *extension = event->extension;
    struct earlier *earlier = &replay->earlier;
    const uint64_t now_ns = replay->now_ns;
    if (extension->address == 0 || extension->thread > UINT32_MAX ||
        !replay_thread(replay, (uint32_t)extension->thread))
        return true; /* the scan has said so */
    /* These records are the first events of a trace. One that comes later is damaged. */
    if (replay->events != earlier->count || replay->totals->allocations != earlier->heap_count) {
        replay_problem(replay, event, PROBLEM_RECORD, extension->address,
                       "a block of the trace before comes after the first event");
        return true;
    }
    if (!remember(replay, event, extension->arena == 0))
        return false;
    replay->now_ns = 0;
    const bool good = extension->arena == 0 ? of_heap(replay, event) : of_arena(replay, event);
    replay->now_ns = now_ns;
    return good;
}

/* Returns the number of the block among those that were live when the trace began, from 1. 0: it is
 * none of them. */
static uint64_t number_of(const struct earlier *earlier, const struct live_block *block)
{
    uint64_t number = block->order;
    if (block->arena == 0)
        number = number <= earlier->heap_count && number ? earlier->heap[number - 1] : 0;
    return number <= earlier->count ? number : 0;
}

uint64_t replay_earlier_ns(const struct replay *replay, const struct live_block *block)
{
    const uint64_t number = number_of(&replay->earlier, block);
    return number ? replay->earlier.before_ns[number - 1] : 0;
}

uint64_t replay_earlier_row(struct replay *replay, const struct live_block *block, uint64_t row)
{
    struct earlier *earlier = &replay->earlier;
    const uint64_t number = number_of(earlier, block);
    if (number == 0 || row == 0)
        return row;
    if (!array_reserve(&earlier->rows, &earlier->row_capacity, earlier->row_count + 1,
                       sizeof(*earlier->rows)))
        return 0;
    earlier->rows[earlier->row_count++] =
        (struct earlier_row){.row = row, .before_ns = earlier->before_ns[number - 1]};
    return row;
}

bool replay_earlier_copy(struct replay *copy)
{
    struct earlier *earlier = &copy->earlier;
    struct earlier_row *rows = malloc((earlier->row_count + 1) * sizeof(*rows));
    if (!rows)
        return false;
    if (earlier->row_count)
        memcpy(rows, earlier->rows, earlier->row_count * sizeof(*rows));
    earlier->rows = rows;
    earlier->row_capacity = earlier->row_count + 1;
    return true;
}

void replay_earlier_free(struct earlier *earlier)
{
    free(earlier->before_ns);
    free(earlier->heap);
    free(earlier->rows);
    *earlier = (struct earlier){0};
}
