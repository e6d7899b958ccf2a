/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that counts itself: threads that allocate in every way and free each other's
 * blocks, short threads that come and go, a fork in the middle, a plug-in that is loaded and
 * unloaded. Each call is reached through a random chain of sixteen functions, which is logged: its
 * stack must show that chain. usage: stress FOLDER PLUGIN THREADS CALLS SEED [forever]
 */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "tests/programs/own_log.h"

#define SHARED 4096
#define SHORT_CALLS 20

static _Atomic(void *) shared[SHARED];
static const char *folder;
static unsigned long calls, seed;
static bool forever;

struct worker {
    struct own_log log;
    uint64_t random;
};

static uint64_t random_number(struct worker *worker)
{
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    return worker->random ^= worker->random << 17;
}

static size_t random_size(struct worker *worker)
{
    uint64_t number = random_number(worker);
    unsigned shift = (unsigned)(number >> 59) % 18;
    return (number & ((UINT64_C(2) << shift) - 1)) + 1;
}

/* The work at the end of a path. */
typedef void *worker_act(struct worker *worker, void *block, unsigned way);

/*
 * A path is a list of function numbers, four bits each, the outermost lowest, with a one above the
 * last. Each function has a frame of another size, and none ends with a jump.
 */
#define PATH_LENGTH_MAX 6u
typedef void *path_function(struct worker *worker, worker_act *act, void *block, unsigned way,
                            uint64_t path);
static path_function *const path_functions[16];

static inline void *path_go_on(struct worker *worker, worker_act *act, void *block, unsigned way,
                               uint64_t path)
{
    return path > 1 ? path_functions[path & 15](worker, act, block, way, path >> 4)
                    : act(worker, block, way);
}

#define PATH_FUNCTION(number)                                                                      \
    __attribute__((noinline)) static void *path_##number(struct worker *worker, worker_act *act,   \
                                                         void *block, unsigned way, uint64_t path) \
    {                                                                                              \
        char space[24 * (number) + 8];                                                             \
        __asm__ volatile("" ::"r"(space) : "memory");                                              \
        void *result = path_go_on(worker, act, block, way, path);                                  \
        __asm__ volatile("" ::"r"(space) : "memory");                                              \
        return result;                                                                             \
    }
PATH_FUNCTION(0)
PATH_FUNCTION(1)
PATH_FUNCTION(2)
PATH_FUNCTION(3)
PATH_FUNCTION(4)
PATH_FUNCTION(5)
PATH_FUNCTION(6)
PATH_FUNCTION(7)
PATH_FUNCTION(8)
PATH_FUNCTION(9)
PATH_FUNCTION(10)
PATH_FUNCTION(11)
PATH_FUNCTION(12)
PATH_FUNCTION(13)
PATH_FUNCTION(14)
PATH_FUNCTION(15)

static path_function *const path_functions[16] = {
    path_0, path_1, path_2,  path_3,  path_4,  path_5,  path_6,  path_7,
    path_8, path_9, path_10, path_11, path_12, path_13, path_14, path_15,
};

static void *worker_by_path(struct worker *worker, worker_act *act, void *block, unsigned way)
{
    uint64_t number = random_number(worker), path = 1;
    for (unsigned length = (unsigned)(number >> 40) % PATH_LENGTH_MAX + 1; length > 0; length--) {
        path = path << 4 | (number & 15);
        number >>= 4;
    }
    worker->log.path = path;
    void *result = path_go_on(worker, act, block, way, path);
    worker->log.path = 0;
    return result;
}

static void *worker_allocate(struct worker *worker, void *unused, unsigned way)
{
    (void)unused;
    size_t size = random_size(worker), count = 0;
    size_t alignment = (size_t)16 << (random_number(worker) % 6);
    void *block = NULL;
    switch (way) {
    case OWN_CALLOC:
        count = size % 7 + 1;
        block = calloc(count, size);
        size *= count;
        break;
    case OWN_REALLOC:
        block = realloc(NULL, size);
        break;
    case OWN_REALLOCARRAY:
        block = reallocarray(NULL, 3, size);
        size *= 3;
        break;
    case OWN_POSIX_MEMALIGN:
        if (posix_memalign(&block, alignment, size) != 0)
            abort();
        break;
    case OWN_ALIGNED_ALLOC:
        size = (size + alignment - 1) & ~(alignment - 1);
        block = aligned_alloc(alignment, size);
        break;
    case OWN_MEMALIGN:
        block = memalign(alignment, size);
        break;
    case OWN_VALLOC:
        block = valloc(size);
        alignment = 4096;
        break;
#ifdef __GLIBC__
    case OWN_PVALLOC:
        block = pvalloc(size);
        alignment = 4096;
        break;
#endif
    default:
        way = OWN_MALLOC;
        block = malloc(size);
        break;
    }
    if (!block)
        abort();
    own_log_put(&worker->log, (enum own_log_call)way, block, NULL, size,
                way >= OWN_POSIX_MEMALIGN ? alignment : 0);
    return block;
}

static void *worker_free(struct worker *worker, void *block, unsigned way)
{
    (void)way;
    if (!block)
        return NULL;
    free(block);
    own_log_put(&worker->log, OWN_FREE, block, NULL, 0, 0);
    return NULL;
}

