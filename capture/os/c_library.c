/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/c_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/elf_symbols.h"
#include "capture/os/os.h"

/* The first thread's stack pointer as the kernel left it: number of arguments, arguments, NULL,
 * environment, NULL, auxiliary vector. */
extern void *__libc_stack_end __attribute__((weak));

#define ARGUMENTS_MAX (1 << 24)

/* Returns the environment as the kernel left it. NULL: it is not known. The symbol may be the
 * program's own, so the value is looked at first. */
static char **first_environment(void)
{
    const uint64_t *stack = &__libc_stack_end ? __libc_stack_end : NULL;
    if (!stack || (uintptr_t)stack % sizeof(*stack) || !os_can_read((uint64_t)stack) ||
        *stack > ARGUMENTS_MAX)
        return NULL;
    const uint64_t *end = stack + 1 + *stack;
    return os_can_read((uint64_t)end) && !*end ? (char **)(uintptr_t)(end + 1) : NULL;
}

static const ElfW(auxv_t) * auxiliary_vector(void)
{
    static const ElfW(auxv_t) * _Atomic known;
    static ElfW(auxv_t) copy[64]; /* ends by a zero */
    const ElfW(auxv_t) *vector = atomic_load_explicit(&known, memory_order_acquire);
    if (vector)
        return vector;
    char **environment = first_environment();
    if (environment) {
        while (*environment)
            environment++;
        vector = (const ElfW(auxv_t) *)(environment + 1);
    } else {
        const int file = os_open_read("/proc/self/auxv");
        if (file < 0)
            return copy;
        os_read(file, copy, sizeof(copy) - sizeof(*copy));
        os_close(file);
        vector = copy;
    }
    atomic_store_explicit(&known, vector, memory_order_release);
    return vector;
}

unsigned long getauxval(unsigned long type)
{
    const ElfW(auxv_t) *entry = auxiliary_vector();
    while (entry->a_type != AT_NULL && entry->a_type != type)
        entry++;
    return entry->a_type == type ? entry->a_un.a_val : 0;
}

/* Before the C library's constructor has run, its pointer to the environment is not set. */
char *getenv(const char *name)
{
    char **environment = __environ ? __environ : first_environment();
    const size_t length = strlen(name);
    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

char *secure_getenv(const char *name)
{
    return getauxval(AT_SECURE) ? NULL : getenv(name);
}

pthread_t pthread_self(void)
{
    return arch_thread_pointer();
}

#ifdef MPROF_STATIC

/* Names that belong to the C library. */
int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *object);
int __cxa_at_quick_exit(void (*)(void *), void *object);
int __pthread_key_create(pthread_key_t *, void (*)(void *));
int __sigaction(int, const struct sigaction *, struct sigaction *);
extern void *__dso_handle;
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden"))); /* by the linker */

