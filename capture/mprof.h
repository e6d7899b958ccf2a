/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mprof.h: what a program can tell the recorder.
 *
 * Include it and call; nothing needs to be linked. In a program that runs unrecorded each call
 * costs one load and one predictable branch. Recorded by mprof-run, or linked with -lmprof, the
 * calls reach the recorder in executables of every kind (-pie, -no-pie, -static) and in plug-ins.
 * With -DMPROF_DISABLED they vanish.
 *
 * How it binds without the loader's help: each program and library that includes this file has
 * one hidden pointer and an ELF note that says where it is; the recorder finds the notes when it
 * starts and sets the pointers. (A weak function alone would be bound to nothing for good when a
 * -no-pie program is linked.) In what is loaded later the pointer is set by its own relocation.
 *
 * A program without shared libraries has to be linked with libmprof.a and a list of options:
 * docs/other-allocators.md has them.
 */
#ifndef MPROF_H
#define MPROF_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An allocator of the program's own: a pool, region or arena that hands out parts of larger
 * blocks. 0 is none: nothing is recorded of it.
 */
typedef unsigned int mprof_arena;

/* Members are only ever added, at the end; `size` tells how many there are. */
struct mprof_api {
    unsigned long size;
    void (*mark)(const char *name);
    void (*snapshot)(const char *name);
    void (*pause)(void);
    void (*resume)(void);
    mprof_arena (*arena_create)(const char *name, mprof_arena parent);
    void (*arena_reset)(mprof_arena arena);
    void (*arena_destroy)(mprof_arena arena);
    void (*arena_alloc)(mprof_arena arena, void *address, size_t size, size_t count);
    void (*arena_free)(mprof_arena arena, void *address);
    void (*arena_realloc)(mprof_arena arena, void *old, void *address, size_t size, size_t count);
    void (*type)(mprof_arena arena, void *address, const void *symbol, size_t count,
                 size_t object_size);
    void (*autosave)(unsigned long count);
    void (*stop)(void);
    void (*restart)(const char *file);
    void (*on_snapshot)(void (*callback)(void *data), void *data);
};

#if defined(MPROF_IMPLEMENTATION) /* the recorder itself */

void mprof_mark(const char *name);
void mprof_snapshot(const char *name);
void mprof_pause(void);
void mprof_resume(void);
mprof_arena mprof_arena_create(const char *name, mprof_arena parent);
void mprof_arena_reset(mprof_arena arena);
void mprof_arena_destroy(mprof_arena arena);
void mprof_alloc(mprof_arena arena, void *address, size_t size, size_t count);
void mprof_free(mprof_arena arena, void *address);
void mprof_realloc(mprof_arena arena, void *old, void *address, size_t size, size_t count);
void mprof_type(mprof_arena arena, void *address, const void *symbol, size_t count,
                size_t object_size);
void set_mprof_autosave(unsigned long count);
void mprof_stop(void);
void mprof_restart(const char *file);
void mprof_on_snapshot(void (*callback)(void *data), void *data);

#else

#if defined(MPROF_DISABLED)

extern const struct mprof_api *mprof_api_pointer; /* nowhere: no call of it is left */
#define MPROF_HAS(member) 0

#else

extern const struct mprof_api mprof_api_1 __attribute__((weak));

__attribute__((weak, used, visibility("hidden"))) const struct mprof_api *mprof_api_pointer =
    &mprof_api_1;

/* A note named "mprof" of type 1: the distance from here to the pointer. */
__asm__(".pushsection .note.mprof,\"a\",%note\n"
        ".balign 4\n"
        ".long 6, 8, 1\n"
        ".asciz \"mprof\"\n"
        ".balign 4\n"
        ".quad mprof_api_pointer - .\n"
        ".popsection\n");

/* A recorder is there, and not older than this member. */
#define MPROF_HAS(member)                                                                          \
    (__builtin_expect(mprof_api_pointer != 0, 0) &&                                                \
     mprof_api_pointer->size > __builtin_offsetof(struct mprof_api, member))

#endif

/* Inlined even without optimisation: stacks begin at the function that calls, and what follows
 * the call keeps it from becoming a tail call that would lose this function. */
#define MPROF_INLINE static __inline__ __attribute__((always_inline, unused))

/* A named moment on the time line. The name is copied, at most 255 bytes of it. */
MPROF_INLINE void mprof_mark(const char *name)
{
    if (MPROF_HAS(mark))
        mprof_api_pointer->mark(name);
}

/* A named moment whose live blocks are worth comparing with another's. */
MPROF_INLINE void mprof_snapshot(const char *name)
{
    if (MPROF_HAS(snapshot))
        mprof_api_pointer->snapshot(name);
}

