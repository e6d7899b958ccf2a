/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the filters of another process. */
#include <errno.h>
#include <linux/filter.h>
#include <sys/ptrace.h>

#include "capture/os/seccomp/seccomp.h"

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER ((enum __ptrace_request)0x420c)
#endif
#define STATEMENTS_MAX 4096 /* of one filter: BPF_MAXINSNS */

bool seccomp_filters_add_of(int thread)
{
    static struct sock_filter statements[STATEMENTS_MAX];
    for (unsigned long i = 0;; i++) {
        const long count = ptrace(PTRACE_SECCOMP_GET_FILTER, thread, i, NULL);
        if (count < 0)
            return i > 0 && errno == ENOENT;
        const struct sock_fprog program = {(unsigned short)count, statements};
        if (count > STATEMENTS_MAX || ptrace(PTRACE_SECCOMP_GET_FILTER, thread, i, statements) < 0)
            return false;
        seccomp_filters_add(&program);
    }
}
