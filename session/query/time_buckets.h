/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cuts a span of time into equal parts, each part into 2^m cells, and each cell into 2^n buckets: n
 * follows from the events that lie in the cell. Programs work and wait: with buckets of one width
 * nearly all events would share few of them. The borders of parts are exact, and those of
 * time_parts.h; those of buckets lie anywhere near the right place, but always at the same one.
 */
#ifndef MPROF_SESSION_QUERY_TIME_BUCKETS_H
#define MPROF_SESSION_QUERY_TIME_BUCKETS_H

#include "session/query/selection_state.h"

/* The least nanoseconds of a part. */
#define TIME_BUCKETS_LEAST_NS 4

struct time_bucket_cell {
    uint32_t first; /* its first bucket */
    uint32_t shift; /* 63 - n */
};

struct time_buckets {
    uint64_t from, to; /* ns; `to` lies after the span */
    size_t parts, count;
    uint64_t *begins;              /* of parts, ns after `from`; parts + 1 */
    uint64_t scale;                /* parts per nanosecond, times 2^64 */
    uint64_t within;               /* 2^64 divided by the nanoseconds of the longest part */
    unsigned cell_bits;            /* m */
    struct time_bucket_cell *cell; /* of all parts, and one after them */
};

/* A place in time. */
struct time_bucket {
    uint32_t part, bucket;
};

/*
 * Makes at most 2 * `most` buckets for the events of a selection in `parts` parts, or one in each
 * part; `most` is 2^24 at most. The span must have TIME_BUCKETS_LEAST_NS for each part. Where
 * events lie, the session's sample tells roughly, or the directory of chunks. Returns false with
 * `error` set; otherwise time_buckets_close().
 */
bool time_buckets_open(struct time_buckets *buckets, const struct selection *selection,
                       uint64_t from, uint64_t to, size_t parts, size_t most,
                       struct session_error *error);
void time_buckets_close(struct time_buckets *buckets);

/* Returns the first bucket of a part, or the one after the last part. */
static inline size_t time_buckets_first(const struct time_buckets *buckets, size_t part)
{
    return buckets->cell[part << buckets->cell_bits].first;
}

/* Returns the first time of a cell, which may be the one after the last cell of the last part. */
uint64_t time_buckets_cell_ns(const struct time_buckets *buckets, size_t cell);

/*
 * Returns the place of `ns`, which is not before the span. All times after the span share the
 * bucket after the last one, in the part after the last one. offset * scale / 2^64 is the part's
 * number or, because `scale` and the borders are rounded down, one less near a border.
 */
static inline struct time_bucket time_buckets_find(const struct time_buckets *buckets, uint64_t ns)
{
    if (ns >= buckets->to)
        return (struct time_bucket){(uint32_t)buckets->parts, (uint32_t)buckets->count - 1};
    uint64_t offset = ns - buckets->from;
    size_t part = 0;
    if (buckets->parts > 1) {
        part = (size_t)((unsigned __int128)offset * buckets->scale >> 64);
        part += offset >= buckets->begins[part + 1];
        offset -= buckets->begins[part];
    }
    const uint64_t inside = offset * buckets->within;
    const unsigned bits = buckets->cell_bits;
    const struct time_bucket_cell cell =
        buckets->cell[part << bits | (size_t)(inside >> 1 >> (63 - bits))];
    return (struct time_bucket){(uint32_t)part,
                                cell.first + (uint32_t)(inside << bits >> 1 >> cell.shift)};
}

#endif
