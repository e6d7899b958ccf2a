/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows register listeners and never remove them. All are freed at exit, so no tool for leaks
 * says a word. Healthy: a window removes its listener when it closes.
 */
#include <list>
#include <memory>
#include <string>

#include "pace.h"

struct Listener {
    int window;
    char context[120];
};

static std::list<std::unique_ptr<Listener>> registry;

__attribute__((noinline)) void open_window(int window)
{
    registry.push_back(std::make_unique<Listener>());
    registry.back()->window = window;
}

__attribute__((noinline)) void close_window(bool healthy)
{
    if (healthy)
        registry.pop_front();
}

int main(int count, char **values)
{
    const bool healthy = is_healthy(count, values);
    run_rounds(400, std::chrono::milliseconds(2), [&](int round) {
        open_window(round);
        close_window(healthy);
    });
    registry.clear();
}
