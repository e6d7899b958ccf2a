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

void trace_watcher_begin(struct trace_watcher *watcher, const char *trace, bool at_once,
                         uint64_t now)
{
    *watcher = (struct trace_watcher){.trace = trace,
                                      .started = time(NULL),
                                      .watch = -1,
                                      .may_watch = true,
                                      .changed = true,
                                      .watch_at = at_once ? now : now + WATCH_AFTER,
                                      .looked_at = now - LOOK_INTERVAL};
    trace_name_folder(trace, watcher->folder);
}

void trace_watcher_end(struct trace_watcher *watcher)
{
    tdestroy(watcher->known, free);
    if (watcher->watch >= 0)
        close(watcher->watch);
}

static int compare(const void *one, const void *other)
{
    return strcmp(one, other);
}

/* Returns true if the path is new. If memory is exhausted, the path will seem new again. */
static bool learn(struct trace_watcher *watcher, const char *path)
{
    if (tfind(path, &watcher->known, compare))
        return false;
    char *copy = strdup(path);
    if (copy && !tsearch(copy, &watcher->known, compare))
        free(copy);
    return true;
}

static bool path_of(const struct trace_watcher *watcher, const char *name, char path[PATH_MAX])
{
    return sibling_traces_is_name(name) &&
           snprintf(path, PATH_MAX, "%s/%s", watcher->folder, name) < PATH_MAX;
}

/* The parameters for each trace that a search finds. */
struct trace_search {
    struct trace_watcher *watcher;
    uint64_t since;
    trace_watcher_each *each;
    void *context;
};

static void found_one(void *context, const char *path)
{
    const struct trace_search *found = context;
    if (learn(found->watcher, path))
        found->each(found->context, path, found->since);
}

/* Reads the folder and returns the number of names in it. */
static size_t read_folder(struct trace_watcher *watcher, uint64_t since, trace_watcher_each *each,
                          void *context)
{
    struct trace_search found = {watcher, since, each, context};
    return sibling_traces_each(watcher->trace, watcher->started, found_one, &found);
}

/*
 * Returns true if it is time to read the folder. After a change it is read twice, because a name
 * that appears in the same moment as one that was found does not change the date again.
 */
static bool has_changed(struct trace_watcher *watcher)
{
    struct stat status;
    if (stat(watcher->folder, &status) != 0)
        return false;
    const bool before = watcher->changed;
    watcher->changed = status.st_mtim.tv_sec != watcher->modified.tv_sec ||
                       status.st_mtim.tv_nsec != watcher->modified.tv_nsec;
    watcher->modified = status.st_mtim;
    return before || watcher->changed;
}

static void begin_watch(struct trace_watcher *watcher)
{
    watcher->may_watch = false;
    watcher->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watcher->watch >= 0 && inotify_add_watch(watcher->watch, watcher->folder, IN_CREATE) < 0) {
        close(watcher->watch);
        watcher->watch = -1;
    }
}

static void read_notices(const struct trace_watcher *watcher, uint64_t now,
                         trace_watcher_each *each, void *context)
{
    char buffer[4096] __attribute__((aligned(8))), path[PATH_MAX];
    ssize_t length;
    while ((length = read(watcher->watch, buffer, sizeof(buffer))) > 0)
        for (const char *at = buffer; at < buffer + length;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            at += sizeof(*event) + event->len;
            if (event->len > 0 && path_of(watcher, event->name, path))
                each(context, path, now);
        }
}

int trace_watcher_step(struct trace_watcher *watcher, uint64_t now, trace_watcher_each *each,
                       void *context)
{
    if (watcher->watch >= 0) {
        read_notices(watcher, now, each, context);
        return -1;
    }
    const uint64_t since = watcher->looked_at;
    if (now - since < LOOK_INTERVAL)
        return (int)(since + LOOK_INTERVAL - now);
    watcher->looked_at = now;
    const bool many =
        has_changed(watcher) && read_folder(watcher, since, each, context) > NAMES_MAX;
    if (!watcher->may_watch || (!many && now < watcher->watch_at))
        return LOOK_INTERVAL;
    begin_watch(watcher);
    if (watcher->watch < 0)
        return LOOK_INTERVAL;
    /* Finds what came before the watch. */
    read_folder(watcher, since, each, context);
    return -1;
}
