/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/allocators.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "capture/os/c_library.h"
#include "capture/os/elf_symbols.h"
#include "capture/record/thread.h"

static const struct {
    char prefix[12];               /* "": only the names of the table belong to it */
    char allocates[20], frees[20]; /* an object that defines both is this allocator */
} families[] = {
    {"", "mallocx", "dallocx"},
    {"je_", "je_malloc", "je_free"},
    {"tc_", "tc_malloc", "tc_free"},
    {"mi_", "mi_malloc", "mi_free"},
    {"scalable_", "scalable_malloc", "scalable_free"},
    {"_rjem_", "_rjem_malloc", "_rjem_free"}, /* jemalloc in Rust, always linked in */
};
#define FAMILIES (sizeof(families) / sizeof(*families))

/* Parts of the names of functions that give out blocks or end them. */
static const char signs[][8] = {"alloc", "free",   "new",     "dup",   "path",
                                "env",   "delete", "destroy", "expand"};

static struct {
    struct allocator_function *functions;
    unsigned count;
    struct {
        _Atomic uint64_t start, end; /* of the object that defines it; 0: there is none */
        uint64_t bias;
    } found[FAMILIES];
    _Atomic uint64_t self, self_end; /* this library */
    _Atomic bool any;
} allocators;

static struct got_function missing = {.heap = true, .foreign = true};

static unsigned family_of(const char *name)
{
    for (unsigned i = 1; i < FAMILIES; i++)
        if (strncmp(name, families[i].prefix, strlen(families[i].prefix)) == 0)
            return i;
    return 0;
}

void allocators_init(struct allocator_function *functions, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        functions[i].family = (uint8_t)family_of(functions[i].slot.name);
        functions[i].slot.heap = functions[i].slot.foreign = true;
    }
    allocators.count = count;
    allocators.functions = functions;
}

/* One pass over the loaded objects. */
struct look {
    const struct got_object *self;
    struct got_object found[FAMILIES]; /* header_count 0: none so far */
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct look *look = (struct look *)argument;
    struct got_object object = got_object_of(info);
    if (!got_object_measure(&object) || object.start == look->self->start)
        return 0;
    for (unsigned i = 0; i < FAMILIES; i++) {
        if (!look->found[i].header_count && got_object_defines(&object, families[i].allocates) &&
            got_object_defines(&object, families[i].frees))
            look->found[i] = object;
    }
    return 0;
}

static void functions_set(unsigned family, const struct got_object *object)
{
    for (unsigned i = 0; i < allocators.count; i++) {
        struct got_function *slot = &allocators.functions[i].slot;
        if (allocators.functions[i].family != family)
            continue;
        slot->real = got_object_defines(object, slot->name);
        slot->global = NULL;
    }
}

bool allocators_look(const struct got_object *self)
{
    struct look look = {.self = self};
    bool any = false, changed = false;
    if (!allocators.count) /* a resolver of the program began the recording */
        return false;
    dl_iterate_phdr(look_at_object, &look);
    atomic_store(&allocators.self, self->start);
    atomic_store(&allocators.self_end, self->end);
    for (unsigned i = 0; i < FAMILIES; i++) {
        const struct got_object *object = &look.found[i];
        any = any || object->header_count;
        if (object->start == allocators.found[i].start && object->end == allocators.found[i].end &&
            object->bias == allocators.found[i].bias)
            continue;
        changed = true;
        allocators.found[i].bias = object->bias;
        if (object->header_count)
            functions_set(i, object);
        atomic_store(&allocators.found[i].start, object->start);
        atomic_store(&allocators.found[i].end, object->end);
    }
    atomic_store(&allocators.any, any);
    return changed;
}

bool allocators_are_loaded(void)
{
    return atomic_load(&allocators.any);
}

static bool is_loaded(unsigned family)
{
    return atomic_load_explicit(&allocators.found[family].end, memory_order_acquire) != 0;
}

