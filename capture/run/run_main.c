/* SPDX-License-Identifier: BSD-2-Clause */
/* mprof-run: runs a program and records its heap. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/run/arguments.h"
#include "capture/run/attach.h"
#include "capture/run/child.h"
#include "capture/run/client.h"
#include "capture/run/follow.h"
#include "capture/run/prepare.h"
#include "capture/run/sibling_traces.h"
#include "cli/say.h"
#include "schemas/array.h"
#include "schemas/code/linked_allocator.h"
#include "schemas/printable.h"
#include "schemas/trace_layout.h"

/* --open --live: runs mprof-ingest and mprof-tui beside the program.
 *
 * Order of calls: run_viewer_begin() before the program is started, run_viewer_end() after its
 * end. */

struct run_viewer {
    const char *trace;   /* the trace to be written; its name is settled before */
    const char *session; /* the session to be made from it */
    const char *log;     /* takes the program's output; NULL: the program has the terminal */
    bool force;          /* replace the session */
    bool suppressions;   /* use those that the program carries */
    bool browse;         /* open the browser too */
    pid_t ingest, browser;
};

enum { LOOK_MS = 20 };

static bool has_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_size > 0;
}

/* Waits for the program to begin its trace. If that never happens, the caller ends this process. */
static _Noreturn void become_ingest(const struct run_viewer *viewer)
{
    const char *argv[10] = {"mprof-ingest", "--live", "--quiet", "-o", viewer->session};
    size_t count = 5;
    if (viewer->force)
        argv[count++] = "--force";
    if (viewer->suppressions)
        argv[count++] = "--suppressions=program";
    argv[count++] = "--";
    argv[count++] = viewer->trace;
    while (!has_bytes(viewer->trace))
        poll(NULL, 0, LOOK_MS);
    sibling_program_become(argv);
}

/* Returns true if the file exists and is not the earlier one. */
static bool is_new(const char *path, const struct stat *before)
{
    struct stat now;
    return stat(path, &now) == 0 && now.st_size > 0 &&
           (now.st_ino != before->st_ino || now.st_dev != before->st_dev);
}

/* Opens the session as soon as it exists. `ended`: a pipe that mprof-ingest holds open. */
static _Noreturn void browse(const struct run_viewer *viewer, int ended, const struct stat *before,
                             pid_t parent)
{
    struct pollfd hung_up = {.fd = ended};
    while (!is_new(viewer->session, before))
        if (poll(&hung_up, 1, LOOK_MS) > 0 && !is_new(viewer->session, before))
            _exit(1); /* mprof-ingest has said why */
    const int status = sibling_program_run((const char *[]){"mprof-tui", viewer->session, NULL});
    /* While mprof-ingest still runs, so does the program. */
    if (poll(&hung_up, 1, 0) == 0 && getppid() == parent)
        say("mprof-run",
            viewer->log
                ? "the program is still running, its output is in %2$s; Ctrl-C ends it, "
                  "mprof-tui %1$s opens the session again"
                : "the recording goes on; Ctrl-C ends it, mprof-tui %1$s opens the session again",
            viewer->session, viewer->log);
    _exit(status);
}

/* Starts both and fills the last two fields. Returns false, with errno set, if a process or a pipe
 * cannot be made. */
static bool run_viewer_begin(struct run_viewer *viewer)
{
    int ends[2];
    struct stat before = {0};
    pid_t parent = getpid();
    viewer->ingest = viewer->browser = -1;
    if (stat(viewer->session, &before) != 0)
        memset(&before, 0, sizeof(before));
    if (pipe(ends) != 0)
        return false;
    viewer->ingest = fork();
    if (viewer->ingest == 0) {
        close(ends[0]);
        become_ingest(viewer);
    }
    if (viewer->ingest > 0 && viewer->browse) {
        viewer->browser = fork();
        if (viewer->browser == 0) {
            close(ends[1]);
            browse(viewer, ends[0], &before, parent);
        }
    }
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    return viewer->ingest > 0 && (!viewer->browse || viewer->browser > 0);
}

