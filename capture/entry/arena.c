/* SPDX-License-Identifier: BSD-2-Clause */
/* Records the program's own allocators: mprof_arena_create(), mprof_arena_realloc() and so on. The
 * calls that programs make most come from heap.c.
 *
 * A forked child writes a trace of its own and has to name its parent's arenas there again. So a
 * table keeps the arenas in use, each with the trace that last named it. Each number is given out
 * once, and its low bits are its place in the table. When the table is full, a new arena is named
 * only at its creation, and a sample takes none of its blocks. */
#include "capture/entry/arena.h"

#include <stdatomic.h>
#include <string.h>

#include "capture/entry/names.h"
#include "capture/os/os.h"
#include "capture/record/event_filter.h"
#include "capture/record/events.h"
#include "capture/record/file.h"
#include "capture/record/gate.h"
#include "capture/record/rotate.h"
#include "capture/record/sampling.h"
#include "capture/record/thread.h"
#include "capture/stack/stack.h"

/* ---- sampled blocks of arenas ----------------------------------------------------------- */

/* Chooses which blocks of the program's own allocators a sample takes. The choice is made as for
 * heap blocks, by the bytes that the thread allocates in both.
 *
 * The table of sampling.h holds a block of an arena by its address and by the arena's place
 * in the table of arenas. Each arena also has a short list of its own blocks in that table, so that
 * a reset finds them. If it has more blocks than the list can hold, the reset searches the whole
 * table.
 *
 * All functions need the guard held and sampling on. */

#define ARENA_SAMPLE_LISTED 8u

/* The sampled blocks of one arena. Zero at first. `place` is the arena's, under 65536. */
struct arena_sample {
    _Atomic uint64_t listed[ARENA_SAMPLE_LISTED]; /* 0: none */
    _Atomic bool more;                            /* some blocks may not be listed */
};

/* A key has the block's address in the low bits and the arena's place above them. It also has the
 * highest bit, which no key of a heap block has. */
#define ADDRESS_BITS 47u
#define OF_ARENA (UINT64_C(1) << 63)
#define ARENA_MASK ~((UINT64_C(1) << ADDRESS_BITS) - 1)

_Static_assert(SAMPLED_BLOCKS_FILTER *UINT64_C(64) <= UINT64_C(1) << ADDRESS_BITS,
               "a key has the place of its address in the filter");

static uint64_t sample_key(uint32_t place, const void *address)
{
    return OF_ARENA | (uint64_t)place << ADDRESS_BITS | ((uintptr_t)address & ~ARENA_MASK);
}

static void sample_list(struct arena_sample *sample, uint64_t key)
{
    for (unsigned i = 0; i < ARENA_SAMPLE_LISTED; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&sample->listed[i], &none, key) || none == key)
            return;
    }
    atomic_store(&sample->more, true);
}

/* Returns true if the new block of `size` bytes is to be recorded, and notes the block then. */
static bool arena_sample_takes(struct arena_sample *sample, uint32_t place, const void *address,
                               uint64_t size)
{
    if (!sample_takes(&thread_self.sample, size)) {
        event_filter_look_for_requests();
        return false;
    }
    if (!sample || !sampled_blocks_add(sample_key(place, address))) {
        trace_file_count_dropped(1);
        return false;
    }
    sample_list(sample, sample_key(place, address));
    return true;
}

/* Returns true if the block that ends was recorded. If so, it forgets the block. */
static bool arena_sample_ends(struct arena_sample *sample, uint32_t place, const void *address)
{
    const uint64_t key = sample_key(place, address);
    if (!sample || !sampled_blocks_remove(key)) {
        event_filter_look_for_requests();
        return false;
    }
    for (unsigned i = 0; i < ARENA_SAMPLE_LISTED; i++) {
        uint64_t listed = key;
        if (atomic_compare_exchange_strong(&sample->listed[i], &listed, 0))
            break;
    }
    return true;
}

