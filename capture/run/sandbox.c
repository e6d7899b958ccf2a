/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/sandbox.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/seccomp/seccomp.h"

static bool punished[REQUIRED_CALLS_MAX];

static void make_call(const struct required_call *call)
{
    const uint64_t *arguments = call->arguments;
    arch_syscall(call->number, (long)arguments[0], (long)arguments[1], (long)arguments[2],
                 (long)arguments[3], (long)arguments[4], (long)arguments[5]);
}

/* Tries the calls from `*at` on in a child without core. `*at` is the one that ends it. */
static _Noreturn void try_calls(_Atomic size_t *at)
{
    if (!punished[0])
        make_call(&required_calls[0]);
    for (; atomic_load(at) < required_calls_count; atomic_fetch_add(at, 1))
        make_call(&required_calls[atomic_load(at)]);
    _exit(0);
}

void run_sandbox_look(void)
{
    _Atomic size_t *at;
    if (!seccomp_is_on())
        return;
    at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return;
    while (atomic_load(at) < required_calls_count) {
        const pid_t process = fork();
        if (process == 0)
            try_calls(at);
        if (process < 0)
            break;
        /* With SIGCHLD ignored this waits and fails. Only the child's progress counts. */
        while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
            ;
        if (atomic_load(at) < required_calls_count)
            punished[atomic_fetch_add(at, 1)] = true;
    }
    munmap((void *)at, sizeof(*at));
}

bool run_sandbox_allows(long number)
{
    for (size_t i = 0; i < required_calls_count; i++)
        if (required_calls[i].number == number)
            return !punished[i];
    return true;
}

const char *run_sandbox_forbids_recording(void)
{
    const bool status = run_sandbox_allows(SYS_fstat) || run_sandbox_allows(SYS_newfstatat);
    const bool room = run_sandbox_allows(SYS_fallocate) || run_sandbox_allows(SYS_pwrite64);
    for (size_t i = 0; i < required_calls_count; i++)
        if (required_calls[i].needed && punished[i])
            return required_calls[i].name;
    return !status ? "fstat" : !room ? "fallocate" : NULL;
}

void run_sandbox_without(char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < required_calls_count; i++)
        if (punished[i] && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%u", used ? ":" : "",
                                     required_calls[i].number);
}
