/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/unwind_step.h"

#include "capture/stack/executable_maps.h"
#include "capture/stack/modules.h"
#include "capture/stack/unwind_cache.h"

/* The limits of code: the first page is never mapped, and addresses of programs end at 2^47. */
#define CODE_LOW UINT64_C(4096)
#define CODE_HIGH (UINT64_C(1) << 47)

/* The first thread's stack pointer as the kernel left it; glibc only. */
extern void *__libc_stack_end __attribute__((weak));

/* Returns true if the frame is that of the loader's first instructions. They have no tables, and no
 * frame is further out. */
static bool is_process_entry(const struct stack_frame *frame)
{
    return &__libc_stack_end && (uint64_t)__libc_stack_end - frame->sp <= 16;
}

static bool plausible_code(uint64_t pc)
{
    return pc - CODE_LOW < CODE_HIGH - CODE_LOW;
}

/*
 * Steps by a rule. The new stack pointer must lie further out, or a bad rule could loop for ever.
 * Only a signal can lead from one stack to another.
 */
static enum unwind_step step_frame(struct stack_memory *memory, unwind_rule rule,
                                   struct stack_frame *frame, struct stack_frame *caller)
{
    uint64_t base = unwind_rule_by_rbp(rule) ? frame->rbp : frame->sp;
    uint64_t cfa = base + (uint64_t)unwind_rule_offset(rule);
    enum unwind_rbp rbp = unwind_rule_rbp(rule);
    frame->uses_rbp = unwind_rule_by_rbp(rule) || rbp == UNWIND_RBP_AT_RBP;
    caller->cfa_slot = 0;
    if (unwind_rule_kind(rule) == UNWIND_RULE_REALIGNED) {
        caller->cfa_slot = cfa;
        if (cfa < frame->sp || !stack_memory_read(memory, cfa, &caller->cfa_value))
            return UNWIND_STEP_UNKNOWN;
        cfa = caller->cfa_value + (uint64_t)unwind_rule_addend(rule);
    }
    if (cfa - 8 < frame->sp || cfa < 8 || !stack_memory_read(memory, cfa - 8, &caller->pc))
        return UNWIND_STEP_UNKNOWN;
    caller->sp = cfa;
    caller->pc_slot = cfa - 8;
    caller->rbp = frame->rbp;
    caller->rbp_slot = 0;
    caller->exact = false;
    if (rbp == UNWIND_RBP_SAME)
        return UNWIND_STEP_CALLER;
    caller->rbp_slot =
        (rbp == UNWIND_RBP_AT_CFA ? cfa : frame->rbp) + (uint64_t)unwind_rule_rbp_offset(rule);
    /* An interrupted epilogue may already have popped rbp: the red zone still holds it. */
    if (caller->rbp_slot < frame->sp - (frame->exact ? ARCH_RED_ZONE : 0) ||
        !stack_memory_read(memory, caller->rbp_slot, &caller->rbp)) {
        caller->rbp = caller->rbp_slot = 0; /* lost; few callers need it */
        frame->transient = true;
    }
    return UNWIND_STEP_CALLER;
}

static enum unwind_step step_signal(struct stack_memory *memory, struct stack_frame *frame,
                                    struct stack_frame *caller)
{
    caller->pc_slot = frame->sp + ARCH_SIGNAL_RIP;
    caller->rbp_slot = frame->sp + ARCH_SIGNAL_RBP;
    caller->cfa_slot = frame->sp + ARCH_SIGNAL_RSP;
    caller->exact = true;
    if (!stack_memory_read(memory, caller->pc_slot, &caller->pc) ||
        !stack_memory_read(memory, caller->rbp_slot, &caller->rbp) ||
        !stack_memory_read(memory, caller->cfa_slot, &caller->cfa_value))
        return UNWIND_STEP_UNKNOWN;
    caller->sp = caller->cfa_value;
    return UNWIND_STEP_CALLER;
}

/*
 * Returns true if `frame` may have a frame pointer, which points to the frame's own outer end. If
 * the frame lies on the thread's own stack, its frame pointer must point there too.
 */
