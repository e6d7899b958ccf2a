/*
 * stack_current(): see stack.h for the interface.
 *
 * The last stack of the thread is kept with the words that it was read from. If the caller's
 * frame is the innermost kept one, and all these words are still the same, the stack is the same.
 * Otherwise frames are stepped outward by their rules until one equals a kept frame in pc,
 * stack pointer and (where it matters) rbp, and all words outward of it are the same. Stopping
 * at the first equal frame without that comparison would be wrong: two callers with frames of
 * equal size leave the same inner frames. At the first word that differs the walk goes on by
 * rules, and may meet a kept frame further out.
 */
#include "capture/stack.h"

#include <stdatomic.h>

#include "capture/context_tree.h"
#include "capture/modules.h"
#include "capture/os.h"
#include "capture/stack_branch.h"
#include "capture/stack_thread.h"
#include "capture/unwind_cache.h"
#include "capture/unwind_step.h"

static struct {
    const struct stack_sink *sink;
    enum stack_unwind mode;
    uint32_t limit;
    _Atomic uint32_t generation; /* changes when kept stacks must be dropped */
} stacks;

void stack_process_init(const struct stack_options *options, const struct stack_sink *sink)
{
    uint32_t limit = options->depth_limit ? options->depth_limit : STACK_DEPTH_LIMIT;
    stacks.sink = sink;
    stacks.mode = options->unwind;
    stacks.limit = limit < STACK_DEPTH_LIMIT_MAX ? limit : STACK_DEPTH_LIMIT_MAX;
    modules_init(false);
    unwind_cache_init(options->unwind);
    context_tree_init(sink);
}

void stack_process_forked(void)
{
    modules_reset();
    unwind_cache_forked();
    context_tree_reset();
    atomic_fetch_add(&stacks.generation, 1);
}

void stack_process_restarted(void)
{
    modules_announce_again();
    context_tree_restart();
    atomic_fetch_add(&stacks.generation, 1);
}

size_t stack_thread_size(void)
{
    size_t frame = sizeof(struct stack_kept) + sizeof(struct stack_frame);
    size_t size =
        sizeof(struct stack_thread) + sizeof(struct stack_frame) + sizeof(struct stack_pair) +
        stacks.limit * (frame + 3 * sizeof(struct stack_pair)) + sizeof(struct stack_branches);
    return (size + ARCH_PAGE_SIZE - 1) & ~(size_t)(ARCH_PAGE_SIZE - 1);
}

void stack_thread_init(struct stack_thread *thread)
{
    thread->limit = stacks.limit;
    thread->count = 0;
    thread->generation = atomic_load(&stacks.generation);
    thread->kept = (struct stack_kept *)(thread + 1);
    thread->changed = (struct stack_frame *)(thread->kept + thread->limit);
    thread->pairs = (struct stack_pair *)(thread->changed + thread->limit + 1);
    thread->branches = (struct stack_branches *)(thread->pairs + 3 * (size_t)thread->limit + 1);
    if (stacks.mode != STACK_UNWIND_OFF)
        stack_memory_init(&thread->memory);
}

/*
 * How many of the first `count` pairs, from the end backwards, are still as they were: returns
 * the number of pairs up to and including the last one that differs, 0 if none does.
 */
static uint32_t pairs_differ(const struct stack_pair *pairs, uint32_t count)
{
    const struct stack_pair *pair = pairs + count;
    while (pair - pairs >= 8) {
        uint64_t difference = 0;
        pair -= 8;
#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; i++)
            difference |= *(const uint64_t *)pair[i].address ^ pair[i].value;
        if (difference) {
            pair += 8;
            break;
        }
    }
    while (pair != pairs && *(const uint64_t *)pair[-1].address == pair[-1].value)
        pair--;
    return (uint32_t)(pair - pairs);
}

static inline __attribute__((always_inline)) uint64_t
pairs_difference(const struct stack_pair *pairs, uint32_t count)
{
    uint64_t difference = 0;
#pragma GCC unroll 16
    for (uint32_t i = 0; i < count; i++)
        difference |= *(const uint64_t *)pairs[i].address ^ pairs[i].value;
    return difference;
}

