/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/trace_watcher.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/run/sibling_traces.h"

/* The folder is read every LOOK_INTERVAL ms, which must not be less than the step of the clock that
 * dates files. After WATCH_AFTER ms the kernel watches it. */
#define LOOK_INTERVAL 10u
#define WATCH_AFTER 5000u
/* A folder with more names than this is watched and not read again and again. */
#define NAMES_MAX 1000u

void run_beside_begin(struct run_beside *beside, const char *trace, bool at_once, uint64_t now)
{
    *beside = (struct run_beside){.trace = trace,
                                  .started = time(NULL),
                                  .watch = -1,
                                  .may_watch = true,
                                  .changed = true,
                                  .watch_at = at_once ? now : now + WATCH_AFTER,
                                  .looked_at = now - LOOK_INTERVAL};
    trace_name_folder(trace, beside->folder);
}

void run_beside_end(struct run_beside *beside)
{
    tdestroy(beside->known, free);
    if (beside->watch >= 0)
        close(beside->watch);
}

static int beside_compare(const void *one, const void *other)
{
    return strcmp(one, other);
}

/* Tells whether the path is new. If memory is exhausted, the path will seem new again. */
static bool beside_learn(struct run_beside *beside, const char *path)
{
    if (tfind(path, &beside->known, beside_compare))
        return false;
    char *copy = strdup(path);
    if (copy && !tsearch(copy, &beside->known, beside_compare))
        free(copy);
    return true;
}

static bool beside_path(const struct run_beside *beside, const char *name, char path[PATH_MAX])
{
    return run_traces_is_name(name) &&
           snprintf(path, PATH_MAX, "%s/%s", beside->folder, name) < PATH_MAX;
}

/* The parameters for each trace that a search finds. */
struct beside_search {
    struct run_beside *beside;
    uint64_t since;
    run_beside_each *each;
    void *context;
};

static void beside_found(void *context, const char *path)
{
    const struct beside_search *found = context;
    if (beside_learn(found->beside, path))
        found->each(found->context, path, found->since);
}

/* Reads the folder and returns the number of names in it. */
static size_t beside_read(struct run_beside *beside, uint64_t since, run_beside_each *each,
                          void *context)
{
    struct beside_search found = {beside, since, each, context};
    return run_traces_beside(beside->trace, beside->started, beside_found, &found);
}

/*
 * Tells whether to read the folder. After a change it is read twice, because a name that appears in
 * the same moment as one that was found does not change the date again.
 */
static bool beside_has_changed(struct run_beside *beside)
{
    struct stat status;
    if (stat(beside->folder, &status) != 0)
        return false;
    const bool before = beside->changed;
    beside->changed = status.st_mtim.tv_sec != beside->modified.tv_sec ||
                      status.st_mtim.tv_nsec != beside->modified.tv_nsec;
    beside->modified = status.st_mtim;
    return before || beside->changed;
}

static void beside_watch(struct run_beside *beside)
{
    beside->may_watch = false;
    beside->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (beside->watch >= 0 && inotify_add_watch(beside->watch, beside->folder, IN_CREATE) < 0) {
        close(beside->watch);
        beside->watch = -1;
    }
}

static void beside_read_notices(const struct run_beside *beside, uint64_t now,
                                run_beside_each *each, void *context)
{
    char buffer[4096] __attribute__((aligned(8))), path[PATH_MAX];
    ssize_t length;
    while ((length = read(beside->watch, buffer, sizeof(buffer))) > 0)
        for (const char *at = buffer; at < buffer + length;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            at += sizeof(*event) + event->len;
            if (event->len > 0 && beside_path(beside, event->name, path))
                each(context, path, now);
        }
}

int run_beside_step(struct run_beside *beside, uint64_t now, run_beside_each *each, void *context)
{
    if (beside->watch >= 0) {
        beside_read_notices(beside, now, each, context);
        return -1;
    }
    const uint64_t since = beside->looked_at;
    if (now - since < LOOK_INTERVAL)
        return (int)(since + LOOK_INTERVAL - now);
    beside->looked_at = now;
    const bool many =
        beside_has_changed(beside) && beside_read(beside, since, each, context) > NAMES_MAX;
    if (!beside->may_watch || (!many && now < beside->watch_at))
        return LOOK_INTERVAL;
    beside_watch(beside);
    if (beside->watch < 0)
        return LOOK_INTERVAL;
    /* Finds what came before the watch. */
    beside_read(beside, since, each, context);
    return -1;
}
