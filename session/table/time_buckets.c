/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/table/time_buckets.h"

#include <stdlib.h>
#include <string.h>

#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"

/* Events are counted in fractions, because a chunk's lie anywhere in many cells. */
enum { FRACTION_BITS = 16 };
/* So many rows of the sample tell enough about a bucket. */
enum { ROWS_A_BUCKET = 2 };

bool time_parts_open(struct time_parts *parts, uint64_t from, uint64_t to, size_t count,
                     struct session_error *error)
{
    const uint64_t length = to - from;
    *parts = (struct time_parts){.from = from, .to = to, .count = count};
    if (!(parts->bounds = malloc((count + 1) * sizeof(*parts->bounds))))
        return session_fail_memory(error, "the timeline");
    for (size_t i = 0; i <= count; i++)
        parts->bounds[i] = (uint64_t)((unsigned __int128)length * i / count);
    /* With more parts than nanoseconds, time_parts_part() starts at the first part. */
    if (count < length && count > 1)
        parts->scale = (uint64_t)(((unsigned __int128)count << 64) / length);
    return true;
}

void time_parts_close(struct time_parts *parts)
{
    free(parts->bounds);
    parts->bounds = NULL;
}

/* Returns the cell of a time, the nearest one if it is not in the span. */
static uint32_t cell_of(const struct time_buckets *buckets, uint64_t ns)
{
    if (ns < buckets->parts.from)
        return 0;
    /* Each cell has one bucket as yet. */
    return ns >= buckets->parts.to ? (uint32_t)(buckets->parts.count << buckets->cell_bits) - 1
                                   : time_buckets_find(buckets, ns).bucket;
}

/* Spreads events over the cells of [first, last]. `change` holds the change from cell to cell. */
static void spread(const struct time_buckets *buckets, uint64_t first, uint64_t last,
                   uint64_t events, uint64_t *change)
{
    const uint32_t from = cell_of(buckets, first), end = cell_of(buckets, last);
    const uint64_t cells = 1 + (uint64_t)(end > from ? end - from : 0);
    const uint64_t each = (events << FRACTION_BITS) / cells;
    change[from] += each;
    change[from + cells] -= each;
}

/* Stores by the directory about how many events lie in each cell. A chunk's blocks were freed one
 * after another; they began at any time, most of them not long before. */
static void guess_events(const struct time_buckets *buckets, const struct column_store *store,
                         const struct row_set *set, size_t cells, uint64_t *events)
{
    for (uint32_t chunk = 0; chunk < set->chunks; chunk++) {
        const uint64_t rows = row_set_chunk_count(set, chunk);
        const uint64_t freed = column_store_first_free(store, chunk);
        spread(buckets, column_store_min(store, chunk, COLUMN_ALLOC_NS),
               column_store_max(store, chunk, COLUMN_ALLOC_NS), rows, events);
        if (freed < buckets->parts.to)
            spread(buckets, freed, column_store_last_free(store, chunk), rows, events);
    }
    for (size_t i = 0; i < cells; i++)
        events[i + 1] += events[i];
}

/* Estimates by the sample how many events lie in each cell. Returns false if it cannot be read, or
 * if the question is cancelled. */
static bool estimate_events(const struct time_buckets *buckets, const struct session *sample,
                            size_t most, uint64_t *events)
{
    const uint64_t rows = column_store_rows(sample->columns);
    const size_t step = (size_t)(rows / ROWS_A_BUCKET / most) + 1;
    for (uint32_t chunk = 0; chunk < column_store_chunks(sample->columns); chunk++) {
        struct column_view began, life, weight;
        if (scan_cancelled(sample) ||
            !column_reader_get(sample->reader, chunk, COLUMN_ALLOC_NS, &began, NULL) ||
            !column_reader_get(sample->reader, chunk, COLUMN_LIFE_NS, &life, NULL) ||
            !column_reader_get(sample->reader, chunk, COLUMN_WEIGHT, &weight, NULL))
            return false;
        for (size_t row = 0; row < began.rows; row += step) {
            const uint64_t from = column_view_at(&began, row), lived = column_view_at(&life, row);
            const uint64_t blocks = column_view_at(&weight, row);
            events[cell_of(buckets, from)] += blocks;
            if (lived != 0)
                events[cell_of(buckets, from + lived - 1)] += blocks;
        }
    }
    return true;
}

