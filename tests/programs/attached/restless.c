/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that are hard to stop at a safe point. usage: attached_restless threads | loads |
 * executes | family FOLDER. The first three create threads, load a library, or execute themselves,
 * over and over, and call no heap function themselves. The last one forks children when FOLDER/fork
 * exists, which allocate and then wait in read. All end when their input does. "breakpoints" ends
 * at once, with 0 if a hardware breakpoint stops a program here.
 */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN 12

static int input_has_ended(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) > 0;
}

static void *nothing(void *context)
{
    return context;
}

static void have_children(const char *folder)
{
    char name[4096];
    int ends[2], done = pipe(ends);
    snprintf(name, sizeof(name), "%s/fork", folder);
    while (access(name, F_OK) != 0)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    for (int i = 0; i < CHILDREN && done == 0; i++)
        if (fork() == 0) {
            close(ends[1]);
            for (int j = 0; j < 5; j++)
                free(malloc(1111));
            _exit(read(ends[0], name, 1) != 0);
        }
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    snprintf(name, sizeof(name), "%s/forked", folder);
    fclose(fopen(name, "w"));
    while (!input_has_ended())
        nanosleep(&(struct timespec){0, 10000000}, NULL);
}

/* Some virtual machines take the address of a breakpoint, and never stop there. */
static int breakpoints_work(void)
{
    void *(*volatile call)(void *) = nothing;
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        call(NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[0]), (uintptr_t)nothing);
    ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[7]), (uintptr_t)1);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    waitpid(child, &status, 0);
    const int stopped = WIFSTOPPED(status);
    if (stopped)
        kill(child, SIGKILL);
    return stopped;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "breakpoints") == 0)
        return !breakpoints_work();
    if (argc < 4) {
        puts("ready");
        fflush(stdout);
    }
    if (strcmp(what, "family") == 0)
        have_children(argv[2]);
    for (unsigned long i = 1; strcmp(what, "family") != 0; i++) {
        pthread_t thread;
        if (i % 64 == 0 && input_has_ended())
            break;
        if (strcmp(what, "threads") == 0 && pthread_create(&thread, NULL, nothing, NULL) == 0)
            pthread_join(thread, NULL);
        if (strcmp(what, "loads") == 0) {
            void *library = dlopen("libanl.so.1", RTLD_NOW);
            if (library)
                dlclose(library);
        }
        if (strcmp(what, "executes") == 0) {
            char again[] = "again";
            char *next[] = {argv[0], argv[1], again, again, NULL};
            nanosleep(&(struct timespec){0, 3000000}, NULL);
            if (!input_has_ended())
                execv(argv[0], next);
            break;
        }
    }
    puts("ok");
    return 0;
}
