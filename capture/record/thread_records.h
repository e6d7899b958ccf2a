/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a thread's own records into its chunk. The room must be there: thread_room.h makes it, and
 * writes some of these records itself.
 *
 * All functions need the thread's guard held.
 */
#ifndef MPROF_CAPTURE_RECORD_THREAD_RECORDS_H
#define MPROF_CAPTURE_RECORD_THREAD_RECORDS_H

#include "capture/record/thread.h"

/* The bytes that these records take at most. */
#define THREAD_NAME_RECORD_MAX 80u
#define THREAD_RESIDENT_RECORD_MAX 40u

/* Puts the `when` of an extended record: now, relative to the coding state. */
uint8_t *thread_put_when(const struct thread *thread, uint8_t *payload);

/* Does that, and stores the moment in *when. */
uint8_t *thread_put_moment(const struct thread *thread, uint8_t *payload, uint64_t *when);

/* Writes the extended record whose payload lies in `scratch` up to `end`. */
void thread_extended_end(struct thread *thread, enum trace_extended type, const uint8_t *end);

/* Reads the kernel's name of the calling thread, at most 15 bytes. If asking for it is forbidden,
 * the name is `known`. */
void thread_read_name(char name[16], const char known[16]);
/* Writes the THREAD record with the thread's name. */
void thread_put_name(struct thread *thread);

/* Writes how many events were dropped, if any were. */
void thread_put_dropped(struct thread *thread);

/* Writes a clock pair if it is due. It costs the hot path nothing, because the chunk's limit leads
 * to it. */
void thread_put_clock(struct thread *thread);

/* Begins records in the chunk that another thread left. */
void thread_put_switch(struct thread *thread);

/* Writes a sample of the process's resident set. Does nothing if mprof-run takes the samples. */
void thread_put_resident(struct thread *thread);
/* Sets whether this process takes such samples. */
void thread_sample_resident(bool wanted);

#endif
