/* SPDX-License-Identifier: BSD-2-Clause */
/* A native frame occupies the stack from its own stack pointer up to that of its caller. A frame of
 * a runtime belongs to the native frame in which its address lies, that is, to the innermost one
 * whose stack pointer is not above the address. Both lists are ordered by these addresses. So one
 * pass from the outermost frame inward merges them. With one runtime, the pass begins where the
 * stack differs from the last one. It only computes the paths of the frames. Their nodes are found
 * afterwards: the table of all nodes is large, so its cache lines need time to arrive.
 *
 * With one runtime, a stack is known without a merge if the runtime's frames are those of the last
 * merge and the native frames are the kept ones or a branch on them (branch.h). For that, each kept
 * frame has the node that it has in the merged stack. This node tells all that lies outside of
 * it. */

#include <string.h>

#include "capture/stack/branch.h"
#include "capture/stack/context_tree.h"
#include "capture/stack/other_stacks.h"
#include "capture/stack/runtimes.h"
#include "capture/stack/walk.h"

struct evaluated {
    struct mprof_frame frame; /* as the runtime gave it */
    uint64_t pc;              /* its pseudo pc */
    uint64_t place;           /* where on the native stack; 0: inside all native frames */
    uint64_t list;            /* a hash of this one and of those outside of it */
};

struct merged {
    uint64_t pc, path;
    uint32_t node; /* 0: not found yet */
    uint8_t frame; /* enum trace_node_frame */
    bool no_rule;
    uint32_t natives; /* native frames up to this one */
};

/* Nodes that the thread has found, by their path: stacks alternate between few lines. The table of
 * all nodes is large, and its entries lie far apart. */
#define RECENT 512u

/* The last stack of a thread, outermost first. */
struct runtime_stack {
    uint32_t limit;
    uint32_t merged_count;
    uint32_t natives;   /* the outermost so many native frames of `merged` are kept ones */
    enum stack_end end; /* of `merged` */
    const struct stack_kept *kept; /* the kept frames that are meant here and below */
    uint32_t listed;               /* so many frames of `last` have their hash */
    uint32_t result; /* node of `merged`; 0: its native frames are not the kept ones */
    uint64_t list;   /* hash of the runtime's frames in `merged`; 0: the kept frames do not have
                      * their nodes in it */
    struct mprof_frame_name name;
    struct mprof_frame *asked; /* room for `limit` frames, as runtimes write them */
    struct evaluated *last;    /* room for `limit` frames of all runtimes together */
    struct merged *merged;     /* room for 2 × limit frames and an end */
    struct merged recent[RECENT];
    struct stack_branch_lists lists; /* of the thread's branches */
};

struct merge {
    struct runtime_stack *stack;
    void *context;
    uint32_t at;      /* frames merged so far */
    uint32_t same;    /* so many frames are those of the last stack, as far as is known */
    uint32_t first;   /* the first frame that is not one of those, if `same` is 0 */
    uint64_t path;    /* of the last frame merged */
    uint32_t natives; /* merged so far */
    uint32_t
        unchanged; /* the outermost so many frames of the last runtime read are the last ones */
    uint32_t runtimes;
    uint32_t total;
    bool cut;                    /* a runtime had more frames than there is room for */
    uint32_t next[RUNTIMES_MAX]; /* the next one to merge of each runtime, in `last` */
    uint32_t end[RUNTIMES_MAX];
};

size_t runtime_stack_size(uint32_t limit)
{
    return sizeof(struct runtime_stack) + 16 +
           limit * (sizeof(struct mprof_frame) + sizeof(struct evaluated)) +
           (2 * (size_t)limit + 1) * sizeof(struct merged);
}

void runtime_stack_init(struct stack_thread *thread, void *room)
{
    thread->runtime = (struct runtime_stack *)(((uintptr_t)room + 15) & ~(uintptr_t)15);
}

/* The pointers are set by the first use, so that a thread without a runtime touches no page here.
 */
static void prepare(struct stack_thread *thread)
{
    struct runtime_stack *stack = thread->runtime;
    stack->limit = thread->limit;
    stack->merged = (struct merged *)(stack + 1);
    stack->last = (struct evaluated *)(stack->merged + 2 * (size_t)stack->limit + 1);
    stack->asked = (struct mprof_frame *)(stack->last + stack->limit);
}

