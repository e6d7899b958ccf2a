/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/real.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/c_library.h"
#include "capture/os/message.h"
#include "capture/os/os.h"
#include "capture/record/got_patch.h"

/* Memory for the time before the real allocator is known. It is never given back. */

#define FIRST_SIZE ((size_t)65536)
#define POOLS 8u            /* each is four times as large as the one before */
#define HEAD sizeof(size_t) /* before each block: its size */

/* The first pool needs no system call. The others are mapped when they are first needed. */
static union {
    max_align_t alignment;
    uint8_t bytes[FIRST_SIZE];
} first_pool;
static struct {
    _Atomic(void *) bytes; /* not used of the first pool */
    _Atomic size_t used;
} pools[POOLS];

static _Atomic unsigned pools_used; /* besides the first */

static size_t pool_size(unsigned number)
{
    return FIRST_SIZE << 2 * number;
}

static uintptr_t pool_start(unsigned number)
{
    return (uintptr_t)(number == 0 ? first_pool.bytes : atomic_load(&pools[number].bytes));
}

static void *pool_allocate(unsigned number, size_t size, size_t alignment)
{
    const uintptr_t base = pool_start(number);
    size_t from = atomic_load(&pools[number].used), to;
    uintptr_t block;
    do {
        block = (base + from + HEAD + alignment - 1) & ~(uintptr_t)(alignment - 1);
        to = block - base + size;
        if (to > pool_size(number))
            return NULL;
    } while (!atomic_compare_exchange_weak(&pools[number].used, &from, to));
    ((size_t *)block)[-1] = size;
    return (void *)block;
}

void *bootstrap_allocate(size_t size, size_t alignment)
{
    void *block = NULL;
    if (alignment < sizeof(max_align_t))
        alignment = sizeof(max_align_t);
    for (unsigned i = 0; i < POOLS && !block; i++) {
        if (size > pool_size(i) || alignment > pool_size(i) ||
            (i > 0 && !os_map_once(&pools[i].bytes, pool_size(i))))
            continue;
        block = pool_allocate(i, size, alignment);
        if (i > atomic_load(&pools_used)) /* at the start there is one thread */
            atomic_store(&pools_used, i);
    }
    return block;
}

bool bootstrap_owns(const void *block)
{
    for (unsigned i = 0; i <= atomic_load_explicit(&pools_used, memory_order_relaxed); i++)
        if (pool_start(i) && (uintptr_t)block - pool_start(i) < pool_size(i))
            return true;
    return false;
}

size_t bootstrap_size(const void *block)
{
    return ((const size_t *)block)[-1];
}

#ifdef MPROF_STATIC

/* The linker provides these names for the real functions, because of -Wl,--wrap=…. */
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);
int __real_posix_memalign(void **, size_t, size_t);
void *__real_aligned_alloc(size_t, size_t);
void *__real_memalign(size_t, size_t);
void *__real_valloc(size_t);
void *__real_pvalloc(size_t);

struct real real = {
    .malloc = __real_malloc,
    .calloc = __real_calloc,
    .realloc = __real_realloc,
    .free = __real_free,
    .posix_memalign = __real_posix_memalign,
    .aligned_alloc = __real_aligned_alloc,
    .memalign = __real_memalign,
    .valloc = __real_valloc,
    .pvalloc = __real_pvalloc,
    .malloc_usable_size = malloc_usable_size,
};

bool real_is_reached(void)
{
    return true;
}

void real_before_relocation(void)
{
}

#else

static void *early_allocate(size_t size, size_t alignment)
{
    void *block = bootstrap_allocate(size, alignment);
    if (!block)
        errno = ENOMEM;
    return block;
}

static bool early_resolve(void);
static void *real_comes_before(const char *name, Dl_info *other);

/* The definitions before the loader has answered. Each asks the loader first. If the question is
 * already under way, the bootstrap arena serves the call. */
static void *early_malloc(size_t size)
{
    return early_resolve() ? real.malloc(size) : early_allocate(size, 1);
}

static void *early_calloc(size_t count, size_t size)
{
    if (early_resolve())
        return real.calloc(count, size);
    size_t product;
    if (__builtin_mul_overflow(count, size, &product)) {
        errno = ENOMEM;
        return NULL;
    }
    return early_allocate(product, 1);
}

static void *early_realloc(void *block, size_t size)
{
    if (early_resolve())
        return real.realloc(block, size);
    void *moved = early_allocate(size, 1);
    if (moved && block && bootstrap_owns(block)) {
        size_t old = bootstrap_size(block);
        memcpy(moved, block, old < size ? old : size);
    }
    return moved;
}

static void early_free(void *block)
{
    if (early_resolve() && !bootstrap_owns(block))
        real.free(block);
}

static int early_posix_memalign(void **block, size_t alignment, size_t size)
{
    if (early_resolve())
        return real.posix_memalign(block, alignment, size);
    void *memory = early_allocate(size, alignment);
    if (!memory)
        return ENOMEM;
    *block = memory;
    return 0;
}

