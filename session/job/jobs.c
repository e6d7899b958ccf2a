/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue of questions and the engine that answers them. All jobs of a session form a list, the
 * oldest first. One lock guards the list and the states; the engine computes without it. After a
 * job has published something (estimate, answer, error), it does not change that any more. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "schemas/thread_start.h"
#include "session/jobs.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/table/sample_estimate.h"

/* ---- answers ---------------------------------------------------------------------------- */

static bool find_newer(struct session *session, struct session_answer *answer,
                       struct session_error *error)
{
    if (!session_has_newer(session))
        return true;
    database_release(session->database);
    answer->newer = session_open(session_path(session), error);
    return answer->newer != NULL;
}

static bool select_process(struct session *session, uint32_t id, struct session_error *error)
{
    const struct session_process *processes;
    if (id > session_processes(session, &processes))
        return session_fail(error, 0, "no process has id %u", id);
    return session_select_process(session, id, error);
}

static bool find_selection(struct session *session, const char *text, struct session_answer *answer,
                           struct session_error *error)
{
    struct selection *selection = selection_new(session, text, error);
    if (!selection)
        return false;
    answer->selection = selection;
    answer->totals = (struct session_totals){.count = selection_count(selection),
                                             .chosen_from = selection_chosen_from(selection),
                                             .allocations = selection_allocations(selection),
                                             .bytes = selection_bytes(selection),
                                             .live_bytes = selection_live_bytes(selection),
                                             .live_count = selection_live_count(selection)};
    return true;
}

static bool find(struct session *session, const struct session_question *question,
                 struct session_answer *answer, struct session_error *error)
{
    switch (question->kind) {
    case SESSION_ASK_NEWER:
        return find_newer(session, answer, error);
    case SESSION_ASK_PROCESS:
        return select_process(session, question->process, error);
    case SESSION_ASK_SELECTION:
        return find_selection(session, question->text, answer, error);
    case SESSION_ASK_CALL:
        return question->call(session, question->selection, question->data, error);
    }
    return true;
}

static void answer_free(struct session_answer *answer)
{
    session_close(answer->newer);
    selection_free(answer->selection);
    *answer = (struct session_answer){.kind = answer->kind};
}

/* Computes the exact answer. Returns false with `error` set; the answer is then empty. The caller
 * answer_free()s it. */
static bool answer_find(struct session *session, const struct session_question *question,
                        struct session_answer *answer, struct session_error *error)
{
    *answer = (struct session_answer){.kind = question->kind};
    /* Some functions of session.h have no error to return: a cancel shows in the flag. */
    if (find(session, question, answer, error) && scan_go_on(session, error))
        return true;
    answer_free(answer);
    return false;
}

/* Finds an estimate of the answer, if there is one that is found much sooner. */
static bool answer_estimate(struct session *session, const struct session_question *question,
                            struct session_answer *answer)
{
    struct selection_estimate found;
    bool known;
    /* All allocations are counted as soon. */
    if (question->kind != SESSION_ASK_SELECTION || question->text[0] == '\0' ||
        strcmp(question->text, "all") == 0 ||
        !selection_estimate(session, question->text, &found, &known, NULL) || !known)
        return false;
    *answer = (struct session_answer){
        .kind = question->kind,
        .estimate = true,
        .totals = {.count = found.allocations,
                   .chosen_from = session_allocation_count(session),
                   .allocations = found.allocations,
                   .bytes = found.bytes,
                   .live_bytes = found.live_bytes,
                   .live_count = found.live_count},
        .standard_errors = {.count = (uint64_t)found.allocations_error,
                            .allocations = (uint64_t)found.allocations_error,
                            .bytes = (uint64_t)found.bytes_error,
                            .live_bytes = (uint64_t)found.live_bytes_error,
                            .live_count = (uint64_t)found.live_count_error}};
    return true;
}

struct session_job {
    struct session_jobs *jobs;
    struct session_job *older, *newer;
    struct session_question question;
    enum session_job_state state; /* CANCELLED while the engine has not noticed it yet */
    bool freed;                   /* by the caller, while the engine works for it */
    bool estimated;
    struct session_answer estimate, answer;
    struct session_error error;
};

struct session_jobs {
    struct session *session;
    pthread_t engine;
    pthread_mutex_t lock;
    pthread_cond_t asked, ended;
    struct session_job *oldest, *newest, *running;
    bool stopping;
};

static pthread_once_t descriptor_once = PTHREAD_ONCE_INIT;
static atomic_int descriptor = -1; /* nobody has asked for it */

