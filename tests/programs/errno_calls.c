/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errno after the entry points that are not the heap's: those of the process, of mprof.h, and the
 * C23 frees. Untouched by what succeeds; what the C library leaves where it fails.
 * usage: errno_calls PLUGIN ROUNDS
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "capture/mprof.h"

#define MARK 4711

/* From C23. Not every C library has them, but the recorder does. */
void free_sized(void *address, size_t size) __attribute__((weak));
void free_aligned_sized(void *address, size_t alignment, size_t size) __attribute__((weak));

/* For libmprof_sized.so alone; not in mprof.h. */
void mprof_sized_delete(const void *frame, const void *block, size_t size, size_t alignment)
    __attribute__((weak));

/* The hooks of -finstrument-functions. */
void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

static int failed;

static void expect(const char *call, int expected)
{
    if (errno != expected) {
        fprintf(stderr, "errno after %s: %d, expected %d\n", call, errno, expected);
        failed = 1;
    }
}

#define KEEPS(call)                                                                                \
    do {                                                                                           \
        errno = MARK;                                                                              \
        call;                                                                                      \
        expect(#call, MARK);                                                                       \
    } while (0)

#define FAILS(call, error)                                                                         \
    do {                                                                                           \
        errno = MARK;                                                                              \
        if ((call) != -1)                                                                          \
            failed = 1;                                                                            \
        expect(#call, error);                                                                      \
    } while (0)

static void map_calls(void)
{
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    void *memory, *other;
    KEEPS(memory = mmap(NULL, 8192, PROT_READ, anonymous, -1, 0));
    KEEPS(other = mmap64(NULL, 8192, PROT_READ, anonymous, -1, 0));
    KEEPS(memory = mremap(memory, 8192, 16384, MREMAP_MAYMOVE));
    KEEPS(mprotect(memory, 4096, PROT_NONE));
    KEEPS(munmap(memory, 16384));
    KEEPS(munmap(other, 8192));
    FAILS((intptr_t)mmap(NULL, 0, PROT_READ, anonymous, -1, 0), EINVAL);
    FAILS((intptr_t)mmap64(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0), EBADF);
    FAILS((intptr_t)mremap((void *)1, 4096, 8192, 0), EINVAL);
    FAILS(munmap((void *)1, 4096), EINVAL);
    FAILS(mprotect((void *)1, 4096, PROT_READ), EINVAL);
}

static void lock_calls(void)
{
    FAILS(mlockall(0), EINVAL);
    KEEPS(mlockall(MCL_CURRENT | MCL_ONFAULT));
    KEEPS(munlockall());
}

static void shell_calls(void)
{
    FILE *output;
    wordexp_t words;
    KEEPS(system("true"));
    KEEPS(output = popen("true", "r"));
    pclose(output);
    FAILS((intptr_t)popen("true", "no such mode") - 1, EINVAL);
    KEEPS(wordexp("$(true) word", &words, 0));
    wordfree(&words);
}

static void exec_calls(void)
{
    char nothing[] = "/nothing/there", *arguments[] = {nothing, NULL}, *environment[] = {NULL};
    FAILS(execve(nothing, arguments, environment), ENOENT);
    FAILS(execv(nothing, arguments), ENOENT);
    FAILS(execvp(nothing, arguments), ENOENT);
    FAILS(execvpe(nothing, arguments, environment), ENOENT);
    FAILS(execl(nothing, nothing, "a", (char *)NULL), ENOENT);
    FAILS(execlp("no-such-program-anywhere", nothing, (char *)NULL), ENOENT);
    FAILS(execle(nothing, nothing, (char *)NULL, environment), ENOENT);
    FAILS(fexecve(-1, arguments, environment), EINVAL);
    FAILS(execveat(AT_FDCWD, nothing, arguments, environment, 0), ENOENT);
    FAILS(fexecve(-1, arguments, environ), EINVAL);
    FAILS(execveat(-1, "", arguments, environ, AT_EMPTY_PATH), EBADF);
}

/* All numbers, the recorder's too. */
static void descriptor_calls(void)
{
    const int file = open("/dev/null", O_RDONLY), number = 900;
    KEEPS(failed |= dup2(file, number) != number);
    KEEPS(failed |= dup3(file, number + 1, O_CLOEXEC) != number + 1);
    KEEPS(failed |= close(number));
    KEEPS(failed |= close_range((unsigned)number, ~0U, 0));
    KEEPS(closefrom(number));
    FAILS(close(number), EBADF);
    FAILS(close(-1), EBADF);
    FAILS(close_range(2, 1, 0), EINVAL);
    FAILS(close_range((unsigned)number, ~0U, 1 << 10), EINVAL);
    FAILS(dup2(-1, number), EBADF);
    FAILS(dup3(file, number, 1 << 30), EINVAL);
    FAILS(dup3(file, -1, 0), EBADF);
    FAILS(syscall(SYS_close, -1), EBADF);
    FAILS(syscall(SYS_close_range, 2, 1, 0), EINVAL);
    FAILS(syscall(SYS_dup2, -1, number), EBADF);
    FAILS(syscall(SYS_dup3, file, file, 0), EINVAL);
    KEEPS(failed |= close(file));
}

/* In the first rounds only: each child records a trace of its own. */
static void spawn_calls(void)
{
    static int calls;
    char *words[] = {"true", NULL};
    pid_t child = 0;
    if (++calls > 10)
        return;
    KEEPS(failed |= posix_spawn(&child, "/bin/true", NULL, NULL, words, environ));
    KEEPS(waitpid(child, NULL, 0));
    KEEPS(failed |= posix_spawnp(&child, "/bin/true", NULL, NULL, words, environ));
    KEEPS(waitpid(child, NULL, 0));
}

static void loader_calls(const char *path)
{
    void *plugin = NULL;
    KEEPS(failed |= !(plugin = dlopen(path, RTLD_LAZY | RTLD_DEEPBIND)));
    KEEPS(failed |= !dlsym(RTLD_DEFAULT, "malloc"));
    KEEPS(dlclose(plugin));
    KEEPS(failed |= !(plugin = dlmopen(LM_ID_BASE, path, RTLD_NOW)));
    KEEPS(failed |= dlsym(plugin, "nothing of this name") != NULL);
    KEEPS(dlclose(plugin));
}

static void process_calls(const char *path)
{
    loader_calls(path);
    KEEPS(pthread_setname_np(pthread_self(), "named"));
    descriptor_calls();
    spawn_calls();
    KEEPS(prctl(PR_SET_NAME, "other"));
    KEEPS(syscall(SYS_prctl, PR_SET_NAME, "again", 0, 0, 0));
    KEEPS(syscall(SYS_getppid));
    FAILS(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 8), EFAULT);
    FAILS(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 8), EFAULT);
    if (free_sized && free_aligned_sized) {
        KEEPS(free_sized(malloc(10), 10));
        KEEPS(free_aligned_sized(aligned_alloc(64, 64), 64, 64));
    }
}

