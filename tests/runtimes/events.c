/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by shapes.py. */
#include <mprof.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static mprof_arena arena;
static volatile int handled, busy_threads;

/* malloc itself must not be called in a handler. */
static void on_signal(int number)
{
    static char block[64];
    (void)number;
    mprof_arena_alloc(arena, block, 33, 1);
    mprof_arena_free(arena, block);
    handled++;
}

void begin(void)
{
    struct sigaction action;
    struct itimerval often = {{0, 500}, {0, 500}};
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    arena = mprof_arena_create("handler", 0);
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
}

int count(void)
{
    return handled;
}

void end(void)
{
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &never, NULL);
}

/* Allocates until the process ends; ctypes has given up the interpreter's lock. */
void busy(void)
{
    for (long i = 0;; i++) {
        free(malloc(108001));
        if (i == 20)
            __atomic_fetch_add(&busy_threads, 1, __ATOMIC_SEQ_CST);
        if (i > 20 && i % 50 == 0)
            usleep(50);
    }
}

void await_busy(int threads)
{
    while (__atomic_load_n(&busy_threads, __ATOMIC_SEQ_CST) < threads)
        usleep(1000);
}
