/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that a forked child does not wait for calls of its parent. The recorder is linked in and
 * records nothing in the children.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/os/os.h"
#include "capture/record/recorder.h"

static int inside[2], leave[2];
static _Thread_local bool stays;
static pid_t (*forks)(void);
static pid_t forked;
static unsigned yields;

/* The recorder asks this when it has already counted the call. */
static bool ask(long number, const uint64_t arguments[6])
{
    char one = 0;
    if (number == SYS_getppid && stays && write(inside[1], &one, 1) == 1)
        stays = read(leave[0], &one, 1) != 1;
    if (number == SYS_getppid && forks)
        forked = forks();
    return true;
}

static bool count_yields(long number, const uint64_t arguments[6])
{
    yields += number == SYS_sched_yield;
    return true;
}

/* Ends the child, with 0 if confining itself waited for nobody. */
static _Noreturn void child(void)
{
    recorder_start();
    os_set_permission_check(count_yields);
    _exit(yields != 0);
}

static pid_t raw_fork(void)
{
    return (pid_t)syscall(SYS_fork);
}

static void assert_good(pid_t process)
{
    int status;
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_int_equal(status, 0);
}

static void *stay_inside(void *nothing)
{
    stays = true;
    os_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
    return nothing;
}

static void test_calls_of_other_threads(void **state)
{
    pthread_t thread;
    char one = 0;
    os_set_permission_check(ask);
    assert_int_equal(pthread_create(&thread, NULL, stay_inside, NULL), 0);
    assert_int_equal(read(inside[0], &one, 1), 1);
    pid_t process = fork();
    if (process == 0)
        child();
    assert_good(process);
    process = raw_fork();
    if (process == 0)
        child();
    assert_good(process);
    /* In the parent the call is still under way. */
    os_set_permission_check(count_yields);
    assert_true(yields > 0);
    yields = 0;
    assert_int_equal(write(leave[1], &one, 1), 1);
    pthread_join(thread, NULL);
    os_set_permission_check(count_yields);
    assert_int_equal(yields, 0);
}

static void test_fork_in_a_call(void **state)
{
    pid_t (*const ways[])(void) = {fork, raw_fork};
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        os_set_permission_check(ask);
        forks = ways[i];
        os_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
        forks = NULL;
        if (forked == 0)
            child();
        assert_good(forked);
        yields = 0;
        os_set_permission_check(count_yields);
        assert_int_equal(yields, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_of_other_threads),
        cmocka_unit_test(test_fork_in_a_call),
    };
    const char *trace = getenv("MPROF_OUTPUT");
    if (!trace || unlink(trace) != 0 || pipe(inside) != 0 || pipe(leave) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
