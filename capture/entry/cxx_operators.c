/* SPDX-License-Identifier: BSD-2-Clause */
/* libmprof_operators.so defines C++'s operators new and delete on top of malloc and free.
 *
 * tcmalloc, jemalloc and mimalloc bring operators that take memory directly, which the recorder
 * would not see. If this library is preloaded between the recorder and such a library, its
 * operators go through malloc and free, and so through the recorder to the same allocator. The
 * operators of each can free the other's blocks. These operators call malloc and free only if the
 * next operators and the next malloc are of one library. Otherwise they pass each call on: another
 * library of the program brings its own operators, or there is no such allocator. Operators that
 * the program itself defines come before these.
 *
 * If malloc fails, the next operator is asked: it calls the new handler and throws.
 *
 * This is plain C under the names that the linker knows, so it needs nothing but the C library. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "capture/os/c_library.h"
#include "capture/os/os.h"

#define OPERATOR __attribute__((visibility("default")))

/* Itanium C++ ABI, 5.1.5: w new, l delete, a of arrays, m size, St11align_val_t, RKSt9nothrow_t. */
OPERATOR void *_Znwm(size_t size);
OPERATOR void *_Znam(size_t size);
OPERATOR void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow);
OPERATOR void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow);
OPERATOR void *_ZnwmSt11align_val_t(size_t size, size_t alignment);
OPERATOR void *_ZnamSt11align_val_t(size_t size, size_t alignment);
OPERATOR void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *);
OPERATOR void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *);
OPERATOR void _ZdlPv(void *block);
OPERATOR void _ZdaPv(void *block);
OPERATOR void _ZdlPvm(void *block, size_t size);
OPERATOR void _ZdaPvm(void *block, size_t size);
OPERATOR void _ZdlPvRKSt9nothrow_t(void *block, const void *nothrow);
OPERATOR void _ZdaPvRKSt9nothrow_t(void *block, const void *nothrow);
OPERATOR void _ZdlPvSt11align_val_t(void *block, size_t alignment);
OPERATOR void _ZdaPvSt11align_val_t(void *block, size_t alignment);
OPERATOR void _ZdlPvmSt11align_val_t(void *block, size_t size, size_t alignment);
OPERATOR void _ZdaPvmSt11align_val_t(void *block, size_t size, size_t alignment);
OPERATOR void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *block, size_t alignment, const void *);
OPERATOR void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *block, size_t alignment, const void *);

enum { UNDECIDED, BY_MALLOC, PASSED_ON };
static _Atomic int decision;

/* Takes the place of an operator new with an alignment before this library is relocated. */
static void *aligned_early(size_t size, size_t alignment)
{
    const void *base;
    void *block = NULL;
    int (*const make)(void **, size_t, size_t) =
        (int (*)(void **, size_t, size_t))c_library_definition("posix_memalign", false, &base);
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    return make && make(&block, alignment, size) == 0 ? block : NULL;
}

/* Returns the function to call instead of the operator while the loader has not relocated this
 * library: a resolver of an indirect function calls it. The decision is the one that is taken
 * later. A function of fewer arguments leaves the others alone. */
static void *operator_early(const char *name)
{
    const void *of_malloc, *of_new, *base;
    void *const next_new = c_library_definition("_Znwm", true, &of_new);
    if (!c_library_definition("malloc", true, &of_malloc))
        return NULL;
    if (next_new && of_new != of_malloc)
        return c_library_definition(name, true, &base);
    if (name[2] == 'd')
        return c_library_definition("free", false, &base);
    return strstr(name, "St11align_val_t") ? (void *)aligned_early
                                           : c_library_definition("malloc", false, &base);
}

/* Decides by the libraries that come next. Several threads may do so at once, with the same
 * result. Before the loader has relocated this library, nothing is decided. */
