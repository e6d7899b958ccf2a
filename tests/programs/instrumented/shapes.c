/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of every shape, built with -finstrument-functions: each block has a size of its own, so
 * that its stack can be told by it. Functions whose names begin with in_ report themselves; those
 * of elsewhere.c do not.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "elsewhere.h"

#define NOINLINE __attribute__((noinline))

static volatile int one = 1; /* not known to the compiler */

static NOINLINE void in_block(size_t size)
{
    free(malloc(size));
}

static NOINLINE void in_recurse(int depth, size_t size)
{
    in_block(size + (size_t)depth);
    if (depth > 0)
        in_recurse(depth - one, size);
    in_block(size + 100 + (size_t)depth);
}

static NOINLINE void in_odd(int depth);
static NOINLINE void in_even(int depth)
{
    in_block(1300 + (size_t)depth);
    if (depth > 0)
        in_odd(depth - one);
}
static NOINLINE void in_odd(int depth)
{
    in_block(1300 + (size_t)depth);
    if (depth > 0)
        in_even(depth - one);
}

/* Functions left by longjmp, and then one with a larger frame than theirs in their place. */
static jmp_buf back;

static NOINLINE void in_jump(int depth)
{
    if (depth > 0)
        in_jump(depth - one);
    in_block(1500 + (size_t)depth);
    if (depth == 0)
        longjmp(back, 1);
}

static NOINLINE void in_large(size_t size)
{
    volatile char room[3000];
    room[0] = (char)one;
    in_block(size + (size_t)(room[0] - 1));
}

static NOINLINE void in_many_arguments(int a, int b, int c, int d, int e, int f, int g, int h,
                                       int i)
{
    in_block((size_t)(1600 + (a + b + c + d + e + f + g + h + i) * 0));
}

static NOINLINE void in_jumps(void)
{
    for (volatile int round = 0; round < 3; round++) {
        if (setjmp(back) == 0)
            in_jump(4);
        in_large(1550 + (size_t)round);
        if (setjmp(back) == 0)
            in_jump(2);
        in_many_arguments(one, one, one, one, one, one, one, one, one);
        free(malloc(1570 + (size_t)round));
    }
}

static int in_compare(const void *a, const void *b)
{
    static int calls;
    if (calls++ < 3)
        in_block(1700 + (size_t)calls);
    return *(const int *)a - *(const int *)b;
}

static NOINLINE void in_sort(void)
{
    int numbers[] = {4, 1, 3, 2};
    qsort(numbers, 4, sizeof *numbers, in_compare);
    in_block(1710);
    elsewhere_strdup(1720);
}

/* A library that calls back through one place, each time another function. */
static void in_first(int depth)
{
    in_block(1800 + (size_t)depth);
    if (depth > 0)
        elsewhere_call(depth % 2 ? in_first : in_recurse_callback, depth - 1);
}
void in_recurse_callback(int depth)
{
    in_block(1800 + (size_t)depth);
    if (depth > 0)
        elsewhere_call(in_first, depth - 1);
}

static void in_leaver(int depth)
{
    (void)depth;
    longjmp(back, 1);
}
static void in_stayer(int depth)
{
    in_block(1850 + (size_t)depth);
}

/* The same call, of a function that is left by longjmp and of one that is not. */
static NOINLINE void in_same_place(void)
{
    void (*volatile functions[])(int) = {in_leaver, in_stayer, in_leaver, in_stayer};
    for (volatile int i = 0; i < 4; i++)
        if (setjmp(back) == 0)
            functions[i](i);
}

static inline __attribute__((always_inline)) void in_inline_inner(size_t size)
{
    free(malloc(size));
    in_block(size + 1);
}
static inline __attribute__((always_inline)) void in_inline_outer(size_t size)
{
    free(malloc(size));
    in_inline_inner(size + 10);
    in_block(size + 1);
}

static NOINLINE void in_inlines(size_t size, size_t room)
{
    in_inline_outer(size);
    char *memory = __builtin_alloca(room);
    memset(memory, one, room);
    in_inline_outer(size + 30);
    in_block(size + 60 + (size_t)(memory[room - 1] - 1));
    if (size < 2100)
        in_inlines(size + 100, room * 2);
    in_block(size + 70);
}

static void in_handler(int signal)
{
    in_block(2300 + (size_t)signal);
}

static sigjmp_buf signal_back;
static void in_leaving_handler(int signal)
{
    in_block(2400 + (size_t)signal);
    siglongjmp(signal_back, 1);
}

static NOINLINE void in_signal(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(signal, &action, NULL);
    for (volatile int round = 0; round < 2; round++)
        if (sigsetjmp(signal_back, 1) == 0)
            raise(signal);
    in_large(2500 + (size_t)signal);
}

static NOINLINE void in_signals(void)
{
    static char alternate[65536];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
    in_signal(SIGUSR1, in_handler, 0);
    in_signal(SIGUSR2, in_handler, SA_ONSTACK);
    in_signal(SIGURG, in_leaving_handler, 0);
    in_signal(SIGALRM, in_leaving_handler, SA_ONSTACK);
}

/* Coroutines go to and fro, and each goes on in functions that it entered before. */
static ucontext_t main_context, contexts[2];

static NOINLINE void in_yield(int self, size_t size)
{
    in_block(size);
    swapcontext(&contexts[self], self == 0 ? &contexts[1] : &main_context);
    in_block(size + 1);
}

static void in_coroutine(int self)
{
    for (int i = 0; i < 3; i++)
        in_yield(self, (size_t)(2600 + self * 50 + i * 10));
}

static NOINLINE void in_resume(int round)
{
    in_block(2700 + (size_t)round);
    swapcontext(&main_context, &contexts[0]);
    in_block(2710 + (size_t)round);
}

static NOINLINE void in_coroutines(void)
{
    static char stacks[2][65536];
    for (int i = 0; i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack = (stack_t){.ss_sp = stacks[i], .ss_size = sizeof stacks[i]};
        contexts[i].uc_link = &main_context;
        makecontext(&contexts[i], (void (*)(void))in_coroutine, 1, i);
    }
    for (int round = 0; round < 3; round++)
        in_resume(round);
}

static void *in_thread(void *argument)
{
    const size_t number = (size_t)argument;
    for (size_t i = 0; i < 50; i++)
        in_recurse((int)(i % 3), 3000 + number * 200);
    return NULL;
}

static NOINLINE void in_threads(void)
{
    pthread_t threads[4];
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, in_thread, (void *)i);
        for (size_t i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
}

static NOINLINE void in_child(void)
{
    in_block(4000);
    pid_t child = fork();
    if (child == 0) {
        in_block(4001);
        free(malloc(4002));
        return;
    }
    waitpid(child, NULL, 0);
    in_block(4003);
}

static NOINLINE void in_deep(int depth)
{
    if (depth > 0)
        in_deep(depth - one);
    else
        in_block(4100);
    __asm__ volatile("" ::: "memory");
}

static NOINLINE void in_last_act(size_t size)
{
    in_block(size);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        in_deep(atoi(argv[1]));
        in_block(4101);
        return 0;
    }
    in_recurse(20, 1000);
    in_even(5);
    in_jumps();
    in_sort();
    elsewhere_call(in_first, 6);
    in_same_place();
    in_inlines(2000, 50);
    in_signals();
    in_coroutines();
    in_threads();
    in_last_act(3900);
    in_child();
    return argv[0] == NULL;
}
