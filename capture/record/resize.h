/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The request of realloc and reallocarray, for the files that make the real call and record it.
 */
#ifndef MPROF_CAPTURE_RECORD_RESIZE_H
#define MPROF_CAPTURE_RECORD_RESIZE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/record/real.h"

struct entry_resize {
    uint64_t size; /* of the whole block; UINT64_MAX: it is too large */
    bool array;    /* asked for by reallocarray */
};

/*
 * Makes the real call. reallocarray becomes a real realloc, since C libraries implement it by their
 * public realloc. That is the entry point here, and would look like a second call.
 */
static inline void *entry_real_resize(void *old, const struct entry_resize *resize)
{
    if (__builtin_expect(resize->array && resize->size == UINT64_MAX, 0)) {
        errno = ENOMEM;
        return NULL;
    }
    return real.realloc(old, resize->size);
}

#endif
