/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a session by SQL, for tests to compute the same thing the slow and plain way. */
#ifndef MPROF_TESTS_SESSION_ROWS_H
#define MPROF_TESTS_SESSION_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct row {
    uint64_t id, address, size, alloc_ns, free_ns; /* free_ns UINT64_MAX: not freed */
    uint32_t stack, thread, type, kind, function, module;
};

/* All rows by id; the caller frees them. Fails the test where it cannot. */
struct row *rows_load(const char *path, size_t *count);

#endif
