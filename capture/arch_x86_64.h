/*
 * What depends on the architecture: x86_64.
 *
 * Raw system calls (they touch neither errno nor any symbol that the target could interpose),
 * and the registers of an interrupted context as a signal handler's frame holds them.
 */
#ifndef MPROF_CAPTURE_ARCH_X86_64_H
#define MPROF_CAPTURE_ARCH_X86_64_H

#ifndef __x86_64__
#error "mprof's capture library knows x86_64 only; a new architecture is one header like this"
#endif

#include <stdint.h>

#define ARCH_PAGE_SIZE 4096u

/* The kernel's result: negative errno on failure. */
static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
