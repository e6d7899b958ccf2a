/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the filters of another process. */
#include <errno.h>
#include <linux/filter.h>
#include <sys/syscall.h>

#include "capture/os/os.h"
#include "capture/os/seccomp/seccomp.h"

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif
#define STATEMENTS_MAX 4096 /* of one filter: BPF_MAXINSNS */

static long get_filter(int thread, unsigned long number, struct sock_filter *statements)
{
    return os_call(SYS_ptrace, PTRACE_SECCOMP_GET_FILTER, thread, (long)number, (long)statements, 0,
                   0);
}

bool seccomp_filters_add_of(int thread)
{
    static struct sock_filter statements[STATEMENTS_MAX];
    for (unsigned long i = 0;; i++) {
        const long count = get_filter(thread, i, NULL);
        if (count < 0)
            return i > 0 && count == -ENOENT;
        const struct sock_fprog program = {(unsigned short)count, statements};
        if (count > STATEMENTS_MAX || get_filter(thread, i, statements) < 0)
            return false;
        seccomp_filters_add(&program);
    }
}
