/* SPDX-License-Identifier: BSD-2-Clause */
/* Machine code of x86-64, decoded as far as following a pointer needs it: the operands of moves,
 * lea, add, sub, push and pop, the targets of branches, and for all other instructions the general
 * registers that they may write. Zydis decodes; nothing else in mprof knows it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/symbols/file.h"
#include "ingest/types/dwarf/registers.h"

enum decode_operation {
    DECODE_OTHER, /* writes the registers in `writes`, and memory, which is ignored */
    DECODE_MOVE,  /* to = from */
    DECODE_LEA,   /* to = address of from */
    DECODE_ADD,   /* to += from; 64 bits */
    DECODE_SUBTRACT,
    DECODE_MULTIPLY, /* or a shift to the left; writes the registers in `writes`. With a factor, to
                        = from * factor; 64 bits */
    DECODE_PUSH,     /* from */
    DECODE_POP,      /* to */
    DECODE_CALL,     /* `target`, or 0 if the instruction does not contain it */
    DECODE_JUMP,
    DECODE_BRANCH, /* conditional jump */
    DECODE_RETURN,
    DECODE_STOP /* ud0 to ud2, hlt, int3 */
};

enum decode_operand_kind { DECODE_NOTHING, DECODE_REGISTER, DECODE_MEMORY, DECODE_IMMEDIATE };

struct decode_operand {
    enum decode_operand_kind kind;
    uint8_t base; /* the register itself, or of an address; REGISTER_RIP: already added */
    uint8_t index, scale;
    bool thread;   /* the address counts from the thread pointer, fs */
    int64_t value; /* immediate, displacement, or with REGISTER_RIP the address */
};

struct decode_instruction {
    enum decode_operation operation;
    uint8_t length;
    uint8_t width;   /* bytes that a move moves */
    uint32_t writes; /* bit n: register n; of the operations without operands */
    int64_t factor;  /* 0: not known */
    uint64_t target;
    struct decode_operand to, from;
};

/* Returns the code from `address` to the end of its section, or NULL. */
const uint8_t *types_code(const struct symbols_file *file, uint64_t address, size_t *size);

/* Decodes the instruction at `address`; `size` bytes are available. False: there is none. */
bool types_decode(const uint8_t *bytes, size_t size, uint64_t address,
                  struct decode_instruction *instruction);

/* Does the same, faster, but leaves `width`, `writes`, `to` and `from` empty. */
bool types_decode_branch(const uint8_t *bytes, size_t size, uint64_t address,
                         struct decode_instruction *instruction);

/* Returns true if the instruction changes no general register, as those that fill the space between
 * blocks of code. */
static inline bool types_is_padding(const struct decode_instruction *instruction)
{
    return instruction->operation == DECODE_OTHER && instruction->writes == 0;
}
