/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of an open session; private to the session library. Each part has its own file: names
 * (of ids), stacks (call sites and frames), columns (the allocations), processes, and in
 * other rooms: scan (passes over the allocations), estimate (of a sample) and live_list (blocks
 * live at a time, by address). */
#pragma once

#include "session/session.h"
#include "session/store/column_store.h"
#include "session/store/database.h"
#include "session/store/names.h"
#include "session/store/processes.h"
#include "session/store/stacks.h"

struct code_facts;
struct estimate;
struct filter_names;
struct kept_selections;
struct live_list;
struct recalled_set;
struct residencies;
struct scan;
struct spare_memory;
struct user;

/* A session that filters compare with. It stays open as long as the session: results point into it.
 */
struct other_session {
    char *path;
    struct session *session;
    struct other_session *next;
};

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
    struct estimate *estimate;                    /* NULL: not sampled */
    struct live_list *live;                       /* the last list, or NULL */
    struct live_list *passing;                    /* the last one of a walk through time, or NULL */
    void (*forget_live)(struct session *session); /* frees both; NULL: there is none */
    struct scan *scan;
    struct spare_memory *spare; /* of passes; NULL: there is none */
    struct session *sample;     /* the same with the rows of the sample; NULL: not open, or none */
    struct other_session *others;                          /* that filters compare with */
    enum { SUMS_UNKNOWN, SUMS_USABLE, SUMS_MISSING } sums; /* of ingest: summary_answers() */
    struct filter_names *graph_names;                      /* saved filters, by name, or NULL */
    struct code_facts *facts;                              /* NULL: not asked for yet */
    struct residencies *residencies;                       /* the same */
    struct session_timeline asked;                         /* the last one of the whole session */
    /* Makes the pass that finds all that a screen will ask of a new selection. */
    bool (*expected)(struct selection *selection, struct session_error *error);
    struct session *(*open)(const char *path, struct session_error *error); /* session_open() */
    struct kept_selections *kept;  /* the last selections, or NULL */
    struct recalled_set *recalled; /* what pipelines gave, the last one first; NULL: nothing yet */
    unsigned user_code_changes;    /* how often the settings of the user's own code changed */
    struct user *user; /* settings of the user's own code; NULL: the default ones, not used yet */
};

/* Frees the facts about code that session/code_facts.h gives. NULL is allowed. */
void code_facts_free(struct code_facts *facts);

/* Frees the readings of session/residency.h. NULL is allowed. */
void residencies_free(struct residencies *residencies);
struct session_residency;
/* Stores those of a process (0: of all), as session_residencies() does. */
bool residencies_of(struct session *session, uint32_t process,
                    const struct session_residency **moments, size_t *count,
                    struct session_error *error);

/* Returns the allocation `id` from the views of all columns of its chunk. */
struct session_allocation session_allocation_of(const struct session *session,
                                                const struct column_view views[COLUMN_TOTAL],
                                                uint64_t id);

/* Returns a session that has only the columns of the sample's rows (schemas/columns.md), or NULL if
 * there are none. It stays until session_sample_close(). */
struct session *session_sample(struct session *session);
void session_sample_close(struct session *session);
