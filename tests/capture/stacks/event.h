/* SPDX-License-Identifier: BSD-2-Clause */
/* The place where test programs "allocate": takes the calling thread's stack and compares it. */
#ifndef MPROF_TESTS_EVENT_H
#define MPROF_TESTS_EVENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets that each n-th event is compared; 1 unless set. */
void event_compare_every(unsigned long n);
void event(void);
/* Gives up the thread's state, which is half done because a handler left an event by longjmp. */
void event_left_by_jump(void);
/* Returns the node of the calling thread's last event. */
uint32_t event_last_node(void);

#ifdef __cplusplus
}
#endif

#endif
