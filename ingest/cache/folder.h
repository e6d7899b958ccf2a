/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries of a cache in a folder of the user's. Each is a file under the name of its key. Nothing
 * that goes wrong here is an error: the entry is then not there, or not kept.
 */
#ifndef MPROF_INGEST_CACHE_FOLDER_H
#define MPROF_INGEST_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The limit of the bytes of all entries. The entries that were used longest ago go first. */
#define CACHE_FOLDER_LIMIT (UINT64_C(512) << 20)
/* The bytes of the largest entry that is kept. */
#define CACHE_ENTRY_MAX ((size_t)32 << 20)

struct cache_key {
    uint64_t words[2];
};

/* Makes the key of these bytes, the same in every process. */
struct cache_key cache_key_of(const void *bytes, size_t size);

/*
 * Opens the folder `path` (NULL: mprof in $XDG_CACHE_HOME or ~/.cache). Makes it, for its owner
 * alone, if it is not there. Returns -1 if that fails, or if the folder is another user's or others
 * may write to it. Close it with close().
 */
int cache_folder_open(const char *path);

/* Returns the `*size` bytes of the entry; free() them. NULL: there is no sound one. */
uint8_t *cache_folder_read(int folder, const struct cache_key *key, size_t *size);

/* Replaces the entry, and removes old entries beyond `limit` bytes. */
void cache_folder_write(int folder, const struct cache_key *key, const void *bytes, size_t size,
                        uint64_t limit);

#endif