void runtime_stack_clear(struct stack_thread *thread)
{
    struct runtime_stack *stack = thread->runtime;
    stack->merged_count = 0;
    stack->list = 0;
    if (stack->merged)
        memset(stack->recent, 0, sizeof(stack->recent));
}

static bool frame_same(const struct mprof_frame *a, const struct mprof_frame *b)
{
    return a->key == b->key && a->check == b->check && a->line == b->line;
}

/* Reads the frames of one runtime into `last`, outermost first, from `total` on. If the last stack
 * had the same frame in the same place, its pc is used again. */
static void read_runtime(struct merge *merge, uint32_t index)
{
    struct runtime_stack *stack = merge->stack;
    const uint32_t room = stack->limit - merge->total, first = merge->total;
    const uint32_t count = runtimes_frames(index + 1, stack->asked, room);
    uint64_t place = 0;
    merge->cut = merge->cut || (count == room && count != 0);
    merge->unchanged = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct mprof_frame *frame = &stack->asked[i];
        struct evaluated *to = &stack->last[first + count - 1 - i];
        if ((uint64_t)frame->address > place)
            place = (uint64_t)frame->address;
        if (!to->pc || to->pc >> RUNTIME_PC_RUNTIME_SHIFT != index + 1 ||
            !frame_same(&to->frame, frame)) {
            to->pc = 0;
            to->frame = *frame;
            to->pc = runtimes_pc(index + 1, frame, &stack->name);
            merge->unchanged = count - 1 - i;
        }
        if (to->place != place) {
            to->place = place;
            merge->unchanged = count - 1 - i;
        }
    }
    merge->next[index] = first;
    merge->total = merge->end[index] = first + count;
}

/* Returns a hash of the frames of the only runtime. 0: there are several. */
static uint64_t hash_list(const struct merge *merge)
{
    struct runtime_stack *stack = merge->stack;
    uint32_t at = merge->unchanged < stack->listed ? merge->unchanged : stack->listed;
    uint64_t list = at > 0 ? stack->last[at - 1].list : 0;
    if (merge->runtimes != 1)
        return 0;
    for (; at < merge->total; at++) {
        struct evaluated *frame = &stack->last[at];
        list = context_tree_path(list, frame->pc, CONTEXT_TREE_RUNTIME);
        list = context_tree_path(list, frame->place, CONTEXT_TREE_RUNTIME);
        frame->list = list;
    }
    stack->listed = merge->total;
    return list | 1;
}

/* Merges a frame new at this place. Its node is known if the thread has found it before. */
static __attribute__((noinline)) void put_new(struct merge *merge, uint64_t pc,
                                              enum trace_node_frame frame, bool no_rule)
{
    struct runtime_stack *stack = merge->stack;
    if (merge->same != 0) {
        merge->same = 0;
        merge->first = stack->merged_count =
            merge->at; /* what lies further inward is overwritten */
    }
    merge->path = context_tree_path(merge->path, pc, frame);
    const struct merged *recent = &stack->recent[merge->path % RECENT];
    const bool known = recent->path == merge->path && recent->pc == pc && recent->frame == frame;
    if (!known)
        context_tree_prefetch(merge->path);
    stack->merged[merge->at++] = (struct merged){.pc = pc,
                                                 .path = merge->path,
                                                 .node = known ? recent->node : 0,
                                                 .frame = (uint8_t)frame,
                                                 .no_rule = no_rule,
                                                 .natives = merge->natives};
}

static inline void put(struct merge *merge, uint64_t pc, enum trace_node_frame frame, bool no_rule)
{
    const struct merged *to = &merge->stack->merged[merge->at];
    if (merge->at >= merge->same || to->pc != pc || to->frame != frame) {
        put_new(merge, pc, frame, no_rule);
        return;
    }
    merge->path = to->path;
    merge->at++;
}

/* Merges the frames of all runtimes whose place is not below `sp`. */
static void put_evaluated(struct merge *merge, uint64_t sp)
{
    for (uint32_t index = 0; index < merge->runtimes; index++) {
        const struct evaluated *last = merge->stack->last;
        uint32_t next = merge->next[index];
        while (next < merge->end[index] && last[next].place >= sp)
            put(merge, last[next++].pc, CONTEXT_TREE_RUNTIME, false);
        merge->next[index] = next;
    }
}

