/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/unwind_full.h"

#include "capture/stack/modules.h"
#include "capture/stack/unwind_expression.h"

/* Limits the frames up to the wanted one: the recorder's own and those of the program. */
#define STEPS_MAX 65536u

static bool cfa_value(const struct unwind_row *row, const uint64_t *values,
                      struct stack_memory *memory, uint64_t *cfa)
{
    if (row->cfa.how == UNWIND_IS_EXPRESSION)
        return unwind_expression_evaluate(&row->cfa, values, NULL, memory, cfa);
    if (row->cfa_register >= ARCH_REGISTERS)
        return false;
    *cfa = values[row->cfa_register] + (uint64_t)row->cfa.offset;
    return true;
}

/* Finds the caller's value of one register. Returns false if it cannot be found. */
static bool register_value(const struct unwind_location *location, unsigned number, uint64_t cfa,
                           const uint64_t *values, struct stack_memory *memory, uint64_t *value)
{
    uint64_t address;
    switch (location->how) {
    case UNWIND_SAME:
        *value = number == ARCH_RSP ? cfa : values[number];
        return number != ARCH_RA;
    case UNWIND_UNDEFINED:
        *value = 0;
        return true;
    case UNWIND_AT_OFFSET:
        return stack_memory_read(memory, cfa + (uint64_t)location->offset, value);
    case UNWIND_IS_OFFSET:
        *value = cfa + (uint64_t)location->offset;
        return true;
    case UNWIND_REGISTER:
        *value = values[location->offset & 15];
        return location->offset >= 0 && location->offset < ARCH_REGISTERS;
    case UNWIND_AT_EXPRESSION:
        return unwind_expression_evaluate(location, values, &cfa, memory, &address) &&
               stack_memory_read(memory, address, value);
    case UNWIND_IS_EXPRESSION:
        return unwind_expression_evaluate(location, values, &cfa, memory, value);
    default:
        return false;
    }
}

/* Replaces `registers` by those of the caller. */
static enum unwind_step registers_step(struct unwind_registers *registers,
                                       struct stack_memory *memory)
{
    struct module module;
    struct unwind_row row;
    uint64_t cfa, old[ARCH_REGISTERS];
    uint64_t pc = registers->pc - !registers->exact;
    if (!modules_find(pc, &module) || !module.image.header ||
        unwind_table_find(&module.image, pc, &row) != UNWIND_FOUND)
        return UNWIND_STEP_UNKNOWN;
    if (row.registers[ARCH_RA].how == UNWIND_UNDEFINED)
        return UNWIND_STEP_OUTERMOST;
    memcpy(old, registers->values, sizeof(old));
    old[ARCH_RA] = registers->pc;
    if (!cfa_value(&row, old, memory, &cfa))
        return UNWIND_STEP_UNKNOWN;
    for (unsigned i = 0; i < ARCH_REGISTERS; i++)
        if (!register_value(&row.registers[i], i, cfa, old, memory, &registers->values[i])) {
            /* Compilers describe some epilogues wrongly. A lost register may never be needed. */
            registers->values[i] = 0;
            if (i == ARCH_RA || i == ARCH_RSP)
                return UNWIND_STEP_UNKNOWN;
        }
    /*
     * Callers lie further out, except those of a signal. The last instructions of longjmp already
     * have the stack pointer of the setjmp, and a rule for it; their CFA is the jump buffer.
     */
    bool own_rule = row.registers[ARCH_RSP].how != UNWIND_SAME;
    bool further = own_rule ? registers->values[ARCH_RSP] >= old[ARCH_RSP] : cfa > old[ARCH_RSP];
    if (!further && !row.signal_frame)
        return UNWIND_STEP_UNKNOWN;
    registers->pc = registers->values[ARCH_RA];
    registers->exact = row.signal_frame;
    return UNWIND_STEP_CALLER;
}

static __attribute__((always_inline)) inline void registers_capture(struct unwind_registers *r)
{
    memset(r, 0, sizeof(*r));
    __asm__ volatile("lea 0(%%rip), %%rax\n\t"
                     "mov %%rax, %0\n\t"
                     "mov %%rbx, 24(%1)\n\t"
                     "mov %%rbp, 48(%1)\n\t"
                     "mov %%rsp, 56(%1)\n\t"
                     "mov %%r12, 96(%1)\n\t"
                     "mov %%r13, 104(%1)\n\t"
                     "mov %%r14, 112(%1)\n\t"
                     "mov %%r15, 120(%1)"
                     : "=m"(r->pc)
                     : "r"(r->values)
                     : "rax", "memory");
    r->exact = r->valid = true;
}

/*
 * The registers are followed outward through the frames of this function and its callers. These
 * frames stay in place up to the entry point, so one capture serves the whole walk.
 */
enum unwind_step unwind_full_step(struct stack_memory *memory, struct unwind_walk *walk,
                                  const struct stack_frame *frame, struct stack_frame *caller)
{
    struct unwind_registers *registers = &walk->registers;
    enum unwind_step step = UNWIND_STEP_CALLER;
    if (!registers->valid) {
        registers_capture(registers);
        stack_memory_begin(memory, registers->values[ARCH_RSP]);
    }
    for (unsigned i = 0; registers->values[ARCH_RSP] != frame->sp || registers->pc != frame->pc;
         i++)
        if (i == STEPS_MAX || registers_step(registers, memory) != UNWIND_STEP_CALLER)
            return UNWIND_STEP_UNKNOWN;
    step = registers_step(registers, memory);
    *caller = (struct stack_frame){.pc = registers->pc,
                                   .sp = registers->values[ARCH_RSP],
                                   .rbp = registers->values[ARCH_RBP],
                                   .exact = registers->exact != 0};
    return step;
}
