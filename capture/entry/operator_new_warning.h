/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Warns of allocators whose C++ operators do not call malloc.
 *
 * tcmalloc, jemalloc and mimalloc bring their own operators new and delete, which take memory
 * directly. If the recorder is preloaded before such a library, it sees malloc and free but not
 * these, unless the operators of cxx_operators.c come between.
 */
#ifndef MPROF_CAPTURE_ENTRY_OPERATOR_NEW_WARNING_H
#define MPROF_CAPTURE_ENTRY_OPERATOR_NEW_WARNING_H

/* Prints one line if C++ operators are not recorded and C++ code is loaded. */
void operator_new_warn(void);

#endif
