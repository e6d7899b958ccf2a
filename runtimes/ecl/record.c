/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the collector. It tells when it has marked the reachable objects, has chosen the objects
 * to finalize, and has freed blocks of memory without an object. Then it holds its lock, and other
 * threads run, but get only memory that was set aside for them before, which is marked.
 */
#include "runtimes/ecl/record.h"

struct record record;
_Thread_local cl_env_ptr record_present;

static struct {
    GC_on_collection_event_proc others; /* what the program wants to be called at such times */
    mprof_runtime runtime;
    uintptr_t page; /* the page of the collector's heap that was asked for last */
    bool page_used; /* it holds objects */
} collector;

#define PAGE ((uintptr_t)4096) /* all objects that begin in a page have the same header */

static const char *const names[KIND_COUNT] = {
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
        if (names[kind])
            record.kinds[kind] = mprof_kind_create(runtime, names[kind]);
    collector.others = REAL(GC_get_on_collection_event)();
    REAL(GC_set_on_collection_event)(on_event);
    atomic_store(&record.on, true);
}
