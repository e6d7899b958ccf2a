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
 * To record a program without shared libraries, link it with libmprof.a and
 *   -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=free
 *   -Wl,--wrap=posix_memalign,--wrap=aligned_alloc,--wrap=memalign,--wrap=valloc,--wrap=pvalloc
 */
#ifndef MPROF_H
#define MPROF_H

#ifdef __cplusplus
extern "C" {
#endif

/* Members are only ever added, at the end; `size` tells how many there are. */
struct mprof_api {
    unsigned long size;
    void (*mark)(const char *name);
    void (*snapshot)(const char *name);
    void (*pause)(void);
    void (*resume)(void);
};

#if defined(MPROF_DISABLED)

static inline void mprof_mark(const char *name)
{
    (void)name;
}

static inline void mprof_snapshot(const char *name)
{
    (void)name;
}

static inline void mprof_pause(void)
{
}

static inline void mprof_resume(void)
{
}

#elif defined(MPROF_IMPLEMENTATION) /* the recorder itself */

void mprof_mark(const char *name);
void mprof_snapshot(const char *name);
void mprof_pause(void);
void mprof_resume(void);

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

/* A named moment on the time line. The name is copied, at most 255 bytes of it. */
static inline void mprof_mark(const char *name)
{
    if (__builtin_expect(mprof_api_pointer != 0, 0))
        mprof_api_pointer->mark(name);
}

/* A named moment whose live blocks are worth comparing with another's. */
static inline void mprof_snapshot(const char *name)
{
    if (__builtin_expect(mprof_api_pointer != 0, 0))
        mprof_api_pointer->snapshot(name);
}

/*
 * From here on allocations are not recorded, in any thread, until mprof_resume(). What ends a
 * block still is, so that no block recorded before looks as if it were never freed.
 */
static inline void mprof_pause(void)
{
    if (__builtin_expect(mprof_api_pointer != 0, 0))
        mprof_api_pointer->pause();
}

static inline void mprof_resume(void)
{
    if (__builtin_expect(mprof_api_pointer != 0, 0))
        mprof_api_pointer->resume();
}

#endif

#ifdef __cplusplus
}
#endif

#endif
