/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/unwind_rule.h"

#include "capture/os/arch_x86_64.h"
#include "capture/os/c_library.h"
#include "capture/os/os.h"
#include "capture/stack/modules.h"
#include "capture/stack/unwind_reader.h"

/* The DWARF expression operations (DWARF 5, 7.7.1) by which rules are recognized. */
enum {
    OP_DEREF = 0x06,
    OP_AND = 0x1a,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_GE = 0x2a,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG_RIP = 0x80
};

struct packing {
    enum unwind_rule_kind kind;
    bool by_rbp;
    enum unwind_rbp rbp;
    int64_t offset, addend, rbp_offset;
};

static bool fits(int64_t value, unsigned bits)
{
    int64_t half = INT64_C(1) << (bits - 1);
    return value >= -half && value < half;
}

static uint64_t field(int64_t value, unsigned bits, unsigned shift)
{
    return ((uint64_t)value & ((UINT64_C(1) << bits) - 1)) << shift;
}

static unwind_rule pack(const struct packing *p)
{
    if (!fits(p->offset, 28) || !fits(p->addend, 8) || !fits(p->rbp_offset, 22))
        return UNWIND_RULE_FULL;
    return (uint64_t)p->kind | (uint64_t)p->by_rbp << 3 | (uint64_t)p->rbp << 4 |
           field(p->offset, 28, 6) | field(p->addend, 8, 34) | field(p->rbp_offset, 22, 42);
}

unwind_rule unwind_rule_frame_pointer(void)
{
    return pack(&(struct packing){.kind = UNWIND_RULE_FRAME,
                                  .by_rbp = true,
                                  .rbp = UNWIND_RBP_AT_CFA,
                                  .offset = 16,
                                  .rbp_offset = -16});
}

static struct unwind_reader expression_reader(const struct unwind_location *location)
{
    return (struct unwind_reader){location->expression, location->expression + location->length,
                                  false};
}

static bool read_literal(struct unwind_reader *reader, unsigned *value)
{
    unsigned op = (unsigned)unwind_read(reader, 1);
    *value = op - OP_LIT0;
    return op >= OP_LIT0 && op <= OP_LIT31;
}

/* Packs the linker's description of a procedure linkage table: rsp + 8, and eight more after the
 * instruction that pushes the index: ((rip & a) >= b) << c. rip is known here. */
static bool pack_plt(struct unwind_reader *reader, uint64_t pc, struct packing *packing)
{
    unsigned mask, least, shift;
    if (unwind_read_sleb(reader) != 0 || !read_literal(reader, &mask) ||
        unwind_read(reader, 1) != OP_AND || !read_literal(reader, &least) ||
        unwind_read(reader, 1) != OP_GE || !read_literal(reader, &shift) ||
        unwind_read(reader, 1) != OP_SHL || unwind_read(reader, 1) != OP_PLUS)
        return false;
    uint64_t extra = (uint64_t)((pc & mask) >= least) << shift;
    packing->offset = (int64_t)((uint64_t)packing->offset + extra);
    return reader->at == reader->end && !reader->failed;
}

static bool pack_cfa_expression(const struct unwind_row *row, uint64_t pc, struct packing *packing)
{
    struct unwind_reader reader = expression_reader(&row->cfa);
    unsigned op = (unsigned)unwind_read(&reader, 1);
    if (op != OP_BREG0 + ARCH_RSP && op != OP_BREG0 + ARCH_RBP)
        return false;
    packing->by_rbp = op == OP_BREG0 + ARCH_RBP;
    packing->offset = unwind_read_sleb(&reader);
    if (reader.at == reader.end)
        return !reader.failed;
    op = (unsigned)unwind_read(&reader, 1);
    if (op == OP_BREG_RIP)
        return pack_plt(&reader, pc, packing);
    if (op != OP_DEREF)
        return false;
    packing->kind = UNWIND_RULE_REALIGNED;
    if (reader.at == reader.end)
        return !reader.failed;
    if (unwind_read(&reader, 1) != OP_PLUS_UCONST)
        return false;
    packing->addend = (int64_t)unwind_read_uleb(&reader);
    return reader.at == reader.end && !reader.failed;
}

static bool pack_cfa(const struct unwind_row *row, uint64_t pc, struct packing *packing)
{
    packing->kind = UNWIND_RULE_FRAME;
    if (row->cfa.how == UNWIND_IS_EXPRESSION)
        return pack_cfa_expression(row, pc, packing);
    packing->by_rbp = row->cfa_register == ARCH_RBP;
    packing->offset = row->cfa.offset;
    return row->cfa_register == ARCH_RBP || row->cfa_register == ARCH_RSP;
}

static bool pack_rbp(const struct unwind_row *row, struct packing *packing)
{
    const struct unwind_location *location = &row->registers[ARCH_RBP];
    switch (location->how) {
    case UNWIND_SAME:
    case UNWIND_UNDEFINED:
        packing->rbp = UNWIND_RBP_SAME;
        return true;
    case UNWIND_AT_OFFSET:
        packing->rbp = UNWIND_RBP_AT_CFA;
        packing->rbp_offset = location->offset;
        return true;
    case UNWIND_AT_EXPRESSION: {
        struct unwind_reader reader = expression_reader(location);
        bool plain = unwind_read(&reader, 1) == OP_BREG0 + ARCH_RBP;
        packing->rbp = UNWIND_RBP_AT_RBP;
        packing->rbp_offset = unwind_read_sleb(&reader);
        return plain && reader.at == reader.end && !reader.failed;
    }
    default:
        return false;
    }
}

unwind_rule unwind_rule_pack(const struct unwind_row *row, uint64_t pc)
{
    struct packing packing = {.kind = UNWIND_RULE_FULL};
    const struct unwind_location *ra = &row->registers[ARCH_RA];
    if (ra->how == UNWIND_UNDEFINED)
        return UNWIND_RULE_OUTERMOST;
    if (row->signal_frame || ra->how != UNWIND_AT_OFFSET || ra->offset != -8 ||
        row->registers[ARCH_RSP].how != UNWIND_SAME || !pack_cfa(row, pc, &packing) ||
        !pack_rbp(row, &packing))
        return UNWIND_RULE_FULL;
    return pack(&packing);
}

static uint64_t rule_place(uint64_t key, uint64_t value)
{
    return unwind_cache_place(key);
}

struct lockfree_table unwind_cache_table = {.place = rule_place};
static enum stack_unwind unwind_mode;

void unwind_cache_init(enum stack_unwind mode)
{
    unwind_mode = mode;
}

/* Returns true if the code returns from a signal: for C libraries that do not describe it. */
static bool returns_from_signal(uint64_t pc)
{
    uint8_t code[9];
    return os_copy_memory(pc + 1, code, sizeof(code)) == sizeof(code) &&
           arch_is_signal_return(code);
}

/* Returns true if a function starts after `pc`. makecontext and similar functions put the address
 * of a function on the stack as if the instruction before it had called it. The tables do not know
 * that instruction, so such a stack ends there. */
static bool is_planted(const struct module *module, uint64_t pc)
{
    struct unwind_row row;
    return unwind_table_find(&module->image, pc + 1, &row) == UNWIND_FOUND &&
           row.function == pc + 1;
}

/* Returns true if the code that has no entry is known to be outermost. */
static bool is_outermost(const struct module *module, uint64_t pc)
{
#ifndef MPROF_STATIC
    if (c_library_ends_thread_at(pc + 1))
        return true;
#endif
    return module->image.header && is_planted(module, pc);
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
    return is_outermost(module, pc) ? UNWIND_RULE_OUTERMOST : UNWIND_RULE_NONE;
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
