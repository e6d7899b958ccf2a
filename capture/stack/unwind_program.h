/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the call frame instructions of one entry (see unwind_table.h). */
#ifndef MPROF_CAPTURE_STACK_UNWIND_PROGRAM_H
#define MPROF_CAPTURE_STACK_UNWIND_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/os/arch_x86_64.h"

/* How the caller's value of a register is found. */
enum unwind_how {
    UNWIND_SAME,          /* not saved: still in the register */
    UNWIND_UNDEFINED,     /* lost; for the return address: the outermost frame */
    UNWIND_AT_OFFSET,     /* saved at CFA + offset */
    UNWIND_IS_OFFSET,     /* is CFA + offset */
    UNWIND_REGISTER,      /* is in register `offset` */
    UNWIND_AT_EXPRESSION, /* saved at the address that the expression gives, CFA on the stack */
    UNWIND_IS_EXPRESSION, /* is the value that the expression gives */
};

struct unwind_location {
    union {
        int64_t offset;            /* or a register's number */
        const uint8_t *expression; /* `length` bytes inside the image */
    };
    uint32_t length;
    uint8_t how; /* enum unwind_how */
};

/* One row of the table: the canonical frame address (the caller's sp) and the registers. */
struct unwind_row {
    struct unwind_location cfa; /* UNWIND_IS_OFFSET of cfa_register, or UNWIND_IS_EXPRESSION */
    uint32_t cfa_register;      /* ARCH_REGISTERS: one that is not followed */
    struct unwind_location registers[ARCH_REGISTERS];
    uint64_t function; /* start of the code that this entry describes */
    bool signal_frame; /* the caller was interrupted: its pc is exact */
};

/* The contents of a common information entry and one of its frame description entries. */
struct unwind_entry {
    uint64_t code_alignment;
    int64_t data_alignment;
    uint64_t pc_begin, pc_size;
    const uint8_t *initial, *initial_end; /* instructions of the common entry */
    const uint8_t *program, *program_end; /* instructions of the entry itself */
    uint8_t pointer_encoding;
    bool signal_frame;
};

/* Runs both programs up to `pc`. Returns false if they are damaged; `row` is then invalid. */
bool unwind_program_run(const struct unwind_entry *entry, uint64_t pc, struct unwind_row *row);

#endif
