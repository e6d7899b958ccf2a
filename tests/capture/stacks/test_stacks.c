/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares whole stacks with libunwind's; see shapes.h for the functions that are called. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "schemas/trace_codec.h"
#include "tests/capture/stacks/event.h"
#include "tests/capture/stacks/shapes.h"
#include "tests/capture/stacks/stack_oracle.h"
#include "tests/soak.h"

#define STAY() __asm__ volatile("" ::: "memory")

static struct stack_oracle_counts before;

static int begin(void **data)
{
    before = stack_oracle_counts();
    event_compare_every(1);
    return 0;
}

/* Checks that at least this many stacks were compared since the test began, and none differed. */
static void assert_compared(unsigned long least)
{
    struct stack_oracle_counts now = stack_oracle_counts();
    assert_int_equal(now.differences - before.differences, 0);
    assert_true(now.compared - before.compared >= least);
}

static void test_shapes(void **data)
{
    unsigned random = 1;
    const unsigned times = (unsigned)in_soak(10000, 1000);
    for (unsigned i = 0; i < times; i++)
        shapes_descend(&random, 1 + shapes_random(&random, 40));
    assert_compared(10 * times);
}

static void test_twin_callers(void **data)
{
    unsigned random = 7;
    uint32_t left, right;
    for (unsigned i = 0; i < 10000; i++) {
        shapes_twin_left();
        left = event_last_node();
        if (shapes_random(&random, 2))
            shapes_twin_left();
        shapes_twin_right();
        right = event_last_node();
        assert_int_not_equal(left, right);
    }
    assert_compared(20000);
}

/* Inner parts come again, over the same callers and over others. */
static void test_branches(void **data)
{
    unsigned random = 5;
    uint32_t nodes[2][2] = {{0, 0}, {0, 0}};
    for (unsigned i = 0; i < 10000; i++) {
        unsigned outer = shapes_random(&random, 2), inner = shapes_random(&random, 2);
        shapes_branch(outer, inner);
        uint32_t *node = &nodes[outer][inner];
        if (!*node)
            *node = event_last_node();
        assert_int_equal(event_last_node(), *node);
    }
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < i; j++)
            assert_int_not_equal(nodes[i / 2][i % 2], nodes[j / 2][j % 2]);
    assert_compared(10000);
}

/*
 * Two different stacks have the same words, and only the frame pointer differs: first that of the
 * innermost frame, then that of a frame that was kept.
 */
static void test_frame_pointer_alone(void **data)
{
    static const struct {
        unsigned below, caller, lower, both;
    } steps[] = {{1, 0, 0, 0}, {1, 1, 1, 0}, {1, 0, 0, 1}, {0, 0, 1, 1}, {0, 1, 0, 0}};
    for (unsigned i = 0; i < 500; i++) {
        if (steps[i % 5].below)
            shapes_below();
        shapes_moved(steps[i % 5].caller, steps[i % 5].lower, steps[i % 5].both);
    }
    assert_compared(1000);
}

static void test_exceptions(void **data)
{
    unsigned random = 3;
    for (unsigned i = 0; i < 500; i++)
        shapes_exceptions(&random, shapes_random(&random, 12));
    assert_compared(5000);
}

static void *thread_run(void *data)
{
    unsigned random = (unsigned)(uintptr_t)data;
    for (unsigned i = 0; i < 1000; i++)
        shapes_descend(&random, 1 + shapes_random(&random, 30));
    return NULL;
}

static void test_threads(void **data)
{
    pthread_t threads[4];
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, thread_run, (void *)(uintptr_t)(i + 1)),
                         0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_compared(15000);
}

static void on_signal(int number)
{
    event();
    shapes_twin_left();
    shapes_recurse(3, 2);
    STAY();
}

static void signals_take(int flags)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    unsigned random = 11;
    sigaction(SIGUSR1, &action, NULL);
    for (unsigned i = 0; i < 2000; i++) {
        raise(SIGUSR1);
        shapes_descend(&random, shapes_random(&random, 6));
    }
    signal(SIGUSR1, SIG_DFL);
}

static void test_signals(void **data)
{
    signals_take(0);
    assert_compared(6000);
}

