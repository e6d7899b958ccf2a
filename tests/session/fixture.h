/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Synthetic sessions with the real schema, for tests, benchmarks and trying views: a program
 * with phases, short-lived storms, leaks, reallocations, several threads, a call tree with
 * recursion, wrappers and inlined frames. The same options give the same session. Of the
 * derived tables only column_chunk is filled: sums by stack, function and slot stay empty.
 */
#ifndef MPROF_TESTS_SESSION_FIXTURE_H
#define MPROF_TESTS_SESSION_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fixture_options {
    uint64_t seed;
    size_t allocations, stacks, functions, threads;
};

#define FIXTURE_DEFAULTS                                                                           \
    {                                                                                              \
        .seed = 1, .allocations = 20000, .stacks = 400, .functions = 150, .threads = 4             \
    }

/* Replaces `path`. False with a line on stderr where it cannot be written. */
bool fixture_write(const char *path, const struct fixture_options *options);

/* Runs SQL on a session file (to damage it); false with a line on stderr. */
bool fixture_sql(const char *path, const char *sql);

#endif
