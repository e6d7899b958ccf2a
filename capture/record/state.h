/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of recording in this process, on which the other files of the recorder agree.
 *
 * The word that each event reads lies in a page that the kernel wipes in a forked child
 * (MADV_WIPEONFORK). A child therefore notices the fork by itself, even after a raw clone, which
 * runs no fork handlers. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum recorder_state {
    RECORDER_UNKNOWN = 0, /* not started, or a forked child that has not noticed yet */
    RECORDER_RECORDING,
    RECORDER_PAUSED,  /* allocations are not recorded; the ends of blocks still are */
    RECORDER_STOPPED, /* out of room: events are counted */
    RECORDER_OFF,     /* nothing to record in this process */
    RECORDER_STARTING,
    RECORDER_WAITING,  /* recording has not begun: no event of the heap is recorded */
    RECORDER_ROTATING, /* one thread begins another trace, and all others wait at the gate */
};

/* A page of its own, because it is wiped as a whole. */
union recorder_page {
    struct {
        _Atomic uint32_t state;
        /* The real functions, while a sample leaves out most events and records the others; NULL at
         * any other time. They lie here so that what is skipped reads one cache line, and so that a
         * child that has not noticed the fork has none. */
        struct {
            void *(*_Atomic malloc)(size_t);
            void *(*_Atomic calloc)(size_t, size_t);
            void *(*_Atomic realloc)(void *, size_t);
            void (*_Atomic free)(void *);
        } skipped;
        uint8_t apart[24]; /* puts the fields that change on another cache line */
        /* Threads that are on the way into an event or out of the last one. Such a thread may be
         * between its read of `state` and the place where thread_pool_settle() finds it. */
        _Atomic uint32_t entering;
        bool calls_forgotten; /* os_forked() has been called in this process */
    };
    uint8_t bytes[4096];
};
extern union recorder_page recorder_page __attribute__((visibility("hidden")));

/* The part outside the wiped page, which a forked child inherits. */
struct recorder_inherited {
    bool off;             /* for this process and its children */
    bool halted;          /* off because the program or another process asked for it */
    _Atomic bool waiting; /* recording has not begun */
    _Atomic bool paused;
    bool mappings;     /* mmap and its like are recorded, too */
    bool mapped;       /* otherwise: who maps large anonymous memory */
    uint64_t autosave; /* a snapshot after each so many allocations; 0: none */
};
extern struct recorder_inherited recorder_inherited __attribute__((visibility("hidden")));

/* Returns false in a forked child that has not noticed yet. A child that a handler forked by a raw
 * clone continues inside its parent's record, so this is asked before each record is put. Only a
 * few stores of prepared values follow, which are the same in both processes. */
static inline bool recorder_is_own(void)
{
    return atomic_load_explicit(&recorder_page.state, memory_order_relaxed) != RECORDER_UNKNOWN;
}

/* Sets the state. OFF and STOPPED hold for later children, too. */
void recorder_set_state(enum recorder_state state);

/* Moves from the first state to the second. Returns false if the state was not the first one. */
bool recorder_change_state(uint32_t from, uint32_t to);

/* Waits until no thread begins another trace, for two seconds at most. Returns the state. The
 * calling thread must not hold the guard. */
uint32_t recorder_wait_for_rotation(void);

/* Returns false if nothing can be recorded, because recording has ended or never could begin. */
bool recorder_can_record(void);

/* Returns true if nothing is to be recorded now, so that an event that is left out is not a loss.
 */
static inline bool recorder_is_idle(uint32_t state)
{
    return state == RECORDER_PAUSED || state == RECORDER_WAITING;
}

/* Returns true if an event that has passed the gate is recorded. A thread that begins another trace
 * since then waits for it. */
static inline bool recorder_is_recording(void)
{
    const uint32_t state = atomic_load_explicit(&recorder_page.state, memory_order_relaxed);
    return __builtin_expect(state == RECORDER_RECORDING, 1) ||
           (state == RECORDER_ROTATING && !atomic_load(&recorder_inherited.paused));
}

/* Ends recording, because another process has sealed the trace (trace_file_is_sealed()). */
void recorder_sealed(void);

/* Notes that recording cannot go on and `events` are lost. Later events are only counted. */
void recorder_out_of_room(uint64_t events);

/* Stops recording for the reason that one message gives. Later events are only counted. */
void recorder_stop_for(const char *why);
