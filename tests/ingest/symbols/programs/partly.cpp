/* SPDX-License-Identifier: BSD-2-Clause */
// A function, known to one unit only, that is inlined in one place and called in another.
#include <cstdlib>

void *volatile sink;

namespace shop
{
static void *grab(int size)
{
    return malloc(static_cast<size_t>(size) + 5);
}

__attribute__((noinline)) static void each(void *(*volatile function)(int))
{
    for (int i = 0; i < 3; i++)
        sink = function(i);
}
} // namespace shop

int main(int argc, char **)
{
    sink = shop::grab(argc);
    shop::each(shop::grab);
    return 0;
}
