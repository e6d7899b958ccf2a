/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/run_attach.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/run/attach.h"
#include "capture/run/attach_target.h"
#include "capture/run/child.h"
#include "capture/run/client.h"
#include "capture/run/prepare.h"
#include "capture/run/report.h"
#include "capture/run/session.h"
#include "capture/run/sibling_traces.h"
#include "capture/run/trace_place.h"
#include "capture/run/viewer.h"
#include "cli/privileges.h"
#include "cli/say.h"
#include "schemas/printable.h"

/* How long to search for a point where a library can be loaded. */
#define SEARCH_SECONDS 5.0
/* How often to check whether the recording has ended by itself, in ms. */
#define LOOK_INTERVAL 100
/* Looks for children that were forked while the recording of others ended. */
#define FORK_ROUNDS 5u

static volatile sig_atomic_t asked_to_end;

static void ask_to_end(int signal_number)
{
    (void)signal_number;
    asked_to_end = 1;
}

static void take_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = ask_to_end};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sigaction(numbers[i], &action, NULL);
}

/* The names that one recording has. */
struct names {
    char program[PATH_MAX]; /* of the process */
    char trace[PATH_MAX];   /* as it is seen here */
    const char *there;      /* as the process sees it: a part of `trace` */
};

static void name_program(pid_t process, char program[PATH_MAX])
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)process);
    const ssize_t length = readlink(path, program, PATH_MAX - 1);
    program[length < 0 ? 0 : length] = '\0';
    char *deleted = strstr(program, " (deleted)");
    if (deleted)
        *deleted = '\0';
    if (!*program)
        snprintf(program, PATH_MAX, "process");
}

/* Returns true if the process sees the same folder under the trace's name. */
static bool sees_folder(pid_t process, const char *trace, const char *there)
{
    char here[PATH_MAX], seen[PATH_MAX + 64];
    const int length = (int)(strrchr(there, '/') - there) + 1;
    snprintf(here, sizeof(here), "%.*s", (int)(there - trace) + length, trace);
    snprintf(seen, sizeof(seen), "/proc/%d/root%.*s", (int)process, length, there);
    return attach_is_same_file(here, seen);
}

/* Names the trace. Returns 0, or the exit status after a message. */
static int name_trace(const struct run_arguments *arguments, struct names *names)
{
    char root[64];
    const int process = arguments->process;
    const size_t length = (size_t)snprintf(root, sizeof(root), "/proc/%d/root", process);
    name_program(process, names->program);
    if (!trace_place_name(arguments->trace, names->program, process, names->trace)) {
        say("mprof-run", "the name of the trace is too long; name a shorter one with -o");
        return 1;
    }
    names->there = names->trace;
    if (strncmp(names->trace, root, length) == 0 && names->trace[length] == '/')
        names->there += length;
    /* A user who may not look there is told so later, when mprof-run traces the process. */
    if (sees_folder(process, names->trace, names->there) || access(root, F_OK) != 0)
        return 0;
    say("mprof-run",
        "process %d does not see the folder of %s: it has a file system of its own, or there is no "
        "such folder. Name a folder of it: -o %s/FOLDER/FILE",
        process, names->trace, root);
    return 1;
}

static void say_before(pid_t process, const struct attach_result *result)
{
    char before[64] = "an unknown number of bytes";
    if (result->before_bytes != UINT64_MAX)
        snprintf(before, sizeof(before), "%.1f MiB", (double)result->before_bytes / (1 << 20));
    say("mprof-run", "recording process %d; before: %s, no stacks; one thread was held for %.0f ms",
        (int)process, before, result->held_ms);
    if (result->left > 0)
        say("mprof-run",
            "%u calls of heap functions in modules with another allocator are not seen",
            result->left);
}

/* Returns true if the recording has ended by itself: by mprof-ctl, or because the disk is full. */
static bool has_stopped(const char *trace)
{
    struct client client;
    if (client_open(&client, trace) != CLIENT_GOOD)
        return false;
    const bool stopped = client_recorder(&client) != CLIENT_GOOD;
    client_close(&client);
    return stopped;
}

/* Waits so many ms for the end of the process, whose pidfd is `descriptor`, or -1 if the kernel has
 * none. Returns true if it has ended. */
static bool ends_within(pid_t process, int descriptor, int milliseconds)
{
    struct pollfd ended = {.fd = descriptor, .events = POLLIN};
    const int ready = poll(&ended, 1, milliseconds);
    return descriptor >= 0 ? ready > 0 : kill(process, 0) != 0;
}

/* Waits until there is a reason to end. Returns false if the process has ended. */
static bool wait_for_end(const struct run_arguments *arguments, const char *trace, int descriptor)
{
    const double end =
        arguments->watch.duration > 0 ? run_steer_now() + arguments->watch.duration : 0;
    while (!asked_to_end && (end == 0 || run_steer_now() < end) && !has_stopped(trace)) {
        const double left = end == 0 ? LOOK_INTERVAL : (end - run_steer_now()) * 1e3 + 1;
        if (ends_within(arguments->process, descriptor,
                        left < LOOK_INTERVAL ? (int)left : LOOK_INTERVAL))
            return false;
    }
    return true;
}

/* Returns true if the process has ended its trace because it executed another program. */
static bool has_executed(const char *trace)
{
    struct client client;
    if (client_open(&client, trace) != CLIENT_GOOD)
        return false;
    const bool executed = client.header->state == TRACE_STATE_EXEC;
    client_close(&client);
    return executed;
}

