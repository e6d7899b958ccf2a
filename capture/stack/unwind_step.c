/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/unwind_step.h"

#include "capture/stack/executable_maps.h"
#include "capture/stack/modules.h"
#include "capture/stack/unwind_reader.h"
#include "capture/stack/unwind_rule.h"

/* Evaluates DWARF expressions of call frame information (DWARF 5, 2.5 and 6.4.2). */

#define DEPTH 16u
#define OPERATIONS_MAX 256u

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_SWAP = 0x16,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_NOP = 0x96
};

struct evaluation {
    struct unwind_reader reader;
    const uint8_t *begin;
    const uint64_t *values;
    struct stack_memory *memory;
    uint64_t stack[DEPTH];
    unsigned depth;
    bool failed;
};

static void push(struct evaluation *e, uint64_t value)
{
    if (e->depth < DEPTH)
        e->stack[e->depth++] = value;
    else
        e->failed = true;
}

static uint64_t pop(struct evaluation *e)
{
    if (e->depth)
        return e->stack[--e->depth];
    e->failed = true;
    return 0;
}

static bool constant(struct evaluation *e, unsigned op)
{
    if (op >= OP_CONST1U && op <= OP_CONST8S) {
        unsigned bytes = 1u << (op - OP_CONST1U) / 2;
        bool is_signed = (op - OP_CONST1U) % 2;
        push(e, is_signed ? (uint64_t)unwind_read_signed(&e->reader, bytes)
                          : unwind_read(&e->reader, bytes));
    } else if (op == OP_ADDR)
        push(e, unwind_read(&e->reader, 8));
    else if (op == OP_CONSTU)
        push(e, unwind_read_uleb(&e->reader));
    else if (op == OP_CONSTS)
        push(e, (uint64_t)unwind_read_sleb(&e->reader));
    else if (op >= OP_LIT0 && op <= OP_LIT31)
        push(e, op - OP_LIT0);
    else if (op >= OP_BREG0 && op < OP_BREG0 + ARCH_REGISTERS)
        push(e, e->values[op - OP_BREG0] + (uint64_t)unwind_read_sleb(&e->reader));
    else
        return false;
    return true;
}

static bool one_operand(struct evaluation *e, unsigned op)
{
    uint64_t value;
    switch (op) {
    case OP_DEREF:
        e->failed |= !stack_memory_read(e->memory, pop(e), &value);
        if (!e->failed)
            push(e, value);
        return true;
    case OP_DUP:
        value = pop(e);
        push(e, value);
        push(e, value);
        return true;
    case OP_DROP:
        pop(e);
        return true;
    case OP_OVER:
        e->failed |= e->depth < 2;
        push(e, e->failed ? 0 : e->stack[e->depth - 2]);
        return true;
    case OP_NEG:
        push(e, -pop(e));
        return true;
    case OP_NOT:
        push(e, ~pop(e));
        return true;
    case OP_PLUS_UCONST:
        push(e, pop(e) + unwind_read_uleb(&e->reader));
        return true;
    case OP_NOP:
        return true;
    default:
        return false;
    }
}

static bool two_operands(struct evaluation *e, unsigned op)
{
    if (op < OP_SWAP || op > OP_NE)
        return false;
    uint64_t b = pop(e), a = pop(e);
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    unsigned shift = b < 64 ? (unsigned)b : 63;
    switch (op) {
    case OP_SWAP:
        push(e, b);
        push(e, a);
        return true;
    case OP_AND:
        push(e, a & b);
        return true;
    case OP_MINUS:
        push(e, a - b);
        return true;
    case OP_MUL:
        push(e, a * b);
        return true;
    case OP_OR:
        push(e, a | b);
        return true;
    case OP_PLUS:
        push(e, a + b);
        return true;
    case OP_SHL:
        push(e, b < 64 ? a << b : 0);
        return true;
    case OP_SHR:
        push(e, b < 64 ? a >> b : 0);
        return true;
    case OP_SHRA:
        push(e, (uint64_t)(sa >> shift));
        return true;
    case OP_XOR:
        push(e, a ^ b);
        return true;
    case OP_EQ:
        push(e, a == b);
        return true;
    case OP_GE:
        push(e, sa >= sb);
        return true;
    case OP_GT:
        push(e, sa > sb);
        return true;
    case OP_LE:
        push(e, sa <= sb);
        return true;
    case OP_LT:
        push(e, sa < sb);
        return true;
    case OP_NE:
        push(e, a != b);
        return true;
    default:
        return false;
    }
}

static void branch(struct evaluation *e, bool taken)
{
    int64_t distance = unwind_read_signed(&e->reader, 2);
    if (!taken || e->reader.failed)
        return;
    if (distance < e->begin - e->reader.at || distance > e->reader.end - e->reader.at)
        e->failed = true;
    else
        e->reader.at += distance;
}

bool unwind_expression_evaluate(const struct unwind_location *expression, const uint64_t *values,
                                const uint64_t *initial, struct stack_memory *memory,
                                uint64_t *result)
{
    const uint8_t *begin = expression->expression;
    struct evaluation e = {.reader = {begin, begin + expression->length, false},
                           .begin = begin,
                           .values = values,
                           .memory = memory};
    if (initial)
        push(&e, *initial);
    for (unsigned count = 0; e.reader.at < e.reader.end && !e.reader.failed && !e.failed; count++) {
        unsigned op = (unsigned)unwind_read(&e.reader, 1);
        if (op == OP_SKIP || op == OP_BRA)
            branch(&e, op == OP_SKIP || pop(&e) != 0);
        else if (!constant(&e, op) && !one_operand(&e, op))
            e.failed |= op == OP_BRA || !two_operands(&e, op);
        if (count >= OPERATIONS_MAX)
            return false;
    }
    *result = pop(&e);
    return !e.reader.failed && !e.failed;
}

/* The full unwinder, for rows that need more registers than rsp and rbp. The loader's lazy binding
 * keeps its frame in rbx, and hand-written assembly keeps it in any register.
 *
 * It starts from the registers of this call and steps outward through the recorder's own frames.
 * So a callee-saved register is known if the tables say where it is. */

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
    /* Callers lie further out, except those of a signal. The last instructions of longjmp already
     * have the stack pointer of the setjmp, and a rule for it; their CFA is the jump buffer. */
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

/* The registers are followed outward through the frames of this function and its callers. These
 * frames stay in place up to the entry point, so one capture serves the whole walk. */
static __attribute__((noinline)) enum unwind_step unwind_full_step(struct stack_memory *memory,
                                                                   struct unwind_walk *walk,
                                                                   const struct stack_frame *frame,
                                                                   struct stack_frame *caller)
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

/* Steps by a rule. The new stack pointer must lie further out, or a bad rule could loop for ever.
 * Only a signal can lead from one stack to another. */
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

/* Returns true if `frame` may have a frame pointer, which points to the frame's own outer end. If
 * the frame lies on the thread's own stack, its frame pointer must point there too. */
static bool has_frame_pointer(const struct stack_memory *memory, const struct stack_frame *frame)
{
    return frame->rbp >= frame->sp && frame->rbp % 8 == 0 &&
           (stack_memory_is_own(memory, frame->rbp) || !stack_memory_is_own(memory, frame->sp));
}

/* Returns true if the caller's pc is plausible, because it lies in code. Code that belongs to no
 * file has no rules, so from there the chain of frame pointers must go on or end. */
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

/* Steps from code without unwind tables. If rbp looks like a frame pointer, it is used as one. A
 * chain of frame pointers ends in a frame whose saved one is 0 (psABI, 3.4.1). */
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