/* Keeps what is known of a block that was taken, for the next trace of the recording. */
static void arena_sample_describe(uint32_t place, const struct live_block *block)
{
    sampled_blocks_describe(sample_key(place, (const void *)(uintptr_t)block->address), block);
}

static bool arena_sample_has(uint32_t place, const void *address)
{
    return sampled_blocks_has(sample_key(place, address));
}

/* Keeps the type that the program tells of such a block. */
static void arena_sample_tell(uint32_t place, const void *address, const struct told_type *type)
{
    sampled_blocks_tell(sample_key(place, address), type);
}

static void arena_sample_reset(struct arena_sample *sample, uint32_t place)
{
    for (unsigned i = 0; i < ARENA_SAMPLE_LISTED; i++) {
        uint64_t key = atomic_exchange(&sample->listed[i], 0);
        if (key)
            sampled_blocks_remove(key);
    }
    if (atomic_exchange(&sample->more, false))
        sampled_blocks_remove_all(ARENA_MASK, sample_key(place, NULL));
}

#define FRAME __builtin_frame_address(0)
#define ARENA_SLOTS 65536u
#define ARENA_NAME 64u
#define ARENA_DEPTH 1024u /* arenas inside arenas; more than this is a cycle */

struct arena_slot {
    _Atomic uint32_t id; /* 0: free */
    uint32_t parent;
    _Atomic uint64_t named_in; /* the trace's number */
    char name[ARENA_NAME];
    _Atomic uint32_t children;  /* arenas that name it as their parent */
    _Atomic uint32_t collector; /* the runtime that has collected its blocks; 0: none */
    struct arena_sample sample; /* --sample */
};

static struct {
    _Atomic(void *) slots; /* struct arena_slot */
    _Atomic uint32_t last;
    _Atomic uint32_t used;
} arenas;

/* Returns the table, which the first use makes. NULL if there is no memory. */
static struct arena_slot *open_table(void)
{
    return os_map_once(&arenas.slots, ARENA_SLOTS * sizeof(struct arena_slot));
}

static struct arena_slot *find_slot(mprof_arena arena)
{
    struct arena_slot *table = atomic_load(&arenas.slots);
    struct arena_slot *slot = table ? &table[arena % ARENA_SLOTS] : NULL;
    return slot && atomic_load(&slot->id) == arena ? slot : NULL;
}

static struct arena_sample *find_sample(mprof_arena arena)
{
    struct arena_slot *slot = find_slot(arena);
    return slot ? &slot->sample : NULL;
}

/* Returns true if the block that ends was recorded. */
static bool was_recorded(mprof_arena arena, const void *address)
{
    return __builtin_expect(sample_mean == 0, 1) ||
           arena_sample_ends(find_sample(arena), arena % ARENA_SLOTS, address);
}

/* Counts the new block, and tells whether to record it. */
static bool should_record(struct thread *thread, const void *frame, mprof_arena arena,
                          const void *address, uint64_t size)
{
    if (__builtin_expect(event_filter_is_on, 0))
        event_filter_arena(thread, frame);
    return recorder_is_recording() &&
           (__builtin_expect(sample_mean == 0, 1) ||
            arena_sample_takes(find_sample(arena), arena % ARENA_SLOTS, address, size));
}

/* Returns true if `arena` is `outer` or takes its memory from it, directly or through others. */
static bool is_inside(mprof_arena arena, mprof_arena outer)
{
    struct arena_slot *slot;
    for (unsigned depth = 0; arena != outer && depth < ARENA_DEPTH; depth++) {
        slot = find_slot(arena);
        if (!slot || slot->parent == 0)
            return false;
        arena = slot->parent;
    }
    return arena == outer;
}

static void reset_samples(mprof_arena arena)
{
    struct arena_slot *slot = find_slot(arena), *table = atomic_load(&arenas.slots);
    if (!slot)
        return;
    arena_sample_reset(&slot->sample, arena % ARENA_SLOTS);
    uint32_t last = atomic_load(&slot->children) ? atomic_load(&arenas.last) + 1 : 0;
    for (uint32_t place = 0; place < last && place < ARENA_SLOTS; place++) {
        mprof_arena other = atomic_load(&table[place].id);
        if (other && other != arena && is_inside(other, arena))
            arena_sample_reset(&table[place].sample, place);
    }
}

