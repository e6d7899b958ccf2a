/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/follow_run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/follow_process.h"
#include "ingest/processes.h"
#include "schemas/trace_layout.h"

enum {
    LOOK_MS = 50,
    LOOKS_UNSEEN = 40, /* for the trace of a process that cannot be seen from here */
};

/* The traces of a run, as one look finds them. */
struct run_look {
    int next;        /* number in the list of the trace to follow; -1: none */
    bool same;       /* it is of the process whose trace has ended */
    bool comes;      /* the newest trace of that process ended because it executed a program */
    uint64_t newest; /* start of that trace */
    uint64_t oldest; /* start of the trace to follow */
};

static bool read_header(const char *path, struct trace_file_header *header)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool whole = descriptor >= 0 &&
                       read(descriptor, header, sizeof(*header)) == (ssize_t)sizeof(*header) &&
                       memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return whole;
}

/* Returns true if a process that can be seen records into the trace. */
static bool is_recorded(const struct trace_file_header *header)
{
    if (header->state != TRACE_STATE_RECORDING)
        return false;
    const int process = follow_process_open(header->pid, header->start_realtime_ns);
    if (process >= 0)
        close(process);
    return process >= 0;
}

static void look_at(struct run_look *look, int number, const struct trace_file_header *header,
                    uint32_t pid)
{
    const bool same = header->pid == pid;
    if (same && header->start_realtime_ns >= look->newest) {
        look->newest = header->start_realtime_ns;
        look->comes = header->state == TRACE_STATE_EXEC;
    }
    if (!is_recorded(header) || (look->same && !same) ||
        (look->next >= 0 && look->same == same && header->start_realtime_ns >= look->oldest))
        return;
    look->next = number;
    look->same = same;
    look->oldest = header->start_realtime_ns;
}

/* Looks once. Gives the name of the trace to follow, or NULL. */
static bool look_once(struct run_look *look, const char *first, uint32_t pid, char **path,
                      struct ingest_status *status)
{
    struct trace_file_header header;
    struct trace_list list = {0};
    *look = (struct run_look){.next = -1};
    *path = NULL;
    bool good = trace_list_add(&list, first, status);
    for (size_t i = 0; good && i < list.count; i++)
        if (read_header(list.paths[i], &header))
            look_at(look, (int)i, &header, pid);
    if (good && look->next >= 0 && !(*path = strdup(list.paths[look->next])))
        good = ingest_fail_memory(status, "the list of traces");
    trace_list_free(&list);
    return good;
}

bool follow_run_next(const char *first, const char *ended, const volatile sig_atomic_t *interrupted,
                     char **path, struct ingest_status *status)
{
    struct trace_file_header header;
    struct run_look look;
    *path = NULL;
    if (!read_header(ended, &header))
        return true;
    const int process = follow_process_open(header.pid, header.start_realtime_ns);
    bool good, gone = header.state != TRACE_STATE_EXEC;
    for (int looks = 0;; looks++) {
        good = look_once(&look, first, header.pid, path, status);
        if (!good || gone || look.same || !look.comes || ingest_is_interrupted(interrupted) ||
            (process < 0 && looks == LOOKS_UNSEEN))
            break;
        free(*path);
        gone = follow_process_wait(process, LOOK_MS);
    }
    if (process >= 0)
        close(process);
    return good;
}
