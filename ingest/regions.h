/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mapped regions over time, from the MAP, UNMAP and PROTECT records of --mmap.
 *
 * Order of calls: a zeroed struct; regions_map(), regions_unmap() and regions_protect() in the
 * order of time; regions_row() for all; regions_free(). Each row is a piece of address space that
 * was mapped by one call and had one life: where part of a mapping ends, it becomes two or three
 * rows that began together. A change of protection ends a life and begins another. All rows are
 * held in memory.
 */
#ifndef MPROF_INGEST_REGIONS_H
#define MPROF_INGEST_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGION_SHARED = 1 }; /* MAP_SHARED */

struct region_row {
    uint64_t address, size, offset, moved_from;
    uint64_t map_ns, unmap_ns; /* the second of rows that have ended */
    uint32_t protection, flags;
    uint32_t thread, unmap_thread, stack, unmap_stack;
    uint32_t mapping;      /* number of the call, from 1 */
    uint32_t file;         /* index + 1 in `files`; 0: none */
    uint64_t resident;     /* before it ended: bytes in memory, and 1; 0: not known */
    uint64_t changed_from; /* row (from 1) that this was until its protection changed; 0: none */
};

struct regions {
    struct region_row *rows, *live; /* ended, in the order of their end; mapped, by address */
    size_t row_count, row_capacity, live_count, live_capacity;
    char **files;
    size_t file_count, file_capacity;
    struct region_row
        left; /* what the last unmapping ended, for the mremap that it may be part of */
    uint32_t mappings;
};

/*
 * Maps `row` (its mapping and file are set here), and ends what was mapped there. One that was
 * moved takes what is not said of it from the mapping that the unmapping just before ended, or that
 * is still mapped at its old address. A size of 0 is nothing, and is rounded up to pages. False
 * where memory is exhausted.
 */
bool regions_map(struct regions *regions, const struct region_row *row, const char *file,
                 size_t file_length);

/* What ends regions, and when. */
struct region_end {
    uint64_t ns;
    uint64_t resident; /* as in region_row, of the whole range */
    uint32_t thread, stack;
};

/* Ends what is mapped in the range. How much of it was resident is known of a row only that is the
 * whole range. */
bool regions_unmap(struct regions *regions, uint64_t address, uint64_t size,
                   const struct region_end *by);

/*
 * Gives what is mapped in the range the protection of `row`, by its thread and stack, from its
 * map_ns on; what has it already stays as it is. False where memory is exhausted.
 */
bool regions_protect(struct regions *regions, const struct region_row *row);

/* Row `index` of row_count + live_count: the ended ones first. */
const struct region_row *regions_row(const struct regions *regions, size_t index);

/* The path of the mapped file, NULL for none. */
const char *regions_file(const struct regions *regions, const struct region_row *row);

void regions_free(struct regions *regions);

#endif
