/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/escapes.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <search.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/clock.h"
#include "capture/os/program_image.h"
#include "capture/os/seccomp/seccomp.h"
#include "capture/os/trace_name.h"
#include "capture/run/client.h"
#include "capture/run/sibling_traces.h"
#include "cli/say.h"
#include "schemas/array.h"

/* ---- what the kernel tells ---------------------------------------------------------------- */

/* Each new process and thread inherits one event for each processor, which takes the kernel 2 us.
 * So the kernel does not tell on machines with more. */
#define PROCESSORS_MAX 16
/* The size of a ring, a power of two. Each processor has one. */
#define RING_BYTES (64u << 10)
/* How long a message waits, in ns: for older ones of other processors, and for the trace that the
 * parent of a process may write. */
#define HELD_NS 100000000u
/* A program that maps so many files with code besides its own has a loader that went on. */
#define OTHER_FILES 2u

struct ring {
    struct perf_event_mmap_page *page; /* the ring follows it; NULL: there is none */
    int descriptor;
};

/* One message. `path`: of a file with code that the process maps. */
struct message {
    uint64_t time, order;
    uint32_t kind; /* enum perf_event_type */
    pid_t process, parent;
    char *path;
};

/* A process, and the program that it executes. */
struct image {
    pid_t id, parent;
    uint64_t before, begun; /* when it began, and the one before it */
    char *path;             /* NULL: not known, or the parent's program */
    unsigned files;         /* others with code that it maps: the first is the loader */
    bool executed, recorded;
};

struct run_heard {
    struct ring rings[PROCESSORS_MAX];
    int waits; /* an epoll of all rings */
    struct message *messages;
    size_t count, capacity;
    uint64_t order, lost;
    void *images; /* trees of search.h: by number, */
    void *made;   /* and the names of the traces that were made here */
};

static struct run_heard *heard_begin(void)
{
    struct perf_event_attr wanted = {.size = sizeof(wanted),
                                     .type = PERF_TYPE_SOFTWARE,
                                     .config = PERF_COUNT_SW_DUMMY,
                                     .sample_type = PERF_SAMPLE_TIME,
                                     .sample_id_all = 1,
                                     .inherit = 1,
                                     .exclude_kernel = 1,
                                     .exclude_hv = 1,
                                     .task = 1,
                                     .comm = 1,
                                     .comm_exec = 1,
                                     .mmap = 1,
                                     .mmap2 = 1,
                                     .use_clockid = 1,
                                     .clockid = CLOCK_MONOTONIC,
                                     .watermark = 1,
                                     .wakeup_watermark = RING_BYTES / 4};
    const long processors = sysconf(_SC_NPROCESSORS_CONF);
    struct run_heard *heard = seccomp_is_on() || processors < 1 || processors > PROCESSORS_MAX
                                  ? NULL
                                  : calloc(1, sizeof(*heard));
    if (!heard)
        return NULL;
    heard->waits = epoll_create1(EPOLL_CLOEXEC);
    size_t rings = 0;
    for (int i = 0; heard->waits >= 0 && i < processors; i++) {
        struct epoll_event readable = {.events = EPOLLIN};
        const int event =
            (int)syscall(SYS_perf_event_open, &wanted, 0, i, -1, PERF_FLAG_FD_CLOEXEC);
        if (event < 0)
            continue; /* a processor that is switched off, or none is allowed */
        void *page =
            mmap(NULL, ARCH_PAGE_SIZE + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
        if (page == MAP_FAILED || epoll_ctl(heard->waits, EPOLL_CTL_ADD, event, &readable) != 0) {
            close(event);
            continue;
        }
        heard->rings[rings++] = (struct ring){page, event};
    }
    if (rings > 0)
        return heard;
    if (heard->waits >= 0)
        close(heard->waits);
    free(heard);
    return NULL;
}

/* Copies `size` bytes at a position of the ring. */
static void ring_copy(const struct ring *ring, uint64_t at, void *to, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)ring->page + ARCH_PAGE_SIZE;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)to)[i] = bytes[(at + i) & (RING_BYTES - 1)];
}

/* The kernel's messages, without the time, which ends each. */
union body {
    struct {
        uint32_t pid, tid;
    } comm;
    struct {
        uint32_t pid, ppid, tid, ptid;
    } task;
    struct {
        uint32_t pid, tid;
        uint8_t place[48];
        uint32_t protection, flags;
        char path[PATH_MAX];
    } map;
    struct {
        uint64_t id, lost;
    } lost;
};

