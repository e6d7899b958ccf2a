/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that answers depend on: those that were read, and those that would have been read if
 * they had been there. If one of them changes, comes or goes, the answers may be others.
 */
#ifndef MPROF_INGEST_CACHE_DEPENDS_H
#define MPROF_INGEST_CACHE_DEPENDS_H

#include "ingest/base/array.h"
#include "ingest/cache/coding.h"

/* A zero-initialized list is empty. */
struct cache_depends {
    struct cache_depend *rows;
    size_t count, capacity;
    struct index_map by_path;
    bool special; /* one of those added was a FIFO, a device or a socket; the caller resets it */
    bool unknown; /* the list is not complete, or a file is too young to see that it changes */
};

/* Adds a file, with what identifies it now. Call it before the file is opened. */
void cache_depends_add(struct cache_depends *depends, const char *path);
/* Adds a path made as by printf(). */
__attribute__((format(printf, 2, 3))) void cache_depends_add_path(struct cache_depends *depends,
                                                                  const char *format, ...);
void cache_depends_free(struct cache_depends *depends);

/* Returns true if all files are still as they were when they were added. */
bool cache_depends_hold(const struct cache_depends *depends);

/* Appends the list to an entry. */
void cache_depends_write(const struct cache_depends *depends, struct coding *coding);
/* Adds the files of an entry as they were when it was written. Returns false if it is damaged. */
bool cache_depends_read(struct cache_depends *depends, struct decoding *decoding);

#endif
