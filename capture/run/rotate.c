/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/rotate.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/say.h"
#include "schemas/array.h"

/* In seconds: how long a request stays before others may ask, the pause before it is repeated, and
 * the time between two looks. */
#define ASKED_TIME 0.3
#define REST_TIME 1.0
#define LOOK_TIME 0.005
/* Seconds between two messages that traces cannot be rotated. */
#define SAY_TIME 3600.0

static bool add_trace(struct run_kept *kept, const char *path, const struct stat *status)
{
    if (!ARRAY_GROW(kept->traces, kept->count, kept->capacity))
        return false;
    char *copy = strdup(path);
    if (copy)
        kept->traces[kept->count++] = (struct run_kept_trace){copy, status->st_dev, status->st_ino};
    return copy != NULL;
}

void run_kept_add(struct run_kept *kept, const char *path)
{
    struct stat status;
    if (kept->most == 0 || lstat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        !add_trace(kept, path, &status))
        return;
    while (kept->count > kept->most) {
        const struct run_kept_trace oldest = kept->traces[0];
        if (lstat(oldest.path, &status) == 0 && status.st_dev == oldest.device &&
            status.st_ino == oldest.inode)
            unlink(oldest.path);
        free(oldest.path);
        memmove(kept->traces, kept->traces + 1, --kept->count * sizeof(*kept->traces));
    }
}

void run_kept_free(struct run_kept *kept)
{
    for (size_t i = 0; i < kept->count; i++)
        free(kept->traces[i].path);
    free(kept->traces);
    *kept = (struct run_kept){0};
}

void run_rotate_begin(struct run_rotate *rotate, const struct run_rotate_options *options,
                      double now)
{
    *rotate = (struct run_rotate){.due = now + options->interval};
}

double run_rotate_due(const struct run_rotate *rotate)
{
    return rotate->due;
}

void run_rotate_end(struct run_rotate *rotate, struct client *client)
{
    if (rotate->asked)
        client_withdraw(client);
    rotate->asked = false;
}

/* Says, at most once an hour, that a recorder has refused. */
static void say_refused(const char *path, double now)
{
    static double said;
    if (said > 0 && now < said + SAY_TIME)
        return;
    said = now;
    say("mprof-run",
        "%s cannot be rotated: its file system cannot exchange names or is full, or the program "
        "forbids itself the calls; the trace goes on, up to --max-size",
        path);
}

static uint64_t used_bytes(const struct trace_file_header *header)
{
    const uint64_t slots = atomic_load((const _Atomic uint32_t *)&header->chunk_count);
    const uint64_t freed = atomic_load((const _Atomic uint64_t *)&header->freed_bytes);
    const uint64_t all = TRACE_FILE_HEADER_SIZE + slots * header->chunk_size;
    return all > freed ? all - freed : 0;
}

/* Returns true if somebody else has asked for the next trace, and got it. */
static bool header_is_left(const struct trace_file_header *header)
{
    return header->rotated != 0 && header->state != TRACE_STATE_RECORDING &&
           atomic_load((const _Atomic uint32_t *)&header->control) != TRACE_CONTROL_TAKEN;
}

/* Adds the complete trace to those that are kept, and waits for the next interval. Returns true. */
static bool go_on(struct run_rotate *rotate, const struct run_rotate_options *options,
                  const struct client *client, const char *path, struct run_kept *kept, double now)
{
    char name[PATH_MAX + 16];
    snprintf(name, sizeof(name), "%s.r%u", path, client->header->rotated);
    run_kept_add(kept, name);
    run_rotate_begin(rotate, options, now);
    return true;
}

/* Looks for the answer. Returns true if the trace is complete. */
static bool look(struct run_rotate *rotate, const struct run_rotate_options *options,
                 struct client *client, const char *path, struct run_kept *kept, double now)
{
    enum trace_answer answer = TRACE_ANSWER_NOT_DONE;
    const enum client_status status = client_look(client, &answer);
    rotate->due = now + LOOK_TIME;
    if (status == CLIENT_WAITING) {
        if (now > rotate->asked_at + ASKED_TIME && client_withdraw(client)) {
            rotate->asked = false;
            rotate->due = now + REST_TIME;
        }
        return false;
    }
    rotate->asked = false;
    rotate->due = now + options->interval;
    if (status != CLIENT_GOOD)
        return false;
    if (answer != TRACE_ANSWER_DONE) {
        say_refused(path, now);
        return false;
    }
    return go_on(rotate, options, client, path, kept, now);
}

bool run_rotate_step(struct run_rotate *rotate, const struct run_rotate_options *options,
                     struct client *client, const char *path, struct run_kept *kept, double now)
{
    if (!rotate->asked && header_is_left(client->header))
        return go_on(rotate, options, client, path, kept, now);
    if (options->interval <= 0)
        return false;
    if (!rotate->asked && options->size > 0 && now + REST_TIME < rotate->due &&
        used_bytes(client->header) > options->size)
        rotate->due = now;
    if (now < rotate->due)
        return false;
    if (rotate->asked)
        return look(rotate, options, client, path, kept, now);
    rotate->asked = client_ask(client, TRACE_REQUEST_ROTATE, NULL) == CLIENT_WAITING;
    rotate->asked_at = now;
    rotate->due = now + (rotate->asked ? LOOK_TIME : REST_TIME);
    return false;
}