/* Shows the program, the one object that is recorded. */
int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *data)
{
    const ElfW(Phdr) *segments =
        (const ElfW(Phdr) *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
    struct dl_phdr_info program = {
        .dlpi_name = "", .dlpi_phdr = segments, .dlpi_phnum = __ehdr_start.e_phnum};
    for (unsigned i = 0; i < __ehdr_start.e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
            program.dlpi_addr = (ElfW(Addr)) & __ehdr_start - segments[i].p_vaddr;
    return each(&program, sizeof(program), data);
}

int c_library_key_create(pthread_key_t *key, void (*destroy)(void *))
{
    return __pthread_key_create(key, destroy);
}

int c_library_set_specific(pthread_key_t key, const void *value)
{
    return pthread_setspecific(key, value);
}

int c_library_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return __sigaction(number, action, old);
}

#define register_atfork __register_atfork
#define cxa_at_quick_exit __cxa_at_quick_exit

#else

/* The C library of glibc and its loader, and libraries that it had before 2.34. Not an array of
 * pointers: it is read even before the loader has relocated this library. */
static const char parts[][24] = {"libc.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0",
                                 "libdl.so.2"};
/* musl, which is its own loader, defines this and glibc does not: a pointer to the structure that
 * the loader keeps for debuggers. */
static const char of_musl[] = "_dl_debug_addr";

/* The program headers of a loaded file. */
struct headers {
    const ElfW(Phdr) * segments;
    unsigned long count;
    uint64_t bias; /* 0: not known yet */
};

/* The first header is PT_PHDR, which gives the bias, in all but loaders and libraries. */
static const ElfW(Dyn) * dynamic_of(struct headers *headers)
{
    const ElfW(Dyn) *dynamic = NULL;
    const uint64_t page = (uint64_t)headers->segments & ~(uint64_t)(ARCH_PAGE_SIZE - 1);
    bool known = headers->bias;
    for (unsigned long i = 0; headers->segments && i < headers->count; i++) {
        const ElfW(Phdr) *segment = &headers->segments[i];
        if (!known && segment->p_type == PT_PHDR)
            headers->bias = (uint64_t)headers->segments - segment->p_vaddr;
        if (!known && segment->p_type == PT_LOAD && segment->p_offset == 0)
            headers->bias = page - segment->p_vaddr;
        known = known || segment->p_type == PT_PHDR || segment->p_type == PT_LOAD;
        if (segment->p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(headers->bias + segment->p_vaddr);
    }
    return dynamic;
}

/* Returns the loader's list of objects, which begins with those that the program started with. The
 * loader says where it is. In a program that was started by naming the loader, the headers are
 * those of the program with glibc, which has it then, and those of the loader with musl. */
static const struct link_map *objects_of_loader(void)
{
    const uint64_t loader = getauxval(AT_BASE);
    struct headers first = {(const ElfW(Phdr) *)getauxval(AT_PHDR), getauxval(AT_PHNUM), 0};
    if (loader) {
        const ElfW(Ehdr) *file = (const ElfW(Ehdr) *)loader;
        first =
            (struct headers){(const ElfW(Phdr) *)(loader + file->e_phoff), file->e_phnum, loader};
    }
    const ElfW(Dyn) *dynamic = dynamic_of(&first);
    const struct r_debug *list = NULL;
    if (dynamic && loader)
        list = loaded_symbol(first.bias, dynamic, "_r_debug");
    struct r_debug **const place =
        dynamic && !list ? loaded_symbol(first.bias, dynamic, of_musl) : NULL;
    if (place)
        list = *place;
    for (const ElfW(Dyn) *entry = dynamic; !loader && entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_DEBUG)
            list = (const struct r_debug *)entry->d_un.d_ptr;
    return list ? list->r_map : NULL;
}

static bool is_part(const struct link_map *map)
{
    const char *strings = NULL;
    uint64_t name = 0;
    if (loaded_symbol(map->l_addr, map->l_ld, of_musl))
        return true;
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_SONAME)
            name = entry->d_un.d_val;
    }
    /* The loader has added the bias, except for the vdso. */
    if (!strings || !name || (uint64_t)strings < map->l_addr)
        return false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (strcmp(strings + name, parts[i]) == 0)
            return true;
    return false;
}

static void *find_sized(const char *name, uint64_t *size)
{
    void *found = NULL;
    for (const struct link_map *map = objects_of_loader(); map && !found; map = map->l_next)
        if (is_part(map))
            found = loaded_symbol_sized(map->l_addr, map->l_ld, name, size);
    return found;
}

void *c_library_find(const char *name)
{
    uint64_t size;
    return find_sized(name, &size);
}

bool c_library_calls_heap(const void *caller)
{
    static const char names[][16] = {"calloc", "posix_memalign", "pthread_atfork"};
    static struct {
        _Atomic uint64_t start, size; /* start 0: not asked yet */
    } functions[sizeof(names) / sizeof(*names)];
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        uint64_t start = atomic_load_explicit(&functions[i].start, memory_order_acquire), size = 0;
        if (!start) {
            start = (uint64_t)find_sized(names[i], &size);
            atomic_store_explicit(&functions[i].size, size, memory_order_relaxed);
            atomic_store_explicit(&functions[i].start, start ? start : 1, memory_order_release);
        }
        size = atomic_load_explicit(&functions[i].size, memory_order_relaxed);
        if ((uint64_t)caller - start < size)
            return true;
    }
    return false;
}

bool c_library_ends_thread_at(uint64_t pc)
{
    uint8_t code[8]; /* the value becomes an argument, `mov %eax,%edi` or a longer one; the call */
    int32_t distance;
    if (os_copy_memory(pc, code, sizeof(code)) != sizeof(code))
        return false;
    const size_t call = code[0] == 0x48 ? 3 : 2;
    memcpy(&distance, code + call + 1, sizeof(distance));
    const uint64_t target = pc + call + 5 + (uint64_t)(int64_t)distance;
    return code[call] == 0xe8 && (target == (uint64_t)c_library_find("exit") ||
                                  target == (uint64_t)c_library_find("pthread_exit"));
}

/* By the linker: <link.h> has it as another library's, whose address is not known so early. */
extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

