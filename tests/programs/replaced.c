/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces functions of the C library: each notes whether the recorder or one of its plug-ins calls
 * it, and does the work. The clock is a mocked one behind a lock. Linked into a program that
 * exports them, or preloaded as a library (LIBRARY).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLS_MAX 4096
static struct {
    const char *name;
    const void *caller;
} calls[CALLS_MAX];
static _Atomic unsigned call_count;

/* Notes the first calls of all. Each place calls again and again. */
#define NOTE note(__func__, __builtin_return_address(0))
static void note(const char *name, const void *caller)
{
    for (unsigned i = 0; i < call_count && i < CALLS_MAX; i++)
        if (calls[i].caller == caller)
            return;
    const unsigned i = call_count++;
    if (i < CALLS_MAX) {
        calls[i].name = name;
        calls[i].caller = caller;
    }
}

static long raw(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

static void *next(const char *name)
{
    return dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
}

#define BYTES(p) ((unsigned char *)(uintptr_t)(p))
void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    NOTE;
    for (size_t i = 0; i < size; i++)
        BYTES(to)[i] = BYTES(from)[i];
    return to;
}
void *memmove(void *to, const void *from, size_t size)
{
    NOTE;
    for (size_t i = 0; i < size; i++)
        if (to < from)
            BYTES(to)[i] = BYTES(from)[i];
        else
            BYTES(to)[size - 1 - i] = BYTES(from)[size - 1 - i];
    return to;
}
void *memset(void *to, int value, size_t size)
{
    NOTE;
    for (size_t i = 0; i < size; i++)
        BYTES(to)[i] = (unsigned char)value;
    return to;
}
int memcmp(const void *a, const void *b, size_t size)
{
    NOTE;
    for (size_t i = 0; i < size; i++)
        if (BYTES(a)[i] != BYTES(b)[i])
            return BYTES(a)[i] - BYTES(b)[i];
    return 0;
}
void *memchr(const void *at, int value, size_t size)
{
    NOTE;
    for (size_t i = 0; i < size; i++)
        if (BYTES(at)[i] == (unsigned char)value)
            return BYTES(at) + i;
    return NULL;
}
size_t strlen(const char *text)
{
    NOTE;
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}
size_t strnlen(const char *text, size_t size)
{
    NOTE;
    size_t length = 0;
    while (length < size && text[length])
        length++;
    return length;
}
int strncmp(const char *a, const char *b, size_t size)
{
    NOTE;
    for (; size; size--, a++, b++)
        if (*a != *b || !*a)
            return (unsigned char)*a - (unsigned char)*b;
    return 0;
}
int strcmp(const char *a, const char *b)
{
    NOTE;
    for (; *a && *a == *b; a++, b++)
        ;
    return (unsigned char)*a - (unsigned char)*b;
}
char *strchr(const char *text, int value)
{
    NOTE;
    for (; *text != (char)value; text++)
        if (!*text)
            return NULL;
    return (char *)(uintptr_t)text;
}
char *strrchr(const char *text, int value)
{
    NOTE;
    const char *found = NULL;
    do
        if (*text == (char)value)
            found = text;
    while (*text++);
    return (char *)(uintptr_t)found;
}
char *strstr(const char *text, const char *wanted)
{
    NOTE;
    for (;; text++) {
        size_t i = 0;
        while (wanted[i] && text[i] == wanted[i])
            i++;
        if (!wanted[i])
            return (char *)(uintptr_t)text;
        if (!*text)
            return NULL;
    }
}
char *getenv(const char *name)
{
    NOTE;
    for (char **at = environ; at && *at; at++) {
        size_t i = 0;
        while (name[i] && name[i] == (*at)[i])
            i++;
        if (!name[i] && (*at)[i] == '=')
            return *at + i + 1;
    }
    return NULL;
}
char *secure_getenv(const char *name)
{
    NOTE;
    return getenv(name);
}

