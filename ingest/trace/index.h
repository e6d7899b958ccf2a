/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a trace file, and how the index of its chunks is made: from slots in index.c,
 * from containers of packed chunks in containers.c. For these files and file.c only.
 */
#ifndef MPROF_INGEST_TRACE_INDEX_H
#define MPROF_INGEST_TRACE_INDEX_H

#include "ingest/trace/file.h"

struct trace_file {
    int descriptor;
    char *path;
    uint64_t size;
    struct trace_file_header header;
    struct trace_slot *slots;
    size_t slot_count, slot_capacity;
    uint64_t containers;             /* in a dense file: the highest number of one, plus 1 */
    struct trace_unpacked *unpacked; /* NULL: nothing is packed */
};

/* The records of chunks that are packed together: the ones that were unpacked last. */
struct trace_unpacked {
    uint8_t *records;
    size_t size;
    uint64_t offset; /* of their payload in the file; 0: none */
};

/* Fills the index. False with `status` set if memory is exhausted. */
bool trace_index(struct trace_file *file, struct ingest_status *status);

/* Adds a zeroed slot to the end of the index. NULL if memory is exhausted. */
struct trace_slot *trace_index_add(struct trace_file *file);

/* Returns why `header` is not a chunk header for its place, or NULL if it is one. */
const char *trace_index_check(const struct trace_file *file,
                              const struct trace_chunk_header *header, size_t length);

/* Fills a slot from its chunk header. `extent`: bytes of the slot that are in the file. */
void trace_index_describe(const struct trace_file *file, struct trace_slot *slot,
                          const struct trace_chunk_header *header, size_t length, uint32_t extent);

/* Adds the packed chunks of the container of `length` bytes at `offset`. */
bool trace_containers_add(struct trace_file *file, uint64_t offset, uint64_t length);

/* Makes the index of a dense file, which is one container after another. */
bool trace_containers_index(struct trace_file *file);

/*
 * Drops from the index the slots whose chunks are also there as packed ones: the process that
 * packed them was stopped before it had freed their space. Sorts the index by slot number.
 */
bool trace_containers_drop_duplicates(struct trace_file *file);

/* Does the same as trace_file_read_chunk() for a packed chunk. */
size_t trace_containers_read(const struct trace_file *file, const struct trace_slot *slot,
                             uint8_t *buffer);

void trace_containers_free(struct trace_file *file);

#endif
