/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mprof_types.h: a C++ program tells the recorder the types of its allocations.
 *
 *   include define_new.h             after all other headers: from here on `new T(...)` keeps T
 *   T *one = new T(1, 2);            as before
 *   T *many = New_<T>(n);            instead of new T[n], which does not compile now
 *   int *image = New_<int, IMAGE_BUFFER>(w * h);      shown as IMAGE_BUFFER, a tag of yours
 *   int *raw = LogMemoryType((int *)malloc(n * sizeof(int)));
 *   SetAllocationType<T>(address);   for a block that other code has allocated
 *   SetAllocationTypeAndCount<T>(address, n);
 *
 * Placement new, new (std::nothrow), and new of a class with its own operator new do not compile
 * under define_new.h either. Write them between undef_new.h and define_new.h.
 *
 * The method is that of "Type-preserving Heap Profiler for C++" (Mihalicza, Porkolab, Gabor),
 * section II: for each type T there is one byte TYPE_IDENTIFIER<T>::mDummy. Its address tells the
 * types apart while the program runs. The symbol at that address gives the name when the trace is
 * read. So a program must not be stripped, unless a debug file keeps its symbols.
 *
 * With -DMPROF_DISABLED none of this is left in the program. For gcc and clang, C++98 to C++23.
 */
#ifndef MPROF_TYPES_H
#define MPROF_TYPES_H

#include <stddef.h>

#include <new>

#include "mprof.h"

#define MPROF_TEMPLATE inline __attribute__((always_inline))

#if defined(MPROF_DISABLED)

template <class T> MPROF_TEMPLATE T *New_(size_t count)
{
    return new T[count];
}

template <class T, class Tag> MPROF_TEMPLATE T *New_(size_t count)
{
    return new T[count];
}

template <class T> MPROF_TEMPLATE T *LogMemoryType(T *address)
{
    return address;
}

template <class T> MPROF_TEMPLATE void SetAllocationType(const volatile void *, mprof_arena = 0)
{
}

template <class T>
MPROF_TEMPLATE void SetAllocationTypeAndCount(const volatile void *, size_t, mprof_arena = 0)
{
}

#else

#if __cplusplus >= 201103L
#define MPROF_NOEXCEPT noexcept
#else
#define MPROF_NOEXCEPT throw()
#endif

template <class T> struct TYPE_IDENTIFIER {
    static char mDummy;
};
template <class T> char TYPE_IDENTIFIER<T>::mDummy;

/* The bytes of one object; 0 for tags, which have no size. */
template <class T> struct MprofObjectSize_ {
    static MPROF_TEMPLATE size_t bytes()
    {
        return __is_empty(T) ? 0 : sizeof(T);
    }
};
template <> struct MprofObjectSize_<void> {
    static MPROF_TEMPLATE size_t bytes()
    {
        return 0;
    }
};

template <class T>
MPROF_TEMPLATE void SetAllocationTypeAndCount(const volatile void *address, size_t count,
                                              mprof_arena arena = 0)
{
    mprof_type(arena, const_cast<void *>(address), &TYPE_IDENTIFIER<T>::mDummy, count,
               MprofObjectSize_<T>::bytes());
}

/* The count follows from the size of the block. */
template <class T>
MPROF_TEMPLATE void SetAllocationType(const volatile void *address, mprof_arena arena = 0)
{
    SetAllocationTypeAndCount<T>(address, 0, arena);
}

template <class T> MPROF_TEMPLATE T *LogMemoryType(T *address)
{
    SetAllocationType<T>(address);
    return address;
}

/* Takes the place of `*new`: gives the object that was made. */
struct NewTrickValue {
    template <class T> MPROF_TEMPLATE T &operator*(T *address) const
    {
        SetAllocationTypeAndCount<T>(address, 1);
        return *address;
    }
};

/* Takes the place of `new` under define_new.h: NewTrick() * new (UseNewTag_) T(...). */
struct NewTrick {
    template <class T> MPROF_TEMPLATE T *operator*(T *address) const
    {
        SetAllocationTypeAndCount<T>(address, 1);
        return address;
    }
    MPROF_TEMPLATE NewTrickValue operator*() const
    {
        return NewTrickValue();
    }
};

enum UseNew_ { UseNewTag_ };

/* Takes the address of the block from operator new[]. If each element has a destructor to call,
 * their number lies at the beginning of the block, and the array begins after it. */
struct MprofNewArray_ {
    void *block;
};

MPROF_TEMPLATE void *operator new(size_t size, UseNew_)
{
    return ::operator new(size);
}

/* Called if the constructor throws. */
MPROF_TEMPLATE void operator delete(void *address, UseNew_) MPROF_NOEXCEPT
{
    ::operator delete(address);
}

MPROF_TEMPLATE void *operator new[](size_t size, MprofNewArray_ &array)
{
    return array.block = ::operator new[](size);
}

MPROF_TEMPLATE void operator delete[](void *address, MprofNewArray_ &) MPROF_NOEXCEPT
{
    ::operator delete[](address);
}

/* Forbids new T[n] under define_new.h: write New_<T>(n). Before C++11 no declaration can do so. */
#if __cplusplus >= 201103L
void *operator new[](size_t, UseNew_) = delete;
#endif

#if defined(__cpp_aligned_new)

MPROF_TEMPLATE void *operator new(size_t size, std::align_val_t alignment, UseNew_)
{
    return ::operator new(size, alignment);
}

MPROF_TEMPLATE void operator delete(void *address, std::align_val_t alignment,
                                    UseNew_) MPROF_NOEXCEPT
{
    ::operator delete(address, alignment);
}

MPROF_TEMPLATE void *operator new[](size_t size, std::align_val_t alignment, MprofNewArray_ &array)
{
    return array.block = ::operator new[](size, alignment);
}

MPROF_TEMPLATE void operator delete[](void *address, std::align_val_t alignment,
                                      MprofNewArray_ &) MPROF_NOEXCEPT
{
    ::operator delete[](address, alignment);
}

void *operator new[](size_t, std::align_val_t, UseNew_) = delete;

#endif

/* Allocates an array; give it back by delete[]. */
template <class T, class Tag> MPROF_TEMPLATE T *New_(size_t count)
{
    MprofNewArray_ array = {0};
    T *elements = new (array) T[count];
    mprof_type(0, array.block, &TYPE_IDENTIFIER<Tag>::mDummy, count, sizeof(T));
    return elements;
}

template <class T> MPROF_TEMPLATE T *New_(size_t count)
{
    return New_<T, T>(count);
}

#endif

#endif
