/*
 * A signal handler that allocates, at a high rate, into a program that allocates.
 * usage: signals FOLDER handler | jump
 *
 * What the handler asks for is more than there can be: the C library refuses before it touches
 * its lists, so that this is safe while the program is inside malloc. handler: prints how often
 * it did. jump: the handler leaves by longjmp, wherever it came.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>

#include "tests/programs/own_log.h"

#define CALLS 100000
#define JUMPS 500

static volatile size_t too_large = SIZE_MAX / 2 + 100;
static volatile unsigned long handled;
static sigjmp_buf place;

static void allocate_in_handler(int number)
{
    int error = errno;
    (void)number;
    if (malloc(too_large))
        abort();
    handled++;
    errno = error;
}

static void jump_out(int number)
{
    (void)number;
    handled++;
    siglongjmp(place, 1);
}

static void set_timer(long microseconds)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void allocate(struct own_log *log, int calls)
{
    static void *live[64];
    for (int i = 0; i < calls; i++) {
        void **place_of = &live[(i * 37) % 64];
        if (*place_of) {
            void *old = *place_of;
            free(old);
            own_log_put(log, OWN_FREE, old, NULL, 0, 0);
        }
        size_t size = (size_t)(i % 500) + 1;
        *place_of = malloc(size);
        own_log_put(log, OWN_MALLOC, *place_of, NULL, size, 0);
    }
}

int main(int argc, char **argv)
{
    struct own_log log;
    if (argc < 3)
        return 2;
    own_log_open(&log, argv[1], 1, 400000);
    int jump = strcmp(argv[2], "jump") == 0;
    struct sigaction action = {.sa_handler = jump ? jump_out : allocate_in_handler};
    sigaction(SIGALRM, &action, NULL);
    if (jump) {
        sigset_t alarm;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        if (sigsetjmp(place, 1) == 0)
            set_timer(200);
        while (handled < JUMPS)
            if (malloc(too_large))
                abort();
        set_timer(0);
        sigprocmask(SIG_BLOCK, &alarm, NULL);
        allocate(&log, CALLS / 10);
    } else {
        set_timer(50);
        allocate(&log, CALLS);
        set_timer(0);
    }
    char line[64];
    int length = snprintf(line, sizeof line, "%lu\n", handled);
    return write(1, line, (size_t)length) == length ? 0 : 1;
}
