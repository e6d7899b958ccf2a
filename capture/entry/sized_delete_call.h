/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call by which libmprof_sized.so tells the recorder a size. libmprof.so exports it for that
 * library alone.
 */
#ifndef MPROF_CAPTURE_ENTRY_SIZED_DELETE_CALL_H
#define MPROF_CAPTURE_ENTRY_SIZED_DELETE_CALL_H

#include <stddef.h>

/*
 * Records that an operator delete was called with this size, before it frees the block. `frame` is
 * that of the operator, which keeps a frame pointer. Alignment 0: none was stated. NULL in a
 * process without the recorder.
 */
__attribute__((weak)) void mprof_sized_delete(const void *frame, const void *block, size_t size,
                                              size_t alignment);

#endif
