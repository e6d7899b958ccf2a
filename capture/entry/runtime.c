/* SPDX-License-Identifier: BSD-2-Clause */
/* Records what a runtime tells about itself: mprof_runtime_create(), mprof_kind_create() and
 * mprof_collection(). The blocks of its kinds are those of an arena (arena.c). */
#include <stdatomic.h>
#include <string.h>

#define MPROF_IMPLEMENTATION
#include "capture/mprof.h"

#include "capture/entry/arena.h"
#include "capture/entry/names.h"
#include "capture/os/os.h"
#include "capture/record/event_steps.h"
#include "capture/record/file.h"
#include "capture/record/gate.h"
#include "capture/record/rotate.h"
#include "capture/record/thread.h"
#include "capture/stack/stack.h"

#define FRAME __builtin_frame_address(0)
#define KINDS 65536u
#define KIND_NAME 128u

/* A kind. `runtime` is set last. */
struct kind {
    _Atomic uint32_t runtime;  /* 0: there is no such kind */
    _Atomic uint64_t named_in; /* the trace's number */
    char name[KIND_NAME];
};

static struct {
    _Atomic(void *) all; /* struct kind, by id */
    _Atomic uint32_t last;
} kinds;

/* Returns the table, which the first use makes. NULL if there is no memory. */
static struct kind *open_table(void)
{
    return os_map_once(&kinds.all, KINDS * sizeof(struct kind));
}

/* Writes the name before it notes that it did: the record of a block must not name what is not
 * there yet. Two threads may both write it, which the trace format allows. */
bool kinds_introduce(struct thread *thread, uint32_t id)
{
    struct kind *table = atomic_load_explicit(&kinds.all, memory_order_acquire);
    struct kind *kind = table && id < KINDS ? &table[id] : NULL;
    const uint64_t trace = trace_file_id();
    if (!kind)
        return false;
    if (atomic_load_explicit(&kind->named_in, memory_order_acquire) == trace)
        return true;
    const uint32_t runtime = atomic_load_explicit(&kind->runtime, memory_order_acquire);
    const uint32_t module = runtime ? stack_runtime_module(runtime, thread) : 0;
    if (!module || !thread_put_record(thread, TRACE_EXT_KIND, (const uint64_t[]){id, module}, 2,
                                      kind->name, strnlen(kind->name, KIND_NAME - 1)))
        return false;
    atomic_store_explicit(&kind->named_in, trace, memory_order_release);
    return true;
}

uint32_t kinds_module(struct thread *thread, uint32_t id)
{
    if (!kinds_introduce(thread, id))
        return 0;
    const struct kind *table = atomic_load_explicit(&kinds.all, memory_order_acquire);
    return stack_runtime_module(atomic_load_explicit(&table[id].runtime, memory_order_acquire),
                                thread);
}

ENTRY_POINT mprof_runtime mprof_runtime_create(const char *name,
                                               const struct mprof_runtime_calls *calls, void *data)
{
    struct thread *thread = calls ? recorder_enter(FRAME, RECORDER_NOTE) : NULL;
    if (!thread)
        return 0;
    const mprof_runtime runtime = stack_add_runtime(name, calls, data);
    if (runtime)
        stack_runtime_module(runtime, thread);
    recorder_leave();
    return runtime;
}

ENTRY_POINT mprof_kind mprof_kind_create(mprof_runtime runtime, const char *name)
{
    struct thread *thread = runtime ? recorder_enter(FRAME, RECORDER_NOTE) : NULL;
    if (!thread)
        return 0;
    struct kind *table = open_table();
    uint32_t id =
        table && atomic_load(&kinds.last) < KINDS - 1 ? atomic_fetch_add(&kinds.last, 1) + 1 : 0;
    if (id >= KINDS) {
        atomic_fetch_sub(&kinds.last, 1);
        id = 0;
    }
    if (id) {
        if (name)
            memcpy(table[id].name, name, strnlen(name, KIND_NAME - 1));
        atomic_store_explicit(&table[id].runtime, runtime, memory_order_release);
        kinds_introduce(thread, id);
    }
    recorder_leave();
    return id;
}

#define COLLECTING 32u /* runtimes from this number on are not looked at */