static void *early_aligned_alloc(size_t alignment, size_t size)
{
    return early_resolve() ? real.aligned_alloc(alignment, size) : early_allocate(size, alignment);
}

static void *early_memalign(size_t alignment, size_t size)
{
    return early_resolve() ? real.memalign(alignment, size) : early_allocate(size, alignment);
}

static void *early_valloc(size_t size)
{
    return early_resolve() ? real.valloc(size) : early_allocate(size, ARCH_PAGE_SIZE);
}

static void *early_pvalloc(size_t size)
{
    size_t whole = (size + ARCH_PAGE_SIZE - 1) & ~(size_t)(ARCH_PAGE_SIZE - 1);
    return early_resolve() ? real.pvalloc(size) : early_allocate(whole, ARCH_PAGE_SIZE);
}

static size_t early_usable_size(void *block)
{
    return early_resolve() && !bootstrap_owns(block) ? real.malloc_usable_size(block) : 0;
}

/* Replacements for functions that some C libraries lack. */
static size_t missing_usable_size(void *block)
{
    return 0;
}

static void *missing_aligned(size_t alignment, size_t size)
{
    void *block;
    int error = real.posix_memalign(&block, alignment, size);
    errno = error ? error : errno;
    return error ? NULL : block;
}

static void *missing_valloc(size_t size)
{
    return missing_aligned(ARCH_PAGE_SIZE, size);
}

static void *missing_pvalloc(size_t size)
{
    return missing_aligned(ARCH_PAGE_SIZE,
                           (size + ARCH_PAGE_SIZE - 1) & ~(size_t)(ARCH_PAGE_SIZE - 1));
}

struct real real = {
    .malloc = early_malloc,
    .calloc = early_calloc,
    .realloc = early_realloc,
    .free = early_free,
    .posix_memalign = early_posix_memalign,
    .aligned_alloc = early_aligned_alloc,
    .memalign = early_memalign,
    .valloc = early_valloc,
    .pvalloc = early_pvalloc,
    .malloc_usable_size = early_usable_size,
};

/* The code knows where the functions are. The loader puts the same addresses there. */
void real_before_relocation(void)
{
    real_add_detour(REAL_BOOTSTRAP);
    real.malloc = early_malloc;
    real.calloc = early_calloc;
    real.realloc = early_realloc;
    real.free = early_free;
    real.posix_memalign = early_posix_memalign;
    real.aligned_alloc = early_aligned_alloc;
    real.memalign = early_memalign;
    real.valloc = early_valloc;
    real.pvalloc = early_pvalloc;
    real.malloc_usable_size = early_usable_size;
}

enum { EARLY, ASKING, KNOWN };
static _Atomic int resolution;
static bool apart; /* real_take_first() was called */

/* A program at a fixed address that takes the address of a function has a symbol for it that leads
 * to its own jump table. */
struct question {
    const char *name;
    const void *function;
};

/* Looks at the first object only, the program. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *argument)
{
    const struct question *question = (const struct question *)argument;
    struct got_object program = got_object_of(info);
    return got_object_measure(&program) && got_object_holds(&program, question->function) &&
                   !got_object_defines(&program, question->name)
               ? 1
               : -1;
}

static bool is_jump_table(const char *name, const void *function)
{
    struct question question = {name, function};
    return dl_iterate_phdr(look_at_program, &question) == 1;
}

/* An object that defines the name. */
struct definer {
    const char *name;
    struct got_object object;
    char path[4096];
};

