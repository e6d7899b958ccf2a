/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attached FOLDER [MODE…]: waits for the files FOLDER/1, FOLDER/2, … and does one piece of work for
 * each; ends at FOLDER/end. While it waits it checks that neither registers nor errno change.
 *
 * A piece of work: 1,000 blocks of 777 bytes, of which all but 10 are freed, 50 copies of a text by
 * the C library, and the end of 100 blocks of 333 bytes that were made at the start.
 *
 * plugin=PATH: each piece also loads this plug-in and makes 200 blocks of 555 bytes in it.
 * kills=NUMBER: a filter kills the process for this system call.
 * reallocs: it never waits, and calls realloc alone, until the end. The address of the code that
 * ends signal handlers lies on its stack, as after sigaction().
 * forks: the first piece forks a child, which allocates until the end.
 * half, locked: the same, while another thread seems to load a library, or holds the loader's lock.
 * In the child that stays so.
 * handles: it waits inside a signal handler until the end.
 * titled: it writes the title "titled: waits" over its arguments, and zeros behind it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OLD 1000
#define NEW 1000
#define KEPT 10

static const char *folder;
static void *old[OLD];
static unsigned pieces;
static int bad;
static void *(*volatile allocate)(size_t) =
    malloc; /* an address that a program at a fixed address has in its own table */

__attribute__((noinline)) static void work(const char *plugin)
{
    static void *blocks[NEW];
    for (unsigned i = 0; i < NEW; i++)
        blocks[i] = i % 2 ? malloc(777) : allocate(777);
    for (unsigned i = KEPT; i < NEW; i++)
        free(blocks[i]);
    for (unsigned i = 0; i < 50; i++)
        free(strdup("a text of twenty-nine letters"));
    for (unsigned i = 0; i < 100 && pieces < OLD / 100; i++)
        free(old[pieces * 100 + i]);
    pieces++;
    if (!plugin)
        return;
    void *handle = dlopen(plugin, RTLD_NOW);
    void *(*make)(size_t) = handle ? (void *(*)(size_t))dlsym(handle, "plugin_make") : NULL;
    void (*drop)(void *) = handle ? (void (*)(void *))dlsym(handle, "plugin_drop") : NULL;
    for (unsigned i = 0; make && drop && i < 200; i++)
        drop(make(555));
    bad += !drop;
    if (handle)
        dlclose(handle);
}

/* Sleeps in a system call with known values in registers, and compares them after. */
static void wait_with_registers(void)
{
    static uint64_t before[16][2], after[16][2];
    struct timespec time = {0, 3000000};
    for (unsigned i = 0; i < 16; i++) {
        before[i][0] = UINT64_C(0x0123456789abcdef) * (i + 1);
        before[i][1] = ~before[i][0];
    }
    errno = 4242;
    uint64_t callee[4] = {11, 22, 33, 44};
    __asm__ volatile(
        "movdqu 0(%[from]), %%xmm0\n movdqu 16(%[from]), %%xmm1\n movdqu 32(%[from]), %%xmm2\n"
        "movdqu 48(%[from]), %%xmm3\n movdqu 64(%[from]), %%xmm4\n movdqu 80(%[from]), %%xmm5\n"
        "movdqu 96(%[from]), %%xmm6\n movdqu 112(%[from]), %%xmm7\n movdqu 128(%[from]), %%xmm8\n"
        "movdqu 144(%[from]), %%xmm9\n movdqu 160(%[from]), %%xmm10\n movdqu 176(%[from]), "
        "%%xmm11\n"
        "movdqu 192(%[from]), %%xmm12\n movdqu 208(%[from]), %%xmm13\n movdqu 224(%[from]), "
        "%%xmm14\n"
        "movdqu 240(%[from]), %%xmm15\n"
        "mov 0(%[callee]), %%r12\n mov 8(%[callee]), %%r13\n mov 16(%[callee]), %%r14\n mov "
        "24(%[callee]), %%r15\n"
        "mov $35, %%eax\n mov %[time], %%rdi\n xor %%esi, %%esi\n syscall\n"
        "movdqu %%xmm0, 0(%[to])\n movdqu %%xmm1, 16(%[to])\n movdqu %%xmm2, 32(%[to])\n"
        "movdqu %%xmm3, 48(%[to])\n movdqu %%xmm4, 64(%[to])\n movdqu %%xmm5, 80(%[to])\n"
        "movdqu %%xmm6, 96(%[to])\n movdqu %%xmm7, 112(%[to])\n movdqu %%xmm8, 128(%[to])\n"
        "movdqu %%xmm9, 144(%[to])\n movdqu %%xmm10, 160(%[to])\n movdqu %%xmm11, 176(%[to])\n"
        "movdqu %%xmm12, 192(%[to])\n movdqu %%xmm13, 208(%[to])\n movdqu %%xmm14, 224(%[to])\n"
        "movdqu %%xmm15, 240(%[to])\n"
        "mov %%r12, 0(%[callee])\n mov %%r13, 8(%[callee])\n mov %%r14, 16(%[callee])\n mov %%r15, "
        "24(%[callee])\n"
        :
        : [from] "r"(before), [to] "r"(after), [time] "r"(&time), [callee] "r"(callee)
        : "rax", "rcx", "r11", "rdi", "rsi", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
          "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15", "memory");
    bad += memcmp(before, after, sizeof(before)) != 0 || errno != 4242 || callee[0] != 11 ||
           callee[1] != 22 || callee[2] != 33 || callee[3] != 44;
}

