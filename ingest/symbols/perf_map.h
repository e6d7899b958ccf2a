/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of code that a runtime generated. They come from the perf map that the runtime left: lines
 * of "START SIZE NAME" with hexadecimal numbers, as the kernel's
 * tools/perf/Documentation/jit-interface.txt describes them. If two lines overlap, the inner one
 * wins. If they are equal, the later one wins.
 */
#ifndef MPROF_INGEST_SYMBOLS_PERF_MAP_H
#define MPROF_INGEST_SYMBOLS_PERF_MAP_H

#include <stdint.h>

#include "ingest/symbols/strings.h"

struct symbols_perf_map;

/*
 * Reads the map at `path`. Returns NULL if there is none that can be trusted. It must be a regular
 * file of this user or of root. If it was last written before `since_ns` (nanoseconds of the
 * real-time clock), it belongs to another process and is refused. Lines that are not entries are
 * skipped. `strings` keeps the names.
 */
struct symbols_perf_map *symbols_perf_map_open(const char *path, uint64_t since_ns,
                                               struct symbols_strings *strings);
void symbols_perf_map_free(struct symbols_perf_map *map);

/*
 * Returns the name of the code at the absolute address `pc`, and sets *start to its start. NULL:
 * unknown.
 */
const char *symbols_perf_map_find(const struct symbols_perf_map *map, uint64_t pc, uint64_t *start);

#endif
