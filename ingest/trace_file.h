/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace file: its header and the index of its chunk slots (schemas/trace-format.md).
 *
 * Order of calls: trace_file_open(), then anything, then trace_file_close(). The file is read
 * by pread() into buffers and never mapped, so a file that shrinks while it is read gives a
 * short read, which counts as damage, and not a SIGBUS. A trace that is still being recorded
 * is read as it stood when it was opened: sizes and commits are taken once.
 */
#ifndef MPROF_INGEST_TRACE_FILE_H
#define MPROF_INGEST_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "ingest/status.h"
#include "schemas/trace_codec.h"

struct trace_file;

/*
 * One chunk slot that was begun. Slots that were never begun are not in the index, nor are
 * containers: the chunks that are packed in them are.
 */
struct trace_slot {
    uint64_t offset; /* of the slot in the file, bytes; packed: where it was while recording */
    uint64_t base_ticks, base_monotonic_ns;
    uint64_t sum;
    uint32_t number;
    uint32_t thread, sequence;
    uint32_t commit;    /* as in the header */
    uint32_t available; /* bytes of the slot that can be read: below `commit` in a cut file */
    uint32_t lost;      /* bytes of a damaged slot */
    bool sealed;
    uint32_t packed_start;  /* of its records, among those that were packed with it */
    uint32_t packed_length; /* bytes of the payload that it is packed in; 0: it is not packed */
    uint64_t packed_offset; /* of that payload in the file */
    const char *damage;     /* why nothing of the slot can be read; NULL: it can */
};

/* NULL with `status` set: no such file, empty, not a trace, another version, unknown flag. */
struct trace_file *trace_file_open(const char *path, struct ingest_status *status);
void trace_file_close(struct trace_file *file);

/*
 * Reads the header and the index anew, of a trace that is still being recorded. What
 * trace_file_slots() gave before is gone. False with `status` set where memory is exhausted.
 */
bool trace_file_refresh(struct trace_file *file, struct ingest_status *status);

const char *trace_file_path(const struct trace_file *file);
const struct trace_file_header *trace_file_header(const struct trace_file *file);
uint64_t trace_file_size(const struct trace_file *file);

/* The slots that were begun, in file order; returns how many. */
size_t trace_file_slots(const struct trace_file *file, const struct trace_slot **slots);

/* Slots that the header says were handed out and that lie behind the end of the file. */
uint64_t trace_file_missing_slots(const struct trace_file *file);

/* Reads up to `length` bytes at `offset`; returns how many there were. */
size_t trace_file_read(const struct trace_file *file, uint64_t offset, void *buffer, size_t length);

/*
 * Reads the chunk of a slot without damage, as it was recorded: slot->available bytes at most from
 * its header on (which is all zero where it was packed). Returns how many there are; 0: it was
 * packed and cannot be unpacked.
 */
size_t trace_file_read_chunk(const struct trace_file *file, const struct trace_slot *slot,
                             uint8_t *buffer);

/*
 * The clock pair that ends the straight line of time: the end pair of the header where there
 * is one, otherwise the latest base of a chunk.
 */
void trace_file_last_clock(const struct trace_file *file, uint64_t *ticks, uint64_t *monotonic_ns);

#endif