/*
 * callback(data) is called before each snapshot that mprof_snapshot() or mprof-ctl takes from here
 * on: to run a garbage collector or to empty caches, say, so that what is live is what is in use.
 * There is one callback; the last call names it, NULL takes it away.
 *
 * It runs in the thread that takes the snapshot: in mprof_snapshot(), or, asked by mprof-ctl,
 * inside whatever call of malloc or free notices that first, after the call's own work is done. It
 * may allocate and free, which is recorded. Where it cannot run inside any call of malloc (it takes
 * a lock that is held around such calls, say), let it set a flag, and call mprof_snapshot() from a
 * place that suits. It must return. A snapshot that it takes itself does not call it again.
 */
MPROF_INLINE void mprof_on_snapshot(void (*callback)(void *data), void *data)
{
    if (MPROF_HAS(on_snapshot))
        mprof_api_pointer->on_snapshot(callback, data);
}

/*
 * From here on allocations are not recorded, in any thread, until mprof_resume(). What ends a
 * block still is, so that no block recorded before looks as if it were never freed.
 */
MPROF_INLINE void mprof_pause(void)
{
    if (MPROF_HAS(pause))
        mprof_api_pointer->pause();
}

MPROF_INLINE void mprof_resume(void)
{
    if (MPROF_HAS(resume))
        mprof_api_pointer->resume();
}

/*
 * The calls of the mprof of 1988, on a recording that is saved all the time anyway.
 *
 * set_mprof_autosave(): each count-th allocation from malloc is a snapshot; 0 ends that.
 * mprof_stop(): recording ends here and the trace is complete. Nothing more is recorded.
 * mprof_restart(): recording goes on in a new trace in `file` (where it exists, file.d/PID; NULL:
 * the usual name), which knows nothing of blocks from before. It does what mprof_stop() does first.
 */
MPROF_INLINE void set_mprof_autosave(unsigned long count)
{
    if (MPROF_HAS(autosave))
        mprof_api_pointer->autosave(count);
}

MPROF_INLINE void mprof_stop(void)
{
    if (MPROF_HAS(stop))
        mprof_api_pointer->stop();
}

MPROF_INLINE void mprof_restart(const char *file)
{
    if (MPROF_HAS(restart))
        mprof_api_pointer->restart(file);
}

/*
 * Names an arena. `parent` is the arena that its memory comes from, 0 where that is malloc, mmap
 * or a variable. The name is copied, at most 63 bytes of it. Returns 0 where nothing is recorded.
 */
MPROF_INLINE mprof_arena mprof_arena_create(const char *name, mprof_arena parent)
{
    return MPROF_HAS(arena_create) ? mprof_api_pointer->arena_create(name, parent) : 0;
}

/* All blocks of the arena, and of the arenas that have their memory from it, are free. */
MPROF_INLINE void mprof_arena_reset(mprof_arena arena)
{
    if (MPROF_HAS(arena_reset))
        mprof_api_pointer->arena_reset(arena);
}

/* A reset, and the arena is not used again. */
MPROF_INLINE void mprof_arena_destroy(mprof_arena arena)
{
    if (MPROF_HAS(arena_destroy))
        mprof_api_pointer->arena_destroy(arena);
}

/*
 * The arena has given out `size` bytes at `address`, that hold `count` objects. To be called by
 * the function that programs ask for memory: it counts as the allocator, and its caller as the
 * call site. address NULL: it could not, and nothing is recorded.
 */
MPROF_INLINE void mprof_alloc(mprof_arena arena, void *address, size_t size, size_t count)
{
    if (MPROF_HAS(arena_alloc)) {
        mprof_api_pointer->arena_alloc(arena, address, size, count);
        __asm__ volatile("");
    }
}

/* To be called before another thread can be given the same address. NULL does nothing. */
MPROF_INLINE void mprof_free(mprof_arena arena, void *address)
{
    if (MPROF_HAS(arena_free))
        mprof_api_pointer->arena_free(arena, address);
}

/*
 * The block at `old` (NULL: none) has become one of `size` bytes at `address`, the same place or
 * another. address NULL: it could not, and the old block stays.
 */
MPROF_INLINE void mprof_realloc(mprof_arena arena, void *old, void *address, size_t size,
                                size_t count)
{
    if (MPROF_HAS(arena_realloc)) {
        mprof_api_pointer->arena_realloc(arena, old, address, size, count);
        __asm__ volatile("");
    }
}

/*
 * The live block at `address` (arena 0: of malloc) holds `count` objects of `object_size` bytes of
 * the type that the variable at `symbol` stands for. 0: not known, but one follows from the other
 * and the size of the block. The C++ headers (mprof_types.h) have a variable for each type.
 */
MPROF_INLINE void mprof_type(mprof_arena arena, void *address, const void *symbol, size_t count,
                             size_t object_size)
{
    if (MPROF_HAS(type))
        mprof_api_pointer->type(arena, address, symbol, count, object_size);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
