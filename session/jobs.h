/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks questions about a session without waiting for the answers.
 *
 * session_jobs_start() gives the session to a thread, the engine. From now on only the engine calls
 * the functions of session.h that read allocations; session_jobs_stop() takes the session back.
 * Until then any thread may call only these functions on the session: the names by id, meta,
 * counts, the lists of threads, marks, RSS samples and processes (not while a SESSION_ASK_PROCESS
 * runs), session_filter_check(), and on a selection: selection_count(), _chosen_from(),
 * _allocations(), _bytes(), _live_bytes(), _live_count(), _color_by(), _contains(),
 * selection_share() and selection_free().
 *
 * The life of a question:
 * 1. session_job_ask() copies the question into a job and returns at once. The state is WAITING.
 * Each kind and place has one question: a newer one cancels the older.
 * 2. The engine takes the oldest waiting job: RUNNING. session_job_poll() tells how far it is.
 *    Some jobs first have an estimate; session_job_answer() then returns that.
 * 3. The job ends: DONE (session_job_answer() returns the exact answer), FAILED
 *    (session_job_error() says why), or CANCELLED: by session_job_cancel(), or by a newer question.
 *    A cancelled job gives up the machine within 10 ms. Its state changes at once.
 * 4. session_job_free() ends it, in any state. The answer belongs to the job, and so do the arrays
 *    in it: keep the job as long as the answer is shown. selection_share() keeps a selection
 * longer.
 *
 * Only one thread may call the functions below. */
#pragma once

#include "session/session.h"

enum session_question_kind {
    SESSION_ASK_NEWER,     /* session_has_newer(), and session_open() if there is one: this one then
                            * releases its state, so that the log of the file can begin again */
    SESSION_ASK_PROCESS,   /* session_select_process(); selections of before stay */
    SESSION_ASK_SELECTION, /* selection_new(); has an estimate */
    SESSION_ASK_CALL,      /* any functions of session.h, by a function of the caller */
};

/* Answers a SESSION_ASK_CALL. The engine calls it with the data of the question. It may call every
 * function of session.h on this session and selection. Returns false with `error` set. */
typedef bool session_call(struct session *session, struct selection *selection, void *data,
                          struct session_error *error);

/* Fields that a kind does not name are not read. */
struct session_question {
    enum session_question_kind kind;
    unsigned place;   /* among the askers of the same kind: they do not cancel each other */
    uint32_t process; /* PROCESS: its id, 0: all together */
    const char *text; /* SELECTION: the filter; copied */
    struct selection *selection; /* CALL: passed on; NULL, or the job holds a share of it */
    session_call *call;          /* CALL */
    void *data;                  /* CALL: the job's from now on */
    void (*release)(void *data); /* CALL: frees the data, on any thread */
};

/* The numbers of a selection, as its functions give them. */
struct session_totals {
    uint64_t count, chosen_from, allocations, bytes, live_bytes, live_count;
};

/* The answer of a CALL is in its data. */
struct session_answer {
    enum session_question_kind kind;
    bool estimate;               /* from a sample of the rows: show it as one */
    struct session *newer;       /* NEWER: NULL if there is none; see session_job_take_newer() */
    struct selection *selection; /* SELECTION: NULL in an estimate */
    struct session_totals totals;
    /* The error of an estimate: two times in three the exact number is nearer than this. */
    struct session_totals standard_errors;
};

enum session_job_state {
    SESSION_JOB_WAITING,
    SESSION_JOB_RUNNING,
    SESSION_JOB_DONE,
    SESSION_JOB_FAILED,
    SESSION_JOB_CANCELLED,
};

struct session_jobs;
struct session_job;

/* Starts the engine. Returns NULL with `error` set. */
struct session_jobs *session_jobs_start(struct session *session, struct session_error *error);
/* Cancels all jobs, frees those that are left and waits for the engine's end. Call it before
 * session_close(). NULL is ignored. */
void session_jobs_stop(struct session_jobs *jobs);

/* Asks. Returns NULL with `error` set if memory is exhausted; the data of a CALL is freed then. */
struct session_job *session_job_ask(struct session_jobs *jobs,
                                    const struct session_question *question,
                                    struct session_error *error);

/* The progress of a running job: the chunks of its present pass over the allocations. A job may
 * need several passes. */
struct session_progress {
    uint32_t done, total;
};
/* Returns the state. `progress` may be NULL. */
enum session_job_state session_job_poll(struct session_job *job, struct session_progress *progress);
/* Waits until the job has ended, at most `timeout_ms` (-1: without end). Returns the state. */
enum session_job_state session_job_wait(struct session_job *job, int timeout_ms);

/* Returns a descriptor, the same for all engines of the process. It becomes readable when a job
 * gets an estimate or an answer, or fails. Read 8 bytes then, and look at the jobs. Returns -1 if
 * the system gives none. */
int session_jobs_descriptor(void);

/* Returns the exact answer of a job that is DONE; of a running one its estimate, if it has one;
 * otherwise NULL. An estimate stays valid beside the exact answer. */
const struct session_answer *session_job_answer(struct session_job *job);
/* Returns the error of a job that has FAILED, otherwise NULL. */
const struct session_error *session_job_error(struct session_job *job);
/* Gives away the session that a SESSION_ASK_NEWER opened: the caller closes it. */
struct session *session_job_take_newer(struct session_job *job);

/* Tells a SESSION_ASK_CALL, on the engine's thread, whether anybody still wants its answer. Returns
 * false with `error` set otherwise. Calls that compute for long look at it every few ms. */
bool session_job_goes_on(const struct session *session, struct session_error *error);
void session_job_cancel(struct session_job *job);
/* NULL is ignored. */
void session_job_free(struct session_job *job);
