/* SPDX-License-Identifier: BSD-2-Clause */
// Exceptions through functions that report themselves (-finstrument-functions); see shapes.c.
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "elsewhere.h"

#define NOINLINE __attribute__((noinline))

static volatile int one = 1;

static NOINLINE void in_block(std::size_t size)
{
    std::free(std::malloc(size));
}

// Allocates where it is destroyed: while an exception passes, or not.
struct in_guard {
    std::size_t size;
    explicit in_guard(std::size_t bytes) : size(bytes)
    {
    }
    NOINLINE ~in_guard()
    {
        volatile char room[2000];
        room[0] = static_cast<char>(one);
        in_block(size + static_cast<std::size_t>(room[0] - 1));
    }
};

static NOINLINE void in_throw(int depth)
{
    if (depth > 0) {
        in_throw(depth - one);
        in_block(1099);
    } else {
        throw std::runtime_error("out");
    }
}

static NOINLINE void in_guarded(int depth, std::size_t size)
{
    in_guard guard(size);
    if (depth > 0)
        in_guarded(depth - one, size + 1);
    else
        in_throw(3);
}

static NOINLINE void in_large(std::size_t size)
{
    volatile char room[3000];
    room[0] = static_cast<char>(one);
    in_block(size + static_cast<std::size_t>(room[0] - 1));
}

static NOINLINE void in_catch(std::size_t size)
{
    for (int round = 0; round < 3; round++) {
        try {
            in_throw(5);
        } catch (const std::runtime_error &) {
            in_block(size);
        }
        in_large(size + 1);
        try {
            in_guarded(4, size + 10);
        } catch (const std::runtime_error &) {
            in_large(size + 2);
        }
        std::free(std::malloc(size + 3));
    }
}

// A recursion whose inner call is left by an exception and goes on with a deeper one.
static NOINLINE void in_retry(int depth, std::size_t size)
{
    in_block(size + static_cast<std::size_t>(depth));
    if (depth == 0)
        throw std::runtime_error("bottom");
    try {
        in_retry(depth - one, size);
    } catch (const std::runtime_error &) {
        in_large(size + 10 + static_cast<std::size_t>(depth));
    }
    if (depth % 2)
        throw std::runtime_error("odd");
}

static NOINLINE void in_rethrow(int depth)
{
    try {
        in_throw(depth);
    } catch (...) {
        in_block(1400);
        throw;
    }
}

static inline __attribute__((always_inline)) void in_inline_throw(int depth)
{
    in_block(1500);
    if (one)
        in_throw(depth);
    in_block(1599);
}

static NOINLINE void in_inline_loop()
{
    for (int round = 0; round < 100; round++) {
        try {
            in_inline_throw(2);
        } catch (...) {
            in_large(1510);
        }
        try {
            in_inline_throw(0);
        } catch (...) {
            std::free(std::malloc(1520));
        }
    }
    in_block(1530);
}

static void in_leaver(int)
{
    throw 1;
}
static void in_stayer(int depth)
{
    in_block(1600 + static_cast<std::size_t>(depth));
}

static NOINLINE void in_same_place()
{
    void (*volatile functions[])(int) = {in_leaver, in_stayer, in_leaver, in_stayer};
    for (int i = 0; i < 4; i++) {
        try {
            functions[i](i);
        } catch (int) {
        }
    }
}

extern "C" void in_recurse_callback(int depth)
{
    if (depth > 0)
        elsewhere_call(in_recurse_callback, depth - one);
    else
        throw std::runtime_error("through a library");
}

struct in_base {
    virtual ~in_base()
    {
        in_block(1700);
    }
    virtual NOINLINE void in_virtual(std::size_t size)
    {
        in_block(size);
    }
};
struct in_derived : in_base {
    std::unique_ptr<char[]> memory{new char[1711]};
    ~in_derived() override
    {
        in_block(1701);
    }
    NOINLINE void in_virtual(std::size_t size) override
    {
        in_block(size);
        in_base::in_virtual(size + 1);
    }
};

static NOINLINE void in_objects()
{
    std::unique_ptr<in_base> object(new in_derived);
    object->in_virtual(1720);
    std::function<void(int)> function = [](int depth) {
        in_block(1730 + static_cast<std::size_t>(depth));
    };
    function(one);
    std::vector<std::string> strings;
    for (int i = 0; i < 20; i++)
        strings.emplace_back(static_cast<std::size_t>(1740 + i), 'x');
}

int main()
{
    in_catch(1100);
    in_retry(6, 1200);
    try {
        in_rethrow(4);
    } catch (...) {
        in_large(1410);
    }
    in_inline_loop();
    in_same_place();
    try {
        elsewhere_call(in_recurse_callback, 5);
    } catch (const std::runtime_error &) {
        in_large(1650);
    }
    in_objects();
    std::thread([] { in_catch(1800); }).join();
    in_block(1900);
    return 0;
}
