/* SPDX-License-Identifier: BSD-2-Clause */
/* Matches allocations of different sessions. They are equal if their type, their size and their
 * stack are: the type by its name, the stack by the names of its functions and modules. Addresses,
 * ids and times of two runs have nothing in common. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "session/session.h"
#include "session/store/row_set.h"

/* The most sessions of one filter. */
#define MATCH_SESSIONS_MAX 8

/* The most slots of the table of keys: a power of two, each slot of 16 bytes and 8 for each right
 * part. Larger sets of keys take more passes. A test lowers it. */
extern size_t match_slots_most;

/* The rows of one session. */
struct match_part {
    struct session *session;
    const struct row_set *set;
    struct row_set matched;
};

/* Stores in `matched` of each left part the rows that have a partner: an equal row of a right part
 * of another session, which is no other row's partner. If rows of one session are equal, the first
 * by id get partners, and so do parts that come first. Returns false with `error` set. In any case
 * the caller frees the sets. */
bool match_rows(struct match_part *left, size_t left_count, const struct match_part *right,
                size_t right_count, struct session_error *error);
