/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/escapes.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/options/unrecorded.h"
#include "capture/os/program_image.h"
#include "capture/run/steer.h"
#include "capture/run/unrecorded_program.h"

/* How long after the start the first look comes, and after a look the next one, in seconds. */
#define FIRST_WAIT 0.25
#define LEAST_WAIT 0.5
/* A look may take this share of the time. */
#define COST_SHARE 50.0
#define WORDS_MAX 128u

struct process {
    pid_t id, parent;
    uint64_t started; /* tells apart two processes that have the same number one after another */
    bool ours;
    dev_t device; /* of the program that it ran in the last look */
    ino_t inode;  /* 0: none yet */
    bool judged;
};

struct list {
    struct process *items;
    size_t count, capacity;
};

struct run_escapes {
    pid_t first;
    double due;
    struct list now, before; /* all processes, in this look and in the last one, by number */
};

struct run_escapes *run_escapes_new(pid_t process)
{
    struct run_escapes *escapes = calloc(1, sizeof(*escapes));
    if (escapes) {
        escapes->first = process;
        escapes->due = run_steer_now() + FIRST_WAIT;
    }
    return escapes;
}

void run_escapes_free(struct run_escapes *escapes)
{
    if (escapes) {
        free(escapes->now.items);
        free(escapes->before.items);
    }
    free(escapes);
}

/* Reads a file of a process, cut to size - 1 bytes. Returns its length, 0 if it cannot be read. */
static size_t read_file(pid_t process, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)process, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? 0 : read(file, text, size - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = 0;
    return length > 0 ? (size_t)length : 0;
}

static int compare(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static struct process *find(const struct list *list, pid_t process)
{
    const struct process key = {.id = process};
    return list->count > 0 ? bsearch(&key, list->items, list->count, sizeof(*list->items), compare)
                           : NULL;
}

static bool add(struct list *list, struct process process)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 256;
        struct process *items = reallocarray(list->items, capacity, sizeof(*items));
        if (!items)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = process;
    return true;
}

/* Lists all processes that can be seen. */
static void read_processes(struct list *list)
{
    char text[512];
    struct dirent *entry;
    DIR *folder = opendir("/proc");
    list->count = 0;
    while (folder && (entry = readdir(folder))) {
        struct process process = {.id = (pid_t)strtol(entry->d_name, NULL, 10)};
        long parent;
        unsigned long long started;
        const char *behind = process.id > 0 && read_file(process.id, "stat", text, sizeof(text)) > 0
                                 ? strrchr(text, ')')
                                 : NULL;
        if (!behind || sscanf(behind + 1,
                              " %*c %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                              "%*s %*s %*s %llu",
                              &parent, &started) != 2)
            continue;
        process.parent = (pid_t)parent;
        process.started = started;
        if (!add(list, process))
            break;
    }
    if (folder)
        closedir(folder);
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(*list->items), compare);
}

/* Finds the processes of the run: those of the last look, and the children of all. */
static void find_ours(struct run_escapes *escapes)
{
    struct list *list = &escapes->now;
    for (size_t i = 0; i < list->count; i++) {
        struct process *process = &list->items[i];
        const struct process *known = find(&escapes->before, process->id);
        if (known && known->started == process->started) {
            process->ours = known->ours;
            process->device = known->device;
            process->inode = known->inode;
            process->judged = known->judged;
        }
        process->ours = process->ours || process->id == escapes->first;
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < list->count; i++) {
            struct process *process = &list->items[i];
            const struct process *parent = process->ours ? NULL : find(list, process->parent);
            if (parent && parent->ours)
                process->ours = more = true;
        }
    }
}

/* Returns true if a recorder is in the process, or that cannot be found out. A static program with
 * a recorder maps its trace. */
static bool is_recorded(pid_t process, const char *trace)
{
    char path[64], *line = NULL;
    size_t size = 0;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)process);
    FILE *maps = fopen(path, "re");
    bool found = !maps, any = false;
    while (!found && getline(&line, &size, maps) > 0) {
        any = true;
        found = strstr(line, "/libmprof") || strstr(line, trace);
    }
    free(line);
    if (maps)
        fclose(maps);
    return found || !any;
}

