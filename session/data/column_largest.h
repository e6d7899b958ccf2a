/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MPROF_SESSION_DATA_COLUMN_LARGEST_H
#define MPROF_SESSION_DATA_COLUMN_LARGEST_H

#include <stdint.h>

/* Returns the largest of `rows` packed values of `width` bytes (1 to 8), without their min. */
uint64_t column_largest(const uint8_t *data, uint32_t rows, unsigned width);

#endif
