/*
 * What can go wrong around a program. Each way ends with 0 if the program got what it would get
 * alone. usage: faults memory | descriptors | lost-descriptors | close-storm | small-stacks |
 * removed TRACE | segv | at-once COUNT | namespaces PLUGIN PLUGIN | clock | clone-inside raw|_Fork
 * m|r|f (clock and clone-inside need below.so behind the recorder).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 60000 /* events that fill a chunk many times */
#define ROUNDS 8   /* of children cloned inside a record */

static bool allocate(size_t size, int count)
{
    for (int i = 0; i < count; i++) {
        void *block = malloc(size);
        if (!block)
            return false;
        free(block);
    }
    return true;
}

static void *thread_allocate(void *unused)
{
    (void)unused;
    return allocate(300, 100) ? (void *)1 : NULL;
}

/* A thread with a stack of `size` bytes, that allocates. */
static bool thread_runs(size_t size, void *(*function)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size);
    return pthread_create(&thread, &attributes, function, NULL) == 0 &&
           pthread_join(thread, &result) == 0 && result;
}

static bool child_is_good(pid_t child)
{
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool forked_child_allocates(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(allocate(2000, 5) ? 0 : 1);
    return child_is_good(child);
}

/* Address space for so much more. */
static bool limit_memory(size_t more)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        return false;
    fclose(file);
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = pages * 4096 + more;
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

#define BLOCKS 4096

/* All address space is used up; then small blocks come and go in what the allocator holds. */
static bool use_up_memory(void)
{
    static void *blocks[BLOCKS];
    unsigned count = 0;
    void *small = malloc(100);
    allocate(300, 100);
    if (!limit_memory(32 << 20))
        return false;
    while (count < BLOCKS && (blocks[count] = malloc(256 << 10)))
        count++;
    bool refused = count < BLOCKS && errno == ENOMEM && !calloc(1, 256 << 10) && errno == ENOMEM &&
                   !realloc(small, 256 << 10) && errno == ENOMEM;
    for (int i = 0; i < MANY; i++) {
        free(malloc(300));
        errno = 0;
        if (i % 1000 == 0 && (malloc(16 << 20) || errno != ENOMEM))
            return false;
    }
    while (count > 0)
        free(blocks[--count]);
    free(small);
    return refused && allocate(5000, 1000);
}

/* Every descriptor is taken, after `first` and what follows were closed. */
static bool use_up_descriptors(int first, bool close_others)
{
    struct rlimit limit = {256, 256};
    allocate(300, 100);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    for (int i = first; close_others && i < 1024; i++)
        close(i);
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    if (errno != EMFILE || !allocate(300, MANY))
        return false;
    return thread_runs(64 << 10, thread_allocate) && forked_child_allocates();
}

static atomic_int storms_ended;

static void *allocate_in_storm(void *unused)
{
    (void)unused;
    void *result = allocate(300, 2 * MANY) ? (void *)1 : NULL;
    storms_ended++;
    return result;
}

/* Every descriptor is closed over and over, while threads need room in the trace. */
static bool close_over_and_over(void)
{
    pthread_t threads[4];
    bool good = true;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, allocate_in_storm, NULL))
            return false;
    while (storms_ended < 4)
        closefrom(3);
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        good = pthread_join(threads[i], &result) == 0 && result && good;
    }
    return good;
}

static volatile size_t too_large = SIZE_MAX / 2 + 100;

static void *small_stack(void *unused)
{
    void *block = malloc(7000), *other = NULL;
    (void)unused;
    block = realloc(block, 7001);
    block = reallocarray(block, 2, 3501);
    free(block);
    free(calloc(7, 1000));
    if (posix_memalign(&other, 64, 7003) != 0 || malloc(too_large))
        return NULL;
    free(other);
    free(aligned_alloc(64, 7040));
    /* Its first event makes a trace of its own, on this stack. */
    return forked_child_allocates() ? (void *)1 : NULL;
}

static volatile sig_atomic_t handled;

static void allocate_in_handler(int number)
{
    (void)number;
    if (!malloc(too_large)) /* refused before the C library touches its lists */
        handled = 1;
}

static void *signal_stack(void *unused)
{
    static char memory[8192];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction action = {.sa_handler = allocate_in_handler, .sa_flags = SA_ONSTACK};
    (void)unused;
    if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        return NULL;
    raise(SIGUSR1);
    return handled ? (void *)1 : NULL;
}

static bool small_stacks(void)
{
    for (int i = 0; i < 5; i++)
        if (!thread_runs(64 << 10, small_stack) || !thread_runs(16 << 10, small_stack))
            return false;
    return thread_runs(64 << 10, signal_stack) && forked_child_allocates();
}

