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
    bool split;                 /* units of its debug information are in .dwo files */
};

/* False where the module could not be opened, or is no file (the vdso). */
bool symbols_paths(struct symbols *symbols, uint32_t id, struct symbols_paths *paths);

#endif
