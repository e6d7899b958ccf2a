/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs of malloc and free on stacks that take turns. bench_other_stacks KIND COUNT DEPTH PAIRS
 *
 * "steady": the thread's own stack, which never changes. "own": the thread goes down to four depths
 * in turn. "coroutines": COUNT of them do, each on its own stack, and take turns after each pair.
 * "copied": all run at one place of the thread's own stack, to which their frames are copied. Each
 * goes down by calls of its own. All of it happens in a thread, whose stack is known under valgrind
 * too.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))
#define STACK_SIZE 65536u

struct coroutine {
    uint64_t *sp;
    uint8_t *stack, *copy;
    unsigned way;
    unsigned long left; /* pairs */
};

static struct coroutine *coroutines, *now;
static unsigned depth, count;
static uint64_t *scheduler;
static bool copies;
static void *volatile block;

/* Saves the callee-saved registers and the stack pointer, and takes others. */
void switch_stack(uint64_t **from, uint64_t *to);
__asm__(".text\n"
        ".globl switch_stack\n"
        ".type switch_stack, @function\n"
        "switch_stack:\n"
        ".cfi_startproc\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size switch_stack, . - switch_stack\n");

NOINLINE static int descend(unsigned left, unsigned level, unsigned way)
{
    volatile int result = 0;
    if (left == 0) {
        block = malloc(40 + level % 50);
        free(block);
        if (now)
            switch_stack(&now->sp, scheduler);
    } else if (way >> level % 7 & 1)
        result = descend(left - 1, level + 1, way) + 1;
    else
        result = descend(left - 1, level + 1, way) + 2;
    return result;
}

NOINLINE static int steady(unsigned left, unsigned long pairs)
{
    volatile int result = 0;
    if (left > 0)
        result = steady(left - 1, pairs) + 1;
    for (unsigned long i = 0; left == 0 && i < pairs; i++) {
        block = malloc(64);
        free(block);
    }
    return result;
}

static void run(void)
{
    struct coroutine *self = now;
    for (unsigned long i = 0; self->left > 0; i++, self->left--)
        descend(depth - i % 4, 0, self->way);
    for (;;)
        switch_stack(&self->sp, scheduler);
}

static uint64_t *begin_stack(uint8_t *stack, void (*function)(void))
{
    uint64_t *top = (uint64_t *)((uintptr_t)(stack + STACK_SIZE) & ~(uintptr_t)15) - 3;
    memset(top - 6, 0, 9 * sizeof(*top));
    *top = (uint64_t)function;
    return top - 6;
}

static void schedule(void)
{
    for (bool any = true; any;) {
        any = false;
        for (now = coroutines; now < coroutines + count; now++) {
            if (now->left == 0)
                continue;
            any = true;
            if (copies)
                memcpy(now->sp, now->copy + ((uint8_t *)now->sp - now->stack),
                       (size_t)(now->stack + STACK_SIZE - (uint8_t *)now->sp));
            switch_stack(&scheduler, now->sp);
            if (copies)
                memcpy(now->copy + ((uint8_t *)now->sp - now->stack), now->sp,
                       (size_t)(now->stack + STACK_SIZE - (uint8_t *)now->sp));
        }
    }
    exit(0);
}

static uint8_t *map_stack(void)
{
    return mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *begin(void *arguments)
{
    char **words = arguments;
    uint8_t area[STACK_SIZE];
    uint64_t *home;
    const unsigned long pairs = strtoul(words[4], NULL, 10);
    count = (unsigned)atoi(words[2]);
    depth = (unsigned)atoi(words[3]);
    copies = strcmp(words[1], "copied") == 0;
    if (strcmp(words[1], "steady") == 0) {
        steady(depth, pairs);
        return NULL;
    }
    for (unsigned long i = 0; strcmp(words[1], "own") == 0 && i < pairs; i++)
        descend(depth - i % 4, 0, 0);
    if (strcmp(words[1], "own") == 0)
        return NULL;
    coroutines = calloc(count, sizeof(*coroutines));
    for (unsigned i = 0; i < count; i++) {
        struct coroutine *made = &coroutines[i];
        *made = (struct coroutine){.way = i, .left = pairs / count};
        made->stack = copies ? area : map_stack();
        made->sp = begin_stack(made->stack, run);
        if (copies) {
            made->copy = map_stack();
            memcpy(made->copy, area, STACK_SIZE);
        }
    }
    if (copies)
        switch_stack(&home, begin_stack(map_stack(), schedule));
    schedule();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 5 || pthread_create(&thread, NULL, begin, argv) != 0)
        return 2;
    return pthread_join(thread, NULL);
}
