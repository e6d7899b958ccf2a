/* SPDX-License-Identifier: BSD-2-Clause */
/* The pass that sums up allocations: by the groups of a set, by the keys of a join, or by numbers
 * that the caller gives. All cores take part. Each thread sums for itself, then the sums are added,
 * so they do not depend on the number of threads.
 *
 * The sums of a group are a record of 64-bit words. It has only the parts that are asked for: with
 * many groups a pass takes as long as the cache misses of its records. */
#pragma once

#include "session/table/group_keys.h"

/* The parts of a record. In a sampled session counts and bytes are estimates. Words with "least" or
 * "first" hold the complement of the value, so that 0 is below all of them. */
enum sums_part {
    SUMS_TOTAL,     /* allocations, bytes */
    SUMS_LIVE,      /* never freed: count, bytes */
    SUMS_AT_PEAK,   /* live at the program's peak: count, bytes */
    SUMS_AT,        /* live at `at_ns`: count, bytes */
    SUMS_SHORT,     /* count of the short-lived (SESSION_SHORT_LIVED_NS) */
    SUMS_OBJECTS,   /* sum of `count` */
    SUMS_PADDING,   /* bytes of these objects that no member covers */
    SUMS_SIZES,     /* of recorded blocks, as the next two: least, most */
    SUMS_LIFETIMES, /* sum (low, high), least, most; of live blocks to the end of the session */
    SUMS_TIMES,     /* first and last allocation, first and last end of a life */
    SUMS_STEPS,     /* rows, climbs, bytes, replaced bytes; the others are private */
    SUMS_BORN,      /* counts by the tenth of [from_ns, to_ns] in which they were allocated */
    SUMS_RESIDENT,  /* bytes in memory of those live at `resident_ns` */
    SUMS_VARIANCE,  /* doubles: of allocations, bytes, objects, live count, live and peak bytes */
    SUMS_MOMENTS,   /* bytes live at each of `moments` */
    SUMS_PARTS
};
#define SUMS_BIT(part) (1u << (part))
#define SUMS_TENTHS 10

/* The values of some rows of a chunk, of the columns that were asked for. */
struct sums_rows {
    size_t count;
    uint64_t first;      /* the row where the batch begins */
    const uint16_t *row; /* the rows, from there */
    uint64_t value[COLUMN_TOTAL][KERNEL_ROWS];
    uint64_t bytes[KERNEL_ROWS], counts[KERNEL_ROWS]; /* what each row represents */
};

/* The code of a row that counts nowhere. */
#define SUMS_NO_CODE ((struct code){UINT64_MAX, UINT64_MAX})

struct session_group_set;

struct sums_query {
    unsigned parts; /* SUMS_BITs */
    /* The way to a row's group. First of these that is not NULL: */
    const struct session_group_set *set; /* groups of a set, */
    const uint8_t *left;                 /* of these, if not NULL, those with 1; */
    const struct group_keys *keys;       /* cells or codes of these; */
    /* codes that the caller stores (threads call it at the same time); NULL: the values of the one
     * column in `columns`, which are cells. */
    void (*number)(const void *context, const struct sums_rows *rows, struct code *codes);
    const void *context;
    size_t cells;     /* of `number`: code.low is below it; 0: codes may be anything */
    unsigned columns; /* COLUMN_BITs that `number` reads */
    bool everything;  /* the rows are all of the process heap: ingest may have summed them up */
    /* Only blocks that were never freed, or that were allocated in [from_ns, to_ns). */
    enum { SUMS_OF_ALL, SUMS_OF_LIVE, SUMS_OF_BORN } among;
    uint64_t at_ns, from_ns, to_ns;
    const uint64_t *resident_ns; /* NULL: the program's peak */
    const uint64_t *moments;
    size_t moment_count;
};

struct sums {
    uint64_t *words;       /* `count` records */
    size_t count, width;   /* width: words of a record */
    struct code_map codes; /* if the numbers of groups are those of codes */
    unsigned parts, place[SUMS_PARTS];
};

/* Sums up. Returns false with `error` set: a damaged chunk, no memory, too many groups, cancelled.
 * Otherwise the caller calls sums_free(). */
bool sums_find(struct session *session, const struct row_set *rows, const struct sums_query *query,
               struct sums *sums, struct session_error *error);
void sums_free(struct sums *sums);
/* Stores what records have, and how many are there at first: at most the codes, if any. */
void sums_lay_out(const struct sums_query *query, struct sums *sums);

/* Returns the words of a part of a group. */
static inline uint64_t *sums_of(const struct sums *sums, size_t group, enum sums_part part)
{
    return sums->words + group * sums->width + sums->place[part];
}

/* Returns the sum of lifetimes, UINT64_MAX if it is so much or more. */
static inline uint64_t sums_lifetime(const uint64_t *lifetimes)
{
    return lifetimes[1] != 0 ? UINT64_MAX : lifetimes[0];
}