static bool remove_trace(const char *path)
{
    allocate(300, 100);
    return unlink(path) == 0 && allocate(300, MANY) && forked_child_allocates();
}

static bool children_at_once(int count)
{
    pid_t children[1024];
    if (count > 1024)
        return false;
    for (int i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(allocate(2000 + (size_t)i, 5) ? 0 : 1);
    }
    bool good = true;
    for (int i = 0; i < count; i++)
        good = child_is_good(children[i]) && good;
    return good && allocate(1000, 3);
}

static bool step_clock(void)
{
    static const long steps[] = {3600, -3600, 0, 1000000, -1000000, 5, -5, 0};
    _Atomic long *step = (_Atomic long *)dlsym(RTLD_DEFAULT, "below_clock_step");
    if (!step)
        return false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        atomic_store(step, steps[i]);
        if (!allocate(1000, 1) || !allocate(100 + i, 4000) ||
            !thread_runs(64 << 10, thread_allocate))
            return false;
    }
    return true;
}

static void allocate_for_plugin(void)
{
    free(malloc(3000));
}

/*
 * Plug-ins in namespaces of their own, each with a C library of its own, whose blocks nobody sees.
 * One calls back into this program, so its frames are on a recorded stack; the other allocates.
 */
static bool open_namespaces(const char *calls, const char *allocates)
{
    for (int round = 0; round < 5; round++) {
        void *one = dlmopen(LM_ID_NEWLM, calls, RTLD_NOW);
        void *two = dlmopen(LM_ID_NEWLM, allocates, RTLD_NOW);
        if (!one || !two)
            return false;
        void (*run)(void (*)(void)) = (void (*)(void (*)(void)))dlsym(one, "plugin_run");
        void *(*make)(size_t) = (void *(*)(size_t))dlsym(two, "plugin_allocate");
        void (*give_back)(void *) = (void (*)(void *))dlsym(two, "plugin_release");
        for (int i = 0; i < 10; i++)
            run(allocate_for_plugin);
        void *block = make(4000);
        if (!block)
            return false;
        memset(block, 1, 4000);
        give_back(block);
        if (dlclose(one) != 0 || dlclose(two) != 0)
            return false;
        allocate(3001, 10);
    }
    return true;
}

static struct {
    _Atomic int parent_is_further;
    _Atomic int children;
} * shared;
static bool by_underscore_fork;
static pid_t child_inside;

/* In the child: once the parent is further, back into the record that it came from. */
static void clone_here(void)
{
    child_inside =
        by_underscore_fork ? _Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child_inside != 0)
        return;
    atomic_fetch_add(&shared->children, 1);
    while (!atomic_load(&shared->parent_is_further))
        sched_yield();
}

static bool clone_inside(const char *way, char call)
{
    void (*ask)(char, void (*)(void)) =
        (void (*)(char, void (*)(void)))dlsym(RTLD_DEFAULT, "below_ask");
    by_underscore_fork = strcmp(way, "_Fork") == 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!ask)
        return false;
    for (int round = 0; round < ROUNDS; round++) {
        void *block = malloc(1500);
        atomic_store(&shared->parent_is_further, 0);
        ask(call, clone_here);
        block = realloc(block, 1600);
        free(block);
        free(malloc(1700));
        if (child_inside == 0)
            _exit(allocate(2000, 5) ? 0 : 1);
        allocate(1000, 50);
        atomic_store(&shared->parent_is_further, 1);
        if (!child_is_good(child_inside))
            return false;
    }
    return atomic_load(&shared->children) == ROUNDS && allocate(1100, 3);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool good = false;
    if (strcmp(what, "memory") == 0)
        good = use_up_memory();
    else if (strcmp(what, "descriptors") == 0)
        good = use_up_descriptors(3, false);
    else if (strcmp(what, "lost-descriptors") == 0)
        good = use_up_descriptors(3, true);
    else if (strcmp(what, "close-storm") == 0)
        good = close_over_and_over();
    else if (strcmp(what, "small-stacks") == 0)
        good = small_stacks();
    else if (strcmp(what, "removed") == 0 && argc > 2)
        good = remove_trace(argv[2]);
    else if (strcmp(what, "segv") == 0) {
        allocate(300, 1000);
        raise(SIGSEGV);
    } else if (strcmp(what, "at-once") == 0 && argc > 2)
        good = children_at_once(atoi(argv[2]));
    else if (strcmp(what, "namespaces") == 0 && argc > 3)
        good = open_namespaces(argv[2], argv[3]);
    else if (strcmp(what, "clock") == 0)
        good = step_clock();
    else if (strcmp(what, "clone-inside") == 0 && argc > 3)
        good = clone_inside(argv[2], argv[3][0]);
    return good ? 0 : 1;
}