/*
 * Whether all `count` pairs are as they were, for when they most likely are: no branch depends on
 * a single one, and the last block overlaps the one before.
 */
static inline bool pairs_same(const struct stack_pair *pairs, uint32_t count)
{
    uint64_t difference = 0;
    if (count < 8) {
        for (uint32_t i = 0; i < count; i++)
            difference |= pairs_difference(pairs + i, 1);
        return !difference;
    }
    const struct stack_pair *last = pairs + count - 8;
    for (; pairs < last; pairs += 8)
        difference |= pairs_difference(pairs, 8);
    return !(difference | pairs_difference(last, 8));
}

static inline bool frame_equal(const struct stack_kept *kept, const struct stack_frame *now)
{
    return kept->sp == now->sp && kept->pc == now->pc && kept->exact == now->exact &&
           (!kept->needs_rbp || kept->rbp == now->rbp);
}

/* What one walk works with. */
struct walk {
    struct stack_thread *thread;
    struct unwind_walk unwind;
    struct stack_pair probe;
    uint32_t candidates; /* kept frames that may still be met, from the outermost */
    uint32_t changed;    /* frames walked so far */
    bool matched;        /* the walk ended at kept frame candidates - 1 */
    enum stack_end end;  /* how it ended otherwise */
};

/*
 * If `frame` is a kept one whose callers are the same too, true. If only some of its callers
 * are, the kept frames from the first that has another caller on inward are no candidates.
 */
static bool walk_meets(struct walk *walk, const struct stack_frame *frame)
{
    struct stack_thread *thread = walk->thread;
    const struct stack_kept *kept = thread->kept;
    uint64_t proof;
    if (!walk->candidates || !stack_memory_is_own(&thread->memory, frame->sp))
        return false;
    while (walk->candidates && kept[walk->candidates - 1].sp < frame->sp)
        walk->candidates--;
    if (!walk->candidates || !frame_equal(&kept[walk->candidates - 1], frame))
        return false;
    if (!stack_memory_read(&thread->memory, frame->sp, &proof))
        return false;
    uint32_t differ = pairs_differ(thread->pairs, kept[walk->candidates - 1].pair_end);
    if (!differ)
        return true;
    while (walk->candidates && kept[walk->candidates - 1].pair_end >= differ)
        walk->candidates--;
    return false;
}

/*
 * Steps outward from the first frame into thread->changed until a kept frame is met or the stack
 * ends. A stack deeper than the limit is cut to three quarters of it, so that a recursion that
 * goes on from there costs one new root in so many calls, not one each.
 */
static void walk_outward(struct walk *walk)
{
    struct stack_thread *thread = walk->thread;
    struct stack_frame *frame = &thread->changed[0];
    walk->changed = 0;
    for (;;) {
        if (walk_meets(walk, frame)) {
            if (walk->candidates + walk->changed <= thread->limit) {
                walk->matched = true;
                return;
            }
            walk->candidates = 0;
        }
        struct stack_frame *caller = frame + 1;
        enum unwind_step step =
            unwind_step_outward(&thread->memory, &walk->unwind, frame, caller, &walk->probe);
        walk->changed++;
        if (step != UNWIND_STEP_CALLER) {
            walk->end = step == UNWIND_STEP_OUTERMOST ? STACK_END_WHOLE : STACK_END_UNKNOWN;
            return;
        }
        if (walk->changed == thread->limit) {
            walk->changed = thread->limit - thread->limit / 4;
            walk->end = STACK_END_CUT;
            walk->probe.address = 0;
            return;
        }
        frame = caller;
    }
}

static bool pair_keep(struct stack_thread *thread, uint32_t *count, uint64_t address,
                      uint64_t value)
{
    if (!stack_memory_is_own(&thread->memory, address) || address % 8)
        return false;
    thread->pairs[(*count)++] = (struct stack_pair){address, value};
    return true;
}

