/* SPDX-License-Identifier: BSD-2-Clause */
/* The spread of a selection's allocations over sizes, lifetimes and threads.
 *
 * The rules of session.h hold. Sums are estimates if the session is sampled. */
#pragma once

#include "session/session.h"

/* ---- sizes ------------------------------------------------------------------------------ */

struct session_size_sums {
    uint64_t size; /* as asked for */
    uint64_t allocations, bytes;
    uint64_t live_count, live_bytes;       /* at the end */
    uint64_t at_peak_count, at_peak_bytes; /* at the program's peak */
};

/* Stores a row for each size that occurs, the smallest first: the caller frees them. For all
 * allocations of a session they come from the sums of ingest. Returns false with `error` set. */
bool selection_sizes(struct selection *selection, struct session_size_sums **rows, size_t *count,
                     struct session_error *error);

/* The classes of mprof of 1988: s <= 32 < m <= 256 < l <= 2048 < x. */
enum session_size_class { SESSION_SMALL, SESSION_MEDIUM, SESSION_LARGE, SESSION_EXTRA };
#define SESSION_SIZE_CLASSES 4
enum session_size_class session_size_class(uint64_t size);
/* Returns the largest size of a class, UINT64_MAX for the last one. */
uint64_t session_size_class_most(enum session_size_class size_class);

/* ---- lifetimes -------------------------------------------------------------------------- */

struct session_lifetime {
    uint64_t from, to; /* the lifetimes [from, to) */
    uint64_t allocations, bytes;
};

#define SESSION_LIFETIMES 66
struct session_lifetimes {
    struct session_lifetime
        bins[SESSION_LIFETIMES]; /* from the first to the last that has blocks */
    size_t count;
    uint64_t freed, freed_bytes; /* the sum of the bins */
    uint64_t live, live_bytes;   /* never freed: in no bin */
};

/* Counts freed blocks by the nanoseconds from allocation to free. A bin ends at 1, 2 or 5 times a
 * power of ten. Returns false with `error` set. */
bool selection_lifetimes(struct selection *selection, struct session_lifetimes *lifetimes,
                         struct session_error *error);

/* Counts freed blocks by the allocations that happened while they lived: those of the process heap
 * (of the selected process or of all), in the selection or not, whose time is after that of the
 * block's allocation and not after that of its free. Allocations at the very nanosecond of the
 * block's own do not count. A bin ends at a power of two. In a sampled session recorded allocations
 * are counted between. Keeps four bytes of memory for each allocation of the session while it runs.
 * Returns false with `error` set, also if there are more than SESSION_BETWEEN_MOST. */
#define SESSION_BETWEEN_MOST (UINT64_C(1) << 27)
bool selection_lifetimes_in_allocations(struct selection *selection,
                                        struct session_lifetimes *lifetimes,
                                        struct session_error *error);

/* ---- threads ---------------------------------------------------------------------------- */

#define SESSION_NO_THREAD UINT32_MAX

/* The blocks of one thread that another one (or the same) freed, or that nobody freed. */
struct session_cross_thread_free {
    uint32_t thread, free_thread; /* free_thread SESSION_NO_THREAD: never freed */
    uint64_t allocations, bytes;
    uint64_t at_peak_bytes; /* of these, at the program's peak */
};

/* Stores the pairs of threads that occur, by thread and then by free_thread: the caller frees them.
 * Returns false with `error` set. */
bool selection_cross_thread_frees(struct selection *selection,
                                  struct session_cross_thread_free **rows, size_t *count,
                                  struct session_error *error);

/* Returns the id of the process of a thread, 0 if it is not known. */
uint32_t session_thread_process(const struct session *session, uint32_t thread);
