/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that a module's symbols came from. */
#ifndef MPROF_INGEST_SYMBOLS_PATHS_H
#define MPROF_INGEST_SYMBOLS_PATHS_H

#include "ingest/symbols/symbols.h"

struct symbols_path {
    const char *path;   /* of the file that was opened; NULL: there is none */
    char build_id[130]; /* hexadecimal; "": none */
};

struct symbols_paths {
    struct symbols_path module; /* the module's own file */
    struct symbols_path debug;  /* its separate debug information */
    struct symbols_path common; /* the information that dwz(1) moved out of several files */
    char common_path[4096];     /* holds common.path */
};

/* Returns false if the module could not be opened or is not a file (the vdso). */
bool symbols_paths(struct symbols *symbols, uint32_t id, struct symbols_paths *paths);

/* A file (.dwo) that holds the debug information of one unit of a module. */
struct symbols_split {
    const char *name; /* as the unit names it */
    char path[8192];  /* where libdw reads it: in the folder of the file that names it or, if it is
                         not there, in the compiler's */
};

/* Calls `found` for each of the module's units that has such a file. */
void symbols_paths_split(struct symbols *symbols, uint32_t id,
                         void (*found)(void *context, const struct symbols_split *split),
                         void *context);

#endif
