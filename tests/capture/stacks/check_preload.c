/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LD_PRELOAD: takes the stack at every malloc, calloc and realloc of a real program and compares
 * each STACK_CHECK_EVERY-th (default 100) with libunwind's. At exit it prints the counts and
 * ends the program with status 99 if there was a difference.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/capture/stacks/stack_oracle.h"

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static unsigned long every = 100;
static char early[4 << 20]; /* libstdc++ takes 72 KiB when it starts */
static size_t early_used;
static bool ready;
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));
static _Thread_local unsigned long turn __attribute__((tls_model("initial-exec")));
static _Thread_local struct stack_thread *state __attribute__((tls_model("initial-exec")));

static void check(const void *entry)
{
    if (inside || !ready)
        return;
    inside = true;
    if (!state)
        state = stack_oracle_thread();
    stack_oracle_check(state, entry, ++turn % every == 0);
    inside = false;
}

/* Allocates for dlsym, which asks before the real functions are known. */
static void *early_allocate(size_t size)
{
    void *block = early + early_used;
    early_used += (size + 31) & ~(size_t)15;
    return early_used <= sizeof(early) ? block : NULL;
}

/* Runs at the first call, which may come from another library's constructor. */
static __attribute__((constructor)) void begin(void)
{
    static bool begun;
    if (begun)
        return;
    begun = true;
    const char *wanted = getenv("STACK_CHECK_EVERY");
    inside = true;
    if (wanted)
        every = strtoul(wanted, NULL, 10);
    real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    stack_oracle_init(&(struct stack_options){.unwind = STACK_UNWIND_AUTO});
    ready = true;
    inside = false;
}

static __attribute__((destructor)) void end(void)
{
    struct stack_oracle_counts counts = stack_oracle_counts();
    struct stack_figures figures;
    const char *path = getenv("STACK_CHECK_REPORT");
    inside = true;
    stack_figures(&figures);
    FILE *report = path ? fopen(path, "a") : stderr;
    fprintf(report,
            "%s: %lu stacks, %lu compared, %lu disputed, %lu differ, mean depth %.1f, %lu nodes, "
            "%lu rules, %lu "
            "modules, %lu bytes\n",
            program_invocation_short_name, counts.taken, counts.compared, counts.disputed,
            counts.differences,
            counts.compared ? (double)counts.frames / (double)counts.compared : 0.0, figures.nodes,
            figures.rules, figures.modules, figures.bytes);
    fflush(report);
    if (counts.differences)
        _exit(99);
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    begin();
    if (!real_malloc)
        return early_allocate(size);
    check(__builtin_frame_address(0));
    return real_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    begin();
    if (!real_calloc)
        return early_allocate(count * size);
    check(__builtin_frame_address(0));
    return real_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size)
{
    begin();
    check(__builtin_frame_address(0));
    if ((char *)block >= early && (char *)block < early + sizeof(early)) {
        void *moved = malloc(size);
        memcpy(moved, block, size);
        return moved;
    }
    return real_realloc(block, size);
}

__attribute__((visibility("default"))) void free(void *block)
{
    static void (*real_free)(void *);
    if (!block || ((char *)block >= early && (char *)block < early + sizeof(early)))
        return;
    if (!real_free)
        real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    real_free(block);
}
