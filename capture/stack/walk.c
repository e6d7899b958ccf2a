/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk steps outward by the frames' rules until a frame equals a kept one in pc, stack pointer
 * and (if it matters) rbp, and all words outward of it are the same. It would be wrong to stop at
 * the first equal frame without comparing the words: two callers with frames of equal size leave
 * the same inner frames. From the first word that differs the walk goes on by rules, and may meet a
 * kept frame further out.
 */
#include "capture/stack/walk.h"

#include "capture/stack/branch.h"
#include "capture/stack/context_tree.h"
#include "capture/stack/pairs.h"
#include "capture/stack/unwind_step.h"

/* The state of one walk. */
struct walk {
    struct stack_thread *thread;
    struct unwind_walk unwind;
    struct stack_pair probe;
    uint32_t candidates; /* kept frames that may still be met, from the outermost */
    uint32_t changed;    /* frames walked so far */
    bool matched;        /* the walk ended at kept frame candidates - 1 */
    enum stack_end end;  /* how the walk ended otherwise */
};

/*
 * Returns true if `frame` is a kept one whose callers are the same too. If only some callers are
 * the same, it drops candidates: the kept frames from the first one with another caller inward.
 */
static bool meets_kept(struct walk *walk, const struct stack_frame *frame)
{
    struct stack_thread *thread = walk->thread;
    const struct stack_kept *kept = thread->kept;
    uint64_t proof;
    if (!walk->candidates || !stack_memory_is_own(&thread->memory, frame->sp))
        return false;
    while (walk->candidates && kept[walk->candidates - 1].sp < frame->sp)
        walk->candidates--;
    if (!walk->candidates ||
        !frame_equal(&kept[walk->candidates - 1], frame->pc, frame->sp, frame->rbp, frame->exact))
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
 * Steps outward from the first frame into thread->changed until it meets a kept frame or the stack
 * ends. A stack deeper than the limit is cut to three quarters of the limit. A recursion that goes
 * on from there then costs one new root in that many calls, and not one in each call.
 */
static void walk_outward(struct walk *walk)
{
    struct stack_thread *thread = walk->thread;
    struct stack_frame *frame = &thread->changed[0];
    walk->changed = 0;
    walk->unwind.guessed = false;
    for (;;) {
        if (meets_kept(walk, frame)) {
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

static bool keep_pair(struct stack_thread *thread, uint32_t *count, uint64_t address,
                      uint64_t value)
{
    if (!stack_memory_is_own(&thread->memory, address) || address % 8)
        return false;
    thread->pairs[(*count)++] = (struct stack_pair){address, value};
    return true;
}

/*
 * Appends the pairs of the step from `frame` to `caller` (NULL: the stack ended). Returns false if
 * the step cannot be kept.
 */
static bool keep_step(struct walk *walk, struct stack_frame *frame,
                      const struct stack_frame *caller, uint32_t *pairs)
{
    struct stack_thread *thread = walk->thread;
    if (frame->transient || !stack_memory_is_own(&thread->memory, frame->sp))
        return false;
    if (!caller) {
        frame->needs_rbp = frame->uses_rbp;
        return !walk->probe.address ||
               keep_pair(thread, pairs, walk->probe.address, walk->probe.value);
    }
    frame->needs_rbp = frame->uses_rbp || (caller->needs_rbp && !caller->rbp_slot);
    return caller->sp > frame->sp && keep_pair(thread, pairs, caller->pc_slot, caller->pc) &&
           (!caller->needs_rbp || !caller->rbp_slot ||
            keep_pair(thread, pairs, caller->rbp_slot, caller->rbp)) &&
           (!caller->cfa_slot || keep_pair(thread, pairs, caller->cfa_slot, caller->cfa_value));
}

static void keep_frame(struct stack_thread *thread, const struct stack_frame *frame, uint32_t pairs)
{
    struct stack_kept *kept = &thread->kept[thread->count++];
    kept->pc = frame->pc;
    kept->sp = frame->sp;
    kept->rbp = frame->rbp;
    kept->path = frame->path;
    kept->pair_end = pairs;
    kept->exact = frame->exact;
    kept->needs_rbp = frame->needs_rbp;
}

static enum trace_node_frame frame_kind(const struct stack_frame *frame)
{
    return frame->exact ? TRACE_FRAME_EXACT : TRACE_FRAME_RETURN;
}

/* Finds the node that marks missing frames outside the outermost one, 0 if none is missing. Returns
 * false if the node could not be written. */
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

/* Computes the paths of all walked frames, under the path of the frame that they lie on. */
static void compute_paths(struct walk *walk, uint64_t path)
{
    for (uint32_t left = walk->changed; left--;) {
        struct stack_frame *frame = &walk->thread->changed[left];
        frame->path = path = context_tree_path(path, frame->pc, frame_kind(frame));
        context_tree_prefetch(path);
    }
}

/* Keeps the frame that the walk met, with its present rbp. Returns its node. */
static uint32_t keep_met(struct walk *walk, uint32_t *pairs)
{
    struct stack_kept *met = &walk->thread->kept[walk->candidates - 1];
    struct stack_frame *frame = &walk->thread->changed[walk->changed];
    walk->thread->count = walk->candidates;
    met->rbp = frame->rbp;
    frame->needs_rbp = met->needs_rbp;
    *pairs = met->pair_end;
    return met->node;
}

/* Keeps the walked frames, from the outermost inward, as far as possible. */
static bool keep_frames(struct walk *walk, uint32_t pairs)
{
    struct stack_thread *thread = walk->thread;
    uint32_t left = walk->changed;
    const struct stack_frame *caller = walk->matched ? &thread->changed[left] : NULL;
    while (left--) {
        struct stack_frame *frame = &thread->changed[left];
        if (!keep_step(walk, frame, caller, &pairs))
            return false;
        keep_frame(thread, frame, pairs);
        caller = frame;
    }
    return true;
}

/*
 * Finds the nodes of the walked frames under `node`, and stores those of the frames kept from
 * `first` on. Returns the innermost node, or 0 if one could not be written.
 */
static uint32_t find_nodes(struct walk *walk, uint32_t node, uint32_t first, void *context)
{
    struct stack_thread *thread = walk->thread;
    uint32_t at = first;
    for (uint32_t left = walk->changed; left--; at++) {
        const struct stack_frame *frame = &thread->changed[left];
        node = frame->no_rule
                   ? context_tree_no_rule_node(node, frame->path, frame->pc, frame_kind(frame),
                                               context)
                   : context_tree_node(node, frame->path, frame->pc, frame_kind(frame), context);
        if (at < thread->count) {
            thread->kept[at].node = node;
            if (!node)
                thread->count = at;
        }
        if (!node)
            return 0;
    }
    return node;
}

/*
 * Keeps the walked frames and finds their nodes. The cache lines of the nodes have time to arrive
 * between the two. Returns the innermost node.
 */
static uint32_t commit(struct walk *walk, void *context)
{
    struct stack_thread *thread = walk->thread;
    uint32_t node, pairs = 0;
    bool keeping = true;
    uint64_t path;
    if (walk->matched) {
        node = keep_met(walk, &pairs);
        path = thread->kept[thread->count - 1].path;
    } else {
        /* A coroutine's stack contains no part of the thread's own stack, which may come back. */
        keeping = stack_memory_is_own(&thread->memory, thread->changed[walk->changed - 1].sp);
        if (!end_node(walk, context, &node, &path))
            return 0;
        if (keeping) {
            thread->count = 0;
            thread->end = walk->end;
        }
    }
    uint32_t first = thread->count;
    compute_paths(walk, path);
    keeping = keeping && keep_frames(walk, pairs);
    node = find_nodes(walk, node, first, context);
    if (node && keeping && walk->matched)
        stack_branch_keep(thread, walk->candidates - 1, node, NULL, 0);
    return node;
}

/* Walks outward until the walk meets a kept frame or the stack ends. */
static inline __attribute__((always_inline)) void
walk_begin(struct walk *walk, struct stack_thread *thread, bool guess)
{
    walk->thread = thread;
    walk->unwind.registers.valid = false;
    walk->unwind.guess = guess;
    walk->candidates = thread->count;
    walk->matched = false;
    walk_outward(walk);
    /* If a cut stack has shrunk, more of it can be shown. One full walk, up to the limit, does. */
    if (walk->matched && thread->end == STACK_END_CUT &&
        walk->candidates + walk->changed < thread->limit / 2) {
        walk->candidates = 0;
        walk->matched = false;
        walk_outward(walk);
    }
}

uint32_t stack_walk(struct stack_thread *thread, bool guess, void *context)
{
    struct walk walk;
    walk_begin(&walk, thread, guess);
    return commit(&walk, context);
}

void stack_walk_frames(struct stack_thread *thread, bool guess, struct stack_walked *walked)
{
    struct walk walk;
    uint32_t pairs = 0;
    bool keeping = true;
    walk_begin(&walk, thread, guess);
    *walked = (struct stack_walked){.outer = thread->kept,
                                    .outer_count = walk.matched ? walk.candidates : 0,
                                    .inner = thread->changed,
                                    .inner_count = walk.changed,
                                    .end = walk.matched ? thread->end : walk.end};
    if (walk.matched)
        keep_met(&walk, &pairs);
    else
        keeping = stack_memory_is_own(&thread->memory, thread->changed[walk.changed - 1].sp);
    if (!keeping)
        return;
    if (!walk.matched) {
        thread->count = 0;
        thread->end = walk.end;
    }
    keep_frames(&walk, pairs);
    walked->kept = thread->count;
}
