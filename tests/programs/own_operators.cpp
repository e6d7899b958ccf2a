/* SPDX-License-Identifier: BSD-2-Clause */
// Operators new and delete of the program's own, which give out parts of a static array, in the program
// or (-DLIBRARY, -DPROGRAM) in a library of it. They must be the ones that are called.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

bool of_the_arena(const void *block);

#ifndef PROGRAM
alignas(64) static char arena[1 << 20];
static std::size_t used;

bool of_the_arena(const void *block)
{
    return block >= arena && block < arena + sizeof arena;
}

void *operator new(std::size_t size)
{
    void *block = arena + used;
    used += (size + 63) & ~std::size_t{63};
    return block;
}
void *operator new[](std::size_t size)
{
    return operator new(size);
}
void operator delete(void *block) noexcept
{
    if (block && !of_the_arena(block))
        std::abort();
}
void operator delete[](void *block) noexcept
{
    operator delete(block);
}
void operator delete(void *block, std::size_t) noexcept
{
    operator delete(block);
}
void operator delete[](void *block, std::size_t) noexcept
{
    operator delete(block);
}
#endif

#ifndef LIBRARY
int main()
{
    int count = 0;
    for (int i = 0; i < 100; i++) {
        std::string text(static_cast<std::size_t>(1000 + i), 'x');
        int *numbers = new int[100];
        if (!of_the_arena(text.data()) || !of_the_arena(numbers))
            std::abort();
        delete[] numbers;
        count += text.size() > 999;
    }
    std::free(std::malloc(7777));
    std::printf("%d\n", count);
}
#endif
