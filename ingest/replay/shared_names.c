/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/shared_names.h"

#include <stddef.h>

/* Bytes of debug information that stay open from trace to trace. With more, all is read again. */
#define BYTES_MAX (UINT64_C(512) << 20)

/*
 * Files that stay open. Files without a build-id are opened for each trace, and the usual limit of
 * a process is 1024 descriptors.
 */
#define FILES_MAX 256

bool shared_names_begin(struct shared_names *names, const struct symbols_options *options)
{
    if (names->symbols &&
        (symbols_bytes(names->symbols) > BYTES_MAX || symbols_files(names->symbols) > FILES_MAX))
        shared_names_free(names);
    if (!names->symbols)
        names->symbols = symbols_new(options);
    if (names->symbols && !names->types)
        names->types = types_new(names->symbols);
    if (!names->types)
        return false;
    symbols_next_trace(names->symbols);
    return true;
}

void shared_names_free(struct shared_names *names)
{
    types_free(names->types);
    symbols_free(names->symbols);
    *names = (struct shared_names){NULL, NULL};
}
