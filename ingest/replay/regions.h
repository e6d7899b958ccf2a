/* SPDX-License-Identifier: BSD-2-Clause */
/* The mapped regions over time, from the MAP, UNMAP and PROTECT records of --mmap.
 *
 * Order of calls: a zeroed struct; regions_map(), regions_unmap() and regions_protect() in the
 * order of time; regions_each(); regions_free(). Each row is a piece of address space that
 * one call mapped and that ended as one. If a part of a mapping ends, the mapping becomes two or
 * three rows with the same beginning. A change of protection ends a row and begins another. All
 * rows are held in memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGION_SHARED = 1 }; /* MAP_SHARED */

struct region_row {
    uint64_t address, size, offset, moved_from;
    uint64_t map_ns, unmap_ns; /* unmap_ns: of rows that have ended */
    uint32_t protection, flags;
    uint32_t thread, unmap_thread, stack, unmap_stack;
    uint32_t mapping;      /* number of the call, from 1 */
    uint32_t file;         /* index + 1 in `files`; 0: none */
    uint64_t resident;     /* bytes in memory before it ended, plus 1; 0: not known */
    uint64_t changed_from; /* row (from 1) that this was before its protection changed; 0: none */
};

enum { REGION_BLOCK = 256 };
/* Neighbours among the mapped rows, at least one. */
struct region_block {
    size_t count;
    struct region_row rows[REGION_BLOCK];
};

struct regions {
    struct region_row *rows; /* ended, in the order of their end */
    size_t row_count, row_capacity;
    struct region_block **live; /* mapped, by address */
    size_t live_count, block_count, block_capacity;
    uint64_t steps, calls; /* mapped rows that changes of protection looked at; all calls */
    uint64_t left_out;     /* changes of protection */
    char **files;
    size_t file_count, file_capacity;
    struct region_row
        left; /* the row that the last unmapping ended, which may be part of an mremap */
    uint32_t mappings;
};

/* Maps `row` (sets its mapping and file), and ends what was mapped there. If the row was moved, it
 * takes its other properties from the region at its old address: the one that the last unmapping
 * ended, or one that is still mapped. Rounds the size up to pages; a size of 0 maps nothing. False
 * if memory is exhausted. */
bool regions_map(struct regions *regions, const struct region_row *row, const char *file,
                 size_t file_length);

/* The event that ends regions. */
struct region_end {
    uint64_t ns;
    uint64_t resident; /* as in region_row, of the whole range */
    uint32_t thread, stack;
};

/* Ends what is mapped in the range. Only a row that covers the whole range gets its resident size.
 * False if memory is exhausted. */
bool regions_unmap(struct regions *regions, uint64_t address, uint64_t size,
                   const struct region_end *by);

/* Gives what is mapped in the range of `row` the row's protection, from its map_ns on, with its
 * thread and stack. A region that has this protection already does not change. Changes that would
 * make far more rows than there are calls are left out and counted. False if memory is
 * exhausted. */
bool regions_protect(struct regions *regions, const struct region_row *row);

/* Returns the mapped row that has the address, or NULL. */
const struct region_row *regions_at(const struct regions *regions, uint64_t address);

/* Visits all rows, ended ones first, with their position from 0. False if `visit` does. */
bool regions_each(const struct regions *regions,
                  bool (*visit)(void *context, const struct region_row *row, size_t position,
                                bool live),
                  void *context);

/* Returns the path of the mapped file, or NULL for none. */
const char *regions_file(const struct regions *regions, const struct region_row *row);

void regions_free(struct regions *regions);
