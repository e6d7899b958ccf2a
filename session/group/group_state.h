/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a set of groups; private to session/group. */
#ifndef MPROF_SESSION_GROUP_GROUP_STATE_H
#define MPROF_SESSION_GROUP_GROUP_STATE_H

#include "session/group/code_map.h"
#include "session/group/group_keys.h"
#include "session/group/group_set.h"
#include "session/scan/scan.h"

/* Sums of one group that every set has. */
struct group_sum {
    uint64_t allocations, bytes;
};

/* The other sums of one group. */
struct group_detail {
    uint64_t objects, live_bytes, live_count, at_peak_bytes;
    uint64_t min_size, max_size, min_lifetime, max_lifetime;
    uint64_t lifetime_low, lifetime_high; /* sum of lifetimes: high * 2^64 + low */
};

/* The variances of a group's estimates. */
struct group_variance {
    double allocations, bytes, live_count, live_bytes, objects, at_peak_bytes;
};

/* A node of the call tree of a fold: the last function of a path. */
struct group_node {
    uint32_t parent, function;
    uint32_t child; /* the last one that was looked for, 0: none */
};

struct group_shape;

struct session_group_set {
    struct session *session;
    struct row_set rows; /* of all groups that were made */
    struct filter_colors colors;
    struct group_keys keys;
    size_t made;
    uint64_t allocations;         /* of all of them */
    uint32_t *cell_of_group;      /* if the keys have cells; then also: */
    uint32_t *group_of_cell;      /* CODE_NONE: no row */
    struct code_map codes;        /* otherwise: the group's number is that of its code */
    struct group_sum *sums;       /* by group, as the next three */
    struct group_detail *details; /* NULL: not known yet */
    struct group_variance *variances;
    struct group_shape *shapes; /* NULL: not known yet; then which parts are: */
    bool times_known, rises_known, steps_known;
    uint64_t *padding; /* the same */
    uint64_t *peaks;   /* PEAK_UNKNOWN: not known yet */
    uint32_t *by_key;  /* groups in the order of their keys */
    uint32_t *order;   /* the groups that are left, in the present order */
    size_t count;      /* of these */
    uint8_t *color;    /* by group: number of the color step, 0: none. NULL: no group has one */
    struct group_node *nodes; /* of a fold: a cell is a node; the first is the root */
    size_t node_count;        /* 0: no fold */
};

#define PEAK_UNKNOWN UINT64_MAX

/* ---- join.c ---- */

/* Makes a set without groups that owns the rows. NULL with `error` set. */
struct session_group_set *group_set_new(struct session *session, struct row_set *rows,
                                        const struct filter_colors *colors,
                                        struct session_error *error);
/* Finds the groups of all rows and their sums. Returns false with `error` set. */
bool group_set_sum(struct session_group_set *set, struct session_error *error);
/* Makes groups of the cells that have allocations, and frees `cells`. Returns false with `error`
 * set. */
bool group_set_take_cells(struct session_group_set *set, struct group_sum *cells, size_t count,
                          struct session_error *error);
/* Does the same from the sums that ingest has made by stack. *known is false if they do not answer.
 * Returns false with `error` set. */
bool group_set_read_sums(struct session_group_set *set, bool *known, struct session_error *error);
/* Sums are read if there are at least so many rows for each stack. Tests make it small. */
extern size_t group_rows_per_stack;
/* Puts all groups into their first order: by bytes, the largest first. Returns false with `error`
 * set. */
bool group_set_begin(struct session_group_set *set, struct session_error *error);

/* Stores the groups of the rows of a batch, one after another. All these rows are in `rows` of the
 * set. */
void group_of_batch(const struct session_group_set *set, const struct group_key_views *views,
                    const struct kernel_rows *rows, uint32_t *groups);
/* Stores the group of each row of a chunk that has a bit in `words`: all these are in `rows`.
 * Returns false with `error` set. */
bool group_of_rows(const struct session_group_set *set, struct scan_worker *worker, uint32_t chunk,
                   const uint64_t *words, uint32_t *groups, struct session_error *error);

/* Stores one byte for each group: 1 if it is left. NULL if all are. The caller frees it. Returns
 * false with `error` set. */
bool group_left(const struct session_group_set *set, uint8_t **left, struct session_error *error);
/* Keeps those rows of a batch whose groups are left, and their groups. `left` NULL: all. */
void group_keep_left(const uint8_t *left, struct kernel_rows *rows, uint32_t *groups);

/* Returns how many threads may each have `bytes` of their own. */
size_t group_threads(const struct session_group_set *set, size_t bytes);

/* ---- details.c, peak.c, moments.c ---- */

/* Finds the details of the groups that are left. */
bool group_find_details(struct session_group_set *set, struct session_error *error);
/* The search for peaks keeps at most about so many events in memory. Tests make it small. */
extern size_t group_window_events;
/* Finds the peaks of the groups that are left. */
bool group_find_peaks(struct session_group_set *set, struct session_error *error);

/* A group's largest bytes, and the number of its blocks at the first moment that had them. */
struct group_own_peak {
    uint64_t bytes, count;
};
/* Finds them for all groups that were made; free() them. Returns false with `error` set. */
bool group_find_own_peaks(struct session_group_set *set, struct group_own_peak **peaks,
                          struct session_error *error);

/* Sums of one group over the blocks that were live at a moment, or did not live long. */
struct group_moments {
    uint64_t live_count, live_bytes, at_peak_count, at_peak_bytes, short_count, at_count, at_bytes;
    uint64_t lifetime_ns; /* UINT64_MAX: so much or more */
};
/* Finds them for all groups that were made, in one pass; free() them. `at_ns` is the moment asked
 * for. Returns false with `error` set. */
bool group_find_moments(struct session_group_set *set, uint64_t at_ns,
                        struct group_moments **moments, struct session_error *error);

/*
 * Finds the machine that had the program's peak: the one with most live bytes then, the first of
 * equals. 0 if there is only one machine. If a process is selected, the peak is its own.
 */
bool group_peak_machine(struct session *session, uint32_t *machine, struct session_error *error);
/* Returns the machine of a thread, from 1. */
uint32_t group_machine_of(const struct session *session, uint64_t thread);

/* Returns a measure that has been computed. */
uint64_t group_measure(const struct session_group_set *set, uint32_t group,
                       enum session_group_measure measure);

/* Returns true if a measure is an estimate. */
bool group_measure_estimated(const struct session_group_set *set,
                             enum session_group_measure measure);
/* Returns the variance of a group's estimate, -1 if it is not known. The details are known. */
double group_variance_of(const struct session_group_set *set, uint32_t group,
                         enum session_group_measure measure);

/* ---- order.c ---- */

/* Finds by_key. Returns false with `error` set. */
bool group_find_key_order(struct session_group_set *set, struct session_error *error);
/* Returns a value of a dimension's column that the rows of a group have. */
uint64_t group_value(const struct session_group_set *set, uint32_t group, size_t dimension);
/* Returns the key of a group, or null. */
struct session_group_key group_key(const struct session_group_set *set, uint32_t group,
                                   size_t part);
/* Writes the path of a fold's group, as session_group_key_text() does. */
size_t group_path_text(const struct session_group_set *set, uint32_t group, char *out, size_t size);

#endif
