/* SPDX-License-Identifier: BSD-2-Clause */
/* Call frame information of one code address, from a module's .eh_frame.
 *
 * unwind_table_find() finds the frame description entry by the binary search table of
 * .eh_frame_hdr. If that table is missing, it reads .eh_frame in order. Then it runs the entry's
 * instructions up to the address. The result says where each register of the caller was saved.
 *
 * Sources: DWARF 5, section 6.4; Linux Standard Base Core 5.0, section 10.6 (eh_frame and its
 * header). No byte outside the image is read. No input makes it loop for ever, because every
 * instruction consumes bytes and remembered states are limited. */
#pragma once

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

/* The readable memory that holds .eh_frame_hdr and .eh_frame: a loaded segment. */
struct unwind_image {
    const uint8_t *start, *end;
    const uint8_t *header; /* .eh_frame_hdr, inside */
};

enum unwind_found {
    UNWIND_FOUND,
    UNWIND_NO_ENTRY, /* no entry covers the address */
    UNWIND_BAD       /* the tables are damaged or use something unknown here */
};

/* `pc` is an address within the instruction. For return addresses it is the address minus one. */
enum unwind_found unwind_table_find(const struct unwind_image *image, uint64_t pc,
                                    struct unwind_row *row);