void *c_library_definition(const char *name, bool next, const void **base)
{
    bool begun = !next;
    void *found = NULL;
    for (const struct link_map *map = objects_of_loader(); map && !found; map = map->l_next) {
        if (begun)
            found = loaded_symbol(map->l_addr, map->l_ld, name);
        begun = begun || map->l_ld == own_dynamic;
        *base = (const void *)map->l_addr;
    }
    return found;
}

int *__errno_location(void)
{
    /* The same distance from the thread control block in all threads, since the C library is
     * loaded with the program. */
    static _Atomic intptr_t distance;
    static int nowhere;
    intptr_t known = atomic_load_explicit(&distance, memory_order_relaxed);
    if (__builtin_expect(known == 0, 0)) {
        int *(*find)(void) = (int *(*)(void))c_library_find("__errno_location");
        if (!find)
            return &nowhere;
        known = (intptr_t)find() - (intptr_t)arch_thread_pointer();
        atomic_store_explicit(&distance, known, memory_order_relaxed);
    }
    return (int *)((intptr_t)arch_thread_pointer() + known);
}

static void *find_once(void *_Atomic *known, const char *name)
{
    void *found = atomic_load_explicit(known, memory_order_acquire);
    if (!found) {
        found = c_library_find(name);
        atomic_store_explicit(known, found, memory_order_release);
    }
    return found;
}

/* Defines a function that calls the C library's `name`, and returns `none` without one. */
/* NOLINTBEGIN(bugprone-macro-parentheses): lists of parameters are in parentheses already */
#define DEFINE_AS(type, own, name, parameters, arguments, none)                                    \
    type own parameters                                                                            \
    {                                                                                              \
        static void *_Atomic known;                                                                \
        type(*const next) parameters = (type(*) parameters)find_once(&known, name);                \
        return next ? next arguments : (none);                                                     \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

/* In musl these two have the names that POSIX and C give them, and do not take an object. */
static DEFINE_AS(
    int, plain_atfork, "pthread_atfork",
    (void (*before)(void), void (*parent)(void), void (*child)(void)), (before, parent, child),
    ENOSYS) static DEFINE_AS(int, register_atfork, "__register_atfork",
                             (void (*before)(void), void (*parent)(void), void (*child)(void),
                              void *object),
                             (before, parent, child, object),
                             plain_atfork(
                                 before, parent,
                                 child)) static DEFINE_AS(int, plain_at_quick_exit, "at_quick_exit",
                                                          (void (*function)(void *)), (function),
                                                          -1) static DEFINE_AS(int,
                                                                               cxa_at_quick_exit,
                                                                               "__cxa_at_quick_"
                                                                               "exit",
                                                                               (void (*function)(
                                                                                    void *),
                                                                                void *object),
                                                                               (function, object),
                                                                               plain_at_quick_exit(
                                                                                   function))

    DEFINE_AS(void *, c_library_dlopen, "dlopen", (const char *file, int mode), (file, mode),
              NULL) DEFINE_AS(int, c_library_dlclose, "dlclose", (void *handle), (handle),
                              -1) DEFINE_AS(void *, c_library_dlsym, "dlsym",
                                            (void *handle, const char *name), (handle, name), NULL)
        DEFINE_AS(int, dladdr, "dladdr", (const void *address, Dl_info *info), (address, info), 0)
#if __GLIBC_PREREQ(2, 35)
            DEFINE_AS(int, _dl_find_object, "_dl_find_object",
                      (void *pc, struct dl_find_object *result), (pc, result), -1)
#endif
                DEFINE_AS(int, dl_iterate_phdr, "dl_iterate_phdr",
                          (int (*each)(struct dl_phdr_info *, size_t, void *), void *data),
                          (each, data), 0)
                    DEFINE_AS(int, c_library_key_create, "pthread_key_create",
                              (pthread_key_t * key, void (*destroy)(void *)), (key, destroy),
                              ENOSYS)
                        DEFINE_AS(int, c_library_set_specific, "pthread_setspecific",
                                  (pthread_key_t key, const void *value), (key, value), ENOSYS)
                            DEFINE_AS(int, c_library_sigaction, "sigaction",
                                      (int number, const struct sigaction *action,
                                       struct sigaction *old),
                                      (number, action, old), -1)

    /* The compiler's startup files define it, but the libraries are linked without them. */
    __attribute__((weak)) void *__dso_handle = &__dso_handle;

#endif

int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    return register_atfork(before, parent, child, &__dso_handle);
}

/* The function gets an argument that it does not take. */
int at_quick_exit(void (*function)(void))
{
    return cxa_at_quick_exit((void (*)(void *))function, &__dso_handle);
}
