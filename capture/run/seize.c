/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/seize.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "capture/run/attach_target.h"
#include "capture/run/client.h"
#include "schemas/array.h"

bool seized_has(const struct seized *seized, pid_t thread)
{
    for (size_t i = 0; i < seized->count; i++)
        if (seized->threads[i] == thread)
            return true;
    return false;
}

static bool add(struct seized *seized, pid_t thread)
{
    if (!ARRAY_GROW(seized->threads, seized->count, seized->capacity))
        return false;
    seized->threads[seized->count++] = thread;
    return true;
}

void seized_remove(struct seized *seized, pid_t thread)
{
    for (size_t i = 0; i < seized->count; i++)
        if (seized->threads[i] == thread)
            seized->threads[i] = seized->threads[--seized->count];
}

void seized_free(struct seized *seized)
{
    free(seized->threads);
    *seized = (struct seized){.process = seized->process};
}

bool seized_has_ended(pid_t process, pid_t thread)
{
    const char state = attach_thread_state(process, thread);
    return state == 'Z' || state == 'X';
}

int seized_add_new(struct seized *seized)
{
    char path[64];
    struct dirent *entry;
    int added = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)seized->process);
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    while (added >= 0 && (entry = readdir(folder))) {
        const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread <= 0 || seized_has(seized, thread))
            continue;
        if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0)
            added = add(seized, thread) ? added + 1 : -1;
        else if (errno != ESRCH) {
            const int error = errno;
            if (seized_has_ended(seized->process, thread))
                continue;
            closedir(folder);
            errno = error;
            return -1;
        }
    }
    closedir(folder);
    return added;
}

/* Takes the news of a thread, if there is any, as waitpid(thread, status, __WALL | WNOHANG). */
static pid_t take_news(pid_t thread, int *status, bool keep_end)
{
    siginfo_t news = {.si_pid = 0};
    if (!keep_end)
        return waitpid(thread, status, __WALL | WNOHANG);
    if (waitid(P_PID, (id_t)thread, &news, WSTOPPED | WNOHANG | __WALL) != 0)
        return -1;
    *status = news.si_status << 8 | 0x7f; /* a stop */
    return news.si_pid;
}

/* The kernel does not tell the end of a process's first thread while another one is a zombie that
 * we have not waited for, so a zombie ends the wait, too. */
enum seized_waited seized_wait(pid_t thread, int *status, unsigned rounds, bool keep_end)
{
    bool ended = false;
    for (unsigned round = 0; round < rounds; round++) {
        const pid_t result = take_news(thread, status, keep_end);
        if (result == thread)
            return WIFSTOPPED(*status) ? SEIZED_STOPPED : SEIZED_ENDED;
        if (ended || (result < 0 && errno != EINTR))
            return SEIZED_ENDED;
        if (round < SEIZED_QUICK_ROUNDS)
            sched_yield();
        else {
            ended = attach_thread_state(thread, thread) == 'Z';
            nanosleep(&(struct timespec){0, ended ? 0 : 100000}, NULL);
        }
    }
    return SEIZED_LONG;
}

void seized_explain(pid_t process, int error, char *why, size_t size)
{
    char scope[16] = "";
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (file && !fgets(scope, sizeof(scope), file))
        scope[0] = '\0';
    if (file)
        fclose(file);
    const long tracer = process_status_number(process, "status", "TracerPid");
    if (error == EPERM && tracer > 0)
        snprintf(why, size, "process %ld traces it already, as a debugger does", tracer);
    else if (error == EPERM && strtol(scope, NULL, 10) > 0)
        snprintf(why, size,
                 "the kernel does not allow to trace it (kernel.yama.ptrace_scope is %ld); run "
                 "%s as root, or sysctl kernel.yama.ptrace_scope=0",
                 strtol(scope, NULL, 10), program_invocation_short_name);
    else if (error == EPERM)
        snprintf(why, size, "the kernel does not allow to trace it; run %s as its user or as root",
                 program_invocation_short_name);
    else
        snprintf(why, size, "process %d cannot be traced: %s", (int)process, strerror(error));
}
