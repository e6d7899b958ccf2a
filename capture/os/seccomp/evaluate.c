/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/seccomp/evaluate.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>

#define DATA_WORDS ((uint32_t)(sizeof(struct seccomp_data) / 4))
#define PLACE_WORD ((uint32_t)(offsetof(struct seccomp_data, instruction_pointer) / 4))

static uint32_t calculate(uint16_t operation, uint32_t a, uint32_t b, bool *good)
{
    switch (operation) {
    case BPF_ADD:
        return a + b;
    case BPF_SUB:
        return a - b;
    case BPF_MUL:
        return a * b;
    case BPF_DIV:
        *good = *good && b != 0;
        return b ? a / b : 0;
    case BPF_AND:
        return a & b;
    case BPF_OR:
        return a | b;
    case BPF_XOR:
        return a ^ b;
    case BPF_LSH:
        return a << (b & 31);
    case BPF_RSH:
        return a >> (b & 31);
    case BPF_NEG:
        return 0 - a;
    default:
        *good = false;
        return 0;
    }
}

static bool compare(uint16_t operation, uint32_t a, uint32_t b, bool *good)
{
    switch (operation) {
    case BPF_JEQ:
        return a == b;
    case BPF_JGT:
        return a > b;
    case BPF_JGE:
        return a >= b;
    case BPF_JSET:
        return (a & b) != 0;
    default:
        *good = false;
        return false;
    }
}

/* Returns the value of a load. seccomp has four kinds. */
static uint32_t load(const struct sock_filter *step, const uint32_t *data, const uint32_t *memory,
                     bool *good)
{
    const uint32_t word = step->k / 4;
    switch (BPF_MODE(step->code)) {
    case BPF_IMM:
        return step->k;
    case BPF_LEN:
        return sizeof(struct seccomp_data);
    case BPF_MEM:
        *good = *good && step->k < BPF_MEMWORDS;
        return step->k < BPF_MEMWORDS ? memory[step->k] : 0;
    case BPF_ABS:
        *good = *good && step->k % 4 == 0 && word < DATA_WORDS && word != PLACE_WORD &&
                word != PLACE_WORD + 1;
        return word < DATA_WORDS ? data[word] : 0;
    default:
        *good = false;
        return 0;
    }
}

uint32_t seccomp_evaluate(const struct sock_filter *code, uint32_t count, const uint32_t *data)
{
    uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {0};
    bool good = true;
    /* Jumps lead forward only. */
    for (uint64_t at = 0; good && at < count; at++) {
        const struct sock_filter *step = &code[at];
        const uint32_t operand = BPF_SRC(step->code) == BPF_X ? x : step->k;
        switch (BPF_CLASS(step->code)) {
        case BPF_LD:
            a = load(step, data, memory, &good);
            break;
        case BPF_LDX:
            x = load(step, data, memory, &good);
            break;
        case BPF_ST:
        case BPF_STX:
            good = step->k < BPF_MEMWORDS;
            memory[step->k % BPF_MEMWORDS] = BPF_CLASS(step->code) == BPF_ST ? a : x;
            break;
        case BPF_ALU:
            a = calculate(BPF_OP(step->code), a, operand, &good);
            break;
        case BPF_JMP:
            if (BPF_OP(step->code) == BPF_JA)
                at += step->k;
            else
                at += compare(BPF_OP(step->code), a, operand, &good) ? step->jt : step->jf;
            break;
        case BPF_RET:
            return BPF_RVAL(step->code) == BPF_A ? a : step->k;
        default: /* BPF_MISC */
            if (BPF_MISCOP(step->code) == BPF_TAX)
                x = a;
            else
                a = x;
        }
    }
    return SECCOMP_RET_KILL_THREAD;
}
