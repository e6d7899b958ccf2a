/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/unwind_expression.h"

#include "capture/stack/unwind_reader.h"

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
