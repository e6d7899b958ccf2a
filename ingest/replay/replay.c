/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/replay.h"

#include <stdlib.h>

#include "ingest/replay/blocks.h"
#include "ingest/replay/extended.h"
#include "schemas/array.h"

/* ---- order ------------------------------------------------------------------------------ */

/* The most events of unknown order at a time. More mean a stopped clock, not a race. */
enum { WAITING_MOST = 1024 };

static bool settle_free(struct replay *replay, const struct pending_free *waiting)
{
    struct live_block *block = live_table_find(&replay->heap, waiting->address);
    struct trace_event event = {.thread = waiting->thread, .offset = waiting->offset};
    if (!block)
        return false;
    if (replay->fast_clock && block->state == BLOCK_LIVE && block->thread != waiting->thread &&
        block->alloc_ns >= waiting->ns) {
        replay->ambiguous_pairs++;
        return replay_close_late(replay, block, waiting);
    }
    if (replay_may_be_unseen(replay, block)) {
        replay->unseen_frees++;
        return true;
    }
    if (replay->forked && block->state != BLOCK_FREED) {
        const struct inherited_free inherited = {.address = waiting->address,
                                                 .ns = waiting->ns,
                                                 .thread = waiting->thread,
                                                 .stack = waiting->stack};
        return replay_inherit(replay, &replay->heap, block, &inherited) != 0;
    }
    bool twice = block->state == BLOCK_FREED;
    replay_problem(replay, &event, twice ? PROBLEM_DOUBLE_FREE : PROBLEM_UNMATCHED_FREE,
                   waiting->address,
                   twice ? "freed before, and not allocated in between"
                         : "not seen to be allocated: before recording began, or elsewhere");
    return true;
}

static bool settle_block(struct replay *replay, const struct contested_block *contested)
{
    struct trace_event event = {.thread = contested->thread, .offset = contested->offset};
    replay_problem(replay, &event, PROBLEM_OVERLAP, contested->block.address,
                   "allocated while it was live: the previous block ends here");
    return replay_close(replay, &contested->block, contested->ns, 0, 0) != 0;
}

/* Settle the frees and the blocks that need not wait any longer at `event` (NULL: at the end).
 * False if the sink failed. */
static bool replay_settle_frees(struct replay *replay, const struct trace_event *event)
{
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < replay->pending_count; i++) {
        const struct pending_free waiting = replay->pending[i];
        if (event && replay->fast_clock &&
            (waiting.thread != event->thread || waiting.ticks == event->ticks))
            replay->pending[kept++] = waiting;
        else
            good = settle_free(replay, &waiting) && good;
    }
    replay->pending_count = kept;
    return good;
}

static bool replay_settle_blocks(struct replay *replay, const struct trace_event *event)
{
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < replay->contested_count; i++) {
        const struct contested_block waiting = replay->contested[i];
        if (event && (waiting.thread != event->thread || waiting.ticks == event->ticks))
            replay->contested[kept++] = waiting;
        else
            good = settle_block(replay, &waiting) && good;
    }
    replay->contested_count = kept;
    return good;
}

/* Keeps a free of a block that is not live until its order is known. False without memory. */
static bool replay_keep_free(struct replay *replay, const struct trace_event *event,
                             uint64_t address, uint32_t stack)
{
    if (replay->pending_count >= WAITING_MOST && !replay_settle_frees(replay, NULL))
        return false;
    if (!ARRAY_RESERVE(replay->pending, replay->pending_count, replay->pending_capacity))
        return false;
    replay->pending[replay->pending_count++] = (struct pending_free){
        address, event->offset, event->ticks, replay->now_ns, event->thread, stack};
    return true;
}

/* Takes the free that waits for `block` out of the list. False if there is none. */
static bool replay_take_free(struct replay *replay, const struct live_block *block,
                             struct pending_free *taken)
{
    for (size_t i = 0; i < replay->pending_count; i++) {
        *taken = replay->pending[i];
        /* Within one thread the order is known. */
        if (taken->address != block->address || taken->thread == block->thread)
            continue;
        for (size_t k = i + 1; k < replay->pending_count; k++)
            replay->pending[k - 1] = replay->pending[k];
        replay->pending_count--;
        replay->ambiguous_pairs += replay->fast_clock;
        return true;
    }
    return false;
}

/* Keeps a live block whose address `event` gives out again. False if memory is exhausted. */
static bool replay_contest(struct replay *replay, const struct trace_event *event,
                           const struct live_block *block)
{
    if (replay->contested_count >= WAITING_MOST && !replay_settle_blocks(replay, NULL))
        return false;
    if (!ARRAY_RESERVE(replay->contested, replay->contested_count, replay->contested_capacity))
        return false;
    replay->contested[replay->contested_count++] = (struct contested_block){
        *block, event->ticks, replay->now_ns, event->offset, event->thread};
    return true;
}

