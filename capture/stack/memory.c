/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/memory.h"

#include <stdatomic.h>

#include "capture/os/os.h"
#include "capture/os/process_maps.h"
#include "capture/stack/frame_reach.h"

/* Below the top of the first thread's stack the kernel keeps at least this much address space free
 * of other mappings, however much of it the stack uses so far. */
#define MAIN_STACK_GAP (UINT64_C(128) << 20)
/* At the end of a stack, the control block and the bytes after it take less than this. */
#define BLOCK_MOST UINT64_C(16384)
#define STACK_LEAST UINT64_C(4096)
#define STACK_MOST (UINT64_C(1) << 40)

struct range {
    uint64_t low, high;
};

/* The end of the mapping named [stack], which does not move until the process executes another
 * program. 0: not looked up yet. */
static _Atomic uint64_t first_thread_high;
/* Below this address there is no part of the first thread's stack. */
static _Atomic uint64_t first_thread_none;
/* The offset in its control block at which the thread library keeps the start of a stack, followed
 * by the size. 0: not known yet. */
static _Atomic uint64_t block_place;

static bool range_contains(const struct range *range, uint64_t address)
{
    return address - range->low < range->high - range->low;
}

/* Returns the first thread's stack. It is empty if the mappings may not be read. */
static struct range stack_of_first_thread(void)
{
    uint64_t high = atomic_load_explicit(&first_thread_high, memory_order_relaxed);
    struct process_map map;
    struct process_maps *maps = high ? NULL : process_maps_open();
    while (maps && !high && process_maps_next(maps, &map))
        if (strcmp(map.path, "[stack]") == 0)
            high = map.end;
    if (maps)
        process_maps_close(maps);
    atomic_store_explicit(&first_thread_high, high, memory_order_relaxed);
    return high ? (struct range){high - MAIN_STACK_GAP, high} : (struct range){0, 0};
}

/* Returns true if two words of a control block can be the start and the size of a stack that
 * ends shortly after the block's start. */
static bool block_words_fit(const uint64_t *words, uint64_t block)
{
    const uint64_t begin = words[0], size = words[1];
    return begin < block && size >= STACK_LEAST && size <= STACK_MOST && block - begin < size &&
           size - (block - begin) <= BLOCK_MOST;
}

/* Searches the control block for the two words. They name a stack on which this function runs and
 * whose end is close to the block, and no other two words can do that. The C library does not say
 * where they are, and asking it (pthread_getattr_np) takes a lock and memory. */
static bool block_search(struct stack_memory *memory, uint64_t block, uint64_t here,
                         struct range *below)
{
    uint64_t words[2];
    size_t size = STACK_WINDOW_BYTES;
    for (uint64_t from = 0; from < BLOCK_MOST && size == STACK_WINDOW_BYTES;
         from += STACK_WINDOW_BYTES - sizeof(words)) {
        size = os_copy_memory(block + from, memory->window, STACK_WINDOW_BYTES);
        for (uint64_t at = 0; at + sizeof(words) <= size; at += sizeof(*words)) {
            memcpy(words, memory->window + at, sizeof(words));
            if (block_words_fit(words, block) && words[0] <= here) {
                *below = (struct range){words[0], block};
                atomic_store_explicit(&block_place, from + at, memory_order_relaxed);
                return true;
            }
        }
    }
    return false;
}

/* Reads from the control block the bounds of the stack at whose end the block lies. */
static bool block_read(struct stack_memory *memory, uint64_t block, uint64_t here,
                       struct range *below)
{
    const uint64_t place = atomic_load_explicit(&block_place, memory_order_relaxed);
    uint64_t words[2];
    if (place == 0)
        return here < block && block_search(memory, block, here, below);
    if (os_copy_memory(block + place, words, sizeof(words)) != sizeof(words) ||
        !block_words_fit(words, block))
        return false;
    *below = (struct range){words[0], block};
    return true;
}

/* Finds the same bounds from the mappings, which takes up to a microsecond per mapping. */
static struct range block_mapping(uint64_t block)
{
    struct range below = {0, 0};
    struct process_map map = {.end = 0};
    struct process_maps *maps = process_maps_open();
    while (maps && map.end <= block && process_maps_next(maps, &map))
        if (map.readable && map.start <= block && block < map.end)
            below = (struct range){map.start, block};
    if (maps)
        process_maps_close(maps);
    return below;
}

