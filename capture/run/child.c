/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/os/seccomp/seccomp.h"
#include "capture/os/trace_name.h"
#include "capture/run/client.h"
#include "capture/run/escapes.h"
#include "capture/run/follow.h"
#include "capture/run/sandbox.h"
#include "capture/run/sibling_traces.h"
#include "cli/say.h"

/* Returns the folder for traces that are named without one. The program runs even if the working
 * directory was deleted or cannot be named. The traces then go to the folder of temporary files. */
static const char *trace_folder(char folder[PATH_MAX])
{
    const char *temporary = getenv("TMPDIR");
    if (run_sandbox_allows(SYS_getcwd) && getcwd(folder, PATH_MAX))
        return folder;
    if (!temporary || temporary[0] != '/' || access(temporary, W_OK | X_OK) != 0)
        temporary = "/tmp";
    say("mprof-run", "the working directory no longer has a name: the trace goes to %s", temporary);
    return temporary;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool name_is_taken(const char *trace)
{
    char other[TRACE_NAME_SIZE];
    return access(trace, F_OK) == 0 ||
           (trace_name_folder(trace, other) && access(other, F_OK) == 0);
}

bool trace_place_name(const char *requested, const char *program, pid_t process, char *trace)
{
    char working[PATH_MAX];
    if (requested && requested[0] == '/')
        return snprintf(trace, PATH_MAX, "%s", requested) < PATH_MAX;
    const char *folder = trace_folder(working);
    if (requested)
        return snprintf(trace, PATH_MAX, "%s/%s", folder,
                        folder == working ? requested : last_part(requested)) < PATH_MAX;
    program = last_part(program);
    int length = snprintf(trace, PATH_MAX, "%s/mprof.%s.%d.bin", folder, program, (int)process);
    for (int again = 2; length < PATH_MAX && name_is_taken(trace); again++)
        length = snprintf(trace, PATH_MAX, "%s/mprof.%s.%d.%d.bin", folder, program, (int)process,
                          again);
    return length < PATH_MAX;
}

/* Makes the files of traces for processes of the run that have dropped the right to make them, and
 * hands them over as descriptors; capture/record/file.h is the other side. Only root needs this:
 * others cannot drop rights.
 *
 * A process gets a file if it is a descendant of this one, or of a process that records into a
 * trace of the run which this user owns: a daemon's parent has ended. The kernel tells who asks,
 * and the request has no content. The folder and the files stay closed to others. */

#define QUEUE 128          /* processes that wait for an answer */
#define ANCESTORS_MAX 256u /* generations that are looked at */
#define NAMES_MAX 100000u  /* traces of one process */

struct trace_maker {
    int listener;             /* -1: none */
    char name[OPTIONS_FILES]; /* for the option `files` of the recorder */
};

static void trace_maker_end(struct trace_maker *maker)
{
    if (maker->listener >= 0)
        close(maker->listener);
    maker->listener = -1;
    maker->name[0] = 0;
}

/* Begins to listen, if this process is root's. Says so if it cannot. */
static void trace_maker_begin(struct trace_maker *maker)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint64_t number;
    *maker = (struct trace_maker){.listener = -1};
    if (geteuid() != 0 || seccomp_is_on())
        return;
    if (getrandom(&number, sizeof(number), 0) == (ssize_t)sizeof(number))
        maker->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(maker->name, sizeof(maker->name), "%016" PRIx64, number);
    const int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s%s",
                                TRACE_FILES_SOCKET, maker->name);
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    if (maker->listener >= 0 && bind(maker->listener, (struct sockaddr *)&address, size) == 0 &&
        listen(maker->listener, QUEUE) == 0)
        return;
    say("mprof-run",
        "no socket can be made: %s; children of a program that drops its rights are not recorded",
        strerror(errno));
    trace_maker_end(maker);
}

