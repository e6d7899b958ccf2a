/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Things that can go wrong around a program. Each way ends with 0 if the program got what it would
 * get alone. usage: faults memory | descriptors | lost-descriptors | close-storm | small-stacks |
 * numbers |
 * take-over closefrom|close|close_range|dup2|call|raw COUNT |
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
#include <sys/stat.h>
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

/* Not by the C library. */
static void close_raw(unsigned first)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_close_range), "D"((long)first), "S"((long)~0U), "d"(0L)
                     : "rcx", "r11", "memory");
}

/* Every descriptor is taken, after `first` and what follows were closed. */
static bool use_up_descriptors(int first, bool close_others)
{
    struct rlimit limit = {256, 256};
    allocate(300, 100);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    if (close_others)
        close_raw((unsigned)first);
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    if (errno != EMFILE || !allocate(300, MANY))
        return false;
    return thread_runs(64 << 10, thread_allocate) && forked_child_allocates();
}

static atomic_int storms_ended;
static int storm_allocations = 2 * MANY;

static void *allocate_in_storm(void *unused)
{
    (void)unused;
    void *result = allocate(300, storm_allocations) ? (void *)1 : NULL;
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

static const char own_text[] = "of the program, and to be found so";
#define OWN_NAMES 8

/* The recorder's descriptor. */
static int high_descriptor(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    return (int)(limit.rlim_cur < 1024 ? limit.rlim_cur : 1024) - 24;
}

/* Closes all descriptors but those of the terminal, in one of the ways there are. */
static void close_all(const char *way, int file, int high)
{
    if (strcmp(way, "closefrom") == 0)
        closefrom(3);
    else if (strcmp(way, "close_range") == 0)
        close_range(3, ~0U, 0);
    else if (strcmp(way, "call") == 0)
        syscall(SYS_close_range, 3, ~0U, 0);
    else if (strcmp(way, "raw") == 0)
        close_raw(3);
    else if (strcmp(way, "close") == 0)
        for (int i = 3; i < high + 10; i += i == 10 ? high - 20 : 1)
            close(i);
    else {
        for (int i = high; i < high + 24; i++)
            dup2(file, i);
        for (int i = 3; i < high + 24; i++)
            close(i);
    }
}

/* True if only the program has written its file. */
static bool own_file_is_whole(const char *name)
{
    char text[sizeof own_text + 1];
    struct stat status;
    int file = open(name, O_RDONLY);
    bool whole = file >= 0 && fstat(file, &status) == 0 && status.st_size == sizeof own_text &&
                 status.st_blocks <= 8 && read(file, text, sizeof text) == sizeof own_text &&
                 memcmp(text, own_text, sizeof own_text) == 0;
    close(file);
    return whole;
}

/*
 * One thread closes all descriptors and opens files of its own under the numbers that the recorder
 * had, over and over, while others need room in the trace. Prints how many files were harmed.
 */
static bool take_over(const char *way, int allocations)
{
    pthread_t threads[3];
    unsigned harmed = 0, rounds = 0;
    char name[OWN_NAMES][32];
    const int high = high_descriptor();
    storm_allocations = allocations;
    for (int i = 0; i < OWN_NAMES; i++) {
        snprintf(name[i], sizeof name[i], "own-file-%d", i);
        int file = open(name[i], O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (file < 0 || write(file, own_text, sizeof own_text) != sizeof own_text || close(file))
            return false;
    }
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, allocate_in_storm, NULL))
            return false;
    for (; storms_ended < 3; rounds++) {
        int file = open(name[rounds % OWN_NAMES], O_RDWR);
        for (int i = 0; i < 4 && file >= 0; i++)
            fcntl(file, F_DUPFD, high);
        close_all(way, file, high);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < OWN_NAMES; i++)
        harmed += !own_file_is_whole(name[i]);
    printf("%u harmed\n", harmed);
    return fflush(stdout) == 0;
}

/* The number of the trace, or one that is not open. */
static int number_of_trace(void)
{
    char link[32], path[512];
    for (int i = 3; i < 4096; i++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", i);
        ssize_t length = readlink(link, path, sizeof path - 1);
        path[length > 0 ? length : 0] = 0;
        if (strstr(path, "trace.bin"))
            return i;
    }
    return high_descriptor();
}

#define REFUSED(call, why) (errno = 0, (call) == -1 && errno == (why))

/* To the program, the recorder's descriptor is a number that is not open, and that it may have. */
static bool use_number(void)
{
    struct stat own, there;
    allocate(300, MANY);
    const int number = number_of_trace(), file = open("/dev/zero", O_RDONLY);
    const unsigned each = (unsigned)number;
    if (!REFUSED(close(number), EBADF) || !REFUSED(syscall(SYS_close, number), EBADF) ||
        close_range(each, each, 0) != 0 || close_range(each - 1, each + 1, 0) != 0 ||
        !REFUSED(close_range(each, each, 1 << 10), EINVAL) ||
        !REFUSED(close_range(each, each - 1, 0), EINVAL))
        return false;
    closefrom(number - 1);
    allocate(300, MANY);
    if (fstat(file, &own) != 0 || number_of_trace() != number || dup2(file, number) != number ||
        fstat(number, &there) != 0 || own.st_rdev != there.st_rdev || close(number) != 0 ||
        dup3(file, number, O_CLOEXEC) != number || close_range(each, each, 0) != 0 ||
        fstat(number, &there) == 0 || close(file) != 0)
        return false;
    return allocate(300, MANY) && forked_child_allocates();
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
    else if (strcmp(what, "numbers") == 0)
        good = use_number();
    else if (strcmp(what, "take-over") == 0 && argc > 3)
        good = take_over(argv[2], atoi(argv[3]));
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
