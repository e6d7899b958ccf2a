/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads whose stack does not depend on the limit of the user's shell. */
#pragma once

#include <pthread.h>
#include <signal.h>

enum { THREAD_STACK_SIZE = 8 << 20 };

/* Starts a thread that takes no signals: they are for the program's first thread. Returns 0, or the
 * number of an error. */
static inline int thread_start(pthread_t *thread, void *(*work)(void *context), void *context)
{
    pthread_attr_t attributes;
    sigset_t all, kept;
    int status = pthread_attr_init(&attributes);
    if (status != 0)
        return status;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    status = pthread_attr_setstacksize(&attributes, THREAD_STACK_SIZE);
    if (status == 0)
        status = pthread_create(thread, &attributes, work, context);
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    pthread_attr_destroy(&attributes);
    return status;
}
