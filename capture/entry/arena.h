/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions behind those of arena_blocks.c, which record what they are told. Those functions
 * jump here, so that the frame lies where that of the function lay which the program called.
 */
#ifndef MPROF_CAPTURE_ENTRY_ARENA_H
#define MPROF_CAPTURE_ENTRY_ARENA_H

#include <stddef.h>

#define MPROF_IMPLEMENTATION
#include "capture/mprof.h"

/* Record as mprof_arena_alloc_kind(), mprof_arena_free() and mprof_collected() say. `kind` may be
 * 0: the type is not known. */
void arena_block_allocated(mprof_arena arena, void *address, size_t size, size_t count,
                           mprof_kind kind);
void arena_block_freed(mprof_arena arena, void *address);
void arena_block_collected(mprof_arena arena, void *address);
/* Notes whose collection takes blocks of the arena, for the traces of a rotation. */
void arena_note_collector(mprof_arena arena);

#endif
