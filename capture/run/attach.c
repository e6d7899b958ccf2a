/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/attach.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/os/attach.h"
#include "capture/os/seccomp/seccomp.h"
#include "capture/run/attach_target.h"
#include "capture/run/attach_threads.h"
#include "capture/run/client.h"

/* ---- filters of system calls ------------------------------------------------------------ */

/* Finds out what a process's filters of system calls do to the loader and the recorder. */

#define STRICT 1

/* Returns the number after `name` in the status of a thread, 0 without one. */
static long thread_number(pid_t process, const char *thread, const char *name)
{
    char file[32 + 256];
    snprintf(file, sizeof(file), "task/%s/status", thread);
    const long number = process_status_number(process, file, name);
    return number < 0 ? 0 : number;
}

/* Returns true if all threads have as many filters as the held one. */
static bool all_alike(pid_t process, long mode, long filters)
{
    char path[64];
    struct dirent *entry;
    bool alike = true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
    DIR *folder = opendir(path);
    while (folder && alike && (entry = readdir(folder))) {
        if (entry->d_name[0] != '.')
            alike = thread_number(process, entry->d_name, "Seccomp") == mode &&
                    thread_number(process, entry->d_name, "Seccomp_filters") == filters;
    }
    if (folder)
        closedir(folder);
    return alike;
}

/* Returns true if the loader may make the calls that it needs. */
static bool loader_can_work(void)
{
    static const long needed[] = {SYS_openat, SYS_read, SYS_mmap, SYS_mprotect, SYS_close};
    const uint64_t none[6] = {0};
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (!seccomp_filters_allow(needed[i], none))
            return false;
    return true;
}

/* Reads the filters of the process. `held` is a thread of it that this process has stopped. Writes
 * into `without` which calls the recorder must leave out; "" if there is no filter. False if
 * nothing can be recorded: `why` holds one line. Call it once in a process. */
static bool attach_filters_read(pid_t process, pid_t held, char without[REQUIRED_CALLS_TEXT],
                                char *why, size_t why_size)
{
    char thread[16];
    bool possible = true;
    snprintf(thread, sizeof(thread), "%d", (int)held);
    const long mode = thread_number(process, thread, "Seccomp");
    without[0] = '\0';
    if (!all_alike(process, mode, thread_number(process, thread, "Seccomp_filters"))) {
        snprintf(why, why_size,
                 "its threads have different filters of system calls; start it with "
                 "mprof-run instead");
        return false;
    }
    if (mode == 0)
        return true;
    if (mode == STRICT) {
        snprintf(why, why_size, "it may make no system calls but read and write (strict seccomp)");
        return false;
    }
    if (!seccomp_filters_add_of(held)) {
        snprintf(why, why_size,
                 "its filter of system calls cannot be read: %s; run mprof-run as root, or start "
                 "the program with mprof-run",
                 strerror(errno));
        return false;
    }
    required_calls_forbidden(without, &possible);
    if (possible && loader_can_work())
        return true;
    snprintf(why, why_size,
             "its filter of system calls forbids what the loader or the recorder "
             "needs; allow openat, mmap, mprotect and fallocate, or start the "
             "program with mprof-run before it sets the filter");
    return false;
}

/* One injection. */
struct work {
    const struct attach *attach;
    struct attach_result *result;
    struct attach_target target;
    struct attach_thread held;
    char without[REQUIRED_CALLS_TEXT]; /* system calls that must not be made */
};

static bool fail(struct work *work, const char *why)
{
    if (work->held.ended)
        why = "it has ended";
    snprintf(work->result->why, sizeof(work->result->why), "%s", why);
    return false;
}

static bool call(struct work *work, uint64_t function, uint64_t first, uint64_t second,
                 uint64_t *result)
{
    return attach_threads_call(&work->held, function, (uint64_t[3]){first, second, 0}, result);
}

/* Takes what the loader says of its last error. */
static bool fail_by_loader(struct work *work, const char *what)
{
    char said[512] = "";
    char line[1024];
    uint64_t text = 0;
    if (work->target.dlerror && call(work, work->target.dlerror, 0, 0, &text) && text)
        for (size_t i = 0; i + 1 < sizeof(said); i++)
            if (!attach_read(work->target.process, text + i, &said[i], 1) || !said[i])
                break;
    said[sizeof(said) - 1] = '\0';
    snprintf(line, sizeof(line), "%s%s%s", what, *said ? ": " : "", said);
    return fail(work, line);
}

