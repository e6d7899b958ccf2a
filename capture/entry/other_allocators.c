/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry points of other allocators' functions. No program finds them by their names: slots lead
 * to them (capture/record/allocators.h).
 *
 * Each passes on as many arguments as any of the functions has. The ones that a function does not
 * have hold what was in the registers, and come to it as they came here. */
#include <stddef.h>
#include <string.h>

#include "capture/entry/allocate.h"
#include "capture/os/arch_x86_64.h"
#include "capture/record/allocators.h"
#include "capture/record/events.h"
#include "capture/record/gate.h"
#include "capture/record/unhooked_modules.h"

#define FRAME __builtin_frame_address(0)
#define FLAGS_ALIGNMENT 63u /* the binary logarithm */
#define FLAG_ZERO 64u
#define FUNCTION(name, action, ...) INDEX_##name,
#define ASKS(name) INDEX_##name,
enum {
#include "capture/entry/allocators.def"
    INDEX_COUNT
};
#undef FUNCTION
#undef ASKS

static struct allocator_function functions[INDEX_COUNT];

static uintptr_t argument(const uintptr_t *arguments, unsigned number, uintptr_t none)
{
    return number ? arguments[number - 1] : none;
}

static uint64_t size_of(const struct allocator_function *function, const uintptr_t *arguments)
{
    return allocate_product(argument(arguments, function->count, 1),
                            argument(arguments, function->size, 0));
}

static uintptr_t give(const struct allocator_function *function, const void *frame,
                      const uintptr_t *arguments)
{
    enum trace_alloc_kind kind = (enum trace_alloc_kind)function->kind;
    unsigned log2 = kind == TRACE_KIND_VALLOC || kind == TRACE_KIND_PVALLOC
                        ? allocate_log2(ARCH_PAGE_SIZE)
                        : allocate_log2(argument(arguments, function->alignment, 0));
    if (function->flags) {
        const unsigned flags = (unsigned)arguments[function->flags - 1];
        log2 = flags & FLAGS_ALIGNMENT;
        kind = log2                ? TRACE_KIND_ALIGNED_ALLOC
               : flags & FLAG_ZERO ? TRACE_KIND_CALLOC
                                   : TRACE_KIND_MALLOC;
    }
    struct thread *thread = recorder_enter(frame, RECORDER_ALLOCATION);
    const uint64_t early = events_stamp_before(thread);
    const uintptr_t result = allocators_call(function, arguments);
    if (!thread)
        return result;
    const void *address = (const void *)result;
    uint64_t size = size_of(function, arguments);
    if (function->action == ALLOCATOR_STORES) {
        address = (int)result == 0 ? *(void *const *)arguments[function->block - 1] : NULL;
        kind = TRACE_KIND_POSIX_MEMALIGN;
    } else if (function->action == ALLOCATOR_COPIES && address) {
        size = strlen(address) + 1;
    }
    events_put_allocation(thread, frame, early, address, size, kind, log2);
    recorder_leave();
    return result;
}

static uintptr_t end(const struct allocator_function *function, const void *frame,
                     const uintptr_t *arguments)
{
    const void *block = (const void *)arguments[function->block - 1];
    if (!block)
        return allocators_call(function, arguments);
    if ((real_detours() & REAL_BOOTSTRAP) && real_is_bootstrap(block))
        return 0;
    struct thread *thread = recorder_enter(frame, RECORDER_END_OF_BLOCK);
    if (thread)
        events_put_free(thread, frame, block);
    const uintptr_t result = allocators_call(function, arguments);
    if (thread)
        recorder_leave();
    return result;
}

static uintptr_t resize(const struct allocator_function *function, const void *frame,
                        const uintptr_t *arguments)
{
    const struct allocator_resize request = {
        .resize = {.size = size_of(function, arguments), .other = true},
        .function = function,
        .arguments = arguments};
    return (uintptr_t)allocate_resize(frame, (void *)arguments[function->block - 1],
                                      &request.resize);
}

