/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of the selected allocations by a key of the caller, in one pass of all threads. Each thread
 * sums for itself, then the sums are added, so they do not depend on the number of threads. If the
 * session is sampled, numbers and bytes are estimates.
 */
#ifndef MPROF_SESSION_TABLES_SUMS_H
#define MPROF_SESSION_TABLES_SUMS_H

#include "session/group/code_map.h"
#include "session/scan/kernels.h"
#include "session/session.h"

/* The values of some rows of a chunk. Columns that were not asked for are not set. */
struct table_rows {
    size_t count;
    uint64_t value[COLUMN_TOTAL][KERNEL_ROWS];
    uint64_t bytes[KERNEL_ROWS], counts[KERNEL_ROWS]; /* what each row represents */
};

struct table_sum {
    uint64_t allocations, bytes, objects; /* objects only if COLUMN_COUNT_OF_OBJECTS is read */
    uint64_t live_count, live_bytes;      /* never freed */
    uint64_t at_peak_count, at_peak_bytes;
    uint64_t least_size, most_size, first_ns, last_ns; /* of the recorded blocks */
};

/* The columns that every pass reads. */
#define TABLE_COLUMNS                                                                              \
    (COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS))

/* The code of a row that counts nowhere. */
#define TABLE_NO_CODE ((struct code){UINT64_MAX, UINT64_MAX})

struct table_spec {
    unsigned columns; /* COLUMN_BITs beside TABLE_COLUMNS */
    bool live_only;   /* only blocks that were never freed */
    size_t extras;    /* numbers of each code that `extra` adds up */
    /* Stores the code of each row. Threads call it at the same time. */
    void (*key)(const void *context, const struct table_rows *rows, struct code *codes);
    /* Adds a row to the numbers of its code. They wrap around, so a number may count down. */
    void (*extra)(const void *context, const struct table_rows *rows, size_t row, uint64_t *extra);
    const void *context;
};

/* The sums by number of code. */
struct table_sums {
    struct code_map codes;
    struct table_sum *sums;
    uint64_t *extra; /* `extras` for each code, or NULL */
    size_t capacity;
};

/* Sums up. Returns false with `error` set; otherwise the caller calls table_sums_free(). */
bool table_sums(struct selection *selection, const struct table_spec *spec, struct table_sums *sums,
                struct session_error *error);
void table_sums_free(struct table_sums *sums);

/* Adds one sum to another. Both have blocks, or are zero. */
void table_sum_add(struct table_sum *sum, const struct table_sum *part);

#endif
