/* SPDX-License-Identifier: BSD-2-Clause */
/* A stage of a pipeline: a thread that works on batches, in the order in which another thread fills
 * them. At most STAGE_BATCHES of them exist, so the filling thread waits for a slow stage.
 *
 * Order of calls: stage_new(), stage_exchange() for each batch, stage_settle(), after which the
 * caller may touch what the work touches until its next stage_exchange(), always stage_free(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One that is filled, one that is worked on, and two to even out the load. */
enum { STAGE_BATCHES = 4 };

struct stage;

/* Works on a batch and empties it. False if it failed: then no other batch is worked on. */
typedef bool stage_work(void *context, void *batch);

/* Makes a stage for batches of `size` bytes. The thread begins with the first full batch. Without
 * memory for a thread, stage_exchange() does the work. NULL if memory is exhausted. */
struct stage *stage_new(size_t size, stage_work *work, void *context);

/* Hands over `full`, NULL at first. Returns an empty batch, owned by the stage: its bytes are those
 * of any batch before, or 0. NULL if memory is exhausted or the work has failed. */
void *stage_exchange(struct stage *stage, void *full);

/* Waits until all batches are worked on. False if the work has failed. */
bool stage_settle(struct stage *stage);

/* Works on the last batch, whether it is full or not, after stage_settle(). */
bool stage_work_now(struct stage *stage, void *batch);

/* Waits for the batches that were handed over, and frees all. NULL: does nothing. */
void stage_free(struct stage *stage);
