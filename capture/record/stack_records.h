/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the records of finds that are new to the stack walk: MODULE, MODULE_END and NODE.
 */
#ifndef MPROF_CAPTURE_RECORD_STACK_RECORDS_H
#define MPROF_CAPTURE_RECORD_STACK_RECORDS_H

#include "capture/stack/stack.h"

/* The context of each call is the `struct thread` whose chunk takes the record. */
extern const struct stack_sink stack_records;

#endif
