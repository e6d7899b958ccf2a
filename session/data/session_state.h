/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of an open session; private to the session library. Each part has its own file: names
 * (of ids), stacks (call sites and frames), columns (the allocations), processes, and in
 * other rooms: scan (passes over the allocations), estimate (of a sample) and live_list (blocks
 * live at a time, by address).
 */
#ifndef MPROF_SESSION_DATA_SESSION_STATE_H
#define MPROF_SESSION_DATA_SESSION_STATE_H

#include "session/data/column_store.h"
#include "session/data/database.h"
#include "session/data/names.h"
#include "session/data/processes.h"
#include "session/data/stacks.h"
#include "session/session.h"

struct code_facts;
struct estimate;
struct filter_names;
struct kept_selections;
struct live_list;
struct other_session;
struct recalled_set;
struct scan;
struct spare_memory;
struct user;

/* A timeline that is asked for. */
struct session_timeline {
    uint64_t from_ns, to_ns;
    size_t count; /* of slots; 0: there is none */
    enum session_color_by by;
};

struct session {
    struct database *database;
    struct column_store *columns;
    struct column_reader *reader; /* of the thread that asks */
    struct names names;
    struct stacks stacks;
    struct processes processes;
    uint64_t duration_ns, peak_ns, peak_bytes;
    struct estimate *estimate; /* NULL: not sampled */
    struct live_list *live;    /* the last list, or NULL */
    struct live_list *passing; /* the last one of a walk through time, or NULL */
    struct scan *scan;
    struct spare_memory *spare; /* of passes; NULL: there is none */
    struct session *sample;     /* the same with the rows of the sample; NULL: not open, or none */
    struct other_session *others;                          /* that filters compare with */
    enum { SUMS_UNKNOWN, SUMS_USABLE, SUMS_MISSING } sums; /* of ingest: summary_answers() */
    struct filter_names *graph_names;                      /* stored graphs, by name, or NULL */
    struct code_facts *facts;                              /* NULL: not asked for yet */
    struct session_timeline asked;                         /* the last one of the whole session */
    struct kept_selections *kept;                          /* the last selections, or NULL */
    struct recalled_set *recalled; /* what pipelines gave, the last one first; NULL: nothing yet */
    unsigned user_code_changes;    /* how often the settings of the user's own code changed */
    struct user *user; /* settings of the user's own code; NULL: the default ones, not used yet */
};

#endif
