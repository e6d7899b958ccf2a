/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/shadow_stack.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/stack/shadow_entries.h"
#include "capture/stack/thread_state.h"
#include "capture/stack/unwind_cache.h"

#define SHADOWS_MAX 65536u

bool shadow_stack_on;
__thread struct shadow_stack *shadow_stack_own;

/* All shadow stacks that were ever made. Those of threads that have ended are used again. */
static struct {
    _Atomic(struct shadow_stack *) table[SHADOWS_MAX]; /* NULL: another thread is making it */
    _Atomic uint32_t count;
    _Atomic uint32_t next_search; /* the count at which those of dead threads are searched for */
} shadows = {.next_search = 64};

static struct shadow_stack *take_free(int kernel_id)
{
    uint32_t count = atomic_load(&shadows.count);
    for (uint32_t i = 0; i < count; i++) {
        struct shadow_stack *shadow = atomic_load(&shadows.table[i]);
        int none = 0;
        if (shadow && atomic_load_explicit(&shadow->kernel_id, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&shadow->kernel_id, &none, kernel_id))
            return shadow;
    }
    return NULL;
}

/* Frees those of threads that ended without shadow_stack_end(): a raw clone, a late first call. */
static void reclaim_dead(void)
{
    uint32_t count = atomic_load(&shadows.count), due = atomic_load(&shadows.next_search);
    if (count < due || !atomic_compare_exchange_strong(&shadows.next_search, &due, 2 * count + 8))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct shadow_stack *shadow = atomic_load(&shadows.table[i]);
        int id = shadow ? atomic_load(&shadow->kernel_id) : 0;
        if (id && os_call(SYS_tgkill, os_process_id(), id, 0, 0, 0, 0) == -ESRCH)
            atomic_compare_exchange_strong(&shadow->kernel_id, &id, 0);
    }
}

static struct shadow_stack *create(int kernel_id)
{
    struct shadow_stack *shadow = os_map(sizeof(*shadow));
    if (!shadow)
        return NULL;
    uint32_t index = atomic_fetch_add(&shadows.count, 1);
    if (index >= SHADOWS_MAX) {
        atomic_fetch_sub(&shadows.count, 1);
        os_unmap(shadow, sizeof(*shadow));
        return NULL;
    }
    atomic_store(&shadow->kernel_id, kernel_id);
    atomic_store(&shadows.table[index], shadow);
    return shadow;
}

struct shadow_stack *shadow_stack_begin(const struct stack_thread *thread)
{
    const int kernel_id = os_thread_id();
    uint64_t signals = os_block_signals();
    struct shadow_stack *shadow = shadow_stack_own;
    if (!shadow) {
        shadow = take_free(kernel_id);
        if (!shadow) {
            reclaim_dead();
            shadow = take_free(kernel_id);
        }
        if (!shadow)
            shadow = create(kernel_id);
        if (shadow) {
            while (shadow->count)
                shadow_pop(shadow);
            shadow->base = 0;
            shadow->full_sp = 0;
            shadow->own_low = thread->memory.own_low;
            shadow->own_high = thread->memory.own_high;
            shadow_stack_own = shadow;
        }
    }
    os_restore_signals(signals);
    return shadow;
}

void shadow_stack_end(void)
{
    struct shadow_stack *shadow = shadow_stack_own;
    if (!shadow)
        return;
    shadow_stack_own = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store(&shadow->kernel_id, 0);
}

void shadow_stack_after_fork(void)
{
    uint32_t count = atomic_load(&shadows.count);
    for (uint32_t i = 0; i < count && i < SHADOWS_MAX; i++) {
        struct shadow_stack *shadow = atomic_load(&shadows.table[i]);
        if (shadow)
            atomic_store(&shadow->kernel_id, shadow == shadow_stack_own ? os_thread_id() : 0);
    }
}

/*
 * Returns where the return address of the calling function lies, by its unwind rule. Returns 0 if
 * the rule takes more than two registers.
 */
static uint64_t slot_of_call(const struct shadow_stack *shadow, const struct shadow_call *call)
{
    unwind_rule rule = unwind_cache_rule(call->site - 1);
    if (unwind_rule_kind(rule) != UNWIND_RULE_FRAME)
        return 0;
    uint64_t base = unwind_rule_by_rbp(rule) ? call->rbp : call->sp;
    uint64_t slot = base + (uint64_t)unwind_rule_offset(rule) - 8;
    return slot >= call->sp && slot < shadow->own_high - 8 && slot % 8 == 0 ? slot : 0;
}

/*
 * Drops the entries that were left. An inlined function calls the hook too, from the frame that it
 * was inlined into. The return address of that frame is the same, but the place of the hook is
 * another. So an entry of our frame was left if it has another call site, or came from this place.
 */
static void drop_left(struct shadow_stack *shadow, const struct shadow_call *call, uint64_t slot)
{
    const struct shadow_entry *entries = shadow->entries;
    while (shadow_left(shadow, call->sp) ||
           (slot && shadow->count && entries[shadow->count - 1].sp &&
            entries[shadow->count - 1].slot && entries[shadow->count - 1].slot < slot))
        shadow_pop(shadow);
    for (uint32_t i = shadow->count; i > 0; i--) {
        const struct shadow_entry *entry = &entries[i - 1];
        bool same_frame = slot && entry->slot ? entry->slot == slot : entry->sp == call->sp;
        if (!same_frame)
            break;
        if (entry->call_site == call->call_site && entry->site != call->site)
            continue;
        while (shadow->count >= i)
            shadow_pop(shadow);
    }
}

void shadow_stack_enter(struct shadow_stack *shadow, const struct shadow_call *call)
{
    if (!shadow_is_own(shadow, call->sp))
        return;
    const uint64_t slot = slot_of_call(shadow, call);
    drop_left(shadow, call, slot);
    if (shadow->full_sp < call->sp)
        shadow->full_sp = 0;
    if (shadow->count == SHADOW_ENTRIES) {
        if (!shadow->full_sp)
            shadow->full_sp = call->sp;
        return;
    }
    struct shadow_entry *entry = &shadow->entries[shadow->count];
    shadow->count++;
    atomic_signal_fence(memory_order_seq_cst);
    entry->function = call->function;
    entry->call_site = call->call_site;
    entry->site = call->site;
    entry->slot = slot;
    entry->node = 0;
    atomic_signal_fence(memory_order_seq_cst);
    entry->sp = call->sp;
}

/*
 * If a function jumps to the hook as its last act, the hook sees the stack pointer of the caller.
 * The entry is then dropped because of its place, together with those that were left before.
 */
void shadow_stack_leave(struct shadow_stack *shadow, const struct shadow_call *call)
{
    const struct shadow_entry *entries = shadow->entries, *left;
    bool found = false;
    if (!shadow_is_own(shadow, call->sp) || call->sp <= shadow->full_sp)
        return;
    while ((left = shadow_left(shadow, call->sp))) {
        found = left->function == call->function && left->call_site == call->call_site;
        shadow_pop(shadow);
    }
    for (uint32_t i = shadow->count; !found && i > 0 && entries[i - 1].call_site == call->call_site;
         i--) {
        found = entries[i - 1].function == call->function;
        while (found && shadow->count >= i)
            shadow_pop(shadow);
    }
}
