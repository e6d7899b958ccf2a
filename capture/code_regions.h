/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Executable mappings of the process: where code may lie that the loader knows nothing of.
 *
 * A runtime maps memory and generates code into it. A word on the stack that points there is a
 * return address more likely than not; one that points anywhere else is none.
 *
 * The regions are read from /proc/self/maps, all at once, when the first address is asked for that
 * no known one holds. Each region costs one such look. Addresses that lie in none cost fewer and
 * fewer looks: after each in vain, twice as many questions are answered without one.
 *
 * Any thread may call these functions at any time, in a signal handler too. No lock is held,
 * nothing is read at the addresses themselves.
 */
#ifndef MPROF_CAPTURE_CODE_REGIONS_H
#define MPROF_CAPTURE_CODE_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct code_region {
    uint64_t start, end;
    uint64_t file;   /* a hash of the mapped file's path; 0: of no file */
    uint64_t offset; /* in the file */
};

/* The region that holds `address`, of those that are known. */
bool code_regions_find(uint64_t address, struct code_region *region);

/*
 * Whether `address` lies in an executable mapping; looks at the process's mappings where that is
 * not known yet.
 */
bool code_regions_hold(uint64_t address);

/*
 * The `index`-th known region of the same file in which the place of `address`, which `region`
 * holds, is mapped as well: its address there. 0: there are no more.
 */
uint64_t code_regions_twin(const struct code_region *region, uint64_t address, unsigned index);

/* How often the mappings were read. */
uint64_t code_regions_looks(void);

/* In a forked child: what another thread was at is ended. */
void code_regions_forked(void);

#endif
