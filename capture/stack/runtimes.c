/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/runtimes.h"

#include <errno.h>
#include <string.h>

#include "capture/os/lockfree_table.h"
#include "capture/os/os.h"
#include "capture/stack/modules.h"

#define RUNTIME_NAME 64u
/* The most functions that are remembered by their key. The others are asked for their name each
 * time that a stack changes. */
#define KEYS_MAX (1u << 19)
/* The texts of all names. It is mapped at once, but only what is used takes memory. */
#define TEXT_BYTES (UINT64_C(64) << 20)

/* A value of the tables: the number of the name, and above it a second hash. */
#define NUMBER_MASK ((uint64_t)TRACE_RUNTIME_NAMES - 1)
#define HASH_MASK (~NUMBER_MASK)

struct runtime {
    struct mprof_runtime_calls calls;
    void *data;
    uint32_t module;
    _Atomic uint32_t ready;
    _Atomic uint64_t announced; /* the trace in which it was announced last */
    char name[RUNTIME_NAME];
};

struct name {
    _Atomic uint64_t announced;
    uint32_t line;
    uint16_t function_size, file_size; /* of the texts, with their zero bytes */
    char text[];                       /* function, file */
};

struct names {
    _Atomic(struct name *) by_number[TRACE_RUNTIME_NAMES];
    _Atomic uint32_t last;
    _Atomic uint64_t used; /* bytes of `text` */
    _Alignas(16) char text[TEXT_BYTES];
};

static uint64_t key_place(uint64_t key, uint64_t value)
{
    return key;
}

static struct {
    struct runtime all[RUNTIMES_MAX];
    _Atomic uint32_t count;
    _Atomic uint64_t trace;
    _Atomic(void *) names;         /* struct names */
    struct lockfree_table by_key;  /* runtime, key and check to a number */
    struct lockfree_table by_text; /* runtime, function, file and line to a number */
} runtimes = {.trace = 1,
              .by_key = {.identity = HASH_MASK, .place = key_place},
              .by_text = {.identity = HASH_MASK, .place = key_place}};

static struct names *open_names(void)
{
    return os_map_once(&runtimes.names, sizeof(struct names));
}

uint32_t runtimes_count(void)
{
    uint32_t count = atomic_load_explicit(&runtimes.count, memory_order_acquire);
    return count < RUNTIMES_MAX ? count : RUNTIMES_MAX;
}

uint32_t runtimes_add(const char *name, const struct mprof_runtime_calls *calls, void *data)
{
    if (!open_names() || runtimes_count() == RUNTIMES_MAX)
        return 0;
    uint32_t place = atomic_fetch_add(&runtimes.count, 1);
    if (place >= RUNTIMES_MAX) {
        atomic_fetch_sub(&runtimes.count, 1);
        return 0;
    }
    struct runtime *runtime = &runtimes.all[place];
    runtime->calls = *calls;
    runtime->data = data;
    runtime->module = modules_take_id();
    if (name)
        memcpy(runtime->name, name, strnlen(name, RUNTIME_NAME - 1));
    atomic_store_explicit(&runtime->ready, 1, memory_order_release);
    return place + 1;
}

static struct runtime *find_runtime(uint32_t number)
{
    struct runtime *runtime =
        number >= 1 && number <= RUNTIMES_MAX ? &runtimes.all[number - 1] : NULL;
    return runtime && atomic_load_explicit(&runtime->ready, memory_order_acquire) ? runtime : NULL;
}

uint32_t runtimes_frames(uint32_t number, struct mprof_frame *frames, uint32_t max)
{
    const struct runtime *runtime = find_runtime(number);
    if (!runtime || !runtime->calls.frames)
        return 0;
    const int error = errno;
    const uint32_t count = runtime->calls.frames(runtime->data, frames, max);
    errno = error;
    return count < max ? count : max;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return mix(hash, size);
}

/* Returns the key of a hash in a table, which is never 0. */
static uint64_t table_key(uint64_t hash)
{
    return hash ? hash : 1;
}

/* Stores a name under a new number. 0: there is no room. */
static uint32_t store_name(const struct mprof_frame_name *from, size_t function_size,
                           size_t file_size)
{
    struct names *names = open_names();
    const size_t size = (offsetof(struct name, text) + function_size + file_size + 7) & ~(size_t)7;
    if (!names || atomic_load(&names->last) >= TRACE_RUNTIME_NAMES - 1 ||
        atomic_load(&names->used) > TEXT_BYTES - size)
        return 0;
    const uint64_t at = atomic_fetch_add(&names->used, size);
    if (at > TEXT_BYTES - size) {
        atomic_fetch_sub(&names->used, size);
        return 0;
    }
    const uint32_t number = atomic_fetch_add(&names->last, 1) + 1;
    if (number >= TRACE_RUNTIME_NAMES) {
        atomic_fetch_sub(&names->last, 1);
        return 0;
    }
    struct name *name = (struct name *)(void *)(names->text + at);
    name->line = from->line;
    name->function_size = (uint16_t)function_size;
    name->file_size = (uint16_t)file_size;
    memcpy(name->text, from->function, function_size);
    memcpy(name->text + function_size, from->file, file_size);
    atomic_store_explicit(&names->by_number[number], name, memory_order_release);
    return number;
}

