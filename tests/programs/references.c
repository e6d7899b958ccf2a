/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * References that are known: prints "NAME ADDRESS-OF-THE-WORD ADDRESS-IN-IT" for each, then
 * "ready", waits in read() until its input ends, and says "ok" if no call was disturbed.
 * Its arguments add what it has: list, data, stack, register, local, threads, calls, busy, births,
 * secret, tagged; vfork: each byte of the input is for a child of vfork(), which ends after it.
 * exit, _exit, quick_exit, abort, fault, own: how it ends; a function of atexit() or
 * at_quick_exit() then changes the word "late" to the second address that it has printed for it.
 * mark: it sets the marks "elsewhere" and "here".
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NODES 100
#define THREADS 100u
#define BUSY 4u
#define SLOTS 64

struct node {
    char before[24];
    struct node *next;
};

static struct node *head;        /* .bss */
static void *initial = &initial; /* .data */
static __thread void *own __attribute__((tls_model("initial-exec")));
static void *late_block, *late_other;
static void *late = &late;
static void *volatile secret;
static volatile uintptr_t tagged;
static _Atomic bool end;
static _Atomic int wrong, children, waiting, spinning;
static _Atomic uint32_t word; /* of a futex */
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;

static void tell(const char *name, const volatile void *where, const void *to)
{
    pthread_mutex_lock(&output);
    printf("%s %p %p\n", name, (const void *)where, to);
    pthread_mutex_unlock(&output);
}

static void complain(const char *what, long result)
{
    pthread_mutex_lock(&output);
    printf("wrong: %s gives %ld, errno %d\n", what, result, errno);
    pthread_mutex_unlock(&output);
    wrong++;
}

/* Hides where an address comes from. */
static void *made(size_t size)
{
    void *block = calloc(1, size);
    __asm__ volatile("" : "+r"(block));
    return block;
}

/* ---- calls that wait -------------------------------------------------------------------- */

static int ends[8][2];

static void *in_poll(void *none)
{
    struct pollfd one = {.fd = ends[0][0], .events = POLLIN};
    waiting++;
    const int result = poll(&one, 1, -1);
    if (result != 1)
        complain("poll", result);
    return none;
}

static void *in_nanosleep(void *none)
{
    struct timespec time = {0, 300000000};
    waiting++;
    while (!end)
        if (nanosleep(&time, NULL) != 0)
            complain("nanosleep", -1);
    return none;
}

static void *in_futex(void *none)
{
    waiting++;
    while (!end) {
        const long result = syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
        if (result != 0 && errno != EAGAIN)
            complain("futex", result);
    }
    return none;
}

static void *in_read(void *none)
{
    char byte;
    waiting++;
    const long result = read(ends[1][0], &byte, 1);
    if (result != 1)
        complain("read", result);
    return none;
}

static void *in_accept(void *listener)
{
    waiting++;
    const int result = accept(*(int *)listener, NULL, NULL);
    if (result < 0)
        complain("accept", result);
    return NULL;
}

static void *in_accept_timed(void *listener)
{
    struct timeval limit = {.tv_sec = 1000}; /* such a call gives EINTR after a stop */
    setsockopt(*(int *)listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return in_accept(listener);
}

static void *in_epoll_wait(void *none)
{
    struct epoll_event event = {.events = EPOLLIN};
    const int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, ends[2][0], &event);
    waiting++;
    const int result = epoll_wait(set, &event, 1, -1);
    if (result != 1)
        complain("epoll_wait", result);
    return none;
}

static void *in_sigtimedwait(void *none)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    waiting++;
    const int result = sigwaitinfo(&set, NULL);
    if (result != SIGUSR2)
        complain("sigwaitinfo", result);
    return none;
}

static int listen_at(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "references%d%s", (int)getpid(),
             name);
    bind(listener, (struct sockaddr *)&address, sizeof(address));
    listen(listener, 1);
    return listener;
}

static void connect_to(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "references%d%s", (int)getpid(),
             name);
    if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof(address)) != 0)
        complain("connect", -1);
}

