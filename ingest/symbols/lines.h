/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line table of one compilation unit, copied out of libdw into a sorted array.
 */
#ifndef MPROF_INGEST_SYMBOLS_LINES_H
#define MPROF_INGEST_SYMBOLS_LINES_H

#include "ingest/symbols/budget.h"
#include "ingest/symbols/file.h"
#include "ingest/symbols/strings.h"

struct symbols_line {
    uint64_t start; /* address in the module; the line reaches up to the next start */
    uint32_t file;  /* index into `files`; UINT32_MAX: no code of this unit */
    uint32_t line;  /* 0: unknown */
};

/* An all-zero table is empty. */
struct symbols_lines {
    struct symbols_line *lines;
    size_t count;
    const char **files; /* kept by the strings; NULL: no name */
    size_t file_count;
};

/* Returns false if memory is exhausted or the budget is spent. A damaged table counts as empty. */
bool symbols_lines_build(struct symbols_lines *lines, const struct symbols_file *file,
                         struct symbols_strings *strings, Dwarf_Die *unit,
                         struct symbols_budget *budget);
/*
 * Returns the kept path of one of a unit's files as DWARF gives it. A relative path is put below
 * the folder in which the compiler ran. NULL: the file has no name.
 */
const char *symbols_lines_path(struct symbols_strings *strings, Dwarf_Files *files, size_t index);

void symbols_lines_free(struct symbols_lines *lines);

/* Finds file and line of `address`; NULL and 0 if unknown. */
void symbols_lines_find(const struct symbols_lines *lines, uint64_t address, const char **file,
                        uint32_t *line);

#endif
