/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace file of this process: its name, header, chunk slots and how recording stopped.
 *
 * Legal order: trace_file_create() once (and again in a forked child, after
 * trace_file_forget()); then trace_file_take_slot() and trace_file_release_slot() from any
 * thread, trace_file_end() at the end. There is one file a process at a time.
 *
 * How slots come to be on the disk and in memory: trace_room.h.
 *
 * All system calls are raw: errno keeps its value. No lock, no allocation.
 */
#ifndef MPROF_CAPTURE_TRACE_FILE_H
#define MPROF_CAPTURE_TRACE_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/clock.h"
#include "capture/disk_space.h"
#include "schemas/trace_codec.h"

struct trace_asked {
    enum trace_request request;
    char name[TRACE_REQUEST_NAME]; /* terminated */
};

/*
 * Creates the file and its header. `path` NULL: the base of the last call, or
 * mprof.PROGRAM.PID.bin in the working directory. Where it exists already, or `beside` asks
 * for it, the name is PATH.PID, PATH.PID.2, … ; `announce` says so to the user where the other
 * trace is an old one. `flags`: enum trace_file_flag. False, after one message, where it cannot
 * be created.
 */
bool trace_file_create(const char *path, bool beside, bool announce, uint32_t flags);

/* Most bytes that a trace of this process and its children may have on the disk; 0: no limit. What
 * an observer has freed does not count. */
void trace_file_set_limit(uint64_t bytes);

/* How much of the disk is left free, at least: the trace stops growing before. */
void trace_file_set_min_free(struct disk_space_limit limit);
/* The process that the run's first trace is of; 0: there is no run. */
void trace_file_set_root(uint32_t process);

/* What the header of each trace says of sampling: mean bytes between sample points, 0: none. */
void trace_file_set_sampling(uint64_t mean);

/* Before trace_file_create(): whether `path` is a trace that this process has begun as another
 * program, before it executed this one. */
bool trace_file_is_of_this_process(const char *path);

/*
 * Before trace_file_create(): what the trace at `path` says that programs of the run do which are
 * executed now. False where there is no trace: this is the first.
 */
bool trace_file_of_run(const char *path, enum trace_run *run);
/* What the traces that are created say of it. */
void trace_file_set_run(enum trace_run run);

/* True while a file is open. */
bool trace_file_is_open(void);
/* Whether there was no room: file_stop has said so. */
bool trace_file_is_stopped(void);
/* Random number of the trace, 0 before there is one. */
uint64_t trace_file_id(void);
/* The process that owns the file. */
int trace_file_owner(void);
/* Whether that is the calling one, and not a child that vfork made. */
bool trace_file_is_own(void);

/*
 * The next chunk slot, zeroed, mapped and writable, TRACE_CHUNK_SIZE_DEFAULT bytes; its number
 * in *slot. NULL where there is no room: the reason then stands in the header, and one message
 * was written to standard error for the whole trace.
 */
uint8_t *trace_file_take_slot(uint32_t *slot);
/*
 * Before the program confines itself (confinement.h). Whether the calls that take a slot are
 * allowed; where they are not, trace_file_reserve_ahead() takes slots for a while, once a trace.
 */
bool trace_file_may_grow(bool (*allows)(long number, const uint64_t arguments[6]));
void trace_file_reserve_ahead(void);

/* Unmaps it; the bytes stay in the file. */
void trace_file_release_slot(uint8_t *memory);

/* From here on there is no room: one message says `why`. */
void trace_file_stop(const char *why);

/* Counts events that came when nothing could be recorded. */
void trace_file_count_dropped(uint64_t events);

/* `control` of the file header, and a word of this library that stays 0 while there is none. */
extern _Atomic(_Atomic uint32_t *) trace_file_control __attribute__((visibility("hidden")));

/*
 * What another process asks (trace-format.md, "Control from outside"). trace_file_is_asked() is two
 * loads; of the threads that see it one takes it, does it and answers.
 */
static inline bool trace_file_is_asked(void)
{
    return __builtin_expect(
        atomic_load_explicit(atomic_load_explicit(&trace_file_control, memory_order_relaxed),
                             memory_order_relaxed) == TRACE_CONTROL_ASKED,
        0);
}
bool trace_file_take_request(struct trace_asked *asked);
void trace_file_answer(enum trace_answer answer);
/* Whether a process outside has ended the recording: nothing more is to be written. */
bool trace_file_is_sealed(void);
/* Tells who looks from outside how recording stands, in this trace and those that are created. */
void trace_file_set_paused(enum trace_paused paused);

/* Marks how recording ended, with the clock pair of the end. TRACE_STATE_RECORDING takes it back
 * (a failed exec). Does nothing where an error stopped it before, or a process outside. */
void trace_file_end(enum trace_state state, struct clock_pair end);

/* Lets go of a file that has ended. Its header stays mapped for threads that are held up. */
void trace_file_leave(void);

/* In a forked child: lets go of the parent's file without touching it. */
void trace_file_forget(void);

#endif
