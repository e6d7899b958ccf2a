/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks that are not the thread's own, while another thread unmaps, protects and moves all that
 * lies around them by raw system calls. Each stack must be the one that a state finds which knows
 * nothing and asks the kernel for each page, and hardly any event may ask the kernel.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/stack/frame_reach.h"
#include "capture/stack/unwind_step.h"
#include "tests/capture/stacks/split.h"
#include "tests/capture/stacks/stack_oracle.h"

#define PAGE UINT64_C(4096)
#define STACK_SIZE (64 * PAGE)
#define AROUND (4 * PAGE)
#define STACKS 6u
#define MANY 1000u
#define DEEP 700u
#define EVENTS 8000u

/* Also changed by code that assembly calls. */
static volatile unsigned long asked, taken, wrong, stepped;
static uint64_t recursion; /* a return address of a function that calls itself */
static bool checking;

size_t __real_os_copy_memory(uint64_t address, void *buffer, size_t size);
size_t __wrap_os_copy_memory(uint64_t address, void *buffer, size_t size);

size_t __wrap_os_copy_memory(uint64_t address, void *buffer, size_t size)
{
    asked += !checking;
    return __real_os_copy_memory(address, buffer, size);
}

enum unwind_step __real_unwind_step_outward(struct stack_memory *memory, struct unwind_walk *walk,
                                            struct stack_frame *frame, struct stack_frame *caller,
                                            struct stack_pair *probe);
enum unwind_step __wrap_unwind_step_outward(struct stack_memory *memory, struct unwind_walk *walk,
                                            struct stack_frame *frame, struct stack_frame *caller,
                                            struct stack_pair *probe);

enum unwind_step __wrap_unwind_step_outward(struct stack_memory *memory, struct unwind_walk *walk,
                                            struct stack_frame *frame, struct stack_frame *caller,
                                            struct stack_pair *probe)
{
    stepped += !checking;
    return __real_unwind_step_outward(memory, walk, frame, caller, probe);
}

/* Takes the stack twice, now and then: as it is known, and as it is. */
__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void event(void)
{
    static _Thread_local struct stack_thread *state, *fresh;
    const void *frame = __builtin_frame_address(0);
    if (!state) {
        state = stack_oracle_thread();
        fresh = stack_oracle_thread();
    }
    const uint32_t node = stack_current(state, frame, NULL);
    if (taken++ % 64 == 0) {
        checking = true;
        /* The check may forget what the code lets frames reach: the next walk learns it again. */
        frame_reach_forget(0, UINT64_MAX);
        stack_thread_init(fresh);
        wrong += node == 0 || stack_current(fresh, frame, NULL) != node;
        checking = false;
    }
    __asm__ volatile("" ::: "memory");
}

/* The program: it goes down to different depths, with frames of several kinds. */
static int descend(unsigned depth, unsigned turn);