/* Leaves out the first object, the program, whose symbol is a jump table, and this library. */
static int look_for_definer(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct definer *definer = (struct definer *)argument;
    struct got_object object = got_object_of(info);
    if (!info->dlpi_name[0] || strlen(info->dlpi_name) >= sizeof(definer->path) ||
        !got_object_measure(&object) || got_object_holds(&object, (void *)real_is_reached) ||
        !got_object_defines(&object, definer->name))
        return 0;
    memcpy(definer->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
    definer->object = object;
    return 1;
}

/* Returns the first definition. If that is a jump table, the loader is asked for the definition of
 * the first other object that has one: asked by name it gives the right one of several versions. */
static void *first_definition(const char *name)
{
    static struct definer definer;
    void *first = c_library_dlsym(RTLD_DEFAULT, name);
    if (!first || !is_jump_table(name, first))
        return first;
    definer.name = name;
    if (!dl_iterate_phdr(look_for_definer, &definer))
        return NULL;
    void *handle = c_library_dlopen(definer.path, RTLD_LAZY | RTLD_NOLOAD);
    first = handle ? c_library_dlsym(handle, name) : NULL;
    if (handle)
        c_library_dlclose(handle);
    return first && got_object_holds(&definer.object, first) ? first : NULL;
}

void *real_find(const char *name)
{
    if (!os_is_relocated())
        return c_library_find(name);
    return apart ? first_definition(name) : c_library_dlsym(RTLD_NEXT, name);
}

void *real_next(_Atomic(void *) *next, const char *name)
{
    void *found = atomic_load_explicit(next, memory_order_acquire);
    if (!found) {
        const int error = errno;
        found = real_find(name);
        atomic_store_explicit(next, found, memory_order_release);
        errno = error;
    }
    return found;
}

/* Stops with 1 at an object that defines malloc, with 2 at this library. */
static int look_for_first(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct got_object object = got_object_of(info);
    if (!got_object_measure(&object))
        return 0;
    if (got_object_holds(&object, (void *)real_is_reached))
        return 2;
    return got_object_defines(&object, "malloc") != NULL;
}

bool real_comes_first(void)
{
    return dl_iterate_phdr(look_for_first, NULL) == 2;
}

bool real_is_apart(void)
{
    Dl_info own, other;
    if (real_comes_first()) /* as in most programs */
        return false;
    /* RTLD_DEFAULT would find it here, too: the loader also looks where its caller's names are. */
    void *program = c_library_dlopen(NULL, RTLD_LAZY);
    void *first = program ? c_library_dlsym(program, "mprof_api_1") : NULL;
    if (program)
        c_library_dlclose(program);
    return !first || !dladdr((void *)real_is_reached, &own) || !dladdr(first, &other) ||
           own.dli_fbase != other.dli_fbase;
}

static void resolve(void)
{
    struct real found = real;
    const struct {
        const char *name;
        void *target;
        void *fallback;
    } wanted[] = {
        {"malloc", &found.malloc, NULL},
        {"calloc", &found.calloc, NULL},
        {"realloc", &found.realloc, NULL},
        {"free", &found.free, NULL},
        {"posix_memalign", &found.posix_memalign, NULL},
        {"aligned_alloc", &found.aligned_alloc, (void *)missing_aligned},
        {"memalign", &found.memalign, (void *)missing_aligned},
        {"valloc", &found.valloc, (void *)missing_valloc},
        {"pvalloc", &found.pvalloc, (void *)missing_pvalloc},
        {"malloc_usable_size", &found.malloc_usable_size, (void *)missing_usable_size},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        void *address = real_find(wanted[i].name);
        if (!address)
            address = wanted[i].fallback;
        /* No program could run without these, so the early definition stays and reports ENOMEM. */
        if (address)
            memcpy(wanted[i].target, &address, sizeof(address));
    }
    /* If an allocator that comes first lacks reallocarray, calls of that come to the recorder. Its
     * blocks must not be given to the C library. */
    Dl_info other;
    void *first = apart ? NULL : real_comes_before("realloc", &other);
    if (first)
        memcpy(&found.realloc, &first, sizeof(first));
    memcpy(&real, &found, offsetof(struct real, detours));
}

/* Asks the loader for the real functions. Returns false while it is being asked: the caller then
 * uses the bootstrap arena. The detour is there before the answer is, so that whoever uses the real
 * functions knows whether there may be such blocks. */
static bool early_resolve(void)
{
    int early = EARLY;
    if (!os_is_relocated())
        return false;
    if (!atomic_compare_exchange_strong(&resolution, &early, ASKING)) {
        if (early == KNOWN)
            return true;
        real_add_detour(REAL_BOOTSTRAP);
        return atomic_load(&resolution) == KNOWN;
    }
    resolve();
    atomic_store(&resolution, KNOWN);
    return true;
}

void real_take_first(void)
{
    apart = true;
    resolve();
    atomic_store(&resolution, KNOWN);
}

/* Returns the definition that comes before the recorder's own, and the object that has it in
 * *other. Returns NULL if there is none. */
static void *real_comes_before(const char *name, Dl_info *other)
{
    void *first = c_library_dlsym(RTLD_DEFAULT, name);
    Dl_info own;
    if (!first || !dladdr((void *)real_is_reached, &own) || !dladdr(first, other) ||
        own.dli_fbase == other->dli_fbase)
        return NULL;
    return is_jump_table(name, first) ? NULL : first;
}

bool real_is_reached(void)
{
    Dl_info other;
    early_resolve();
    if (apart || !real_comes_before("malloc", &other))
        return true;
    message_line(
        other.dli_fname, " has its own malloc, which comes before the recorder's: ",
        "nothing is recorded. mprof-run preloads the recorder first; an allocator that is ",
        "linked into the program can report its blocks by mprof.h.", NULL);
    return false;
}

#endif

bool real_is_bootstrap(const void *block)
{
    return bootstrap_owns(block);
}

void *real_move_bootstrap(void *block, size_t size)
{
    void *moved = real.malloc(size);
    if (moved) {
        size_t old = bootstrap_size(block);
        memcpy(moved, block, old < size ? old : size);
    }
    return moved;
}
