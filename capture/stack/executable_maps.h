/* SPDX-License-Identifier: BSD-2-Clause */
/* The executable mappings of the process, which may hold code that the loader does not know.
 *
 * A runtime maps memory and generates code into it. A word on the stack that points there is
 * probably a return address. A word that points anywhere else is not.
 *
 * They are read from /proc/self/maps, all at once, when an address is asked for that no known map
 * holds. Each new map costs one such look. Addresses outside of all maps cost fewer and fewer
 * looks: after each look that finds nothing, twice as many questions are answered without one.
 *
 * Any thread may call these functions at any time, also in a signal handler. They hold no lock and
 * read nothing at the addresses themselves. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct executable_map {
    uint64_t start, end;
    uint64_t file;   /* hash of the path of the mapped file; 0: no file */
    uint64_t offset; /* in the file */
};

/* Finds the known map that holds `address`. */
bool executable_maps_find(uint64_t address, struct executable_map *map);

/* Returns true if `address` lies in an executable mapping. Looks at the mappings of the process if
 * that is not known yet. */
bool executable_maps_hold(uint64_t address);

/* Returns another address at which the place of `address` in its file is mapped. `map` holds
 * `address`. The result lies in the `index`-th other map of this place. 0: no more. */
uint64_t executable_maps_twin(const struct executable_map *map, uint64_t address, unsigned index);

/* Returns how often the mappings were read. */
uint64_t executable_maps_looks(void);

/* Ends what another thread had begun. Called in a forked child. */
void executable_maps_after_fork(void);