/* A clock as a simulator has it. */
static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;
static long clock_now = 1000;
int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    NOTE;
    pthread_mutex_lock(&clock_lock);
    *now = (struct timespec){clock_now++, 0};
    pthread_mutex_unlock(&clock_lock);
    return 0;
}
static void *clock_block;
static void advance(void)
{
    pthread_mutex_lock(&clock_lock);
    for (unsigned i = 0; i < 20000; i++) {
        clock_block = malloc(64 + i % 99);
        free(clock_block);
    }
    pthread_mutex_unlock(&clock_lock);
}

int open(const char *path, int flags, ...)
{
    NOTE;
    va_list rest;
    va_start(rest, flags);
    const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    return (int)raw(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}
ssize_t read(int file, void *to, size_t size)
{
    NOTE;
    return raw(SYS_read, file, (long)to, (long)size, 0, 0, 0);
}
ssize_t write(int file, const void *from, size_t size)
{
    NOTE;
    return raw(SYS_write, file, (long)from, (long)size, 0, 0, 0);
}
int close(int file)
{
    NOTE;
    return (int)raw(SYS_close, file, 0, 0, 0, 0, 0);
}
void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    NOTE;
    return (void *)raw(SYS_mmap, (long)at, (long)size, protection, flags, file, offset);
}
int munmap(void *at, size_t size)
{
    NOTE;
    return (int)raw(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0);
}
int madvise(void *at, size_t size, int advice)
{
    NOTE;
    return (int)raw(SYS_madvise, (long)at, (long)size, advice, 0, 0, 0);
}
pid_t getpid(void)
{
    NOTE;
    return (pid_t)raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
}
long syscall(long number, ...)
{
    NOTE;
    long arguments[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(rest, long);
    va_end(rest);
    return raw(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
               arguments[5]);
}
int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
    NOTE;
    return (int)raw(SYS_prlimit64, 0, (long)resource, 0, (long)limit, 0, 0);
}

#define PASS(type, name, parameters, arguments)                                                    \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*real) parameters;                                                             \
        NOTE;                                                                                      \
        if (!real)                                                                                 \
            real = (type(*) parameters)next(#name);                                                \
        return real arguments;                                                                     \
    }
PASS(int, sigaction, (int number, const struct sigaction *action, struct sigaction *old),
     (number, action, old))
PASS(int, dladdr, (const void *address, Dl_info *info), (address, info))
PASS(int, dl_iterate_phdr, (int (*each)(struct dl_phdr_info *, size_t, void *), void *data),
     (each, data))
PASS(int, pthread_key_create, (pthread_key_t * key, void (*destroy)(void *)), (key, destroy))
PASS(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value))
PASS(pthread_t, pthread_self, (void), ())
PASS(void *, dlsym, (void *handle, const char *name), (handle, name))

/* The plug-in for CPython has these two as well, and passes each call of the program on. */
static int is_passed_on(const char *name, const char *library)
{
    return strstr(library, "libmprof_python") &&
           (strcmp(name, "pthread_key_create") == 0 || strcmp(name, "sigaction") == 0);
}

unsigned replaced_report(void);
unsigned replaced_report(void)
{
    unsigned bad = 0;
    Dl_info info;
    for (unsigned i = 0; i < call_count && i < CALLS_MAX; i++)
        if (dladdr(calls[i].caller, &info) && info.dli_fname &&
            strstr(info.dli_fname, "libmprof") && !is_passed_on(calls[i].name, info.dli_fname)) {
            fprintf(stderr, "%s calls %s\n", info.dli_fname, calls[i].name);
            bad++;
        }
    return bad;
}

#ifdef LIBRARY
__attribute__((destructor)) static void end(void)
{
    if (replaced_report())
        raw(SYS_exit_group, 9, 0, 0, 0, 0, 0);
}
#endif

int replaced_work(void);
int replaced_work(void)
{
    struct timespec now;
    for (int i = 0; i < 3; i++)
        advance();
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%ld\n", (long)now.tv_sec);
    return replaced_report() ? 9 : 0;
}

#ifndef LIBRARY
static void *thread_work(void *unused)
{
    advance();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_work, NULL);
    pthread_join(thread, NULL);
    return replaced_work();
}
#endif