static void note_child(int number)
{
    (void)number;
    children++;
}

static pthread_t callers[8];
static int listeners[2];
static pid_t child;

static void begin_calls(void)
{
    sigset_t blocked;
    struct sigaction action = {.sa_handler = note_child}; /* without SA_RESTART */
    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    for (size_t i = 0; i < 3; i++)
        if (pipe(ends[i]) != 0)
            complain("pipe", -1);
    listeners[0] = listen_at("a");
    listeners[1] = listen_at("b");
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    void *(*const functions[8])(void *) = {in_poll,       in_nanosleep,   in_futex,
                                           in_read,       in_accept,      in_accept_timed,
                                           in_epoll_wait, in_sigtimedwait};
    for (size_t i = 0; i < 8; i++)
        pthread_create(&callers[i], NULL, functions[i], &listeners[i == 5]);
    while (waiting < 8)
        sched_yield();
    usleep(20000);
}

static void end_calls(void)
{
    for (size_t i = 0; i < 3; i++)
        if (write(ends[i][1], "x", 1) != 1)
            complain("write", -1);
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1000, NULL, NULL, 0);
    connect_to("a");
    connect_to("b");
    pthread_kill(callers[7], SIGUSR2);
    for (size_t i = 0; i < 8; i++)
        pthread_join(callers[i], NULL);
    if (children != 0)
        complain("SIGCHLD", children);
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- threads ---------------------------------------------------------------------------- */

/* Each has a word on its stack and a thread-local one. */
static void *has_words(void *none)
{
    void *volatile on_stack = made(100);
    own = made(200);
    tell("thread-stack", (const void *)&on_stack, on_stack);
    tell("thread-local", &own, own);
    pthread_barrier_wait(&begun);
    while (!end)
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
    if (!on_stack || !own)
        complain("words", 0);
    return none;
}

/* Has an address in r12 alone. */
static void *has_register(void *none)
{
    register void *block __asm__("r12") = made(300);
    tell("register", "r12", block);
    pthread_barrier_wait(&begun);
    /* Inside other functions the register may have been saved. */
    while (!atomic_load_explicit(&end, memory_order_relaxed)) {
        __asm__ volatile("pause" : "+r"(block));
        atomic_store_explicit(&spinning, 1, memory_order_relaxed);
    }
    return none;
}

/* Stores one block after another into all slots, in ascending order. So there is at most one place
 * where neighbours differ. */
static void *is_busy(void *none)
{
    void *volatile *slots = made(SLOTS * sizeof(*slots));
    void *blocks[8];
    for (size_t i = 0; i < 8; i++)
        blocks[i] = made(64);
    for (size_t i = 0; i < SLOTS; i++)
        slots[i] = blocks[0];
    tell("slots", (const void *)slots, (const void *)(slots + SLOTS));
    for (size_t i = 0; i < 8; i++)
        tell("block", slots, blocks[i]);
    pthread_barrier_wait(&begun);
    for (unsigned turn = 1; !atomic_load_explicit(&end, memory_order_relaxed); turn++)
        for (size_t i = 0; i < SLOTS; i++)
            slots[i] = blocks[turn % 8];
    return none;
}

static void *is_short(void *none)
{
    free(made(50));
    return none;
}

static void *bears(void *none)
{
    pthread_barrier_wait(&begun);
    while (!end) {
        pthread_t threads[4];
        for (size_t i = 0; i < 4; i++)
            if (pthread_create(&threads[i], NULL, is_short, NULL) != 0)
                complain("pthread_create", 0);
        for (size_t i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
    return none;
}

/* The sanitizers would report a NULL that they see. */
static void raise_fault(void)
{
    __asm__ volatile("movl $1, (%0)" : : "r"(0L) : "memory");
}

static void exit_by_own(int number)
{
    (void)number;
    _exit(23);
}

static void change_late(void)
{
    late = late_other;
}

static bool has(int count, char **arguments, const char *name)
{
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], name) == 0)
            return true;
    return false;
}