/* Waits for both. Returns the status of mprof-ingest or, if that is 0, of mprof-tui. */
static int run_viewer_end(struct run_viewer *viewer)
{
    int status = 0, shown = 0;
    if (viewer->ingest > 0) {
        if (!has_bytes(viewer->trace))
            kill(viewer->ingest, SIGTERM);
        status = sibling_program_wait(viewer->ingest);
    }
    if (viewer->browser > 0)
        shown = sibling_program_wait(viewer->browser);
    return status ? status : shown;
}

/* ---- the report ------------------------------------------------------------------------- */

/* Looks after the traces that a run has left: `trace` is the program's, and those of other
 * processes count if they were written since `since`. */

static void count_one(void *context, const char *trace)
{
    ++*(size_t *)context;
}

/* Returns true if the trace is of a program that never reached the point where recording begins. */
static bool never_began(const char *trace)
{
    struct client client;
    if (client_open(&client, trace) != CLIENT_GOOD)
        return false;
    bool never = client.header->paused == TRACE_PAUSED_FROM_START;
    client_close(&client);
    return never;
}

/* Says so, also with --quiet, if the condition under which recording begins was never met. */
static void run_report_never_began(const char *trace, time_t since)
{
    size_t more = 0;
    sibling_traces_each(trace, since, count_one, &more);
    if (more == 0 && never_began(trace))
        say("mprof-run",
            "nothing was recorded: the condition of --start-on or --start-after was never met; "
            "without it recording begins at once");
}

/* The most lines. A build may start thousands of programs. */
#define LINES_MAX 8u

struct program {
    char path[PATH_MAX];
    uint32_t reason;       /* enum trace_unrecorded */
    const char *allocator; /* linked into a recorded program; or NULL */
    size_t count;
};

/* Returns true if there is something to say of the program. */
static bool program_misses(const struct program *program)
{
    return program->reason != TRACE_UNRECORDED_NOT || program->allocator;
}

struct programs {
    struct program *list;
    size_t count, capacity;
    size_t unnamed;
};

static void note(void *context, const char *trace)
{
    struct programs *programs = context;
    struct trace_program read;
    trace_program_read(trace, &read);
    programs->unnamed += read.unnamed;
    if (read.unrecorded == TRACE_UNRECORDED_NOT && !*read.path)
        return;
    for (size_t i = 0; i < programs->count; i++)
        if (programs->list[i].reason == read.unrecorded &&
            strcmp(programs->list[i].path, read.path) == 0) {
            programs->list[i].count++;
            return;
        }
    if (!ARRAY_GROW(programs->list, programs->count, programs->capacity)) {
        programs->unnamed++;
        return;
    }
    struct program *program = &programs->list[programs->count++];
    *program = (struct program){.reason = read.unrecorded, .count = 1};
    memcpy(program->path, read.path, sizeof(read.path));
    if (read.unrecorded == TRACE_UNRECORDED_NOT)
        program->allocator = linked_allocator(read.path, true);
}

/* Says in one line for each program why it is not recorded. Returns false if there is none. */
static bool say_unrecorded(const char *trace, time_t since)
{
    struct programs programs = {0};
    struct stat about;
    if (lstat(trace, &about) == 0 && about.st_mtime >= since)
        note(&programs, trace);
    sibling_traces_each(trace, since, note, &programs);
    size_t more = programs.unnamed, lines = 0;
    for (size_t i = 0; i < programs.count; i++) {
        const struct program *program = &programs.list[i];
        char why[128], times[32] = "";
        if (!program_misses(program))
            continue;
        if (lines++ >= LINES_MAX) {
            more += program->count;
            continue;
        }
        if (program->count > 1)
            snprintf(times, sizeof(times), " (%zu times)", program->count);
        if (program->allocator)
            snprintf(why, sizeof(why), LINKED_ALLOCATOR_WHY, program->allocator);
        say("mprof-run", "not recorded: %s: %s%s", program->path,
            program->allocator ? why : trace_unrecorded_text(program->reason), times);
    }
    if (more > 0)
        say("mprof-run", "not recorded: %zu %sexecuted program%s", more, lines > 0 ? "other " : "",
            more == 1 ? "" : "s");
    free(programs.list);
    return lines + programs.unnamed > 0;
}