/*
 * The pairs of the step from `frame` to `caller` (NULL: the stack ended) go behind the others.
 * False where the step cannot be kept.
 */
static bool step_keep(struct walk *walk, struct stack_frame *frame,
                      const struct stack_frame *caller, uint32_t *pairs)
{
    struct stack_thread *thread = walk->thread;
    if (frame->transient || !stack_memory_is_own(&thread->memory, frame->sp))
        return false;
    if (!caller) {
        frame->needs_rbp = frame->uses_rbp;
        return !walk->probe.address ||
               pair_keep(thread, pairs, walk->probe.address, walk->probe.value);
    }
    frame->needs_rbp = frame->uses_rbp || (caller->needs_rbp && !caller->rbp_slot);
    return caller->sp > frame->sp && pair_keep(thread, pairs, caller->pc_slot, caller->pc) &&
           (!caller->needs_rbp || !caller->rbp_slot ||
            pair_keep(thread, pairs, caller->rbp_slot, caller->rbp)) &&
           (!caller->cfa_slot || pair_keep(thread, pairs, caller->cfa_slot, caller->cfa_value));
}

static void frame_keep(struct stack_thread *thread, const struct stack_frame *frame, uint32_t node,
                       uint32_t pairs)
{
    struct stack_kept *kept = &thread->kept[thread->count++];
    kept->pc = frame->pc;
    kept->sp = frame->sp;
    kept->rbp = frame->rbp;
    kept->path = frame->path;
    kept->node = node;
    kept->pair_end = pairs;
    kept->exact = frame->exact;
    kept->needs_rbp = frame->needs_rbp;
}

static enum trace_node_frame frame_kind(const struct stack_frame *frame)
{
    return frame->exact ? TRACE_FRAME_EXACT : TRACE_FRAME_RETURN;
}

/* The node that stands for what is missing outward of the outermost frame, 0 if nothing is. */
static bool end_node(const struct walk *walk, void *context, uint32_t *node, uint64_t *path)
{
    *node = 0;
    *path = 0;
    if (walk->end == STACK_END_WHOLE)
        return true;
    enum trace_node_frame kind =
        walk->end == STACK_END_CUT ? TRACE_FRAME_DEPTH_LIMIT : TRACE_FRAME_UNWIND_END;
    *path = context_tree_path(0, 0, kind);
    *node = context_tree_node(0, *path, 0, kind, context);
    return *node != 0;
}

/* The paths of all walked frames, under that of the frame they stand on. */
static void walk_paths(struct walk *walk, uint64_t path)
{
    for (uint32_t left = walk->changed; left--;) {
        struct stack_frame *frame = &walk->thread->changed[left];
        frame->path = path = context_tree_path(path, frame->pc, frame_kind(frame));
        context_tree_prefetch(path);
    }
}

/* The kept frame that the walk met stays, as it was met now. Returns its node. */
static uint32_t met_keep(struct walk *walk, uint32_t *pairs)
{
    struct stack_kept *met = &walk->thread->kept[walk->candidates - 1];
    struct stack_frame *frame = &walk->thread->changed[walk->changed];
    walk->thread->count = walk->candidates;
    met->rbp = frame->rbp;
    frame->needs_rbp = met->needs_rbp;
    *pairs = met->pair_end;
    return met->node;
}

/*
 * Gives the walked frames their nodes, from the outermost inward, and keeps them as far as they
 * can be. Returns the innermost node.
 */
