/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of the public entry points: those of the C library in the shared library, those that
 * the linker's --wrap expects in libmprof.a. */
#pragma once

#include <pthread.h>
#include <stddef.h>

#define ENTRY_POINT __attribute__((visibility("default"), noinline))

#ifdef MPROF_STATIC
#define ENTRY(name) __wrap_##name
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void __wrap_free(void *address);
int __wrap_posix_memalign(void **result, size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_memalign(size_t alignment, size_t size);
void *__wrap_valloc(size_t size);
void *__wrap_pvalloc(size_t size);
int __wrap_execve(const char *path, char *const argv[], char *const envp[]);
int __wrap_execv(const char *path, char *const argv[]);
int __wrap_execvpe(const char *file, char *const argv[], char *const envp[]);
int __wrap_execvp(const char *file, char *const argv[]);
int __wrap_fexecve(int descriptor, char *const argv[], char *const envp[]);
int __wrap_execveat(int directory, const char *path, char *const argv[], char *const envp[],
                    int flags);
int __wrap_execl(const char *path, const char *first, ...);
int __wrap_execlp(const char *file, const char *first, ...);
int __wrap_execle(const char *path, const char *first, ...);
int __wrap_prctl(int option, ...);
int __wrap_dlclose(void *handle);
int __wrap_pthread_setname_np(pthread_t thread, const char *name);
void __wrap__exit(int status) __attribute__((noreturn));
void __wrap__Exit(int status) __attribute__((noreturn));
#else
#define ENTRY(name) name
void free_sized(void *address, size_t size);
void free_aligned_sized(void *address, size_t alignment, size_t size);
#endif

/* Defines next_NAME(), which returns the function behind the entry point NAME. In libmprof.so the
 * first call looks it up (record/real.h); in a static program the linker has found it. */
#ifdef MPROF_STATIC
#define NEXT_FUNCTION(name)                                                                        \
    extern __typeof__(name) __real_##name;                                                         \
    static __typeof__(name) *next_##name(void)                                                     \
    {                                                                                              \
        return __real_##name;                                                                      \
    }
#else
#define NEXT_FUNCTION(name)                                                                        \
    static __typeof__(name) *next_##name(void)                                                     \
    {                                                                                              \
        static _Atomic(void *) next;                                                               \
        return (__typeof__(name) *)real_next(&next, #name);                                        \
    }
#endif

/* The call by which libmprof_sized.so tells the recorder a size; libmprof.so exports it for that
 * library alone. Records that an operator delete was called with this size, before it frees the
 * block. `frame` is that of the operator, which keeps a frame pointer. Alignment 0: none was
 * stated. NULL in a process without the recorder. */
__attribute__((weak)) void mprof_sized_delete(const void *frame, const void *block, size_t size,
                                              size_t alignment);