/* Finds about how many events lie in each cell. Returns NULL with `error` set. */
static uint64_t *find_events(const struct time_buckets *buckets, struct session *session,
                             const struct row_set *rows, size_t most, struct session_error *error)
{
    const size_t cells = buckets->parts.count << buckets->cell_bits;
    const struct session *sample = session_sample(session);
    uint64_t *events = calloc(cells + 1, sizeof(*events));
    if (!events)
        return session_fail_memory_null(error, "the buckets of time");
    if (sample && estimate_events(buckets, sample, most, events))
        return events;
    memset(events, 0, (cells + 1) * sizeof(*events));
    guess_events(buckets, session->columns, rows, cells, events);
    return events;
}

/* Returns the largest n so that 2^n is not above a number of buckets or of nanoseconds. */
static unsigned halvings(double buckets, uint64_t ns)
{
    unsigned n = 0;
    while (n < 24 && (double)(UINT64_C(2) << n) <= buckets && UINT64_C(2) << n <= ns)
        n++;
    return n;
}

/* Cuts the cells, so that about as many events lie in each bucket. */
static void cut(struct time_buckets *buckets, const uint64_t *events, size_t most)
{
    const size_t cells = buckets->parts.count << buckets->cell_bits;
    const uint64_t ns = (buckets->parts.to - buckets->parts.from) / cells;
    double sum = 1;
    size_t count = 0;
    for (size_t i = 0; i < cells; i++)
        sum += (double)events[i];
    for (size_t i = 0; i < cells; i++) {
        const unsigned n = halvings((double)events[i] / sum * (double)most, ns);
        buckets->cell[i] = (struct time_bucket_cell){(uint32_t)count, 63 - n};
        count += (size_t)1 << n;
    }
    buckets->cell[cells] = (struct time_bucket_cell){(uint32_t)count, 63};
    buckets->count = count + 1;
}

/* Makes the parts, and cells of one bucket each. */
static bool open_cells(struct time_buckets *buckets, uint64_t from, uint64_t to, size_t parts,
                       size_t most, struct session_error *error)
{
    const uint64_t length = to - from;
    *buckets = (struct time_buckets){.count = 0};
    while (parts << (buckets->cell_bits + 1) <= most)
        buckets->cell_bits++;
    const size_t cells = parts << buckets->cell_bits;
    if (!time_parts_open(&buckets->parts, from, to, parts, error))
        return false;
    if (!(buckets->cell = calloc(cells + 1, sizeof(*buckets->cell))))
        return session_fail_memory(error, "the buckets of time");
    for (size_t i = 0; i <= cells; i++)
        buckets->cell[i] = (struct time_bucket_cell){(uint32_t)i, 63};
    buckets->count = cells + 1;
    buckets->within = UINT64_MAX / (length / parts + (length % parts != 0));
    return true;
}

bool time_buckets_open(struct time_buckets *buckets, struct session *session,
                       const struct row_set *rows, uint64_t from, uint64_t to, size_t parts,
                       size_t most, struct session_error *error)
{
    const bool good = open_cells(buckets, from, to, parts, most, error);
    uint64_t *events = good ? find_events(buckets, session, rows, most, error) : NULL;
    if (events)
        cut(buckets, events, most);
    else
        time_buckets_close(buckets);
    free(events);
    return events != NULL;
}

uint64_t time_buckets_cell_ns(const struct time_buckets *buckets, size_t cell)
{
    const unsigned bits = buckets->cell_bits;
    const size_t part = cell >> bits, in_part = cell & (((size_t)1 << bits) - 1);
    const uint64_t inside = (uint64_t)in_part << (63 - bits) << 1;
    if (part >= buckets->parts.count)
        return buckets->parts.to;
    const uint64_t length = buckets->parts.bounds[part + 1] - buckets->parts.bounds[part];
    const uint64_t offset = inside / buckets->within + (inside % buckets->within != 0);
    /* The last cells of a part may have no time. */
    return buckets->parts.from + buckets->parts.bounds[part] + (offset < length ? offset : length);
}

void time_buckets_close(struct time_buckets *buckets)
{
    time_parts_close(&buckets->parts);
    free(buckets->cell);
    buckets->cell = NULL;
}
