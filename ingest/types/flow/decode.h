/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decodes x86-64 instructions as far as following a pointer needs it: the length of every
 * instruction, the operands of moves, lea, add, sub, push and pop, the targets of branches, and for
 * all other instructions the general registers that they may write. Source: Intel 64 and IA-32
 * Architectures Software Developer's Manual, volume 2, appendix A (opcode maps) and section 2
 * (formats).
 */
#ifndef MPROF_INGEST_TYPES_FLOW_DECODE_H
#define MPROF_INGEST_TYPES_FLOW_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* General registers have the numbers of the machine's encoding. */
enum decode_register {
    DECODE_RAX = 0,
    DECODE_RCX = 1,
    DECODE_RDX = 2,
    DECODE_RBX = 3,
    DECODE_RSP = 4,
    DECODE_RBP = 5,
    DECODE_RSI = 6,
    DECODE_RDI = 7,
    DECODE_R8 = 8,
    DECODE_R9 = 9,
    DECODE_R10 = 10,
    DECODE_R11 = 11,
    DECODE_RIP = 16,
    DECODE_NO_REGISTER = 255
};

enum decode_operation {
    DECODE_OTHER, /* writes the registers in `writes`, and memory, which is ignored */
    DECODE_MOVE,  /* to = from; 64 bits, or 32 that are widened */
    DECODE_LEA,   /* to = address of from */
    DECODE_ADD,   /* to += from; `writes` has the register too */
    DECODE_SUBTRACT,
    DECODE_PUSH, /* from */
    DECODE_POP,  /* to */
    DECODE_CALL, /* `target`, or 0 if the instruction does not contain it */
    DECODE_JUMP,
    DECODE_BRANCH, /* conditional jump */
    DECODE_RETURN,
    DECODE_STOP /* ud2, hlt, int3 */
};

enum decode_operand_kind { DECODE_NOTHING, DECODE_REGISTER, DECODE_MEMORY, DECODE_IMMEDIATE };

struct decode_operand {
    enum decode_operand_kind kind;
    uint8_t base; /* the register itself, or of an address; DECODE_RIP: already added */
    uint8_t index, scale;
    int64_t value; /* immediate, displacement, or with DECODE_RIP the address */
};

struct decode_instruction {
    enum decode_operation operation;
    uint8_t length;
    uint8_t width; /* bytes that a move moves */
    uint32_t writes;
    uint64_t target;
    struct decode_operand to, from;
};

/*
 * Decodes the instruction at `address`; `size` bytes are available. Returns false if there is none.
 */
bool types_decode(const uint8_t *bytes, size_t size, uint64_t address,
                  struct decode_instruction *instruction);

#endif
