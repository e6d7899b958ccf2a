/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes that go on until all bytes are done, also after a signal. */
#ifndef MPROF_INGEST_BASE_WHOLE_H
#define MPROF_INGEST_BASE_WHOLE_H

#include <stddef.h>
#include <stdint.h>

/* Writes `size` bytes. Returns 0, or an errno, EIO if the file takes no more. */
int write_whole(int descriptor, const void *bytes, size_t size);
/* Reads `size` bytes at the offset `place`, or up to the end of the file. Returns how many,
 * SIZE_MAX with errno set. */
size_t read_whole(int descriptor, void *bytes, size_t size, uint64_t place);

#endif
