/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mprof.h: what a program can tell the recorder.
 *
 * Include it and call; nothing needs to be linked. If the program is not recorded, each call costs
 * one load and one predictable branch. If mprof-run records the program, or it is linked with
 * -lmprof, the calls reach the recorder in executables of every kind (-pie, -no-pie, -static) and
 * in plug-ins. With -DMPROF_DISABLED they vanish.
 *
 * The calls bind without the help of the loader. Each program and library that includes this file
 * has one hidden pointer and an ELF note that says where it is. The recorder finds the notes when
 * it starts and sets the pointers. (When a -no-pie program is linked, a weak function alone would
 * be bound to nothing, and stay so.) In a library that is loaded later, a relocation sets the
 * pointer.
 *
 * To record a program without shared libraries, link it with libmprof.a and the options that
 * docs/other-allocators.md lists.
 */
#ifndef MPROF_H
#define MPROF_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An allocator of the program's own: a pool, region or arena that hands out parts of larger blocks.
 * 0: no arena, and nothing is recorded for it.
 */
typedef unsigned int mprof_arena;

/*
 * A runtime whose functions the recorder cannot see in the machine's code: an interpreter or a
 * virtual machine. 0: none, and nothing is recorded for it.
 */
typedef unsigned int mprof_runtime;
/* The type of a runtime's blocks. 0: not known. */
typedef unsigned int mprof_kind;

/* A function of a runtime that is running. */
struct mprof_frame {
    const void *key;     /* what runs: a code object, for example */
    unsigned long check; /* changes if the memory of the key has become another function */
    const void *address; /* lies in the native frame that evaluates it; NULL: not known */
    unsigned int line;   /* in the file that name() gives; 0: not known */
    unsigned int unused;
};

/* The name of such a function. Each text ends with a zero byte. */
struct mprof_frame_name {
    char function[256]; /* "": not known */
    char file[1024];    /* "": not known */
    unsigned int line;  /* where the function begins; 0: not known */
};

/* The calls by which the recorder asks a runtime. See mprof_runtime_create(). */
struct mprof_runtime_calls {
    unsigned int (*frames)(void *data, struct mprof_frame *out, unsigned int max);
    void (*name)(void *data, const void *key, struct mprof_frame_name *out);
};

/* The calls of the recorder. New members are only added at the end; `size` is the size that this
 * recorder has. */
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
    mprof_runtime (*runtime_create)(const char *name, const struct mprof_runtime_calls *calls,
                                    void *data);
    mprof_kind (*kind_create)(mprof_runtime runtime, const char *name);
    void (*arena_alloc_kind)(mprof_arena arena, void *address, size_t size, size_t count,
                             mprof_kind kind);
    void (*collected)(mprof_arena arena, void *address);
    void (*collection)(mprof_runtime runtime, int begin);
    void (*type_kind)(mprof_arena arena, void *address, mprof_kind kind);
    int (*arena_skips)(mprof_arena arena, void *address, size_t size);
};

#if defined(MPROF_IMPLEMENTATION) /* the recorder itself */

void mprof_mark(const char *name);
void mprof_snapshot(const char *name);
void mprof_pause(void);
void mprof_resume(void);
mprof_arena mprof_arena_create(const char *name, mprof_arena parent);
void mprof_arena_reset(mprof_arena arena);
void mprof_arena_destroy(mprof_arena arena);
void mprof_arena_alloc(mprof_arena arena, void *address, size_t size, size_t count);
void mprof_arena_free(mprof_arena arena, void *address);
void mprof_arena_realloc(mprof_arena arena, void *old, void *address, size_t size, size_t count);
void mprof_type(mprof_arena arena, void *address, const void *symbol, size_t count,
                size_t object_size);
void set_mprof_autosave(unsigned long count);
void mprof_stop(void);
void mprof_restart(const char *file);
void mprof_on_snapshot(void (*callback)(void *data), void *data);
mprof_runtime mprof_runtime_create(const char *name, const struct mprof_runtime_calls *calls,
                                   void *data);
mprof_kind mprof_kind_create(mprof_runtime runtime, const char *name);
void mprof_arena_alloc_kind(mprof_arena arena, void *address, size_t size, size_t count,
                            mprof_kind kind);
void mprof_collected(mprof_arena arena, void *address);
void mprof_collection(mprof_runtime runtime, int begin);
void mprof_type_kind(mprof_arena arena, void *address, mprof_kind kind);
int mprof_arena_skips(mprof_arena arena, void *address, size_t size);

#else

#if defined(MPROF_DISABLED)

extern const struct mprof_api *mprof_api_pointer; /* defined nowhere: no call of it is left */
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

/* Returns true if there is a recorder that is new enough to have this member. */
#define MPROF_HAS(member)                                                                          \
    (__builtin_expect(mprof_api_pointer != 0, 0) &&                                                \
     mprof_api_pointer->size > __builtin_offsetof(struct mprof_api, member))

