/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/unwind_cache.h"

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/stack/modules.h"

static uint64_t rule_place(uint64_t key, uint64_t value)
{
    (void)value;
    return unwind_cache_place(key);
}

struct lockfree_table unwind_cache_table = {.place = rule_place};
static enum stack_unwind unwind_mode;

void unwind_cache_init(enum stack_unwind mode)
{
    unwind_mode = mode;
}

/* Returns true if the code returns from a signal. Some C libraries describe that by nothing but the
 * instructions. */
static bool returns_from_signal(uint64_t pc)
{
    uint8_t code[9];
    return os_copy_memory(pc + 1, code, sizeof(code)) == sizeof(code) &&
           arch_is_signal_return(code);
}

/*
 * Returns true if a function starts after `pc`. makecontext and similar functions put the address
 * of a function on the stack as if the instruction before it had called it. The tables do not know
 * that instruction, so such a stack ends there.
 */
static bool is_planted(const struct module *module, uint64_t pc)
{
    struct unwind_row row;
    return unwind_table_find(&module->image, pc + 1, &row) == UNWIND_FOUND &&
           row.function == pc + 1;
}

static unwind_rule rule_compute(const struct module *module, uint64_t pc)
{
    struct unwind_row row;
    enum unwind_found found = UNWIND_NO_ENTRY;
    if (unwind_mode != STACK_UNWIND_FRAME_POINTERS && module->image.header)
        found = unwind_table_find(&module->image, pc, &row);
    if ((found != UNWIND_FOUND || row.signal_frame) && returns_from_signal(pc))
        return UNWIND_RULE_SIGNAL;
    if (found == UNWIND_FOUND)
        return unwind_rule_pack(&row, pc);
    return module->image.header && is_planted(module, pc) ? UNWIND_RULE_OUTERMOST
                                                          : UNWIND_RULE_NONE;
}

ARCH_ALIGNS_STACK unwind_rule unwind_cache_compute(uint64_t pc)
{
    struct module module;
    /* Generated code comes and goes unnoticed, so no rule is kept for code outside modules. */
    if (!modules_find(pc, &module))
        return UNWIND_RULE_NONE;
    unwind_rule rule = rule_compute(&module, pc);
    lockfree_table_insert(&unwind_cache_table, pc, rule);
    return rule;
}

void unwind_cache_forget(uint64_t low, uint64_t high)
{
    lockfree_table_forget(&unwind_cache_table, UINT64_MAX, low, high);
}

void unwind_cache_after_fork(void)
{
    lockfree_table_recover(&unwind_cache_table);
}
