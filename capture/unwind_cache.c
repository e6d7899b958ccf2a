#include "capture/unwind_cache.h"

#include "capture/modules.h"
#include "capture/os.h"

struct shared_table unwind_cache_table;
static enum stack_unwind unwind_mode;

void unwind_cache_init(enum stack_unwind mode)
{
    unwind_mode = mode;
}

/* Some C libraries describe the return from a signal by nothing but its instructions. */
static bool returns_from_signal(uint64_t pc)
{
    uint8_t code[9];
    return os_peek(pc + 1, code, sizeof code) == sizeof code && arch_is_signal_return(code);
}

static unwind_rule rule_compute(const struct module *module, uint64_t pc)
{
    struct unwind_row row;
    if (unwind_mode == STACK_UNWIND_FRAME_POINTERS)
        return returns_from_signal(pc) ? UNWIND_RULE_SIGNAL : UNWIND_RULE_NONE;
    if (!module->image.header || unwind_table_find(&module->image, pc, &row) != UNWIND_FOUND)
        return returns_from_signal(pc) ? UNWIND_RULE_SIGNAL : UNWIND_RULE_NONE;
    if (row.signal_frame && returns_from_signal(pc))
        return UNWIND_RULE_SIGNAL;
    return unwind_rule_pack(&row, pc);
}

unwind_rule unwind_cache_compute(uint64_t pc)
{
    struct module module;
    /* Generated code comes and goes unseen: what is in no module is not remembered. */
    if (!modules_find(pc, &module))
        return UNWIND_RULE_NONE;
    unwind_rule rule = rule_compute(&module, pc);
    shared_table_insert(&unwind_cache_table, pc, 0, 0, rule);
    return rule;
}

void unwind_cache_forget(uint64_t low, uint64_t high)
{
    shared_table_forget(&unwind_cache_table, low, high);
}

void unwind_cache_forked(void)
{
    shared_table_recover(&unwind_cache_table);
}
