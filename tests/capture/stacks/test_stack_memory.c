/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the bounds of stacks with those that the C library knows. Counts how often they are
 * looked up in all mappings of the process: once for the first thread's stack, and for no other. */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <cmocka.h>

#include "capture/stack/memory.h"
#include "capture/os/process_maps.h"

#define COROUTINE_STACK 65536u
#define OWN_STACK (UINT64_C(1) << 20)
/* The most bytes that the thread library keeps above a stack, in the same memory. */
#define ABOVE_MOST 16384u
/* A stack that was used before keeps its guard even if the next thread wants none. */
#define GUARD_MOST 8192u

struct process_maps *__real_process_maps_open(void);
struct process_maps *__wrap_process_maps_open(void);
static unsigned opened;

struct process_maps *__wrap_process_maps_open(void)
{
    opened++;
    return __real_process_maps_open();
}

/* Counts failures in threads, where an assertion cannot end the test. */
static unsigned wrong;

static void expect(bool good, const char *what, const struct stack_memory *memory)
{
    if (good)
        return;
    wrong++;
    print_error("%s: %#" PRIx64 " to %#" PRIx64 "\n", what, memory->own_low, memory->own_high);
}

static bool is_in(uint64_t value, uint64_t low, uint64_t high)
{
    return low <= value && value <= high;
}

static void expect_known(const struct stack_memory *memory)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    bool known = pthread_getattr_np(pthread_self(), &attributes) == 0 &&
                 pthread_attr_getstack(&attributes, &low, &size) == 0;
    pthread_attr_destroy(&attributes);
    const uint64_t known_low = (uint64_t)low, known_high = known_low + size;
    expect(known && is_in(memory->own_low, known_low - GUARD_MOST, known_low) &&
               is_in(memory->own_high, known_high - ABOVE_MOST, known_high),
           "not the bounds that the C library knows", memory);
}

static void first_thread_is_looked_up_once(void **state)
{
    struct stack_memory memory;
    opened = 0;
    for (int i = 0; i < 3; i++) {
        stack_memory_init(&memory);
        assert_true(stack_memory_is_own(&memory, (uint64_t)&memory));
        assert_true(stack_memory_is_own(&memory, (uint64_t)getenv("PATH")));
    }
    assert_in_range(opened, 0, 1);
}

static ucontext_t outside, inside;
static struct stack_memory from_coroutine;

static void coroutine(void)
{
    stack_memory_init(&from_coroutine);
}

/* The thread's own stack is found, though the call comes from another one. */
static void *in_coroutine(void *unused)
{
    void *stack = malloc(COROUTINE_STACK);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = COROUTINE_STACK;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
    free(stack);
    expect(stack_memory_is_own(&from_coroutine, (uint64_t)&unused) &&
               from_coroutine.own_high <= (uint64_t)pthread_self(),
           "from a coroutine", &from_coroutine);
    return NULL;
}

static void *in_thread(void *unused)
{
    struct stack_memory memory;
    stack_memory_init(&memory);
    expect(stack_memory_is_own(&memory, (uint64_t)&memory), "not on its own stack", &memory);
    expect_known(&memory);
    return unused;
}

/* In the child this thread is the first one, on its old stack. */
static void *in_forked_child(void *unused)
{
    struct stack_memory memory = {.own_low = 0};
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        stack_memory_init(&memory);
        _exit(stack_memory_is_own(&memory, (uint64_t)&memory) &&
                      memory.own_high <= (uint64_t)pthread_self()
                  ? 0
                  : 1);
    }
    expect(waitpid(child, &status, 0) == child && status == 0, "in a forked child", &memory);
    return unused;
}

static void run(const pthread_attr_t *attributes, void *(*what)(void *))
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, attributes, what, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(wrong, 0);
}

/* Runs before any thread has shown the place of the bounds in its control block. */
static void coroutine_of_a_first_thread_is_looked_up(void **state)
{
    opened = 0;
    run(NULL, in_coroutine);
    assert_int_equal(opened, 1);
}

static void threads_are_not_looked_up(void **state)
{
    static const size_t sizes[] = {65536, 8u << 20, 512u << 20};
    pthread_attr_t attributes;
    opened = 0;
    run(NULL, in_thread);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (size_t guard = 0; guard <= 8192; guard += 4096) {
            pthread_attr_init(&attributes);
            pthread_attr_setstacksize(&attributes, sizes[i]);
            pthread_attr_setguardsize(&attributes, guard);
            run(&attributes, in_thread);
            pthread_attr_destroy(&attributes);
        }
    run(NULL, in_coroutine);
    assert_int_equal(opened, 0);
}

static void stack_of_the_program_is_not_looked_up(void **state)
{
    pthread_attr_t attributes;
    void *stack = malloc(OWN_STACK + 64);
    assert_non_null(stack);
    opened = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, (char *)stack + 48, OWN_STACK);
    run(&attributes, in_thread);
    pthread_attr_destroy(&attributes);
    free(stack);
    assert_int_equal(opened, 0);
}

static void forked_child_of_a_thread(void **state)
{
    run(NULL, in_forked_child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coroutine_of_a_first_thread_is_looked_up),
        cmocka_unit_test(first_thread_is_looked_up_once),
        cmocka_unit_test(threads_are_not_looked_up),
        cmocka_unit_test(stack_of_the_program_is_not_looked_up),
        cmocka_unit_test(forked_child_of_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
