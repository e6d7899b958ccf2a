/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_current(): see stack.h for the interface.
 *
 * Each thread keeps its last walked stack together with the words that it was read from. The stack
 * is the same if the caller's frame is the innermost kept one and all these words are unchanged. It
 * is also known if an inner part that was walked before (a branch) lies unchanged on kept frames
 * that are unchanged. Otherwise the stack is walked (walk.h). */
#include "capture/stack/stack.h"

#include <stdatomic.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/stack/branch.h"
#include "capture/stack/context_tree.h"
#include "capture/stack/executable_maps.h"
#include "capture/stack/frame_reach.h"
#include "capture/stack/modules.h"
#include "capture/stack/other_stacks.h"
#include "capture/stack/runtimes.h"
#include "capture/stack/shadow_stack.h"
#include "capture/stack/thread_state.h"
#include "capture/stack/unwind_rule.h"
#include "capture/stack/walk.h"

static struct {
    const struct stack_sink *sink;
    enum stack_unwind mode;
    uint32_t limit;
    /* The mode as the hot path sees it: one of those that do not unwind also if there is a runtime.
     * A thread may see a change late. So it is not atomic: the compiler then compares it in memory,
     * which saves the hot path an instruction. */
    enum stack_unwind hot_mode;
    _Atomic uint32_t generation; /* changes when kept stacks must be dropped */
} stacks;

void stack_init(const struct stack_options *options, const struct stack_sink *sink)
{
    uint32_t limit = options->depth_limit ? options->depth_limit : STACK_DEPTH_LIMIT;
    stacks.sink = sink;
    stacks.mode = options->unwind;
    stacks.limit = limit < STACK_DEPTH_LIMIT_MAX ? limit : STACK_DEPTH_LIMIT_MAX;
    stacks.hot_mode = options->unwind;
    modules_init(false);
    unwind_cache_init(options->unwind);
    shadow_stack_on = options->unwind == STACK_UNWIND_INSTRUMENT;
    context_tree_init(sink);
}

void stack_after_fork(void)
{
    modules_reset();
    unwind_cache_after_fork();
    frame_reach_after_fork();
    executable_maps_after_fork();
    shadow_stack_after_fork();
    context_tree_reset();
    node_log_reset();
    runtimes_after_fork();
    atomic_fetch_add(&stacks.generation, 1);
}

void stack_new_trace(void)
{
    modules_announce_again();
    runtimes_announce_again();
    context_tree_restart();
    atomic_fetch_add(&stacks.generation, 1);
}

bool stack_may_turn(void)
{
    return node_log_is_on || (stacks.mode != STACK_UNWIND_INSTRUMENT && node_log_begin());
}

bool stack_turn(void)
{
    if (!node_log_turn())
        return false;
    modules_announce_again();
    runtimes_announce_again();
    context_tree_reset();
    atomic_fetch_add(&stacks.generation, 1);
    return true;
}

uint32_t stack_carry(uint32_t node, void *context)
{
    return carry_node(node, context);
}

void stack_turn_end(void)
{
    node_log_release();
}

void stack_contexts_renew(void)
{
    context_tree_restart();
    atomic_fetch_add(&stacks.generation, 1);
}

size_t stack_thread_size(void)
{
    size_t frame = sizeof(struct stack_kept) + sizeof(struct stack_frame);
    size_t size = sizeof(struct stack_thread) + sizeof(struct stack_frame) +
                  sizeof(struct stack_pair) +
                  stacks.limit * (frame + 3 * sizeof(struct stack_pair)) +
                  STACK_BRANCHES_ALIGNMENT + sizeof(struct stack_branches) +
                  runtime_stack_size(stacks.limit) + copied_stacks_size() + other_stacks_size();
    return (size + ARCH_PAGE_SIZE - 1) & ~(size_t)(ARCH_PAGE_SIZE - 1);
}

ARCH_ALIGNS_STACK void stack_thread_init(struct stack_thread *thread)
{
    other_stacks_release(thread->other);
    copied_stacks_release(thread);
    os_discard(thread, stack_thread_size());
    thread->limit = stacks.limit;
    thread->generation = atomic_load(&stacks.generation);
    thread->kept = (struct stack_kept *)(thread + 1);
    thread->changed = (struct stack_frame *)(thread->kept + thread->limit);
    thread->pairs = (struct stack_pair *)(thread->changed + thread->limit + 1);
    uintptr_t behind = (uintptr_t)(thread->pairs + 3 * (size_t)thread->limit + 1);
    thread->branches = (struct stack_branches *)((behind + STACK_BRANCHES_ALIGNMENT - 1) &
                                                 ~(uintptr_t)(STACK_BRANCHES_ALIGNMENT - 1));
    runtime_stack_init(thread, thread->branches + 1);
    uint8_t *room = (uint8_t *)(thread->branches + 1) + runtime_stack_size(thread->limit);
    copied_stacks_init(thread, room);
    other_stacks_init(thread, room + copied_stacks_size());
    if (stacks.mode != STACK_UNWIND_OFF)
        stack_memory_init(&thread->memory);
}

/* Handles the modes that do not unwind, and stacks with the frames of runtimes. Sets *node to 0 if
 * unwinding is off, or to the node of the shadow stack or of the merged stack. Returns false if the
 * stack must be unwound. Functions that report themselves have no frames of runtimes between
 * them. */
static ARCH_ALIGNS_STACK bool stack_is_known(struct stack_thread *thread, const uint64_t *entry,
                                             void *context, uint32_t *node)
{
    *node = 0;
    if (stacks.mode == STACK_UNWIND_OFF)
        return true;
    if (stacks.mode == STACK_UNWIND_INSTRUMENT) {
        const struct shadow_request request = {.pc = entry[1],
                                               .sp = (uint64_t)(entry + 2),
                                               .generation = thread->generation,
                                               .limit = thread->limit,
                                               .context = context};
        return shadow_stack_node(&request, node);
    }
    *node = runtime_stack_current(thread, entry, stacks.mode != STACK_UNWIND_EH, context);
    return true;
}