static void open_descriptor(void)
{
    atomic_store(&descriptor, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}

int session_jobs_descriptor(void)
{
    pthread_once(&descriptor_once, open_descriptor);
    return atomic_load(&descriptor);
}

/* Wakes the callers that wait, with the lock held. */
static void wake(struct session_jobs *jobs)
{
    pthread_cond_broadcast(&jobs->ended);
}

/* Does so, and makes the descriptor readable: the engine has something new. */
static void tell(struct session_jobs *jobs)
{
    const int counter = atomic_load(&descriptor);
    wake(jobs);
    if (counter >= 0)
        eventfd_write(counter, 1);
}

static void unlink_job(struct session_job *job)
{
    struct session_jobs *jobs = job->jobs;
    *(job->older ? &job->older->newer : &jobs->oldest) = job->newer;
    *(job->newer ? &job->newer->older : &jobs->newest) = job->older;
}

static void destroy(struct session_job *job)
{
    unlink_job(job);
    answer_free(&job->estimate);
    answer_free(&job->answer);
    selection_free(job->question.selection);
    if (job->question.kind == SESSION_ASK_CALL)
        job->question.release(job->question.data);
    free((char *)(uintptr_t)job->question.text);
    free(job);
}

/* ---- the engine ---- */

static struct session_job *next_job(const struct session_jobs *jobs)
{
    struct session_job *job = jobs->oldest;
    while (job && job->state != SESSION_JOB_WAITING)
        job = job->newer;
    return job;
}

/* Publishes an estimate of the running job, without the lock at first. */
static void run_estimate(struct session_jobs *jobs, struct session_job *job)
{
    struct session_answer estimate;
    if (!answer_estimate(jobs->session, &job->question, &estimate))
        return;
    pthread_mutex_lock(&jobs->lock);
    job->estimate = estimate;
    job->estimated = true;
    tell(jobs);
    pthread_mutex_unlock(&jobs->lock);
}

/* Computes the answer of the running job, without the lock, then ends it. */
static void run(struct session_jobs *jobs, struct session_job *job)
{
    struct session_answer answer;
    struct session_error error = {.column = 0};
    job->state = SESSION_JOB_RUNNING;
    jobs->running = job;
    scan_cancel(jobs->session, false);
    pthread_mutex_unlock(&jobs->lock);
    run_estimate(jobs, job);
    const bool good = answer_find(jobs->session, &job->question, &answer, &error);
    pthread_mutex_lock(&jobs->lock);
    if (job->state == SESSION_JOB_CANCELLED) {
        /* It is still the running job, so a caller who frees it now leaves that to the engine. */
        pthread_mutex_unlock(&jobs->lock);
        answer_free(&answer);
        pthread_mutex_lock(&jobs->lock);
    } else {
        job->answer = answer;
        job->error = error;
        job->state = good ? SESSION_JOB_DONE : SESSION_JOB_FAILED;
        tell(jobs);
    }
    jobs->running = NULL;
    if (job->freed)
        destroy(job);
}

/* Waits for a question. After a second without, frees the memory kept for it and returns true. */
static bool wait_until_rest(struct session_jobs *jobs)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    if (pthread_cond_timedwait(&jobs->asked, &jobs->lock, &until) != ETIMEDOUT)
        return false;
    pthread_mutex_unlock(&jobs->lock);
    scan_rest(jobs->session);
    pthread_mutex_lock(&jobs->lock);
    return true;
}

static void *engine_main(void *argument)
{
    struct session_jobs *jobs = argument;
    bool rests = true;
    pthread_mutex_lock(&jobs->lock);
    while (!jobs->stopping) {
        struct session_job *job = next_job(jobs);
        if (job) {
            run(jobs, job);
            rests = false;
        } else if (rests) {
            pthread_cond_wait(&jobs->asked, &jobs->lock);
        } else if (wait_until_rest(jobs)) {
            rests = true;
        }
    }
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

struct session_jobs *session_jobs_start(struct session *session, struct session_error *error)
{
    struct session_jobs *jobs = calloc(1, sizeof(*jobs));
    pthread_condattr_t steady;
    if (!jobs)
        return session_fail_memory_null(error, "the questions of a session");
    jobs->session = session;
    pthread_mutex_init(&jobs->lock, NULL);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&jobs->asked, &steady);
    pthread_cond_init(&jobs->ended, &steady);
    pthread_condattr_destroy(&steady);
    const int status = thread_start(&jobs->engine, engine_main, jobs);
    if (status == 0)
        return jobs;
    session_fail(error, 0, "a session cannot be asked: %s", strerror(status));
    free(jobs);
    return NULL;
}

/* Cancels a job, with the lock held. */
static void cancel(struct session_job *job)
{
    struct session_jobs *jobs = job->jobs;
    if (job->state != SESSION_JOB_WAITING && job->state != SESSION_JOB_RUNNING)
        return;
    job->state = SESSION_JOB_CANCELLED;
    if (job == jobs->running)
        scan_cancel(jobs->session, true);
    wake(jobs);
}

