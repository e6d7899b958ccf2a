/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocates, confines itself by seccomp or landlock, allocates on, and prints "done". A call that
 * the filter does not allow kills the process. usage: confined HOW [COUNT]
 *
 * strict     only read, write, exit, sigreturn, and no clock
 * clock      no seccomp, but a time-stamp counter that faults
 * prctl      a filter that knows no files, set by prctl()
 * seccomp    the same by syscall(SYS_seccomp)
 * threads    the same for the whole process while four threads allocate
 * child      the same in a forked child that has not allocated yet
 * generous   a filter that forbids one call that nobody makes, twice
 * refused    filters that the kernel refuses
 * inherited  a filter that forbids process_vm_readv, then executes itself: with a stack that only
 *            such a look at memory can tell
 * handed     a filter that forbids much of what a recorder calls, then executes itself as plain
 * spawned    the same by posix_spawn
 * hopeless   the same with gettid forbidden
 * landlock   no file may be written or made any more, then as plain; 77: the kernel does not know
 * it executed   the same, then executes itself plain      nothing; but a thread and a forked child
 * allocate, too
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ALLOW(call)                                                                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* As a daemon's sandbox does it: memory, but of no file. */
static struct sock_filter tight[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(SYS_read),
    ALLOW(SYS_write),
    ALLOW(SYS_exit),
    ALLOW(SYS_exit_group),
    ALLOW(SYS_rt_sigreturn),
    ALLOW(SYS_brk),
    ALLOW(SYS_munmap),
    ALLOW(SYS_fstat),
    ALLOW(SYS_mprotect),
    ALLOW(SYS_futex),
    ALLOW(SYS_madvise),
    ALLOW(SYS_rt_sigprocmask),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_filter loose[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_acct, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_filter no_look[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
#define FORBID(call)                                                                               \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),                                             \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
static struct sock_filter sparse[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    FORBID(SYS_fallocate),
    FORBID(SYS_pwritev2),
    FORBID(SYS_fcntl),
    FORBID(SYS_readlinkat),
    FORBID(SYS_uname),
    FORBID(SYS_getppid),
    FORBID(SYS_process_vm_readv),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static struct sock_filter hopeless[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    FORBID(SYS_gettid),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static struct sock_filter endless[] = {BPF_STMT(BPF_JMP | BPF_JA, 7)};

#define PROGRAM(code)                                                                              \
    {                                                                                              \
        .len = sizeof(code) / sizeof *(code), .filter = (code)                                     \
    }
static struct sock_fprog tight_program = PROGRAM(tight), loose_program = PROGRAM(loose),
                         sparse_program = PROGRAM(sparse), hopeless_program = PROGRAM(hopeless),
                         no_look_program = PROGRAM(no_look), endless_program = PROGRAM(endless);

static atomic_bool confined;
static atomic_int started;

static void allocate(int count, size_t size)
{
    for (int i = 0; i < count; i++)
        free(malloc(size));
}

static void *work(void *unused)
{
    allocate(1000, 300);
    started++;
    while (!confined)
        allocate(10, 310);
    allocate(8000, 320);
    return unused;
}

static int in_threads(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 1;
    allocate(20000, 200);
    while (started < 4)
        sched_yield();
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &tight_program))
        return 2;
    confined = true;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int in_child(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &tight_program))
            _exit(1);
        allocate(15000, 400);
        _exit(6);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 6 ? 0 : 3;
}

static ucontext_t outside, inside;

static void on_another_stack(void)
{
    allocate(20000, 600);
    swapcontext(&inside, &outside);
}

static int inherited(char *program)
{
    static char *arguments[] = {NULL, "again", NULL};
    arguments[0] = program;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &no_look_program))
        return 1;
    execv("/proc/self/exe", arguments);
    return 2;
}

static int again(void)
{
    const size_t size = (size_t)1 << 16;
    void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || getcontext(&inside))
        return 1;
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = size;
    makecontext(&inside, on_another_stack, 0);
    return swapcontext(&outside, &inside);
}

static int refused(void)
{
    errno = 0;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &endless_program) != -1 || errno != EINVAL)
        return 1;
    errno = 0;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (void *)8) != -1 || errno != EFAULT)
        return 2;
    errno = 0;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1UL << 20, &tight_program) != -1 ||
        errno != EINVAL)
        return 3;
    errno = 0;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == -1 && errno == EINVAL ? 0 : 4;
}

static void *work_plainly(void *unused)
{
    allocate(1000, 320);
    return unused;
}

static int plain(void)
{
    pthread_t thread;
    int status = 0;
    if (pthread_create(&thread, NULL, work_plainly, NULL) || pthread_join(thread, NULL))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        allocate(500, 400);
        _exit(6);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 6 ? 0 : 3;
}

static int hand_on(char *program, const char *how)
{
    static char *arguments[] = {NULL, "plain", NULL};
    int status = 0;
    pid_t child = 0;
    arguments[0] = program;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
              strcmp(how, "hopeless") == 0 ? &hopeless_program : &sparse_program))
        return 1;
    if (strcmp(how, "spawned") != 0)
        return execv(program, arguments);
    return posix_spawn(&child, program, NULL, NULL, arguments, environ) ||
           waitpid(child, &status, 0) != child || status;
}

/* Nothing but reading. */
static int lock_files(void)
{
    const struct landlock_ruleset_attr rules = {
        .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                             LANDLOCK_ACCESS_FS_MAKE_REG};
    const int set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (set < 0)
        exit(77);
    return (int)syscall(SYS_landlock_restrict_self, set, 0) || close(set);
}

static int execute_locked(char *program)
{
    static char *arguments[] = {NULL, "executing", NULL};
    arguments[0] = program;
    lock_files();
    execv("/proc/self/exe", arguments);
    return 2;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int failed = 0;
    allocate(1000, 100);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return 1;
    if (strcmp(how, "plain") == 0)
        failed = plain();
    else if (strcmp(how, "handed") == 0 || strcmp(how, "spawned") == 0 ||
             strcmp(how, "hopeless") == 0)
        failed = hand_on(argv[0], how);
    else if (strcmp(how, "landlock") == 0)
        failed = lock_files() || plain();
    else if (strcmp(how, "executed") == 0)
        failed = execute_locked(argv[0]);
    else if (strcmp(how, "strict") == 0)
        failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    else if (strcmp(how, "clock") == 0)
        failed = prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    else if (strcmp(how, "prctl") == 0)
        failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &tight_program);
    else if (strcmp(how, "seccomp") == 0)
        failed = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &tight_program);
    else if (strcmp(how, "threads") == 0)
        failed = in_threads();
    else if (strcmp(how, "child") == 0)
        failed = in_child();
    else if (strcmp(how, "inherited") == 0)
        failed = inherited(argv[0]);
    else if (strcmp(how, "again") == 0)
        failed = again();
    else if (strcmp(how, "generous") == 0)
        failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &loose_program) ||
                 syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &loose_program);
    else if (strcmp(how, "refused") == 0)
        failed = refused();
    allocate(argc > 2 ? atoi(argv[2]) : 20000, 500);
    (void)!write(STDOUT_FILENO, failed ? "failed\n" : "done\n", failed ? 7 : 5);
    /* Not exit_group, which strict mode does not know. */
    if (strcmp(how, "strict") == 0)
        syscall(SYS_exit, 0);
    return failed;
}
