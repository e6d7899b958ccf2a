/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/base/stage.h"

#include <pthread.h>
#include <stdlib.h>

#include "ingest/base/array.h"
#include "schemas/thread_start.h"

struct stage {
    size_t size;
    stage_work *work;
    void *context;
    pthread_t thread;
    bool runs;
    /* Shared by both threads, under `mutex`. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    void *all[STAGE_BATCHES], *empty[STAGE_BATCHES], *full[STAGE_BATCHES]; /* full[0]: the oldest */
    size_t made, empty_count, full_count;
    bool no_more, failed;
};

struct stage *stage_new(size_t size, stage_work *work, void *context)
{
    struct stage *stage = calloc(1, sizeof(*stage));
    if (!stage)
        return NULL;
    stage->size = size;
    stage->work = work;
    stage->context = context;
    pthread_mutex_init(&stage->mutex, NULL);
    pthread_cond_init(&stage->changed, NULL);
    hash_seed(); /* it is the same for both threads */
    return stage;
}

/* Works on full batches until there are no more. Needs the mutex. */
static void work_on_all(struct stage *stage)
{
    while (stage->full_count != 0) {
        void *batch = stage->full[0];
        bool good = !stage->failed;
        pthread_mutex_unlock(&stage->mutex);
        good = good && stage->work(stage->context, batch);
        pthread_mutex_lock(&stage->mutex);
        stage->failed = !good;
        stage->full_count--;
        for (size_t i = 0; i < stage->full_count; i++)
            stage->full[i] = stage->full[i + 1];
        stage->empty[stage->empty_count++] = batch;
        pthread_cond_signal(&stage->changed);
    }
}

static void *run(void *context)
{
    struct stage *stage = context;
    pthread_mutex_lock(&stage->mutex);
    while (!stage->no_more) {
        work_on_all(stage);
        if (!stage->no_more)
            pthread_cond_wait(&stage->changed, &stage->mutex);
    }
    work_on_all(stage);
    pthread_mutex_unlock(&stage->mutex);
    return NULL;
}

void *stage_exchange(struct stage *stage, void *full)
{
    void *batch = NULL;
    pthread_mutex_lock(&stage->mutex);
    if (full) {
        stage->full[stage->full_count++] = full;
        pthread_cond_signal(&stage->changed);
        stage->runs = stage->runs || thread_start(&stage->thread, run, stage) == 0;
        if (!stage->runs)
            work_on_all(stage);
    }
    if (stage->empty_count == 0 && stage->made < STAGE_BATCHES && (batch = calloc(1, stage->size)))
        stage->all[stage->made++] = batch;
    while (!batch && stage->empty_count == 0 && stage->full_count != 0)
        pthread_cond_wait(&stage->changed, &stage->mutex);
    if (!batch && stage->empty_count != 0)
        batch = stage->empty[--stage->empty_count];
    if (stage->failed && batch) {
        stage->empty[stage->empty_count++] = batch;
        batch = NULL;
    }
    pthread_mutex_unlock(&stage->mutex);
    return batch;
}

bool stage_settle(struct stage *stage)
{
    pthread_mutex_lock(&stage->mutex);
    while (stage->full_count != 0)
        pthread_cond_wait(&stage->changed, &stage->mutex);
    const bool good = !stage->failed;
    pthread_mutex_unlock(&stage->mutex);
    return good;
}

bool stage_work_now(struct stage *stage, void *batch)
{
    return stage_settle(stage) && stage->work(stage->context, batch);
}

void stage_free(struct stage *stage)
{
    if (!stage)
        return;
    pthread_mutex_lock(&stage->mutex);
    stage->no_more = true;
    pthread_cond_signal(&stage->changed);
    pthread_mutex_unlock(&stage->mutex);
    if (stage->runs)
        pthread_join(stage->thread, NULL);
    for (size_t i = 0; i < stage->made; i++)
        free(stage->all[i]);
    pthread_cond_destroy(&stage->changed);
    pthread_mutex_destroy(&stage->mutex);
    free(stage);
}
