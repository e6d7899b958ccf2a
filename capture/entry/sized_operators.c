/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libmprof_sized.so: C++'s operators delete that are told a size.
 *
 * mprof-run --sized-delete preloads it behind the recorder. Each operator tells the recorder the
 * stated size, then calls the operator that the program would have had without this library. The
 * program's own operators come before these, and are not seen.
 *
 * Plain C under the names that the linker knows: nothing but the C library is needed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "capture/entry/sized_delete_call.h"

#define OPERATOR __attribute__((visibility("default")))
#define FRAME __builtin_frame_address(0)
#define CALLER __builtin_return_address(0)

/* Itanium C++ ABI, 5.1.5: l delete, a of arrays, m size, St11align_val_t. */
OPERATOR void _ZdlPvm(void *block, size_t size);
OPERATOR void _ZdaPvm(void *block, size_t size);
OPERATOR void _ZdlPvmSt11align_val_t(void *block, size_t size, size_t alignment);
OPERATOR void _ZdaPvmSt11align_val_t(void *block, size_t size, size_t alignment);

/* Finds the definition that the caller's module would have had: its own, or a library's that it
 * loads for itself. */
static void *of_caller(const void *caller, const char *name)
{
    const int error = errno;
    Dl_info module;
    void *found = NULL;
    void *handle = dladdr(caller, &module) && module.dli_fname
                       ? dlopen(module.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                       : NULL;
    if (handle) {
        found = dlsym(handle, name);
        dlclose(handle);
    }
    errno = error;
    return found;
}

/* NULL: there is none. Only a definition for all modules is kept. */
static void *operator_next(void *_Atomic *next, const char *name, const void *caller)
{
    void *found = atomic_load_explicit(next, memory_order_relaxed);
    if (found)
        return found;
    found = dlsym(RTLD_NEXT, name);
    if (!found)
        return of_caller(caller, name);
    atomic_store_explicit(next, found, memory_order_relaxed);
    return found;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): lists of parameters are in parentheses already */
#define DEFINE_DELETE(name, parameters, call, alignment)                                           \
    void name parameters                                                                           \
    {                                                                                              \
        static void *_Atomic next;                                                                 \
        if (block && mprof_sized_delete)                                                           \
            mprof_sized_delete(FRAME, block, size, alignment);                                     \
        void(*real) parameters = (void(*) parameters)operator_next(&next, #name, CALLER);          \
        if (real)                                                                                  \
            real call;                                                                             \
        else /* a library that nobody finds any more: those of C++ end in free */                  \
            free(block);                                                                           \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

DEFINE_DELETE(_ZdlPvm, (void *block, size_t size), (block, size), 0)
DEFINE_DELETE(_ZdaPvm, (void *block, size_t size), (block, size), 0)
DEFINE_DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t alignment),
              (block, size, alignment), alignment)
DEFINE_DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t alignment),
              (block, size, alignment), alignment)
