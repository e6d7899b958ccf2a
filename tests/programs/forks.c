/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children of every kind. usage: forks many COUNT [BLOCKS] | clone | vfork | spawn | exec |
 * failed-exec | grandchild
 *
 * Each process allocates blocks of sizes that tell who it was. Each of many children allocates so
 * many BLOCKS, 5 unless told.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void allocate(size_t size, int count)
{
    for (int i = 0; i < count; i++)
        free(malloc(size));
}

static bool wait_for(pid_t child)
{
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool fork_many(int count, int blocks)
{
    for (int i = 0; i < count; i++) {
        allocate(1000, 3);
        pid_t child = fork();
        if (child == 0) {
            allocate(2000 + (size_t)i, blocks);
            _exit(0);
        }
        if (!wait_for(child))
            return false;
    }
    return true;
}

/* The system call itself: no handler of pthread_atfork runs. */
static bool clone_raw(void)
{
    allocate(1000, 3);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        allocate(2000, 5);
        _exit(0);
    }
    bool good = wait_for(child);
    allocate(1000, 3);
    return good;
}

static bool grandchild(void)
{
    pid_t child = fork();
    if (child == 0) {
        allocate(2000, 5);
        pid_t second = fork();
        if (second == 0) {
            allocate(3000, 5);
            exit(0);
        }
        exit(wait_for(second) ? 0 : 1);
    }
    return wait_for(child);
}

static bool vfork_and(const char *self, bool run)
{
    allocate(1000, 3);
    pid_t child = vfork();
    if (child == 0) {
        if (run)
            execl(self, self, "leaf", (char *)NULL);
        _exit(run ? 1 : 0);
    }
    bool good = wait_for(child);
    allocate(1000, 3);
    return good;
}

static bool spawn(char *self, char **environment)
{
    char leaf[] = "leaf", *arguments[] = {self, leaf, NULL};
    pid_t child;
    allocate(1000, 3);
    if (posix_spawn(&child, self, NULL, NULL, arguments, environment) != 0)
        return false;
    bool good = wait_for(child);
    allocate(1000, 3);
    return good;
}

static bool run_nothing(void)
{
    allocate(1000, 3);
    execl("/nonexistent/program", "program", (char *)NULL);
    if (errno != ENOENT)
        return false;
    allocate(1000, 3);
    char *arguments[] = {NULL};
    execvp("no-such-program-anywhere", arguments);
    if (errno != ENOENT)
        return false;
    allocate(1000, 3);
    return true;
}

int main(int argc, char **argv, char **environment)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool good = false;
    if (strcmp(what, "leaf") == 0) {
        allocate(4000, 5);
        good = true;
    } else if (strcmp(what, "many") == 0)
        good = fork_many(atoi(argv[2]), argc > 3 ? atoi(argv[3]) : 5);
    else if (strcmp(what, "clone") == 0)
        good = clone_raw();
    else if (strcmp(what, "grandchild") == 0)
        good = grandchild();
    else if (strcmp(what, "vfork") == 0)
        good = vfork_and(argv[0], true);
    else if (strcmp(what, "vfork-exit") == 0)
        good = vfork_and(argv[0], false);
    else if (strcmp(what, "spawn") == 0)
        good = spawn(argv[0], environment);
    else if (strcmp(what, "failed-exec") == 0)
        good = run_nothing();
    else if (strcmp(what, "exec") == 0) {
        allocate(1000, 3);
        execle(argv[0], argv[0], "leaf", (char *)NULL, environment);
    }
    return good ? 0 : 1;
}
