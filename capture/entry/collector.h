/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells arenas and runtimes of each other: whose collections take the blocks of an arena. */
#ifndef MPROF_CAPTURE_ENTRY_COLLECTOR_H
#define MPROF_CAPTURE_ENTRY_COLLECTOR_H

#include <stdint.h>

struct thread;

/* Returns the only runtime that collects now. 0: there is none, or there are several. */
uint32_t runtime_that_collects(void);

/* Calls `put` for each arena of which a runtime has collected blocks in this process, while a
 * sample is recorded. The arena has a name in the trace by then. Needs the guard held. */
void arenas_collected(struct thread *thread,
                      void (*put)(struct thread *thread, uint32_t runtime, uint32_t arena));

#endif
