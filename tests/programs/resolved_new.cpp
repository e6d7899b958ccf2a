/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls new and delete in the resolver of an indirect function. As in resolved.c, RESOLVER makes a
 * library with that function, CALLER one that calls it. The blocks are deleted later.
 */
#include <cstddef>
#include <cstdio>
#include <new>

extern "C" {
int resolved_number(void);
int resolved_call(void);
int resolved_end(void);

#if defined RESOLVER
static int *block, *aligned;

static int number(void)
{
    return 7;
}

__attribute__((used)) static int (*choose(void))(void)
{
    int *volatile small = new int(3);
    block = new int[5000];
    aligned = static_cast<int *>(operator new(4096, std::align_val_t(256), std::nothrow));
    block[9] = *small;
    aligned[9] = reinterpret_cast<std::size_t>(aligned) % 256 == 0;
    delete small;
    return number;
}

int resolved_number(void) __attribute__((ifunc("choose")));

int resolved_end(void)
{
    const int sum = block[9] + aligned[9];
    delete[] block;
    operator delete(aligned, std::align_val_t(256));
    return sum;
}
#elif defined CALLER
static int (*const volatile pointer)(void) = resolved_number;

int resolved_call(void)
{
    return pointer();
}
#endif
}

#if !defined RESOLVER && !defined CALLER
int main()
{
    for (int i = 0; i < 100; i++) {
        char *volatile seen = new char[5000];
        delete[] seen;
    }
    std::printf("%d %d\n", resolved_call(), resolved_end());
}
#endif
