/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows the collector. It tells when it has marked the reachable objects, has chosen the objects
 * to finalize, and has freed blocks of memory without an object. Then it holds its lock, and other
 * threads run, but get only memory that was set aside for them before, which is marked. */
#include "runtimes/ecl/record.h"

#include <dlfcn.h>

#include "capture/os/c_library.h"
#include "capture/os/os.h"
#include "runtimes/common.h"

static const char *const real_names[REAL_COUNT] = {
#define REAL_NAME(name) #name,
    REAL_FUNCTIONS(REAL_NAME)
#undef REAL_NAME
};

void *_Atomic real_functions[REAL_COUNT];

void real_library(char name[REAL_LIBRARY_SIZE])
{
    common_join(name, REAL_LIBRARY_SIZE, "libecl.so.", OS_DECIMAL(ECL_VERSION_NUMBER / 10000), ".",
                OS_DECIMAL(ECL_VERSION_NUMBER / 100 % 100), NULL);
}

/* A library that a program loads by itself does not come after this one in the order of symbols. */
static void *find_loaded(const char *name)
{
    char library[REAL_LIBRARY_SIZE];
    real_library(library);
    void *handle = c_library_dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? c_library_dlsym(handle, name) : NULL;
    if (handle)
        c_library_dlclose(handle);
    return found;
}

static void *look_up(enum real_function function)
{
    void *found = c_library_dlsym(RTLD_NEXT, real_names[function]);
    return found ? found : find_loaded(real_names[function]);
}

void real_find_all(void)
{
    for (unsigned function = 0; function < REAL_COUNT; function++)
        if (!atomic_load(&real_functions[function]))
            atomic_store(&real_functions[function], look_up((enum real_function)function));
}

void *real_find(enum real_function function)
{
    void *found = look_up(function);
    if (!found) {
        char line[128];
        common_join(line, sizeof(line), "mprof: the program calls ", real_names[function],
                    ", which no library has\n", NULL);
        common_call(SYS_write, 2, (long)line, (long)strlen(line), 0);
        __builtin_trap();
    }
    atomic_store_explicit(&real_functions[function], found, memory_order_release);
    return found;
}

bool real_is_there(void)
{
    return c_library_dlsym(RTLD_NEXT, "ecl_alloc_object") != NULL;
}

struct record record;
_Thread_local cl_env_ptr record_present;

static struct {
    GC_on_collection_event_proc others; /* what the program wants to be called at such times */
    mprof_runtime runtime;
    uintptr_t page; /* the page of the collector's heap that was asked for last */
    bool page_used; /* it holds objects */
} collector;

#define PAGE ((uintptr_t)4096) /* all objects that begin in a page have the same header */

static const char *const kind_names[KIND_COUNT] = {
    [t_list] = "cons",
    [t_bignum] = "bignum",
    [t_ratio] = "ratio",
    [t_singlefloat] = "single-float",
    [t_doublefloat] = "double-float",
    [t_longfloat] = "long-float",
    [t_complex] = "complex",
    [t_csfloat] = "complex-single-float",
    [t_cdfloat] = "complex-double-float",
    [t_clfloat] = "complex-long-float",
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
    [KIND_POINTERS] = "memory with pointers",
    [KIND_DATA] = "memory without pointers",
    [KIND_COLLECTOR] = "unknown (collector)",
};

static bool is_dead(uintptr_t address)
{
    const uintptr_t page = address & ~(PAGE - 1);
    if (page != collector.page) {
        collector.page = page;
        collector.page_used = REAL(GC_base)((void *)address) != NULL;
    }
    return !collector.page_used || !REAL(GC_is_marked)((void *)address);
}

static void end_block(uintptr_t address)
{
    mprof_collected(record.arena, (void *)address);
}

static void on_event(GC_EventType event)
{
    if (collector.others)
        collector.others(event);
    if (event != GC_EVENT_PRE_STOP_WORLD && event != GC_EVENT_RECLAIM_END)
        return;
    cl_env_ptr env = record_hold();
    if (event == GC_EVENT_PRE_STOP_WORLD) {
        mprof_collection(collector.runtime, 1);
        mprof_collected(record.arena, NULL); /* a sample may have none of its dead blocks */
    } else {
        collector.page = 0;
        blocks_sweep(is_dead, end_block);
        mprof_collection(collector.runtime, 0);
    }
    record_release(env);
}

__attribute__((visibility("default"))) void
GC_set_on_collection_event(GC_on_collection_event_proc call)
{
    if (atomic_load(&record.on))
        collector.others = call;
    else
        REAL(GC_set_on_collection_event)(call);
}

__attribute__((visibility("default"))) GC_on_collection_event_proc GC_get_on_collection_event(void)
{
    return atomic_load(&record.on) ? collector.others : REAL(GC_get_on_collection_event)();
}

void record_begin(mprof_runtime runtime)
{
    real_find_all();
    collector.runtime = runtime;
    record.arena = mprof_arena_create("ECL", 0);
    for (unsigned kind = 0; kind < KIND_COUNT; kind++)
        if (kind_names[kind])
            record.kinds[kind] = mprof_kind_create(runtime, kind_names[kind]);
    collector.others = REAL(GC_get_on_collection_event)();
    REAL(GC_set_on_collection_event)(on_event);
    atomic_store(&record.on, true);
}
