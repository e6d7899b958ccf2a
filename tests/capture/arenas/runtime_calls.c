/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An interpreter that hands over its frames, for tests. It runs in some threads at once, while
 * another thread and a signal handler allocate without it, and then in a forked child.
 */
#include <mprof.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 2000, CELLS = 100 };

struct call {
    const char *function;
    unsigned line;
    const void *evaluator;
    struct call *outer;
};
/* Volatile, because the compiler does not know that malloc calls frames(). */
static __thread struct call *volatile top __attribute__((tls_model("initial-exec")));
static void *volatile sink;
static volatile int signals, told;

static unsigned frames(void *data, struct mprof_frame *out, unsigned max)
{
    unsigned count = 0;
    (void)data;
    for (struct call *call = top; call && count < max; call = call->outer)
        out[count++] = (struct mprof_frame){
            .key = call->function, .check = 1, .address = call->evaluator, .line = call->line};
    return count;
}

/* Allocates, which it should not. */
static void name(void *data, const void *key, struct mprof_frame_name *out)
{
    (void)data;
    if (told++ == 0)
        free(malloc(77));
    snprintf(out->function, sizeof(out->function), "toy-%s", (const char *)key);
    strcpy(out->file, "toy.src");
    out->line = 3;
}

__attribute__((noinline)) static void primitive(size_t size)
{
    void *block = malloc(size);
    sink = block;
    free(block);
}

/* Runs two functions in one native frame, and the inner one runs `depth` more of them. */
__attribute__((noinline)) static void evaluate(int depth)
{
    char here;
    struct call outer = {"outer", 10, &here, top};
    struct call inner = {"inner", 20, &here, &outer};
    top = &inner;
    if (depth > 0)
        evaluate(depth - 1);
    else
        primitive(1000);
    top = &outer;
    outer.line = 11;
    primitive(2000);
    top = outer.outer;
    __asm__ volatile("");
}

/* A frame whose evaluator is the inner native frame, then the outer one, and the inner one again,
 * while the native stack stays as it is, registers included. */
__attribute__((noinline)) static void inner_native(const void *outer)
{
    char here;
    struct call call = {"moving", 30, &here, top};
    top = &call;
    for (volatile int i = 0; i < 3; i++) {
        call.evaluator = i == 1 ? outer : &here;
        primitive(4000);
    }
    top = call.outer;
    __asm__ volatile("");
}

__attribute__((noinline)) static void outer_native(void)
{
    char here;
    inner_native(&here);
    __asm__ volatile("");
}

static void on_signal(int number)
{
    (void)number;
    signals++;
    primitive(10);
}

static pthread_barrier_t barrier;

static void *run(void *with)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (i % (ROUNDS / 10) == 0)
            pthread_barrier_wait(&barrier);
        with ? evaluate(1) : primitive(3000);
    }
    return NULL;
}

int main(void)
{
    static const struct mprof_runtime_calls calls = {frames, name};
    static char cells[CELLS][16], text[24];
    pthread_t threads[THREADS];
    mprof_runtime toy = mprof_runtime_create("toy", &calls, NULL);
    outer_native();
    mprof_kind cons = mprof_kind_create(toy, "cons");
    mprof_arena heap = mprof_arena_create("toy", 0), texts = mprof_arena_create("texts", 0);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, i > 0 ? &barrier : NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < CELLS; i++)
        mprof_arena_alloc_kind(heap, cells[i], 16, 1, cons);
    /* The last cell but one survives, the last is freed, and ten more wait for a collection. */
    mprof_collection(toy, 1);
    for (int i = 0; i < CELLS - 2; i++)
        mprof_collected(heap, cells[i]);
    mprof_collection(toy, 0);
    mprof_arena_free(heap, cells[CELLS - 1]);
    for (int i = 0; i < 10; i++)
        mprof_arena_alloc_kind(heap, cells[i], 16, 1, cons);
    /* Types that are told later, of a block of the heap and of one of the arena. */
    void *block = malloc(5000);
    mprof_type_kind(0, block, mprof_kind_create(toy, "vector"));
    mprof_type_kind(0, cells, cons); /* not a block */
    mprof_arena_alloc(texts, text, 24, 1);
    mprof_type_kind(texts, text, mprof_kind_create(toy, "string"));
    free(block);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    pid_t child = fork();
    if (child == 0) {
        evaluate(0);
        mprof_collection(toy, 1);
        mprof_collected(heap, cells[0]);
        mprof_collection(toy, 0);
        mprof_arena_alloc_kind(heap, cells[0], 16, 1, cons);
        exit(signals != 1);
    }
    int status = 1;
    return waitpid(child, &status, 0) != child || status != 0;
}
