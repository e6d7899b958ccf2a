/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocates through code of which no call frame information tells: 4001 bytes from generated code,
 * 4002 from a function in assembly, 4003 from such a function that keeps a frame pointer, and 4004
 * from C. 4005 to 4009 bytes are allocated on a stack that is not aligned to 16 bytes, against
 * the rules of the ABI.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void *(*allocator)(size_t);
typedef void *(*caller)(allocator, size_t);

void *bare_call(allocator allocate, size_t size);
void *bare_call_framed(allocator allocate, size_t size);
void bare_run_on(void *top, void (*run)(void));

__asm__(".text\n"
        ".type bare_call, @function\n"
        "bare_call: sub $24, %rsp\n"
        "mov %rdi, %rax\n"
        "mov %rsi, %rdi\n"
        "call *%rax\n"
        "add $24, %rsp\n"
        "ret\n"
        ".size bare_call, . - bare_call\n"
        ".type bare_call_framed, @function\n"
        "bare_call_framed: push %rbp\n"
        "mov %rsp, %rbp\n"
        "mov %rdi, %rax\n"
        "mov %rsi, %rdi\n"
        "call *%rax\n"
        "pop %rbp\n"
        "ret\n"
        ".size bare_call_framed, . - bare_call_framed\n"
        ".type bare_run_on, @function\n"
        "bare_run_on: push %rbp\n"
        "mov %rsp, %rbp\n"
        "mov %rdi, %rsp\n"
        "call *%rsi\n"
        "leave\n"
        "ret\n"
        ".size bare_run_on, . - bare_run_on\n");

/* The same as bare_call(). */
static const uint8_t code[] = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0xf8, 0x48, 0x89,
                               0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x18, 0xc3};

__attribute__((noinline)) static void call(caller through, size_t size)
{
    for (int i = 0; i < 100; i++)
        free(through(malloc, size));
}

/* Enough events for several chunks. */
static void run_unaligned(void)
{
    for (int i = 0; i < 20000; i++) {
        void *aligned = NULL;
        free(realloc(malloc(4005), 4006));
        free(calloc(1, 4007));
        if (posix_memalign(&aligned, 64, 4008) == 0)
            free(aligned);
        free(memalign(64, 4009));
    }
}

int main(void)
{
    void *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    caller generated;
    if (page == MAP_FAILED || stack == MAP_FAILED)
        return 1;
    memcpy(page, code, sizeof code);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
        return 1;
    memcpy(&generated, &page, sizeof generated);
    for (int i = 0; i < 10; i++) {
        call(generated, 4001);
        call(bare_call, 4002);
        call(bare_call_framed, 4003);
        free(malloc(4004));
    }
    bare_run_on((char *)stack + 65536 - 8, run_unaligned);
    return 0;
}
