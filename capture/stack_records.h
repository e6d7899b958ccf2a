/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes what stack taking finds for the first time: MODULE, MODULE_END and NODE records.
 */
#ifndef MPROF_CAPTURE_STACK_RECORDS_H
#define MPROF_CAPTURE_STACK_RECORDS_H

#include "capture/stack.h"

/* The context of each call is the `struct thread` whose chunk takes the record. */
extern const struct stack_sink stack_records;

#endif
