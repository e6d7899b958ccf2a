/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/options/options.h"
#include "capture/run/escapes.h"
#include "capture/run/follow.h"
#include "capture/run/resident.h"
#include "capture/run/sandbox.h"
#include "capture/run/sibling_traces.h"
#include "capture/run/trace_maker.h"
#include "capture/run/trace_place.h"
#include "cli/privileges.h"
#include "cli/say.h"

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

static void pass_on(int signal_number)
{
    if (signal_number == SIGUSR2 && watch_takes_signal)
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
    char *settings = NULL;
    if (!trace_place_name(child->trace, child->path, getpid(), report->trace)) {
        errno = errno ? errno : ENAMETOOLONG;
        return "the name of the trace";
    }
    if (run_sandbox_allows(SYS_mkdir))
        sibling_traces_begin(report->trace);
    atomic_store(&report->named, true);
    if (asprintf(&settings, "root=%d%s%s%s%s", (int)getpid(), *maker->name ? ",files=" : "",
                 maker->name, *child->settings ? "," : "", child->settings) < 0 ||
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

/*
 * Follows the traces of the run and watches for the conditions until the program ends. Kernels
 * before 5.3 have no descriptor that reports the end, so there it is polled.
 */
static void follow_until_end(pid_t process, const struct child_report *report,
                             struct run_child *child, const struct trace_maker *maker)
{
    const int ended =
        run_sandbox_allows(SYS_pidfd_open) ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
    struct pollfd wait_for[3] = {{.fd = ended, .events = POLLIN},
                                 {.fd = -1, .events = POLLIN},
                                 {.fd = maker->listener, .events = POLLIN}};
    const bool watches = run_watch_has_to_look(&child->watch);
    struct run_follow *follow = NULL;
    struct options options;
    char bad[64];
    options_parse(child->settings, &options, bad, sizeof(bad));
    struct run_escapes *escapes = options.follow_exec ? run_escapes_new(process) : NULL;
    int ready;
    do {
        int next = UNNAMED_INTERVAL;
        if (!follow && atomic_load(&report->named))
            follow = run_follow_new(report->trace,
                                    &(struct run_follow_options){.compress = child->compress,
                                                                 .steers = watches,
                                                                 .program = process,
                                                                 .rotate = child->rotate});
        if (atomic_load(&report->named))
            trace_maker_step(maker, report->trace);
        if (follow) {
            next = run_follow_step(follow);
            wait_for[1].fd = run_follow_descriptor(follow);
        }
        int step = run_watch_step(&child->watch, (unsigned)watch_signals,
                                  watches ? run_resident_now(process) : 0,
                                  follow && run_follow_records(follow));
        if (follow && step >= 0)
            run_follow_steer(follow, run_watch_wanted(&child->watch));
        next = sooner(next, step);
        if (escapes && follow)
            next = sooner(next, run_escapes_step(escapes, report->trace));
        ready = poll(wait_for, 3, ended >= 0 ? next : sooner(next, END_INTERVAL));
    } while ((ready >= 0 || errno == EINTR) &&
             !(ended >= 0 ? ready > 0 && wait_for[0].revents : has_ended(process)));
    run_escapes_free(escapes);
    run_follow_free(follow);
    if (ended >= 0)
        close(ended);
}

static int wait_for_end(pid_t process, const struct child_report *report, struct run_child *child,
                        const struct trace_maker *maker)
{
    int status;
    run_watch_begin(&child->watch, process);
    follow_until_end(process, report, child, maker);
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
    trace_maker_begin(&maker);
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
        munmap(report, sizeof(*report));
        trace_maker_end(&maker);
        return error;
    }
    if (child->unattended)
        privileges_give_up();
    child_process = process;
    watch_takes_signal = run_watch_takes_signal(&child->watch);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++)
        sigaction(passed_on[i], &pass, &before[i]);
    sigprocmask(SIG_SETMASK, &old, NULL);
    child->status = wait_for_end(process, report, child, &maker);
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
