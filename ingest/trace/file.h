/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace file: its header and the index of its chunk slots (schemas/trace-format.md).
 *
 * Order of calls: trace_file_open(), then any others, then trace_file_close(). The file is read
 * by pread() into buffers and never mapped. A file that shrinks while it is read therefore gives
 * a short read, which counts as damage, and not a SIGBUS. A trace that is still being recorded
 * is read as it was when it was opened: sizes and commits are read once. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ingest/base/status.h"
#include "schemas/trace_codec.h"

struct trace_file;

/* One chunk slot that was begun. Slots that were never begun are not in the index. Containers are
 * not either, but the chunks that are packed in them are. */
struct trace_slot {
    uint64_t offset; /* of the slot in the file, bytes; packed: its place during recording */
    uint64_t base_ticks, base_monotonic_ns, sum;
    uint32_t number, thread, sequence;
    uint32_t commit;    /* as in the header */
    uint32_t available; /* bytes of the slot that can be read: below `commit` in a cut file */
    uint32_t lost;      /* bytes of a damaged slot */
    bool sealed;
    uint32_t packed_start;  /* of its records, among those that are packed with it */
    uint32_t packed_length; /* bytes of the payload that holds it; 0: it is not packed */
    uint64_t packed_offset; /* of that payload in the file */
    const char *damage;     /* why the slot cannot be read; NULL: it can */
};

/* Opens a trace. NULL with `status` set if there is no such file or it is empty, not a trace, of
 * another version or has an unknown flag. */
struct trace_file *trace_file_open(const char *path, struct ingest_status *status);
/* Does the same with an open file, which `path` names in messages. It duplicates the descriptor. */
struct trace_file *trace_file_adopt(int descriptor, const char *path, struct ingest_status *status);
void trace_file_close(struct trace_file *file);

/* Reads the header and the index again, of a trace that is still being recorded. Slots that
 * trace_file_slots() gave before become invalid. False with `status` set if memory is exhausted. */
bool trace_file_refresh(struct trace_file *file, struct ingest_status *status);

const char *trace_file_path(const struct trace_file *file);
const struct trace_file_header *trace_file_header(const struct trace_file *file);
uint64_t trace_file_size(const struct trace_file *file);

/* Gives the slots that were begun, in file order. Returns how many there are. */
size_t trace_file_slots(const struct trace_file *file, const struct trace_slot **slots);

/* Returns how many slots were handed out, by the header, but lie after the end of the file. */
uint64_t trace_file_missing_slots(const struct trace_file *file);

/* Reads up to `length` bytes at `offset`. Returns how many it has read. */
size_t trace_file_read(const struct trace_file *file, uint64_t offset, void *buffer, size_t length);

/* Reads the chunk of a slot without damage, as it was recorded: at most slot->available bytes,
 * beginning with its header. The header of a packed chunk is all zero. Returns the number of bytes
 * read, or 0 if the chunk is packed and cannot be unpacked. */
size_t trace_file_read_chunk(const struct trace_file *file, const struct trace_slot *slot,
                             uint8_t *buffer);

/* Converts a trace's ticks to nanoseconds since it began, along the straight line through two clock
 * pairs (schemas/trace-format.md, "Time"), exactly, in 128-bit arithmetic. */

struct trace_time {
    uint64_t start_ticks;
    uint64_t ticks, ns; /* of the line: `ns` nanoseconds in `ticks` ticks */
    uint64_t factor;    /* ns per tick, as factor / 2^shift, rounded down */
    unsigned shift;
    bool scaled;  /* false: ticks are nanoseconds */
    bool unknown; /* ticks are not nanoseconds, but without a second pair they count as 1:1 */
};

/* Makes the line through the first and the last clock pair of the file. `record_ticks` and
 * `record_ns` are the pair of the latest CLOCK record, 0 if there is none. It counts if the header
 * has no end pair. */
void trace_time_init(struct trace_time *time, const struct trace_file *file, uint64_t record_ticks,
                     uint64_t record_ns);

/* Returns the nanoseconds since the start, at most INT64_MAX, or 0 for stamps before the start. */
static inline uint64_t trace_time_ns(const struct trace_time *time, uint64_t ticks)
{
    if (ticks <= time->start_ticks)
        return 0;
    uint64_t delta = ticks - time->start_ticks;
    if (time->scaled) {
        unsigned __int128 whole = (unsigned __int128)delta * time->ns;
        unsigned __int128 estimate = ((unsigned __int128)delta * time->factor) >> time->shift;
        if (estimate > INT64_MAX)
            return INT64_MAX;
        /* The factor is rounded down, by less than one nanosecond over the line's length. */
        while ((estimate + 1) * time->ticks <= whole)
            estimate++;
        delta = (uint64_t)estimate;
    }
    return delta > INT64_MAX ? INT64_MAX : delta;
}
