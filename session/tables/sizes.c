/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums up allocations by size. */
#include <stdlib.h>

#include "schemas/array.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/spread.h"
#include "session/summary/summary.h"
#include "session/tables/sums.h"
#include "size_rows_sql.h"

enum session_size_class session_size_class(uint64_t size)
{
    enum session_size_class size_class = SESSION_SMALL;
    while (size > session_size_class_most(size_class))
        size_class++;
    return size_class;
}

uint64_t session_size_class_most(enum session_size_class size_class)
{
    static const uint64_t most[] = {32, 256, 2048, UINT64_MAX};
    return most[size_class];
}

struct reading {
    const struct session *session;
    struct session_size_sums *rows;
    size_t count, capacity;
};

static bool read_size(void *context, const struct database_row *row, struct session_error *error)
{
    struct reading *reading = context;
    uint64_t number[4];
    for (int i = 0; i < 4; i++)
        if (!database_natural(reading->session->database, row, i, "size_bin", &number[i], error))
            return false;
    if (!array_grow(&reading->rows, &reading->capacity, reading->count + 1, sizeof(*reading->rows)))
        return session_fail_memory(error, "the sizes");
    reading->rows[reading->count++] = (struct session_size_sums){number[0],
                                                                 number[1],
                                                                 number[0] * number[1],
                                                                 number[2],
                                                                 number[0] * number[2],
                                                                 number[3],
                                                                 number[0] * number[3]};
    return true;
}

static bool read_sizes(struct reading *reading, struct session_error *error)
{
    return database_each(reading->session->database, size_rows_sql, read_size, reading, error);
}

static void by_size(const void *context, const struct table_rows *rows, struct code *codes)
{
    (void)context;
    for (size_t i = 0; i < rows->count; i++)
        codes[i] = (struct code){rows->value[COLUMN_SIZE][i], 0};
}

static int compare_sizes(const void *left, const void *right)
{
    const struct session_size_sums *a = left;
    const struct session_size_sums *b = right;
    return a->size < b->size ? -1 : a->size > b->size;
}

static bool sum_sizes(struct selection *selection, struct reading *reading,
                      struct session_error *error)
{
    const struct table_spec spec = {.key = by_size};
    struct table_sums sums;
    if (!table_sums(selection, &spec, &sums, error))
        return false;
    reading->count = sums.codes.count;
    reading->rows = calloc(reading->count + 1, sizeof(*reading->rows));
    for (size_t i = 0; reading->rows && i < reading->count; i++) {
        const struct table_sum *sum = &sums.sums[i];
        reading->rows[i] = (struct session_size_sums){
            sums.codes.codes[i].low, sum->allocations,   sum->bytes,        sum->live_count,
            sum->live_bytes,         sum->at_peak_count, sum->at_peak_bytes};
    }
    table_sums_free(&sums);
    if (!reading->rows)
        return session_fail_memory(error, "the sizes");
    qsort(reading->rows, reading->count, sizeof(*reading->rows), compare_sizes);
    return true;
}

bool selection_sizes(struct selection *selection, struct session_size_sums **rows, size_t *count,
                     struct session_error *error)
{
    struct reading reading = {.session = selection->session};
    const bool good = selection->everything && summary_answers(selection->session)
                          ? read_sizes(&reading, error)
                          : sum_sizes(selection, &reading, error);
    if (!good) {
        free(reading.rows);
        return false;
    }
    *rows = reading.rows;
    *count = reading.count;
    return true;
}