/* Takes the result of attach_end() for a process that goes on. `descriptor` is its pidfd, or -1. */
static void ended(const struct attach *attach, const char *trace, int descriptor,
                  const struct attach_result *result)
{
    /* It may have been killed a moment ago, and end soon. */
    if (result->done || ends_within(attach->process, descriptor, LOOK_INTERVAL))
        return;
    if (result->executed || has_executed(trace)) {
        say("mprof-run",
            "process %d has executed another program, which is not recorded; the trace ends there",
            (int)attach->process);
        return;
    }
    struct client client;
    struct timespec now;
    if (client_open(&client, trace) == CLIENT_GOOD) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        client_seal(&client, 0, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
        client_close(&client);
    }
    say("mprof-run",
        "process %d: the recording has ended, but its calls still go through the recorder: %s",
        (int)attach->process, result->why);
}

static int pidfd_of(pid_t process)
{
    return (int)syscall(SYS_pidfd_open, process, 0);
}

/* The children in which the recording is ended at the same time. */
#define SIDE_BY_SIDE 64u

struct child {
    struct attach attach;
    struct attach_running running;
    int descriptor; /* its pidfd, or -1 */
    char trace[PATH_MAX];
};

struct family {
    const struct attach *attach; /* of the parent */
    struct child *children;      /* SIDE_BY_SIDE */
    size_t count;
    bool recorded; /* a child was */
};

static void wait_for_children(struct family *family)
{
    static struct attach_result result;
    for (size_t i = 0; i < family->count; i++) {
        struct child *child = &family->children[i];
        attach_wait(&child->running, &result);
        ended(&child->attach, child->trace, child->descriptor, &result);
        if (child->descriptor >= 0)
            close(child->descriptor);
    }
    family->count = 0;
}

/* Begins to end the recording in the child that records into the trace, if there is one. */
static void end_child(void *context, const char *trace)
{
    struct family *family = (struct family *)context;
    struct client client;
    if (client_open(&client, trace) != CLIENT_GOOD)
        return;
    const enum client_status status = client_recorder(&client);
    const pid_t process = status == CLIENT_GOOD   ? (pid_t)client.header->pid
                          : status == CLIENT_GONE ? client_recorder_elsewhere(&client)
                                                  : 0;
    client_close(&client);
    if (process == 0)
        return;
    family->recorded = true;
    if (family->count == SIDE_BY_SIDE)
        wait_for_children(family);
    struct child *child = &family->children[family->count++];
    *child = (struct child){.attach = *family->attach, .descriptor = pidfd_of(process)};
    child->attach.process = process;
    snprintf(child->trace, sizeof(child->trace), "%s", trace);
    attach_end_beside(&child->attach, &child->running);
}

/* Ends the recording in the children that the process has forked, side by side: one that only waits
 * takes all of the time. A child may fork another one until its own recording ends, so this looks
 * again. */
static void end_children(const struct attach *attach, const char *trace, time_t started)
{
    struct family family = {.attach = attach, .recorded = true};
    family.children = malloc(SIDE_BY_SIDE * sizeof(*family.children));
    if (!family.children)
        say("mprof-run", "there is no memory to end the recording of children");
    for (unsigned round = 0; family.children && family.recorded && round < FORK_ROUNDS; round++) {
        family.recorded = false;
        sibling_traces_each(trace, started, end_child, &family);
        wait_for_children(&family);
    }
    free(family.children);
}

/* Removes the trace if the recorder made it and could not begin. */
static void remove_empty(const char *trace)
{
    struct client client;
    sibling_traces_end(trace);
    if (client_open(&client, trace) != CLIENT_GOOD)
        return;
    if (client.header->chunk_count == 0)
        unlink(trace);
    client_close(&client);
}

static int begin(const struct run_arguments *arguments, struct attach *attach)
{
    static struct attach_result result;
    char trace[PRINTABLE_BYTE_MAX * 256];
    attach_begin(attach, &result);
    if (result.done) {
        if (!arguments->quiet)
            say_before(attach->process, &result);
        return 0;
    }
    printable_copy(trace, sizeof(trace), result.trace);
    if (result.already)
        say("mprof-run", "process %d is recorded already, into %s; mprof-ctl steers that recording",
            (int)attach->process, trace);
    else
        say("mprof-run", "process %d: %s", (int)attach->process, result.why);
    return 1;
}

int run_attach(const struct run_arguments *arguments)
{
    static struct names names;
    static struct run_viewer_names live_names;
    struct run_viewer viewer = {0};
    struct attach attach = {
        .process = arguments->process, .settings = arguments->settings, .seconds = SEARCH_SECONDS};
    char library[PATH_MAX];
    int status = run_prepare_library(library);
    if (status == 0)
        status = name_trace(arguments, &names);
    if (status == 0)
        status = run_prepare_trace(names.trace, arguments->force);
    if (status != 0)
        return status;
    attach.library = library;
    attach.trace = names.there;
    take_signals();
    const time_t started = time(NULL);
    if ((status = begin(arguments, &attach)) != 0) {
        remove_empty(names.trace);
        return status;
    }
    const int descriptor = pidfd_of(arguments->process);
    struct run_child as_child = {.trace = names.trace, .path = names.program};
    if (arguments->live)
        status = run_session_begin_viewer(arguments, &as_child, &live_names, &viewer);
    if (!arguments->open)
        privileges_give_up();
    if (status != 0 || wait_for_end(arguments, names.trace, descriptor)) {
        static struct attach_result result;
        attach_end(&attach, &result);
        ended(&attach, names.trace, descriptor, &result);
        end_children(&attach, names.trace, started);
    }
    if (descriptor >= 0)
        close(descriptor);
    if (arguments->live && viewer.ingest > 0)
        status = run_viewer_end(&viewer);
    if (!arguments->quiet)
        run_report(names.trace, started, !arguments->open && !arguments->live);
    if (arguments->compress)
        run_compress(names.trace, started);
    return status == 0 && arguments->open ? run_session_open(arguments, names.trace) : status;
}