static void count_child(mprof_arena parent, uint32_t more)
{
    struct arena_slot *slot = parent ? find_slot(parent) : NULL;
    if (slot)
        atomic_fetch_add(&slot->children, more);
}

static void put_name(struct thread *thread, mprof_arena arena, mprof_arena parent, const char *name)
{
    thread_put_record(thread, TRACE_EXT_ARENA, (const uint64_t[]){arena, parent}, 2, name,
                      strnlen(name, ARENA_NAME - 1));
}

/* Names the arena in this trace if it has no name there yet. */
static void introduce(struct thread *thread, mprof_arena arena)
{
    struct arena_slot *slot = find_slot(arena);
    uint64_t trace = trace_file_id();
    if (slot && atomic_exchange(&slot->named_in, trace) != trace)
        put_name(thread, arena, slot->parent, slot->name);
}

/* Names the arena of the block, those around it and its kind, in a trace that begins with it. */
static void introduce_all(struct thread *thread, struct live_block *block)
{
    struct arena_slot *slot;
    uint32_t arena = block->arena;
    if (block->type && !kinds_introduce(thread, block->type))
        block->type = 0;
    for (unsigned depth = 0; arena && depth < ARENA_DEPTH; depth++, arena = slot->parent) {
        slot = find_slot(arena);
        if (!slot)
            return;
        introduce(thread, arena);
    }
}

static bool is_named(mprof_arena arena)
{
    struct arena_slot *slot = find_slot(arena);
    return !slot || atomic_load_explicit(&slot->named_in, memory_order_relaxed) == trace_file_id();
}

/* Sets *arena to a new number and returns its place in the table. NULL if the table is full. */
static struct arena_slot *take_slot(mprof_arena *arena)
{
    struct arena_slot *table = open_table();
    if (!atomic_load_explicit(&rotate_introduce, memory_order_relaxed))
        atomic_store(&rotate_introduce, introduce_all);
    bool room = table && atomic_fetch_add(&arenas.used, 1) < ARENA_SLOTS - 1;
    for (uint32_t attempt = 0; room && attempt < ARENA_SLOTS; attempt++) {
        uint32_t id = atomic_fetch_add(&arenas.last, 1) + 1, none = 0;
        if (id && atomic_compare_exchange_strong(&table[id % ARENA_SLOTS].id, &none, id)) {
            *arena = id;
            return &table[id % ARENA_SLOTS];
        }
    }
    if (table)
        atomic_fetch_sub(&arenas.used, 1);
    *arena = atomic_fetch_add(&arenas.last, 1) + 1;
    return NULL;
}

ENTRY_POINT mprof_arena mprof_arena_create(const char *name, mprof_arena parent)
{
    struct thread *thread = recorder_enter(FRAME, RECORDER_NOTE);
    mprof_arena arena = 0;
    if (!thread)
        return 0;
    struct arena_slot *slot = take_slot(&arena);
    if (!name)
        name = "";
    if (slot) {
        size_t length = strnlen(name, ARENA_NAME - 1);
        slot->parent = parent;
        atomic_store(&slot->collector, 0);
        count_child(parent, 1);
        memcpy(slot->name, name, length);
        slot->name[length] = 0;
        atomic_store(&slot->named_in, trace_file_id());
    }
    put_name(thread, arena, parent, name);
    recorder_leave();
    return arena;
}

static void put_reset(const void *frame, mprof_arena arena)
{
    struct thread *thread = arena ? recorder_enter(frame, RECORDER_ARENA_END) : NULL;
    if (!thread)
        return;
    if (sample_mean)
        reset_samples(arena);
    if (!is_named(arena))
        introduce(thread, arena);
    thread_put_numbers(thread, TRACE_EXT_ARENA_RESET, arena);
    recorder_leave();
}

