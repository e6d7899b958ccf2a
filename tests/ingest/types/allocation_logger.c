/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into a test program. For each allocation whose type the program has stated just before
 * (tests/programs/types/truth.h), it writes one line to the file $ALLOCATION_LOG:
 *
 * TYPE|COUNT|SIZE|KIND|PATH 0xPC|PATH 0xPC|…
 *
 * The innermost frame comes first. PC is an address in the ELF file, one before the return address.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schemas/trace_layout.h"

void allocation_truth(const char *type, unsigned long count);

static FILE *output;
static const char *next_type;
static unsigned long next_count;

static char executable[4096];

__attribute__((constructor)) static void open_output(void)
{
    void *warm[2];
    const char *path = getenv("ALLOCATION_LOG");
    backtrace(warm, 2); /* loads the unwinder now, not inside an allocation */
    ssize_t length = readlink("/proc/self/exe", executable, sizeof(executable) - 1);
    if (length < 0)
        length = 0;
    executable[length] = '\0';
    if (path)
        output = fopen(path, "w");
}

__attribute__((destructor)) static void close_output(void)
{
    if (output)
        fclose(output);
    output = NULL;
}

void allocation_truth(const char *type, unsigned long count)
{
    next_type = type;
    next_count = count;
}

static void write_frames(void)
{
    void *frames[64];
    struct link_map *own = NULL;
    Dl_info info;
    if (dladdr1((void *)(uintptr_t)open_output, &info, (void **)&own, RTLD_DL_LINKMAP) == 0)
        return;
    int count = backtrace(frames, 64);
    for (int i = 0; i < count; i++) {
        struct link_map *map = NULL;
        if (dladdr1(frames[i], &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == own)
            continue;
        fprintf(output, "|%s 0x%llx", map->l_name[0] == '\0' ? executable : map->l_name,
                (unsigned long long)((uintptr_t)frames[i] - 1 - map->l_addr));
    }
    fputc('\n', output);
}

static void log_allocation(size_t size, unsigned kind)
{
    if (!output || !next_type)
        return;
    const char *type = next_type;
    next_type = NULL; /* the logger's own allocations are not logged */
    fprintf(output, "%s|%lu|%zu|%u", type, next_count, size, kind);
    write_frames();
}

#define REAL(name) ((__typeof__(&(name)))real(#name))

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

void *malloc(size_t size)
{
    static void *(*next)(size_t);
    if (!next)
        next = REAL(malloc);
    void *result = next(size);
    log_allocation(size, TRACE_KIND_MALLOC);
    return result;
}

void *calloc(size_t count, size_t size)
{
    extern void *__libc_calloc(size_t, size_t); /* dlsym allocates by calloc */
    void *result = __libc_calloc(count, size);
    log_allocation(count * size, TRACE_KIND_CALLOC);
    return result;
}

void *realloc(void *block, size_t size)
{
    static void *(*next)(void *, size_t);
    if (!next)
        next = REAL(realloc);
    void *result = next(block, size);
    log_allocation(size, TRACE_KIND_REALLOC);
    return result;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    void *result = REAL(aligned_alloc)(alignment, size);
    log_allocation(size, TRACE_KIND_ALIGNED_ALLOC);
    return result;
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    int status = REAL(posix_memalign)(result, alignment, size);
    log_allocation(size, TRACE_KIND_POSIX_MEMALIGN);
    return status;
}
