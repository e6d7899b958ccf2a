/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocators whose C++ operators do not call malloc.
 *
 * tcmalloc, jemalloc and mimalloc bring operator new and delete of their own, which take memory
 * directly. Preloaded before such a library the recorder sees malloc and free, but not these,
 * unless cxx_operators.c comes between.
 */
#ifndef MPROF_CAPTURE_OPERATORS_H
#define MPROF_CAPTURE_OPERATORS_H

/* Says in one line that C++ operators are not recorded, where that is so and C++ code is loaded. */
void operators_warn(void);

#endif