static void take(struct run_heard *heard, const struct perf_event_header *header, union body *body,
                 uint64_t time)
{
    struct message message = {.kind = header->type, .time = time, .order = heard->order++};
    switch (header->type) {
    case PERF_RECORD_LOST:
        heard->lost += body->lost.lost;
        return;
    case PERF_RECORD_COMM:
        if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC))
            return;
        message.process = (pid_t)body->comm.pid;
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        if (header->type == PERF_RECORD_FORK ? body->task.pid == body->task.ppid
                                             : body->task.pid != body->task.tid)
            return; /* a thread */
        message.process = (pid_t)body->task.pid;
        message.parent = (pid_t)body->task.ppid;
        break;
    case PERF_RECORD_MMAP2:
        if (body->map.path[0] != '/' || body->map.path[1] == '/')
            return; /* no file */
        message.process = (pid_t)body->map.pid;
        message.path = strdup(body->map.path);
        break;
    default:
        return;
    }
    if ((message.kind != PERF_RECORD_MMAP2 || message.path) &&
        array_grow(&heard->messages, &heard->capacity, heard->count + 1, sizeof(message)))
        heard->messages[heard->count++] = message;
    else
        free(message.path), heard->lost++;
}

static void empty_ring(struct run_heard *heard, const struct ring *ring)
{
    const uint64_t end =
        atomic_load_explicit((_Atomic uint64_t *)&ring->page->data_head, memory_order_acquire);
    uint64_t at = ring->page->data_tail;
    while (at < end) {
        struct perf_event_header header;
        union body body;
        uint64_t time;
        ring_copy(ring, at, &header, sizeof(header));
        const size_t size = header.size - sizeof(header) - sizeof(time);
        if (header.size >= sizeof(header) + sizeof(time)) {
            memset(&body, 0, sizeof(body.map) - PATH_MAX + 2);
            ring_copy(ring, at + sizeof(header), &body, size < sizeof(body) ? size : sizeof(body));
            ring_copy(ring, at + sizeof(header) + size, &time, sizeof(time));
            body.map.path[PATH_MAX - 1] = 0;
            take(heard, &header, &body, time);
        }
        at += header.size;
    }
    atomic_store_explicit((_Atomic uint64_t *)&ring->page->data_tail, at, memory_order_release);
}

ARRAY_ORDER(compare_messages, struct message, ORDER(a->time, b->time) ?: ORDER(a->order, b->order))

ARRAY_ORDER(compare_images, struct image, ORDER(a->id, b->id))

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static struct image *find_image(struct run_heard *heard, pid_t process)
{
    const struct image key = {.id = process};
    struct image **found = tfind(&key, &heard->images, compare_images);
    return found ? *found : NULL;
}

static void forget(struct run_heard *heard, struct image *image)
{
    tdelete(image, &heard->images, compare_images);
    FREE_ALL(image->path, image);
}

static void add_image(struct run_heard *heard, pid_t process, pid_t parent, uint64_t time)
{
    struct image *old = find_image(heard, process);
    struct image *image = calloc(1, sizeof(*image));
    if (old)
        forget(heard, old);
    if (image) {
        *image = (struct image){.id = process, .parent = parent, .begun = time};
        if (!tsearch(image, &heard->images, compare_images))
            free(image);
    }
}

/* Remembers that the trace was made here. */
static void made(struct run_heard *heard, const char *name)
{
    char *copy = heard ? strdup(name) : NULL;
    if (copy && !tsearch(copy, &heard->made, compare_names))
        free(copy);
}

/* Returns true if a trace of `process` tells of the image's program: its own recorder made it, or
 * the process that executed it, which may have counted it only, or the other half of this file. */
static bool is_told(const struct run_heard *heard, const struct image *image, pid_t process,
                    const char *trace)
{
    char name[TRACE_NAME_SIZE];
    struct trace_program told;
    for (unsigned attempt = 0; trace_name_attempt(trace, process, attempt, true, name) &&
                               (attempt == 0 || access(name, F_OK) == 0);
         attempt++) {
        trace_program_read(name, &told);
        if (told.process != process)
            continue;
        if (told.unnamed > 0)
            return true;
        if (process == image->id &&
            (!told.unrecorded ? told.start_ns >= image->begun
                              : strcmp(told.path, image->path) == 0 ||
                                    (told.start_ns >= image->before &&
                                     !tfind(name, &heard->made, compare_names))))
            return true;
    }
    return false;
}

/* ---- looks at the processes --------------------------------------------------------------- */

/* A process counts if it runs the same program in two looks and maps neither the recorder nor a
 * trace. So programs that run for less than a second may be missed. */

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
    struct run_heard *heard; /* NULL: the kernel does not tell */
};

ARRAY_ORDER(compare, struct process, ORDER(a->id, b->id))

static struct process *find(const struct list *list, pid_t process)
{
    const struct process key = {.id = process};
    return list->count > 0 ? bsearch(&key, list->items, list->count, sizeof(*list->items), compare)
                           : NULL;
}

static bool add(struct list *list, struct process process)
{
    if (!ARRAY_GROW(list->items, list->count, list->capacity))
        return false;
    list->items[list->count++] = process;
    return true;
}

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
        const char *behind =
            process.id > 0 && process_read(process.id, "stat", text, sizeof(text)) > 0
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
    char name[TRACE_NAME_SIZE];
    struct trace_program told;
    struct stat about;
    for (unsigned attempt = 0; trace_name_attempt(trace, process->id, attempt, true, name) &&
                               (attempt == 0 || access(name, F_OK) == 0);
         attempt++) {
        trace_program_read(name, &told);
        if (told.unrecorded && stat(told.path, &about) == 0 && about.st_dev == process->device &&
            about.st_ino == process->inode)
            return true;
    }
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
    const size_t size = process_read(process->id, "cmdline", text, sizeof(text));
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