/* Returns the table's function of this name. NULL: it has none, or its allocator is not loaded. */
static struct allocator_function *function_find(const char *name, unsigned family)
{
    for (unsigned i = 0; is_loaded(family) && i < allocators.count; i++) {
        struct allocator_function *function = &allocators.functions[i];
        if (function->family == family && strcmp(function->slot.name, name) == 0)
            return function;
    }
    return NULL;
}

/* Returns true if a function of this name may give out blocks or end them. */
static bool sounds_like_heap(const char *name)
{
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        for (const char *at = name; *at; at++)
            if (strncmp(at, signs[i], strlen(signs[i])) == 0)
                return true;
    return false;
}

struct got_function *allocators_find(const char *name)
{
    const unsigned family = family_of(name);
    struct allocator_function *function = function_find(name, family);
    if (function && function->action == ALLOCATOR_ASKS)
        return NULL;
    if (function && function->slot.real)
        return &function->slot;
    return is_loaded(family) && (function || (family != 0 && sounds_like_heap(name))) ? &missing
                                                                                      : NULL;
}

struct got_function *allocators_find_back(const char *name)
{
    struct got_function *slot = allocators_find(name);
    if (!slot || !slot->own)
        return NULL;
    struct allocator_function *function = (struct allocator_function *)slot; /* begins with it */
    function->back = (struct got_function){
        .name = slot->name, .own = slot->real, .real = slot->own, .heap = true};
    return &function->back;
}

void *allocators_entry_of(const char *name, const void *address)
{
    const struct got_function *slot = allocators_find(name);
    return slot && slot->own && slot->real == address ? slot->own : NULL;
}

/* The functions of each family that the program defines: `allocates` 1, `frees` 2. */
struct definitions {
    uint8_t of[FAMILIES];
};

static void note_definition(void *context, const char *name, uint64_t address, uint64_t size)
{
    struct definitions *definitions = (struct definitions *)context;
    for (unsigned i = 0; i < FAMILIES; i++)
        definitions->of[i] |= (strcmp(name, families[i].allocates) == 0 ? 1u : 0) |
                              (strcmp(name, families[i].frees) == 0 ? 2u : 0);
}

const char *allocators_in_program(void)
{
    struct definitions definitions = {{0}};
    elf_symbols_of("/proc/self/exe", note_definition, &definitions);
    for (unsigned i = 0; i < FAMILIES; i++)
        if (definitions.of[i] == 3)
            return families[i].allocates;
    return NULL;
}

static bool lies_between(const void *address, _Atomic uint64_t *start, _Atomic uint64_t *end)
{
    const uint64_t from = atomic_load_explicit(start, memory_order_relaxed);
    return (uint64_t)address - from < atomic_load_explicit(end, memory_order_relaxed) - from;
}

bool allocators_make_call(const void *return_address)
{
    for (unsigned i = 0; i < FAMILIES; i++)
        if (lies_between(return_address, &allocators.found[i].start, &allocators.found[i].end))
            return true;
    /* It may have jumped to malloc at its end. */
    return lies_between(return_address, &allocators.self, &allocators.self_end) ||
           c_library_calls_heap(return_address);
}

void *allocators_resize(void *old, const struct resize *resize)
{
    const struct allocator_resize *request = (const struct allocator_resize *)resize;
    return request->function ? (void *)allocators_call(request->function, request->arguments) : old;
}

/* If the allocator makes the block by malloc, that call brings the next point of the sample no
 * nearer: the block counts once. */
uintptr_t allocators_call(const struct allocator_function *function,
                          const uintptr_t arguments[ALLOCATOR_ARGUMENTS])
{
    uintptr_t (*const call)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t) =
        (uintptr_t(*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                      uintptr_t))function->slot.real;
    const uint64_t left = atomic_load_explicit(&thread_self.sample.left, memory_order_relaxed);
    const uintptr_t result =
        call(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    atomic_store_explicit(&thread_self.sample.left, left, memory_order_relaxed);
    return result;
}
