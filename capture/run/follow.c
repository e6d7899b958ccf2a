/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/follow.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/os/clock.h"
#include "capture/run/client.h"
#include "capture/run/pack.h"
#include "capture/run/resident.h"
#include "capture/run/trace_watcher.h"
#include "cli/say.h"

/* Traces that are followed at a time, with two descriptors each. Further ones get no samples. */
#define TRACES_MAX 128u
/* How often to look for a trace that is missing or incomplete, and the interval in ms. */
#define ATTEMPTS_MAX 1000u
#define ATTEMPT_INTERVAL 2
/* A child that ends within this time gets no samples: they would double its trace. */
#define CHILD_DELAY 40
#define PACK_INTERVAL 20

struct followed {
    char *path;
    struct client client;
    bool open, sampled;
    unsigned attempts;
    uint64_t due, pack_due; /* ms */
    struct run_resident resident;
    struct run_pack *pack; /* NULL: the trace is not packed */
    struct run_steer steer;
    struct run_rotate rotate;
};

struct run_follow {
    const char *trace;
    struct run_follow_options options;
    struct run_kept kept;
    struct trace_watcher watcher;
    struct followed *traces[TRACES_MAX];
    size_t count;
};

static uint64_t now_ms(void)
{
    return clock_nanoseconds(CLOCK_MONOTONIC) / 1000000;
}

/* Lets go of the trace. */
static void followed_leave(struct followed *followed)
{
    if (!followed->open)
        return;
    run_steer_end(&followed->steer, &followed->client);
    run_rotate_end(&followed->rotate, &followed->client);
    run_resident_end(&followed->resident);
    run_pack_end(followed->pack);
    client_close(&followed->client);
    followed->open = false;
}

static void followed_close(struct followed *followed)
{
    followed_leave(followed);
    free(followed->path);
    free(followed);
}

void run_follow_free(struct run_follow *follow)
{
    if (!follow)
        return;
    for (size_t i = 0; i < follow->count; i++)
        followed_close(follow->traces[i]);
    trace_watcher_end(&follow->watcher);
    run_kept_free(&follow->kept);
    free(follow);
}

int run_follow_descriptor(const struct run_follow *follow)
{
    return follow->watcher.watch;
}

static void add_trace(void *context, const char *path, uint64_t since)
{
    struct run_follow *follow = context;
    for (size_t i = 0; i < follow->count; i++)
        if (strcmp(follow->traces[i]->path, path) == 0)
            return;
    if (follow->count == TRACES_MAX)
        return;
    struct followed *followed = calloc(1, sizeof(*followed));
    if (followed)
        followed->path = strdup(path);
    if (!followed || !followed->path) {
        say("mprof-run", "there is no memory to follow %s: it has no samples of its resident set",
            path);
        free(followed);
        return;
    }
    followed->due = since;
    if (!follow->options.steers && strcmp(path, follow->trace) != 0)
        followed->due += CHILD_DELAY;
    follow->traces[follow->count++] = followed;
}

struct run_follow *run_follow_new(const char *trace, const struct run_follow_options *options)
{
    struct run_follow *follow = calloc(1, sizeof(*follow));
    if (follow) {
        follow->trace = trace;
        follow->options = *options;
        follow->kept.most = options->rotate.keep;
        trace_watcher_begin(&follow->watcher, trace, options->compress || options->steers,
                            now_ms());
        add_trace(follow, trace, now_ms());
    }
    return follow;
}

/* Tries to open the trace. Returns false if another attempt is useless. */
static bool followed_open(struct followed *followed, const struct run_follow_options *options)
{
    if (client_open(&followed->client, followed->path) != CLIENT_GOOD)
        return ++followed->attempts < ATTEMPTS_MAX;
    if (!followed->client.writable || client_recorder(&followed->client) == CLIENT_GONE) {
        client_close(&followed->client);
        return false;
    }
    followed->open = true;
    followed->sampled = true;
    run_resident_begin(&followed->resident, &followed->client);
    run_rotate_begin(&followed->rotate, &options->rotate, run_steer_now());
    if (options->compress && (followed->client.header->flags & TRACE_FILE_PACKED))
        followed->pack = run_pack_begin(&followed->client);
    return true;
}

