/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names that an interpreted recording brings along: for each address its functions, files and
 * lines. They answer the symbolizer's questions in place of the modules' files.
 */
#ifndef MPROF_INGEST_IMPORT_NAMES_H
#define MPROF_INGEST_IMPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/symbols/symbols.h"

struct import_names;

/* NULL if memory is exhausted. */
struct import_names *import_names_new(void);
void import_names_free(struct import_names *names);

/* Adds a string, with the next number from 1. False if memory is exhausted. */
bool import_names_string(struct import_names *names, const char *text, size_t length);
size_t import_names_strings(const struct import_names *names);

/* One function at an address. Strings are given by their numbers, 0: unknown. */
struct import_frame {
    uint32_t function, file, line;
};

/*
 * Adds an address with the number of its module's name and `count` frames (at most
 * SYMBOLS_FRAMES_MAX), innermost first. Addresses are numbered from 1. The first of equal ones
 * counts. False if memory is exhausted.
 */
bool import_names_address(struct import_names *names, uint64_t address, uint32_t module,
                          const struct import_frame *frames, size_t count);

/* Gives the address with a number. False if there is none. */
bool import_names_find(const struct import_names *names, uint64_t number, uint64_t *address);

/* Returns the names for symbols_set_given(). */
struct symbols_given import_names_given(struct import_names *names);

#endif