/* Says in one line which traces there are, and with `next` what to do with them. */
static void run_report(const char *trace, time_t since, bool next)
{
    struct sibling_traces_sum sum;
    char programs[64] = "";
    sibling_traces_sum(trace, since, &sum);
    if (sum.error)
        say("mprof-run", "%s" TRACE_FOLDER ": cannot be read: %s; its traces are not counted here",
            trace, strerror(sum.error));
    if (sum.traces == 0 && say_unrecorded(trace, since))
        say("mprof-run", "nothing was recorded");
    else if (sum.traces == 0)
        say("mprof-run",
            "%s: no trace was written; the recorder says why above. If it does not, a wrapper "
            "such as sudo kept it out: put mprof-run after that",
            trace);
    else if (sum.traces == 1 && !unrecorded_program_is(trace))
        say("mprof-run", "recorded %s%s", trace,
            next ? "; mprof-ingest makes a session of it" : "");
    else {
        if (sum.traces > sum.processes)
            snprintf(programs, sizeof(programs), " that ran %zu programs", sum.traces);
        say("mprof-run", "recorded %s%s" TRACE_FOLDER ": %zu process%s%s, %.1f MiB%s", trace,
            unrecorded_program_is(trace) ? "" : " and ", sum.processes,
            sum.processes == 1 ? "" : "es", programs, (double)sum.bytes / (1 << 20),
            next ? "; mprof-ingest reads them together" : "");
    }
    if (sum.traces > 0)
        say_unrecorded(trace, since);
}

/* Compresses one trace in its place. If that fails, the trace stays and mprof-ingest says why. */
static void compress_one(void *context, const char *trace)
{
    if (access(trace, F_OK) == 0)
        sibling_program_run(
            (const char *[]){"mprof-ingest", "--compress", "--quiet", "--", trace, NULL});
}

/* Compresses each trace in its place. One that fails stays, and mprof-ingest says why. */
static void run_compress(const char *trace, time_t since)
{
    compress_one(NULL, trace);
    sibling_traces_each(trace, since, compress_one, NULL);
}

/* ---- the session ------------------------------------------------------------------------ */

/* The names that --live needs before the program starts. */
struct run_viewer_names {
    char trace[PATH_MAX], session[PATH_MAX + 8], log[PATH_MAX + 8];
};

/* Names the session beside the trace: .bin becomes .db. */
static void name_session(const char *trace, char *session, size_t size)
{
    size_t length = strlen(trace);
    if (length > 4 && strcmp(trace + length - 4, ".bin") == 0)
        length -= 4;
    snprintf(session, size, "%.*s.db", (int)length, trace);
}

static void choose_session(const struct run_arguments *arguments, const char *trace, char *session,
                           size_t size)
{
    if (arguments->session)
        snprintf(session, size, "%s", arguments->session);
    else
        name_session(trace, session, size);
}