static void test_alternate_stack(void **data)
{
    size_t size = 1 << 18;
    stack_t stack = {.ss_sp = malloc(size), .ss_size = size}, old;
    assert_int_equal(sigaltstack(&stack, &old), 0);
    signals_take(SA_ONSTACK);
    sigaltstack(&old, NULL);
    free(stack.ss_sp);
    assert_compared(6000);
}

static timer_t timer;

/* Lets the program run before the next signal, however long this one took. */
static void interrupt_soon(void)
{
    timer_settime(timer, 0, &(struct itimerspec){.it_value = {0, 50000}}, NULL);
}

static void on_timer(int number)
{
    on_signal(number);
    interrupt_soon();
}

/* Interrupts code at any instruction: prologues, epilogues, linkage tables. */
static void test_interrupted_anywhere(void **data)
{
    struct sigaction action = {.sa_handler = on_timer};
    struct sigevent notify = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    unsigned random = 13;
    unsigned long target = stack_oracle_counts().compared + 20000;
    sigaction(SIGUSR1, &action, NULL);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &notify, &timer), 0);
    interrupt_soon();
    event_compare_every(7);
    while (stack_oracle_counts().compared < target)
        shapes_descend(&random, 1 + shapes_random(&random, 20));
    signal(SIGUSR1, SIG_IGN);
    timer_delete(timer);
    signal(SIGUSR1, SIG_DFL);
    assert_compared(1000);
}

static volatile int stepping;

/* Sets the processor's trap flag, which stops it after each instruction. */
static void on_step(int number, siginfo_t *information, void *interrupted)
{
    greg_t *flags = &((ucontext_t *)interrupted)->uc_mcontext.gregs[REG_EFL];
    *flags = stepping ? *flags | 0x100 : *flags & ~(greg_t)0x100;
    if (stepping)
        event();
}

__attribute__((noinline)) static void jump(jmp_buf *place)
{
    longjmp(*place, 1);
}

__attribute__((noinline)) static void jump_out(jmp_buf *place)
{
    volatile char space[200] = {1};
    (void)space;
    jump(place);
}

__attribute__((noinline)) static void jump_in_steps(void)
{
    jmp_buf place;
    if (setjmp(place) == 0) {
        stepping = 1;
        raise(SIGTRAP);
        jump_out(&place);
    }
    stepping = 0;
    STAY();
}

/* Takes stacks at every instruction from a call to the second return of its setjmp. */
static void test_jump_in_steps(void **data)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    unsigned long jumps = stack_oracle_counts().jumps;
    jmp_buf place;
    if (setjmp(place) == 0) /* binds the symbol, so that the loader does not run in the steps */
        jump_out(&place);
    sigaction(SIGTRAP, &action, NULL);
    jump_in_steps();
    signal(SIGTRAP, SIG_DFL);
    assert_true(stack_oracle_counts().jumps - jumps >= 5);
    assert_compared(50);
}

static ucontext_t main_context, coroutines[3];

static void coroutine_yielding(unsigned index)
{
    unsigned random = 17 + index;
    for (;;) {
        shapes_descend(&random, shapes_random(&random, 10));
        swapcontext(&coroutines[index], &main_context);
    }
}

static void test_coroutines(void **data)
{
    size_t size = 1 << 18;
    unsigned random = 19;
    void *stacks[3];
    for (unsigned i = 0; i < 3; i++) {
        stacks[i] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = stacks[i];
        coroutines[i].uc_stack.ss_size = size;
        makecontext(&coroutines[i], (void (*)(void))coroutine_yielding, 1, i);
    }
    for (unsigned i = 0; i < 2000; i++) {
        swapcontext(&main_context, &coroutines[shapes_random(&random, 3)]);
        shapes_descend(&random, shapes_random(&random, 6));
    }
    for (unsigned i = 0; i < 3; i++)
        munmap(stacks[i], size);
    assert_compared(5000);
}

static void plugin_take(const char *path, uint32_t *module)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(plugin);
    void (*run)(void (*)(void)) = (void (*)(void (*)(void)))dlsym(plugin, "plugin_run");
    assert_non_null(run);
    run(event);
    *module = stack_oracle_node_module(event_last_node());
    assert_non_null(strstr(stack_oracle_module(*module), path));
    dlclose(plugin);
    stack_modules_changed(NULL);
}

