/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into one program alone: lets its FAIL_AT-th call of a kind fail, FAIL_CALL=malloc (the
 * whole family), mmap, open, write, fork or descriptor; with FAIL_ON, all later ones too. Programs
 * that it executes know nothing of this: the constructor takes the variables away.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static char failing[16];
static long fail_at, calls;
static bool fail_on;

__attribute__((constructor)) static void begin(void)
{
    const char *call = getenv("FAIL_CALL"), *at = getenv("FAIL_AT");
    strncpy(failing, call ? call : "", sizeof(failing) - 1);
    const long first = at ? strtol(at, NULL, 10) : 0;
    fail_on = getenv("FAIL_ON") != NULL;
    unsetenv("LD_PRELOAD");
    unsetenv("FAIL_CALL");
    unsetenv("FAIL_AT");
    unsetenv("FAIL_ON");
    fail_at = first;
}

/* Counts a call of the kind. Returns true, and sets errno, if it fails. */
static bool fails(const char *kind, int error)
{
    if (fail_at == 0 || strcmp(kind, failing) != 0)
        return false;
    calls++;
    if (calls != fail_at && !(fail_on && calls > fail_at))
        return false;
    errno = error;
    return true;
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

void *mmap(void *address, size_t size, int rights, int flags, int descriptor, off_t offset)
{
    return fails("mmap", ENOMEM) ? MAP_FAILED
                                 : NEXT("mmap", void *(*)(void *, size_t, int, int, int, off_t))(
                                       address, size, rights, flags, descriptor, offset);
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails("open", EMFILE) ? -1
                                 : NEXT("open", int (*)(const char *, int, ...))(path, flags, mode);
}

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    return fails("write", ENOSPC)
               ? -1
               : NEXT("write", ssize_t(*)(int, const void *, size_t))(descriptor, bytes, size);
}

pid_t fork(void)
{
    return fails("fork", EAGAIN) ? -1 : NEXT("fork", pid_t(*)(void))();
}
