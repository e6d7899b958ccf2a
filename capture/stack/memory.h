/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads stack memory and never faults.
 *
 * The part of a thread's own stack from the frame where a walk began to the top is surely mapped
 * and is read directly. All other memory (coroutine stacks, signal stacks, addresses in a damaged
 * frame) is read through the kernel, a window at a time. If a word of the own stack can be read in
 * this way, all of the stack above it is mapped.
 */
#ifndef MPROF_CAPTURE_STACK_MEMORY_H
#define MPROF_CAPTURE_STACK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STACK_WINDOW_BYTES 1024u

struct stack_memory {
    uint64_t own_low, own_high; /* the thread's stack; equal if it is not known */
    uint64_t live_low;          /* start of the own stack that is surely mapped */
    uint64_t live_size;         /* its bytes, less the seven that end a word */
    uint64_t window_start, window_size;
    uint8_t window[STACK_WINDOW_BYTES];
};

/* Finds the bounds of the calling thread's stack. */
void stack_memory_init(struct stack_memory *memory);

static inline bool stack_memory_is_own(const struct stack_memory *memory, uint64_t address)
{
    return address - memory->own_low < memory->own_high - memory->own_low;
}

/* Notes that all of the own stack from `address` on is mapped. */
static inline void stack_memory_set_live(struct stack_memory *memory, uint64_t address)
{
    uint64_t size = memory->own_high - address;
    memory->live_low = address;
    memory->live_size = size > 7 ? size - 7 : 0;
}

/* Begins a walk. `address` lies in a frame that is running. */
static inline void stack_memory_begin(struct stack_memory *memory, uint64_t address)
{
    memory->window_size = 0;
    if (stack_memory_is_own(memory, address))
        stack_memory_set_live(memory, address);
    else
        memory->live_size = 0;
}

bool stack_memory_read_unproven(struct stack_memory *memory, uint64_t address, uint64_t *value);

/* Reads the word at `address`. Returns false if no memory is mapped there. */
static inline bool stack_memory_read(struct stack_memory *memory, uint64_t address, uint64_t *value)
{
    if (__builtin_expect(address - memory->live_low < memory->live_size, 1)) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): inside the stack */
        memcpy(value, (const void *)address, sizeof(*value));
        return true;
    }
    return stack_memory_read_unproven(memory, address, value);
}

#endif
