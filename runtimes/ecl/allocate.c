/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of ECL and its collector that give out memory, each in place of the real one, which
 * it calls.
 *
 * A function of ECL calls one of the collector. Only the former is recorded, since it knows the
 * kind; the latter tells the size. The thread notes the frame of the outer function, and the inner
 * one finds that it lies near. Nothing has to be undone if Lisp code leaves the real function by a
 * jump, as it does when the heap is full. The collector may call finalizers, and they allocate: the
 * note is gone by then. */

#include "runtimes/ecl/record.h"

#define EXPORTED __attribute__((visibility("default")))
#define FRAME ((uintptr_t)__builtin_frame_address(0))
/* The frames between a function of ECL and that of the collector which it calls take less. */
#define NEAR 1024

static _Thread_local struct {
    volatile uintptr_t frame; /* of the function of ECL that has not reached the collector yet */
    volatile size_t size;     /* what it asked for; 0: nothing */
    void *volatile last;      /* the block that the collector's function has recorded */
} thread __attribute__((tls_model("initial-exec")));

/* Returns true if a function of ECL that is recorded calls this one. */
static inline bool is_inner(uintptr_t frame)
{
    return thread.frame - frame < NEAR;
}

#define INLINE static inline __attribute__((always_inline))

INLINE void begin(uintptr_t frame)
{
    if (__builtin_expect(!atomic_load_explicit(&record.on, memory_order_relaxed), 0))
        plugin_begin(); /* ECL was loaded later */
    thread.frame = frame;
    thread.size = 0;
    thread.last = NULL;
}

/* When the heap is full, ECL asks the collector again, and the block is recorded then. */
INLINE void end(void *block, unsigned kind)
{
    const size_t size = thread.size;
    thread.frame = 0;
    if (size != 0 && block && block != thread.last)
        record_block(block, size, kind);
}

/* Notes that ECL has an environment: a function that needs it has returned. */
INLINE void note_boot(void)
{
    if (__builtin_expect(!atomic_load_explicit(&record.booted, memory_order_relaxed), 0))
        atomic_store(&record.booted, true);
}

#define CALL_RECORDED(block, kind, call)                                                           \
    do {                                                                                           \
        if (is_inner(FRAME))                                                                       \
            return call;                                                                           \
        begin(FRAME);                                                                              \
        __auto_type result = call;                                                                 \
        end(block, kind);                                                                          \
        return result;                                                                             \
    } while (0)

static void *start_of_cons(cl_object cons)
{
    return (char *)cons - t_list; /* the tag */
}

EXPORTED cl_object ecl_alloc_object(cl_type type)
{
    begin(FRAME);
    cl_object object = REAL(ecl_alloc_object)(type);
    note_boot();
    end(object, type < t_end ? (unsigned)type : KIND_COLLECTOR);
    return object;
}

EXPORTED cl_object ecl_alloc_compact_object(cl_type type, cl_index extra)
{
    CALL_RECORDED(result, type < t_end ? (unsigned)type : KIND_COLLECTOR,
                  REAL(ecl_alloc_compact_object)(type, extra));
}

EXPORTED cl_object ecl_cons(cl_object car, cl_object cdr)
{
    CALL_RECORDED(start_of_cons(result), t_list, REAL(ecl_cons)(car, cdr));
}

EXPORTED cl_object ecl_list1(cl_object car)
{
    CALL_RECORDED(start_of_cons(result), t_list, REAL(ecl_list1)(car));
}

EXPORTED cl_object si_make_weak_pointer(cl_object object)
{
    CALL_RECORDED(result, t_weak_pointer, REAL(si_make_weak_pointer)(object));
}

EXPORTED void *ecl_alloc(cl_index size)
{
    CALL_RECORDED(result, KIND_POINTERS, REAL(ecl_alloc)(size));
}

EXPORTED void *ecl_alloc_unprotected(cl_index size)
{
    CALL_RECORDED(result, KIND_POINTERS, REAL(ecl_alloc_unprotected)(size));
}

EXPORTED void *ecl_alloc_uncollectable(size_t size)
{
    CALL_RECORDED(result, KIND_POINTERS, REAL(ecl_alloc_uncollectable)(size));
}

EXPORTED void *ecl_alloc_atomic(cl_index size)
{
    CALL_RECORDED(result, KIND_DATA, REAL(ecl_alloc_atomic)(size));
}

EXPORTED void *ecl_alloc_atomic_unprotected(cl_index size)
{
    CALL_RECORDED(result, KIND_DATA, REAL(ecl_alloc_atomic_unprotected)(size));
}

/* A function of the collector: tells the function of ECL the size, or records the block itself. */
#define COLLECT(size_, call)                                                                       \
    do {                                                                                           \
        if (is_inner(FRAME)) {                                                                     \
            thread.frame = 0;                                                                      \
            void *block = call;                                                                    \
            thread.size = size_;                                                                   \
            return block;                                                                          \
        }                                                                                          \
        thread.last = NULL;                                                                        \
        void *block = call;                                                                        \
        if (block && block != thread.last) {                                                       \
            record_block(block, size_, KIND_COLLECTOR);                                            \
            thread.last = block;                                                                   \
        }                                                                                          \
        return block;                                                                              \
    } while (0)

EXPORTED void *GC_malloc(size_t size)
{
    COLLECT(size, REAL(GC_malloc)(size));
}

EXPORTED void *GC_malloc_atomic(size_t size)
{
    COLLECT(size, REAL(GC_malloc_atomic)(size));
}

EXPORTED void *GC_malloc_uncollectable(size_t size)
{
    COLLECT(size, REAL(GC_malloc_uncollectable)(size));
}

EXPORTED void *GC_malloc_atomic_uncollectable(size_t size)
{
    COLLECT(size, REAL(GC_malloc_atomic_uncollectable)(size));
}

EXPORTED void *GC_malloc_ignore_off_page(size_t size)
{
    COLLECT(size, REAL(GC_malloc_ignore_off_page)(size));
}

EXPORTED void *GC_malloc_atomic_ignore_off_page(size_t size)
{
    COLLECT(size, REAL(GC_malloc_atomic_ignore_off_page)(size));
}

EXPORTED void *GC_malloc_explicitly_typed(size_t size, GC_descr descriptor)
{
    COLLECT(size, REAL(GC_malloc_explicitly_typed)(size, descriptor));
}

EXPORTED void *GC_malloc_explicitly_typed_ignore_off_page(size_t size, GC_descr descriptor)
{
    COLLECT(size, REAL(GC_malloc_explicitly_typed_ignore_off_page)(size, descriptor));
}

EXPORTED void *GC_calloc_explicitly_typed(size_t count, size_t size, GC_descr descriptor)
{
    COLLECT(count * size, REAL(GC_calloc_explicitly_typed)(count, size, descriptor));
}

/* The old block ends before the real function gives its memory to others. If that fails, it is
 * there again, and its time so far is lost. */
EXPORTED void *GC_realloc(void *old, size_t size)
{
    record_free(old);
    thread.last = NULL;
    void *block = REAL(GC_realloc)(old, size);
    void *live = block ? block : size != 0 ? old : NULL;
    if (live && live != thread.last)
        record_block(live, block ? size : REAL(GC_size)(old), KIND_COLLECTOR);
    return block;
}

EXPORTED void GC_free(void *block)
{
    record_free(block);
    REAL(GC_free)(block);
}
