/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways a process ends. usage: endings exit | return | _exit | raw | _Exit | quick_exit | abort
 * | pthread_exit | terminate | killed | close-all FILE | many [BLOCKS]
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *kept;

static void free_at_exit(void)
{
    free(kept);
    free(malloc(8000));
}

static void allocate(int count)
{
    for (int i = 0; i < count; i++)
        free(malloc((size_t)(i % 300) + 1));
}

/*
 * Does as a daemon: closes every descriptor, then opens its own, which get the same numbers.
 * The file must hold its own 26 letters and nothing else at the end.
 */
static int close_all(const char *path)
{
    allocate(10);
    for (int i = 0; i < 1024; i++)
        close(i);
    char letters[27] = "abcdefghijklmnopqrstuvwxyz";
    for (int i = 0; i < 1020; i++)
        if (open(path, O_RDWR | O_CREAT, 0600) < 0)
            return 1;
    if (chdir("/") != 0 || write(5, letters, 26) != 26)
        return 1;
    allocate(60000);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    kept = malloc(9000);
    if (strcmp(what, "close-all") == 0)
        return close_all(argv[2]);
    atexit(free_at_exit);
    at_quick_exit(free_at_exit);
    allocate(100);
    if (strcmp(what, "exit") == 0)
        exit(3);
    if (strcmp(what, "_exit") == 0)
        _exit(4);
    if (strcmp(what, "raw") == 0)
        syscall(SYS_exit_group, 7);
    if (strcmp(what, "_Exit") == 0)
        _Exit(5);
    if (strcmp(what, "quick_exit") == 0)
        quick_exit(6);
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "terminate") == 0)
        raise(SIGTERM);
    if (strcmp(what, "killed") == 0) {
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        free(malloc(7000));
        raise(SIGKILL);
    }
    if (strcmp(what, "pthread_exit") == 0)
        pthread_exit(NULL);
    if (strcmp(what, "many") == 0)
        allocate(argc > 2 ? atoi(argv[2]) : 200000);
    return 0;
}
