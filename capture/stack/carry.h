/* SPDX-License-Identifier: BSD-2-Clause */
/* Carries stacks of live blocks into another trace of the same process. */
#ifndef MPROF_CAPTURE_STACK_CARRY_H
#define MPROF_CAPTURE_STACK_CARRY_H

#include <stdint.h>

/*
 * Defines the node `id` of the log that was set aside (node_log.h), and those around it, in the
 * tree as it is now. Returns the new id, or 0 if the node is not in the log, its code is no longer
 * loaded, or it could not be written. No other thread may take a stack.
 */
uint32_t carry_node(uint32_t id, void *context);

#endif