static int operators_decide(void)
{
    if (!os_is_relocated())
        return UNDECIDED;
    Dl_info allocator, operators;
    void *next_malloc = c_library_dlsym(RTLD_NEXT, "malloc"),
         *next_new = c_library_dlsym(RTLD_NEXT, "_Znwm");
    bool one = !next_new || (dladdr(next_malloc, &allocator) && dladdr(next_new, &operators) &&
                             allocator.dli_fbase == operators.dli_fbase);
    atomic_store_explicit(&decision, one ? BY_MALLOC : PASSED_ON, memory_order_relaxed);
    return one ? BY_MALLOC : PASSED_ON;
}

/* Decides early, while the program has one thread. A call that comes before decides for itself. */
__attribute__((constructor)) static void operators_begin(void)
{
    operators_decide();
}

static inline bool by_malloc(void)
{
    int known = atomic_load_explicit(&decision, memory_order_relaxed);
    if (__builtin_expect(known == UNDECIDED, 0))
        known = operators_decide();
    return known == BY_MALLOC;
}

/* Returns the next definition. It is missing only if no C++ library gives its names to all. */
static void *operator_next(void *_Atomic *next, const char *name)
{
    void *found = atomic_load_explicit(next, memory_order_relaxed);
    if (found)
        return found;
    const bool early = !os_is_relocated();
    found = early ? operator_early(name) : c_library_dlsym(RTLD_NEXT, name);
    if (!found)
        __builtin_trap(); /* out of memory, and nothing can throw */
    if (!early)
        atomic_store_explicit(next, found, memory_order_relaxed);
    return found;
}

/* Allocates with an alignment. posix_memalign takes none below that of a pointer. */
static void *aligned(size_t size, size_t alignment)
{
    void *block = NULL;
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

/* `call`: the arguments of the next operator; `block`: how malloc makes the block. */
/* NOLINTBEGIN(bugprone-macro-parentheses): lists of parameters are in parentheses already */
#define DEFINE_NEW(name, parameters, call, block)                                                  \
    void *name parameters                                                                          \
    {                                                                                              \
        static void *_Atomic next;                                                                 \
        void *made = by_malloc() ? (block) : NULL;                                                 \
        return made ? made : ((void *(*)parameters)operator_next(&next, #name))call;               \
    }

#define DEFINE_DELETE(name, parameters, call)                                                      \
    void name parameters                                                                           \
    {                                                                                              \
        static void *_Atomic next;                                                                 \
        if (by_malloc())                                                                           \
            free(block);                                                                           \
        else                                                                                       \
            ((void(*) parameters)operator_next(&next, #name)) call;                                \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

DEFINE_NEW(_Znwm, (size_t size), (size), malloc(size))
DEFINE_NEW(_Znam, (size_t size), (size), malloc(size))
DEFINE_NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow), malloc(size))
DEFINE_NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow), malloc(size))
DEFINE_NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment),
           aligned(size, alignment))
DEFINE_NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment),
           aligned(size, alignment))
DEFINE_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *nothrow),
           (size, alignment, nothrow), aligned(size, alignment))
DEFINE_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *nothrow),
           (size, alignment, nothrow), aligned(size, alignment))
DEFINE_DELETE(_ZdlPv, (void *block), (block))
DEFINE_DELETE(_ZdaPv, (void *block), (block))
DEFINE_DELETE(_ZdlPvm, (void *block, size_t size), (block, size))
DEFINE_DELETE(_ZdaPvm, (void *block, size_t size), (block, size))
DEFINE_DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow))
DEFINE_DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow))
DEFINE_DELETE(_ZdlPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))
DEFINE_DELETE(_ZdaPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))
DEFINE_DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t alignment),
              (block, size, alignment))
DEFINE_DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t alignment),
              (block, size, alignment))
DEFINE_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t,
              (void *block, size_t alignment, const void *nothrow), (block, alignment, nothrow))
DEFINE_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t,
              (void *block, size_t alignment, const void *nothrow), (block, alignment, nothrow))
