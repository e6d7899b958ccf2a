/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/tables/sums.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_set.h"
#include "session/query/selection_state.h"
#include "session/scan/scan.h"

/* Types and most sizes are small codes: their numbers are found without a hash. */
enum { SMALL = 4096 };

/* The sums of one thread. */
struct summing {
    const struct table_spec *spec;
    uint64_t peak_ns;
    struct table_sums sums;
    enum { SUMMING_GOOD, SUMMING_NO_MEMORY, SUMMING_TOO_MANY } state;
    struct table_rows rows;
    struct code codes[KERNEL_ROWS];
    uint32_t small[SMALL]; /* by code below SMALL: its number plus 1, 0: not known yet */
};

void table_sums_free(struct table_sums *sums)
{
    code_map_free(&sums->codes);
    free(sums->sums);
    free(sums->extra);
    *sums = (struct table_sums){.capacity = 0};
}

/* Makes the sums as long as the codes are many. */
static bool grow(struct table_sums *sums, size_t extras)
{
    const size_t capacity = sums->codes.capacity;
    if (capacity <= sums->capacity)
        return true;
    struct table_sum *more = realloc(sums->sums, capacity * sizeof(*more));
    if (!more)
        return false;
    sums->sums = more;
    memset(more + sums->capacity, 0, (capacity - sums->capacity) * sizeof(*more));
    if (extras > 0) {
        uint64_t *extra = realloc(sums->extra, capacity * extras * sizeof(*extra));
        if (!extra)
            return false;
        sums->extra = extra;
        memset(extra + sums->capacity * extras, 0,
               (capacity - sums->capacity) * extras * sizeof(*extra));
    }
    sums->capacity = capacity;
    return true;
}

/* Stores the number of a code, which is added if it is new. */
static bool number_of(struct summing *summing, struct code code, uint32_t *number)
{
    struct code_map *codes = &summing->sums.codes;
    uint32_t *small = code.high == 0 && code.low < SMALL ? &summing->small[code.low] : NULL;
    if (small && *small != 0) {
        *number = *small - 1;
        return true;
    }
    if (!code_map_add(codes, code, GROUPS_MAX, number)) {
        summing->state = codes->count < GROUPS_MAX ? SUMMING_NO_MEMORY : SUMMING_TOO_MANY;
        return false;
    }
    if (!grow(&summing->sums, summing->spec->extras)) {
        summing->state = SUMMING_NO_MEMORY;
        return false;
    }
    if (small)
        *small = *number + 1;
    return true;
}

void table_sum_add(struct table_sum *sum, const struct table_sum *part)
{
    if (part->allocations == 0)
        return;
    const bool first = sum->allocations == 0;
    sum->allocations += part->allocations;
    sum->bytes += part->bytes;
    sum->objects += part->objects;
    sum->live_count += part->live_count;
    sum->live_bytes += part->live_bytes;
    sum->at_peak_count += part->at_peak_count;
    sum->at_peak_bytes += part->at_peak_bytes;
    if (first || part->least_size < sum->least_size)
        sum->least_size = part->least_size;
    if (first || part->most_size > sum->most_size)
        sum->most_size = part->most_size;
    if (first || part->first_ns < sum->first_ns)
        sum->first_ns = part->first_ns;
    if (first || part->last_ns > sum->last_ns)
        sum->last_ns = part->last_ns;
}

static inline void add_row(const struct summing *summing, size_t row, struct table_sum *sum)
{
    const struct table_rows *rows = &summing->rows;
    const uint64_t began = rows->value[COLUMN_ALLOC_NS][row];
    const uint64_t life = rows->value[COLUMN_LIFE_NS][row];
    const uint64_t size = rows->value[COLUMN_SIZE][row];
    const uint64_t bytes = rows->bytes[row], count = rows->counts[row];
    /* Life 0 means never freed: life - 1 is then the largest number. */
    const bool at_peak = began <= summing->peak_ns && life - 1 > summing->peak_ns - began;
    const bool first = sum->allocations == 0;
    if (count == 0)
        return;
    sum->allocations += count;
    sum->bytes += bytes;
    if (summing->spec->columns & COLUMN_BIT(COLUMN_COUNT_OF_OBJECTS))
        sum->objects += rows->value[COLUMN_COUNT_OF_OBJECTS][row] * count;
    if (life == 0) {
        sum->live_count += count;
        sum->live_bytes += bytes;
    }
    if (at_peak) {
        sum->at_peak_count += count;
        sum->at_peak_bytes += bytes;
    }
    if (first || size < sum->least_size)
        sum->least_size = size;
    if (first || size > sum->most_size)
        sum->most_size = size;
    if (first || began < sum->first_ns)
        sum->first_ns = began;
    if (first || began > sum->last_ns)
        sum->last_ns = began;
}

