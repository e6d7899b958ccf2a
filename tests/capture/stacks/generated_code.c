/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/capture/stacks/generated_code.h"

#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

__asm__(".text\n"
        ".globl link_ruled\n"
        ".type link_ruled, @function\n"
        "link_ruled: .cfi_startproc\n"
        "sub $24, %rsp\n"
        ".cfi_adjust_cfa_offset 24\n"
        "mov (%rdi), %rax\n"
        "add $8, %rdi\n"
        "call *%rax\n"
        ".globl link_ruled_back\n"
        "link_ruled_back: add $24, %rsp\n"
        ".cfi_adjust_cfa_offset -24\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size link_ruled, . - link_ruled\n"

        ".globl link_clobbers\n"
        ".type link_clobbers, @function\n"
        "link_clobbers: .cfi_startproc\n"
        "push %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "mov $0x1235, %ebp\n"
        "mov (%rdi), %rax\n"
        "add $8, %rdi\n"
        "call *%rax\n"
        ".globl link_clobbers_back\n"
        "link_clobbers_back: pop %rbp\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_restore %rbp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size link_clobbers, . - link_clobbers\n"

        ".globl link_framed\n"
        ".type link_framed, @function\n"
        "link_framed: push %rbp\n"
        "mov %rsp, %rbp\n"
        "sub $16, %rsp\n"
        "mov (%rdi), %rax\n"
        "add $8, %rdi\n"
        "call *%rax\n"
        ".globl link_framed_back\n"
        "link_framed_back: leave\n"
        "ret\n"
        ".globl link_framed_end\n"
        "link_framed_end: .size link_framed, . - link_framed\n"

        ".globl call_with_frame_pointer\n"
        ".type call_with_frame_pointer, @function\n"
        "call_with_frame_pointer: push %rbp\n"
        "mov %rdi, %rbp\n"
        "call *%rsi\n"
        "pop %rbp\n"
        "ret\n"
        ".size call_with_frame_pointer, . - call_with_frame_pointer\n");

const uint8_t *generated_map(void)
{
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    uint8_t *code = pages + PAGE;
    if (mprotect(code, PAGE, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    memcpy(code, (const void *)link_framed,
           (size_t)(link_framed_end - (const uint8_t *)link_framed));
    return mprotect(code, PAGE, PROT_READ | PROT_EXEC) == 0 ? code : NULL;
}
