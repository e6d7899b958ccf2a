/* SPDX-License-Identifier: BSD-2-Clause */
/* Cuts a span of time into equal parts, each part into 2^m cells, and each cell into 2^n buckets: n
 * follows from the events that lie in the cell. Programs work and wait: with buckets of one width
 * nearly all events would share few of them. The borders of parts are exact; those of buckets lie
 * anywhere near the right place, but always at the same one. */
#pragma once

#include "session/session.h"
#include "session/store/row_set.h"

/* ---- parts ---- */

struct time_parts {
    uint64_t from, to; /* ns; `to` lies after the span */
    size_t count;
    uint64_t *bounds; /* relative to `from`; count + 1 */
    uint64_t scale;   /* parts per nanosecond, times 2^64 */
};

/* Makes parts. The span must be longer than 0. Returns false with `error` set; otherwise
 * time_parts_close(). */
bool time_parts_open(struct time_parts *parts, uint64_t from, uint64_t to, size_t count,
                     struct session_error *error);
void time_parts_close(struct time_parts *parts);

/* Returns the part that holds `ns`, which lies within [from, to). offset * scale / 2^64 is the
 * part's number or, because `scale` is rounded down, one less near a bound. A span with more parts
 * than nanoseconds has empty parts: the result is then the last part that begins at the offset. */
static inline size_t time_parts_part(const struct time_parts *parts, uint64_t ns)
{
    const uint64_t offset = ns - parts->from;
    size_t part = (size_t)((unsigned __int128)offset * parts->scale >> 64);
    while (offset >= parts->bounds[part + 1])
        part++;
    return part;
}

/* ---- buckets ---- */

/* The least nanoseconds of a part with buckets. */
#define TIME_BUCKETS_LEAST_NS 4

struct time_bucket_cell {
    uint32_t first; /* its first bucket */
    uint32_t shift; /* 63 - n */
};

struct time_buckets {
    struct time_parts parts;
    size_t count;
    uint64_t within;               /* 2^64 divided by the nanoseconds of the longest part */
    unsigned cell_bits;            /* m */
    struct time_bucket_cell *cell; /* of all parts, and one after them */
};

/* A place in time. */
struct time_bucket {
    uint32_t part, bucket;
};

/* Makes at most 2 * `most` buckets for the events of rows in `parts` parts, or one in each
 * part; `most` is 2^24 at most. The span must have TIME_BUCKETS_LEAST_NS for each part. Where
 * events lie, the session's sample tells roughly, or the directory of chunks. Returns false with
 * `error` set; otherwise time_buckets_close(). */
bool time_buckets_open(struct time_buckets *buckets, struct session *session,
                       const struct row_set *rows, uint64_t from, uint64_t to, size_t parts,
                       size_t most, struct session_error *error);
void time_buckets_close(struct time_buckets *buckets);

/* Returns the first bucket of a part, or the one after the last part. */
static inline size_t time_buckets_first(const struct time_buckets *buckets, size_t part)
{
    return buckets->cell[part << buckets->cell_bits].first;
}

/* Returns the first time of a cell, which may be the one after the last cell of the last part. */
uint64_t time_buckets_cell_ns(const struct time_buckets *buckets, size_t cell);

/* Returns the place of `ns`, which is not before the span. All times after the span share the
 * bucket after the last one, in the part after the last one. */
static inline struct time_bucket time_buckets_find(const struct time_buckets *buckets, uint64_t ns)
{
    const struct time_parts *parts = &buckets->parts;
    if (ns >= parts->to)
        return (struct time_bucket){(uint32_t)parts->count, (uint32_t)buckets->count - 1};
    const size_t part = parts->count > 1 ? time_parts_part(parts, ns) : 0;
    const uint64_t inside = (ns - parts->from - parts->bounds[part]) * buckets->within;
    const unsigned bits = buckets->cell_bits;
    const struct time_bucket_cell cell =
        buckets->cell[part << bits | (size_t)(inside >> 1 >> (63 - bits))];
    return (struct time_bucket){(uint32_t)part,
                                cell.first + (uint32_t)(inside << bits >> 1 >> cell.shift)};
}