static bool add_batch(struct summing *summing)
{
    const struct table_spec *spec = summing->spec;
    struct table_rows *rows = &summing->rows;
    uint32_t number = CODE_NONE;
    spec->key(spec->context, rows, summing->codes);
    for (size_t i = 0; i < rows->count; i++) {
        const struct code code = summing->codes[i];
        if ((code.low == UINT64_MAX && code.high == UINT64_MAX) ||
            (spec->live_only && rows->value[COLUMN_LIFE_NS][i] != 0))
            continue;
        const struct code *last = number == CODE_NONE ? NULL : &summing->sums.codes.codes[number];
        if ((!last || last->low != code.low || last->high != code.high) &&
            !number_of(summing, code, &number))
            return false;
        add_row(summing, i, &summing->sums.sums[number]);
        if (spec->extra)
            spec->extra(spec->context, rows, i, &summing->sums.extra[number * spec->extras]);
    }
    return true;
}

static void add_chunk(void *context, const struct chunk_rows *chunk)
{
    struct summing *summing = context;
    struct table_rows *rows = &summing->rows;
    const unsigned columns = summing->spec->columns | TABLE_COLUMNS;
    struct kernel_rows batch;
    if (summing->state != SUMMING_GOOD)
        return;
    KERNEL_EACH_BATCH(chunk->words, &batch)
    {
        for (unsigned column = 0; column < COLUMN_TOTAL; column++)
            if (columns & COLUMN_BIT(column))
                kernel_take(&chunk->views[column], &batch, rows->value[column]);
        kernel_take(&chunk->bytes, &batch, rows->bytes);
        kernel_take(&chunk->counts, &batch, rows->counts);
        rows->count = batch.count;
        if (!add_batch(summing))
            return;
    }
}

static bool has_live(const void *context, const struct column_store *store, uint32_t chunk)
{
    (void)context;
    return column_store_min(store, chunk, COLUMN_LIFE_NS) == 0;
}

/* Adds the sums of another thread. */
static bool merge(struct summing *to, const struct summing *from)
{
    const size_t extras = to->spec->extras;
    for (size_t i = 0; i < from->sums.codes.count; i++) {
        uint32_t number;
        if (!number_of(to, from->sums.codes.codes[i], &number))
            return false;
        table_sum_add(&to->sums.sums[number], &from->sums.sums[i]);
        for (size_t k = 0; k < extras; k++)
            to->sums.extra[number * extras + k] += from->sums.extra[i * extras + k];
    }
    return true;
}

static bool fail(const struct summing *summing, struct session_error *error)
{
    if (summing->state == SUMMING_TOO_MANY)
        return session_fail(error, 0, "more than %zu rows in the table: filter first", GROUPS_MAX);
    return session_fail_memory(error, "the sums of a table");
}

bool table_sums(struct selection *selection, const struct table_spec *spec, struct table_sums *sums,
                struct session_error *error)
{
    struct session *session = selection->session;
    struct scan_contexts contexts;
    struct summing *first;
    *sums = (struct table_sums){.capacity = 0};
    if (!scan_contexts_open(session, &contexts, sizeof(struct summing), (size_t)64 << 20, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct summing *summing = contexts.each[i];
        summing->spec = spec;
        summing->peak_ns = session->peak_ns;
    }
    first = contexts.each[0];
    bool good = scan_wanted_chunks(session, &selection->set, spec->columns | TABLE_COLUMNS,
                                   spec->live_only ? has_live : NULL, add_chunk, contexts.each,
                                   contexts.threads, error);
    for (size_t i = 0; good && i < contexts.threads; i++) {
        struct summing *summing = contexts.each[i];
        if (summing->state != SUMMING_GOOD)
            good = fail(summing, error);
        else if (i > 0 && !merge(first, summing))
            good = fail(first, error);
    }
    if (good) {
        *sums = first->sums;
        first->sums = (struct table_sums){.capacity = 0};
    }
    for (size_t i = 0; i < contexts.threads; i++)
        table_sums_free(&((struct summing *)contexts.each[i])->sums);
    scan_contexts_close(&contexts);
    return good;
}
