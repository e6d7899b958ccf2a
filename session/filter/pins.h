/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what blocks live at one time pin, the bytes of the two gaps beside each, or what of them
 * was in memory (schemas/filter-language.md, "Pins" and "Resident"); and what a snapshot of
 * references says about blocks ("References"). Call pins_find(), then pins_of() for rows,
 * pins_free(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter/program.h"
#include "session/session.h"

/* From this size on, a gap is the space between two mappings. */
#define PINS_GAP_MAX (UINT64_C(16) << 20)

struct pin {
    uint64_t row; /* id - 1 */
    uint64_t bytes;
};

struct pins {
    size_t count;
    struct pin *pins; /* by row */
};

/* Returns the values of FIELD_PINS of all blocks live at that time, those of FIELD_RESIDENT of the
 * blocks that were live at the nearest reading of pages, or those of a field of snapshots
 * of the blocks that were live at the nearest one. NULL with `error` set: there is no reading or
 * snapshot (then at the column `column`), a damaged chunk, no memory. */
struct pins *pins_find(struct session *session, enum filter_field field, int column,
                       const struct filter_live *live, struct session_error *error);
void pins_free(struct pins *pins);
/* Returns the position of the first row that is not less than `row`. */
size_t pins_from(const struct pins *pins, uint64_t row);
/* Stores the bytes of a row. Returns false if they are not known. */
bool pins_of(const struct pins *pins, uint64_t row, uint64_t *bytes);
