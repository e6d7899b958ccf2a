/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads stack memory and never faults.
 *
 * The part of a thread's own stack from the frame where a walk began to the top is surely mapped
 * and is read directly. If a word of the own stack could be read once, all of the stack above it
 * stays mapped.
 *
 * On another stack (of a coroutine, of signals, a segment of a split one) the page of the running
 * frame is surely mapped, and each page that holds a word by which a running function returns
 * (frame_reach.h). Nothing is known of the pages around, which others may unmap at any time.
 *
 * All other memory, such as an address in a damaged frame, is read through the kernel, a window at
 * a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "capture/os/arch_x86_64.h"

#define STACK_WINDOW_BYTES 1024u

struct stack_memory {
    uint64_t own_low, own_high; /* the thread's stack; equal if it is not known */
    uint64_t live_low;          /* start of the memory that is surely mapped now */
    uint64_t live_size;         /* its bytes, less the seven that end a word */
    uint64_t frame_pc;          /* on another stack, the frame whose words are read: its pc as */
    uint64_t frame_sp;          /* rules are looked up, and its stack pointer. pc 0: not known */
    uint64_t own_mapped;        /* the own stack is mapped from here on */
    uint64_t window_start, window_size;
    uint8_t window[STACK_WINDOW_BYTES];
};

/* Finds the bounds of the calling thread's stack. */
void stack_memory_init(struct stack_memory *memory);

/* Returns true if `address`, in a running frame, lies on the first thread's own stack after all:
 * beyond its bounds. Then it moves the bounds. */
bool stack_memory_grow(struct stack_memory *memory, uint64_t address);

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

/* Notes that the page of `address` is mapped. */
static inline void stack_memory_set_page(struct stack_memory *memory, uint64_t address)
{
    memory->live_low = address & ~(uint64_t)(ARCH_PAGE_SIZE - 1);
    memory->live_size = ARCH_PAGE_SIZE - 7;
}

/* Begins a walk. `address` lies in a frame that is running. Returns false if it lies on another
 * stack than the thread's own. */
static inline bool stack_memory_begin(struct stack_memory *memory, uint64_t address)
{
    memory->window_size = 0;
    if (stack_memory_is_own(memory, address)) {
        stack_memory_set_live(memory, address);
        return true;
    }
    stack_memory_set_page(memory, address);
    return false;
}

/* Notes the frame whose words are read from here on, on another stack than the thread's own. */
static inline void stack_memory_set_frame(struct stack_memory *memory, uint64_t pc, uint64_t sp)
{
    memory->frame_pc = pc;
    memory->frame_sp = sp;
}

/* Returns true if the frame that was noted in `memory` surely has the word at `address`. */
bool stack_memory_proves(const struct stack_memory *memory, uint64_t address);

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
