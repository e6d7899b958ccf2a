/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A preloaded library that counts the objects of ECL without mprof, by another way than its
 * plug-in: it replaces the functions of the collector, not those of ECL. It counts what the
 * collector is asked for. It learns the type later: ECL has written a tag into the object by the
 * thread's next allocation. Conses have no tag; they are known by the function that asked.
 *
 * At the end it writes lines TYPE|COUNT|BYTES to $ECL_COUNTS, where BYTES are those asked for, and
 * the addresses of all objects that the last collection has marked to $ECL_MARKED. It has to come
 * before the plug-in in LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecl/ecl.h>
#include <gc/gc.h>
#include <gc/gc_mark.h>

enum { THREADS = 64, CALLERS = 32, KINDS = 128 };

/* The ways to ask the collector: each function tells where the type is. */
enum asker { ASKS_UNKNOWN = 1, ASKS_CONS, ASKS_TAGGED };

/* The last object of a thread, whose tag is not read yet. These are roots of the collector. */
static struct last {
    unsigned char *block;
    size_t size;
} last[THREADS];
static _Atomic int threads;
static __thread int mine
    __attribute__((tls_model("initial-exec"))); /* its place in `last` and one */

static _Atomic uint64_t counts[KINDS], bytes[KINDS];
enum { CONS = t_list, BODY = t_other, PLAIN_BODY = t_contiguous, UNKNOWN = 127 };

static struct caller {
    _Atomic uintptr_t address;
    enum asker asker;
} callers[CALLERS];
static pthread_mutex_t callers_lock = PTHREAD_MUTEX_INITIALIZER;

static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "ecl_counts: no %s\n", name);
        abort();
    }
    return function;
}

static enum asker find_asker(uintptr_t address)
{
    static const struct {
        const char *name;
        enum asker asker;
    } askers[] = {{"ecl_cons", ASKS_CONS},
                  {"ecl_list1", ASKS_CONS},
                  {"ecl_alloc_object", ASKS_TAGGED},
                  {"ecl_alloc_compact_object", ASKS_TAGGED},
                  {"si_make_weak_pointer", ASKS_TAGGED}};
    Dl_info info = {0};
    if (!dladdr((void *)address, &info) || !info.dli_sname)
        return ASKS_UNKNOWN;
    for (size_t i = 0; i < sizeof(askers) / sizeof(*askers); i++)
        if (strcmp(info.dli_sname, askers[i].name) == 0)
            return askers[i].asker;
    return ASKS_UNKNOWN;
}

static enum asker asker_of(uintptr_t address)
{
    for (int i = 0; i < CALLERS; i++)
        if (atomic_load(&callers[i].address) == address)
            return callers[i].asker;
    const enum asker asker = find_asker(address);
    pthread_mutex_lock(&callers_lock);
    for (int i = 0; i < CALLERS; i++) {
        const uintptr_t there = atomic_load(&callers[i].address);
        if (there == 0)
            callers[i].asker = asker;
        if (there == 0)
            atomic_store(&callers[i].address, address);
        if (there == 0 || there == address)
            break;
    }
    pthread_mutex_unlock(&callers_lock);
    return asker;
}

static void count(int kind, size_t size)
{
    atomic_fetch_add(&counts[kind], 1);
    atomic_fetch_add(&bytes[kind], size);
}

/* Counts the object of the thread whose tag had to wait. */
static void settle(struct last *object)
{
    if (object->block)
        count(*object->block & 127, object->size);
    object->block = NULL;
}

/* Notes a new block. `kind` is that of the collector's function, 0 if the asker tells. */
static void *note(void *block, size_t size, int kind, void *caller)
{
    if (mine == 0)
        mine = atomic_fetch_add(&threads, 1) + 1;
    if (mine > THREADS)
        abort();
    struct last *object = &last[mine - 1];
    settle(object);
    const enum asker asker = kind ? ASKS_UNKNOWN : asker_of((uintptr_t)caller);
    if (asker == ASKS_TAGGED)
        *object = (struct last){block, size};
    else
        count(kind ? kind : asker == ASKS_CONS ? CONS : UNKNOWN, size);
    return block;
}

