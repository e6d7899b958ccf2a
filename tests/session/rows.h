/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the rows of a session by SQL, for tests that compute results in a slow, plain way. */
#ifndef MPROF_TESTS_SESSION_ROWS_H
#define MPROF_TESTS_SESSION_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct row {
    uint64_t id, address, size, alloc_ns, free_ns; /* free_ns UINT64_MAX: not freed */
    uint32_t stack, thread, type, kind, function, module;
};

/* Returns all rows by id; the caller frees them. Fails the test if it cannot. */
struct row *rows_load(const char *path, size_t *count);

#endif
