/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes room in a thread's chunk, and begins the next chunk when one is full.
 *
 * All functions need the thread's guard held.
 */
#ifndef MPROF_CAPTURE_RECORD_THREAD_ROOM_H
#define MPROF_CAPTURE_RECORD_THREAD_ROOM_H

#include "capture/record/thread.h"
#include "capture/record/thread_records.h"

/* Room for the records that thread_make_room() itself writes. */
#define THREAD_OWED_MAX 80u

/*
 * Makes at least `need` bytes of room, in a new chunk if necessary, and writes the records that the
 * thread owes (dropped events, a new name). Returns false if recording has stopped.
 */
bool thread_make_room(struct thread *thread, size_t need);

/* Makes more of the chunk writable if it has less room than `need` and can grow. */
void thread_grow_chunk(struct thread *thread, size_t need);

/* Leaves the previous trace's chunk, if the state still has it. */
void thread_leave_old_trace(struct thread *thread);

/* Makes room for `size` bytes of payload of an extended record, which thread_extended_end() then
 * writes. Returns where the payload goes. NULL: recording has stopped. */
uint8_t *thread_extended_begin(struct thread *thread, size_t size);

/* Puts an extended record that consists of its `when` and one number. */
void thread_put_number(struct thread *thread, enum trace_extended type, uint64_t number);

/* Writes a THREAD record if the thread's name has changed. */
void thread_update_name(struct thread *thread);

#endif