static struct {
    _Atomic uint32_t now;               /* a bit for each runtime that collects */
    _Atomic uint64_t began[COLLECTING]; /* ticks: when that one began */
    _Atomic uint64_t last[COLLECTING];  /* ticks: when the last one that has ended began */
} collections;

uint32_t runtime_that_collects(void)
{
    const uint32_t all = atomic_load_explicit(&collections.now, memory_order_relaxed);
    return all != 0 && (all & (all - 1)) == 0 ? (uint32_t)__builtin_ctz(all) : 0;
}

/* Writes that a collection begins or has ended. Returns the stamp, 0 if it could not be written. */
static uint64_t put_collection(struct thread *thread, mprof_runtime runtime, bool begins)
{
    const uint32_t module = stack_runtime_module(runtime, thread);
    uint8_t *p = module ? thread_extended_begin(thread, 32) : NULL;
    uint64_t when;
    if (!p)
        return 0;
    p = thread_put_moment(thread, p, &when);
    p = trace_put_varint(p, module);
    p = trace_put_varint(p, begins ? TRACE_COLLECTION_BEGINS : TRACE_COLLECTION_ENDED);
    thread_extended_end(thread, TRACE_EXT_COLLECTION, p);
    return when;
}

/* Writes a collection that began at `began`, before the trace did. */
static void put_earlier(struct thread *thread, mprof_runtime runtime, enum trace_collection state,
                        uint64_t began, uint32_t arena)
{
    const uint32_t module = stack_runtime_module(runtime, thread);
    uint8_t *p = module ? thread_extended_begin(thread, 48) : NULL;
    uint64_t when;
    if (!p)
        return;
    p = thread_put_moment(thread, p, &when);
    p = trace_put_varint(p, module);
    p = trace_put_varint(p, state);
    p = trace_put_varint(p, began != 0 && when > began ? when - began : 0);
    p = trace_put_varint(p, arena);
    thread_extended_end(thread, TRACE_EXT_COLLECTION, p);
}

static bool goes_on(mprof_runtime runtime)
{
    return atomic_load(&collections.now) >> runtime & 1;
}

/* Writes the last ended collection of an arena's runtime. If none has, the one that goes on. */
static void put_collected(struct thread *thread, uint32_t runtime, uint32_t arena)
{
    const uint64_t last = runtime < COLLECTING ? atomic_load(&collections.last[runtime]) : 0;
    if (last != 0)
        put_earlier(thread, runtime, TRACE_COLLECTION_BEFORE, last, arena);
    else if (runtime < COLLECTING && goes_on(runtime))
        put_earlier(thread, runtime, TRACE_COLLECTION_BEGINS,
                    atomic_load(&collections.began[runtime]), arena);
}

/* Begins the collections again that go on, in a trace that goes on from another, and writes the
 * last ones that have ended. */
static void go_on(struct thread *thread)
{
    for (mprof_runtime runtime = 1; runtime < COLLECTING; runtime++)
        if (goes_on(runtime))
            put_earlier(thread, runtime, TRACE_COLLECTION_BEGINS,
                        atomic_load(&collections.began[runtime]), 0);
    arenas_collected(thread, put_collected);
}

static void note_end(mprof_runtime runtime)
{
    const uint32_t bit = 1u << runtime;
    if (atomic_fetch_and(&collections.now, ~bit) & bit)
        atomic_store(&collections.last[runtime], atomic_load(&collections.began[runtime]));
}

ENTRY_POINT void mprof_collection(mprof_runtime runtime, int begin)
{
    const bool known = runtime < COLLECTING;
    struct thread *thread = runtime ? recorder_enter(FRAME, RECORDER_NOTE) : NULL;
    /* An end counts while the recording is stopped, too. */
    if (!begin && known)
        note_end(runtime);
    if (!thread)
        return;
    if (!atomic_load_explicit(&rotate_go_on, memory_order_relaxed))
        atomic_store(&rotate_go_on, go_on);
    const uint64_t when = put_collection(thread, runtime, begin != 0);
    if (begin && known) {
        atomic_store(&collections.began[runtime], when);
        atomic_fetch_or(&collections.now, 1u << runtime);
    }
    recorder_leave();
}