/* Resizes in place and records that only if the block has the size that the program asked for: that
 * it has not is usual, and no failure. */
static uintptr_t resize_in_place(const struct allocator_function *function, const void *frame,
                                 const uintptr_t *arguments)
{
    void *block = (void *)arguments[function->block - 1];
    const bool stretches = function->action == ALLOCATOR_STRETCHES;
    uint64_t size = size_of(function, arguments);
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    const uintptr_t result = allocators_call(function, arguments);
    if (thread)
        recorder_leave();
    if (!block || (stretches ? result < size : !result))
        return result;
    if (stretches) {
        const uint64_t extra = arguments[function->extra - 1], room = result - size;
        size += extra < room ? extra : room;
    }
    const struct allocator_resize request = {.resize = {.size = size, .other = true}};
    allocate_resize(frame, block, &request.resize);
    return result;
}

static __attribute__((noinline)) uintptr_t enter(const struct allocator_function *function,
                                                 const void *frame,
                                                 const uintptr_t arguments[ALLOCATOR_ARGUMENTS])
{
    switch (function->action) {
    case ALLOCATOR_RESIZES:
        return resize(function, frame, arguments);
    case ALLOCATOR_STRETCHES:
    case ALLOCATOR_EXPANDS:
        return resize_in_place(function, frame, arguments);
    case ALLOCATOR_ENDS:
        return end(function, frame, arguments);
    default:
        return give(function, frame, arguments);
    }
}

#define ASKS(name)
#define FUNCTION(name, action, ...)                                                                \
    static uintptr_t enter_##name(uintptr_t one, uintptr_t two, uintptr_t three, uintptr_t four,   \
                                  uintptr_t five, uintptr_t six)                                   \
    {                                                                                              \
        const uintptr_t arguments[] = {one, two, three, four, five, six};                          \
        return enter(&functions[INDEX_##name], FRAME, arguments);                                  \
    }
#include "capture/entry/allocators.def"
#undef FUNCTION
#undef ASKS

#define FUNCTION(name_, action_, ...)                                                              \
    {.slot = {.name = #name_, .own = (void *)enter_##name_},                                       \
     .action = ALLOCATOR_##action_,                                                                \
     __VA_ARGS__},
#define ASKS(name_) {.slot = {.name = #name_}, .action = ALLOCATOR_ASKS},
static struct allocator_function functions[INDEX_COUNT] = {
#include "capture/entry/allocators.def"
};

/* glibc's loader calls this while it relocates this library, with the other libraries behind it and
 * the program still before it. So it is the place where slots can be changed before any constructor
 * calls them. It does so because the symbol below, to which a word is relocated, is one of an
 * indirect function. musl's loader knows no such functions and refuses the relocation that the
 * compiler makes for them (R_X86_64_IRELATIVE). It takes the word, because capture/entry/indirect.c
 * makes the symbol local: such a symbol is not looked up, and its kind does not matter. */
__attribute__((used, visibility("hidden"))) void *libraries_are_ready(void);
void *libraries_are_ready(void)
{
    static bool called;
    if (!called)
        unhooked_modules_begin(functions, INDEX_COUNT);
    called = true;
    return NULL;
}
__asm__(".text\n"
        ".globl mprof_libraries_are_ready\n"
        ".type mprof_libraries_are_ready, @object\n" /* not one that -Bsymbolic-functions binds */
        "mprof_libraries_are_ready:\n"
        "jmp libraries_are_ready\n"
        ".size mprof_libraries_are_ready, . - mprof_libraries_are_ready\n"
        ".pushsection .data.rel, \"aw\"\n"
        ".balign 8\n"
        ".quad mprof_libraries_are_ready\n"
        ".popsection\n");
/* With musl it is the first constructor of this library that calls it. */
__attribute__((constructor(101))) static void begin(void)
{
    libraries_are_ready();
}