ENTRY_POINT void mprof_arena_reset(mprof_arena arena)
{
    put_reset(FRAME, arena);
}

ENTRY_POINT void mprof_arena_destroy(mprof_arena arena)
{
    struct arena_slot *slot = find_slot(arena);
    uint32_t id = arena;
    put_reset(FRAME, arena);
    uint32_t parent = slot ? slot->parent : 0;
    if (slot && atomic_compare_exchange_strong(&slot->id, &id, 0)) {
        atomic_fetch_sub(&arenas.used, 1);
        count_child(parent, UINT32_MAX); /* one less */
    }
}

/* Records a block of the arena. `old` is the block that was resized into it, or NULL. `kind` is
 * its type; 0: not known. */
static void put_block(struct thread *thread, const void *frame, mprof_arena arena, void *old,
                      void *address, size_t size, size_t count, mprof_kind kind)
{
    if (!is_named(arena))
        introduce(thread, arena);
    if (kind && !kinds_introduce(thread, kind))
        kind = 0;
    uint64_t ticks = old && !sample_mean ? 0 : events_arena_now(thread);
    uint32_t stack = events_stack(thread, frame);
    if (sample_mean)
        arena_sample_describe(arena % ARENA_SLOTS,
                              &(struct live_block){.address = (uintptr_t)address,
                                                   .size = size,
                                                   .ticks = ticks,
                                                   .count = count,
                                                   .stack = stack,
                                                   .thread = thread->number,
                                                   .arena = arena,
                                                   .type = (uint16_t)kind});
    if (!old) {
        struct chunk *chunk = &thread->chunk;
        if (events_room(thread, 1))
            chunk_commit(chunk,
                         trace_put_arena_alloc(chunk->cursor, &chunk->coding, ticks, arena,
                                               (uintptr_t)address, size, count, stack, kind));
        return;
    }
    thread_put_numbers(thread, TRACE_EXT_ARENA_REALLOC, arena, (uintptr_t)old, (uintptr_t)address,
                       size, count, stack);
}

static void put_free(struct thread *thread, mprof_arena arena, void *address, bool collected)
{
    struct chunk *chunk = &thread->chunk;
    uint64_t ticks = events_arena_now(thread);
    if (events_room(thread, 1))
        chunk_commit(chunk, trace_put_arena_free(chunk->cursor, &chunk->coding, ticks, arena,
                                                 (uintptr_t)address, collected));
}

void arena_block_allocated(mprof_arena arena, void *address, size_t size, size_t count,
                           mprof_kind kind)
{
    struct thread *thread =
        arena && address ? recorder_enter(FRAME, RECORDER_ARENA_ALLOCATION) : NULL;
    if (!thread)
        return;
    if (should_record(thread, FRAME, arena, address, size))
        put_block(thread, FRAME, arena, NULL, address, size, count, kind);
    recorder_leave();
}

void arena_note_collector(mprof_arena arena)
{
    struct arena_slot *slot = find_slot(arena);
    const uint32_t runtime = runtime_that_collects();
    if (slot && runtime)
        atomic_store_explicit(&slot->collector, runtime, memory_order_relaxed);
}

void arenas_collected(struct thread *thread,
                      void (*put)(struct thread *thread, uint32_t runtime, uint32_t arena))
{
    struct arena_slot *table = atomic_load(&arenas.slots);
    const uint32_t last = table ? atomic_load(&arenas.last) : 0;
    for (uint32_t place = 0; place <= last && place < ARENA_SLOTS && table; place++) {
        const uint32_t arena = atomic_load(&table[place].id);
        const uint32_t runtime = atomic_load(&table[place].collector);
        if (!arena || !runtime)
            continue;
        introduce_all(thread, &(struct live_block){.arena = arena});
        put(thread, runtime, arena);
    }
}

static void end_block(const void *frame, mprof_arena arena, void *address, bool collected)
{
    struct thread *thread = arena && address ? recorder_enter(frame, RECORDER_ARENA_END) : NULL;
    if (!thread)
        return;
    if (was_recorded(arena, address))
        put_free(thread, arena, address, collected);
    recorder_leave();
}

