/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls functions that allocators have under names of their own, each for a block of another size,
 * ends all blocks, and prints how many of each size it has made. JEMALLOC, TCMALLOC, MIMALLOC, TBB
 * and PREFIXED choose the allocator; LIBRARY makes a plugin of it, which begins in its constructor.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 300
#define THREADS 3

static _Atomic unsigned made[40];

/* Notes that a block of 20,000 + `which` bytes is made, and writes to it. */
static void *made_of(void *block, size_t which)
{
    if (!block)
        abort();
    memset(block, 0x5a, 20000 + which);
    made[which]++;
    return block;
}
#ifdef LIBRARY
#define IF_ONE(alone, one) alone
#else
#define IF_ONE(alone, one) one
#endif
#define SIZE(which) (20000 + (size_t)(which))
#define MAKE(which, call) made_of(call, which)

#if defined JEMALLOC
void *mallocx(size_t, int);
void *rallocx(void *, size_t, int);
size_t xallocx(void *, size_t, size_t, int);
size_t sallocx(const void *, int);
void dallocx(void *, int);
void sdallocx(void *, size_t, int);
int mallctl(const char *, void *, size_t *, void *, size_t);
#define ALIGNED_64 6
#define ZERO 64
static void *(*const by_pointer)(size_t, int) = mallocx;

static void calls(void)
{
    void *a = MAKE(1, mallocx(SIZE(1), 0)), *b = MAKE(2, mallocx(SIZE(2), ALIGNED_64));
    void *c = MAKE(3, mallocx(SIZE(3), ZERO)), *d = MAKE(4, by_pointer(SIZE(4), 0));
    if ((uintptr_t)b % 64 || sallocx(c, 0) < SIZE(3))
        abort();
    a = MAKE(5, rallocx(a, SIZE(5), 0));
    if (xallocx(b, SIZE(6), 0, 0) >= SIZE(6)) /* the same size class */
        made[6]++;
    if (xallocx(c, 1 << 20, 0, 0) >= 1 << 20) /* never in place */
        abort();
    dallocx(a, 0);
    sdallocx(b, SIZE(6), ALIGNED_64);
    IF_ONE(dallocx(c, 0), free(c));
    d = MAKE(7, IF_ONE(rallocx(d, SIZE(7), 0), realloc(d, SIZE(7))));
    dallocx(d, 0);
    dallocx(MAKE(8, IF_ONE(mallocx(SIZE(8), 0), malloc(SIZE(8)))), 0);
}
#elif defined TCMALLOC
void *tc_malloc(size_t), *tc_calloc(size_t, size_t), *tc_realloc(void *, size_t);
void *tc_memalign(size_t, size_t), *tc_new(size_t), *tc_newarray(size_t);
void tc_free(void *), tc_free_sized(void *, size_t), tc_delete(void *), tc_deletearray(void *);
int tc_posix_memalign(void **, size_t, size_t);

static void calls(void)
{
    void *a = MAKE(1, tc_malloc(SIZE(1))), *b = NULL;
    tc_free(MAKE(2, tc_calloc(2, SIZE(2) / 2)));
    a = MAKE(3, tc_realloc(a, SIZE(3)));
    tc_free_sized(a, SIZE(3));
    if (tc_posix_memalign(&b, 128, SIZE(4)) != 0)
        abort();
    tc_free(MAKE(4, b));
    b = MAKE(5, tc_memalign(64, SIZE(5)));
    IF_ONE(tc_free(b), free(b));
    tc_delete(MAKE(6, tc_new(SIZE(6))));
    tc_deletearray(MAKE(7, tc_newarray(SIZE(7))));
}
#elif defined MIMALLOC
typedef struct heap heap;
heap *mi_heap_new(void);
void mi_heap_delete(heap *), mi_heap_destroy(heap *);
void *mi_malloc(size_t), *mi_zalloc(size_t), *mi_mallocn(size_t, size_t),
    *mi_realloc(void *, size_t);
void *mi_malloc_aligned(size_t, size_t), *mi_heap_malloc(heap *, size_t), *mi_new(size_t);
void *mi_heap_realloc(heap *, void *, size_t), *mi_expand(void *, size_t);
void *mi_malloc_aligned_at(size_t, size_t, size_t), *mi_realloc_aligned(void *, size_t, size_t);
void mi_free(void *), mi_free_size(void *, size_t), mi_free_aligned(void *, size_t);
char *mi_strdup(const char *);
size_t mi_usable_size(const void *);
int mi_reallocarr(void *, size_t, size_t);

