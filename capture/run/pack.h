/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs the chunks of a trace while it is recorded and frees the space of their slots. The disk
 * then holds little more than the compressed trace (trace-format.md, "Packed chunks").
 *
 * Legal order: run_pack_begin() on a trace whose header has the flag *packed*; run_pack_step() now
 * and then; run_pack_end(). The trace is complete whenever this stops.
 */
#ifndef MPROF_CAPTURE_RUN_PACK_H
#define MPROF_CAPTURE_RUN_PACK_H

#include <stdbool.h>

#include "capture/run/client.h"

struct run_pack;

/* Returns NULL if memory is exhausted. */
struct run_pack *run_pack_begin(const struct client *client);

/* Packs some of the chunks that threads have left. Returns true if more are ready to be packed. */
bool run_pack_step(struct run_pack *pack);

void run_pack_end(struct run_pack *pack);

#endif
