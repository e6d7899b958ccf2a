/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that the symbols of a module were taken from. */
#ifndef MPROF_INGEST_SYMBOLS_PATHS_H
#define MPROF_INGEST_SYMBOLS_PATHS_H

#include "ingest/symbols.h"

struct symbols_path {
    const char *path;   /* that was opened; NULL: there is none */
    char build_id[130]; /* hexadecimal; "": none */
};

struct symbols_paths {
    struct symbols_path module; /* the module's own file */
    struct symbols_path debug;  /* its separate debug information */
    struct symbols_path common; /* what dwz(1) moved out of several */
    char common_path[4096];     /* holds common.path */
};

/* False where the module could not be opened, or is no file (the vdso). */
bool symbols_paths(struct symbols *symbols, uint32_t id, struct symbols_paths *paths);

/* A file (.dwo) that holds the debug information of one unit of a module. */
struct symbols_split {
    const char *name; /* as the unit names it */
    char path[8192];  /* where libdw reads it: below the folder of the file that names it, or of the
                         compiler; the latter where there is none */
};

/* Calls `found` for each of a module's units that have one. */
void symbols_paths_split(struct symbols *symbols, uint32_t id,
                         void (*found)(void *context, const struct symbols_split *split),
                         void *context);

#endif