/* Returns true if the process has a trace that says why this program is not recorded. */
static bool is_noted(const struct process *process, const char *trace)
{
    char name[TRACE_NAME_SIZE], path[PATH_MAX];
    struct stat about;
    for (unsigned attempt = 0; trace_name_attempt(trace, process->id, attempt, true, name) &&
                               (attempt == 0 || access(name, F_OK) == 0);
         attempt++)
        if (unrecorded_program_read(name, path, sizeof(path), NULL) && stat(path, &about) == 0 &&
            about.st_dev == process->device && about.st_ino == process->inode)
            return true;
    return false;
}

static enum trace_unrecorded reason_of(const char *executable)
{
    static const enum trace_unrecorded reasons[] = {
        [PROGRAM_STATIC] = TRACE_UNRECORDED_STATIC,
        [PROGRAM_LINKED] = TRACE_UNRECORDED_ESCAPED,
        [PROGRAM_FOREIGN] = TRACE_UNRECORDED_FOREIGN,
        [PROGRAM_SANITIZED] = TRACE_UNRECORDED_SANITIZED,
        [PROGRAM_OTHER_LIBC] = TRACE_UNRECORDED_OTHER_LIBC,
        [PROGRAM_DYNAMIC] = TRACE_UNRECORDED_ESCAPED,
        [PROGRAM_CXX] = TRACE_UNRECORDED_ESCAPED,
    };
    const int file = open(executable, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return TRACE_UNRECORDED_ESCAPED;
    const enum trace_unrecorded reason = reasons[program_image_read(file)];
    close(file);
    return reason;
}

static void note(const struct run_escapes *escapes, const struct process *process,
                 const char *trace)
{
    char executable[64], path[PATH_MAX], text[2048], name[TRACE_NAME_SIZE];
    const char *words[WORDS_MAX + 1];
    size_t count = 0;
    snprintf(executable, sizeof(executable), "/proc/%d/exe", (int)process->id);
    const ssize_t length = readlink(executable, path, sizeof(path) - 1);
    if (length <= 0)
        return;
    path[length] = 0;
    const size_t size = read_file(process->id, "cmdline", text, sizeof(text));
    for (size_t at = 0; at < size && count < WORDS_MAX; at += strlen(text + at) + 1)
        words[count++] = text + at;
    words[count] = NULL;
    unrecorded_make(&(struct unrecorded){.base = trace,
                                         .first = process->id == escapes->first,
                                         .process = process->id,
                                         .parent = process->parent,
                                         .path = path,
                                         .words = words,
                                         .reason = reason_of(executable)},
                    name);
}

static void look_at(const struct run_escapes *escapes, struct process *process, const char *trace)
{
    char executable[64];
    struct stat about;
    snprintf(executable, sizeof(executable), "/proc/%d/exe", (int)process->id);
    if (stat(executable, &about) != 0)
        return;
    if (about.st_dev != process->device || about.st_ino != process->inode) {
        process->device = about.st_dev;
        process->inode = about.st_ino;
        process->judged = false;
    } else if (!process->judged) {
        process->judged = true;
        if (!is_recorded(process->id, trace) && !is_noted(process, trace))
            note(escapes, process, trace);
    }
}

int run_escapes_step(struct run_escapes *escapes, const char *trace)
{
    const double now = run_steer_now();
    if (now >= escapes->due) {
        const struct list before = escapes->before;
        escapes->before = escapes->now;
        escapes->now = before;
        read_processes(&escapes->now);
        find_ours(escapes);
        for (size_t i = 0; i < escapes->now.count; i++)
            if (escapes->now.items[i].ours)
                look_at(escapes, &escapes->now.items[i], trace);
        const double end = run_steer_now(), wait = (end - now) * COST_SHARE;
        escapes->due = end + (wait > LEAST_WAIT ? wait : LEAST_WAIT);
    }
    return (int)((escapes->due - run_steer_now()) * 1e3) + 1;
}
