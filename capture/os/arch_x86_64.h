/* SPDX-License-Identifier: BSD-2-Clause */
/* The code that depends on the architecture, for x86_64: raw system calls, which touch neither
 * errno nor any symbol that the program could interpose, and the registers of interrupted code as a
 * signal handler's frame holds them. */
#pragma once

#ifndef __x86_64__
#error "mprof's capture library knows x86_64 only; a new architecture is one header like this"
#endif

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ARCH_PAGE_SIZE 4096u
/* The number of bytes below the stack pointer that a signal leaves untouched. */
#define ARCH_RED_ZONE 128u

/* Marks a function that is called on whatever stack the program has. A coroutine may run on one
 * that is not aligned to 16 bytes: the heap functions of C libraries do not need that. The compiler
 * relies on it where it copies structures. */
#define ARCH_ALIGNS_STACK __attribute__((noinline, force_align_arg_pointer))

/* DWARF register numbers (psABI, figure 3.36). The return address has a column of its own. */
enum { ARCH_RBX = 3, ARCH_RBP = 6, ARCH_RSP = 7, ARCH_R12 = 12, ARCH_RA = 16, ARCH_REGISTERS };

/* A signal handler returns to code that calls rt_sigreturn. There the stack pointer points at the
 * ucontext, which holds the registers of the interrupted code at these offsets. */
#define ARCH_SIGNAL_RBP 120u
#define ARCH_SIGNAL_RSP 160u
#define ARCH_SIGNAL_RIP 168u

/* Returns true if the nine bytes at `code` are `mov $15,%rax; syscall`, the return from a signal.
 */
static inline bool arch_is_signal_return(const uint8_t *code)
{
    return !memcmp(code, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);
}

/* Returns the address of the thread control block, which libpthread puts at the top of a stack. */
static inline uint64_t arch_thread_pointer(void)
{
    uint64_t pointer;
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* Stores `frame` at `place`, and the return address of the function with this frame in the next
 * word, `behind`. One instruction stores both: a signal comes before it or after it, never between
 * the two. */
static inline void arch_store_frame(const void **place, const void **behind, const void *frame)
{
    const void *const *const words = (const void *const *)frame;
    __asm__ volatile("movq %2, %%xmm0\n\t"
                     "movhps %3, %%xmm0\n\t"
                     "movups %%xmm0, %0"
                     : "=m"(*place), "=m"(*behind)
                     : "r"(words), "m"(words[1])
                     : "xmm0");
}

/* Returns the result of the kernel: a negative errno on failure. */
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

/* Defines the function `name`, which takes a system call's number and arguments. The calls by which
 * a program confines itself, executes a program or closes descriptors go to `special`. So do all
 * calls while `next` is not known. Every other call jumps straight to `next` and leaves the
 * registers and the stack untouched, since a clone that is made in this way goes on with them. */
#define ARCH_DEFINE_SYSCALL(name, next, special)                                                   \
    __asm__(".text\n"                                                                              \
            ".globl " name "\n"                                                                    \
            ".type " name ", @function\n" name ":\n"                                               \
            ".cfi_startproc\n"                                                                     \
            "cmp $157, %rdi\n" /* SYS_prctl */                                                     \
            "je 1f\n"                                                                              \
            "cmp $317, %rdi\n" /* SYS_seccomp */                                                   \
            "je 1f\n"                                                                              \
            "cmp $59, %rdi\n" /* SYS_execve */                                                     \
            "je 1f\n"                                                                              \
            "cmp $322, %rdi\n" /* SYS_execveat */                                                  \
            "je 1f\n"                                                                              \
            "cmp $3, %rdi\n" /* SYS_close */                                                       \
            "je 1f\n"                                                                              \
            "cmp $33, %rdi\n" /* SYS_dup2 */                                                       \
            "je 1f\n"                                                                              \
            "cmp $292, %rdi\n" /* SYS_dup3 */                                                      \
            "je 1f\n"                                                                              \
            "cmp $436, %rdi\n" /* SYS_close_range */                                               \
            "je 1f\n"                                                                              \
            "mov " next "(%rip), %rax\n"                                                           \
            "test %rax, %rax\n"                                                                    \
            "je 1f\n"                                                                              \
            "jmp *%rax\n"                                                                          \
            "1: jmp " special "\n"                                                                 \
            ".cfi_endproc\n"                                                                       \
            ".size " name ", . - " name "\n")
