/* SPDX-License-Identifier: BSD-2-Clause */
/* From the data of a chunk to the values of a view. */
#ifndef MPROF_SESSION_DATA_COLUMN_VALUES_H
#define MPROF_SESSION_DATA_COLUMN_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/data/column_store.h"

/* Returns the bytes of the values of a view whose max - min needs `width` bytes: 0, 1, 2, 4 or 8.
 */
unsigned column_view_width(unsigned width);
/* Returns the bytes that a view's data needs. */
size_t column_view_length(uint32_t rows, unsigned width);

/*
 * Unpacks the data of a chunk, and stores its values minus view->min in `values`, which has
 * column_view_length() bytes. `life`: of the column alloc_ns the lifetimes, otherwise NULL. Returns
 * false if the data is damaged.
 */
bool column_values_unpack(const uint8_t *data, size_t length, const struct column_view *life,
                          const struct column_view *view, uint8_t *values);

/* Returns the largest of the stored values of a view that has some. */
uint64_t column_values_largest(const struct column_view *view);

#endif
