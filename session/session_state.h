/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of an open session; private to this folder. Each part has its own file: names (of ids),
 * stacks (call sites and frames), columns (the allocations), live_list (blocks live at a time, by
 * address).
 */
#ifndef MPROF_SESSION_SESSION_STATE_H
#define MPROF_SESSION_SESSION_STATE_H

#include "session/column_store.h"
#include "session/database.h"
#include "session/names.h"
#include "session/process.h"
#include "session/session.h"
#include "session/stacks.h"

struct estimate;
struct live_list;

struct session {
    struct database *database;
    struct column_store *columns;
    struct names names;
    struct stacks stacks;
    struct processes processes;
    uint64_t duration_ns, peak_ns, peak_bytes;
    struct estimate *estimate; /* NULL: not sampled */
    struct live_list *live;    /* the last list; NULL: none yet */
};

/* Computes the peak of a sampled session again, from the estimates. Does nothing for others. */
bool session_estimate_peak(struct session *session, struct session_error *error);

#endif