__attribute__((noinline)) static int with_array(unsigned depth, unsigned turn)
{
    volatile char space[700];
    space[turn % sizeof(space)] = 1;
    return descend(depth, turn) + space[0];
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static int by_rbp(unsigned depth,
                                                                               unsigned turn)
{
    volatile char space[6000];
    space[turn % sizeof(space)] = 1;
    return descend(depth, turn) + space[0];
}

__attribute__((noinline)) static int descend(unsigned depth, unsigned turn)
{
    volatile int result = 0;
    if (depth == 1)
        recursion = (uint64_t)__builtin_return_address(0);
    if (depth == 0)
        event();
    else if (depth % 16 == 3)
        result = with_array(depth - 1, turn);
    else if (depth % 32 == 17)
        result = by_rbp(depth - 1, turn);
    else
        result = descend(depth - 1, turn) + 1;
    return result;
}

static void work(unsigned events)
{
    for (unsigned i = 0; i < events; i++)
        descend(60 - i % 4, i);
}

__attribute__((noinline)) static int descend_too(unsigned depth, unsigned turn)
{
    volatile int result = 0;
    if (depth == 0)
        event();
    else
        result = descend_too(depth - 1, turn) + 2;
    return result;
}

/*
 * Each stack has pages around it that come and go, with numbers or return addresses in them. All of
 * it lies far below where the kernel puts a mapping by itself: elsewhere it would give away a page
 * that is gone, and this test would then take it from its new owner.
 */
#define AREA ((void *)(UINT64_C(1) << 40))
static uint8_t *area, *stacks[MANY];
static unsigned count; /* of them */
static atomic_bool hostile_ends;
static bool return_addresses, deep;

static void *hostile(void *unused)
{
    const uint64_t word = return_addresses ? recursion : 7;
    const int file = memfd_create("around", MFD_CLOEXEC);
    for (uint64_t i = 0; i < AROUND / sizeof(word); i++)
        if (write(file, &word, sizeof(word)) != sizeof(word))
            abort();
    for (unsigned turn = 0; !atomic_load(&hostile_ends); turn++) {
        uint8_t *at = stacks[turn % count] + (turn & 1 ? STACK_SIZE : -AROUND);
        syscall(SYS_munmap, at, AROUND);
        sched_yield();
        if (syscall(SYS_mmap, at, AROUND, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) != (long)at)
            abort();
        sched_yield();
        syscall(SYS_mprotect, at, AROUND, PROT_NONE);
        sched_yield();
        syscall(SYS_mremap, at + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at);
    }
    close(file);
    return unused;
}

static pthread_t hostile_thread;

static void fill(uint8_t *from, uint64_t size)
{
    for (uint64_t i = 0; i < size / sizeof(uint64_t); i++)
        ((uint64_t *)from)[i] = 7;
}

static int begin_with(unsigned stacks_wanted)
{
    const uint64_t step = STACK_SIZE + 2 * AROUND;
    count = stacks_wanted;
    descend(2, 0);
    area = mmap(AREA, count * step, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(area, AREA);
    for (unsigned i = 0; i < count; i++) {
        stacks[i] = area + i * step + AROUND;
        fill(stacks[i] - AROUND, AROUND);
        fill(stacks[i] + STACK_SIZE, AROUND);
    }
    atomic_store(&hostile_ends, false);
    return pthread_create(&hostile_thread, NULL, hostile, NULL);
}

static int begin(void **data)
{
    return begin_with(STACKS);
}

static int begin_many(void **data)
{
    return begin_with(MANY);
}

/* There is room for all of them. */
static int begin_many_deep(void **data)
{
    deep = true;
    return begin_many(data);
}

static int end(void **data)
{
    deep = false;
    atomic_store(&hostile_ends, true);
    pthread_join(hostile_thread, NULL);
    munmap(area, count * (STACK_SIZE + 2 * AROUND));
    return 0;
}

static void counts_begin(void)
{
    asked = taken = wrong = stepped = 0;
}

/* Each check costs a few questions: what was forgotten for it is learned again. */
static void assert_known(unsigned long least)
{
    assert_true(taken >= least);
    assert_int_equal(wrong, 0);
    if (asked > taken / 4)
        print_error("%lu questions to the kernel for %lu events\n", asked, taken);
    assert_true(asked <= taken / 4);
}

static ucontext_t home, contexts[STACKS];

static void context_entry(unsigned index)
{
    for (unsigned i = 0;; i++) {
        work(20);
        swapcontext(&contexts[index], &home);
    }
}

static void test_contexts(void **data)
{
    for (unsigned i = 0; i < STACKS; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i];
        contexts[i].uc_stack.ss_size = STACK_SIZE;
        makecontext(&contexts[i], (void (*)(void))context_entry, 1, i);
    }
    counts_begin();
    for (unsigned i = 0; i < EVENTS / 20; i++)
        swapcontext(&home, &contexts[i % STACKS]);
    assert_known(EVENTS);
}

/* A switch in assembly language, which no table describes. */
void switch_to(void **save, void *to);
void start_on(void **save, void *stack, void (*entry)(void));
__asm__(".text\n"
        "switch_to:\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n"
        "ret\n"
        "start_on:\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "xor %ebp, %ebp\n"
        "call *%rdx\n"
        "hlt\n");

static void *places[MANY], *home_place;
static unsigned running;

static void assembly_entry(void)
{
    const unsigned index = running;
    for (;;) {
        if (deep)
            descend_too(DEEP, 0);
        else
            work(count == MANY ? 1 : 20);
        switch_to(&places[index], home_place);
    }
}

static void test_assembly(void **data)
{
    counts_begin();
    for (running = 0; running < count; running++)
        start_on(&home_place, stacks[running] + STACK_SIZE, assembly_entry);
    for (unsigned i = 0; i < EVENTS / 20; i++)
        switch_to(&home_place, places[i % count]);
    assert_known(EVENTS);
}

/* Each event lies on another stack than the one before. No stack may be walked whole each time. */
static void test_many(void **data)
{
    for (running = 0; running < count; running++)
        start_on(&home_place, stacks[running] + STACK_SIZE, assembly_entry);
    counts_begin();
    for (unsigned i = 0; i < EVENTS; i++)
        switch_to(&home_place, places[i % count]);
    assert_known(EVENTS);
    if (stepped > taken * 4)
        print_error("%lu steps for %lu events\n", stepped, taken);
    assert_true(stepped <= taken * 4);
}

/* The compiler's own function switches the stack, so its rule leads beyond the new one. */
__attribute__((noinline)) static void run_on(uint8_t *top, void (*entry)(void))
{
    __asm__ volatile("mov %%rsp, %%rbx\n mov %0, %%rsp\n call *%1\n mov %%rbx, %%rsp\n"
                     :
                     : "r"(top), "r"(entry)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc",
                       "memory");
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void
run_on_by_rbp(uint8_t *top, void (*entry)(void))
{
    __asm__ volatile("mov %%rsp, %%rbx\n mov %0, %%rsp\n call *%1\n mov %%rbx, %%rsp\n"
                     :
                     : "r"(top), "r"(entry)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc",
                       "memory");
}

static void work_on_stack(void)
{
    work(200);
}

static void run_on_stacks(void)
{
    for (unsigned i = 0; i < EVENTS / 400; i++) {
        run_on(stacks[i % STACKS] + STACK_SIZE, work_on_stack);
        run_on_by_rbp(stacks[i % STACKS] + STACK_SIZE, work_on_stack);
    }
}

static void test_inline_assembly(void **data)
{
    counts_begin();
    run_on_stacks();
    assert_known(EVENTS);
}

/* Around the stacks lie words that look like frames of the program. They change while two stacks
 * are compared, so all that matters is that nothing faults. */
static int begin_with_return_addresses(void **data)
{
    return_addresses = true;
    return begin(data);
}

static void test_looks_like_frames(void **data)
{
    counts_begin();
    run_on_stacks();
    assert_int_equal(taken, EVENTS);
    return_addresses = false;
}

/* Coroutines outlive the stacks on which they were begun: of a thread, or of a coroutine whose
 * frame their outermost function still names. */
static void *begin_in_thread(void *unused)
{
    start_on(&home_place, stacks[0] + STACK_SIZE, assembly_entry);
    return unused;
}

static void begin_on_coroutine(void)
{
    run_on_by_rbp(stacks[0] + STACK_SIZE, assembly_entry);
}

static void *begin_by_rbp(void *unused)
{
    start_on(&home_place, stacks[1] + STACK_SIZE, begin_on_coroutine);
    return unused;
}

static void in_thread(void *(*run)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;
    uint8_t *stack =
        mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK_SIZE);
    pthread_create(&thread, &attributes, run, NULL);
    pthread_join(thread, NULL);
    syscall(SYS_munmap, stack, STACK_SIZE);
}

static void test_beginner_gone(void **data)
{
    if (BY_RBP) /* asks for the saved rbp, which leads to the stack that is gone */
        skip();
    counts_begin();
    running = 0;
    for (unsigned way = 0; way < 3; way++) {
        if (way == 0)
            in_thread(begin_in_thread);
        else if (way == 1)
            in_thread(begin_by_rbp);
        else
            begin_by_rbp(NULL);
        syscall(SYS_munmap, stacks[1], STACK_SIZE);
        for (unsigned i = 0; i < 100; i++)
            switch_to(&home_place, places[0]);
        syscall(SYS_mmap, stacks[1], STACK_SIZE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    assert_known(6000);
}

static void on_signal(int number)
{
    work(50);
}

static void raise_at(unsigned depth)
{
    volatile int after = 0;
    if (depth > 0)
        raise_at(depth - 1);
    else
        raise(SIGUSR1);
    after = 1;
    (void)after;
}

static void test_signal_stack(void **data)
{
    const stack_t stack = {.ss_sp = stacks[0], .ss_size = STACK_SIZE};
    const stack_t none = {.ss_flags = SS_DISABLE};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    counts_begin();
    for (unsigned i = 0; i < EVENTS / 50; i++)
        raise_at(20 + i % 3);
    sigaltstack(&none, NULL);
    assert_known(EVENTS);
}

/* The stack's content is copied out and in, as some coroutines do: all run at one place. */
static uint8_t *copies[2];
static size_t copied;
static jmp_buf back;

__attribute__((noinline)) static void test_copied_inner(unsigned index)
{
    volatile char space[3000];
    space[index] = 1;
    work(10 + index);
    memcpy(copies[index], (const void *)&space, sizeof(space));
    copied += sizeof(space);
    longjmp(back, 1);
}

static void test_copied(void **data)
{
    copies[0] = malloc(8192);
    copies[1] = malloc(8192);
    counts_begin();
    for (volatile unsigned i = 0; i < EVENTS / 10; i++)
        if (setjmp(back) == 0)
            test_copied_inner(i % 2);
    free(copies[0]);
    free(copies[1]);
    assert_known(EVENTS);
}

/* Coroutines whose stacks are copied take turns: all frames differ from those of the last event. */
static void test_turns(void **data)
{
    counts_begin();
    for (unsigned i = 0; i < EVENTS; i++)
        if (i % 2)
            descend(100 - i % 8, i);
        else
            descend_too(100 - i % 8, i);
    assert_known(EVENTS);
    if (stepped > taken)
        print_error("%lu steps for %lu events\n", stepped, taken);
    assert_true(stepped <= taken);
}

/* More of them. Each goes down by calls of its own. */
#define WAYS 40u

__attribute__((noinline)) static int descend_by(unsigned depth, unsigned left, unsigned way)
{
    volatile int result = 0;
    if (left == 0)
        event();
    else if (way >> (depth - left) % 6 & 1)
        result = descend_by(depth, left - 1, way) + 1;
    else
        result = descend_by(depth, left - 1, way) + 2;
    return result;
}

static void test_many_turns(void **data)
{
    static const unsigned depths[] = {8, 30, 200};
    for (unsigned d = 0; d < sizeof(depths) / sizeof(depths[0]); d++)
        for (unsigned known = 0; known < 2; known++) {
            counts_begin();
            for (unsigned i = 0; i < 2 * EVENTS; i++) {
                const unsigned depth = depths[d] - i / WAYS % 4;
                descend_by(depth, depth, i % WAYS);
            }
            assert_known(2 * EVENTS);
            if (known && stepped > taken / 2)
                print_error("%lu steps for %lu events\n", stepped, taken);
            assert_true(!known || stepped <= taken / 2);
        }
}

#ifdef WITH_SPLIT
void split_leaf(void)
{
    work(1);
}

static void test_split(void **data)
{
    counts_begin();
    for (unsigned i = 0; i < EVENTS; i++)
        split_descend(60 - i % 4);
    assert_known(EVENTS);
}
#endif

/* The first thread's stack, deeper than the space that is always free below it. */
__attribute__((noinline)) static int sink_down(unsigned depth)
{
    volatile char space[1 << 16];
    space[0] = 1;
    if (depth > 0)
        return sink_down(depth - 1) + space[0];
    work(EVENTS);
    return space[0];
}

static void test_large_first_stack(void **data)
{
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    if (limit.rlim_cur < UINT64_C(300) << 20) {
        skip();
        return;
    }
    counts_begin();
    sink_down(2400);
    assert_known(EVENTS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_contexts, begin, end),
        cmocka_unit_test_setup_teardown(test_assembly, begin, end),
        cmocka_unit_test_setup_teardown(test_many, begin_many, end),
        cmocka_unit_test_setup_teardown(test_many, begin_many_deep, end),
        cmocka_unit_test_setup_teardown(test_inline_assembly, begin, end),
        cmocka_unit_test_setup_teardown(test_looks_like_frames, begin_with_return_addresses, end),
        cmocka_unit_test_setup_teardown(test_beginner_gone, begin, end),
        cmocka_unit_test_setup_teardown(test_signal_stack, begin, end),
        cmocka_unit_test_setup_teardown(test_copied, begin, end),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_many_turns),
#ifdef WITH_SPLIT
        cmocka_unit_test(test_split),
#endif
        cmocka_unit_test(test_large_first_stack),
    };
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    if (!getenv("MPROF_TEST_LARGE_STACK") && setrlimit(RLIMIT_STACK, &limit) == 0) {
        /* The layout of the address space follows the limit when a program begins. */
        setenv("MPROF_TEST_LARGE_STACK", "1", 1);
        execv("/proc/self/exe", argv);
    }
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    stack_oracle_init(&(struct stack_options){.unwind = BY_RBP ? STACK_UNWIND_FRAME_POINTERS
                                                               : STACK_UNWIND_AUTO});
    return cmocka_run_group_tests(tests, NULL, NULL);
}
