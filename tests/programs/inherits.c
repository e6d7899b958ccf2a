/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forked children that free what they inherited. usage: inherits 3>LOG
 *
 * Each process writes into descriptor 3 one line for each block that it frees and
 * did not allocate: who it is, what it does, the address and the size that the block was allocated
 * with. No line is buffered, so that it holds no memory of its own.
 *
 * Threads allocate and free as fast as they can while the forks are made; each has a block in a
 * shared place, that the child takes over if it finds one there.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT = 200, THREADS = 3 };

void *__libc_malloc(size_t size); /* one that no recorder sees */

static void *kept[KEPT];
static _Atomic(uint64_t) turns[THREADS];
static _Atomic(void *) shown[THREADS];
static _Atomic bool over;
extern char **environ;

static size_t size_of(int i)
{
    return 100 + (size_t)i;
}

static void tell(const char *what, const void *address, size_t size)
{
    char line[128];
    int length = snprintf(line, sizeof line, "%d %s %llu %zu\n", (int)getpid(), what,
                          (unsigned long long)(uintptr_t)address, size);
    if (write(3, line, (size_t)length) != length)
        _exit(7);
}

static void free_kept(int i, const char *what)
{
    tell(what, kept[i], size_of(i));
    free(kept[i]);
}

/* Blocks of 3000 + the thread's number, one shown at a time. */
static void *churn(void *argument)
{
    const size_t number = (size_t)(uintptr_t)argument;
    while (!over) {
        void *block = malloc(3000 + number);
        void *before = atomic_exchange(&shown[number], block);
        free(before);
        if (turns[number]++ % 64 == 63)
            usleep(20);
    }
    return NULL;
}

static void take_shown(void)
{
    for (size_t i = 0; i < THREADS; i++) {
        void *block = atomic_exchange(&shown[i], NULL);
        if (block == NULL)
            continue;
        tell("shown", block, 3000 + i);
        free(block);
    }
}

static void wait_for(pid_t child)
{
    int status;
    if (child <= 0 || waitpid(child, &status, 0) != child || status != 0) {
        dprintf(2, "a child failed\n");
        _exit(1);
    }
}

/* Frees inherited blocks, gets their memory again, frees that. */
static void reuse(void)
{
    for (int i = 100; i < 140; i++) {
        free_kept(i, "free");
        void *again = malloc(size_of(i));
        memset(again, 1, size_of(i));
        free(again);
    }
}

static void grandchild(void)
{
    for (int i = 100; i < 110; i++) {
        free_kept(i, "free");
        kept[i] = malloc(5000); /* its own, at an address that may be one it had inherited */
    }
    pid_t child = fork();
    if (child == 0) {
        for (int i = 110; i < 130; i++)
            free_kept(i, "free");
        for (int i = 100; i < 110; i++) {
            tell("free", kept[i], 5000);
            free(kept[i]);
        }
        take_shown();
        _exit(0);
    }
    wait_for(child);
    for (int i = 110; i < 120; i++) /* its copy of what its child has freed, too */
        free_kept(i, "free");
}

static void resize(void)
{
    for (int i = 100; i < 120; i++) {
        tell("realloc", kept[i], size_of(i));
        kept[i] = realloc(kept[i], i % 2 ? 9000 : size_of(i) - 1);
    }
    for (int i = 100; i < 120; i++)
        free(kept[i]);
}

static void wild(void)
{
    for (int i = 0; i < 7; i++) {
        void *block = __libc_malloc(64000 + 4096 * (size_t)i);
        free(block);
    }
}

static pid_t clone_raw(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < KEPT; i++)
        kept[i] = malloc(size_of(i));
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, churn, (void *)(uintptr_t)i);
    for (size_t i = 0; i < THREADS; i++)
        while (turns[i] < 1000)
            sched_yield();
    for (int round = 0; round < 12; round++) {
        pid_t child = fork();
        if (child == 0) {
            take_shown();
            free_kept(round, "free");
            if (round == 0)
                reuse();
            else if (round == 1)
                resize();
            else if (round == 2)
                wild();
            else if (round == 3)
                grandchild();
            _exit(0);
        }
        wait_for(child);
    }
    over = true;
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 20; i++)
        free_kept(i, "own");
    pid_t child = clone_raw();
    if (child == 0) {
        for (int i = 20; i < 60; i++)
            free_kept(i, "free");
        _exit(0);
    }
    wait_for(child);
    /* The processes that these begin have heaps of their own. */
    char program[] = "/bin/true", *arguments[] = {program, NULL};
    if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0)
        return 1;
    wait_for(child);
    child = fork();
    if (child == 0)
        execv(program, arguments);
    wait_for(child);
    return 0;
}