/* Defines a function of the collector that allocates. */
#define COUNTED(name, kind)                                                                        \
    void *name(size_t size)                                                                        \
    {                                                                                              \
        static void *(*volatile real)(size_t);                                                     \
        if (!real)                                                                                 \
            real = (void *(*)(size_t))next(#name);                                                 \
        return note(real(size), size, kind, __builtin_return_address(0));                          \
    }

COUNTED(GC_malloc, 0)
COUNTED(GC_malloc_atomic, 0)
COUNTED(GC_malloc_ignore_off_page, BODY)
COUNTED(GC_malloc_atomic_ignore_off_page, PLAIN_BODY)
COUNTED(GC_malloc_uncollectable, BODY)

/* ECL chooses the collector's roots after this. */
void GC_clear_roots(void)
{
    ((void (*)(void))next("GC_clear_roots"))();
    ((void (*)(void *, void *))next("GC_add_roots"))(last, last + THREADS);
}

static const char *name_of(int kind)
{
    static const char *const names[KINDS] = {
        [t_list] = "cons",
        [t_bignum] = "bignum",
        [t_ratio] = "ratio",
        [t_singlefloat] = "single-float",
        [t_doublefloat] = "double-float",
        [t_longfloat] = "long-float",
        [t_complex] = "complex",
        [t_symbol] = "symbol",
        [t_package] = "package",
        [t_hashtable] = "hash-table",
        [t_array] = "array",
        [t_vector] = "vector",
        [t_string] = "string",
        [t_base_string] = "base-string",
        [t_bitvector] = "bit-vector",
        [t_stream] = "stream",
        [t_random] = "random-state",
        [t_readtable] = "readtable",
        [t_pathname] = "pathname",
        [t_bytecodes] = "bytecodes",
        [t_bclosure] = "bytecodes closure",
        [t_cfun] = "compiled function",
        [t_cfunfixed] = "compiled function",
        [t_cclosure] = "compiled closure",
        [t_instance] = "instance",
        [t_process] = "process",
        [t_lock] = "lock",
        [t_rwlock] = "rwlock",
        [t_condition_variable] = "condition-variable",
        [t_semaphore] = "semaphore",
        [t_barrier] = "barrier",
        [t_mailbox] = "mailbox",
        [t_codeblock] = "codeblock",
        [t_foreign] = "foreign",
        [t_frame] = "stack frame",
        [t_weak_pointer] = "weak-pointer",
        [BODY] = "memory with pointers",
        [PLAIN_BODY] = "memory without pointers",
        [UNKNOWN] = "unknown (collector)",
    };
    return names[kind] ? names[kind] : "(other)";
}

/* Writes the address of an object that the last collection has marked. */
static void tell_marked(void *object, size_t size, void *out)
{
    (void)size;
    fprintf(out, "%lu\n", (unsigned long)(uintptr_t)object);
}

static void *tell_all_marked(void *out)
{
    GC_enumerate_reachable_objects_inner(tell_marked, out);
    return NULL;
}

/* Writes a file that the environment names. */
static void tell_file(const char *variable, void (*tell)(FILE *out))
{
    const char *path = getenv(variable);
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return;
    tell(out);
    fclose(out);
}

static void tell_counts(FILE *out)
{
    for (int i = 0; i < THREADS; i++)
        settle(&last[i]);
    for (int kind = 0; kind < KINDS; kind++)
        if (counts[kind])
            fprintf(out, "%s|%lu|%lu\n", name_of(kind), (unsigned long)counts[kind],
                    (unsigned long)bytes[kind]);
}

static void tell_marks(FILE *out)
{
    GC_call_with_alloc_lock(tell_all_marked, out);
}

__attribute__((destructor)) static void tell(void)
{
    if (threads == 0)
        return; /* a program without ECL */
    tell_file("ECL_COUNTS", tell_counts);
    tell_file("ECL_MARKED", tell_marks);
}
