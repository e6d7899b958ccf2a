/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What realloc and reallocarray ask for, for the files that make the real call and record it.
 */
#ifndef MPROF_CAPTURE_ENTRY_RESIZE_H
#define MPROF_CAPTURE_ENTRY_RESIZE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/real.h"

struct entry_resize {
    uint64_t size; /* of the whole block; UINT64_MAX where that does not fit */
    bool array;    /* asked for by reallocarray */
};

/*
 * reallocarray goes to the real realloc: C libraries make it of their public realloc, which is
 * the entry point here and would look like a second call.
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
