/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a set of groups; private to session/table.
 *
 * A set finds its sums, order, values and peaks when somebody first asks for them, and each of
 * these needs the groups that the join has made. So its files call each other in a circle. */
#pragma once

#include "session/store/scan.h"
#include "session/table/code_map.h"
#include "session/table/group_keys.h"
#include "session/table/group_set.h"
#include "session/table/sums.h"

/* Sums of one group that every set has. */
struct group_sum {
    uint64_t allocations, bytes;
};

/* A node of the call tree of a fold: the last function of a path. */
struct group_node {
    uint32_t parent, function;
    uint32_t child; /* the last one that was looked for, 0: none */
};

/* The words of a part of the sums of group 0; the next group's are `width` words behind. */
struct group_words {
    uint64_t *words; /* NULL: not known yet */
    size_t width;
};

struct session_group_set {
    struct session *session;
    struct row_set rows; /* of all groups that were made */
    struct filter_colors colors;
    struct group_keys keys;
    size_t made;
    uint64_t allocations;    /* of all of them */
    uint32_t *cell_of_group; /* if the keys have cells; then also: */
    uint32_t *group_of_cell; /* CODE_NONE: no row */
    struct code_map codes;   /* otherwise: the group's number is that of its code */
    struct group_sum *sums;  /* by group */
    struct group_words part[SUMS_PARTS];
    uint64_t *records[SUMS_PARTS]; /* that they lie in, for free() */
    uint64_t *peaks;               /* of the groups that were left when it was made, 0 for others */
    uint32_t *by_key;              /* groups in the order of their keys */
    uint32_t *order;               /* the groups that are left, in the present order */
    size_t count;                  /* of these */
    uint8_t *color; /* by group: number of the color step, 0: none. NULL: no group has one */
    struct group_node *nodes; /* of a fold: a cell is a node; the first is the root */
    size_t node_count;        /* 0: no fold */
};

/* ---- join.c ---- */

/* Makes a set without groups that owns the rows. NULL with `error` set. */
struct session_group_set *group_set_new(struct session *session, struct row_set *rows,
                                        const struct filter_colors *colors,
                                        struct session_error *error);
/* Finds the groups of all rows and their sums, also those that `also` asks for, if it is not NULL.
 * Returns false with `error` set. */
bool group_set_sum(struct session_group_set *set, const struct sums_query *also,
                   struct session_error *error);
/* Makes groups of the cells that have allocations, and takes over their sums, which begin with
 * SUMS_TOTAL. Returns false with `error` set. */
bool group_set_take_cells(struct session_group_set *set, struct sums *cells,
                          struct session_error *error);
/* Takes sums from those that ingest has made, by the cells or codes of the set. *known is false if
 * these do not answer; otherwise the caller calls sums_free(). Returns false with `error` set. */
bool group_set_read_sums(struct session_group_set *set, const struct sums_query *query,
                         struct sums *sums, bool *known, struct session_error *error);
/* Sums are read if there are at least so many rows for each stack. Tests make it small. */
extern size_t group_rows_per_stack;
/* Puts all groups into their first order: by bytes, the largest first. False with `error` set. */
bool group_set_begin(struct session_group_set *set, struct session_error *error);

/* Stores the groups of a batch's rows, one after another. All are in `rows` of the set. */
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

/* Finds those of these parts of the sums that are not known yet, for the groups that are left, in
 * one pass. Returns false with `error` set. */
bool group_find(struct session_group_set *set, unsigned parts, struct session_error *error);
/* Returns the words of a part of a group's sums, which are known. */
static inline const uint64_t *group_words(const struct session_group_set *set, uint32_t group,
                                          enum sums_part part)
{
    return set->part[part].words + group * set->part[part].width;
}

/* The parts that are found together. */
#define GROUP_DETAILS                                                                              \
    (SUMS_BIT(SUMS_LIVE) | SUMS_BIT(SUMS_AT_PEAK) | SUMS_BIT(SUMS_OBJECTS) |                       \
     SUMS_BIT(SUMS_SIZES) | SUMS_BIT(SUMS_LIFETIMES))
/* The points of SUMS_MOMENTS: the middles of ten equal parts of the run. A program that frees all
 * at its exit has not fallen yet at the last of these. */
#define GROUP_POINTS 10u

/* ---- peaks.c ---- */

/* Finds the peaks of the groups that are left. */
bool group_find_peaks(struct session_group_set *set, struct session_error *error);

/* Finds the peaks (peaks.h) of all groups, for free(). Returns false with `error` set. */
struct peak;
bool group_find_own_peaks(struct session_group_set *set, struct peak **peaks,
                          struct session_error *error);

/* ---- sums.c ---- */

/* Finds the machine that had the program's peak: the one with most live bytes then, the first of
 * equals. 0 if there is only one machine. If a process is selected, the peak is its own. */
bool group_peak_machine(struct session *session, uint32_t *machine, struct session_error *error);
/* Returns the machine of a thread, from 1. */
uint32_t group_machine_of(const struct session *session, uint64_t thread);

/* ---- groups.c ---- */

/* Returns the parts of the sums that these measures (1u << measure) need, if a join finds them. */
unsigned group_parts(unsigned measures);

/* Returns a measure that has been computed. */
uint64_t group_measure(const struct session_group_set *set, uint32_t group,
                       enum session_group_measure measure);

/* Returns true if a measure is an estimate. */
bool group_measure_estimated(const struct session_group_set *set,
                             enum session_group_measure measure);

/* ---- order.c ---- */

/* Returns a value of a dimension's column that the rows of a group have. */
uint64_t group_value(const struct session_group_set *set, uint32_t group, size_t dimension);
/* Returns the key of a group, or null. */
struct session_group_key group_key(const struct session_group_set *set, uint32_t group,
                                   size_t part);
/* Writes the path of a fold's group, as session_group_key_text() does. */
size_t group_path_text(const struct session_group_set *set, uint32_t group, char *out, size_t size);
