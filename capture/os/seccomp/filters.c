/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the filters of the process, and asks them whether they allow a call. */
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/os/os.h"
#include "capture/os/seccomp/seccomp.h"

#define DATA_WORDS ((uint32_t)(sizeof(struct seccomp_data) / 4))
#define PLACE_WORD ((uint32_t)(offsetof(struct seccomp_data, instruction_pointer) / 4))

static uint32_t calculate(uint16_t operation, uint32_t a, uint32_t b, bool *good)
{
    switch (operation) {
    case BPF_ADD:
        return a + b;
    case BPF_SUB:
        return a - b;
    case BPF_MUL:
        return a * b;
    case BPF_DIV:
        *good = *good && b != 0;
        return b ? a / b : 0;
    case BPF_AND:
        return a & b;
    case BPF_OR:
        return a | b;
    case BPF_XOR:
        return a ^ b;
    case BPF_LSH:
        return a << (b & 31);
    case BPF_RSH:
        return a >> (b & 31);
    case BPF_NEG:
        return 0 - a;
    default:
        *good = false;
        return 0;
    }
}

static bool compare(uint16_t operation, uint32_t a, uint32_t b, bool *good)
{
    switch (operation) {
    case BPF_JEQ:
        return a == b;
    case BPF_JGT:
        return a > b;
    case BPF_JGE:
        return a >= b;
    case BPF_JSET:
        return (a & b) != 0;
    default:
        *good = false;
        return false;
    }
}

/* Returns the value of a load. seccomp has four kinds. */
static uint32_t load(const struct sock_filter *step, const uint32_t *data, const uint32_t *memory,
                     bool *good)
{
    const uint32_t word = step->k / 4;
    switch (BPF_MODE(step->code)) {
    case BPF_IMM:
        return step->k;
    case BPF_LEN:
        return sizeof(struct seccomp_data);
    case BPF_MEM:
        *good = *good && step->k < BPF_MEMWORDS;
        return step->k < BPF_MEMWORDS ? memory[step->k] : 0;
    case BPF_ABS:
        *good = *good && step->k % 4 == 0 && word < DATA_WORDS && word != PLACE_WORD &&
                word != PLACE_WORD + 1;
        return word < DATA_WORDS ? data[word] : 0;
    default:
        *good = false;
        return 0;
    }
}

uint32_t seccomp_evaluate(const struct sock_filter *code, uint32_t count, const uint32_t *data)
{
    uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {0};
    bool good = true;
    /* Jumps lead forward only. */
    for (uint64_t at = 0; good && at < count; at++) {
        const struct sock_filter *step = &code[at];
        const uint32_t operand = BPF_SRC(step->code) == BPF_X ? x : step->k;
        switch (BPF_CLASS(step->code)) {
        case BPF_LD:
            a = load(step, data, memory, &good);
            break;
        case BPF_LDX:
            x = load(step, data, memory, &good);
            break;
        case BPF_ST:
        case BPF_STX:
            good = step->k < BPF_MEMWORDS;
            memory[step->k % BPF_MEMWORDS] = BPF_CLASS(step->code) == BPF_ST ? a : x;
            break;
        case BPF_ALU:
            a = calculate(BPF_OP(step->code), a, operand, &good);
            break;
        case BPF_JMP:
            if (BPF_OP(step->code) == BPF_JA)
                at += step->k;
            else
                at += compare(BPF_OP(step->code), a, operand, &good) ? step->jt : step->jf;
            break;
        case BPF_RET:
            return BPF_RVAL(step->code) == BPF_A ? a : step->k;
        default: /* BPF_MISC */
            if (BPF_MISCOP(step->code) == BPF_TAX)
                x = a;
            else
                a = x;
        }
    }
    return SECCOMP_RET_KILL_THREAD;
}

#define FILTERS 16u
#define INSTRUCTIONS_MAX 4096u /* the kernel's own bound */

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

bool seccomp_is_on_by(int descriptor)
{
    static const char line[] = "\nSeccomp:\t";
    char part[256]; /* small, because the stack may be small */
    size_t matched = 0;
    long length;
    while ((length = os_read(descriptor, part, sizeof(part))) > 0)
        for (long i = 0; i < length; i++) {
            if (!line[matched])
                return part[i] != '0';
            /* The line's first character occurs nowhere else in it. */
            matched = part[i] == line[matched] ? matched + 1 : part[i] == line[0];
        }
    return length < 0 || !line[matched];
}

bool seccomp_is_on(void)
{
    /* Opens directly, because os_open_read() moves the descriptor to another number. A filter
     * may punish that call. */
    const int descriptor = (int)os_call(SYS_openat, AT_FDCWD, (long)"/proc/self/status",
                                        O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (descriptor < 0)
        return true;
    const bool set = seccomp_is_on_by(descriptor);
    os_close(descriptor);
    return set;
}
