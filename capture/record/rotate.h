/* SPDX-License-Identifier: BSD-2-Clause */
/* Goes on with the recording in another trace, which begins with the sampled blocks that are live
 * (trace-format.md, "Rotation"). */
#pragma once

#include <stdbool.h>

struct thread;

struct live_block;

/* Names a block's arena and kind in the trace if they are new there. NULL: there are no arenas. */
extern void (*_Atomic rotate_introduce)(struct thread *thread, struct live_block *block)
    __attribute__((visibility("hidden")));

/* Writes the type that the program has told of a block. NULL: it has told none. */
extern void (*_Atomic rotate_tell)(struct thread *thread, const struct live_block *block)
    __attribute__((visibility("hidden")));

/* Writes what goes on in runtimes, at the end of what a trace begins with. NULL: nothing does. */
extern void (*_Atomic rotate_go_on)(struct thread *thread) __attribute__((visibility("hidden")));

/* Prepares for rotations, before the first event. `possible`: what is recorded allows them. */
void rotate_prepare(bool possible);

/* Begins another trace, and answers the request for it in the one before. Returns false if that
 * cannot be done now; then the recording goes on as it was. The other threads wait at their next
 * event until it is done. The calling thread must not hold the guard. */
bool rotate_trace(const void *frame);
