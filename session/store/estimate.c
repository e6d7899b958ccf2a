/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/estimate.h"

#include <math.h>
#include <stdlib.h>

enum { SMALL = 4096 };

struct estimate {
    double mean;
    double small[SMALL]; /* weights by size */
};

/* Returns 1 / p, where p is the probability that a block of the size is recorded. */
static double weight_of(const struct estimate *estimate, uint64_t size)
{
    return -1.0 / expm1(-(double)(size ? size : 1) / estimate->mean);
}

struct estimate *estimate_new(uint64_t mean)
{
    struct estimate *estimate = calloc(1, sizeof(*estimate));
    if (!estimate)
        return NULL;
    estimate->mean = (double)mean;
    for (uint64_t size = 0; size < SMALL; size++)
        estimate->small[size] = weight_of(estimate, size);
    return estimate;
}

void estimate_free(struct estimate *estimate)
{
    free(estimate);
}

double estimate_weight(const struct estimate *estimate, uint64_t size)
{
    return size < SMALL ? estimate->small[size] : weight_of(estimate, size);
}

/* Returns a number for rounding. The fractional parts of multiples of the golden ratio lie evenly
 * between 0 and 1. */
static double threshold(uint64_t row)
{
    return (double)(row * UINT64_C(0x9e3779b97f4a7c15) >> 11) * 0x1p-53;
}

static struct column_view view_of(const uint64_t *values, uint32_t rows)
{
    return (struct column_view){.data = (const uint8_t *)values,
                                .max = UINT64_MAX,
                                .mask = UINT64_MAX,
                                .width = sizeof(*values),
                                .rows = rows};
}

void estimate_chunk(const struct estimate *estimate, uint64_t first_row,
                    const struct column_view *size, struct estimate_rows *rows,
                    struct column_view *bytes, struct column_view *counts)
{
    if (!estimate) {
        *bytes = *size;
        *counts = (struct column_view){.min = 1, .max = 1, .rows = size->rows};
        return;
    }
    for (uint32_t row = 0; row < size->rows; row++) {
        const uint64_t asked = column_view_at(size, row);
        const double stands_for = estimate_weight(estimate, asked);
        rows->bytes[row] = (uint64_t)(stands_for * (double)asked + 0.5);
        rows->counts[row] = (uint64_t)(stands_for + threshold(first_row + row));
    }
    *bytes = view_of(rows->bytes, size->rows);
    *counts = view_of(rows->counts, size->rows);
}
