/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information of one code address, from a module's .eh_frame.
 *
 * unwind_table_find() finds the frame description entry by the binary search table of
 * .eh_frame_hdr. If that table is missing, it reads .eh_frame in order. Then it runs the entry's
 * instructions up to the address. The result says where each register of the caller was saved.
 *
 * Sources: DWARF 5, section 6.4; Linux Standard Base Core 5.0, section 10.6 (eh_frame and its
 * header). No byte outside the image is read. No input makes it loop for ever, because every
 * instruction consumes bytes and remembered states are limited.
 */
#ifndef MPROF_CAPTURE_STACK_UNWIND_TABLE_H
#define MPROF_CAPTURE_STACK_UNWIND_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/unwind_program.h"

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

#endif
