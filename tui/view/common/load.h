/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the data of a view in the background (session/jobs.h).
 *
 * A view has a struct load for each kind of data that it shows. It says at each update which data
 * it wants: load_get() returns them as soon as they are there. Until then the view shows that it
 * has none. A newer request cancels an older one of the same load. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/jobs.h"

/* The data begin with the request, which says what they are about. load_get() compares requests
 * byte by byte: give them no padding. */
struct load_kind {
    size_t request_size, size; /* bytes of the request; of the data with the request */
    /* Computes the data from the request, on the engine's thread. Before the
     * call the data after the request are zero. Returns false with `error` set; the view may then
     * show the data as they are. */
    session_call *run;
    void (*clear)(void *data); /* frees what run() has allocated; NULL: nothing */
    size_t rows;               /* the place of a pointer in the data that is free()d; 0: none */
};

#define LOAD_KIND(data, run, clear)                                                                \
    {                                                                                              \
        sizeof(((struct data *)0)->request), sizeof(struct data), run, clear, 0                    \
    }
/* For data of which run() has allocated `rows` alone. */
#define LOAD_ROWS(data, run, rows)                                                                 \
    {                                                                                              \
        sizeof(((struct data *)0)->request), sizeof(struct data), run, NULL,                       \
            offsetof(struct data, rows)                                                            \
    }

struct load {
    void *shown;  /* the last complete data, or NULL */
    void *coming; /* the data that `job` computes */
    struct session_job *job;
    bool failed;       /* `shown` is not whole: an error ended its question */
    unsigned place;    /* of the job's question; 0: not asked yet */
    struct load *next; /* of those that wait for an answer, or whose answer nobody has taken */
};

/* The engine and the loads that wait for it. */
struct loader {
    struct session_jobs *jobs;
    struct load *waiting;
    struct load *swept;         /* with an answer that loader_sweep() has found */
    unsigned places;            /* given out so far */
    int64_t deadline_ms;        /* load_get() waits so long for an answer; -1: without end */
    struct session_error error; /* of the last load that failed; its message is empty after use */
};

/* Returns the milliseconds of the clock of `deadline_ms`. */
int64_t loader_now_ms(void);

/* Returns the data of a request, NULL if they are not there at the deadline. `selection` may be
 * NULL if the kind does not use it. The data are valid until the next call with this load. */
void *load_get(struct loader *loader, struct load *load, const struct load_kind *kind,
               struct selection *selection, const void *request);
/* Waits for a job until the deadline. Returns its state. */
enum session_job_state loader_wait(const struct loader *loader, struct session_job *job);
/* Cancels what is coming for all loads. Call it before the jobs are stopped. */
void loader_cancel(struct loader *loader);
/* Cancels what is coming and frees the data. */
void load_clear(struct loader *loader, struct load *load);
/* Does so for several loads. */
#define LOADS_CLEAR(loader, ...)                                                                   \
    loads_clear(loader, (struct load *[]){__VA_ARGS__},                                            \
                sizeof((struct load *[]){__VA_ARGS__}) / sizeof(struct load *))
void loads_clear(struct loader *loader, struct load *loads[], size_t count);
/* Gives each of two loads of one kind the data of the other one, and cancels what is coming. */
void load_swap(struct loader *loader, struct load *a, struct load *b);
/* Keeps the data of a load, for the request of another one, until load_let_go(). Returns them. */
void *load_hold(void *data);
/* NULL is ignored. */
void load_let_go(void *data);
/* Waits no longer for answers that have come and that nobody has taken: those of a view that the
 * user has left. Its next load_get() takes them. Call it before browse_update() and the
 * current view's update(), which take theirs. */
void loader_sweep(struct loader *loader);
/* Returns how far the loads are that wait, in percent; -1: none waits. */
int loader_progress(const struct loader *loader);
