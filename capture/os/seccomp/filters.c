/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the filters of the process, and asks them whether they allow a call. */
#include "capture/os/seccomp/seccomp.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/os/os.h"
#include "capture/os/seccomp/evaluate.h"

#define FILTERS 16u
#define INSTRUCTIONS_MAX 4096u /* the kernel's own bound */
#define DATA_WORDS ((uint32_t)(sizeof(struct seccomp_data) / 4))

struct filter {
    uint32_t count; /* 0: it allows nothing */
    struct sock_filter code[];
};

static const struct filter allows_nothing = {.count = 0};
static const struct filter strict_mode = {
    .count = 5,
    .code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 1, 0),
             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 1),
             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL)},
};

/* NULL: free. */
static _Atomic(const struct filter *) filters[FILTERS];

bool seccomp_filters_allow(long number, const uint64_t arguments[6])
{
    struct seccomp_data call = {.nr = (int)number, .arch = AUDIT_ARCH_X86_64};
    uint32_t data[DATA_WORDS];
    memcpy(call.args, arguments, sizeof(call.args));
    memcpy(data, &call, sizeof(data));
    for (uint32_t i = 0; i < FILTERS; i++) {
        const struct filter *filter = atomic_load(&filters[i]);
        if (!filter)
            continue;
        uint32_t answer =
            seccomp_evaluate(filter->code, filter->count, data) & SECCOMP_RET_ACTION_FULL;
        if (answer != SECCOMP_RET_ALLOW && answer != SECCOMP_RET_LOG)
            return false;
    }
    return true;
}

/* Copies the filter. NULL if the kernel will refuse it. */
static const struct filter *copy_filter(const struct sock_fprog *program)
{
    struct sock_fprog head;
    if (os_copy_memory((uintptr_t)program, &head, sizeof(head)) != sizeof(head) || head.len == 0 ||
        head.len > INSTRUCTIONS_MAX)
        return NULL;
    const size_t size = head.len * sizeof(struct sock_filter);
    struct filter *filter = os_map(sizeof(*filter) + size);
    if (!filter)
        return &allows_nothing;
    filter->count = head.len;
    if (os_copy_memory((uintptr_t)head.filter, filter->code, size) == size)
        return filter;
    os_unmap(filter, sizeof(*filter) + size);
    return NULL;
}

static uint32_t keep(const struct filter *filter)
{
    for (uint32_t i = 0; i < FILTERS; i++) {
        const struct filter *none = NULL;
        if (atomic_compare_exchange_strong(&filters[i], &none, filter))
            return i;
    }
    /* There is no room for it, so nothing is allowed from here on. */
    atomic_store(&filters[0], &allows_nothing);
    return SECCOMP_FILTERS_NONE;
}

uint32_t seccomp_filters_add(const struct sock_fprog *program)
{
    const struct filter *filter = copy_filter(program);
    return filter ? keep(filter) : SECCOMP_FILTERS_NONE;
}

uint32_t seccomp_filters_add_strict(void)
{
    return keep(&strict_mode);
}

void seccomp_filters_add_calls(const uint32_t *numbers, uint32_t count)
{
    const uint32_t steps = 2 + 2 * count;
    struct filter *filter = os_map(sizeof(*filter) + steps * sizeof(*filter->code));
    if (!filter) {
        keep(&allows_nothing);
        return;
    }
    struct sock_filter *step = filter->code;
    *step++ =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (uint32_t i = 0; i < count; i++) {
        *step++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
        *step++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL);
    }
    *step = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter->count = steps;
    keep(filter);
}

void seccomp_filters_begin(void)
{
    os_set_permission_check(seccomp_filters_allow);
}

/* Its memory stays mapped: another thread may be reading it now. */
void seccomp_filters_remove(uint32_t kept)
{
    if (kept < FILTERS)
        atomic_store(&filters[kept], NULL);
}
