/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a process that this one traces: seizes them, also new ones, and
 * waits for their stops. attach_threads.c and references.c use it.
 *
 * Legal order: set `process` and all else to zero; seized_add_new() any number of times, until it
 * returns 0; seized_free(). All by one thread, which the kernel takes for the tracer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct seized {
    pid_t process;
    pid_t *threads;
    size_t count, capacity;
};

/* Seizes the threads that are not in the list yet. Returns how many, or -1 with errno. */
int seized_add_new(struct seized *seized);
bool seized_has(const struct seized *seized, pid_t thread);
void seized_remove(struct seized *seized, pid_t thread);
void seized_free(struct seized *seized);

/* Returns true if a thread that cannot be traced has ended: the first one may end before others. */
bool seized_has_ended(pid_t process, pid_t thread);

enum seized_waited { SEIZED_STOPPED, SEIZED_ENDED, SEIZED_LONG };

#define SEIZED_QUICK_ROUNDS 100u  /* of a wait that seldom lasts, before it sleeps between looks */
#define SEIZED_LONG_ROUNDS 10000u /* after which a wait is a long one, of a second or more */

/* Waits for one thread, at most so many rounds; `status` is as waitpid() gives it. `keep_end`: its
 * end stays to be waited for, by somebody who started it as a child. */
enum seized_waited seized_wait(pid_t thread, int *status, unsigned rounds, bool keep_end);

/* Writes into `why` (`size` bytes) why the process cannot be traced, by the error of
 * seized_add_new(). */
void seized_explain(pid_t process, int error, char *why, size_t size);
