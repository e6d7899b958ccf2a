/* SPDX-License-Identifier: BSD-2-Clause */
/* The walk steps outward by the frames' rules until a frame equals a kept one in pc, stack pointer
 * and (if it matters) rbp, and all words outward of it are the same. It would be wrong to stop at
 * the first equal frame without comparing the words: two callers with frames of equal size leave
 * the same inner frames. From the first word that differs the walk goes on by rules, and may meet a
 * kept frame further out.
 *
 * Each function below that takes `other`, a constant, works in two ways: on the thread's own stack,
 * all of which is mapped outward of a running frame, and on other stacks. There a stack is only
 * kept if each word by which a frame returns is mapped for sure whenever the frame runs
 * (memory.h). */
#include "capture/stack/walk.h"

#include "capture/stack/branch.h"
#include "capture/stack/context_tree.h"
#include "capture/stack/frame_reach.h"
#include "capture/stack/other_stacks.h"
#include "capture/stack/unwind_rule.h"
#include "capture/stack/unwind_step.h"

#define INLINE static inline __attribute__((always_inline))

struct walk {
    struct stack_thread *thread;
    struct unwind_walk unwind;
    struct stack_pair probe;
    uint32_t candidates; /* kept frames that may still be met, from the outermost */
    uint32_t changed;    /* frames walked so far */
    uint32_t slots;      /* on another stack: the steps and the end read at most so many words */
    uint32_t pause;      /* after so many frames the walk looks for a copied stack */
    bool matched;        /* the walk ended at kept frame candidates - 1 */
    bool sure;           /* on another stack: all words of the steps are mapped for sure */
    enum stack_end end;  /* how the walk ended otherwise */
};

/* Returns true if `frame` is a kept one whose callers are the same too. If only some callers are
 * the same, it drops candidates: the kept frames from the first one with another caller inward. */
INLINE bool meets_kept(struct walk *walk, const struct stack_frame *frame, const bool other)
{
    struct stack_thread *thread = walk->thread;
    const struct stack_kept *kept = thread->kept;
    uint64_t proof;
    if (!walk->candidates || (!other && !stack_memory_is_own(&thread->memory, frame->sp)))
        return false;
    while (walk->candidates && kept[walk->candidates - 1].sp < frame->sp)
        walk->candidates--;
    if (!walk->candidates ||
        !frame_equal(&kept[walk->candidates - 1], frame->pc, frame->sp, frame->rbp, frame->exact))
        return false;
    if (!other && !stack_memory_read(&thread->memory, frame->sp, &proof))
        return false;
    const uint32_t count = kept[walk->candidates - 1].pair_end;
    uint32_t differ =
        other ? pairs_differ_outward(thread->pairs, count) : pairs_differ(thread->pairs, count);
    if (!differ)
        return true;
    while (walk->candidates && kept[walk->candidates - 1].pair_end >= differ)
        walk->candidates--;
    return false;
}

/* Returns true if `frame` is one of another stack that the thread had at this place, which is the
 * present one then. */
static bool meets_copied(struct walk *walk, const struct stack_frame *frame)
{
    uint64_t proof;
    walk->pause = copied_stacks_next_pause(walk->pause);
    if (!stack_memory_is_own(&walk->thread->memory, frame->sp) ||
        !stack_memory_read(&walk->thread->memory, frame->sp, &proof))
        return false;
    const uint32_t same = copied_stacks_find(walk->thread, frame);
    if (same)
        walk->candidates = same;
    return same != 0;
}

/* Returns true if the word at `address`, by which `frame` returns, is mapped while the frame runs:
 * it lies on the page of the word by which the frame inside returns, or the code says so. */
static bool surely_mapped(struct stack_memory *memory, const struct stack_frame *frame,
                          uint64_t address)
{
    stack_memory_set_frame(memory, frame->pc - !frame->exact, frame->sp);
    return (!frame->exact && ((frame->sp - 8) ^ address) < ARCH_PAGE_SIZE) ||
           stack_memory_proves(memory, address);
}

/* Returns true if all words that the step depended on are mapped while `frame` runs. */
static bool step_surely_mapped(struct stack_memory *memory, const struct stack_frame *frame,
                               const struct stack_frame *caller)
{
    const uint64_t size = caller->pc_slot - frame->sp;
    return surely_mapped(memory, frame, caller->pc_slot) &&
           (!caller->rbp_slot || caller->rbp_slot - frame->sp <= size) &&
           (!caller->cfa_slot || caller->cfa_slot - frame->sp <= size);
}

/* Returns true if the code of `frame` makes the step to `caller` sure. If the step was read through
 * the kernel, that may be learned from it. Further out than a step that is not sure, nothing is. */