#endif

/* The functions are inlined even without optimization, so that stacks begin at the function that
 * calls. The empty asm after a call keeps it from becoming a tail call, which would lose that
 * function. */
#define MPROF_INLINE static __inline__ __attribute__((always_inline, unused))

/* Marks a named moment on the time line. Copies at most 255 bytes of the name. */
MPROF_INLINE void mprof_mark(const char *name)
{
    if (MPROF_HAS(mark))
        mprof_api_pointer->mark(name);
}

/* Marks a named moment whose live blocks are worth comparing with those of another. */
MPROF_INLINE void mprof_snapshot(const char *name)
{
    if (MPROF_HAS(snapshot))
        mprof_api_pointer->snapshot(name);
}

/*
 * Sets a callback. callback(data) is called before each later snapshot that mprof_snapshot() or
 * mprof-ctl takes. It can run a garbage collector or empty caches, for example, so that only blocks
 * in use are live. There is one callback: a later call replaces it, and NULL removes it.
 *
 * It runs in the thread that takes the snapshot. That is the caller of mprof_snapshot(). If
 * mprof-ctl asks, it is the thread whose call of malloc or free notices that first, after the work
 * of that call is done. The callback may allocate and free, which is recorded. If it cannot run
 * inside every call of malloc, for example because it takes a lock that is held around such calls,
 * it can set a flag, and the program can call mprof_snapshot() from a place that suits. It must
 * return. If it takes a snapshot, it is not called again for that one.
 */
MPROF_INLINE void mprof_on_snapshot(void (*callback)(void *data), void *data)
{
    if (MPROF_HAS(on_snapshot))
        mprof_api_pointer->on_snapshot(callback, data);
}

/*
 * Stops recording allocations, in all threads, until mprof_resume(). The end of a block is still
 * recorded, so that no earlier block looks as if it were never freed.
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
 * The calls of the mprof of 1988. Here a recording is saved all the time anyway.
 *
 * set_mprof_autosave(): makes every count-th allocation from malloc a snapshot; 0 ends that.
 * mprof_stop(): ends recording and completes the trace. Nothing is recorded after it.
 * mprof_restart(): does what mprof_stop() does, then records into a new trace in `file` (if that
 * exists: file.d/PID; NULL: the usual name). The new trace knows nothing of earlier blocks.
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
 * Names an arena. `parent` is the arena that its memory comes from, 0 if that is malloc, mmap or a
 * variable. Copies at most 63 bytes of the name. Returns 0 if nothing is recorded.
 */
MPROF_INLINE mprof_arena mprof_arena_create(const char *name, mprof_arena parent)
{
    return MPROF_HAS(arena_create) ? mprof_api_pointer->arena_create(name, parent) : 0;
}

/* Ends all blocks of the arena and of the arenas that take their memory from it. */
MPROF_INLINE void mprof_arena_reset(mprof_arena arena)
{
    if (MPROF_HAS(arena_reset))
        mprof_api_pointer->arena_reset(arena);
}

/* Resets the arena, which is not used again. */
MPROF_INLINE void mprof_arena_destroy(mprof_arena arena)
{
    if (MPROF_HAS(arena_destroy))
        mprof_api_pointer->arena_destroy(arena);
}

/*
 * Records that the arena has given out `size` bytes at `address`, which hold `count` objects. Call
 * it in the function that programs ask for memory: that function counts as the allocator, and its
 * caller as the call site. If `address` is NULL, the allocation failed and nothing is recorded.
 */
MPROF_INLINE void mprof_arena_alloc(mprof_arena arena, void *address, size_t size, size_t count)
{
    if (MPROF_HAS(arena_alloc)) {
        mprof_api_pointer->arena_alloc(arena, address, size, count);
        __asm__ volatile("");
    }
}

/* Records that the block is given back. Call it before another thread can get the same address.
 * Does nothing if `address` is NULL. */
MPROF_INLINE void mprof_arena_free(mprof_arena arena, void *address)
{
    if (MPROF_HAS(arena_free))
        mprof_api_pointer->arena_free(arena, address);
}

/*
 * Records that the block at `old` (NULL: none) has become one of `size` bytes at `address`, in the
 * same place or another. If `address` is NULL, that failed and the old block stays.
 */
MPROF_INLINE void mprof_arena_realloc(mprof_arena arena, void *old, void *address, size_t size,
                                      size_t count)
{
    if (MPROF_HAS(arena_realloc)) {
        mprof_api_pointer->arena_realloc(arena, old, address, size, count);
        __asm__ volatile("");
    }
}

/*
 * Records that the live block at `address` (arena 0: from malloc) holds `count` objects of
 * `object_size` bytes, of the type that the variable at `symbol` represents. Pass 0 for a count or
 * size that is not known: it follows from the other one and the size of the block. The C++ headers
 * (mprof_types.h) have a variable for each type.
 */