static int kill_for(long number)
{
    struct sock_filter statements[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(statements) / sizeof(*statements), statements};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) |
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static bool is_end(void)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/end", folder);
    return access(path, F_OK) == 0;
}

static void wait_in_handler(int number)
{
    (void)number;
    if (write(STDOUT_FILENO, "ready\n", 6) != 6)
        bad++;
    while (!is_end())
        nanosleep(&(struct timespec){0, 3000000}, NULL);
}

static void resize_until_end(void)
{
    static void *blocks[NEW];
    struct {
        void *handler;
        unsigned long flags;
        void *volatile restorer;
        unsigned long mask;
    } action; /* as the kernel has it */
    signal(SIGUSR1, wait_in_handler);
    bad += syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, 8) != 0 || !action.restorer;
    while (!is_end())
        for (unsigned round = 1; round <= 10; round++)
            for (unsigned i = 0; i < NEW; i++) {
                void *block = realloc(blocks[i], round * 100);
                blocks[i] = block ? block : blocks[i];
                bad += block == NULL;
            }
    bad += !action.restorer;
}

static atomic_int lock_held, lock_wanted;

static int hold_lock(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info;
    (void)size;
    (void)unused;
    atomic_store(&lock_held, 1);
    while (atomic_load(&lock_wanted))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return 1;
}

static void *take_lock(void *unused)
{
    dl_iterate_phdr(hold_lock, NULL);
    return unused;
}

/* Forks while another thread holds the loader's lock. */
static pid_t fork_locked(void)
{
    pthread_t thread;
    atomic_store(&lock_wanted, 1);
    bad += pthread_create(&thread, NULL, take_lock, NULL) != 0;
    while (!atomic_load(&lock_held))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    const pid_t child = fork();
    if (child == 0)
        return 0;
    atomic_store(&lock_wanted, 0);
    bad += pthread_join(thread, NULL) != 0;
    return child;
}

/* Forks a child whose loader is in the state that it has while it loads a library. */
static pid_t fork_half(void)
{
    const pid_t child = fork();
    for (const ElfW(Dyn) *entry = _DYNAMIC; child == 0 && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_DEBUG)
            ((struct r_debug *)entry->d_un.d_ptr)->r_state = RT_ADD;
    return child;
}

/* Returns the child. */
static pid_t begin_child(pid_t (*fork_it)(void))
{
    const pid_t child = fork_it();
    while (child == 0 && !is_end()) {
        free(allocate(99));
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    if (child == 0)
        _exit(0);
    return child;
}

/* The arguments lie one after another. */
static void write_title(int argc, char **argv)
{
    char *const end = argv[argc - 1] + strlen(argv[argc - 1]);
    folder = strdup(folder);
    memset(argv[0], 0, (size_t)(end - argv[0]));
    memcpy(argv[0], "titled: waits", sizeof("titled: waits") - 1);
}

int main(int argc, char **argv)
{
    const char *plugin = NULL;
    bool reallocs = false, handles = false, titled = false;
    pid_t (*forks)(void) = NULL;
    pid_t child = 0;
    int status = 0;
    char path[4096];
    if (argc < 2)
        return 2;
    folder = argv[1];
    for (unsigned i = 0; i < OLD; i++)
        old[i] = malloc(333);
    for (int i = 2; i < argc; i++) {
        if (strncmp(argv[i], "plugin=", 7) == 0)
            plugin = argv[i] + 7;
        if (strncmp(argv[i], "kills=", 6) == 0 && kill_for(strtol(argv[i] + 6, NULL, 10)) != 0)
            return 3;
        reallocs = reallocs || strcmp(argv[i], "reallocs") == 0;
        handles = handles || strcmp(argv[i], "handles") == 0;
        forks = strcmp(argv[i], "forks") == 0    ? fork
                : strcmp(argv[i], "half") == 0   ? fork_half
                : strcmp(argv[i], "locked") == 0 ? fork_locked
                                                 : forks;
        titled = titled || strcmp(argv[i], "titled") == 0;
    }
    if (titled)
        write_title(argc, argv);
    if (!handles)
        printf("ready\n");
    fflush(stdout);
    if (reallocs)
        resize_until_end();
    if (handles) {
        signal(SIGUSR1, wait_in_handler);
        raise(SIGUSR1);
    }
    while (!is_end()) {
        snprintf(path, sizeof(path), "%s/%u", folder, pieces + 1);
        if (access(path, F_OK) == 0) {
            work(plugin);
            child = forks && child == 0 ? begin_child(forks) : child;
            snprintf(path, sizeof(path), "%s/%u.done", folder, pieces);
            fclose(fopen(path, "w"));
        }
        wait_with_registers();
    }
    bad += child != 0 && (waitpid(child, &status, 0) != child || status != 0);
    printf("%s\n", bad ? "BAD" : "ok");
    return bad != 0;
}
