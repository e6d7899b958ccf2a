/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads of a trace, by the recorder's number.
 */
#ifndef MPROF_INGEST_REPLAY_THREADS_H
#define MPROF_INGEST_REPLAY_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/array.h"

#define THREAD_TIME_NONE UINT64_MAX

struct thread_row {
    uint32_t number;
    bool named; /* a THREAD record gave its tid and name */
    uint64_t tid;
    char name[64]; /* the kernel's (up to 15 bytes), or a longer one by pthread_setname */
    uint64_t start_ticks, end_ticks;  /* THREAD_TIME_NONE: not known */
    uint32_t segments, last_sequence; /* chunk segments found, and their highest number */
};

struct threads {
    struct thread_row *rows;
    size_t count, capacity;
    struct index_map by_number;
};

/* Returns the index of the thread's row, or INDEX_NONE if there is none. */
uint32_t threads_known(const struct threads *threads, uint32_t number);

/* Returns true if a thread can have this number, given the known ones. If not, it is damage. */
bool threads_possible(const struct threads *threads, uint64_t number);

/* Returns the index of the thread's row, which it adds if it is new. INDEX_NONE if memory is
 * exhausted. */
uint32_t threads_find(struct threads *threads, uint32_t number);
void threads_free(struct threads *threads);

#endif