static void put_native(struct merge *merge, uint64_t pc, uint64_t sp, bool exact, bool no_rule)
{
    merge->natives++;
    put(merge, pc, exact ? TRACE_FRAME_EXACT : TRACE_FRAME_RETURN, no_rule);
    if (merge->total)
        put_evaluated(merge, sp);
}

/* Begins after the frames of the last stack that this one has, too: `natives` kept frames and those
 * of the only runtime that have not changed. The next frame of the runtime must not belong to a
 * native frame before the last of these. */
static void skip_same(struct merge *merge, const struct stack_walked *walked, enum stack_end end)
{
    const struct runtime_stack *stack = merge->stack;
    const uint32_t marker = end != STACK_END_WHOLE;
    const uint32_t kept =
        walked->outer_count < stack->natives ? walked->outer_count : stack->natives;
    uint32_t at = stack->merged_count, natives = 0, evaluated = 0;
    if (merge->runtimes != 1 || stack->end != end)
        return;
    for (; at > marker; at--) {
        natives = stack->merged[at - 1].natives;
        evaluated = at - marker - natives;
        if (natives <= kept && evaluated <= merge->unchanged)
            break;
    }
    if (at <= marker || natives == 0 ||
        (natives > 1 && evaluated < merge->total &&
         stack->last[evaluated].place >= walked->outer[natives - 2].sp))
        return;
    merge->at = at;
    merge->natives = natives;
    merge->next[0] = evaluated;
    merge->path = stack->merged[at - 1].path;
}

static void put_all(struct merge *merge, const struct stack_walked *walked)
{
    enum stack_end end = merge->cut && walked->end == STACK_END_WHOLE ? STACK_END_CUT : walked->end;
    skip_same(merge, walked, end);
    merge->stack->end = end;
    if (merge->at == 0 && end != STACK_END_WHOLE)
        put(merge, 0, end == STACK_END_CUT ? TRACE_FRAME_DEPTH_LIMIT : TRACE_FRAME_UNWIND_END,
            false);
    if (merge->natives > 0)
        put_evaluated(merge, walked->outer[merge->natives - 1].sp);
    for (uint32_t i = merge->natives; i < walked->outer_count; i++) {
        const struct stack_kept *kept = &walked->outer[i];
        put_native(merge, kept->pc, kept->sp, kept->exact, false);
    }
    for (uint32_t left = walked->inner_count; left--;) {
        const struct stack_frame *frame = &walked->inner[left];
        put_native(merge, frame->pc, frame->sp, frame->exact, frame->no_rule);
    }
    put_evaluated(merge, 0);
}

/* Finds the nodes of the new frames. Returns that of the innermost frame. 0: the node of a frame
 * could not be written, or there is no frame. */
static uint32_t find_nodes(const struct merge *merge)
{
    struct runtime_stack *stack = merge->stack;
    const uint32_t first = merge->same != 0 ? merge->at : merge->first;
    uint32_t node = first > 0 ? stack->merged[first - 1].node : 0;
    for (uint32_t i = first; i < merge->at; i++) {
        struct merged *to = &stack->merged[i];
        const enum trace_node_frame frame = (enum trace_node_frame)to->frame;
        if (to->node == 0) {
            to->node =
                to->no_rule
                    ? context_tree_no_rule_node(node, to->path, to->pc, frame, merge->context)
                    : context_tree_node(node, to->path, to->pc, frame, merge->context);
            if (to->node == 0)
                return 0;
            stack->recent[to->path % RECENT] = *to;
        }
        node = to->node;
        stack->merged_count = i + 1;
    }
    stack->merged_count = merge->at;
    return node;
}

/* Returns the state that keeps the stack of `entry`. The facts about the last merge hold only for
 * the frames that were kept then. */
static struct stack_thread *choose_native(struct stack_thread *thread, const uint64_t *entry)
{
    struct runtime_stack *stack = thread->runtime;
    struct stack_thread *native = thread;
    if (!stack_memory_begin(&thread->memory, (uint64_t)entry) &&
        !stack_memory_grow(&thread->memory, (uint64_t)entry))
        native = other_stacks_choose(thread, (uint64_t)(entry + 2));
    if (stack->kept != native->kept) {
        stack->kept = native->kept;
        stack->natives = 0;
        stack->list = 0;
        stack->result = 0;
    }
    return native;
}

