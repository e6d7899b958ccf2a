/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/frame_reach.h"

#include <string.h>

#include "capture/os/os.h"
#include "capture/stack/modules.h"

/* A frame's bytes beside those of its prologue: saved registers, arguments, a small alloca. */
#define BESIDE_MOST UINT64_C(1024)
/* The most that a prologue subtracts; more is taken for another meaning of the bytes. */
#define SUBTRACTED_MOST (UINT64_C(8) << 20)
#define PROLOGUE 64u
#define CALL_LONGEST 7u

static uint64_t reach_place(uint64_t key, uint64_t value)
{
    return frame_reach_place(key);
}

struct lockfree_table frame_reach_table = {.place = reach_place};

/* Returns true if a call instruction ends at `pc`. */
static bool follows_call(uint64_t pc)
{
    uint8_t code[CALL_LONGEST];
    if (os_copy_memory(pc - CALL_LONGEST, code, sizeof(code)) != sizeof(code))
        return false;
    if (code[CALL_LONGEST - 5] == 0xe8)
        return true;
    for (unsigned length = 2; length <= CALL_LONGEST; length++) {
        const uint8_t *at = code + CALL_LONGEST - length;
        if (at[0] == 0xff && (at[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

/* Returns true if the three bytes at `at` look like an instruction that sets the stack pointer to
 * something else than a place in the same frame. */
static bool sets_stack_pointer(const uint8_t *at)
{
    const unsigned prefix = at[0], mode = at[2] >> 6, base = at[2] & 7;
    const bool from_rsp = (at[2] >> 3 & 7) == 4 && !(prefix & 4);
    const bool is_rsp = mode == 3 && base == 4 && !(prefix & 1);
    const bool by_rbp = base == 5 && !(prefix & 1);
    if ((prefix & 0xf8) != 0x48)
        return false;
    switch (at[1]) {
    case 0x89: /* mov register, %rsp; %rbp ends the frame */
        return is_rsp && !((at[2] >> 3 & 7) == 5 && !(prefix & 4));
    case 0x8b: /* mov memory or register, %rsp */
        return from_rsp && !(mode == 3 && by_rbp);
    case 0x87: /* xchg */
        return from_rsp || is_rsp;
    case 0x8d: /* lea memory, %rsp; by %rbp it ends the frame, by %rsp it makes room */
        return from_rsp && mode != 3 && !(mode != 0 && by_rbp) && base != 4;
    case 0x94: /* xchg %rax, %rsp */
        return !(prefix & 1);
    default:
        return false;
    }
}

/* Returns true if the code from `function` to `pc` may have switched to another stack. */
static bool switches_stack(uint64_t function, uint64_t pc)
{
    uint8_t code[256];
    for (uint64_t at = function; at <= pc; at += sizeof(code) - 2) {
        const size_t size = os_copy_memory(at, code, sizeof(code));
        if (size < 3)
            return true;
        for (size_t i = 0; i + 3 <= size && at + i <= pc; i++)
            if (sets_stack_pointer(code + i))
                return true;
    }
    return false;
}

static uint64_t constant_at(const uint8_t *at)
{
    int32_t value;
    memcpy(&value, at, sizeof(value));
    return value < 0 ? (uint64_t) - (int64_t)value : (uint64_t)value;
}

/* Returns what the prologue of a function subtracts from the stack pointer: in one or a few steps,
 * or page by page down to an address in r11. */
static uint64_t subtracted(uint64_t function)
{
    static const struct {
        uint8_t size, code[4];
    } instructions[] = {
        {3, {0x48, 0x81, 0xec}},       /* sub $N, %rsp */
        {3, {0x49, 0x81, 0xeb}},       /* sub $N, %r11 */
        {4, {0x4c, 0x8d, 0x9c, 0x24}}, /* lea -N(%rsp), %r11 */
    };
    uint8_t code[PROLOGUE];
    uint64_t sum = 0;
    const size_t size = os_copy_memory(function, code, sizeof(code));
    for (size_t at = 0; at + 8 <= size; at++)
        for (size_t i = 0; i < sizeof(instructions) / sizeof(*instructions); i++)
            if (memcmp(code + at, instructions[i].code, instructions[i].size) == 0)
                sum += constant_at(code + at + instructions[i].size);
    return sum <= SUBTRACTED_MOST ? sum : 0;
}

/* Returns true for the call in libgcc's __morestack, which runs a function on a further segment of
 * a split stack, and always returns to the segment before. No other code has the word of a return
 * address between its saved rbp and its own return address. */
static bool is_morestack(uint64_t pc, unwind_rule rule)
{
    static const uint8_t call[] = {0x4c, 0x8b, 0x55, 0x08, /* mov 8(%rbp), %r10 */
                                   0x49, 0xff, 0xc2,       /* inc %r10 */
                                   0x48, 0x8b, 0x45, 0xf0, /* mov -16(%rbp), %rax */
                                   0x41, 0xff, 0xd2};      /* call *%r10 */
    uint8_t code[sizeof(call)];
    return unwind_rule_by_rbp(rule) && unwind_rule_offset(rule) == 24 &&
           unwind_rule_rbp(rule) == UNWIND_RBP_AT_CFA && unwind_rule_rbp_offset(rule) == -24 &&
           os_copy_memory(pc + 1 - sizeof(code), code, sizeof(code)) == sizeof(code) &&
           memcmp(code, call, sizeof(code)) == 0;
}

/* Returns the reach of the code at `pc`, in a function that starts at `function`. */
static uint64_t reach_of(uint64_t pc, uint64_t function, unwind_rule rule, uint64_t distance)
{
    if (is_morestack(pc, rule))
        return UINT64_MAX;
    if (switches_stack(function, pc))
        return 0;
    if (unwind_rule_kind(rule) == UNWIND_RULE_FRAME && !unwind_rule_by_rbp(rule))
        return (uint64_t)unwind_rule_offset(rule);
    return BESIDE_MOST + (distance < BESIDE_MOST ? 0 : subtracted(function));
}

/* Returns true if the code at `pc` keeps its return address where `rule` looks for it. A walk that
 * follows frame pointers without a rule needs code of which the table says the same. */
static bool is_described(unwind_rule rule, const struct unwind_row *row, uint64_t pc)
{
    const enum unwind_rule_kind kind = unwind_rule_kind(rule);
    return kind == UNWIND_RULE_FRAME || kind == UNWIND_RULE_REALIGNED ||
           (kind == UNWIND_RULE_NONE && unwind_rule_pack(row, pc) == unwind_rule_frame_pointer());
}

void frame_reach_learn(uint64_t pc, unwind_rule rule, uint64_t distance, uint64_t caller)
{
    uint64_t reach = 0;
    struct module module;
    struct unwind_row row;
    if (frame_reach(pc) || unwind_rule_kind(rule) == UNWIND_RULE_FULL)
        return;
    if (unwind_rule_kind(rule) == UNWIND_RULE_SIGNAL)
        reach = BESIDE_MOST;
    else if (modules_find(pc, &module) && module.image.header &&
             unwind_table_find(&module.image, pc, &row) == UNWIND_FOUND &&
             is_described(rule, &row, pc) && follows_call(caller))
        reach = reach_of(pc, row.function, rule, distance);
    if (distance < reach)
        lockfree_table_insert(&frame_reach_table, pc, reach);
}

void frame_reach_forget(uint64_t low, uint64_t high)
{
    lockfree_table_forget(&frame_reach_table, UINT64_MAX, low, high);
}

void frame_reach_after_fork(void)
{
    lockfree_table_recover(&frame_reach_table);
}
