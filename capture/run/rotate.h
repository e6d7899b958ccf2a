/* SPDX-License-Identifier: BSD-2-Clause */
/* Has the recorders of a run begin new traces from time to time, and removes the oldest of those
 * that are complete.
 *
 * Each trace has a struct run_rotate, all zero at first: run_rotate_begin(), then run_rotate_step()
 * when it is due, run_rotate_end(). All share the struct run_kept of their run. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/run/client.h"

struct run_kept_trace {
    char *path;
    dev_t device;
    ino_t inode;
};

/* The complete traces of a run, the oldest first. All zero but `most` at first. */
struct run_kept {
    size_t most; /* that are kept; 0: all */
    struct run_kept_trace *traces;
    size_t count, capacity;
};

/* Adds a complete trace and removes the oldest if there are too many. Removes only files that are
 * still what was added. */
void run_kept_add(struct run_kept *kept, const char *path);
void run_kept_free(struct run_kept *kept);

struct run_rotate_options {
    double interval; /* seconds between two traces; 0: there is one */
    uint64_t size;   /* bytes of a trace from which the next one begins early; 0: none */
    size_t keep;     /* complete traces that are kept; 0: all */
};

struct run_rotate {
    bool asked;
    double due, asked_at; /* monotonic seconds */
};

void run_rotate_begin(struct run_rotate *rotate, const struct run_rotate_options *options,
                      double now);
/* Asks for the next trace if it is time, and looks for the answer. Returns true if the trace is
 * complete: it has gone to `kept` under its new name, and `path` is the next one, to be opened
 * again. */
bool run_rotate_step(struct run_rotate *rotate, const struct run_rotate_options *options,
                     struct client *client, const char *path, struct run_kept *kept, double now);
/* Returns when the next step is due, in monotonic seconds. */
double run_rotate_due(const struct run_rotate *rotate);
/* Withdraws the request. */
void run_rotate_end(struct run_rotate *rotate, struct client *client);