static void calls(void)
{
    void *a = MAKE(1, mi_malloc(SIZE(1)));
    heap *own = mi_heap_new();
    mi_free(MAKE(2, mi_zalloc(SIZE(2))));
    a = MAKE(3, mi_realloc(a, SIZE(3)));
    if (mi_expand(a, SIZE(3) - 100))
        made[0]++;
    mi_free_size(a, SIZE(3));
    mi_free(MAKE(4, mi_mallocn(4, SIZE(4) / 4)));
    a = MAKE(5, mi_malloc_aligned(SIZE(5), 256));
    a = MAKE(6, mi_realloc_aligned(a, SIZE(6), 256));
    mi_free_aligned(a, 256);
    a = MAKE(7, mi_heap_malloc(own, SIZE(7)));
    a = MAKE(8, mi_heap_realloc(own, a, SIZE(8)));
    IF_ONE(mi_free(a), free(a));
    mi_free(MAKE(9, mi_new(SIZE(9))));
    mi_free(MAKE(10, mi_malloc_aligned_at(SIZE(10), 64, 8)));
    char *text = MAKE(11, IF_ONE(mi_malloc(SIZE(11)), malloc(SIZE(11))));
    text[SIZE(11) - 1] = 0;
    mi_free(MAKE(11, mi_strdup(text)));
    mi_free(text);
    mi_heap_delete(own);
}
#elif defined TBB
void *scalable_malloc(size_t), *scalable_calloc(size_t, size_t), *scalable_realloc(void *, size_t);
void *scalable_aligned_malloc(size_t, size_t), *scalable_aligned_realloc(void *, size_t, size_t);
void scalable_free(void *), scalable_aligned_free(void *);
int scalable_posix_memalign(void **, size_t, size_t);
size_t scalable_msize(void *);

static void calls(void)
{
    void *a = MAKE(1, scalable_malloc(SIZE(1))), *b = NULL;
    scalable_free(MAKE(2, scalable_calloc(1, SIZE(2))));
    scalable_free(MAKE(3, scalable_realloc(a, SIZE(3))));
    a = MAKE(4, scalable_aligned_malloc(SIZE(4), 128));
    scalable_aligned_free(MAKE(5, scalable_aligned_realloc(a, SIZE(5), 128)));
    if (scalable_posix_memalign(&b, 64, SIZE(6)) != 0 || scalable_msize(b) < SIZE(6))
        abort();
    scalable_free(MAKE(6, b));
}
#elif defined PREFIXED
/* A library that makes its blocks of malloc's, as a wrapper does: each is one block. */
void *je_malloc(size_t), *je_realloc(void *, size_t), *je_mallocx(size_t, int);
void je_free(void *);
void *je_xyz_alloc(size_t); /* nobody knows what it does */

static void calls(void)
{
    void *a = MAKE(1, je_malloc(SIZE(1)));
    a = MAKE(2, je_realloc(a, SIZE(2)));
    je_free(a);
    free(MAKE(3, je_mallocx(SIZE(3), 0)));
    je_free(MAKE(4, malloc(SIZE(4))));
}
#endif

#if defined JEMALLOC && !defined LIBRARY
static size_t allocated(void)
{
    size_t epoch = 1, bytes = 0, size = sizeof(bytes);
    if (mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch)) != 0 ||
        mallctl("stats.allocated", &bytes, &size, NULL, 0) != 0)
        abort();
    return bytes;
}
#endif

static void *rounds(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        calls();
    return NULL;
}

#ifdef LIBRARY
__attribute__((constructor)) static void begin(void)
{
    rounds(NULL);
}

void plugin_runs(void);
void plugin_runs(void)
{
    rounds(NULL);
}
#else
int main(int count, char **arguments)
{
    pthread_t threads[THREADS];
    while (count > 1 && access(arguments[1], F_OK) == 0)
        usleep(10000);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, rounds, NULL) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 1; i < sizeof(made) / sizeof(*made); i++)
        if (made[i])
            printf("%zu %u\n", SIZE(i), made[i]);
#ifdef JEMALLOC
    /* The blocks that live, by the allocator's own count: of a size that it does not round. */
    const size_t before = allocated();
    for (int i = 0; i < 100; i++)
        if (!mallocx(28672, 0))
            return 1;
    printf("28672 %zu\n", (allocated() - before) / 28672);
#endif
    return 0;
}
#endif
