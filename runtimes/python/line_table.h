/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a code object that leads from instructions to source lines: co_linetable of CPython
 * 3.11 to 3.13 (Objects/locations.md in its sources).
 */
#ifndef MPROF_RUNTIMES_PYTHON_LINE_TABLE_H
#define MPROF_RUNTIMES_PYTHON_LINE_TABLE_H

#include <stddef.h>

/*
 * Returns the line of the instruction at `offset` bytes, which is `first` if `offset` is negative.
 * `table` has `size` bytes, `first` is the line where the function begins. 0: the instruction has
 * no line, or the table cannot be read.
 */
unsigned line_table_find(const unsigned char *table, size_t size, int first, ptrdiff_t offset);

#endif
