/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Executes a program under a seccomp filter that the recorder did not see being set: what a
 * container or a service manager does.
 *
 * usage: sandboxed ANSWER CALL[,CALL…] PROGRAM [ARGUMENT…]
 *
 * ANSWER is kill, trap or the number of an error; CALL is a system call's number, and with @LEAST
 * behind it only those are meant whose third argument is that or more (below 4 GiB).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CALLS_MAX 64

static uint32_t answer_of(const char *name)
{
    if (strcmp(name, "kill") == 0)
        return SECCOMP_RET_KILL_PROCESS;
    if (strcmp(name, "trap") == 0)
        return SECCOMP_RET_TRAP;
    return SECCOMP_RET_ERRNO | ((uint32_t)atoi(name) & SECCOMP_RET_DATA);
}

int main(int argc, char **argv)
{
    struct sock_filter code[1 + 5 * CALLS_MAX];
    unsigned short count = 0;
    if (argc < 4)
        return 2;
    for (char *at = argv[2]; *at && count + 5 < 5 * CALLS_MAX; at += *at == ',') {
        const uint32_t number = (uint32_t)strtoul(at, &at, 10);
        const uint32_t least = *at == '@' ? (uint32_t)strtoul(at + 1, &at, 10) : 0;
        code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                     offsetof(struct seccomp_data, nr));
        code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3);
        code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                     offsetof(struct seccomp_data, args[2]));
        code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, least, 0, 1);
        code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer_of(argv[1]));
    }
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {.len = count, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        fprintf(stderr, "sandboxed: %s\n", strerror(errno));
        return 77;
    }
    execvp(argv[3], argv + 3);
    fprintf(stderr, "sandboxed: %s: %s\n", argv[3], strerror(errno));
    return 127;
}
