/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the call frame instructions of one entry (see unwind_table.h). */
#ifndef MPROF_CAPTURE_STACK_UNWIND_PROGRAM_H
#define MPROF_CAPTURE_STACK_UNWIND_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/unwind_table.h"

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
