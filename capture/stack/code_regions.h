/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable mappings of the process, which may hold code that the loader does not know.
 *
 * A runtime maps memory and generates code into it. A word on the stack that points there is more
 * likely than not a return address. A word that points anywhere else is none.
 *
 * The regions are read from /proc/self/maps, all at once, when an address is asked for that no
 * known region holds. Each new region costs one such look. Addresses outside of all regions cost
 * fewer and fewer looks: after each look that finds nothing, twice as many questions are answered
 * without one.
 *
 * Any thread may call these functions at any time, also in a signal handler. They hold no lock and
 * read nothing at the addresses themselves.
 */
#ifndef MPROF_CAPTURE_STACK_CODE_REGIONS_H
#define MPROF_CAPTURE_STACK_CODE_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct code_region {
    uint64_t start, end;
    uint64_t file;   /* hash of the path of the mapped file; 0: no file */
    uint64_t offset; /* in the file */
};

/* Finds the known region that holds `address`. */
bool code_regions_find(uint64_t address, struct code_region *region);

/*
 * Tells whether `address` lies in an executable mapping. Looks at the mappings of the process if
 * that is not known yet.
 */
bool code_regions_hold(uint64_t address);

/*
 * Returns another address at which the place of `address` in its file is mapped. `region` holds
 * `address`. The result lies in the `index`-th other known region that maps this place. 0: there
 * are no more.
 */
uint64_t code_regions_twin(const struct code_region *region, uint64_t address, unsigned index);

/* Returns how often the mappings were read. */
uint64_t code_regions_looks(void);

/* Ends what another thread had begun. Called in a forked child. */
void code_regions_after_fork(void);

#endif
