/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry points of dlopen, dlmopen and dlsym. They notice libraries that may bypass the
 * recorder.
 *
 * The loader looks at its caller for the run path, the namespace and the next definition. So these
 * entry points do not call the real function but jump to it, with the stack and the arguments
 * unchanged. Before that they call a function with the same arguments, which does the work and
 * returns where to jump. */
#include <dlfcn.h>
#include <stdatomic.h>

#include "capture/os/c_library.h"
#include "capture/record/allocators.h"
#include "capture/record/real.h"
#include "capture/record/unhooked_modules.h"

__attribute__((used, visibility("hidden"))) _Atomic(void *) entry_dlopen_next, entry_dlsym_next;
static _Atomic(void *) entry_dlmopen_next;

void *entry_dlopen_before(const char *file, int mode);
void *entry_dlmopen_before(Lmid_t space, const char *file, int mode);
void *entry_dlsym_before(void *handle, const char *name);

/* Defines an entry point with two arguments. If `condition` leaves the zero flag set and the real
 * function is known, it jumps there at once. */
#define ENTRY_WITH_TWO(name, condition)                                                            \
    ".globl " name "\n"                                                                            \
    ".type " name ", @function\n" name ":\n"                                                       \
    ".cfi_startproc\n"                                                                             \
    "endbr64\n" condition "\n"                                                                     \
    "jne 1f\n"                                                                                     \
    "mov entry_" name "_next(%rip), %rax\n"                                                        \
    "test %rax, %rax\n"                                                                            \
    "je 1f\n"                                                                                      \
    "jmp *%rax\n"                                                                                  \
    "1: push %rdi\n"                                                                               \
    ".cfi_adjust_cfa_offset 8\n"                                                                   \
    "push %rsi\n"                                                                                  \
    ".cfi_adjust_cfa_offset 8\n"                                                                   \
    "sub $8, %rsp\n"                                                                               \
    ".cfi_adjust_cfa_offset 8\n"                                                                   \
    "call entry_" name "_before\n"                                                                 \
    "add $8, %rsp\n"                                                                               \
    ".cfi_adjust_cfa_offset -8\n"                                                                  \
    "pop %rsi\n"                                                                                   \
    ".cfi_adjust_cfa_offset -8\n"                                                                  \
    "pop %rdi\n"                                                                                   \
    ".cfi_adjust_cfa_offset -8\n"                                                                  \
    "jmp *%rax\n"                                                                                  \
    ".cfi_endproc\n"                                                                               \
    ".size " name ", . - " name "\n"

__asm__(".text\n" ENTRY_WITH_TWO("dlopen", "test %rdi, %rdi") /* a file is named */

        ".globl dlmopen\n"
        ".type dlmopen, @function\n"
        "dlmopen:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "push %rdi\n"
        ".cfi_adjust_cfa_offset 8\n"
        "push %rsi\n"
        ".cfi_adjust_cfa_offset 8\n"
        "push %rdx\n"
        ".cfi_adjust_cfa_offset 8\n"
        "call entry_dlmopen_before\n"
        "pop %rdx\n"
        ".cfi_adjust_cfa_offset -8\n"
        "pop %rsi\n"
        ".cfi_adjust_cfa_offset -8\n"
        "pop %rdi\n"
        ".cfi_adjust_cfa_offset -8\n"
        "jmp *%rax\n"
        ".cfi_endproc\n"
        ".size dlmopen, . - dlmopen\n"

        ENTRY_WITH_TWO("dlsym", "cmpl $0, unhooked_modules_expected(%rip)"));

static void expect(Lmid_t space, const char *file, int mode)
{
    if (space != LM_ID_BASE || (mode & RTLD_DEEPBIND))
        unhooked_modules_expect();
    else if (file)
        unhooked_modules_expect_library();
}

__attribute__((used)) void *entry_dlopen_before(const char *file, int mode)
{
    expect(LM_ID_BASE, file, mode);
    return real_next(&entry_dlopen_next, "dlopen");
}

__attribute__((used)) void *entry_dlmopen_before(Lmid_t space, const char *file, int mode)
{
    expect(space, file, mode);
    return real_next(&entry_dlmopen_next, "dlmopen");
}

/* Looks up a name that another allocator has, and returns the entry point of it, so that its calls
 * are recorded. */
static void *dlsym_of_allocator(void *handle, const char *name)
{
    void *const found = c_library_dlsym(handle, name);
    void *const entry = allocators_entry_of(name, found);
    return entry ? entry : found;
}

__attribute__((used)) void *entry_dlsym_before(void *handle, const char *name)
{
    void *next = real_next(&entry_dlsym_next, "dlsym");
    unhooked_modules_check();
    /* The loader knows by its caller which definition is the next one. */
    return handle != RTLD_NEXT && allocators_are_loaded() && allocators_find(name) &&
                   allocators_entry_of(name, c_library_dlsym(handle, name))
               ? (void *)dlsym_of_allocator
               : next;
}
