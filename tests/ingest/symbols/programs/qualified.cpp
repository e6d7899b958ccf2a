/* SPDX-License-Identifier: BSD-2-Clause */
// Local functions that are inlined: of a function, of an unnamed namespace, a lambda.
#include <cstdlib>

void *volatile sink;

namespace shop
{
namespace
{
struct Cart {
    template <class F> __attribute__((noinline)) void each(F f)
    {
        for (int i = 0; i < 3; i++)
            f(i);
    }
};
__attribute__((always_inline)) inline void *hidden(int size)
{
    return malloc(static_cast<size_t>(size) * 2);
}
} // namespace

int fill(int count)
{
    struct Local {
        __attribute__((always_inline)) static inline void *grab(int size)
        {
            return malloc(static_cast<size_t>(size));
        }
    };
    Cart cart;
    cart.each([&](int i) { sink = malloc(static_cast<size_t>(i + count)); });
    sink = Local::grab(count);
    sink = hidden(count);
    return 0;
}
} // namespace shop

int main(int argc, char **)
{
    return shop::fill(argc + 100);
}