static uint32_t walk_commit(struct walk *walk, void *context)
{
    struct stack_thread *thread = walk->thread;
    uint32_t node, pairs = 0, left = walk->changed;
    const struct stack_frame *caller = walk->matched ? &thread->changed[left] : NULL;
    bool keeping = true;
    uint64_t path;
    if (walk->matched) {
        node = met_keep(walk, &pairs);
        path = thread->kept[thread->count - 1].path;
    } else {
        /* A coroutine's stack has no part of the thread's own, which may come back. */
        keeping = stack_memory_is_own(&thread->memory, thread->changed[left - 1].sp);
        if (!end_node(walk, context, &node, &path))
            return 0;
        if (keeping) {
            thread->count = 0;
            thread->end = walk->end;
        }
    }
    walk_paths(walk, path);
    while (left--) {
        struct stack_frame *frame = &thread->changed[left];
        node = context_tree_node(node, frame->path, frame->pc, frame_kind(frame), context);
        if (!node)
            return 0;
        keeping = keeping && step_keep(walk, frame, caller, &pairs);
        if (keeping)
            frame_keep(thread, frame, node, pairs);
        caller = frame;
    }
    if (keeping && walk->matched)
        stack_branch_keep(thread, walk->candidates - 1);
    return node;
}

static __attribute__((noinline)) uint32_t stack_walk(struct stack_thread *thread, void *context)
{
    struct walk walk;
    walk.thread = thread;
    walk.unwind.registers.valid = false;
    walk.unwind.guess = stacks.mode != STACK_UNWIND_EH;
    walk.candidates = thread->count;
    walk.matched = false;
    walk_outward(&walk);
    /* Where a cut stack has shrunk, more of it can be shown: once anew, up to the limit. */
    if (walk.matched && thread->end == STACK_END_CUT &&
        walk.candidates + walk.changed < thread->limit / 2) {
        walk.candidates = 0;
        walk.matched = false;
        walk_outward(&walk);
    }
    return walk_commit(&walk, context);
}

/* The node of a stack whose inner part was walked before, 0 if none is known to be the same. */
static inline uint32_t branch_find(const struct stack_thread *thread,
                                   const struct stack_frame *first)
{
    if (!stack_memory_is_own(&thread->memory, first->sp))
        return 0;
    struct stack_branch_key key = stack_branch_key(thread, first->pc, first->sp);
    const struct stack_branch_set *set = &thread->branches->sets[key.set];
    for (uint32_t way = 0; way < STACK_BRANCH_WAYS; way++) {
        if (set->tags[way] != key.tag)
            continue;
        const struct stack_branch *branch = &thread->branches->ways[key.set][way];
        if (stack_branch_fits(branch, thread, first) &&
            !pairs_difference(branch->pairs, STACK_BRANCH_PAIRS) &&
            pairs_same(thread->pairs, thread->kept[branch->base].pair_end))
            return branch->node;
    }
    return 0;
}

uint32_t stack_current(struct stack_thread *thread, const void *entry_frame, void *context)
{
    const uint64_t *entry = entry_frame;
    if (stacks.mode == STACK_UNWIND_OFF)
        return 0;
    struct stack_frame *first = &thread->changed[0];
    first->rbp = entry[0];
    first->pc = entry[1];
    first->sp = (uint64_t)(entry + 2);
    first->pc_slot = first->rbp_slot = first->cfa_slot = 0;
    first->exact = 0;
    uint32_t generation = atomic_load_explicit(&stacks.generation, memory_order_acquire);
    if (thread->generation != generation) {
        thread->generation = generation;
        thread->count = 0;
    }
    if (thread->count) {
        const struct stack_kept *top = &thread->kept[thread->count - 1];
        if (frame_equal(top, first) && pairs_same(thread->pairs, top->pair_end))
            return top->node;
        uint32_t node = branch_find(thread, first);
        if (node)
            return node;
    }
    stack_memory_begin(&thread->memory, (uint64_t)entry);
    return stack_walk(thread, context);
}

bool stack_place(const void *address, uint32_t *module, uint64_t *value, void *context)
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
    context_tree_forget(module->start, module->end);
    if (announced)
        stacks.sink->module_end(context, module->id);
}

void stack_modules_changed(void *context)
{
    atomic_fetch_add(&stacks.generation, 1);
    modules_sweep(module_gone, context);
}

void stack_figures(struct stack_figures *figures)
{
    figures->nodes = context_tree_nodes();
    figures->rules = shared_table_used(&unwind_cache_table);
    figures->modules = modules_announced();
    figures->bytes = context_tree_bytes() + shared_table_bytes(&unwind_cache_table);
}
