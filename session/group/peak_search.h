/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a search for the peaks of groups; private to peak.c and peak_window.c. */
#ifndef MPROF_SESSION_GROUP_PEAK_SEARCH_H
#define MPROF_SESSION_GROUP_PEAK_SEARCH_H

#include <pthread.h>

#include "session/data/session_state.h"
#include "session/group/group_state.h"
#include "session/scan/estimate.h"

/* Set in `place` if `bytes` is a position in `large`: there are fewer places. */
#define EVENT_LARGE (UINT32_C(1) << 31)

/* An event with more bytes than fit, or in a search with counts one of more than one block. */
struct large_event {
    uint64_t bytes, count;
};

struct event {
    uint64_t key; /* ns since the window's start, times 2, plus 1 for an allocation */
    uint32_t place, bytes;
};

struct window {
    uint64_t from, last; /* ns, both inside */
};

/* The change of a place in one window: at its end, and the largest one in it plus 1, at least 1.
 * All are 0 if the window has no event of the place. */
struct change {
    int64_t net, best;
};

/* The same for the number of blocks, at the end and at the moment of the largest change in bytes.
 * `key` is that moment's event. */
struct count_change {
    int64_t net, best;
    uint64_t key; /* EVENT_NONE: no allocation has reached the largest change yet */
};
#define EVENT_NONE UINT64_MAX

/* Times between which the blocks of one chunk were freed. */
struct freed {
    uint64_t first, last;
};

/* The part of a search that all threads share. */
struct search {
    struct session_group_set *set;
    uint32_t machines;
    size_t places;      /* groups times machines */
    bool *wanted;       /* by group; NULL: all */
    struct freed *free; /* by chunk */
    struct window *windows;
    size_t window_count, window_capacity;
    uint64_t window_events;
    /* Windows joined so far. */
    pthread_mutex_t lock;
    pthread_cond_t joined;
    uint32_t turn;
    bool failed;
    int64_t *live;   /* by place */
    uint64_t *peaks; /* by place */
    /* Also the number of blocks at the peaks: NULL if nobody asks. By place. */
    int64_t *live_counts;
    uint64_t *peak_counts;
};

/* One thread's state. */
struct sweeper {
    struct search *search;
    /* The part of time that is counted now: 2^shift ns each, from `from` to `last`. */
    uint64_t from, last;
    unsigned shift;
    uint64_t *counts; /* PARTS of them */
    /* The window that is swept now. */
    struct event *events, *spare;
    size_t count, capacity;
    struct large_event *large;
    size_t large_count, large_capacity;
    struct change *changes;         /* by place */
    struct count_change *counts_of; /* the same; NULL: nobody asks */
    uint32_t *touched;
    size_t touched_count;
    uint32_t groups[COLUMN_CHUNK_ROWS];
    uint64_t hits[ROW_SET_WORDS];
    struct estimate_rows *estimated; /* NULL: the session is not sampled */
};

/* Keeps in `hits` only the rows whose group is wanted. If not all groups are, stores those of the
 * rows in `groups`. Returns false with `error` set. */
bool peak_keep_wanted(struct sweeper *sweeper, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error);
/*
 * Collects the events of a window, sorts them and sweeps them: afterwards `changes` has what the
 * window does to each of the places in `touched`. Returns false with `error` set.
 */
bool peak_sweep_window(struct sweeper *sweeper, struct scan_worker *worker,
                       const struct window *window, struct session_error *error);

/* Returns the place of a group's rows of a thread. */
static inline uint32_t peak_place(const struct search *search, uint32_t group, uint64_t thread)
{
    const struct names *names = &search->set->session->names;
    return group * search->machines + names->process_machine[names->thread_process[thread]] - 1;
}

/*
 * Finds the peaks by sums for parts of the time. Nothing happens after `last`. *found is false if
 * there are too many groups, or if too many events would have to be sorted. Returns false with
 * `error` set.
 */
bool peak_search_bounds(struct search *search, uint64_t last, bool *found,
                        struct session_error *error);

#endif
