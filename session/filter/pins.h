/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds what each block live at one time pins: the bytes of the two gaps beside it
 * (schemas/filter-language.md, "Pins"). Call pins_find(), then pins_of() for rows, pins_free().
 */
#ifndef MPROF_SESSION_FILTER_PINS_H
#define MPROF_SESSION_FILTER_PINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter/program.h"

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

/* Returns the pins of all blocks live at that time, or NULL with `error` set. */
struct pins *pins_find(struct session *session, const struct filter_live *live,
                       struct session_error *error);
void pins_free(struct pins *pins);
/* Returns the position of the first row that is not less than `row`. */
size_t pins_from(const struct pins *pins, uint64_t row);
/* Returns the bytes that a row pins, 0 if it was not live. */
uint64_t pins_of(const struct pins *pins, uint64_t row);

#endif
