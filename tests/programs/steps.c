/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does what its standard input says, byte by byte: a digit N allocates and frees 6000 + N bytes;
 * 's' starts a thread that allocates until the end; 'k' allocates 7000 bytes for good; '+' and '-'
 * call mprof_on_snapshot() with a callback that frees the block, allocates 8000 bytes and takes a
 * snapshot itself, and without; 'p' takes a snapshot; 'm' sets the mark "one", then "two", …; 'r'
 * calls mprof_resume(); 'b' allocates 120 MiB for good, all of it touched; 'c' frees it; 'g' asks
 * realloc for 7000 bytes in its place. After each it writes the byte to standard output. Ends with
 * its input, or at 'e'.
 *
 * 'x' starts this program once more, 'f' forks: what comes is for the new process then, until it
 * ends.
 */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/mprof.h"

#define BIG ((size_t)120 << 20)

static atomic_bool done;

static void *spin(void *unused)
{
    const struct timespec short_while = {.tv_nsec = 100000};
    (void)unused;
    while (!done) {
        for (int i = 0; i < 50; i++)
            free(malloc(32));
        nanosleep(&short_while, NULL);
    }
    return NULL;
}

static void *kept;

static void collect(void *data)
{
    free(kept);
    kept = NULL;
    free(malloc(*(const size_t *)data));
    mprof_snapshot("within");
}

/* False in a forked child; *good is whether all went well. */
static bool go_on_behind_another(char step, char **argv, bool *good)
{
    pid_t child = -1;
    int status = 1;
    if (step == 'x')
        *good = posix_spawn(&child, argv[0], NULL, NULL, argv, environ) == 0;
    else
        child = fork();
    if (child == 0)
        return false;
    *good = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    return true;
}

int main(int argc, char **argv)
{
    bool good = argc > 0, ends = false;
    static const char *const names[] = {"one", "two", "three", "four", "five"};
    size_t marked = 0;
    static size_t callback_size = 8000;
    char step;
    pthread_t threads[8];
    int count = 0;
    while (good && !ends && read(STDIN_FILENO, &step, 1) == 1) {
        if (step >= '0' && step <= '9')
            free(malloc(6000 + (size_t)(step - '0')));
        else if (step == 'k')
            kept = malloc(7000);
        else if (step == '+')
            mprof_on_snapshot(collect, &callback_size);
        else if (step == '-')
            mprof_on_snapshot(NULL, NULL);
        else if (step == 'm' && marked < sizeof names / sizeof *names)
            mprof_mark(names[marked++]);
        else if (step == 'r')
            mprof_resume();
        else if (step == 'b' && (kept = malloc(BIG)) != NULL)
            memset(kept, 1, BIG);
        else if (step == 'c') {
            free(kept);
            kept = NULL;
        } else if (step == 'g')
            kept = realloc(kept, 7000);
        else if (step == 'p')
            mprof_snapshot("own");
        else if (step == 's' && count < 8 && pthread_create(&threads[count++], NULL, spin, NULL))
            return 1;
        else if (step == 'e')
            ends = true;
        if (write(STDOUT_FILENO, &step, 1) != 1)
            return 1;
        /* The threads are the parent's. */
        if ((step == 'x' || step == 'f') && !go_on_behind_another(step, argv, &good))
            count = 0;
    }
    done = true;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return good ? 0 : 1;
}