/* Copies the recorder into a file in memory that the process has open as `descriptor`. */
static bool fill_memory_file(struct work *work, int descriptor)
{
    char path[64], buffer[16384];
    ssize_t got = -1;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)work->target.process, descriptor);
    const int from = open(work->attach->library, O_RDONLY | O_CLOEXEC);
    const int to = open(path, O_WRONLY | O_CLOEXEC);
    while (from >= 0 && to >= 0 && (got = read(from, buffer, sizeof(buffer))) > 0)
        if (write(to, buffer, (size_t)got) != got)
            got = -1;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return got == 0;
}

/* Loads the recorder from a name of the process's. Stores the handle. */
static bool load_from(struct work *work, const char *name, uint64_t *handle)
{
    const uint64_t text = attach_threads_put(&work->held, name);
    if (text == 0 || !call(work, work->target.dlopen, text, RTLD_NOW, handle))
        return fail(work, "the call of dlopen in it did not return");
    return *handle != 0 || fail_by_loader(work, "it cannot load the recorder");
}

/* Loads the recorder by its path, or from memory if the process does not see that file. */
static bool load(struct work *work, uint64_t *handle)
{
    char seen[PATH_MAX + 64], name[64];
    uint64_t descriptor, ignored;
    snprintf(seen, sizeof(seen), "/proc/%d/root%s", (int)work->target.process,
             work->attach->library);
    if (client_is_same_file(seen, work->attach->library))
        return load_from(work, work->attach->library, handle);
    const uint64_t text = attach_threads_put(&work->held, "libmprof.so");
    if (!work->target.memfd_create || !text ||
        !call(work, work->target.memfd_create, text, 0, &descriptor) || (int)descriptor < 0)
        return fail(work, "it does not see the recorder's file, and has no memory for a copy");
    snprintf(name, sizeof(name), "/proc/self/fd/%d", (int)descriptor);
    const bool good =
        fill_memory_file(work, (int)descriptor)
            ? load_from(work, name, handle)
            : fail(work, "it does not see the recorder's file, and a copy cannot be made in it");
    if (work->target.close)
        call(work, work->target.close, descriptor, 0, &ignored);
    return good;
}

/* Returns true if the loader can be used. A child that was forked while another thread of its
 * parent loaded a library, or held the loader's lock, has neither that thread nor any way out:
 * there dlopen ends the process, or never returns. */
static bool loader_works(struct work *work)
{
    const struct attach_target *target = &work->target;
    struct r_debug loader = {.r_state = RT_CONSISTENT};
    uint64_t ignored;
    if (attach_thread_count(target->process) != 1)
        return true;
    if (target->loader_state)
        attach_read(target->process, target->loader_state, &loader, sizeof(loader));
    /* This takes the lock. The function that it calls there changes nothing. */
    return (loader.r_state == RT_CONSISTENT &&
            (!target->dl_iterate_phdr ||
             call(work, target->dl_iterate_phdr, target->errno_location, 0, &ignored))) ||
           fail(work, "it was forked while another thread used the loader, which never works in it "
                      "again; record the program from its start");
}

/* Finds the recorder's mailbox; loads the recorder if it is not there. */
static bool find_mailbox(struct work *work, uint64_t *mailbox)
{
    const struct attach_module *recorder = work->target.recorder;
    uint64_t handle = 0;
    *mailbox = recorder ? recorder->mailbox : 0;
    if (!recorder) {
        if (!load(work, &handle))
            return false;
        const uint64_t name = attach_threads_put(&work->held, ATTACH_MAILBOX);
        if (!name || !call(work, work->target.dlsym, handle, name, mailbox))
            return fail(work, "the call of dlsym in it did not return");
    }
    return *mailbox != 0 || fail(work, "another version of the recorder is in it");
}

static bool ask(struct work *work, uint64_t at, uint32_t request)
{
    const pid_t process = work->target.process;
    const struct attach *attach = work->attach;
    struct attach_result *result = work->result;
    static struct attach_mailbox mailbox;
    uint64_t ignored;
    if (!attach_read(process, at, &mailbox, sizeof(mailbox)) || mailbox.size != sizeof(mailbox) ||
        (work->target.recorder &&
         attach_target_at(&work->target, (uint64_t)(uintptr_t)mailbox.call) !=
             work->target.recorder))
        return fail(work, "another version of the recorder is in it");
    mailbox.request = request;
    mailbox.answer = ATTACH_NOT_ANSWERED;
    snprintf(mailbox.options, sizeof(mailbox.options), "%s%s%s", attach->settings,
             *work->without ? ",without=" : "", work->without);
    snprintf(mailbox.output, sizeof(mailbox.output), "%s", attach->trace ? attach->trace : "");
    if (!attach_write(process, at, &mailbox, sizeof(mailbox)) ||
        !call(work, (uint64_t)(uintptr_t)mailbox.call, 0, 0, &ignored) ||
        !attach_read(process, at, &mailbox, sizeof(mailbox)))
        return fail(work, "the recorder's start in it did not return");
    mailbox.message[sizeof(mailbox.message) - 1] = mailbox.output[sizeof(mailbox.output) - 1] =
        '\0';
    result->already = mailbox.answer == ATTACH_ALREADY;
    result->before_bytes = mailbox.before_bytes;
    result->left = mailbox.left;
    snprintf(result->trace, sizeof(result->trace), "%s", mailbox.output);
    if (mailbox.answer == ATTACH_DONE)
        return true;
    return fail(work, result->already    ? "it is recorded already"
                      : *mailbox.message ? mailbox.message
                                         : "the recorder in it cannot begin");
}