/* ---- both --------------------------------------------------------------------------------- */

/* The program has ended: notes it if the recorder never was in it. A program whose loader did not
 * get to a further file may have been killed before the recorder came. */
static void judge(struct run_escapes *escapes, const struct image *image, const char *trace)
{
    char name[TRACE_NAME_SIZE];
    if (!image->executed || image->recorded || !image->path)
        return;
    const enum trace_unrecorded reason = reason_of(image->path);
    if ((reason == TRACE_UNRECORDED_ESCAPED && image->files < OTHER_FILES) ||
        is_told(escapes->heard, image, image->id, trace) ||
        is_told(escapes->heard, image, image->parent, trace))
        return;
    const struct unrecorded program = {.base = trace,
                                       .first = image->id == escapes->first,
                                       .process = image->id,
                                       .parent = image->parent,
                                       .path = image->path,
                                       .reason = reason};
    if (unrecorded_make(&program, name))
        made(escapes->heard, name);
}

static void hear(struct run_escapes *escapes, struct message *message, const char *trace)
{
    struct run_heard *heard = escapes->heard;
    struct image *image = find_image(heard, message->process);
    if (message->kind == PERF_RECORD_FORK) {
        if (message->process == escapes->first || find_image(heard, message->parent))
            add_image(heard, message->process, message->parent, message->time);
        return;
    }
    if (!image)
        return;
    if (message->kind == PERF_RECORD_MMAP2) {
        if (!image->path) {
            image->path = message->path;
            message->path = NULL;
        } else if (strcmp(image->path, message->path) != 0)
            image->files++;
        image->recorded =
            image->recorded || strstr(message->path ? message->path : "", "/libmprof");
        return;
    }
    judge(escapes, image, trace);
    if (message->kind == PERF_RECORD_EXIT) {
        forget(heard, image);
        return;
    }
    free(image->path);
    *image = (struct image){.id = image->id,
                            .parent = image->parent,
                            .before = image->begun,
                            .begun = message->time,
                            .executed = true};
}

/* Takes what the kernel has told until `end`, in ns. */
static void hear_until(struct run_escapes *escapes, uint64_t end, const char *trace)
{
    struct run_heard *heard = escapes->heard;
    struct epoll_event ready[PROCESSORS_MAX];
    size_t done = 0;
    epoll_wait(heard->waits, ready, PROCESSORS_MAX, 0); /* so that it waits for more */
    for (size_t i = 0; i < PROCESSORS_MAX && heard->rings[i].page; i++)
        empty_ring(heard, &heard->rings[i]);
    if (heard->count > 0)
        qsort(heard->messages, heard->count, sizeof(*heard->messages), compare_messages);
    for (; done < heard->count && heard->messages[done].time <= end; done++) {
        hear(escapes, &heard->messages[done], trace);
        free(heard->messages[done].path);
    }
    heard->count -= done;
    if (done > 0)
        memmove(heard->messages, heard->messages + done, heard->count * sizeof(*heard->messages));
}

static void free_image(void *item)
{
    FREE_ALL(((struct image *)item)->path, item);
}

struct run_escapes *run_escapes_new(void)
{
    struct run_escapes *escapes = calloc(1, sizeof(*escapes));
    if (escapes)
        escapes->heard = heard_begin();
    return escapes;
}

void run_escapes_begin(struct run_escapes *escapes, pid_t process)
{
    escapes->first = process;
    escapes->due = run_steer_now() + FIRST_WAIT;
}

int run_escapes_descriptor(const struct run_escapes *escapes)
{
    return escapes->heard ? escapes->heard->waits : -1;
}

int run_escapes_step(struct run_escapes *escapes, const char *trace)
{
    const double now = run_steer_now();
    const uint64_t until = clock_nanoseconds(CLOCK_MONOTONIC) - HELD_NS;
    if (escapes->heard)
        hear_until(escapes, until, trace);
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

void run_escapes_free(struct run_escapes *escapes, const char *trace)
{
    if (!escapes)
        return;
    struct run_heard *heard = escapes->heard;
    if (heard) {
        hear_until(escapes, UINT64_MAX, trace);
        if (heard->lost > 0)
            say("mprof-run",
                "the kernel dropped %" PRIu64 " messages: short programs that ran without the "
                "recorder may be missing",
                heard->lost);
        for (size_t i = 0; i < PROCESSORS_MAX && heard->rings[i].page; i++) {
            munmap(heard->rings[i].page, ARCH_PAGE_SIZE + RING_BYTES);
            close(heard->rings[i].descriptor);
        }
        close(heard->waits);
        tdestroy(heard->images, free_image);
        tdestroy(heard->made, free);
        FREE_ALL(heard->messages, heard);
    }
    FREE_ALL(escapes->now.items, escapes->before.items, escapes);
}
