/* SPDX-License-Identifier: BSD-2-Clause */
/* How to step from one frame to its caller, packed into one word, which a cache can hold and
 * publish atomically.
 *
 * A frame is known by its pc, its stack pointer and, if a rule needs it, rbp. Nearly all code needs
 * no more:
 *
 *   FRAME      CFA = rsp or rbp + offset; return address at CFA - 8
 *   REALIGNED  CFA = the word at (rsp or rbp + offset) + addend: gcc's stack realignment
 *   SIGNAL     the return into rt_sigreturn: registers from the ucontext at rsp
 *   OUTERMOST  the return address is undefined: the stack ends here and is complete
 *   NONE       no call frame information: the frame pointer is the only guess
 *   FULL       needs more registers than rsp and rbp: see unwind_step.c
 *
 * The caller's rbp is the same, or saved at CFA + offset, or (realigned) at rbp + offset. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/os/lockfree_table.h"
#include "capture/os/options.h"
#include "capture/stack/unwind_table.h"

enum unwind_rule_kind {
    UNWIND_RULE_MISSING = 0, /* not computed yet; no other rule is the word 0 */
    UNWIND_RULE_FRAME,
    UNWIND_RULE_REALIGNED,
    UNWIND_RULE_SIGNAL,
    UNWIND_RULE_OUTERMOST,
    UNWIND_RULE_NONE,
    UNWIND_RULE_FULL
};

enum unwind_rbp { UNWIND_RBP_SAME, UNWIND_RBP_AT_CFA, UNWIND_RBP_AT_RBP };

/* Bits: 0-2 kind, 3 CFA by rbp, 4-5 enum unwind_rbp, 6-33 CFA offset, 34-41 addend, 42-63 offset of
 * rbp. */
typedef uint64_t unwind_rule;

static inline enum unwind_rule_kind unwind_rule_kind(unwind_rule rule)
{
    return (enum unwind_rule_kind)(rule & 7);
}

static inline bool unwind_rule_by_rbp(unwind_rule rule)
{
    return rule >> 3 & 1;
}

static inline enum unwind_rbp unwind_rule_rbp(unwind_rule rule)
{
    return (enum unwind_rbp)(rule >> 4 & 3);
}

static inline int64_t unwind_rule_offset(unwind_rule rule)
{
    return (int64_t)(rule << 30) >> 36;
}

static inline int64_t unwind_rule_addend(unwind_rule rule)
{
    return (int64_t)(rule << 22) >> 56;
}

static inline int64_t unwind_rule_rbp_offset(unwind_rule rule)
{
    return (int64_t)rule >> 42;
}

/* Returns the rule of code that keeps the usual frame pointer: CFA = rbp + 16, rbp at CFA - 16. */
unwind_rule unwind_rule_frame_pointer(void);
/* Packs a row, taken at `pc` (the address that was looked up). Returns FULL if it does not fit. */
unwind_rule unwind_rule_pack(const struct unwind_row *row, uint64_t pc);

/* The rule of each code address, computed once, in a process-wide table without locks.
 *
 * Addresses are looked up as in the unwind tables: a return address minus one, an interrupted
 * instruction as it is. */
extern struct lockfree_table unwind_cache_table;

void unwind_cache_init(enum stack_unwind mode);

/* Computes a rule from the tables of the module at `pc`. Frame pointer mode has only one rule. */
unwind_rule unwind_cache_compute(uint64_t pc);

/* Returns the place of a rule. Code addresses lie in long runs; one multiplication spreads them. */
static inline uint64_t unwind_cache_place(uint64_t pc)
{
    return pc * UINT64_C(0x9e3779b97f4a7c15);
}

static inline unwind_rule unwind_cache_rule(uint64_t pc)
{
    unwind_rule rule = lockfree_table_find(&unwind_cache_table, unwind_cache_place(pc), pc, 0, 0);
    return __builtin_expect(rule != UNWIND_RULE_MISSING, 1) ? rule : unwind_cache_compute(pc);
}

/* Returns true if a rule was computed before. The address then lies in a module. */
static inline bool unwind_cache_known(uint64_t pc)
{
    return lockfree_table_find(&unwind_cache_table, unwind_cache_place(pc), pc, 0, 0) !=
           UNWIND_RULE_MISSING;
}

/* Forgets the rules of low <= pc < high. */
void unwind_cache_forget(uint64_t low, uint64_t high);

/* Ends the changes of other threads, in a forked child. The rules stay. */
void unwind_cache_after_fork(void);
