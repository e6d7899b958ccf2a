/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A history that is emptied frees only the copies that it can still go back to: those that were taken
 * back stay behind. Healthy: all go.
 */
#include <algorithm>
#include <vector>

#include "pace.h"

static bool healthy;

struct Copy {
    char text[1000];
};

class History
{
  public:
    __attribute__((noinline)) void add()
    {
        copies.push_back(new Copy());
        used = copies.size();
    }
    void take_back(size_t count)
    {
        used -= count;
    }
    __attribute__((noinline)) void clearAll()
    {
        const size_t last = healthy ? copies.size() : used;
        for (size_t i = 0; i < last; i++) {
            delete copies[i];
            copies[i] = nullptr;
        }
        used = 0;
    }

  private:
    std::vector<Copy *> copies;
    size_t used = 0;
};

/* Waits as long as the program has run. So each part of it takes its share of the run on a slow
 * machine, too. */
static void wait_as_long(std::chrono::steady_clock::time_point start)
{
    const auto run = std::chrono::steady_clock::now() - start;
    std::this_thread::sleep_for(std::max<std::chrono::nanoseconds>(run, std::chrono::milliseconds(5)));
}

int main(int count, char **values)
{
    const auto start = std::chrono::steady_clock::now();
    healthy = is_healthy(count, values);
    static History history;
    for (int i = 0; i < 100; i++)
        history.add();
    wait_as_long(start);
    history.take_back(60);
    history.clearAll();
    wait_as_long(start);
    use(history);
}
