/* SPDX-License-Identifier: BSD-2-Clause */
/* Stops one thread of a running process at a safe point, and lets it call functions there.
 *
 * A safe point is a place where a program may call dlopen: the thread holds no lock of the loader
 * or the allocator. It either waits in a system call that neither of them makes, or it has just
 * been called as malloc, calloc, realloc or free by somebody who is neither the C library, the
 * loader nor an allocator, or it executes code of the program. To see the calls, hardware
 * breakpoints lie on these functions. A thread that is found inside of the C library or the loader
 * gets one where it returns to the program: one that only creates threads or loads libraries calls
 * nothing else. Nothing in the process's code is written. The other threads go on all the time, so
 * that locks they hold are given back.
 *
 * Legal order: attach_threads_stop(); attach_threads_call() any number of times;
 * attach_threads_go(). All by one thread of one process, which the kernel takes for the tracer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "capture/run/attach_target.h"

#define ATTACH_XSTATE_MAX 16384u

/* The thread that is held. */
struct attach_thread {
    const struct attach_target *target;
    pid_t thread;
    struct user_regs_struct registers; /* as they were */
    uint8_t xstate[ATTACH_XSTATE_MAX]; /* the registers of vectors and floating point */
    size_t xstate_size;
    uint64_t signals;     /* its signal mask */
    uint64_t errno_place; /* 0: not known yet */
    int error;            /* its errno */
    uint64_t top;         /* the stack below is free; texts are put there */
    bool ended;           /* the process has ended */
};

/* Stops a thread at a safe point within `seconds`. The breakpoints lie in turn on the functions of
 * the recorder, if it is there, and of each allocator. False: `why` says why, and all threads go on
 * as before. */
bool attach_threads_stop(struct attach_thread *held, const struct attach_target *target,
                         double seconds, char *why, size_t size);

/* Calls a function of the process with up to three arguments, with most signals blocked. False if
 * it did not return: the process has ended, a signal of an error came, or it waits for a lock that
 * no thread of the process can give back. */
bool attach_threads_call(struct attach_thread *held, uint64_t function, const uint64_t arguments[3],
                         uint64_t *result);

/* Puts a text on the thread's stack, where it stays until attach_threads_go(). Returns its address
 * in the process, 0 if there is no room. */
uint64_t attach_threads_put(struct attach_thread *held, const char *text);

/* Gives the thread back as it was. */
void attach_threads_go(struct attach_thread *held);
