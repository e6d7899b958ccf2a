/* SPDX-License-Identifier: BSD-2-Clause */
/* flags: -std=c++20 */
/* The frames of coroutines, which gcc and clang describe in different ways. */
#include "corpus.h"

#include <coroutine>
#include <string>

struct Sequence {
    struct promise_type {
        long value = 0;
        Sequence get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        std::suspend_always yield_value(long given)
        {
            value = given;
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
        }
    };
    std::coroutine_handle<promise_type> handle;
};
static Sequence count(long end)
{
    for (long i = 0; i < end; i++)
        co_yield i;
}
namespace shop
{
static Sequence both(int first, long second)
{
    co_yield first;
    co_yield second;
}
} // namespace shop
CASE(coroutine)
{
    static Sequence numbers = count((long)corpus_few);
    numbers.handle.resume();
    KEEP(numbers.handle.address());
    KNOWN(numbers.handle.address(), "count(long) frame", 1);
}
CASE(coroutine_in_a_namespace)
{
    static Sequence numbers = shop::both(1, 2);
    numbers.handle.resume();
    KEEP(numbers.handle.address());
    KNOWN(numbers.handle.address(), "shop::both(int, long) frame", 1);
}
/* Its frame is larger than its description, which is aligned. */
struct Texts {
    std::string name;
    Sequence lengths(std::string first)
    {
        co_yield (long)first.size();
        co_yield (long)name.size();
    }
};
CASE(coroutine_of_a_class)
{
    static Texts texts{"a"};
    static Sequence lengths = texts.lengths("b");
    lengths.handle.resume();
    KEEP(lengths.handle.address());
    KNOWN(lengths.handle.address(), "Texts::lengths(std::string) frame", 1);
}
