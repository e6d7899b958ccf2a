/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constructors that are inlined one after another. Each keeps its object in the same register, and
 * clang tells only where their parameters are, not in which code.
 */
#include "truth.h"

struct Shape {
    explicit Shape(int sides) : kind(sides), area(sides * 2)
    {
    }
    int kind;
    long area;
};

template <class T> struct Ring {
    explicit Ring(int start) : first(nullptr), at(start)
    {
    }
    T *first;
    int at;
};

struct Holder {
    void *shape, *shorts, *longs;
};

static Holder holder;

__attribute__((noinline)) static void build(Holder &to, int n)
{
    TRUTH("Shape", 1);
    to.shape = new Shape(n);
    TRUTH("Ring<short>", 1);
    to.shorts = new Ring<short>(n);
    TRUTH("Ring<long>", 1);
    to.longs = new Ring<long>(n);
}

int main(int argc, char **)
{
    for (int i = 0; i < 3; i++)
        build(holder, argc);
    return 0;
}
