/* SPDX-License-Identifier: BSD-2-Clause */
/* The modules that a program has loaded, as a recording lists them: the whole list, again
 * and again. A module that is listed again at the same place keeps its number.
 *
 * Order of calls: import_modules_clear() when a list begins, import_modules_add() for each module,
 * import_modules_range() for each of its ranges, import_modules_settle() when the list is complete,
 * import_modules_find(). A zero-initialized struct is empty. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/symbols/symbols.h"
#include "ingest/trace/trace_writer.h"

/* A recording that lists more modules at a time, or more ranges in all, is damaged. */
#define IMPORT_MODULES_MAX 16384u

struct import_module {
    char *path;
    uint64_t bias, start, end; /* end: one past its last byte; 0: it has no range yet */
    uint32_t id;               /* 0: not written yet */
    bool listed;
};

struct import_range {
    uint64_t start, end;
    uint32_t module; /* index */
};

struct import_modules {
    struct import_module *modules;
    size_t count, capacity;
    struct import_range *ranges; /* by start */
    size_t range_count, range_capacity;
    uint32_t last_id;
    bool changed; /* since the last import_modules_settle() */
};

void import_modules_free(struct import_modules *modules);

void import_modules_clear(struct import_modules *modules);

/* Adds a module at the load bias `bias`. False if there are too many or memory is exhausted. */
bool import_modules_add(struct import_modules *modules, const char *path, uint64_t bias);

/* Adds a range to the module that was added last, unless its end is beyond the address space. False
 * if there are too many or memory is exhausted. */
bool import_modules_range(struct import_modules *modules, uint64_t address, uint64_t size);

/* Writes new modules and the ends of gone ones. False if the trace cannot be written. */
bool import_modules_settle(struct import_modules *modules, struct trace_writer *writer);

/* Returns the module whose code lies at `address`, or NULL. */
const struct import_module *import_modules_find(const struct import_modules *modules,
                                                uint64_t address);

/* The names that an interpreted recording brings along: for each address its functions, files and
 * lines. They answer the symbolizer's questions in place of the modules' files. */

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

/* Adds an address with the number of its module's name and `count` frames (at most
 * SYMBOLS_FRAMES_MAX), innermost first. Addresses are numbered from 1. The first of equal ones
 * counts. False if memory is exhausted. */
bool import_names_address(struct import_names *names, uint64_t address, uint32_t module,
                          const struct import_frame *frames, size_t count);

/* Gives the address with a number. False if there is none. */
bool import_names_find(const struct import_names *names, uint64_t number, uint64_t *address);

/* Returns the names for symbols_set_given(). */
struct symbols_given import_names_given(struct import_names *names);