/* Takes the first block that waits for a free of `address`, such as `event`, out of the list. False
 * if there is none. */
static bool replay_take_contested(struct replay *replay, const struct trace_event *event,
                                  uint64_t address, struct live_block *block)
{
    for (size_t i = 0; i < replay->contested_count; i++) {
        /* The thread that got the address frees its own block. */
        if (replay->contested[i].block.address != address ||
            replay->contested[i].thread == event->thread)
            continue;
        *block = replay->contested[i].block;
        for (size_t k = i + 1; k < replay->contested_count; k++)
            replay->contested[k - 1] = replay->contested[k];
        replay->contested_count--;
        replay->ambiguous_pairs++;
        return true;
    }
    return false;
}

/* Kinds that a session has and a trace has not (table `kind` of schemas/session.sql): new by its
 * form, each followed by new[]. */
enum { KIND_NEW = 9, KIND_NEW_NOTHROW = 12, KIND_NEW_ALIGNED = 14, KIND_NEW_ALIGNED_NOTHROW = 16 };

/* Ends or sets aside a live block whose address another allocation has got. */
static bool end_overlapped_block(struct replay *replay, const struct trace_event *event,
                                 struct live_block *block)
{
    struct pending_free waiting;
    if (replay->fast_clock) {
        if (replay_take_free(replay, block, &waiting))
            return replay_close_late(replay, block, &waiting);
        live_table_release(&replay->heap, block);
        return replay_contest(replay, event, block);
    }
    replay_problem(replay, event, PROBLEM_OVERLAP, block->address,
                   "allocated while it was live: the previous block ends here");
    return replay_close_live(replay, block, 0, 0) != 0;
}

static bool handle_free(struct replay *replay, const struct trace_event *event)
{
    const struct trace_record *record = event->record;
    uint64_t address = event->of_realloc ? record->old_address : record->address;
    struct live_block *block = live_table_find(&replay->heap, address);
    struct thread_counts *thread = replay_thread(replay, event->thread);
    uint32_t stack = 0;
    replay->events++;
    *event->carry = 0;
    if (!block || !thread)
        return false;
    if (record->kind == TRACE_FREE_STACK &&
        (stack = replay_stack(replay, event, record->stack)) == INDEX_NONE)
        return false;
    const bool known = stack != 0 || event->of_realloc;
    struct live_block contested;
    if (replay->contested_count != 0 && replay_take_contested(replay, event, address, &contested)) {
        thread->frees++;
        if (known && !replay_note_free(replay, &contested, event->thread, stack))
            return false;
        *event->carry = replay_close(replay, &contested, replay->now_ns, event->thread, stack);
        return *event->carry != 0;
    }
    if (event->of_realloc && replay->forked && block->state == BLOCK_EMPTY && !replay->fast_clock &&
        !replay->paused_before) {
        const struct inherited_free inherited = {
            .address = address, .ns = replay->now_ns, .thread = event->thread};
        *event->carry = replay_inherit(replay, &replay->heap, block, &inherited);
        return *event->carry != 0;
    }
    if (block->state != BLOCK_LIVE)
        return replay_keep_free(replay, event, address, stack);
    thread->frees++;
    if (known && !replay_note_free(replay, block, event->thread, stack))
        return false;
    *event->carry = replay_close_live(replay, block, event->thread, stack);
    return *event->carry != 0;
}

static uint8_t kind_of(const struct replay *replay, const struct trace_record *record,
                       uint32_t stack)
{
    unsigned form, kind;
    switch (record->alloc_kind) {
    case TRACE_KIND_MALLOC:
    case TRACE_KIND_POSIX_MEMALIGN:
    case TRACE_KIND_ALIGNED_ALLOC:
    case TRACE_KIND_MEMALIGN:
        form = type_table_operator(replay->types, stack);
        if (form == OPERATOR_OTHER)
            break;
        kind = !(form & OPERATOR_ALIGNED)  ? (form & OPERATOR_NOTHROW ? KIND_NEW_NOTHROW : KIND_NEW)
               : (form & OPERATOR_NOTHROW) ? KIND_NEW_ALIGNED_NOTHROW
                                           : KIND_NEW_ALIGNED;
        return (uint8_t)(kind + !!(form & OPERATOR_NEW_ARRAY));
    default:
        break;
    }
    return (uint8_t)record->alloc_kind;
}

