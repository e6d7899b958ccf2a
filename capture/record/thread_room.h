/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes room in a thread's chunk, and begins the next chunk when one is full.
 *
 * All functions need the thread's guard held. */
#pragma once

#include "capture/record/thread.h"

/* The bytes that these records take at most. */
#define THREAD_NAME_RECORD_MAX 80u
#define THREAD_RESIDENT_RECORD_MAX 40u
/* Room in which most of the recorder's ranges can be told. */
#define THREAD_OWN_MEMORY_MAX 2048u

/* Room for the records that thread_make_room() itself writes. */
#define THREAD_OWED_MAX 80u

/* Makes at least `need` bytes of room, in a new chunk if necessary, and writes the records that the
 * thread owes (dropped events, a new name). Returns false if recording has stopped. */
bool thread_make_room(struct thread *thread, size_t need);

/* Makes more of the chunk writable if it has less room than `need` and can grow. */
void thread_grow_chunk(struct thread *thread, size_t need);

/* Leaves the previous trace's chunk, if the state still has it. */
void thread_leave_old_trace(struct thread *thread);

/* Makes room for `size` bytes of payload of an extended record, which thread_extended_end() then
 * writes. Returns where the payload goes. NULL: recording has stopped. */
uint8_t *thread_extended_begin(struct thread *thread, size_t size);

/* Puts an extended record that consists of its `when`, numbers, and a text of `length` bytes (NULL:
 * no text). Returns false if recording has stopped. */
bool thread_put_record(struct thread *thread, enum trace_extended type, const uint64_t *numbers,
                       size_t count, const char *text, size_t length);
/* Does that without a text. */
#define thread_put_numbers(thread, type, ...)                                                      \
    thread_put_record(thread, type, (const uint64_t[]){__VA_ARGS__},                               \
                      sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), NULL, 0)

/* Writes a THREAD record if the thread's name has changed. */
void thread_update_name(struct thread *thread);

/* Puts the `when` of an extended record: now, relative to the coding state. */
uint8_t *thread_put_when(const struct thread *thread, uint8_t *payload);

/* Does that, and stores the moment in *when. */
uint8_t *thread_put_moment(const struct thread *thread, uint8_t *payload, uint64_t *when);

/* Writes the extended record whose payload lies in `scratch` up to `end`. */
void thread_extended_end(struct thread *thread, enum trace_extended type, const uint8_t *end);

/* Reads the kernel's name of the calling thread, at most 15 bytes. If asking for it is forbidden,
 * the name is `known`. */
void thread_read_name(char name[16], const char known[16]);

/* Writes the bounds of the thread's stack, which have just been found. */
void thread_put_stack(struct thread *thread);

/* Writes which memory the recorder has mapped for itself since the last call, as far as there is
 * room in the chunk. */
void thread_put_own_memory(struct thread *thread);

/* Writes the THREAD record with the thread's name. */
void thread_put_name(struct thread *thread);

/* Begins records in the chunk that another thread left. */
void thread_put_switch(struct thread *thread);

/* Writes a sample of the process's resident set. Does nothing if mprof-run takes the samples. */
void thread_put_resident(struct thread *thread);

/* Sets whether this process takes such samples. */
void thread_sample_resident(bool wanted);
