/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The facts that runtimes of the program have told about themselves: the names of their functions,
 * and the kinds of their blocks (schemas/trace-format.md, "Runtimes").
 */
#ifndef MPROF_INGEST_REPLAY_RUNTIMES_H
#define MPROF_INGEST_REPLAY_RUNTIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/base/array.h"
#include "ingest/trace/extended.h"

struct runtime_name {
    uint64_t module, number;
    char *function, *file; /* file NULL: not known */
    uint32_t line;         /* where the function begins; 0: not known */
};

struct runtime_kind {
    uint64_t id;
    char *name;
};

/* All-zero is empty. */
struct runtimes {
    struct runtime_name *names;
    size_t name_count, name_capacity;
    struct index_map by_number;
    struct runtime_kind *kinds;
    size_t kind_count, kind_capacity;
    struct index_map by_id;
};

void runtimes_free(struct runtimes *runtimes);

/* Add what a record tells. Facts that are known already stay. False if memory is exhausted. */
bool runtimes_add_name(struct runtimes *runtimes, const struct trace_extension *extension);
bool runtimes_add_kind(struct runtimes *runtimes, const struct trace_extension *extension);

/* Returns the name of a function by the value of its node, or NULL if it is not known. */
const struct runtime_name *runtimes_name(const struct runtimes *runtimes, uint32_t module,
                                         uint64_t value);

/* Returns the name of a kind, or NULL if it is not known. */
const char *runtimes_kind(const struct runtimes *runtimes, uint64_t id);

#endif
