/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/load.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Lies before the data: the job and the load both hold them. */
struct head {
    _Alignas(max_align_t) const struct load_kind *kind;
    atomic_int holders;
};

static struct head *head_of(void *data)
{
    return (struct head *)data - 1;
}

/* Releases data. The last holder frees them. */
static void drop(void *data)
{
    if (!data || atomic_fetch_sub(&head_of(data)->holders, 1) > 1)
        return;
    if (head_of(data)->kind->clear)
        head_of(data)->kind->clear(data);
    void *rows = NULL;
    if (head_of(data)->kind->rows)
        memcpy(&rows, (char *)data + head_of(data)->kind->rows, sizeof(rows));
    free(rows);
    free(head_of(data));
}

static void *make(const struct load_kind *kind, const void *request)
{
    struct head *head = calloc(1, sizeof(*head) + kind->size);
    if (!head)
        return NULL;
    head->kind = kind;
    head->holders = 2;
    memcpy(head + 1, request, kind->request_size);
    return head + 1;
}

int64_t loader_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

enum session_job_state loader_wait(const struct loader *loader, struct session_job *job)
{
    if (loader->deadline_ms < 0)
        return session_job_wait(job, -1);
    const int64_t left = loader->deadline_ms - loader_now_ms();
    return left > 0 ? session_job_wait(job, (int)left) : session_job_poll(job, NULL);
}

/* Takes a load from a list. Returns false if it is not there. */
static bool take_out(struct load **list, const struct load *load)
{
    for (struct load **at = list; *at; at = &(*at)->next) {
        if (*at == load) {
            *at = load->next;
            return true;
        }
    }
    return false;
}

/* Takes a load from the list of those that wait, or of those whose answer nobody has taken. */
static void stop_waiting(struct loader *loader, const struct load *load)
{
    if (!take_out(&loader->waiting, load))
        take_out(&loader->swept, load);
}

static void cancel(struct loader *loader, struct load *load)
{
    if (!load->job)
        return;
    stop_waiting(loader, load);
    session_job_free(load->job);
    drop(load->coming);
    load->job = NULL;
    load->coming = NULL;
}

/* Shows what was coming, complete or not. */
static void take(struct loader *loader, struct load *load)
{
    const struct session_error *error = session_job_error(load->job);
    if (error)
        loader->error = *error;
    stop_waiting(loader, load);
    drop(load->shown);
    load->shown = load->coming;
    load->failed = error != NULL;
    load->coming = NULL;
    session_job_free(load->job);
    load->job = NULL;
}

static bool is_of(void *data, const struct load_kind *kind, const void *request)
{
    return data && memcmp(data, request, kind->request_size) == 0;
}

static void ask(struct loader *loader, struct load *load, const struct load_kind *kind,
                struct selection *selection, const void *request)
{
    cancel(loader, load);
    if (load->place == 0)
        load->place = ++loader->places;
    load->coming = make(kind, request);
    if (!load->coming) {
        loader->error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
        return;
    }
    load->job = session_job_ask(loader->jobs,
                                &(struct session_question){.kind = SESSION_ASK_CALL,
                                                           .place = load->place,
                                                           .selection = selection,
                                                           .call = kind->run,
                                                           .data = load->coming,
                                                           .release = drop},
                                &loader->error);
    if (!load->job) {
        drop(load->coming); /* the question has dropped the job's share */
        load->coming = NULL;
        return;
    }
    load->next = loader->waiting;
    loader->waiting = load;
}

void *load_get(struct loader *loader, struct load *load, const struct load_kind *kind,
               struct selection *selection, const void *request)
{
    if (!is_of(load->shown, kind, request) && !is_of(load->coming, kind, request))
        ask(loader, load, kind, selection, request);
    if (load->job && is_of(load->coming, kind, request)) {
        enum session_job_state state = loader_wait(loader, load->job);
        if (state == SESSION_JOB_DONE || state == SESSION_JOB_FAILED)
            take(loader, load);
    }
    return is_of(load->shown, kind, request) ? load->shown : NULL;
}

void loader_cancel(struct loader *loader)
{
    while (loader->waiting)
        cancel(loader, loader->waiting);
    while (loader->swept)
        cancel(loader, loader->swept);
}

void loader_sweep(struct loader *loader)
{
    for (struct load *load = loader->waiting, *next; load; load = next) {
        next = load->next;
        if (session_job_poll(load->job, NULL) <= SESSION_JOB_RUNNING)
            continue;
        take_out(&loader->waiting, load);
        load->next = loader->swept;
        loader->swept = load;
    }
}

void load_clear(struct loader *loader, struct load *load)
{
    cancel(loader, load);
    drop(load->shown);
    load->shown = NULL;
}

void loads_clear(struct loader *loader, struct load *loads[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        load_clear(loader, loads[i]);
}

void load_swap(struct loader *loader, struct load *a, struct load *b)
{
    void *data = a->shown;
    cancel(loader, a);
    cancel(loader, b);
    a->shown = b->shown;
    b->shown = data;
    const bool failed = a->failed;
    a->failed = b->failed;
    b->failed = failed;
}

void *load_hold(void *data)
{
    atomic_fetch_add(&head_of(data)->holders, 1);
    return data;
}

void load_let_go(void *data)
{
    drop(data);
}

int loader_progress(const struct loader *loader)
{
    if (!loader->waiting)
        return -1;
    for (const struct load *load = loader->waiting; load; load = load->next) {
        struct session_progress progress;
        if (session_job_poll(load->job, &progress) == SESSION_JOB_RUNNING && progress.total > 0)
            return (int)((uint64_t)progress.done * 100 / progress.total);
    }
    return 0;
}