static bool step_is_sure(struct stack_memory *memory, const struct stack_frame *frame,
                         const struct stack_frame *caller)
{
    const uint64_t pc = frame->pc - !frame->exact;
    if (step_surely_mapped(memory, frame, caller))
        return true;
    frame_reach_learn(pc, unwind_cache_rule(pc), caller->pc_slot - frame->sp, caller->pc);
    return step_surely_mapped(memory, frame, caller);
}

/* Steps outward from the first frame into thread->changed until it meets a kept frame or the stack
 * ends. A stack deeper than the limit is cut to three quarters of the limit. A recursion that goes
 * on from there then costs one new root in that many calls, and not one in each call. */
INLINE void walk_outward(struct walk *walk, const bool other)
{
    struct stack_thread *thread = walk->thread;
    struct stack_frame *frame = &thread->changed[0];
    walk->changed = 0;
    if (other)
        walk->slots = 1;
    walk->sure = true;
    walk->unwind.guessed = false;
    for (;;) {
        if (meets_kept(walk, frame, other) ||
            (!other && walk->changed == walk->pause && meets_copied(walk, frame))) {
            if (walk->candidates + walk->changed <= thread->limit) {
                walk->matched = true;
                return;
            }
            walk->candidates = 0;
        }
        struct stack_frame *caller = frame + 1;
        if (other)
            stack_memory_set_frame(&thread->memory, walk->sure ? frame->pc - !frame->exact : 0,
                                   frame->sp);
        enum unwind_step step =
            unwind_step_outward(&thread->memory, &walk->unwind, frame, caller, &walk->probe);
        walk->changed++;
        if (step != UNWIND_STEP_CALLER) {
            walk->end = step == UNWIND_STEP_OUTERMOST ? STACK_END_WHOLE : STACK_END_UNKNOWN;
            return;
        }
        if (other)
            walk->slots += 1u + (caller->rbp_slot != 0) + (caller->cfa_slot != 0);
        if (other && walk->sure && !step_is_sure(&thread->memory, frame, caller)) {
            walk->sure = false;
            walk->candidates = 0;
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

INLINE bool keep_pair(struct stack_thread *thread, uint32_t *count, uint64_t address,
                      uint64_t value, const bool other)
{
    if ((!other && !stack_memory_is_own(&thread->memory, address)) || address % 8)
        return false;
    struct stack_pair *pair = &thread->pairs[(*count)++];
    if (other && *count > 1 && pair[-1].address < address) {
        *pair = pair[-1]; /* of the same step */
        pair--;
    }
    *pair = (struct stack_pair){address, value};
    return true;
}

/* Keeps the end of another stack. Code that has switched to it has a rule that leads out of it. The
 * words there are not part of the stack, so the end stays the same while the frames do. */
static bool keep_other_end(struct walk *walk, struct stack_frame *frame, uint32_t *pairs)
{
    const struct stack_pair *probe = &walk->probe;
    const unwind_rule rule = unwind_cache_rule(frame->pc - !frame->exact);
    if (frame->transient && unwind_rule_kind(rule) != UNWIND_RULE_FRAME)
        return false;
    frame->needs_rbp = frame->uses_rbp;
    return frame->transient || !probe->address ||
           !surely_mapped(&walk->thread->memory, frame, probe->address) ||
           keep_pair(walk->thread, pairs, probe->address, probe->value, true);
}

/* Appends the pairs of the step from `frame` to `caller` (NULL: the stack ended). Returns false if
 * the step cannot be kept. */
INLINE bool keep_step(struct walk *walk, struct stack_frame *frame,
                      const struct stack_frame *caller, uint32_t *pairs, const bool other)
{
    struct stack_thread *thread = walk->thread;
    if (other && !caller)
        return keep_other_end(walk, frame, pairs);
    if (frame->transient || (!other && !stack_memory_is_own(&thread->memory, frame->sp)))
        return false;
    if (!caller) {
        frame->needs_rbp = frame->uses_rbp;
        return !walk->probe.address ||
               keep_pair(thread, pairs, walk->probe.address, walk->probe.value, false);
    }
    frame->needs_rbp = frame->uses_rbp || (caller->needs_rbp && !caller->rbp_slot);
    return caller->sp > frame->sp && keep_pair(thread, pairs, caller->pc_slot, caller->pc, other) &&
           (!caller->needs_rbp || !caller->rbp_slot ||
            keep_pair(thread, pairs, caller->rbp_slot, caller->rbp, other)) &&
           (!caller->cfa_slot ||
            keep_pair(thread, pairs, caller->cfa_slot, caller->cfa_value, other));
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
INLINE bool keep_frames(struct walk *walk, uint32_t pairs, const bool other)
{
    struct stack_thread *thread = walk->thread;
    uint32_t left = walk->changed;
    const struct stack_frame *caller = walk->matched ? &thread->changed[left] : NULL;
    while (left--) {
        struct stack_frame *frame = &thread->changed[left];
        if (!keep_step(walk, frame, caller, &pairs, other))
            return false;
        keep_frame(thread, frame, pairs);
        caller = frame;
    }
    return true;
}

/* Finds the nodes of the walked frames under `node`, and stores those of the frames kept from
 * `first` on. Returns the innermost node, or 0 if one could not be written. */
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

/* Keeps the walked frames and finds their nodes. The cache lines of the nodes have time to arrive
 * between the two. Returns the innermost node. */
INLINE uint32_t commit(struct walk *walk, void *context, const bool other)
{
    struct stack_thread *thread = walk->thread;
    uint32_t node, pairs = 0;
    bool keeping = true;
    uint64_t path;
    if (!other)
        copied_stacks_save(thread, walk->matched ? walk->candidates : 0, walk->changed);
    if (walk->matched) {
        node = keep_met(walk, &pairs);
        path = thread->kept[thread->count - 1].path;
    } else {
        /* A coroutine's stack contains no part of the thread's own stack, which may come back. */
        keeping = other
                      ? walk->sure
                      : stack_memory_is_own(&thread->memory, thread->changed[walk->changed - 1].sp);
        if (!end_node(walk, context, &node, &path))
            return 0;
        if (keeping) {
            thread->count = 0;
            thread->end = walk->end;
        }
    }
    if (other && keeping)
        keeping =
            other_stacks_make_room(thread, thread->count + walk->changed, pairs + walk->slots);
    uint32_t first = thread->count;
    compute_paths(walk, path);
    keeping = keeping && keep_frames(walk, pairs, other);
    if (!other)
        copied_stacks_learn(thread, thread->changed[0].sp);
    node = find_nodes(walk, node, first, context);
    if (node && keeping && walk->matched)
        stack_branch_keep(thread, walk->candidates - 1, node, NULL, 0);
    return node;
}

/* Walks outward until the walk meets a kept frame or the stack ends. */
INLINE void walk_begin(struct walk *walk, struct stack_thread *thread, bool guess, uint32_t pause,
                       const bool other)
{
    walk->thread = thread;
    walk->pause = pause;
    walk->unwind.registers.valid = false;
    walk->unwind.guess = guess;
    walk->candidates = thread->count;
    walk->matched = false;
    walk_outward(walk, other);
    /* If a cut stack has shrunk, more of it can be shown. One full walk, up to the limit, does. */
    if (walk->matched && thread->end == STACK_END_CUT &&
        walk->candidates + walk->changed < thread->limit / 2) {
        walk->candidates = 0;
        walk->matched = false;
        walk_outward(walk, other);
    }
    if (other && walk->sure && !walk->matched)
        other_stacks_begin(thread, &thread->changed[0], &thread->changed[walk->changed - 1]);
}

uint32_t stack_walk(struct stack_thread *thread, bool guess, void *context)
{
    struct walk walk;
    walk_begin(&walk, thread, guess, copied_stacks_pause(thread), false);
    return commit(&walk, context, false);
}

uint32_t stack_walk_other(struct stack_thread *thread, bool guess, void *context)
{
    struct walk walk;
    walk_begin(&walk, thread, guess, UINT32_MAX, true);
    return commit(&walk, context, true);
}

INLINE void walk_frames(struct stack_thread *thread, bool guess, struct stack_walked *walked,
                        const bool other)
{
    struct walk walk;
    uint32_t pairs = 0;
    bool keeping = true;
    walk_begin(&walk, thread, guess, UINT32_MAX, other);
    *walked = (struct stack_walked){.outer = thread->kept,
                                    .outer_count = walk.matched ? walk.candidates : 0,
                                    .inner = thread->changed,
                                    .inner_count = walk.changed,
                                    .end = walk.matched ? thread->end : walk.end};
    if (walk.matched)
        keep_met(&walk, &pairs);
    else
        keeping = other
                      ? walk.sure
                      : stack_memory_is_own(&thread->memory, thread->changed[walk.changed - 1].sp);
    if (!keeping)
        return;
    if (!walk.matched) {
        thread->count = 0;
        thread->end = walk.end;
    }
    if (other && !other_stacks_make_room(thread, thread->count + walk.changed, pairs + walk.slots))
        return;
    walked->outer = thread->kept;
    keep_frames(&walk, pairs, other);
    walked->kept = thread->count;
}

void stack_walk_frames(struct stack_thread *thread, bool guess, struct stack_walked *walked)
{
    if (thread->chains)
        walk_frames(thread, guess, walked, true);
    else
        walk_frames(thread, guess, walked, false);
}