void session_jobs_stop(struct session_jobs *jobs)
{
    if (!jobs)
        return;
    pthread_mutex_lock(&jobs->lock);
    jobs->stopping = true;
    for (struct session_job *job = jobs->oldest; job; job = job->newer)
        cancel(job);
    pthread_cond_signal(&jobs->asked);
    pthread_mutex_unlock(&jobs->lock);
    pthread_join(jobs->engine, NULL);
    scan_cancel(jobs->session, false);
    for (struct session_job *job = jobs->oldest, *newer; job; job = newer) {
        newer = job->newer;
        destroy(job);
    }
    pthread_cond_destroy(&jobs->asked);
    pthread_cond_destroy(&jobs->ended);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}

/* ---- jobs ---- */

static bool copy_question(struct session_question *copy, const struct session_question *question)
{
    *copy = *question;
    if (question->kind != SESSION_ASK_CALL)
        copy->selection = NULL;
    copy->text = NULL;
    if (question->kind == SESSION_ASK_SELECTION) {
        if (!(copy->text = strdup(question->text ? question->text : "")))
            return false;
    }
    if (copy->selection)
        selection_share(copy->selection);
    return true;
}

struct session_job *session_job_ask(struct session_jobs *jobs,
                                    const struct session_question *question,
                                    struct session_error *error)
{
    struct session_job *job = calloc(1, sizeof(*job));
    if (!job || !copy_question(&job->question, question)) {
        if (question->kind == SESSION_ASK_CALL)
            question->release(question->data);
        free(job);
        session_fail_memory(error, "a question");
        return NULL;
    }
    job->jobs = jobs;
    job->answer.kind = job->estimate.kind = question->kind;
    pthread_mutex_lock(&jobs->lock);
    for (struct session_job *older = jobs->oldest; older; older = older->newer)
        if (older->question.kind == question->kind && older->question.place == question->place)
            cancel(older);
    job->older = jobs->newest;
    *(job->older ? &job->older->newer : &jobs->oldest) = job;
    jobs->newest = job;
    pthread_cond_signal(&jobs->asked);
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

enum session_job_state session_job_poll(struct session_job *job, struct session_progress *progress)
{
    struct session_jobs *jobs = job->jobs;
    pthread_mutex_lock(&jobs->lock);
    const enum session_job_state state = job->state;
    if (progress) {
        *progress = (struct session_progress){0, 0};
        if (state == SESSION_JOB_RUNNING)
            scan_progress(jobs->session, &progress->done, &progress->total);
    }
    pthread_mutex_unlock(&jobs->lock);
    return state;
}

enum session_job_state session_job_wait(struct session_job *job, int timeout_ms)
{
    struct session_jobs *jobs = job->jobs;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int status = 0;
    pthread_mutex_lock(&jobs->lock);
    while (job->state <= SESSION_JOB_RUNNING && status == 0)
        status = timeout_ms < 0 ? pthread_cond_wait(&jobs->ended, &jobs->lock)
                                : pthread_cond_timedwait(&jobs->ended, &jobs->lock, &until);
    const enum session_job_state state = job->state;
    pthread_mutex_unlock(&jobs->lock);
    return state;
}

const struct session_answer *session_job_answer(struct session_job *job)
{
    const struct session_answer *answer = NULL;
    pthread_mutex_lock(&job->jobs->lock);
    if (job->state == SESSION_JOB_DONE)
        answer = &job->answer;
    else if (job->state == SESSION_JOB_RUNNING && job->estimated)
        answer = &job->estimate;
    pthread_mutex_unlock(&job->jobs->lock);
    return answer;
}

const struct session_error *session_job_error(struct session_job *job)
{
    pthread_mutex_lock(&job->jobs->lock);
    const struct session_error *error = job->state == SESSION_JOB_FAILED ? &job->error : NULL;
    pthread_mutex_unlock(&job->jobs->lock);
    return error;
}

struct session *session_job_take_newer(struct session_job *job)
{
    struct session *newer = NULL;
    pthread_mutex_lock(&job->jobs->lock);
    if (job->state == SESSION_JOB_DONE && job->question.kind == SESSION_ASK_NEWER) {
        newer = job->answer.newer;
        job->answer.newer = NULL;
    }
    pthread_mutex_unlock(&job->jobs->lock);
    return newer;
}

bool session_job_goes_on(const struct session *session, struct session_error *error)
{
    return scan_go_on(session, error);
}

void session_job_cancel(struct session_job *job)
{
    pthread_mutex_lock(&job->jobs->lock);
    cancel(job);
    pthread_mutex_unlock(&job->jobs->lock);
}

void session_job_free(struct session_job *job)
{
    if (!job)
        return;
    struct session_jobs *jobs = job->jobs;
    pthread_mutex_lock(&jobs->lock);
    cancel(job);
    job->freed = true;
    if (job != jobs->running)
        destroy(job);
    pthread_mutex_unlock(&jobs->lock);
}
