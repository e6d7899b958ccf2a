/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The callback that the program gets before a snapshot (mprof_on_snapshot()).
 */
#ifndef MPROF_CAPTURE_SNAPSHOT_H
#define MPROF_CAPTURE_SNAPSHOT_H

void snapshot_set_callback(void (*callback)(void *data), void *data);

/* Calls the callback, if there is one and this thread is not inside it. The caller must not hold
 * the guard. errno keeps its value. */
void snapshot_call_back(void);

#endif
