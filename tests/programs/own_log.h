/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program's own count of its heap calls, for comparing with its trace.
 *
 * Each thread has a log file FOLDER/log.PID.TID, mapped shared: what was logged before a SIGKILL
 * is there afterwards. Layout: struct own_log_head, then struct own_log_entry, all 64-bit words.
 * Nothing here allocates.
 */
#ifndef MPROF_TESTS_OWN_LOG_H
#define MPROF_TESTS_OWN_LOG_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum own_log_call {
    OWN_MALLOC,
    OWN_CALLOC,
    OWN_REALLOC,
    OWN_REALLOCARRAY,
    OWN_POSIX_MEMALIGN,
    OWN_ALIGNED_ALLOC,
    OWN_MEMALIGN,
    OWN_VALLOC,
    OWN_PVALLOC,
    OWN_FREE,
};

struct own_log_entry {
    uint64_t call;      /* enum own_log_call */
    uint64_t address;   /* the result; of a free: what was freed */
    uint64_t old;       /* of a realloc */
    uint64_t size;      /* asked for */
    uint64_t alignment; /* 0: none asked for */
    uint64_t path;      /* how the program came there, in its own code; 0: it does not say */
};

struct own_log_head {
    _Atomic uint64_t count;
    uint64_t strict; /* 1: the thread makes no heap call that is not logged */
    uint64_t process, thread;
    uint64_t capacity;
};

struct own_log {
    struct own_log_head *head;
    struct own_log_entry *entries;
    uint64_t path; /* of the calls that follow */
};

static inline void own_log_open(struct own_log *log, const char *folder, int strict,
                                uint64_t capacity)
{
    char path[512];
    uint64_t thread = (uint64_t)syscall(SYS_gettid);
    uint64_t process = (uint64_t)syscall(SYS_getpid);
    size_t size = sizeof *log->head + capacity * sizeof *log->entries;
    snprintf(path, sizeof path, "%s/log.%llu.%llu", folder, (unsigned long long)process,
             (unsigned long long)thread);
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (descriptor < 0 || ftruncate(descriptor, (off_t)size) != 0)
        abort();
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
        abort();
    close(descriptor);
    log->head = memory;
    log->entries = (struct own_log_entry *)(log->head + 1);
    log->head->strict = (uint64_t)strict;
    log->head->process = process;
    log->head->thread = thread;
    log->head->capacity = capacity;
}

static inline void own_log_close(struct own_log *log)
{
    munmap(log->head, sizeof *log->head + log->head->capacity * sizeof *log->entries);
    log->head = NULL;
}

static inline void own_log_put(struct own_log *log, enum own_log_call call, const void *address,
                               const void *old, size_t size, size_t alignment)
{
    uint64_t count = atomic_load_explicit(&log->head->count, memory_order_relaxed);
    if (count >= log->head->capacity)
        abort();
    log->entries[count] = (struct own_log_entry){(uint64_t)call, (uintptr_t)address, (uintptr_t)old,
                                                 size,           alignment,          log->path};
    atomic_store_explicit(&log->head->count, count + 1, memory_order_release);
}

#endif
