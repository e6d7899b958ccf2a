/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile of pprof while it is written: numbers strings, functions and places, and packs messages
 * by protobuf-c. The functions that return bool return false with the error set.
 *
 * Order of calls: pprof_file_begin(), then anything in any order, pprof_file_end().
 */
#ifndef MPROF_REPORT_EXPORT_PPROF_FILE_H
#define MPROF_REPORT_EXPORT_PPROF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "session/session.h"

struct pprof_file;

/* Begins a profile. Returns NULL with `error` set. */
struct pprof_file *pprof_file_begin(FILE *out, struct session_error *error);
/* Ends it and frees `file`. Returns false if memory was exhausted. */
bool pprof_file_end(struct pprof_file *file);

/* ---- the profile ---- */

struct pprof_value_type {
    const char *type, *unit;
};
struct pprof_about {
    const struct pprof_value_type *types;
    size_t type_count;
    const char *default_type;
    int64_t start_ns, duration_ns; /* start_ns: since 1970 */
};
bool pprof_put_about(struct pprof_file *file, const struct pprof_about *about);

struct pprof_mapping {
    uint64_t number, start, end; /* number: from 1 */
    const char *file, *build_id;
};
bool pprof_put_mapping(struct pprof_file *file, const struct pprof_mapping *mapping);

/* ---- functions and places: those of a base session have numbers of their own ---- */

/* Stores the number of a function by its id. If it is new, the caller puts it. */
bool pprof_function_number(struct pprof_file *file, bool of_base, uint32_t id, uint64_t *number,
                           bool *is_new);
struct pprof_function {
    uint64_t number;
    const char *name, *system_name, *file;
    uint32_t line;
};
bool pprof_put_function(struct pprof_file *file, const struct pprof_function *function);

/* Stores the number of a place by its innermost frame and the number of frames there. If it is new,
 * the caller puts it: begin, each line from the innermost, end. */
bool pprof_location_number(struct pprof_file *file, bool of_base, uint32_t frame, size_t frames,
                           uint64_t *number, bool *is_new);
struct pprof_location {
    uint64_t number, mapping, address; /* mapping 0: none */
};
bool pprof_location_begin(struct pprof_file *file, const struct pprof_location *location,
                          size_t lines);
void pprof_location_line(struct pprof_file *file, uint64_t function, uint32_t line);
bool pprof_location_end(struct pprof_file *file);

/* ---- samples ---- */

struct pprof_label {
    const char *key, *text; /* text NULL: `number` in bytes */
    uint64_t number;
};
bool pprof_put_sample(struct pprof_file *file, const uint64_t *locations, size_t location_count,
                      const int64_t *values, size_t value_count, const struct pprof_label *labels,
                      size_t label_count);

#endif