static pid_t parent_of(pid_t process)
{
    char text[512];
    process_read(process, "stat", text, sizeof(text));
    const char *end = strrchr(text, ')');
    return end && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

/* Returns true if the trace is this user's, and the process records into it. */
static bool records_into(pid_t process, const char *trace)
{
    struct client client;
    struct stat status;
    if (client_open(&client, trace) != CLIENT_GOOD)
        return false;
    const bool records = fstat(client.descriptor, &status) == 0 && status.st_uid == geteuid() &&
                         (pid_t)client.header->pid == process &&
                         client_recorder(&client) == CLIENT_GOOD;
    client_close(&client);
    return records;
}

static bool records_into_any(pid_t process, const char *trace)
{
    char path[TRACE_NAME_SIZE];
    if (records_into(process, trace))
        return true;
    for (unsigned attempt = 1; attempt < NAMES_MAX; attempt++)
        if (!trace_name_attempt(trace, process, attempt, true, path) || access(path, F_OK) != 0)
            return false;
        else if (records_into(process, path))
            return true;
    return false;
}

static bool is_of_run(pid_t process, const char *trace)
{
    for (unsigned i = 0; i < ANCESTORS_MAX && process > 1; i++) {
        const pid_t parent = parent_of(process);
        if (parent == getpid() || records_into_any(process, trace))
            return true;
        process = parent;
    }
    return false;
}

/* Opens the folder of the traces, and makes it if it is missing. -1: there is none that only this
 * user may write into. */
static int open_folder(const char *trace)
{
    char folder[TRACE_NAME_SIZE];
    struct stat status;
    if (!trace_name_folder(trace, folder))
        return -1;
    mkdir(folder, 0700);
    const int opened = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0)
        return -1;
    if (fstat(opened, &status) == 0 && status.st_uid == geteuid() &&
        (status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return opened;
    close(opened);
    return -1;
}

/* Makes the file of the process's next trace and stores its path. Returns -1 if it cannot. */
static int make_file(pid_t process, const char *trace, char path[TRACE_NAME_SIZE])
{
    const int folder = open_folder(trace);
    int file = -1;
    for (unsigned attempt = 1; folder >= 0 && file < 0 && attempt < NAMES_MAX; attempt++) {
        if (!trace_name_attempt(trace, process, attempt, true, path))
            break;
        file = openat(folder, strrchr(path, '/') + 1, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno != EEXIST)
            break;
    }
    if (folder >= 0)
        close(folder);
    return file;
}

static void hand_over(int connection, int file, const char *path)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    struct iovec text = {(void *)(uintptr_t)path, strlen(path)};
    const struct msghdr message = {.msg_iov = &text,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof(control)};
    memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
    if (sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        unlink(path);
}

/* Answers all who ask now. `trace`: the absolute path of the run's first trace. Never waits. */
static void trace_maker_step(const struct trace_maker *maker, const char *trace)
{
    char path[TRACE_NAME_SIZE];
    int connection;
    while (maker->listener >= 0 &&
           (connection = accept4(maker->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        struct ucred peer = {.pid = 0};
        socklen_t size = sizeof(peer);
        if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
            is_of_run(peer.pid, trace)) {
            const int file = make_file(peer.pid, trace, path);
            if (file >= 0) {
                hand_over(connection, file, path);
                close(file);
            }
        }
        close(connection);
    }
}

/* The child's report, which it fills before it becomes the program. */
struct child_report {
    char trace[PATH_MAX];
    _Atomic bool named; /* the trace's path is complete */
    int error;
    const char *what; /* a literal, so its address is the same on both sides of the fork */
};

/* How often to check whether the trace has its name, in ms. */
#define UNNAMED_INTERVAL 1
/* How often to check whether the program has ended if the kernel does not tell, in ms. */
#define END_INTERVAL 10

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
static volatile sig_atomic_t child_process;
static volatile sig_atomic_t watch_takes_signal, watch_signals;
static volatile sig_atomic_t references_signal, references_signals;

static void pass_on(int signal_number)
{
    if (signal_number == references_signal)
        references_signals++;
    else if (signal_number == SIGUSR2 && watch_takes_signal)
        watch_signals++;
    else if (child_process > 0)
        kill((pid_t)child_process, signal_number);
}

/* Sets `name` to `first`, the separator and the old value, in this order or (new_last) reversed. An
 * empty list that the user has set (not new_last) stays behind its separator. */
static int extend_variable(const char *name, const char *first, const char *separator,
                           bool new_last)
{
    const char *old = getenv(name);
    char *value = NULL;
    if (!old || (!*old && new_last))
        return setenv(name, first, 1);
    int length = new_last ? asprintf(&value, "%s%s%s", old, separator, first)
                          : asprintf(&value, "%s%s%s", first, separator, old);
    int result = length < 0 ? -1 : setenv(name, value, 1);
    free(value);
    return result;
}

static const char *prepare(const struct run_child *child, const struct trace_maker *maker,
                           struct child_report *report)
{
    char *settings = NULL, observer[64] = "";
    if (child->references.at_end || child->references.mark)
        snprintf(observer, sizeof(observer), ",references=%d%s", (int)getppid(),
                 child->references.at_end ? ",references-end" : "");
    if (!trace_place_name(child->trace, child->path, getpid(), report->trace)) {
        errno = errno ? errno : ENAMETOOLONG;
        return "the name of the trace";
    }
    if (run_sandbox_allows(SYS_mkdir))
        sibling_traces_begin(report->trace);
    atomic_store(&report->named, true);
    if (asprintf(&settings, "root=%d%s%s%s%s%s", (int)getpid(), observer,
                 *maker->name ? ",files=" : "", maker->name, *child->settings ? "," : "",
                 child->settings) < 0 ||
        setenv("MPROF_OUTPUT", report->trace, 1) != 0 ||
        extend_variable("MPROF_OPTIONS", settings, ",", true) != 0 ||
        (child->ecl && extend_variable("LD_PRELOAD", child->ecl, ":", false) != 0) ||
        (child->operators && extend_variable("LD_PRELOAD", child->operators, ":", false) != 0) ||
        (child->sized && extend_variable("LD_PRELOAD", child->sized, ":", false) != 0) ||
        extend_variable("LD_PRELOAD", child->library, ":", false) != 0 ||
        /* Before the recorder: it hears of the process's end first. */
        (child->python && (setenv("PYTHONMALLOC", "malloc", 1) != 0 ||
                           extend_variable("LD_PRELOAD", child->python, ":", false) != 0)))
        return "the environment";
    return NULL;
}

static bool leave_terminal(const char *log)
{
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    /* Replaces an existing file and does not follow a link. */
    struct stat about;
    if (lstat(log, &about) == 0 && S_ISREG(about.st_mode))
        unlink(log);
    int output = open(log, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return input >= 0 && output >= 0 && dup2(input, STDIN_FILENO) >= 0 &&
           dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0;
}

static _Noreturn void become_program(const struct run_child *child, const struct trace_maker *maker,
                                     struct child_report *report)
{
    errno = 0;
    report->what = prepare(child, maker, report);
    if (!report->what && child->log && !leave_terminal(child->log))
        report->what = child->log;
    if (!report->what) {
        execv(child->path, child->argv);
        report->what = child->path;
    }
    report->error = errno ? errno : EINVAL;
    _exit(127);
}

/* Returns the smaller of two times; -1 means never. */
static int sooner(int one, int other)
{
    return one < 0 || (other >= 0 && other < one) ? other : one;
}

static bool has_ended(pid_t process)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

/* Follows the traces of the run and watches for the conditions until the program ends. Kernels
 * before 5.3 have no descriptor that reports the end, so there it is polled. */
static void follow_until_end(pid_t process, const struct child_report *report,
                             struct run_child *child, const struct trace_maker *maker,
                             struct run_escapes *escapes)
{
    const int ended =
        run_sandbox_allows(SYS_pidfd_open) ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
    struct pollfd wait_for[5] = {
        {.fd = ended, .events = POLLIN},
        {.fd = -1, .events = POLLIN},
        {.fd = maker->listener, .events = POLLIN},
        {.fd = -1, .events = POLLIN},
        {.fd = escapes ? run_escapes_descriptor(escapes) : -1, .events = POLLIN}};
    const bool watches = run_watch_has_to_look(&child->watch);
    struct run_follow *follow = NULL;
    int ready;
    do {
        int next = UNNAMED_INTERVAL;
        if (!follow && atomic_load(&report->named))
            follow = run_follow_new(report->trace,
                                    &(struct run_follow_options){.compress = child->compress,
                                                                 .steers = watches,
                                                                 .program = process,
                                                                 .rotate = child->rotate,
                                                                 .residency = child->residency});
        if (atomic_load(&report->named))
            trace_maker_step(maker, report->trace);
        if (follow) {
            next = run_follow_step(follow);
            wait_for[1].fd = run_follow_descriptor(follow);
            wait_for[3].fd = run_residency_bell();
        }
        int step = run_watch_step(&child->watch, (unsigned)watch_signals,
                                  watches ? run_resident_now(process) : 0,
                                  follow && run_follow_records(follow));
        if (follow && step >= 0)
            run_follow_steer(follow, run_watch_wanted(&child->watch));
        next = sooner(next, step);
        if (follow && run_references_wanted(&child->references))
            next = sooner(next, run_references_step(&child->references, follow,
                                                    (unsigned)references_signals));
        if (escapes && follow)
            next = sooner(next, run_escapes_step(escapes, report->trace));
        ready = poll(wait_for, 5, ended >= 0 ? next : sooner(next, END_INTERVAL));
    } while ((ready >= 0 || errno == EINTR) &&
             !(ended >= 0 ? ready > 0 && wait_for[0].revents : has_ended(process)));
    run_escapes_free(escapes, report->trace);
    run_follow_free(follow);
    if (ended >= 0)
        close(ended);
}

static int wait_for_end(pid_t process, const struct child_report *report, struct run_child *child,
                        const struct trace_maker *maker, struct run_escapes *escapes)
{
    int status;
    if (escapes)
        run_escapes_begin(escapes, process);
    run_watch_begin(&child->watch, process);
    follow_until_end(process, report, child, maker, escapes);
    run_watch_end(&child->watch);
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return 127 << 8;
    return status;
}

int run_child(struct run_child *child, const char **what)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, pass = {.sa_handler = pass_on};
    struct sigaction interrupt, quit, before[sizeof(passed_on) / sizeof(*passed_on)];
    sigset_t blocked, old;
    struct child_report *report =
        mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *what = "no memory can be mapped";
    if (report == MAP_FAILED)
        return errno;
    struct trace_maker maker;
    struct options options;
    char bad[64];
    trace_maker_begin(&maker);
    options_parse(child->settings, &options, bad, sizeof(bad));
    struct run_escapes *escapes = options.follow_exec ? run_escapes_new() : NULL;
    pass.sa_flags = SA_RESTART;
    sigfillset(&blocked);
    /* No signal is delivered between the change of the handlers and the fork, so the program starts
     * with the dispositions that mprof-run was started with. */
    sigprocmask(SIG_BLOCK, &blocked, &old);
    pid_t process = fork();
    if (process == 0) {
        sigprocmask(SIG_SETMASK, &old, NULL);
        become_program(child, &maker, report);
    }
    *what = "no process can be made";
    if (process < 0) {
        int error = errno;
        sigprocmask(SIG_SETMASK, &old, NULL);
        run_escapes_free(escapes, "");
        munmap(report, sizeof(*report));
        trace_maker_end(&maker);
        return error;
    }
    if (child->unattended)
        privileges_give_up();
    child_process = process;
    watch_takes_signal = run_watch_takes_signal(&child->watch);
    references_signal = child->references.signal;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++)
        sigaction(passed_on[i], &pass, &before[i]);
    sigprocmask(SIG_SETMASK, &old, NULL);
    child->status = wait_for_end(process, report, child, &maker, escapes);
    trace_maker_end(&maker);
    child_process = 0;
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++)
        sigaction(passed_on[i], &before[i], NULL);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    memcpy(child->recorded, report->trace, sizeof(child->recorded));
    if (report->error == 0)
        sibling_traces_note_outcome(child->recorded, process, child->status);
    int error = report->error;
    *what = report->what;
    munmap(report, sizeof(*report));
    return error;
}

_Noreturn void run_child_end_alike(int status)
{
    if (!WIFSIGNALED(status))
        _exit(WEXITSTATUS(status));
    const int number = WTERMSIG(status);
    struct rlimit none = {0, 0};
    sigset_t only;
    /* The program has already left its core, if it was to leave one. */
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
    _exit(128 + number);
}
