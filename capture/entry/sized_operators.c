/* SPDX-License-Identifier: BSD-2-Clause */
/* libmprof_sized.so: C++'s operators delete that are told a size.
 *
 * mprof-run --sized-delete preloads it after the recorder, into programs that need the library of
 * C++. Each operator tells the recorder the stated size, then calls the operator that the program
 * would have had without this library. The program's own operators come before these, and are not
 * seen.
 *
 * The operators behind these are looked up once, when the library is loaded: the loader's lock may
 * be held by a thread that waits for one inside delete. Before that, as C++'s library does it, an
 * operator with a size calls the one without. Before the loader has relocated this library (in a
 * resolver of an indirect function), it finds the next operator itself. Nothing is told if the
 * unsized operators are not of the same library as the sized ones: the program's own may give out
 * blocks of other sizes.
 *
 * Plain C under the names that the linker knows: nothing but the C library is needed. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "capture/entry/names.h"
#include "capture/os/c_library.h"
#include "capture/os/os.h"

#define OPERATOR __attribute__((visibility("default")))
#define FRAME __builtin_frame_address(0)

/* Itanium C++ ABI, 5.1.5: n new, d delete, l of one object, a of arrays, m size,
 * St11align_val_t. */
OPERATOR void _ZdlPvm(void *block, size_t size);
OPERATOR void _ZdaPvm(void *block, size_t size);
OPERATOR void _ZdlPvmSt11align_val_t(void *block, size_t size, size_t alignment);
OPERATOR void _ZdaPvmSt11align_val_t(void *block, size_t size, size_t alignment);

__attribute__((weak)) void _ZdlPv(void *block);
__attribute__((weak)) void _ZdaPv(void *block);
__attribute__((weak)) void _ZdlPvSt11align_val_t(void *block, size_t alignment);
__attribute__((weak)) void _ZdaPvSt11align_val_t(void *block, size_t alignment);

/* Set by the constructor. NULL: not looked up yet, or there is none. */
static void (*next_object)(void *, size_t);
static void (*next_array)(void *, size_t);
static void (*next_aligned_object)(void *, size_t, size_t);
static void (*next_aligned_array)(void *, size_t, size_t);
static bool compares;

/* Returns the place where the module of the address is loaded; NULL: unknown. */
static const void *module_of(const void *address)
{
    Dl_info module;
    return address && dladdr(address, &module) ? module.dli_fbase : NULL;
}

__attribute__((constructor)) static void look_up(void)
{
    static const char *const unsized[] = {"_Znwm", "_Znam", "_ZdlPv", "_ZdaPv"};
    next_object = (void (*)(void *, size_t))c_library_dlsym(RTLD_NEXT, "_ZdlPvm");
    next_array = (void (*)(void *, size_t))c_library_dlsym(RTLD_NEXT, "_ZdaPvm");
    next_aligned_object =
        (void (*)(void *, size_t, size_t))c_library_dlsym(RTLD_NEXT, "_ZdlPvmSt11align_val_t");
    next_aligned_array =
        (void (*)(void *, size_t, size_t))c_library_dlsym(RTLD_NEXT, "_ZdaPvmSt11align_val_t");
    const void *library = module_of((const void *)next_object);
    bool same = library && module_of((const void *)next_array) == library;
    for (size_t i = 0; i < sizeof(unsized) / sizeof(*unsized); i++)
        same = same && module_of(c_library_dlsym(RTLD_DEFAULT, unsized[i])) == library;
    compares = same;
    /* A name that was not found is not an error of the program. */
    char *(*const forget_error)(void) = (char *(*)(void))c_library_find("dlerror");
    if (forget_error)
        forget_error();
}

/* NOLINTBEGIN(bugprone-macro-parentheses): lists of parameters are in parentheses already */
#define DEFINE_DELETE(name, parameters, call, next, unsized, unsized_call, alignment)              \
    void name parameters                                                                           \
    {                                                                                              \
        if (__builtin_expect(!os_is_relocated(), 0)) {                                             \
            const void *base;                                                                      \
            ((void(*) parameters)c_library_definition(#name, true, &base)) call;                   \
            return;                                                                                \
        }                                                                                          \
        if (block && compares && mprof_sized_delete)                                               \
            mprof_sized_delete(FRAME, block, size, alignment);                                     \
        if (next)                                                                                  \
            next call;                                                                             \
        else if (unsized)                                                                          \
            unsized unsized_call;                                                                  \
        else                                                                                       \
            free(block);                                                                           \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

DEFINE_DELETE(_ZdlPvm, (void *block, size_t size), (block, size), next_object, _ZdlPv, (block), 0)
DEFINE_DELETE(_ZdaPvm, (void *block, size_t size), (block, size), next_array, _ZdaPv, (block), 0)
DEFINE_DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t alignment),
              (block, size, alignment), next_aligned_object, _ZdlPvSt11align_val_t,
              (block, alignment), alignment)
DEFINE_DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t alignment),
              (block, size, alignment), next_aligned_array, _ZdaPvSt11align_val_t,
              (block, alignment), alignment)