static bool child_ends(void (*end)(int))
{
    int status;
    pid_t child = fork();
    if (child == 0)
        end(7);
    return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7;
}

static void arena_calls(void)
{
    static const char symbol;
    char memory[64];
    mprof_arena arena = 0;
    KEEPS(arena = mprof_arena_create("arena", 0));
    KEEPS(mprof_arena_alloc(arena, memory, 10, 1));
    KEEPS(mprof_arena_realloc(arena, memory, memory + 8, 20, 2));
    KEEPS(mprof_type(arena, memory + 8, &symbol, 2, 10));
    KEEPS(mprof_arena_free(arena, memory + 8));
    KEEPS(mprof_arena_reset(arena));
    KEEPS(mprof_arena_destroy(arena));
}

static void hook_calls(void)
{
    void *function = (void *)(uintptr_t)hook_calls, *call_site = __builtin_return_address(0);
    KEEPS(__cyg_profile_func_enter(function, call_site));
    KEEPS(free(malloc(100)));
    KEEPS(__cyg_profile_func_exit(function, call_site));
}

/* __builtin_frame_address() makes this function keep a frame pointer. */
__attribute__((noinline)) static void sized_delete_calls(void)
{
    char *block = malloc(24);
    if (mprof_sized_delete) {
        KEEPS(mprof_sized_delete(__builtin_frame_address(0), block, 24, 0));
        KEEPS(mprof_sized_delete(__builtin_frame_address(0), NULL, 24, 16));
    }
    KEEPS(free(block));
}

static void snapshot_taken(void *data)
{
    ++*(int *)data;
    errno = MARK; /* what a callback does to errno is its own affair */
}

static unsigned int running(void *data, struct mprof_frame *out, unsigned int max)
{
    errno = 0; /* the recorder puts it right */
    if (max > 0)
        out[0] = (struct mprof_frame){.key = data, .line = 3};
    return max > 0;
}

static void name_running(void *data, const void *key, struct mprof_frame_name *out)
{
    (void)data;
    (void)key;
    strcpy(out->function, "running");
    errno = 0; /* the recorder puts it right */
}

static void runtime_calls(void)
{
    static const struct mprof_runtime_calls calls = {running, name_running};
    static mprof_runtime runtime;
    static mprof_arena arena;
    static mprof_kind kind;
    char pool[16];
    if (!arena)
        arena = mprof_arena_create("runtime", 0);
    if (!runtime)
        KEEPS(runtime = mprof_runtime_create("runtime", &calls, pool));
    if (!kind)
        KEEPS(kind = mprof_kind_create(runtime, "kind"));
    KEEPS((void)mprof_arena_skips(arena, pool, sizeof(pool)));
    KEEPS(mprof_arena_alloc_kind(arena, pool, sizeof(pool), 1, kind));
    KEEPS(free(malloc(10)));
    KEEPS(mprof_type_kind(arena, pool, kind));
    KEEPS(mprof_collection(runtime, 1));
    KEEPS(mprof_collected(arena, pool));
    KEEPS(mprof_collection(runtime, 0));
}

static void control_calls(void)
{
    static int taken;
    KEEPS(mprof_mark("mark"));
    KEEPS(mprof_on_snapshot(snapshot_taken, &taken));
    KEEPS(mprof_snapshot("snapshot"));
    KEEPS(mprof_pause());
    KEEPS(free(malloc(100)));
    KEEPS(mprof_resume());
    KEEPS(set_mprof_autosave(1000));
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < rounds; i++) {
        process_calls(argc > 1 ? argv[1] : "");
        arena_calls();
        control_calls();
        runtime_calls();
        map_calls();
        lock_calls();
        hook_calls();
        sized_delete_calls();
    }
    exec_calls();
    if (!child_ends(_exit) || !child_ends(_Exit))
        failed = 1;
    shell_calls();
    KEEPS(mprof_stop());
    KEEPS(free(malloc(100)));
    arena_calls();
    hook_calls();
    sized_delete_calls();
    KEEPS(mprof_restart(NULL));
    KEEPS(free(malloc(100)));
    exec_calls();
    return failed;
}