static bool inject_once(struct work *work, uint32_t request)
{
    struct attach_result *result = work->result;
    uint64_t mailbox;
    if (!attach_target_open(&work->target, work->attach->process, work->attach->library,
                            result->why, sizeof(result->why)))
        return false;
    if (request == ATTACH_END && !work->target.recorder)
        return fail(work, "the recorder is not in it");
    if (!attach_threads_stop(&work->held, &work->target, work->attach->seconds, result->why,
                             sizeof(result->why)))
        return false;
    const double began = run_steer_now();
    const bool good = loader_works(work) &&
                      attach_filters_read(work->target.process, work->held.thread, work->without,
                                          result->why, sizeof(result->why)) &&
                      find_mailbox(work, &mailbox) && ask(work, mailbox, request);
    attach_threads_go(&work->held);
    result->held_ms = (run_steer_now() - began) * 1e3;
    return good;
}

/* Tries again if the process has executed another program, which needs time to load. */
static void perform(const struct attach *attach, uint32_t request, struct attach_result *result)
{
    static struct work work;
    const double end = run_steer_now() + attach->seconds;
    bool other, executed = false;
    do {
        memset(&work, 0, sizeof(work));
        memset(result, 0, sizeof(*result));
        work.attach = attach;
        work.result = result;
        result->done = inject_once(&work, request);
        const bool is_other = work.target.program_size && !attach_target_is_same(&work.target);
        executed |= is_other;
        other = !result->done && kill(attach->process, 0) == 0 && (work.target.loading || is_other);
        attach_target_close(&work.target);
    } while (other && request == ATTACH_BEGIN && run_steer_now() < end);
    result->executed = other && request == ATTACH_END;
    if (other && request == ATTACH_BEGIN && executed)
        fail(&work, "it executes one program after another, each too short to attach to; run it by "
                    "mprof-run from its start");
}

/* Writes all bytes. False if nobody reads them. */
static bool hand_over(int descriptor, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t some = write(descriptor, (const char *)bytes + done, size - done);
        if (some <= 0)
            return false;
        done += (size_t)some;
    }
    return true;
}

/* Begins the work in another process, which no signal to mprof-run or its group ends. */
static void perform_beside(const struct attach *attach, uint32_t request,
                           struct attach_running *running)
{
    static struct attach_result other;
    int ends[2];
    *running = (struct attach_running){.worker = -1, .from = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    running->from = ends[0];
    running->worker = fork();
    if (running->worker == 0) {
        setsid();
        signal(SIGPIPE, SIG_IGN);
        close(ends[0]);
        perform(attach, request, &other);
        if (!hand_over(ends[1], &other, sizeof(other)) && other.done && request == ATTACH_BEGIN)
            perform(attach, ATTACH_END, &other);
        _exit(0);
    }
    close(ends[1]);
}

void attach_wait(const struct attach_running *running, struct attach_result *result)
{
    static struct attach_result other;
    size_t got = 0;
    ssize_t some;
    memset(result, 0, sizeof(*result));
    snprintf(result->why, sizeof(result->why), "the process that injects has failed");
    while (running->worker > 0 && got < sizeof(other)) {
        some = read(running->from, (char *)&other + got, sizeof(other) - got);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            break;
        got += (size_t)some;
    }
    if (running->from >= 0)
        close(running->from);
    while (running->worker > 0 && waitpid(running->worker, NULL, 0) < 0 && errno == EINTR) {
    }
    if (got == sizeof(other))
        *result = other;
}

void attach_begin(const struct attach *attach, struct attach_result *result)
{
    struct attach_running running;
    perform_beside(attach, ATTACH_BEGIN, &running);
    attach_wait(&running, result);
}

void attach_end_beside(const struct attach *attach, struct attach_running *running)
{
    perform_beside(attach, ATTACH_END, running);
}

void attach_end(const struct attach *attach, struct attach_result *result)
{
    struct attach_running running;
    attach_end_beside(attach, &running);
    attach_wait(&running, result);
}
