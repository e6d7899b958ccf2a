/* SPDX-License-Identifier: BSD-2-Clause */
/* The garbage collections of runtimes, and what they took (schemas/trace-format.md, "Runtimes"). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/array.h"

struct collection_row {
    uint32_t runtime; /* id of its module */
    bool ended;
    uint64_t begin_ns, end_ns;
    uint64_t count, bytes; /* blocks that it took */
};

struct collecting_runtime {
    uint32_t id;
    bool collects;      /* its last row has not ended */
    bool has_ended_one; /* last_ns is set */
    size_t row;         /* its last one */
    int64_t began_ns;   /* when that one began; below 0: before the trace */
    int64_t last_ns;    /* when the last collection that ended began; below 0: before the trace */
};

/* All-zero is empty. */
struct collections {
    struct collection_row *rows; /* in the order of their beginnings */
    size_t count, capacity;
    struct collecting_runtime *runtimes;
    size_t runtime_count, runtime_capacity;
    struct index_map by_id;
    size_t open,
        open_sum; /* runtimes that collect now: their number, and the sum of their places */
};

void collections_free(struct collections *collections);

/* Notes that a collection begins or has ended. An end without a beginning says nothing. False if
 * memory is exhausted. */
bool collections_mark(struct collections *collections, uint32_t runtime, bool begins, uint64_t ns);

/* Notes a collection that goes on from the trace before, and began so many ns before this one. Its
 * row begins at 0. Later calls for the same one do nothing. False if memory is exhausted. */
bool collections_go_on(struct collections *collections, uint32_t runtime, int64_t before_ns);

/* Notes the last collection, so many ns before the trace. False if memory is exhausted. */
bool collections_before(struct collections *collections, uint32_t runtime, int64_t before_ns);

/* Counts a block of an arena that a collector took. `runtime` is the one that took blocks of the
 * arena before, 0: none. Returns the one that takes this block: that one if it collects, otherwise
 * the only one that collects. 0: it is not known. */
uint32_t collections_take(struct collections *collections, uint32_t runtime, uint64_t bytes);

/* Stores when the last collection of a runtime that has ended began, below 0 if that was before the
 * trace. False: there is none. */
bool collections_last(const struct collections *collections, uint32_t runtime, int64_t *ns);