MPROF_INLINE void mprof_type(mprof_arena arena, void *address, const void *symbol, size_t count,
                             size_t object_size)
{
    if (MPROF_HAS(type))
        mprof_api_pointer->type(arena, address, symbol, count, object_size);
}

/*
 * Registers a runtime. From here on each stack also has the runtime's functions, between the native
 * frames that evaluate them. Copies `calls` and at most 63 bytes of the name. There can be 15
 * runtimes, and a runtime stays until the process ends: the code of `calls` must not be unloaded.
 * Returns 0 if nothing is recorded or there are 15 already.
 *
 * calls->frames(data, out, max) writes the functions that the calling thread runs, innermost first,
 * at most `max`, and returns their number; 0 if the thread runs none. The recorder calls it inside
 * malloc and the other functions that it records, in any thread, also one that never ran the
 * runtime, and in signal handlers. So it may only read: it must not allocate, lock or wait. It must
 * cope with every state in which the runtime allocates. It is not called again
 * before it has returned, by signal handlers of the same thread either. Frames that share a native
 * frame have the same address, or addresses in the same frame. A frame without an address lies in
 * the native frame of the next frame inward that has one. If there is none, it lies inside all
 * native frames.
 *
 * calls->name(data, key, out) writes the name of a function. It is called right after frames(), in
 * the same thread, once for each (key, check); more often only if several threads meet the same
 * function at once, or there are more than half a million pairs. The same rules hold. If
 * it allocates in spite of that, the blocks are not recorded but counted as dropped. Line numbers
 * above 4,194,303 are shown as not known.
 */
MPROF_INLINE mprof_runtime mprof_runtime_create(const char *name,
                                                const struct mprof_runtime_calls *calls, void *data)
{
    return MPROF_HAS(runtime_create) ? mprof_api_pointer->runtime_create(name, calls, data) : 0;
}

/* Names a type of the runtime's blocks. Copies at most 127 bytes of the name. Returns 0 if nothing
 * is recorded, or there are 65,535 kinds already. */
MPROF_INLINE mprof_kind mprof_kind_create(mprof_runtime runtime, const char *name)
{
    return MPROF_HAS(kind_create) ? mprof_api_pointer->kind_create(runtime, name) : 0;
}

/*
 * Asks if a sample leaves out the block of `size` bytes that the arena has given out at `address`.
 * It is for runtimes that have work of their own for each block that is recorded.
 *
 * If it returns 1, the recorder needs no more calls for the block: neither mprof_arena_alloc() nor
 * mprof_arena_alloc_kind(), and none for its end. If it returns 0, call one of the two next, before
 * the thread allocates anything else: another allocation would take the block's place in the
 * sample. Do not ask for a block that mprof_arena_realloc() tells of.
 */
MPROF_INLINE int mprof_arena_skips(mprof_arena arena, void *address, size_t size)
{
    return MPROF_HAS(arena_skips) ? mprof_api_pointer->arena_skips(arena, address, size) : 0;
}

/* Does what mprof_arena_alloc() does, for a block whose type is known. Its `count` objects are of
 * that kind. */
MPROF_INLINE void mprof_arena_alloc_kind(mprof_arena arena, void *address, size_t size,
                                         size_t count, mprof_kind kind)
{
    if (MPROF_HAS(arena_alloc_kind)) {
        mprof_api_pointer->arena_alloc_kind(arena, address, size, count, kind);
        __asm__ volatile("");
    }
}

/* Records that a garbage collector has taken the block back. Call it before the address is given
 * out again. It differs from mprof_arena_free() in that no function of the program freed it.
 * With `address` NULL it tells only that this collection is one of the arena, which a sample that
 * is rotated keeps in mind. */
MPROF_INLINE void mprof_collected(mprof_arena arena, void *address)
{
    if (MPROF_HAS(collected))
        mprof_api_pointer->collected(arena, address);
}

/*
 * Marks that a collection begins (`begin` is not 0) or has ended (0). Each call of
 * mprof_collected() for its blocks comes between the two. The runtime keeps a block if it was
 * allocated before the last collection began and is live after its end.
 */
MPROF_INLINE void mprof_collection(mprof_runtime runtime, int begin)
{
    if (MPROF_HAS(collection))
        mprof_api_pointer->collection(runtime, begin);
}

/*
 * Names the type of a live block, as mprof_type() does, by a kind of a runtime. For runtimes that
 * learn the type only when the object is complete. `arena` 0: a block of malloc(). `address` is
 * where the block begins. A block that is not recorded is left out.
 */
MPROF_INLINE void mprof_type_kind(mprof_arena arena, void *address, mprof_kind kind)
{
    if (MPROF_HAS(type_kind))
        mprof_api_pointer->type_kind(arena, address, kind);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
