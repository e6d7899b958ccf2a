/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions behind the entry points: the next definition after ours. A program keeps its own
 * allocator or that of another preloaded library.
 *
 * Until the loader has been asked, and while it is being asked (dlsym itself may allocate), memory
 * comes from a small bootstrap arena inside the library. Its blocks are never given back. They may
 * be passed to free() and realloc() at any later time. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum real_detour {
    REAL_BOOTSTRAP = 1, /* some blocks lie in the bootstrap arena */
    REAL_SAMPLED = 2,   /* a sample leaves out most events: event_filter.h */
};

struct real {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    uint8_t detours; /* enum real_detour */
};

/* Usable at any time: the first call through it asks the loader. */
extern struct real real;

/* Returns what entry points look at before anything else. It is not an atomic load, because
 * compilers make a second instruction of that. Bits are only ever added, one at a time, and a
 * thread that does not see a new one yet goes a way that is right, too. */
static inline uint8_t real_detours(void)
{
    return real.detours;
}
static inline void real_add_detour(enum real_detour detour)
{
    __atomic_fetch_or(&real.detours, (uint8_t)detour, __ATOMIC_SEQ_CST);
}

/* Makes `real` serve calls from the bootstrap arena, before the loader has relocated this library.
 */
void real_before_relocation(void);

/* Returns false, after one message, if the program or a library before this one defines malloc
 * itself. The program's calls never arrive here then. */
bool real_is_reached(void);

/* Returns true if the recorder was loaded by a dlopen that gives its names to nobody: the program's
 * calls do not come here, and will only do so if somebody changes its slots. */
bool real_is_apart(void);

/* Returns true if this library comes before all others that define malloc. The program's calls come
 * here then. Needs no relocation. */
bool real_comes_first(void);

/* For such a recorder: takes the functions that the program calls now, the first definitions in the
 * order in which the loader looks, as the real ones. Call it where a program may call dlopen. */
void real_take_first(void);

/* Returns the next definition of another function, or the first one for a recorder that is apart.
 * NULL if there is none. */
void *real_find(const char *name);
/* Does the same once: *next keeps the result, NULL at first. Keeps errno. */
void *real_next(_Atomic(void *) *next, const char *name);

/* Returns true if `block` lies in the bootstrap arena. Ask only if real.detours has REAL_BOOTSTRAP.
 */
bool real_is_bootstrap(const void *block);
/* Reallocates such a block: returns a new block of the real allocator with its contents, or NULL
 * if there is no memory. */
void *real_move_bootstrap(void *block, size_t size);

/* The request of realloc, reallocarray, or another allocator's function. */
struct resize {
    uint64_t size; /* of the whole block; UINT64_MAX: it is too large */
    bool array;    /* asked for by reallocarray */
    bool other;    /* the beginning of a struct allocator_resize (allocators.h) */
};

#ifdef MPROF_STATIC
/* In a static program no slots lead from other allocators to the recorder. */
static inline void *allocators_resize(void *old, const struct resize *resize)
{
    return old;
}
static inline bool allocators_make_call(const void *return_address)
{
    return false;
}
#else
/* Makes the call of another allocator. Returns the block, or NULL. */
void *allocators_resize(void *old, const struct resize *resize);
/* Returns true if a call that returns to the address is one that an allocator makes itself.
 * Safe at any time. */
bool allocators_make_call(const void *return_address);
#endif

/* Makes the real call. reallocarray becomes a real realloc, since C libraries implement it by their
 * public realloc. That is the entry point here, and would look like a second call. */
static inline void *real_resize(void *old, const struct resize *resize)
{
    if (__builtin_expect(resize->array || resize->other, 0)) {
        if (resize->other)
            return allocators_resize(old, resize);
        if (resize->size == UINT64_MAX) {
            errno = ENOMEM;
            return NULL;
        }
    }
    return real.realloc(old, resize->size);
}

/* Returns zeroed memory aligned to `alignment` (a power of two), or NULL if there is none. */
void *bootstrap_allocate(size_t size, size_t alignment);
bool bootstrap_owns(const void *block);

/* Returns the size that was asked for. */
size_t bootstrap_size(const void *block);