static void *worker_reallocate(struct worker *worker, void *block, unsigned way)
{
    (void)way;
    size_t size = random_size(worker);
    bool array = random_number(worker) % 4 == 0;
#ifdef __GLIBC__ /* others return a block */
    if (random_number(worker) % 16 == 0) {
        if (realloc(block, 0) != NULL)
            abort();
        own_log_put(&worker->log, OWN_FREE, block, NULL, 0, 0);
        return NULL;
    }
#endif
    /* The old address as a number: the block behind it is gone after the call. */
    uintptr_t old = (uintptr_t)block;
    void *moved = array ? reallocarray(block, 2, size) : realloc(block, size);
    if (!moved)
        abort();
    own_log_put(&worker->log, array ? OWN_REALLOCARRAY : OWN_REALLOC, moved, (void *)old,
                array ? 2 * size : size, 0);
    return moved;
}

/* One step: take what lies in a shared place, do something with it, leave another there. */
static void worker_step(struct worker *worker)
{
    uint64_t number = random_number(worker);
    _Atomic(void *) *place = &shared[number % SHARED];
    void *block = atomic_exchange(place, NULL);
    if (block && number >> 60 < 4)
        block = worker_by_path(worker, worker_reallocate, block, 0);
    else {
        worker_by_path(worker, worker_free, block, 0);
        /* Seven of ten plain malloc. */
        unsigned way = (unsigned)(number >> 32) % 30;
        block = number >> 60 < 12 ? worker_by_path(worker, worker_allocate, NULL, way < 9 ? way : 0)
                                  : NULL;
    }
    worker_by_path(worker, worker_free, atomic_exchange(place, block), 0);
}

static void worker_begin(struct worker *worker, uint64_t salt, int strict, uint64_t capacity)
{
    worker->random = (seed * 2 + 1) * UINT64_C(0x9E3779B97F4A7C15) + salt * 7919 + 1;
    own_log_open(&worker->log, folder, strict, capacity);
}

static void *work(void *argument)
{
    static _Thread_local struct worker worker;
    worker_begin(&worker, (uintptr_t)argument, 1, calls * 4);
    while (atomic_load(&worker.log.head->count) < calls) {
        if (atomic_load(&worker.log.head->count) + 4 > worker.log.head->capacity)
            break;
        worker_step(&worker);
    }
    own_log_close(&worker.log);
    return NULL;
}

static void *work_shortly(void *argument)
{
    static _Thread_local struct worker worker;
    worker_begin(&worker, (uintptr_t)argument, 1, SHORT_CALLS * 4);
    for (int i = 0; i < SHORT_CALLS; i++)
        worker_step(&worker);
    own_log_close(&worker.log);
    return NULL;
}

/* Short threads, two at a time. Only the trace has the blocks of pthread_create. */
static void churn(unsigned threads)
{
    for (unsigned i = 0; i < threads; i += 2) {
        pthread_t pair[2];
        for (unsigned k = 0; k < 2; k++)
            if (pthread_create(&pair[k], NULL, work_shortly, (void *)(uintptr_t)(1000 + i + k)))
                abort();
        for (unsigned k = 0; k < 2; k++)
            pthread_join(pair[k], NULL);
    }
}

static void fork_and_work(struct worker *worker, uint64_t salt)
{
    pid_t child = fork();
    if (child < 0)
        abort();
    if (child > 0) {
        int status;
        if (waitpid(child, &status, 0) != child || status != 0)
            abort();
        return;
    }
    /* The parent's log is the parent's; the blocks that were there are the child's too. */
    worker_begin(worker, salt, 1, 2000);
    for (int i = 0; i < 400; i++)
        worker_step(worker);
    _exit(0);
}

static void use_plugin(struct worker *worker, const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin)
        abort();
    void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(plugin, "plugin_allocate");
    void (*release)(void *) = (void (*)(void *))dlsym(plugin, "plugin_release");
    if (!allocate || !release)
        abort();
    for (int i = 0; i < 50; i++) {
        size_t size = random_size(worker);
        void *block = allocate(size);
        own_log_put(&worker->log, OWN_MALLOC, block, NULL, size, 0);
        release(block);
        own_log_put(&worker->log, OWN_FREE, block, NULL, 0, 0);
    }
    dlclose(plugin);
}

int main(int argc, char **argv)
{
    static struct worker self;
    pthread_t threads[64];
    if (argc < 6)
        return 2;
    folder = argv[1];
    unsigned count = (unsigned)atoi(argv[3]);
    calls = strtoul(argv[4], NULL, 10);
    seed = strtoul(argv[5], NULL, 10);
    forever = argc > 6;
    if (forever)
        calls *= 1000;
    worker_begin(&self, 99, 0, 400000);
    for (unsigned i = 0; i < count && i < 64; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1)) != 0)
            return 1;
    do {
        for (unsigned i = 0; i < 5; i++) {
            churn(20);
            use_plugin(&self, argv[2]);
            struct worker child = self;
            if (!forever)
                fork_and_work(&child, 500 + i);
        }
    } while (forever);
    for (unsigned i = 0; i < count && i < 64; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < SHARED; i += 2) /* half of it stays live */
        worker_free(&self, atomic_exchange(&shared[i], NULL), 0);
    return 0;
}
