/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace file of this process: its name, header, chunk slots and how recording stopped.
 *
 * Legal order: trace_file_create() once (and again in a forked child, after
 * trace_file_forget()); then trace_file_take_slot() and trace_file_release_slot() from any
 * thread, trace_file_end() at the end. A process has one file at a time.
 *
 * storage.h says how slots get to the disk and into memory.
 *
 * All system calls are raw: errno keeps its value. No lock, no allocation. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/os/clock.h"
#include "capture/os/trace_name.h"
#include "schemas/trace_codec.h"
#include "schemas/trace_layout.h"

struct trace_asked {
    enum trace_request request;
    char name[TRACE_REQUEST_NAME]; /* terminated */
};

/* Creates the file and its header. `path` NULL: the base of the last call, or mprof.PROGRAM.PID.bin
 * in the working directory. If that file exists or `beside` is set, the name is PATH.PID,
 * PATH.PID.2, … . `announce`: tell the user so if the other trace is an old one. `flags`: enum
 * trace_file_flag. Returns false, after one message, if the file cannot be created. */
bool trace_file_create(const char *path, bool beside, bool announce, uint32_t flags);

/* Sets the most bytes that a trace of this process and its children may take on the disk (0: no
 * limit; bytes that an observer has freed do not count), and how much of the disk must stay free.
 */
void trace_file_set_limits(uint64_t bytes, struct disk_space_limit min_free);
/* Sets the process of the run's first trace; 0: there is no run. */
void trace_file_set_root(uint32_t process);

/* Sets the process that takes references for this one, for each trace's header; 0: none. */
void trace_file_set_observer(uint32_t process);
/* Returns the header of the trace, or NULL if there is none. */
struct trace_file_header *trace_file_header(void);

/* Sets the mean bytes between sample points, for the header of each trace; 0: no sampling. */
void trace_file_set_sampling(uint64_t mean);

/* Returns true if `path` is a trace that this process has begun as another program, before it
 * executed this one. Call it before trace_file_create(). */
bool trace_file_is_of_this_process(const char *path);

/* Reads from the trace at `path` what the programs do that the run executes from now on. Returns
 * false if there is no trace, so this is the first. Call it before trace_file_create(). */
bool trace_file_of_run(const char *path, enum trace_run *run);
/* Sets what the traces that are created later say about that. */
void trace_file_set_run(enum trace_run run);

/* Returns the absolute name of the run's first trace: of `path`, or of the last call (NULL). "": it
 * is not known. */
const char *trace_file_base(const char *path);
/* Counts a program that runs without the recorder and has no trace. Also for a child of vfork. */
void trace_file_count_unnamed(void);

/* Returns the absolute name of the trace that was created last. */
const char *trace_file_path(void);
/* True while a file is open. */
bool trace_file_is_open(void);
/* Returns true if recording has stopped, after one message has said why. */
bool trace_file_is_stopped(void);
/* Returns the random number of the trace, or 0 before there is one. */
uint64_t trace_file_id(void);
/* Returns true if the calling process owns the file, and is not a child that vfork made. */
bool trace_file_is_own(void);

/* Takes the next chunk slot, zeroed and mapped, TRACE_CHUNK_SIZE_DEFAULT bytes. Its number goes to
 * *slot. *reserved says how many bytes must be writable at first, a multiple of the page size. The
 * call stores how many are. Returns NULL if there is no room. The header then contains the reason,
 * and one message for the whole trace was written to standard error. */
uint8_t *trace_file_take_slot(uint32_t *slot, uint32_t *reserved);
/* Makes the bytes of a slot from `from` to `to` writable too. Returns false if that cannot be done:
 * then take another slot, which fails with the reason if there is one. */
bool trace_file_grow_slot(uint8_t *memory, uint32_t slot, uint32_t from, uint32_t to);
/* Returns true if the calls that take a slot are allowed, before the program confines itself
 * (seccomp.h). If not, trace_file_reserve_ahead() takes slots, once in a trace. */
bool trace_file_may_grow(bool (*allows)(long number, const uint64_t arguments[6]));
void trace_file_reserve_ahead(void);

/* Unmaps the slot. The bytes stay in the file. */
void trace_file_release_slot(uint8_t *memory);

/* Stops recording, as if there were no room. One message says `why`. */
void trace_file_stop(const char *why);

/* Counts events that came when nothing could be recorded. */
void trace_file_count_dropped(uint64_t events);

/* `control` of the file header. If there is no file, it is a word of this library that stays 0. */
extern _Atomic(_Atomic uint32_t *) trace_file_control __attribute__((visibility("hidden")));

/* Tells an observer, if one attends, that now is a moment at which the pages in memory count.
 * `waits`: until it has read them, for a short time at most. */
void trace_file_ring(enum trace_resident_reason reason, bool waits);

/* Take requests of another process (trace-format.md, "Control from outside"). trace_file_is_asked()
 * is two loads. One of the threads that see the request takes it, does it and answers. */
static inline bool trace_file_is_asked(void)
{
    return __builtin_expect(
        atomic_load_explicit(atomic_load_explicit(&trace_file_control, memory_order_relaxed),
                             memory_order_relaxed) == TRACE_CONTROL_ASKED,
        0);
}
bool trace_file_take_request(struct trace_asked *asked);
void trace_file_answer(enum trace_answer answer);
/* Returns true if another process has ended the recording: nothing more may be written. */
bool trace_file_is_sealed(void);
/* Tells outside observers the state of recording, in this trace and in those created later. */
void trace_file_set_paused(enum trace_paused paused);

/* Marks how recording ended, with the clock pair of the end. TRACE_STATE_RECORDING takes it back
 * (a failed exec). Does nothing if an error or another process has ended recording before. */
void trace_file_end(enum trace_state state, struct clock_pair end);

/* Leaves a file that has ended. Its header stays mapped for threads that were held up. */
void trace_file_leave(void);

/* Leaves the parent's file without touching it, in a forked child. */
void trace_file_forget(void);

/* Asks mprof-run for the file of a trace that this process has no right to make: a program that
 * root starts may drop its rights, or change its root folder, and its children have traces too.
 *
 * mprof-run listens on a socket whose random name only the processes of the run are told. It makes
 * files for these alone, and the descriptor comes with the name as the only message. The socket is
 * trusted only if root has bound it. */

/* Sets the socket's name, as the option `files` has it. "": there is none, or a filter of system
 * calls is on. */
void given_file_set_socket(const char *name);

/* Another file for the same recording: the next trace takes the name of the present one, which gets
 * the name with .rN appended (trace-format.md, "Rotation").
 *
 * Legal order: trace_rotation_begin(); then, while no thread is inside an event,
 * trace_rotation_take_name(), trace_file_end(), trace_rotation_switch(), the first records, and
 * trace_rotation_answer(). trace_rotation_cancel() may come at any place before trace_file_end().
 *
 * The header of the next trace is mapped where that of the present one was, so pointers to it stay
 * valid. */

/* Makes the next file. Returns false if that cannot be done: then nothing has changed. */
bool trace_rotation_begin(void);
void trace_rotation_cancel(void);

/* Gives the next file the name of the trace. False: nothing has changed. */
bool trace_rotation_take_name(void);

/* Makes the next file the trace. */
void trace_rotation_switch(void);

/* Returns the trace_id of the trace before. Only between trace_rotation_switch() and _answer(). */
uint64_t trace_rotation_before(void);

/* Returns the number of the present trace among those of this process, from 1. */
uint32_t trace_rotation_number(void);

/* Answers the request in the trace before that it is done, and releases that trace. */
void trace_rotation_answer(void);