/* Asks for the name of a function, and returns the number of that name. */
static uint32_t ask_name(uint32_t number, const struct mprof_frame *frame,
                         struct mprof_frame_name *name)
{
    const struct runtime *runtime = find_runtime(number);
    name->function[0] = name->file[0] = 0;
    name->line = 0;
    const int error = errno;
    if (runtime && runtime->calls.name)
        runtime->calls.name(runtime->data, frame->key, name);
    errno = error;
    name->function[sizeof(name->function) - 1] = name->file[sizeof(name->file) - 1] = 0;
    const size_t function_size = strlen(name->function) + 1, file_size = strlen(name->file) + 1;
    const uint64_t first =
        mix_text(mix_text(number, name->function, function_size), name->file, file_size);
    const uint64_t hash = mix(first, name->line);
    const uint64_t second = mix(mix_text(~first, name->function, function_size), hash) & HASH_MASK;
    uint64_t found =
        lockfree_table_find(&runtimes.by_text, table_key(hash), table_key(hash), second, HASH_MASK);
    if (found)
        return (uint32_t)(found & NUMBER_MASK);
    const uint32_t stored = store_name(name, function_size, file_size);
    if (stored)
        lockfree_table_insert(&runtimes.by_text, table_key(hash), second | stored);
    return stored;
}

uint64_t runtimes_pc(uint32_t runtime, const struct mprof_frame *frame,
                     struct mprof_frame_name *name)
{
    const uint64_t hash =
        table_key(mix(mix(mix(runtime, (uint64_t)frame->key), frame->check), runtime));
    const uint64_t second = mix(mix(~(uint64_t)frame->check, (uint64_t)frame->key), hash);
    const uint64_t found =
        lockfree_table_find(&runtimes.by_key, hash, hash, second & HASH_MASK, HASH_MASK);
    uint32_t number = (uint32_t)(found & NUMBER_MASK);
    if (!found) {
        number = ask_name(runtime, frame, name);
        if (number && lockfree_table_used(&runtimes.by_key) < KEYS_MAX)
            lockfree_table_insert(&runtimes.by_key, hash, (second & HASH_MASK) | number);
    }
    const uint64_t line = frame->line <= TRACE_RUNTIME_LINE_MAX ? frame->line : 0;
    return (uint64_t)runtime << RUNTIME_PC_RUNTIME_SHIFT |
           (uint64_t)number << RUNTIME_PC_NUMBER_SHIFT | line;
}

/* Writes the record before it notes that it did: another thread must not name what is not there
 * yet. Two threads may both write it, which the trace format allows. */
uint32_t runtimes_module(uint32_t number, const struct stack_sink *sink, void *context)
{
    struct runtime *runtime = find_runtime(number);
    const uint64_t trace = atomic_load(&runtimes.trace);
    if (!runtime)
        return 0;
    if (atomic_load_explicit(&runtime->announced, memory_order_acquire) != trace) {
        const struct stack_runtime record = {.module = runtime->module, .name = runtime->name};
        if (!sink->runtime || !sink->runtime(context, &record))
            return 0;
        atomic_store_explicit(&runtime->announced, trace, memory_order_release);
    }
    return runtime->module;
}

static bool announce_name(uint32_t module, uint32_t number, const struct stack_sink *sink,
                          void *context)
{
    struct names *names = atomic_load_explicit(&runtimes.names, memory_order_acquire);
    struct name *name =
        names ? atomic_load_explicit(&names->by_number[number], memory_order_acquire) : NULL;
    const uint64_t trace = atomic_load(&runtimes.trace);
    if (!name || atomic_load_explicit(&name->announced, memory_order_acquire) == trace)
        return true;
    const struct stack_runtime_name record = {.module = module,
                                              .number = number,
                                              .function = name->text,
                                              .file = name->text + name->function_size,
                                              .line = name->line};
    if (!sink->runtime_name || !sink->runtime_name(context, &record))
        return false;
    atomic_store_explicit(&name->announced, trace, memory_order_release);
    return true;
}

bool runtimes_define(uint64_t pc, struct stack_node *node, const struct stack_sink *sink,
                     void *context)
{
    const uint32_t number = (uint32_t)(pc >> RUNTIME_PC_NUMBER_SHIFT & NUMBER_MASK);
    const uint32_t module =
        runtimes_module((uint32_t)(pc >> RUNTIME_PC_RUNTIME_SHIFT), sink, context);
    if (!module || !announce_name(module, number, sink, context))
        return false;
    node->module = module;
    node->frame = TRACE_FRAME_EXACT;
    node->value = pc & ((UINT64_C(1) << RUNTIME_PC_RUNTIME_SHIFT) - 1);
    return true;
}

void runtimes_announce_again(void)
{
    atomic_fetch_add(&runtimes.trace, 1);
}

void runtimes_after_fork(void)
{
    lockfree_table_recover(&runtimes.by_key);
    lockfree_table_recover(&runtimes.by_text);
    runtimes_announce_again();
}
