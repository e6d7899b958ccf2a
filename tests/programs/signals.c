/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A signal handler that allocates, at a high rate, into a program that allocates.
 * usage: signals FOLDER handler | left | step | jump | fork
 *
 * The handler asks for more than there can be: the C library refuses before it touches its lists,
 * so that this is safe while the program is inside malloc. handler: prints how often it did. left:
 * the same in a thread, when the first thread has ended. step: the same, with the handler after
 * each single instruction of some calls. jump: the handler leaves by longjmp, wherever it came.
 * fork: the handler forks; the child waits until the parent is further, then goes on where the
 * handler came.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tests/programs/own_log.h"

#define CALLS 100000
#define STEPPED_CALLS 12 /* few enough for one chunk: at its end signals are blocked */
#define FILLING 4000     /* calls after which the first chunk has its full size and room */
#define JUMPS 500
#define FORKS 60
#define FURTHER 40     /* calls that the parent makes before a child goes on */
#define CHILD_CALLS 30 /* of a child before it ends */

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

/* Has the processor trap after each instruction, or no more; signal handlers run without. The red
 * zone stays as it is. */
static inline __attribute__((always_inline)) void step(bool on)
{
    const uint64_t trap = 0x100;
    if (on)
        __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\t"
                         "lea 128(%%rsp), %%rsp" ::"r"(trap)
                         : "cc", "memory");
    else
        __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\tpopfq\n\t"
                         "lea 128(%%rsp), %%rsp" ::"r"(~trap)
                         : "cc", "memory");
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

static struct own_log log;
static volatile sig_atomic_t is_child;
static _Atomic int *parent_is_done; /* shared with the children */

static void set_timer_once(long microseconds)
{
    struct itimerval timer = {{0, 0}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Memory of its own in the place of what it shares with its parent. */
static void leave_parents_log(void)
{
    struct own_log_head head = *log.head;
    size_t size = sizeof head + head.capacity * sizeof *log.entries;
    if (mmap(log.head, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED)
        abort();
    *log.head = head;
}

static void fork_in_handler(int number)
{
    int error = errno;
    uint64_t seen = atomic_load(&log.head->count);
    (void)number;
    pid_t child = fork();
    if (child < 0)
        abort();
    if (child > 0) {
        handled++;
        if (handled < FORKS)
            set_timer_once(100 + (long)(handled * 37 % 50));
        errno = error;
        return;
    }
    while (atomic_load(&log.head->count) < seen + FURTHER && !atomic_load(parent_is_done))
        sched_yield();
    leave_parents_log();
    is_child = 1;
    errno = error;
}

static void allocate(int calls)
{
    static void *live[64];
    for (int i = 0, of_child = 0; i < calls && of_child < CHILD_CALLS; i++, of_child += is_child) {
        void **place_of = &live[(i * 37) % 64];
        if (*place_of) {
            void *old = *place_of;
            free(old);
            own_log_put(&log, OWN_FREE, old, NULL, 0, 0);
        }
        size_t size = (size_t)(i % 500) + 1;
        *place_of = malloc(size);
        own_log_put(&log, OWN_MALLOC, *place_of, NULL, size, 0);
    }
}

/* The first call of each place is not stepped: it may block signals, and a trap then kills. So may
 * a call that finds a chunk full or too small: the first chunk has grown before. */
static void allocate_in_steps(void)
{
    allocate(FILLING);
    for (int i = 0; i <= STEPPED_CALLS; i++) {
        step(i > 0);
        void *made = malloc(24);
        step(false);
        own_log_put(&log, OWN_MALLOC, made, NULL, 24, 0);
        step(i > 0);
        free(made);
        step(false);
        own_log_put(&log, OWN_FREE, made, NULL, 0, 0);
    }
}

static void jump_out_of_handler(void)
{
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
    allocate(CALLS / 10);
}

/* Each child ends by itself; its status is the test of it. */
static void wait_for_children(void)
{
    int status;
    atomic_store(parent_is_done, 1);
    while (wait(&status) > 0)
        if (status != 0)
            abort();
}

static pthread_t first;

static int run(char **argv)
{
    own_log_open(&log, argv[1], 1, 1000000);
    bool jumps = strcmp(argv[2], "jump") == 0, forks = strcmp(argv[2], "fork") == 0;
    bool steps = strcmp(argv[2], "step") == 0;
    struct sigaction action = {.sa_handler = jumps   ? jump_out
                                             : forks ? fork_in_handler
                                                     : allocate_in_handler};
    sigaction(steps ? SIGTRAP : SIGALRM, &action, NULL);
    if (steps)
        allocate_in_steps();
    else if (jumps)
        jump_out_of_handler();
    else if (forks) {
        parent_is_done = mmap(NULL, sizeof *parent_is_done, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        set_timer_once(100);
        while (handled < FORKS && !is_child && atomic_load(&log.head->count) < 900000)
            allocate(1000);
        if (is_child) {
            allocate(CHILD_CALLS); /* the fork may have come in the last call of all */
            _exit(0);
        }
        wait_for_children();
    } else {
        set_timer(50);
        allocate(CALLS);
        set_timer(0);
    }
    char line[64];
    int length = snprintf(line, sizeof line, "%lu\n", handled);
    return write(1, line, (size_t)length) == length ? 0 : 1;
}

static void *run_without_first(void *argv)
{
    if (pthread_join(first, NULL) != 0)
        abort();
    _exit(run(argv));
}

int main(int argc, char **argv)
{
    pthread_t other;
    if (argc < 3)
        return 2;
    if (strcmp(argv[2], "left") != 0)
        return run(argv);
    first = pthread_self();
    if (pthread_create(&other, NULL, run_without_first, argv) != 0)
        return 1;
    pthread_exit(NULL);
}
