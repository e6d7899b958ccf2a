/* SPDX-License-Identifier: BSD-2-Clause */
/* The snapshots of references of a trace (schemas/trace-format.md, "References"), as they were
 * recorded: gathered by the scan, put into the session's tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/trace_references.h"

struct heap_snapshot_mapping {
    uint64_t start, end, protection, kind, offset;
    char *path;
};

/* A piece of the words: how many, then the pairs as in the record. */
struct heap_snapshot_words {
    uint8_t *bytes;
    size_t length;
};

struct heap_snapshot {
    struct trace_references begin; /* its text is `name` */
    struct trace_references_end end;
    uint64_t ticks;
    uint64_t words; /* that were found */
    bool ended;
    char *name;
    struct heap_snapshot_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    struct trace_references_thread *threads;
    size_t thread_count, thread_capacity;
    struct heap_snapshot_words *pieces;
    size_t piece_count, piece_capacity;
};

/* All zero: none. */
struct heap_snapshots {
    struct heap_snapshot *rows;
    size_t count, capacity;
};

/* Adds a record of the types REFERENCES to REFERENCES_END, which come in the order of their chunks.
 * `ticks` is its time. One that names no snapshot, or is too short, is left out: *bad becomes true.
 * False if memory is exhausted. */
bool heap_snapshots_add(struct heap_snapshots *snapshots, const struct trace_record *record,
                        uint64_t ticks, bool *bad);

/* Returns why words are missing, or NULL if there are all. */
const char *heap_snapshot_why(const struct heap_snapshot *snapshot);

void heap_snapshots_free(struct heap_snapshots *snapshots);
