// SPDX-License-Identifier: BSD-2-Clause
// Threads, inlined calls, recursion, types, blocks that stay and a block that is freed by another
// thread: a little of all that an exported format must show.
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace shop {

struct Item {
    std::string name;
    long amount;
};

static std::vector<Item *> kept;

static inline __attribute__((always_inline)) Item *make(int number)
{
    return new Item{std::string(40, static_cast<char>('a' + number % 26)), number};
}

__attribute__((noinline)) static long depth(int left)
{
    std::vector<long> values(static_cast<size_t>(left) + 8, left);
    return left == 0 ? values[0] : depth(left - 1) + values[1];
}

__attribute__((noinline)) static void fill(int from, int count)
{
    for (int i = from; i < from + count; i++) {
        Item *item = make(i);
        if (i % 5 == 0)
            kept.push_back(item);
        else
            delete item;
    }
}

__attribute__((noinline)) static size_t index_words(int count)
{
    std::map<std::string, std::vector<int>> words;
    for (int i = 0; i < count; i++)
        words["a word that is too long to stay inside " + std::to_string(i % 50)].push_back(i);
    return words.size();
}

} // namespace shop

int main()
{
    shop::kept.reserve(500);
    std::thread worker([] { shop::index_words(600); });
    shop::fill(0, 400);
    worker.join();
    std::thread other([] { shop::fill(400, 300); });
    other.join();
    for (size_t i = 0; i < shop::kept.size() / 2; i++)
        delete shop::kept[i];
    return shop::depth(12) > 0 ? 0 : 1;
}
