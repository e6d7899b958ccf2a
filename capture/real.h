/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions behind the entry points: the next definition after ours, so that a program's or
 * another preloaded library's own allocator is kept.
 *
 * Until the loader has been asked, and while it is (dlsym itself may allocate), memory comes
 * from a small bootstrap arena inside the library. Its blocks are never given back; they may be
 * passed to free() and realloc() at any later time.
 */
#ifndef MPROF_CAPTURE_REAL_H
#define MPROF_CAPTURE_REAL_H

#include <stdbool.h>
#include <stddef.h>

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
    bool bootstrap_used; /* some blocks are of the bootstrap arena */
};

/* Usable at any time: the first call through it asks the loader. */
extern struct real real;

/*
 * False, after one message, where the program or a library before this one defines malloc
 * itself: its calls never come here.
 */
bool real_is_reached(void);

/* Looks up the next definition of another function; NULL where there is none. */
void *real_find(const char *name);

/* Whether `block` is of the bootstrap arena. Ask only where real.bootstrap_used is set. */
bool real_is_bootstrap(const void *block);
/* realloc of such a block: a new block of the real allocator with its contents. */
void *real_move_bootstrap(void *block, size_t size);

#endif
