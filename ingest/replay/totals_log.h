/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps what changed the sums of each process of a run, in two files: the sums of all processes
 * together need their events in the order of time, when all are known.
 *
 * Order of calls: totals_log_begin(); for each process its events, then totals_log_end_part();
 * totals_log_rewind(), totals_log_next() until there are no more; always totals_log_free_memory().
 *
 * An event takes about 15 bytes. A block that the program named late has its last type from the
 * beginning. These types lie in the second file, by number of the allocation, and most runs have
 * none. */
#pragma once

#include "ingest/replay/totals.h"

#define TOTALS_LOG_NAMES 4096

/* The events of one process. */
struct totals_log_part {
    uint64_t begin, end;         /* bytes of the file */
    uint64_t allocations_before; /* of the processes before */
    bool named;                  /* some blocks have another type in the second file */
};

struct totals_log {
    int events, names; /* descriptors of the files, empty at first; owned by the caller */
    _Atomic int error; /* errno of the first failure, 0: none */
    struct totals_log_part *parts;
    size_t part_count, part_capacity;
    /* While it is written: */
    uint8_t *buffer;
    size_t used;
    uint64_t written;
    struct totals_log_part part; /* the present one */
    uint64_t allocations;
    uint64_t ns, address; /* of the last event */
    struct totals_log_names {
        uint64_t first;  /* number of the allocation that names[0] is for, from 0 */
        uint32_t *names; /* TOTALS_LOG_NAMES types + 1, 0: not named late, or NULL */
    } named;             /* the newest of the second file, not written yet */
    /* While it is read: */
    struct totals_log_reader *readers; /* of each part */
    size_t *heap; /* parts that have more, the one with the first event on top */
    size_t heap_count;
};

/* An event of the log. `order` of the block is 0. */
struct totals_log_event {
    size_t part;
    bool is_free, counted;
    struct totals_block block; /* ids as the process numbers them, `function` is 0 */
    uint64_t ns, lifetime_ns;  /* alloc_ns of the block is `ns` */
};

/* Begins with two empty files. False with `error` set. */
bool totals_log_begin(struct totals_log *log, int events, int names);

/* Add the events of the process, as the functions of totals.h do. After an error they do nothing:
 * look at `error` from time to time. */
void totals_log_allocate(struct totals_log *log, const struct totals_block *block);
void totals_log_free(struct totals_log *log, const struct totals_block *block, uint64_t ns,
                     uint64_t lifetime_ns, bool counted);
void totals_log_rename(struct totals_log *log, uint64_t order, uint32_t type);
bool totals_log_end_part(struct totals_log *log);

/* Begins to read the parts for which `wanted` is not 0, in the order of time. `later_ns` is added
 * to the times of each. */
bool totals_log_rewind(struct totals_log *log, const bool *wanted, const uint64_t *later_ns);
/* Reads the next event, in a nanosecond frees first. False at the end, or with `error` set. */
bool totals_log_next(struct totals_log *log, struct totals_log_event *event);
void totals_log_free_memory(struct totals_log *log);
