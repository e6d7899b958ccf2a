/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/capture/stacks/shapes.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/capture/stacks/event.h"

namespace
{
struct noisy {
    std::string name = "a string that is too long to be held inside";
    ~noisy()
    {
        event();
    }
};

[[gnu::noinline]] void thrower(unsigned *random, unsigned depth)
{
    noisy guard;
    event();
    if (!depth)
        throw std::runtime_error("thrown");
    if (shapes_random(random, 2)) {
        try {
            thrower(random, depth - 1);
        } catch (const std::logic_error &) {
            event();
        }
    } else
        thrower(random, depth - 1);
    event();
}
} // namespace

void shapes_exceptions(unsigned *random, unsigned depth)
{
    try {
        try {
            thrower(random, depth);
        } catch (...) {
            event();
            throw;
        }
    } catch (const std::exception &) {
        event();
    }
    event();
}