bool replay_allocate(struct replay *replay, const struct trace_event *event)
{
    const struct trace_record *record = event->record;
    uint64_t size = replay_size(replay, event, record->size);
    uint32_t stack = replay_stack(replay, event, record->stack);
    struct thread_counts *thread = replay_thread(replay, event->thread);
    struct live_block *block = live_table_find(&replay->heap, record->address);
    replay->events++;
    if (stack == INDEX_NONE || !thread || !block)
        return false;
    if (block->state == BLOCK_LIVE && !end_overlapped_block(replay, event, block))
        return false;
    thread->allocations++;
    thread->bytes += size;
    const uint8_t kind = kind_of(replay, record, stack);
    const struct type_answer type = type_table_find(replay->types, stack, size, kind);
    const struct totals_block counted = {
        .address = record->address,
        .size = size,
        .alloc_ns = replay->now_ns,
        .stack = stack,
        .function = stacks_function(replay->stacks, stack),
        .type = type.type,
        .of_realloc = event->of_realloc,
    };
    if (!totals_allocate(replay->totals, &counted) ||
        (replay->residency && !residency_allocated(replay->residency, record->address, block)))
        return false;
    live_table_claim(&replay->heap, block);
    block->address = record->address;
    block->size = size;
    block->alloc_ns = replay->now_ns;
    block->realloc_of = event->of_realloc ? *event->carry : 0;
    block->order = ++replay->allocations;
    block->type_by_rules = type.count <= UINT32_MAX;
    block->count = block->type_by_rules ? (uint32_t)type.count : 1;
    block->stack = stack;
    block->thread = event->thread;
    block->arena = 0;
    block->type = type.type;
    block->named = false;
    block->unknown_listed = type.type != 0 || type_table_unknown_full(replay->types, stack);
    block->kind = kind;
    block->alignment = record->alignment ? (uint8_t)(64 - __builtin_clzll(record->alignment)) : 0;
    if (replay->autosave != 0 && --replay->until_autosave == 0 && !replay_autosave(replay))
        return false;
    /* With an exact clock, its free by another thread may have the same stamp and come first. */
    struct pending_free waiting;
    if (replay->pending_count == 0 || replay->fast_clock ||
        !replay_take_free(replay, block, &waiting))
        return true;
    return replay_close_late(replay, block, &waiting);
}

/* Settles the frees and blocks that waited for the next stamp of the event's thread. */
static bool settle_fast(struct replay *replay, const struct trace_event *event)
{
    if (replay->pending_count != 0 && !replay_settle_frees(replay, event))
        return false;
    return replay->contested_count == 0 || replay_settle_blocks(replay, event);
}

void replay_prefetch_block(void *context, const struct trace_record *record)
{
    const struct replay *replay = context;
    if (record->kind == TRACE_NODE)
        return;
    if (record->kind == TRACE_EXTENDED) {
        replay_prefetch_arena(replay, record);
        return;
    }
    live_table_prefetch(&replay->heap, record->address);
    if (record->kind == TRACE_REALLOC && record->old_address != record->address)
        live_table_prefetch(&replay->heap, record->old_address);
    const uint32_t stack = stacks_prefetch_node(replay->stacks, record->stack);
    type_table_prefetch(replay->types, stack);
}

void replay_prefetch_stack(void *context, const struct trace_record *record)
{
    const struct replay *replay = context;
    if (record->kind != TRACE_FREE && record->kind != TRACE_FREE_STACK &&
        record->kind != TRACE_REALLOC)
        return;
    uint64_t address = record->kind == TRACE_REALLOC ? record->old_address : record->address;
    const struct live_block *block = live_table_peek(&replay->heap, address);
    if (!block)
        return;
    stacks_prefetch(replay->stacks, block->stack);
    if (!block->unknown_listed)
        type_table_prefetch(replay->types, block->stack);
}

/* Returns true if the event can be replayed: its thread is one of the program's, or it does not
 * need one. The scan has counted the records of an impossible thread number as lost. Observers
 * outside the program only record events that need no thread. */
static bool has_thread(struct replay *replay, const struct trace_event *event)
{
    if (event->kind != EVENT_EXTENDED)
        return replay_thread(replay, event->thread) != NULL;
    switch (event->extension->type) {
    case TRACE_EXT_ARENA_ALLOC:
    case TRACE_EXT_ARENA_REALLOC:
    case TRACE_EXT_ARENA_FREE:
    case TRACE_EXT_ARENA_RESET:
    case TRACE_EXT_MAP:
    case TRACE_EXT_UNMAP:
    case TRACE_EXT_MAPPED:
    case TRACE_EXT_PROTECT:
        return replay_thread(replay, event->thread) != NULL;
    default:
        return true;
    }
}

