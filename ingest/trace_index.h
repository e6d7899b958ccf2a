/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What trace_file.c keeps, and how the index of its chunks is made: of slots here, of containers
 * of packed chunks in trace_containers.c. For those files only.
 */
#ifndef MPROF_INGEST_TRACE_INDEX_H
#define MPROF_INGEST_TRACE_INDEX_H

#include "ingest/trace_file.h"

struct trace_file {
    int descriptor;
    char *path;
    uint64_t size;
    struct trace_file_header header;
    struct trace_slot *slots;
    size_t slot_count, slot_capacity;
    uint64_t containers;             /* of a dense file: the highest number of one, and 1 */
    struct trace_unpacked *unpacked; /* NULL: nothing is packed */
};

/* The records of chunks that were packed together: those that were unpacked last. */
struct trace_unpacked {
    uint8_t *records;
    size_t size;
    uint64_t offset; /* of their payload in the file; 0: none */
};

/* Fills the index. False with `status` set where memory is exhausted. */
bool trace_index(struct trace_file *file, struct ingest_status *status);

/* A new, zeroed slot at the end of the index; NULL where memory is exhausted. */
struct trace_slot *trace_index_add(struct trace_file *file);

/* Why a chunk header at its place is not one; NULL: it is. */
const char *trace_index_check(const struct trace_file *file,
                              const struct trace_chunk_header *header, size_t length);

/* Fills a slot from its chunk header. `extent`: bytes of the slot that are in the file. */
void trace_index_describe(const struct trace_file *file, struct trace_slot *slot,
                          const struct trace_chunk_header *header, size_t length, uint32_t extent);

/* Adds the packed chunks of the container of `length` bytes at `offset`. */
bool trace_containers_add(struct trace_file *file, uint64_t offset, uint64_t length);

/* The index of a dense file: containers, one behind another. */
bool trace_containers_index(struct trace_file *file);

/*
 * Drops from the index the slots whose chunks are there as packed ones too: whoever packed them was
 * stopped before it had freed their space. Then the index is in the order of slot numbers.
 */
bool trace_containers_settle(struct trace_file *file);

/* As trace_file_read_chunk(), of a packed chunk. */
size_t trace_containers_read(const struct trace_file *file, const struct trace_slot *slot,
                             uint8_t *buffer);

void trace_containers_free(struct trace_file *file);

#endif