static bool has_frame_pointer(const struct stack_memory *memory, const struct stack_frame *frame)
{
    return frame->rbp >= frame->sp && frame->rbp % 8 == 0 &&
           (stack_memory_is_own(memory, frame->rbp) || !stack_memory_is_own(memory, frame->sp));
}

/*
 * Returns true if the caller's pc is plausible, because it lies in code. Code that belongs to no
 * file has no rules, so from there the chain of frame pointers must go on or end.
 */
static bool is_code(const struct stack_memory *memory, const struct stack_frame *caller)
{
    struct module module;
    if (!plausible_code(caller->pc))
        return false;
    if (unwind_cache_known(caller->pc - 1))
        return true;
    return executable_maps_hold(caller->pc - 1) &&
           (!caller->rbp || has_frame_pointer(memory, caller) ||
            modules_find(caller->pc - 1, &module));
}

/*
 * Steps from code without unwind tables. If rbp looks like a frame pointer, it is used as one. A
 * chain of frame pointers ends in a frame whose saved one is 0 (psABI, 3.4.1).
 */
static enum unwind_step step_guess(struct stack_memory *memory, struct unwind_walk *walk,
                                   struct stack_frame *frame, struct stack_frame *caller,
                                   struct stack_pair *probe)
{
    const bool follows = walk->guessed;
    walk->guessed = true;
    frame->uses_rbp = true;
    if (!frame->rbp && follows)
        return UNWIND_STEP_OUTERMOST;
    if (!has_frame_pointer(memory, frame))
        return UNWIND_STEP_UNKNOWN;
    if (!stack_memory_read(memory, frame->rbp, &caller->rbp) ||
        step_frame(memory, unwind_rule_frame_pointer(), frame, caller) != UNWIND_STEP_CALLER) {
        frame->transient = true;
        return UNWIND_STEP_UNKNOWN;
    }
    frame->transient = false; /* from here on the result depends only on the words that were read */
    *probe = (struct stack_pair){caller->pc_slot, caller->pc};
    if (!caller->pc)
        return UNWIND_STEP_OUTERMOST;
    if (is_code(memory, caller)) {
        frame->no_rule = true;
        return UNWIND_STEP_CALLER;
    }
    /* Code may come later to a place that has none now, and the same words then lead there. */
    frame->transient = true;
    return UNWIND_STEP_UNKNOWN;
}

enum unwind_step unwind_step_outward(struct stack_memory *memory, struct unwind_walk *walk,
                                     struct stack_frame *frame, struct stack_frame *caller,
                                     struct stack_pair *probe)
{
    unwind_rule rule = unwind_cache_rule(frame->pc - !frame->exact);
    enum unwind_step step;
    frame->uses_rbp = frame->transient = frame->no_rule = false;
    probe->address = 0;
    if (unwind_rule_kind(rule) != UNWIND_RULE_NONE)
        walk->guessed = false;
    switch (unwind_rule_kind(rule)) {
    case UNWIND_RULE_FRAME:
    case UNWIND_RULE_REALIGNED:
        step = step_frame(memory, rule, frame, caller);
        break;
    case UNWIND_RULE_SIGNAL:
        step = step_signal(memory, frame, caller);
        break;
    case UNWIND_RULE_OUTERMOST:
        return UNWIND_STEP_OUTERMOST;
    case UNWIND_RULE_FULL:
        frame->transient = true;
        step = unwind_full_step(memory, walk, frame, caller);
        break;
    default:
        if (is_process_entry(frame))
            return UNWIND_STEP_OUTERMOST;
        return walk->guess ? step_guess(memory, walk, frame, caller, probe) : UNWIND_STEP_UNKNOWN;
    }
    if (step != UNWIND_STEP_CALLER) {
        frame->transient = true;
        return step;
    }
    *probe = (struct stack_pair){caller->pc_slot, caller->pc};
    if (!caller->pc)
        return UNWIND_STEP_OUTERMOST;
    return plausible_code(caller->pc) ? UNWIND_STEP_CALLER : UNWIND_STEP_UNKNOWN;
}
