/* SPDX-License-Identifier: BSD-2-Clause */
/* The ids that a session may have.
 *
 * Ids of module, thread, arena and the like count from 1, and a reader keeps arrays by id. A trace
 * may have lost parts, so there may be gaps, but an id far above the number of rows is damage. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns true if a table of `rows` rows may have a row `id`. */
static inline bool session_id_possible(uint64_t id, uint64_t rows)
{
    return id < UINT32_MAX && id <= rows * 16 + (UINT64_C(1) << 20);
}