static void begin_walk(struct stack_thread *thread, const uint64_t *entry)
{
    thread->changed[0] =
        (struct stack_frame){.rbp = entry[0], .pc = entry[1], .sp = (uint64_t)(entry + 2)};
}

/* Does what stack_current() does on another stack than the thread's own. */
static __attribute__((noinline)) uint32_t other_current(struct stack_thread *thread,
                                                        const uint64_t *entry, void *context)
{
    const uint64_t rbp = entry[0], pc = entry[1], sp = (uint64_t)(entry + 2);
    struct stack_thread *other = other_stacks_choose(thread, sp);
    if (other->count != 0) {
        const struct stack_kept *top = &other->kept[other->count - 1];
        if (frame_equal(top, pc, sp, rbp, false) &&
            pairs_differ_outward(other->pairs, top->pair_end) == 0)
            return top->node;
        const uint32_t node = stack_branch_find_other(other, pc, sp, rbp);
        if (node)
            return node;
    }
    stack_memory_begin(&other->memory, (uint64_t)entry);
    begin_walk(thread, entry);
    return stack_walk_other(other, stacks.mode != STACK_UNWIND_EH, context);
}

/* Returns the node of a stack that the thread had before the present one, at the same place. 0: it
 * is not known without a walk. */
static __attribute__((noinline)) uint32_t copied_current(struct stack_thread *thread,
                                                         const uint64_t *entry)
{
    const uint64_t rbp = entry[0], pc = entry[1], sp = (uint64_t)(entry + 2);
    if (!copied_stacks_guess(thread, sp))
        return 0;
    const struct stack_kept *top = &thread->kept[thread->count - 1];
    const uint32_t node =
        frame_equal(top, pc, sp, rbp, false) && pairs_same(thread->pairs, top->pair_end)
            ? top->node
            : stack_branch_find(thread, pc, sp, rbp, NULL, 0);
    if (node)
        copied_stacks_right(thread);
    return node;
}

/* Does the part of stack_current() that walks. */
static ARCH_ALIGNS_STACK uint32_t walk_stack(struct stack_thread *thread, const uint64_t *entry,
                                             void *context)
{
    if (!stack_memory_begin(&thread->memory, (uint64_t)entry) &&
        !stack_memory_grow(&thread->memory, (uint64_t)entry))
        return other_current(thread, entry, context);
    const uint32_t node = copied_current(thread, entry);
    if (node)
        return node;
    begin_walk(thread, entry);
    return stack_walk(thread, stacks.mode != STACK_UNWIND_EH, context);
}

uint32_t stack_current(struct stack_thread *thread, const void *entry_frame, void *context)
{
    const uint64_t *entry = entry_frame;
    const uint64_t rbp = entry[0], pc = entry[1], sp = (uint64_t)(entry + 2);
    uint32_t node, generation = atomic_load_explicit(&stacks.generation, memory_order_acquire);
    if (__builtin_expect(thread->generation != generation, 0)) {
        thread->generation = generation;
        thread->count = 0;
        stack_branch_clear(thread);
        copied_stacks_clear(thread);
        other_stacks_clear(thread->other);
        runtime_stack_clear(thread);
    }
    if (__builtin_expect(stacks.hot_mode >= STACK_UNWIND_INSTRUMENT, 0) &&
        stack_is_known(thread, entry, context, &node))
        return node;
    if (__builtin_expect(thread->count != 0, 1)) {
        const struct stack_kept *top = &thread->kept[thread->count - 1];
        if (frame_equal(top, pc, sp, rbp, false) && pairs_same(thread->pairs, top->pair_end))
            return top->node;
        node = stack_branch_find(thread, pc, sp, rbp, NULL, 0);
        if (node)
            return node;
    }
    return walk_stack(thread, entry, context);
}

uint32_t stack_add_runtime(const char *name, const struct mprof_runtime_calls *calls, void *data)
{
    const uint32_t runtime = runtimes_add(name, calls, data);
    if (runtime && stacks.mode < STACK_UNWIND_INSTRUMENT)
        stacks.hot_mode = STACK_UNWIND_INSTRUMENT;
    return runtime;
}

uint32_t stack_runtime_module(uint32_t runtime, void *context)
{
    return runtimes_module(runtime, stacks.sink, context);
}

ARCH_ALIGNS_STACK bool stack_place(const void *address, uint32_t *module, uint64_t *value,
                                   void *context)
{
    struct module found;
    if (!modules_find((uint64_t)address, &found) || !modules_announce(&found, stacks.sink, context))
        return false;
    *module = found.id;
    *value = (uint64_t)address - found.load_bias;
    return true;
}

static void module_gone(const struct module *module, bool announced, void *context)
{
    unwind_cache_forget(module->start, module->end);
    frame_reach_forget(module->start, module->end);
    context_tree_forget(module->start, module->end);
    if (announced)
        stacks.sink->module_end(context, module->id);
}

ARCH_ALIGNS_STACK void stack_modules_changed(void *context)
{
    atomic_fetch_add(&stacks.generation, 1);
    modules_sweep(module_gone, context);
}

void stack_figures(struct stack_figures *figures)
{
    figures->nodes = context_tree_nodes();
    figures->rules = lockfree_table_used(&unwind_cache_table);
    figures->modules = modules_announced();
    figures->bytes = context_tree_bytes() + lockfree_table_bytes(&unwind_cache_table);
}
