/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of a shadow stack, for shadow_stack.c, which keeps it, and shadow_nodes.c, which makes
 * frames from it.
 */
#ifndef MPROF_CAPTURE_STACK_SHADOW_ENTRIES_H
#define MPROF_CAPTURE_STACK_SHADOW_ENTRIES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SHADOW_ENTRIES 16384u
#define SHADOW_SETS_LOG2 8u
#define SHADOW_WAYS_LOG2 2u
#define SHADOW_REPORTING_LOG2 6u

/*
 * sp is 0 in all entries that are not in use. It is written last when an entry is made. A signal
 * handler that runs before that skips the entry and leaves it alone.
 */
struct shadow_entry {
    uint64_t function, call_site, site; /* as in struct shadow_call */
    uint64_t sp;
    uint64_t slot;       /* where the return address of its frame lies; 0: not known */
    uint64_t outer_site; /* of the first hook in the same frame of the real stack */
    uint64_t start;  /* of the function that `site` lies in, once there is a node; 0: not known */
    uint64_t path;   /* of `node`, see context_tree.h */
    uint32_t node;   /* of the call site; 0: not looked up yet */
    uint32_t frames; /* from the outermost frame to this one */
};

/* The function in which an address lies, from the unwind tables. */
struct shadow_function {
    uint64_t pc, start; /* start 0: not known, or a part of a function that lies apart */
};

struct shadow_stack {
    _Atomic int kernel_id; /* of the thread that has it; 0: free */
    uint32_t count;
    uint32_t base;       /* the entry that frames begin with; those further out are cut off */
    uint32_t generation; /* of the nodes */
    uint64_t own_low, own_high;
    uint64_t full_sp; /* of the first entry for which there was no room; 0: none */
    uint32_t replaced;
    struct shadow_function functions[1u << (SHADOW_SETS_LOG2 + SHADOW_WAYS_LOG2)];
    uint64_t reporting[1u << SHADOW_REPORTING_LOG2]; /* bits of hashes of `start` of all entries */
    struct shadow_entry entries[SHADOW_ENTRIES];
};

static inline bool shadow_is_own(const struct shadow_stack *shadow, uint64_t sp)
{
    return sp - shadow->own_low < shadow->own_high - shadow->own_low;
}

static inline void shadow_pop(struct shadow_stack *shadow)
{
    shadow->entries[shadow->count - 1].sp = 0;
    atomic_signal_fence(memory_order_seq_cst);
    shadow->count--;
}

/* Returns the innermost entry if its function has been left, otherwise NULL. */
static inline struct shadow_entry *shadow_left(struct shadow_stack *shadow, uint64_t sp)
{
    struct shadow_entry *top = shadow->entries + shadow->count - 1;
    if (!shadow->count || !top->sp)
        return NULL;
    /* The stack can be read from the stack pointer on. */
    bool left = top->sp < sp || (top->slot && *(const uint64_t *)top->slot != top->call_site);
    return left ? top : NULL;
}

#endif
