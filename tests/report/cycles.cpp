// SPDX-License-Identifier: BSD-2-Clause
// Functions that call each other in a circle, one that calls itself, and one that begins a thread and
// is called, too. They allocate blocks of all classes of size.
#include <cstdlib>
#include <pthread.h>
#include <vector>

static std::vector<void *> kept;

static void take(size_t size, bool keep)
{
    void *block = malloc(size);
    if (keep)
        kept.push_back(block);
    else
        free(block);
}

__attribute__((noinline)) void odd(int left);
__attribute__((noinline)) void either(int left);

__attribute__((noinline)) void even(int left)
{
    free(malloc(24));
    take(20, left % 4 == 0);
    if (left > 0)
        odd(left - 1);
}

__attribute__((noinline)) void odd(int left)
{
    take(200, false);
    if (left > 0)
        either(left - 1);
}

__attribute__((noinline)) void leaf(int left)
{
    take(3000, left == 2);
}

__attribute__((noinline)) void either(int left)
{
    leaf(left);
    if (left > 0) {
        even(left - 1);
        odd(left / 2);
    }
}

__attribute__((noinline)) void down(int left)
{
    take(2000, left == 3);
    if (left > 0)
        down(left - 1);
}

__attribute__((noinline)) void work(int left)
{
    down(left);
    even(left);
}

__attribute__((noinline)) void *begin(void *left)
{
    work(*static_cast<int *>(left));
    return nullptr;
}

int main()
{
    int left;
    pthread_t thread;
    kept.reserve(1000);
    for (left = 0; left < 6; left++)
        begin(&left);
    odd(5);
    if (pthread_create(&thread, nullptr, begin, &left) != 0)
        return 1;
    pthread_join(thread, nullptr);
    return 0;
}
