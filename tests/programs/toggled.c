/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For mprof-run --toggle: does what its standard input says, byte by byte, and writes the byte when
 * it is done. A digit N allocates and frees 6000 + N bytes; 's' starts a thread that allocates
 * until the end while the first thread, which the signal goes to, only reads; 'i' sends itself
 * SIGUSR1 in the middle of allocating; 'h' sets a handler of its own for SIGUSR1, 'H' says how
 * often it ran.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_bool done, spinning;
static volatile sig_atomic_t handled;

static void *spin(void *unused)
{
    const struct timespec short_while = {.tv_nsec = 100000};
    (void)unused;
    while (!done) {
        for (int i = 0; i < 50; i++)
            free(malloc(5000));
        spinning = true;
        nanosleep(&short_while, NULL);
    }
    return NULL;
}

static void handle(int number)
{
    (void)number;
    handled++;
}

static void allocate_interrupted(void)
{
    for (int i = 0; i < 5000; i++) {
        free(malloc(7000));
        if (i % 500 == 250)
            raise(SIGUSR1);
    }
}

int main(void)
{
    pthread_t thread;
    bool spins = false;
    char step;
    while (read(STDIN_FILENO, &step, 1) == 1) {
        if (step >= '0' && step <= '9')
            free(malloc(6000 + (size_t)(step - '0')));
        else if (step == 's') {
            spins = pthread_create(&thread, NULL, spin, NULL) == 0;
            while (spins && !spinning)
                sched_yield();
        } else if (step == 'i')
            allocate_interrupted();
        else if (step == 'h')
            signal(SIGUSR1, handle);
        else if (step == 'H')
            step = (char)('0' + handled % 10);
        if (write(STDOUT_FILENO, &step, 1) != 1)
            return 1;
    }
    done = true;
    return spins && pthread_join(thread, NULL) != 0;
}