static bool frames_same(const struct stack_thread *thread, const struct stack_kept *top,
                        const uint64_t *entry)
{
    return frame_equal(top, entry[1], (uint64_t)(entry + 2), entry[0], false) &&
           (thread->chains ? !pairs_differ_outward(thread->pairs, top->pair_end)
                           : pairs_same(thread->pairs, top->pair_end));
}

/* Finds the native frames: the last ones if they are unchanged, otherwise by a walk. */
static void find_native(struct stack_thread *thread, const uint64_t *entry, bool guess,
                        struct stack_walked *walked)
{
    const uint64_t rbp = entry[0], pc = entry[1], sp = (uint64_t)(entry + 2);
    if (thread->count != 0) {
        const struct stack_kept *top = &thread->kept[thread->count - 1];
        if (frames_same(thread, top, entry)) {
            *walked = (struct stack_walked){.outer = thread->kept,
                                            .outer_count = thread->count,
                                            .kept = thread->count,
                                            .end = thread->end};
            return;
        }
    }
    thread->changed[0] = (struct stack_frame){.rbp = rbp, .pc = pc, .sp = sp};
    stack_memory_begin(&thread->memory, (uint64_t)entry);
    stack_walk_frames(thread, guess, walked);
}

/* Returns the node of a stack of which the frames of the runtime are those of the last merge. 0:
 * its native frames are not known. */
static uint32_t find_known(const struct stack_thread *thread, const uint64_t *entry, uint64_t list)
{
    const uint64_t rbp = entry[0], pc = entry[1], sp = (uint64_t)(entry + 2);
    const struct runtime_stack *stack = thread->runtime;
    if (thread->count == 0)
        return 0;
    const struct stack_kept *top = &thread->kept[thread->count - 1];
    if (stack->result != 0 && frames_same(thread, top, entry))
        return stack->result;
    if (thread->chains)
        return 0;
    return stack_branch_find(thread, pc, sp, rbp, &stack->lists, list);
}

/* Gives the kept frames their nodes: those that were walked, and those in whose place the merged
 * stack has another frame than before. `all`: no frame has its node yet. */
static void keep_nodes(const struct merge *merge, struct stack_thread *thread,
                       const struct stack_walked *walked, bool all)
{
    const uint32_t first = merge->same != 0 ? merge->at : merge->first;
    for (uint32_t at = merge->at; at-- > 0;) {
        const struct merged *merged = &merge->stack->merged[at];
        if (!all && at < first && merged->natives <= walked->outer_count)
            break;
        if (merged->frame <= TRACE_FRAME_EXACT && merged->natives <= thread->count)
            thread->kept[merged->natives - 1].node = merged->node;
    }
}

/* Notes what the next stacks can be compared with. `list` is the hash of the runtime's frames. */
static void keep_merged(const struct merge *merge, struct stack_thread *thread,
                        const struct stack_walked *walked, uint32_t node, uint64_t list)
{
    struct runtime_stack *stack = merge->stack;
    const bool all = stack->list == 0;
    stack->natives = walked->kept;
    stack->kept = thread->kept;
    stack->list = 0;
    stack->result = 0;
    if (node == 0 || list == 0 || walked->kept == 0)
        return;
    keep_nodes(merge, thread, walked, all);
    stack->list = list;
    if (walked->kept != walked->outer_count + walked->inner_count)
        return;
    stack->result = node;
    if (walked->outer_count > 0 && walked->inner_count > 0 && !thread->chains)
        stack_branch_keep(thread, walked->outer_count - 1, node, &stack->lists, list);
}

uint32_t runtime_stack_current(struct stack_thread *thread, const uint64_t *entry, bool guess,
                               void *context)
{
    struct stack_walked walked;
    struct merge merge; /* the tables at its end need no zeros */
    memset(&merge, 0, offsetof(struct merge, next));
    merge.stack = thread->runtime;
    merge.context = context;
    if (!merge.stack->merged)
        prepare(thread);
    merge.same = merge.stack->merged_count;
    merge.runtimes = runtimes_count();
    for (uint32_t index = 0; index < merge.runtimes; index++)
        read_runtime(&merge, index);
    const uint64_t list = hash_list(&merge);
    thread = choose_native(thread, entry);
    uint32_t node = list != 0 && merge.stack->list == list ? find_known(thread, entry, list) : 0;
    if (node != 0)
        return node;
    find_native(thread, entry, guess, &walked);
    put_all(&merge, &walked);
    node = find_nodes(&merge);
    keep_merged(&merge, thread, &walked, node, list);
    return node;
}
