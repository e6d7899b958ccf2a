/* SPDX-License-Identifier: BSD-2-Clause */
/* The rate at which a machine reads a file, to compare the time of answers with. */
#ifndef MPROF_TESTS_BENCH_READ_RATE_H
#define MPROF_TESTS_BENCH_READ_RATE_H

/* Returns how many bytes of the file's first GB all cores read and add up in a millisecond, in
 * pieces as large as those that the engine reads. 0 if the file cannot be read. */
double read_rate(const char *path);

#endif