/* Two plug-ins take each other's place in memory. Their code must not be confused. */
static void test_plugins(void **data)
{
    unsigned ended = stack_oracle_ended_modules();
    uint32_t module, last = 0;
    for (unsigned i = 0; i < 20; i++) {
        plugin_take(i % 2 ? PLUGIN_ONE : PLUGIN_TWO, &module);
        assert_int_not_equal(module, last);
        last = module;
    }
    assert_int_equal(stack_oracle_ended_modules() - ended, 20);
    assert_compared(20);
}

/* In the child every node is handed over again, and stacks are still correct. */
static void test_fork(void **data)
{
    struct stack_figures figures;
    pid_t child = fork();
    if (!child) {
        unsigned random = 23;
        stack_after_fork();
        stack_figures(&figures);
        if (figures.nodes || figures.modules)
            _exit(2);
        stack_oracle_forget();
        for (unsigned i = 0; i < 200; i++)
            shapes_descend(&random, 10);
        stack_figures(&figures);
        _exit(figures.nodes == 0 || figures.modules == 0 ||
              stack_oracle_counts().differences != before.differences);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* A child's nodes have numbers that other nodes had in its parent. */
static void fork_with_other_nodes(unsigned caller)
{
    stack_after_fork();
    stack_oracle_forget();
    for (unsigned i = 0; i < 5; i++)
        shapes_moved(caller, 0, 1);
    if (stack_oracle_counts().differences != before.differences)
        _exit(3);
}

static void test_fork_of_fork(void **data)
{
    pid_t child = fork();
    if (!child) {
        fork_with_other_nodes(0);
        fork_with_other_nodes(1);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The innermost frames are right, the cut is marked, and memory is bounded. */
static void test_deep_recursion(void **data)
{
    static uint64_t pcs[8192];
    struct stack_figures figures_before, figures_after;
    unsigned marker;
    event_compare_every(1000000000);
    stack_figures(&figures_before);
    shapes_recurse(100000, 10);
    stack_figures(&figures_after);
    size_t count = stack_oracle_expand(event_last_node(), pcs, 8192, &marker);
    assert_int_equal(marker, TRACE_FRAME_DEPTH_LIMIT);
    assert_in_range(count, 2048, 4096);
    assert_true(pcs[1] == pcs[2] && pcs[1] == pcs[count - 1]);
    assert_in_range(figures_after.nodes - figures_before.nodes, 4000, 60000);
    event_compare_every(1);
    shapes_recurse(1000, 100);
    assert_compared(10);
}

static void *big_stack(void *data)
{
    test_deep_recursion(data);
    return NULL;
}

static void test_deep_recursion_in_thread(void **data)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 20);
    assert_int_equal(pthread_create(&thread, &attributes, big_stack, data), 0);
    pthread_join(thread, NULL);
}

/* The argument is a pattern of the tests to run. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_shapes, begin),
        cmocka_unit_test_setup(test_twin_callers, begin),
        cmocka_unit_test_setup(test_branches, begin),
        cmocka_unit_test_setup(test_frame_pointer_alone, begin),
        cmocka_unit_test_setup(test_exceptions, begin),
        cmocka_unit_test_setup(test_threads, begin),
        cmocka_unit_test_setup(test_signals, begin),
        cmocka_unit_test_setup(test_alternate_stack, begin),
        cmocka_unit_test_setup(test_interrupted_anywhere, begin),
        cmocka_unit_test_setup(test_jump_in_steps, begin),
        cmocka_unit_test_setup(test_coroutines, begin),
        cmocka_unit_test_setup(test_plugins, begin),
        cmocka_unit_test_setup(test_fork, begin),
        cmocka_unit_test_setup(test_fork_of_fork, begin),
        cmocka_unit_test_setup(test_deep_recursion_in_thread, begin),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    stack_oracle_init(&(struct stack_options){.unwind = STACK_UNWIND_AUTO});
    return cmocka_run_group_tests(tests, NULL, NULL);
}
