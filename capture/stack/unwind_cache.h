/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rule of each code address, computed once, in a process-wide table without locks.
 *
 * Addresses are looked up as in the unwind tables: a return address minus one, an interrupted
 * instruction as it is.
 */
#ifndef MPROF_CAPTURE_STACK_UNWIND_CACHE_H
#define MPROF_CAPTURE_STACK_UNWIND_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/options/stack_options.h"
#include "capture/os/lockfree_table.h"
#include "capture/stack/unwind_rule.h"

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

#endif