void arena_block_freed(mprof_arena arena, void *address)
{
    end_block(FRAME, arena, address, false);
}

void arena_block_collected(mprof_arena arena, void *address)
{
    if (sample_mean != 0)
        arena_note_collector(arena);
    end_block(FRAME, arena, address, true);
}

/* Records a resize. While recording is paused, it writes only the end of the old block, and before
 * it begins, nothing. */
ENTRY_POINT void mprof_arena_realloc(mprof_arena arena, void *old, void *address, size_t size,
                                     size_t count)
{
    struct thread *thread = arena && address ? recorder_enter(FRAME, RECORDER_ARENA_RESIZE) : NULL;
    if (!thread)
        return;
    const bool waiting =
        atomic_load_explicit(&recorder_page.state, memory_order_relaxed) == RECORDER_WAITING;
    if (old && (waiting || !was_recorded(arena, old)))
        old = NULL;
    if (should_record(thread, FRAME, arena, address, size))
        put_block(thread, FRAME, arena, old, address, size, count, 0);
    else if (old)
        put_free(thread, arena, old, false);
    recorder_leave();
}

/* Returns true if the block is in the trace, as far as is known. */
static bool is_recorded(mprof_arena arena, void *address)
{
    if (!event_filter_is_on)
        return true;
    return arena == 0 ? event_filter_knows(address)
                      : sample_mean == 0 || arena_sample_has(arena % ARENA_SLOTS, address);
}

/* Writes the type of a block. `value` is the symbol's address in its module, or the kind. */
static void put_type(struct thread *thread, mprof_arena arena, uint64_t address,
                     const struct told_type *type, uint64_t value)
{
    thread_put_numbers(thread, TRACE_EXT_TYPE, arena, address, type->module, value, type->count,
                       type->size);
}

/* Writes the type of a block once more, in a trace that begins with it. Another module may lie at
 * the symbol's place by now. */
static void put_told(struct thread *thread, const struct live_block *block)
{
    const struct told_type *told = &block->told;
    uint32_t module = 0;
    uint64_t value = told->kind;
    if (told->symbol ? stack_place(told->symbol, &module, &value, thread) && module == told->module
                     : kinds_module(thread, told->kind) == told->module)
        put_type(thread, block->arena, block->address, told, value);
}

/* Keeps the type of a block, for the traces that may begin with it. */
static void keep_type(mprof_arena arena, const void *address, const struct told_type *type)
{
    if (!atomic_load_explicit(&rotate_tell, memory_order_relaxed))
        atomic_store(&rotate_tell, put_told);
    if (arena == 0)
        event_filter_tell(address, type);
    else
        arena_sample_tell(arena % ARENA_SLOTS, address, type);
}

ENTRY_POINT void mprof_type(mprof_arena arena, void *address, const void *symbol, size_t count,
                            size_t object_size)
{
    struct thread *thread = address ? recorder_enter(FRAME, RECORDER_NOTE) : NULL;
    struct told_type type = {.symbol = symbol, .count = count, .size = object_size};
    uint64_t value;
    if (!thread)
        return;
    if (is_recorded(arena, address) && stack_place(symbol, &type.module, &value, thread)) {
        put_type(thread, arena, (uintptr_t)address, &type, value);
        if (sample_mean)
            keep_type(arena, address, &type);
    }
    recorder_leave();
}

ENTRY_POINT void mprof_type_kind(mprof_arena arena, void *address, mprof_kind kind)
{
    struct thread *thread = address && kind ? recorder_enter(FRAME, RECORDER_NOTE) : NULL;
    if (!thread)
        return;
    const struct told_type type = {
        .kind = kind, .module = is_recorded(arena, address) ? kinds_module(thread, kind) : 0};
    if (type.module) {
        put_type(thread, arena, (uintptr_t)address, &type, kind);
        if (sample_mean)
            keep_type(arena, address, &type);
    }
    recorder_leave();
}