bool replay_event(struct replay *replay, const struct trace_event *event,
                  struct ingest_status *status)
{
    bool good;
    if (event->ticks != replay->now_ticks) {
        uint64_t ns = trace_time_ns(&replay->time, event->ticks);
        if (replay->pending_count != 0 && !replay->fast_clock &&
            !replay_settle_frees(replay, event))
            return status->code == INGEST_OK ? ingest_fail_memory(status, "live blocks") : false;
        replay->now_ticks = event->ticks;
        /* Only a damaged run is not sorted. Time does not go back for its late events. */
        if (ns > replay->now_ns)
            replay->now_ns = ns;
    }
    if (replay->fast_clock && !settle_fast(replay, event))
        good = false;
    else if (!has_thread(replay, event))
        good = true;
    else if (event->kind == EVENT_FREE)
        good = handle_free(replay, event);
    else if (event->kind == EVENT_ALLOCATE)
        good = replay_allocate(replay, event);
    else
        good = replay_extended(replay, event);
    if (!good && status->code == INGEST_OK)
        return ingest_fail_memory(status, "live blocks, stacks and sizes");
    return good;
}

bool replay_extend(struct replay *replay, const struct trace_file *file)
{
    const struct trace_scan *scan = replay->scan;
    trace_time_init(&replay->time, file, scan->clock_ticks, scan->clock_monotonic_ns);
    replay->last = NULL; /* the counts may move */
    return ARRAY_RESERVE(replay->threads, scan->threads.count, replay->thread_capacity);
}

bool replay_init(struct replay *replay, const struct trace_file *file,
                 const struct trace_scan *scan, struct stacks *stacks, struct totals *totals,
                 struct type_table *types, struct row_sink sink, struct ingest_status *status)
{
    *replay = (struct replay){
        .scan = scan, .stacks = stacks, .totals = totals, .types = types, .sink = sink};
    replay->free_calls.types = types;
    replay->sampled = trace_file_header(file)->sample_interval != 0;
    replay->forked = scan->process.parent_trace != 0;
    replay->fast_clock = (trace_file_header(file)->flags & TRACE_FILE_CLOCK_FAST) != 0;
    if (!replay_extend(replay, file))
        return ingest_fail_memory(status, "the threads of the trace");
    if (replay->time.unknown)
        problems_add(&replay->problems, PROBLEM_CLOCK,
                     "the trace holds one clock pair only: times are processor ticks, not ns");
    if (scan->moments > 0 && !replay->sampled && !(replay->residency = residency_new(scan)))
        return ingest_fail_memory(status, "the pages in memory");
    totals_init(totals, trace_time_ns(&replay->time, scan->last_ticks));
    replay->batch = sink.exchange(sink.context, NULL);
    if (!replay->batch)
        return status->code == INGEST_OK ? ingest_fail_memory(status, "rows") : false;
    replay->rows = replay->before = sink.rows;
    replay->batch->rows = (size_t)(sink.rows % COLUMN_CHUNK_ROWS);
    replay->batch->first_id = sink.rows - replay->batch->rows + 1;
    return true;
}

bool replay_finish(struct replay *replay, struct ingest_status *status)
{
    bool good;
    good = replay_settle_frees(replay, NULL) && replay_settle_blocks(replay, NULL);
    good = totals_finish(replay->totals) && good;
    if (replay->residency)
        residency_forget_blocks(replay->residency);
    good = good && totals_finish_slots(replay->totals) && replay_put_live(replay, &replay->heap);
    for (size_t i = 0; good && i < replay->arena_count; i++)
        good = replay_put_live(replay, &replay->arenas[i].blocks);
    if (good && replay->batch->rows > 0)
        replay->batch = replay->sink.exchange(replay->sink.context, replay->batch);
    good = good && replay_reference_marks(replay);
    if (good && replay->batch)
        return true;
    return status->code == INGEST_OK ? ingest_fail_memory(status, "the blocks that are live")
                                     : false;
}

void replay_free(struct replay *replay)
{
    live_table_clear(&replay->heap);
    for (size_t i = 0; i < replay->arena_count; i++) {
        live_table_clear(&replay->arenas[i].blocks);
        free(replay->arenas[i].name);
    }
    for (size_t i = 0; i < replay->mark_count; i++)
        free(replay->marks[i].name);
    replay_earlier_free(&replay->earlier);
    free(replay->threads);
    problems_free(&replay->problems);
    FREE_ALL(replay->arenas, replay->marks);
    collections_free(&replay->collections);
    regions_free(&replay->regions);
    regions_free(&replay->mapped);
    residency_free(replay->residency);
    free_calls_free(&replay->free_calls);
    wrong_sizes_free(&replay->wrong_sizes);
    FREE_ALL(replay->samples, replay->pending, replay->inherited, replay->contested);
    index_map_free(&replay->arena_by_id);
    *replay = (struct replay){0};
}
