#include "capture/stack_memory.h"

#include "capture/arch_x86_64.h"
#include "capture/os.h"
#include "capture/process_maps.h"

/*
 * The kernel keeps at least this much address space below the top of the first thread's stack
 * free of other mappings, however much of it the stack uses so far.
 */
#define MAIN_STACK_GAP (UINT64_C(128) << 20)

static bool contains(const struct process_map *map, uint64_t address)
{
    return address - map->start < map->end - map->start;
}

struct range {
    uint64_t low, high;
};

static bool range_contains(const struct range *range, uint64_t address)
{
    return address - range->low < range->high - range->low;
}

/* The mapping named [stack], and the one that ends in the thread's control block. */
static void stacks_find(uint64_t block, struct range *first_thread, struct range *below_block)
{
    struct process_maps *maps = process_maps_open();
    struct process_map map;
    while (maps && process_maps_next(maps, &map)) {
        if (!strcmp(map.path, "[stack]"))
            *first_thread = (struct range){map.end - MAIN_STACK_GAP, map.end};
        else if (map.readable && contains(&map, block))
            *below_block = (struct range){map.start, block};
    }
    if (maps)
        process_maps_close(maps);
}

/*
 * The first thread has the mapping named [stack]. The others, made by the thread library, have
 * their control block at the top of their stack, so they are found even if this call comes from
 * a coroutine. What was made in another way has no known stack, and is read through the kernel.
 */
void stack_memory_init(struct stack_memory *memory)
{
    struct range first_thread = {0, 0}, below_block = {0, 0};
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    stacks_find(arch_thread_pointer(), &first_thread, &below_block);
    bool is_first = range_contains(&first_thread, here);
    if (!is_first && !range_contains(&below_block, here))
        is_first = os_thread_id() == os_process_id();
    memory->own_low = is_first ? first_thread.low : below_block.low;
    memory->own_high = is_first ? first_thread.high : below_block.high;
}

bool stack_memory_read_unproven(struct stack_memory *memory, uint64_t address, uint64_t *value)
{
    if (address - memory->window_start >= memory->window_size ||
        memory->window_size - (address - memory->window_start) < sizeof *value) {
        uint64_t page_left = ARCH_PAGE_SIZE - address % ARCH_PAGE_SIZE;
        uint64_t size = page_left < STACK_WINDOW_BYTES ? page_left : STACK_WINDOW_BYTES;
        if (size < sizeof *value)
            size = sizeof *value;
        memory->window_start = address;
        memory->window_size = os_peek(address, memory->window, size);
        if (memory->window_size < sizeof *value)
            return false;
    }
    memcpy(value, memory->window + (address - memory->window_start), sizeof *value);
    if (stack_memory_is_own(memory, address))
        stack_memory_set_live(memory, address);
    return true;
}
