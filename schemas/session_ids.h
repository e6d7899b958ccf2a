/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which ids a session may have.
 *
 * Ids of module, thread, arena and the like count from 1, and a reader keeps arrays by id. Parts of
 * a trace may be lost, so there may be gaps, but an id far above the number of rows is damage.
 */
#ifndef MPROF_SCHEMAS_SESSION_IDS_H
#define MPROF_SCHEMAS_SESSION_IDS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a table of `rows` rows may have the row `id`. */
static inline bool session_id_possible(uint64_t id, uint64_t rows)
{
    return id < UINT32_MAX && id <= rows * 16 + (UINT64_C(1) << 20);
}

#endif