/* Has the trace rotated if it is time. Returns true if the next one is to be opened. */
static bool followed_rotate(struct followed *followed, struct run_follow *follow)
{
    if (followed->steer.asked ||
        !run_rotate_step(&followed->rotate, &follow->options.rotate, &followed->client,
                         followed->path, &follow->kept, run_steer_now()))
        return false;
    followed_leave(followed);
    followed->attempts = 0;
    followed->resident = (struct run_resident){0};
    followed->pack = NULL;
    return true;
}

/* Does one trace's share of the work. Returns false if nothing is left to do for it. */
static bool followed_step(struct followed *followed, struct run_follow *follow, uint64_t now)
{
    if (followed->open && followed_rotate(followed, follow))
        followed->due = now;
    if (!followed->open) {
        if (!followed_open(followed, &follow->options))
            return false;
        if (!followed->open) {
            followed->due = now + ATTEMPT_INTERVAL;
            return true;
        }
    }
    if (followed->sampled && now >= followed->due) {
        followed->sampled = run_resident_sample(&followed->resident, &followed->client);
        followed->due = now + (uint64_t)run_resident_interval(&followed->resident);
    }
    if (followed->pack && now >= followed->pack_due)
        followed->pack_due = run_pack_step(followed->pack) ? 0 : now + PACK_INTERVAL;
    return followed->sampled || ((followed->pack || follow->options.rotate.interval > 0) &&
                                 client_recorder(&followed->client) == CLIENT_GOOD);
}

static uint64_t followed_due(const struct followed *followed, const struct run_follow *follow)
{
    uint64_t due = UINT64_MAX;
    if (!followed->open || followed->sampled)
        due = followed->due;
    if (followed->open && followed->pack && followed->pack_due < due)
        due = followed->pack_due;
    if (followed->open && follow->options.rotate.interval > 0) {
        const uint64_t rotate_due = (uint64_t)(run_rotate_due(&followed->rotate) * 1e3) + 1;
        due = rotate_due < due ? rotate_due : due;
    }
    return due;
}

/* Tells one process what is wanted. The program itself is told elsewhere (watch.h). */
static void followed_steer(struct followed *followed, const struct run_follow *follow,
                           enum run_wanted wanted, double now)
{
    struct trace_file_header *header = followed->client.header;
    if (strcmp(followed->path, follow->trace) == 0 && wanted != RUN_WANTED_NOTHING)
        atomic_store((_Atomic uint32_t *)&header->run,
                     wanted == RUN_WANTED_STOP ? TRACE_RUN_OVER : TRACE_RUN_RECORD);
    if ((pid_t)header->pid != follow->options.program)
        run_steer_step(&followed->steer, &followed->client, wanted, now);
}

void run_follow_steer(struct run_follow *follow, enum run_wanted wanted)
{
    const double now = run_steer_now();
    for (size_t i = 0; i < follow->count; i++)
        if (follow->traces[i]->open)
            followed_steer(follow->traces[i], follow, wanted, now);
}

bool run_follow_records(const struct run_follow *follow)
{
    for (size_t i = 0; i < follow->count; i++)
        if (follow->traces[i]->open &&
            follow->traces[i]->client.header->paused != TRACE_PAUSED_FROM_START)
            return true;
    return false;
}

int run_follow_step(struct run_follow *follow)
{
    uint64_t now = now_ms(), next = UINT64_MAX;
    const int look = trace_watcher_step(&follow->watcher, now, add_trace, follow);
    for (size_t i = 0; i < follow->count;) {
        struct followed *followed = follow->traces[i];
        if (followed_due(followed, follow) <= now && !followed_step(followed, follow, now)) {
            if (strcmp(followed->path, follow->trace) != 0)
                run_kept_add(&follow->kept, followed->path);
            followed_close(followed);
            follow->traces[i] = follow->traces[--follow->count];
            continue;
        }
        if (followed_due(followed, follow) < next)
            next = followed_due(followed, follow);
        i++;
    }
    if (next == UINT64_MAX)
        return look;
    now = now_ms();
    const int wait = next > now ? (int)(next - now) : 0;
    return look >= 0 && look < wait ? look : wait;
}
