/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes synthetic sessions with the real schema, for tests, benchmarks and trying views: a program
 * with phases, bursts of short-lived blocks, leaks, reallocations, several threads, a call tree
 * with recursion, wrappers and inlined frames. The same options give the same session. Only one
 * derived table has rows, column_chunk: sums by stack, function and slot stay empty.
 */
#ifndef MPROF_TESTS_SESSION_FIXTURE_H
#define MPROF_TESTS_SESSION_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fixture_options {
    uint64_t seed;
    size_t allocations, stacks, functions, threads;
    uint64_t huge;   /* one block in forty is so many bytes larger; 0: none is */
    uint64_t header; /* large blocks begin so many bytes after the start of a page */
    bool nested;     /* some blocks lie within others */
    uint64_t tick;   /* times are multiples of so many ns, except those of `meta`; 0: of 1 */
};

#define FIXTURE_DEFAULTS                                                                           \
    {                                                                                              \
        .seed = 1, .allocations = 20000, .stacks = 400, .functions = 150, .threads = 4             \
    }

/* Writes a session and replaces `path`. Returns false with a line on stderr if it cannot. */
bool fixture_write(const char *path, const struct fixture_options *options);

/* Adds the packed arrays that ingest would make. */
bool fixture_pack(const char *path);

/* Adds a sample of all rows, each of which represents itself: estimates are then exact. */
bool fixture_sample_all(const char *path);

/* Runs SQL on a session file (to damage it). Returns false with a line on stderr. */
bool fixture_sql(const char *path, const char *sql);

#endif
