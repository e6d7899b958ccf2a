/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of code that a runtime generated, from the perf map that it left: lines of
 * "START SIZE NAME", numbers hexadecimal, as the kernel's
 * tools/perf/Documentation/jit-interface.txt describes them. Where two lines overlap the inner one
 * holds, of equal ones the later.
 */
#ifndef MPROF_INGEST_SYMBOLS_PERF_MAP_H
#define MPROF_INGEST_SYMBOLS_PERF_MAP_H

#include "ingest/symbols_strings.h"

#include <stdint.h>

struct symbols_perf_map;

/*
 * Reads the map at `path`. NULL where there is none that can be trusted: it must be a regular file
 * of this user or of root, and not last written before `since_ns` (nanoseconds of the real-time
 * clock), since that one is another process's. Lines that are no entries are left out. Names are
 * kept in `strings`.
 */
struct symbols_perf_map *symbols_perf_map_open(const char *path, uint64_t since_ns,
                                               struct symbols_strings *strings);
void symbols_perf_map_free(struct symbols_perf_map *map);

/* The name of the code at the absolute address `pc`, NULL where none is known; *start its begin. */
const char *symbols_perf_map_find(const struct symbols_perf_map *map, uint64_t pc, uint64_t *start);

#endif
