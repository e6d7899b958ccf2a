/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of a runtime's blocks: mprof_kind_create(). */
#ifndef MPROF_CAPTURE_ENTRY_KINDS_H
#define MPROF_CAPTURE_ENTRY_KINDS_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* Names the kind in this trace if it has no name there yet. False if there is no such kind. Needs
 * the guard held. */
bool kinds_introduce(struct thread *thread, uint32_t kind);

/* Does that, and returns the trace's module of the kind's runtime. 0: there is no such kind. */
uint32_t kinds_module(struct thread *thread, uint32_t kind);

#endif