/* The first thread has the mapping named [stack]. Threads that the thread library made have their
 * control block at the top of their stack, so they are found even if this call comes from a
 * coroutine. Threads made in another way have no known stack and are read through the kernel. (In a
 * child that was forked by another thread than the first, that thread is the first.) */
void stack_memory_init(struct stack_memory *memory)
{
    const uint64_t here = (uint64_t)__builtin_frame_address(0), block = arch_thread_pointer();
    const bool is_first = os_thread_id() == os_process_id();
    struct range own = {0, 0};
    if (is_first)
        own = stack_of_first_thread();
    if (!range_contains(&own, here)) {
        struct range below = {0, 0};
        if (!block_read(memory, block, here, &below))
            below = block_mapping(block);
        if (!is_first || range_contains(&below, here))
            own = below;
    }
    memory->window_size = 0;
    memory->own_low = own.low;
    memory->own_high = own.high;
    memory->own_mapped = own.high;
}

/* With a large limit (RLIMIT_STACK), the first thread's stack may be larger than the gap that is
 * always free. The room between it and the next mapping belongs to nobody: the stack will grow into
 * it. The bounds take at most half of that, and no more than the stack has now. If `address` lies
 * on another stack, half of the distance to the next mapping is never looked up again. So in either
 * case there are few look-ups in all. */
bool stack_memory_grow(struct stack_memory *memory, uint64_t address)
{
    const uint64_t high = atomic_load_explicit(&first_thread_high, memory_order_relaxed);
    const uint64_t none = atomic_load_explicit(&first_thread_none, memory_order_relaxed);
    struct process_map map = {.start = 0};
    uint64_t before = 0, start = 0;
    if (high == 0 || memory->own_high != high || address >= memory->own_low || address < none)
        return false;
    struct process_maps *maps = process_maps_open();
    while (maps && start == 0 && process_maps_next(maps, &map)) {
        if (map.end == high)
            start = map.start;
        else
            before = map.end;
    }
    if (maps)
        process_maps_close(maps);
    if (start == 0 || address < start) {
        const uint64_t low = memory->own_low, room = start != 0 && before < low ? low - before : 0;
        atomic_store_explicit(&first_thread_none, low - room / 2, memory_order_relaxed);
        return false;
    }
    const uint64_t size = high - start, room = (start - before) / 2;
    memory->own_low = start - (size < room ? size : room);
    stack_memory_set_live(memory, address);
    return true;
}

bool stack_memory_proves(const struct stack_memory *memory, uint64_t address)
{
    return stack_memory_is_own(memory, address)
               ? address >= memory->own_mapped
               : address - memory->frame_sp < frame_reach(memory->frame_pc);
}

static void note_mapped(struct stack_memory *memory, uint64_t address)
{
    if (!stack_memory_is_own(memory, address)) {
        stack_memory_set_page(memory, address);
        return;
    }
    stack_memory_set_live(memory, address);
    if (address < memory->own_mapped)
        memory->own_mapped = address;
}

bool stack_memory_read_unproven(struct stack_memory *memory, uint64_t address, uint64_t *value)
{
    if (memory->frame_pc && address % sizeof(*value) == 0 && stack_memory_proves(memory, address)) {
        memcpy(value, (const void *)address, sizeof(*value));
        note_mapped(memory, address);
        return true;
    }
    if (address - memory->window_start >= memory->window_size ||
        memory->window_size - (address - memory->window_start) < sizeof(*value)) {
        uint64_t page_left = ARCH_PAGE_SIZE - address % ARCH_PAGE_SIZE;
        uint64_t size = page_left < STACK_WINDOW_BYTES ? page_left : STACK_WINDOW_BYTES;
        if (size < sizeof(*value))
            size = sizeof(*value);
        memory->window_start = address;
        memory->window_size = os_copy_memory(address, memory->window, size);
        if (memory->window_size < sizeof(*value))
            return false;
    }
    memcpy(value, memory->window + (address - memory->window_start), sizeof(*value));
    if (stack_memory_is_own(memory, address))
        note_mapped(memory, address);
    return true;
}