#define HAS(name) has(count, arguments, name)

int main(int count, char **arguments)
{
    pthread_t threads[THREADS + BUSY + 2];
    size_t thread_count = 0;
    void *volatile on_stack = NULL;
    const unsigned waiters = (HAS("threads") ? THREADS : 0u) + (HAS("busy") ? BUSY : 0u) +
                             (unsigned)(HAS("register") + HAS("births"));
    char byte;
    long result;
    pthread_barrier_init(&begun, NULL, waiters + 1);
    for (int i = 0; HAS("list") && i < NODES; i++) {
        struct node *node = made(sizeof(*node));
        node->next = head;
        head = node;
        if (node->next)
            tell("next", &node->next, node->next);
    }
    if (HAS("list"))
        tell("head", &head, head);
    if (HAS("data"))
        tell("data", &initial, initial = made(10));
    if (HAS("stack"))
        tell("stack", (const void *)&on_stack, on_stack = made(20));
    if (HAS("local"))
        tell("local", &own, own = made(30));
    if (HAS("tagged")) {
        char *block = made(64);
        tagged = (uintptr_t)block | UINT64_C(0x1234) << 48 | 5;
        tell("tagged", (const void *)&tagged, block + 5);
    }
    if (HAS("secret")) {
        char *block = made(4096);
        for (int i = 0; i < 64; i++)
            memcpy(block + 64 * i, "planted secret 0123456789 planted secret 9876543210", 51);
        const uint64_t number = UINT64_C(0x5ec2e75ec2e75ec2);
        for (int i = 0; i < 8; i++)
            memcpy(block + 64 * i + 56, &number, 8);
        secret = block;
    }
    for (unsigned i = 0; HAS("threads") && i < THREADS; i++)
        pthread_create(&threads[thread_count++], NULL, has_words, NULL);
    for (unsigned i = 0; HAS("busy") && i < BUSY; i++)
        pthread_create(&threads[thread_count++], NULL, is_busy, NULL);
    if (HAS("register"))
        pthread_create(&threads[thread_count++], NULL, has_register, NULL);
    if (HAS("births"))
        pthread_create(&threads[thread_count++], NULL, bears, NULL);
    if (HAS("calls"))
        begin_calls();
    if (HAS("exit") || HAS("_exit") || HAS("quick_exit") || HAS("abort") || HAS("fault") ||
        HAS("own")) {
        late = late_block = made(40);
        late_other = made(50);
        tell("late", &late, late_other);
        if (!HAS("exit") && !HAS("quick_exit"))
            change_late();
        atexit(change_late);
        at_quick_exit(change_late);
    }
    pthread_barrier_wait(&begun);
    while (HAS("register") && !spinning)
        sched_yield();
    void (*mark)(const char *) = NULL;
    if (HAS("mark"))
        *(void **)&mark = dlsym(RTLD_DEFAULT, "mprof_mark");
    if (mark) {
        mark("elsewhere");
        mark("here");
    }
    printf("ready\n");
    fflush(stdout);
    errno = ENOTBLK;
    while ((result = read(0, &byte, 1)) == 1)
        if (HAS("vfork") && vfork() == 0) {
            const long got = read(0, &byte, 1);
            _exit(got == 1 ? 0 : 1);
        }
    if (result != 0 || errno != ENOTBLK)
        complain("the last read", result);
    end = true;
    if (HAS("calls"))
        end_calls();
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1000, NULL, NULL, 0);
    for (size_t i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    printf(wrong ? "harmed\n" : "ok\n");
    fflush(stdout);
    if (HAS("own"))
        signal(SIGSEGV, exit_by_own);
    if (HAS("fault") || HAS("own"))
        raise_fault();
    if (HAS("abort"))
        abort();
    if (HAS("_exit"))
        _exit(wrong ? 1 : 23);
    if (HAS("quick_exit"))
        quick_exit(wrong ? 1 : 23);
    return wrong ? 1 : 23;
}
