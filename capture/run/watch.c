/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/watch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool condition_bytes(const char *text, uint64_t *bytes)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    *bytes = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    end += shift != 0;
    if (*end != 0 || *bytes == 0 || *bytes > UINT64_MAX >> shift)
        return false;
    *bytes <<= shift;
    return true;
}

bool run_condition_parse(const char *text, struct run_condition *condition)
{
    *condition = (struct run_condition){0};
    if (strcmp(text, "signal") == 0)
        condition->kind = RUN_CONDITION_SIGNAL;
    else if (strncmp(text, "live>", 5) == 0 || strncmp(text, "allocs>", 7) == 0 ||
             strncmp(text, "mark:", 5) == 0 || strncmp(text, "call:", 5) == 0)
        condition->kind = RUN_CONDITION_INSIDE;
    else if (strcmp(text, "call") == 0)
        condition->kind = RUN_CONDITION_CALL;
    else if (strncmp(text, "file:", 5) == 0 && text[5]) {
        condition->kind = RUN_CONDITION_FILE;
        condition->path = text + 5;
    } else if (strncmp(text, "rss>", 4) == 0 && condition_bytes(text + 4, &condition->bytes))
        condition->kind = RUN_CONDITION_RSS;
    return condition->kind != RUN_CONDITION_NONE;
}

bool run_watch_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    return end != text && *end == 0 && *seconds > 0 && *seconds < 1e9;
}

bool run_watch_starts_late(const struct run_watch *watch)
{
    return watch->start_on.kind != RUN_CONDITION_NONE || watch->start_after > 0;
}

bool run_watch_takes_signal(const struct run_watch *watch)
{
    return watch->start_on.kind == RUN_CONDITION_SIGNAL ||
           watch->stop_on.kind == RUN_CONDITION_SIGNAL;
}

void run_watch_begin(struct run_watch *watch, pid_t process)
{
    watch->process = process;
    watch->began_at = run_steer_now();
    watch->client.descriptor = -1;
}

void run_watch_end(struct run_watch *watch)
{
    if (!watch->is_open)
        return;
    run_steer_end(&watch->steer, &watch->client);
    client_close(&watch->client);
    watch->is_open = false;
}

static bool condition_holds(struct run_watch *watch, const struct run_condition *condition,
                            uint64_t resident)
{
    switch (condition->kind) {
    case RUN_CONDITION_SIGNAL:
        if (watch->signals == watch->signals_used)
            return false;
        watch->signals_used++;
        return true;
    case RUN_CONDITION_FILE:
        return access(condition->path, F_OK) == 0;
    case RUN_CONDITION_RSS:
        return resident > condition->bytes;
    default:
        return false;
    }
}

/* Opens the process's present trace. It changes when the process executes a program. */
static bool open_trace(struct run_watch *watch)
{
    char path[PATH_MAX];
    if (watch->is_open && watch->client.header->state != TRACE_STATE_RECORDING)
        run_watch_end(watch);
    if (!watch->is_open)
        watch->is_open = client_find(watch->process, path) == CLIENT_GOOD &&
                         client_open(&watch->client, path) == CLIENT_GOOD;
    return watch->is_open;
}

static void decide(struct run_watch *watch, double now, uint64_t resident, bool recording)
{
    if (!watch->start)
        watch->start = (watch->start_after > 0 && now >= watch->began_at + watch->start_after) ||
                       condition_holds(watch, &watch->start_on, resident);
    if (watch->recorded_at == 0 &&
        (recording || (watch->is_open && watch->client.header->paused != TRACE_PAUSED_FROM_START)))
        watch->recorded_at = now;
    /* A file or a resident set that meets the condition before the start does not stop it. */
    if (!watch->stop && watch->recorded_at > 0)
        watch->stop = (watch->duration > 0 && now >= watch->recorded_at + watch->duration) ||
                      condition_holds(watch, &watch->stop_on, resident);
}

static bool is_seen_from_outside(const struct run_condition *condition)
{
    return condition->kind >= RUN_CONDITION_SIGNAL && condition->kind <= RUN_CONDITION_RSS;
}

bool run_watch_decides_start(const struct run_watch *watch)
{
    return watch->start_after > 0 || is_seen_from_outside(&watch->start_on);
}

/* Only events outside are looked for. --duration needs to know when recording began. */
bool run_watch_has_to_look(const struct run_watch *watch)
{
    return watch->duration > 0 || run_watch_decides_start(watch) ||
           is_seen_from_outside(&watch->stop_on);
}

enum run_wanted run_watch_wanted(const struct run_watch *watch)
{
    return watch->stop ? RUN_WANTED_STOP : watch->start ? RUN_WANTED_RECORD : RUN_WANTED_NOTHING;
}

int run_watch_step(struct run_watch *watch, unsigned signals, uint64_t resident, bool recording)
{
    const double now = run_steer_now();
    if (!run_watch_has_to_look(watch))
        return -1;
    watch->signals = signals;
    bool is_open = open_trace(watch);
    decide(watch, now, resident, recording);
    if (is_open)
        run_steer_step(&watch->steer, &watch->client, run_watch_wanted(watch), now);
    return RUN_STEER_INTERVAL;
}
