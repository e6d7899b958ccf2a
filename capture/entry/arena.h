/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions behind those of heap.c for the blocks of arenas, which record what they are told.
 * Those functions jump here, so that the frame lies where that of the function lay which the
 * program called. Also what arenas and runtimes ask of each other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MPROF_IMPLEMENTATION
#include "capture/mprof.h"

struct thread;

/* Record as mprof_arena_alloc_kind(), mprof_arena_free() and mprof_collected() say. `kind` may be
 * 0: the type is not known. */
void arena_block_allocated(mprof_arena arena, void *address, size_t size, size_t count,
                           mprof_kind kind);
void arena_block_freed(mprof_arena arena, void *address);
void arena_block_collected(mprof_arena arena, void *address);
/* Notes whose collection takes blocks of the arena, for the traces of a rotation. */
void arena_note_collector(mprof_arena arena);

/* Returns the only runtime that collects now. 0: there is none, or there are several. */
uint32_t runtime_that_collects(void);

/* Calls `put` for each arena of which a runtime has collected blocks in this process, while a
 * sample is recorded. The arena has a name in the trace by then. Needs the guard held. */
void arenas_collected(struct thread *thread,
                      void (*put)(struct thread *thread, uint32_t runtime, uint32_t arena));

/* Names the kind of a runtime's blocks (mprof_kind_create()) in this trace if it has no name there
 * yet. False if there is no such kind. Needs the guard held. */
bool kinds_introduce(struct thread *thread, uint32_t kind);

/* Does that, and returns the trace's module of the kind's runtime. 0: there is no such kind. */
uint32_t kinds_module(struct thread *thread, uint32_t kind);