static bool at_terminal(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Ingests the trace. Returns the exit status of mprof-ingest. */
static int make_session(const struct run_arguments *arguments, char *trace, const char *session)
{
    const char *ingest[8] = {"mprof-ingest", trace, "-o", session};
    size_t count = 4;
    if (arguments->force)
        ingest[count++] = "--force";
    if (arguments->suppressions)
        ingest[count++] = "--suppressions=program";
    if (arguments->quiet)
        ingest[count++] = "--quiet";
    return sibling_program_run(ingest);
}

/* Refuses what would fail after the program has run. 0, or the exit status after a message. */
static int run_check_begin(const struct run_arguments *arguments)
{
    if (access(arguments->budgets, R_OK) != 0) {
        say("mprof-run", "%s: cannot be read: %s", arguments->budgets, strerror(errno));
        return 1;
    }
    for (size_t i = 0; i < arguments->check_count; i += 2)
        if (strcmp(arguments->check[i], "--base") == 0 &&
            access(arguments->check[i + 1], R_OK) != 0) {
            say("mprof-run", "%s: cannot be read: %s", arguments->check[i + 1], strerror(errno));
            return 1;
        }
    if (arguments->session && !arguments->force && access(arguments->session, F_OK) == 0) {
        say("mprof-run",
            "%s: exists already; replace it with --force, or name another with --session",
            arguments->session);
        return 1;
    }
    return 0;
}

/* Checks the budgets of a program that ended with status 0. Returns the exit status. */
static int run_check(const struct run_arguments *arguments, char *trace)
{
    const char *report[sizeof(arguments->check) / sizeof(*arguments->check) + 6] = {
        "mprof-report", "--check", arguments->budgets};
    size_t count = 3;
    char session[PATH_MAX + 8];
    choose_session(arguments, trace, session, sizeof(session));
    const int status = make_session(arguments, trace, session);
    if (status != 0)
        return status;
    for (size_t i = 0; i < arguments->check_count; i++)
        report[count++] = arguments->check[i];
    report[count++] = "--";
    report[count] = session;
    return sibling_program_run(report);
}

/* Makes the session, except with --live, which has made it. Then starts the browser at a terminal,
 * and otherwise prints the session's name. Returns the exit status. */
static int run_session_open(const struct run_arguments *arguments, char *trace)
{
    char session[PATH_MAX + 8];
    choose_session(arguments, trace, session, sizeof(session));
    const int status = arguments->live ? 0 : make_session(arguments, trace, session);
    if (status != 0)
        return status;
    if (at_terminal())
        return arguments->live ? 0
                               : sibling_program_run((const char *[]){"mprof-tui", session, NULL});
    /* A script gets the name unchanged, a terminal only what it can show. */
    char name[PRINTABLE_BYTE_MAX * PATH_MAX];
    printable_copy(name, sizeof(name), session);
    puts(isatty(STDOUT_FILENO) ? name : session);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* Starts --live, which run_viewer_end() ends, and sets the child's trace and log. `names` must live
 * as long as `child` and `viewer`. Returns 0, or the exit status after a message. */
static int run_session_begin_viewer(const struct run_arguments *arguments, struct run_child *child,
                                    struct run_viewer_names *names, struct run_viewer *viewer)
{
    const char *slash = strrchr(child->path, '/');
    if (child->trace)
        snprintf(names->trace, sizeof(names->trace), "%s", child->trace);
    else
        snprintf(names->trace, sizeof(names->trace), "mprof.%s.%d.bin",
                 slash ? slash + 1 : child->path, (int)getpid());
    choose_session(arguments, names->trace, names->session, sizeof(names->session));
    snprintf(names->log, sizeof(names->log), "%s.out", names->trace);
    child->trace = names->trace;
    child->log = at_terminal() && child->argv ? names->log : NULL;
    *viewer = (struct run_viewer){.trace = names->trace,
                                  .suppressions = arguments->suppressions,
                                  .session = names->session,
                                  .log = child->log,
                                  .force = arguments->force,
                                  .browse = at_terminal()};
    if (!arguments->force && access(names->session, F_OK) == 0) {
        say("mprof-run",
            "%s: exists already; replace it with --force, or name another with --session",
            names->session);
        return 1;
    }
    if (run_viewer_begin(viewer))
        return 0;
    say("mprof-run", "no process can be made for mprof-ingest: %s; record without --live",
        strerror(errno));
    run_viewer_end(viewer);
    return 126;
}

/* ---- attaching -------------------------------------------------------------------------- */

/* How long to search for a point where a library can be loaded. */
#define SEARCH_SECONDS 5.0
/* How often to check whether the recording has ended by itself, in ms. */
#define LOOK_INTERVAL 100
/* Looks for children that were forked while the recording of others ended. */
#define FORK_ROUNDS 5u

static volatile sig_atomic_t asked_to_end;

static void ask_to_end(int signal_number)
{
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
    return client_is_same_file(here, seen);
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

/* The attached process's trace, into which its pages are written. */
struct observed {
    struct client client;
    struct run_observer observer;
    struct run_residency *residency;
    struct run_references references;
    uint64_t due;
    bool open;
};

static void observe_begin(struct observed *observed, const char *trace,
                          const struct run_arguments *arguments)
{
    *observed = (struct observed){.open = false, .references = arguments->references};
    observed->open = client_open(&observed->client, trace) == CLIENT_GOOD;
    if (observed->open && observed->client.writable)
        observed->residency =
            run_residency_begin(&observed->client, &observed->observer, &arguments->residency);
}

/* Returns the milliseconds until the next look. */
static int observe_step(struct observed *observed, pid_t process, const char *trace)
{
    int next = -1;
    run_residency_bell_heard();
    if (observed->open && run_references_wanted(&observed->references))
        next = run_references_step_attached(&observed->references, &observed->client, trace);
    if (observed->residency)
        run_residency_step(observed->residency, run_resident_now(process),
                           (uint64_t)(run_steer_now() * 1e3));
    return next >= 0 && next < LOOK_INTERVAL ? next : LOOK_INTERVAL;
}

static void observe_end(struct observed *observed)
{
    if (!observed->open)
        return;
    run_residency_end(observed->residency);
    client_chunk_leave(&observed->observer.chunk);
    client_close(&observed->client);
    observed->open = false;
}

/* Waits so many ms for the end of the process, as ends_within(), or until its bell rings. */
static bool rests_within(pid_t process, int descriptor, int milliseconds)
{
    struct pollfd wait[2] = {{.fd = descriptor, .events = POLLIN},
                             {.fd = run_residency_bell(), .events = POLLIN}};
    poll(wait, 2, milliseconds);
    return ends_within(process, descriptor, 0);
}

/* Waits for a reason to end, and reads the pages in memory. False if the process has ended. */
static bool wait_for_end(const struct run_arguments *arguments, const char *trace, int descriptor)
{
    struct observed observed;
    bool runs = true;
    const double end =
        arguments->watch.duration > 0 ? run_steer_now() + arguments->watch.duration : 0;
    observe_begin(&observed, trace, arguments);
    while (runs && !asked_to_end && (end == 0 || run_steer_now() < end) && !has_stopped(trace)) {
        const int next = observe_step(&observed, arguments->process, trace);
        const double left = end == 0 ? next : (end - run_steer_now()) * 1e3 + 1;
        runs = !rests_within(arguments->process, descriptor, left < next ? (int)left : next);
    }
    if (runs && observed.open && !has_stopped(trace))
        run_references_end_attached(&observed.references, &observed.client, trace);
    if (runs && observed.residency && !has_stopped(trace))
        run_residency_now(observed.residency, TRACE_RESIDENT_END);
    observe_end(&observed);
    return runs;
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
 * takes all of the time. A child may fork until its recording ends: this looks again. */
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

/* Records until the process, --duration or a signal ends it. Returns the exit status. */
static int run_attach(const struct run_arguments *arguments)
{
    static struct names names;
    static struct run_viewer_names live_names;
    struct run_viewer viewer = {0};
    struct attach attach = {
        .process = arguments->process, .settings = arguments->settings, .seconds = SEARCH_SECONDS};
    char library[PATH_MAX], settings[sizeof(arguments->settings) + 32];
    int status = run_prepare_library(library);
    if (arguments->references.at_end || arguments->references.mark) {
        snprintf(settings, sizeof(settings), "%s%sreferences=%d", arguments->settings,
                 *arguments->settings ? "," : "", (int)getpid());
        attach.settings = settings;
    }
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

/* Records the program, with --live beside it. Returns 0, or the exit status after a message if the
 * program never ran. `*live_status` gets that of --live. */
static int record(const struct run_arguments *arguments, struct run_child *child, int *live_status)
{
    static struct run_viewer_names names; /* the child's, which outlives this call */
    struct run_viewer viewer = {0};
    const char *what;
    *live_status = 0;
    if (arguments->live) {
        const int status = run_session_begin_viewer(arguments, child, &names, &viewer);
        if (status != 0)
            return status;
    }
    const int error = run_child(child, &what);
    sibling_traces_end(child->recorded);
    if (arguments->live)
        *live_status = run_viewer_end(&viewer);
    if (error == 0)
        return 0;
    say("mprof-run", "%s: %s", what, strerror(error));
    return error == ENOENT ? 127 : 126;
}

int main(int argc, char **argv)
{
    /* With ulimit -s 64 there is little room on the stack. */
    static struct run_arguments arguments;
    static struct run_places places;
    static struct run_child child;
    int live_status, status = run_arguments_parse(argc, argv, &arguments);
    if (status >= 0)
        return status;
    if (arguments.process != 0)
        return run_attach(&arguments);
    status = arguments.budgets ? run_check_begin(&arguments) : 0;
    if (status == 0)
        status = run_prepare(&arguments, &places);
    if (status != 0)
        return status;
    if (!run_prepare_sandbox(&arguments)) {
        if (arguments.budgets) {
            say("mprof-run", "%s: nothing was recorded, so it cannot be checked",
                arguments.budgets);
            return 1;
        }
        execv(places.program, arguments.program);
        say("mprof-run", "%s: %s", places.program, strerror(errno));
        return 126;
    }
    /* A reader of a live trace would find holes, so --live compresses only at the end. */
    const bool pack = arguments.compress && !arguments.live;
    if (pack && !run_arguments_add(&arguments, "compress", NULL))
        return 2;
    if (!run_prepare_sized(&arguments, &places) || !run_prepare_plugins(&arguments, &places))
        return 1;
    run_prepare_operators(&places);
    child = (struct run_child){
        .library = places.library,
        .sized = *places.sized ? places.sized : NULL,
        .python = *places.python ? places.python : NULL,
        .ecl = *places.ecl ? places.ecl : NULL,
        .operators = *places.operators ? places.operators : NULL,
        .trace = arguments.trace,
        .settings = arguments.settings,
        .compress = pack,
        .argv = arguments.program,
        .path = places.program,
        .watch = arguments.watch,
        .rotate = arguments.rotate,
        .residency = arguments.residency,
        .references = arguments.references,
        .unattended = !arguments.open,
    };
    const time_t started = time(NULL);
    status = record(&arguments, &child, &live_status);
    if (status != 0)
        return status;
    if (!arguments.quiet)
        run_report(child.recorded, started,
                   !arguments.open && !arguments.live && !arguments.budgets);
    if (run_watch_starts_late(&arguments.watch))
        run_report_never_began(child.recorded, started);
    if (arguments.compress)
        run_compress(child.recorded, started);
    if (live_status != 0)
        return live_status;
    if (arguments.budgets && child.status != 0)
        say("mprof-run", "the program failed: %s is not checked", arguments.budgets);
    else if (arguments.budgets) {
        status = run_check(&arguments, child.recorded);
        if (status != 0)
            return status;
    }
    if (arguments.open) {
        status = run_session_open(&arguments, child.recorded);
        if (status != 0)
            return status;
    }
    run_child_end_alike(child.status);
}
